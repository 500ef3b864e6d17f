// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/host_book.h"

#include <QFile>
#include <algorithm>

#include "app/host/ssh_config_databases.h"

namespace n2nq::app {

namespace {

/// A deed is worth that much of a thread that must not stand; the processes of a run live on for longer.
constexpr std::chrono::milliseconds wait_for_deed(1'000);

auto find_in(Hosts& hosts, const std::string& name) {
  return std::find_if(hosts.hosts.begin(), hosts.hosts.end(), [&](const Host& host) { return host.name == name; });
}

/// Empty: done.
QString put_into(Hosts& hosts, const Host& host, const std::string& old_name = {}) {
  const auto old = find_in(hosts, old_name);
  const auto same = find_in(hosts, host.name);
  if (same != hosts.hosts.end() && same != old) return QString("There is a host called %1 already").arg(QString::fromStdString(host.name));
  if (old != hosts.hosts.end()) {
    *old = host;
  } else if (hosts.hosts.size() == hosts_max) {
    return QString("There are %1 hosts already: remove one first").arg(hosts_max);
  } else {
    hosts.hosts.push_back(host);
  }
  return {};
}

}  // namespace

HostBook::HostBook(QString path, bool may_be_absent, QObject* parent)
    : QObject(parent), path_(std::move(path)), may_be_absent_(may_be_absent) {
  reload();
}

void HostBook::reload() {
  take(read_hosts_file(path_.toStdString(), may_be_absent_));
  removed_.reset();
  emit changed();
}

void HostBook::look_again() {
  unread_ = look(wait_for_deed);
}

void HostBook::glance() {
  look(std::chrono::milliseconds::zero());
}

/// Empty: it was read.
QString HostBook::look(std::chrono::milliseconds at_least) {
  const UnansweredQuestions unanswered;
  const auto found = ask_database_bytes(Database::hosts_file, QFile::encodeName(path_), at_least);
  if (!found) return unanswered.told().join("; ");
  const Hosts hosts = hosts_;
  const QStringList problems = problems_;
  take(read_found_hosts(*found, path_.toStdString(), may_be_absent_));
  if (hosts_ != hosts || problems_ != problems) emit changed();
  return {};
}

void HostBook::take(ReadHosts read) {
  unread_.clear();
  problems_.clear();
  for (const FileError& error : read.errors) problems_ += QString::fromStdString(error.text());
  hosts_ = std::move(read.hosts).value_or(Hosts());
}

QString HostBook::put(const Host& host, const QString& old_name) {
  if (const QString why = not_to_change(); !why.isEmpty()) return why;
  Hosts next = hosts_;
  const QString error = put_into(next, host, old_name.toStdString());
  return error.isEmpty() ? write(std::move(next)) : error;
}

QString HostBook::add(const std::vector<Host>& hosts) {
  if (const QString why = not_to_change(); !why.isEmpty()) return why;
  Hosts next = hosts_;
  for (const Host& host : hosts) {
    if (const QString error = put_into(next, host); !error.isEmpty()) return error;
  }
  return write(std::move(next));
}

QString HostBook::remove(const QString& name) {
  if (const QString why = not_to_change(); !why.isEmpty()) return why;
  Hosts next = hosts_;
  const auto found = find_in(next, name.toStdString());
  if (found == next.hosts.end()) return {};
  const std::pair removed(static_cast<std::size_t>(found - next.hosts.begin()), *found);
  next.hosts.erase(found);
  const auto before = std::exchange(removed_, removed);
  const QString error = write(std::move(next));
  if (!error.isEmpty()) removed_ = before;
  return error;
}

QString HostBook::undo_remove() {
  if (!removed_) return {};
  if (const QString why = not_to_change(); !why.isEmpty()) return why;
  Hosts next = hosts_;
  const auto [place, host] = *removed_;
  if (find_in(next, host.name) != next.hosts.end()) {
    return QString("There is a host called %1 again: rename it first").arg(QString::fromStdString(host.name));
  }
  next.hosts.insert(next.hosts.begin() + static_cast<std::ptrdiff_t>(std::min(place, next.hosts.size())), host);
  const auto before = std::exchange(removed_, std::nullopt);
  const QString error = write(std::move(next));
  if (!error.isEmpty()) removed_ = before;
  return error;
}

QString HostBook::removed_name() const {
  return removed_ ? QString::fromStdString(removed_->second.name) : QString();
}

QString HostBook::set_local_data_address(const QString& address) {
  if (const QString why = not_to_change(); !why.isEmpty()) return why;
  Hosts next = hosts_;
  if (const auto problem = parse_data_address(trimmed(address.toStdString()), next.local_data_address)) {
    return QString::fromStdString(*problem);
  }
  return next == hosts_ ? QString() : write(std::move(next));
}

/// Empty: what is in the file by now is known, and may be written over.
QString HostBook::not_to_change() {
  look_again();
  if (!unread_.isEmpty() || problems_.isEmpty()) return unread_;
  return QString("%1 has mistakes and is not written over: mend it first").arg(path_);
}

QString HostBook::write(Hosts next) {
  const ReadHosts again = read_hosts_text(hosts_yaml(next), path_.toStdString());  // what would not be read is not written
  if (!again.errors.empty()) return QString::fromStdString(again.errors[0].key + " " + again.errors[0].message);
  if (const auto error = write_hosts_file(path_.toStdString(), next)) return QString::fromStdString(*error);
  hosts_ = std::move(next);
  may_be_absent_ = true;
  emit changed();
  return {};
}

}  // namespace n2nq::app
