// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/host_launchers.h"

#include <QNetworkInterface>

#include "app/settings/settings.h"

namespace n2nq::app {

namespace {

QString known_names(const Hosts& hosts) {
  if (hosts.hosts.empty()) return "it knows none yet";
  QStringList names;
  for (const Host& host : hosts.hosts) names += QString::fromStdString(host.name);
  return "it knows " + names.join(", ");
}

/// A host whose name is not known at the start of its own process is refused there.
class UnknownHost : public Launcher {
 public:
  explicit UnknownHost(QString why) : why_(std::move(why)) {}
  QString data_address() const override { return {}; }
  QString folder_there(const QString&) const override { return {}; }
  void put_file(const QString&) override {
    QMetaObject::invokeMethod(
        this, [this] { emit failed(why_); }, Qt::QueuedConnection);
  }
  void start(const QString&) override {}
  void write(const QByteArray&) override {}
  void terminate() override {}
  void kill() override {}
  void pause() override {}
  void resume() override {}
  void bring_back(const QString&) override {}

 private:
  QString why_;
};

}  // namespace

HostLaunchers::HostLaunchers(HostBook& book, MakeRemote make_remote, QString programs_folder)
    : book_(book), make_remote_(std::move(make_remote)), programs_folder_(std::move(programs_folder)) {}

MakeLauncher HostLaunchers::launchers_of(const QString& host) {
  if (host.toStdString() == local_host) {
    return [folder = LocalLauncherFactory::folder_or_own(programs_folder_),
            address = QString::fromStdString(book_.hosts().local_data_address)] {
      return std::make_unique<LocalLauncher>(folder, address);
    };
  }
  if (const Host* found = book_.hosts().find(host.toStdString())) {
    return [this, as_it_is = *found] { return make_remote_(as_it_is); };
  }
  return [why = QString("%1 is no host of %2 any more").arg(host, book_.path())] { return std::make_unique<UnknownHost>(why); };
}

QString HostLaunchers::find_problem(const Settings& settings, const std::set<std::string>& settled) const {
  const std::pair<const char*, const std::string&> hosts[] = {
      {"broker.host", settings.broker.host}, {"senders.host", settings.senders.host}, {"receivers.host", settings.receivers.host}};
  bool any_remote = false;
  QStringList not_found;
  for (const auto& [key, name] : hosts) {
    if (name == local_host) continue;
    any_remote = true;
    if (settled.contains(key)) continue;
    if (!book_.unread().isEmpty()) return QString("%1 is %2, but %3").arg(key, QString::fromStdString(name), book_.unread());
    if (!book_.problems().isEmpty()) return QString("%1 is %2, but %3").arg(key, QString::fromStdString(name), book_.problems().front());
    if (!book_.hosts().find(name)) not_found += QString("%1 is %2").arg(key, QString::fromStdString(name));
  }
  if (!not_found.isEmpty()) {
    const bool one = not_found.size() == 1;
    return QString(
               "%1, which %2 of %3: %4. In the window choose another Source, beside each Start, or add %5 on the page Hosts. "
               "On the command line set another name, or add %5 to that file")
        .arg(not_found.join(", "), one ? "is no host" : "are no hosts", book_.path(), known_names(book_.hosts()), one ? "it" : "them");
  }
  const bool broker_to_come = settings.broker.host == local_host && !settled.contains("broker.host");
  if (!any_remote || !broker_to_come || !book_.hosts().local_data_address.empty()) return {};
  const QStringList own = own_addresses();
  return QString(
             "Give the data address of this machine, on the page Hosts or as local_data_address in %1: N2NQ runs here and others "
             "elsewhere%2")
      .arg(book_.path(), own.isEmpty() ? QString() : QString(" (addresses here: %1)").arg(own.join(", ")));
}

QStringList own_addresses() {
  QStringList four, six;
  for (const QHostAddress& address : QNetworkInterface::allAddresses()) {
    if (address.isLoopback() || address.isLinkLocal()) continue;
    (address.protocol() == QAbstractSocket::IPv4Protocol ? four : six) += address.toString();
  }
  return four + six;
}

}  // namespace n2nq::app
