// SPDX-License-Identifier: GPL-3.0-or-later
// A check whose findings a test decides: cells of every state, without machines that are in every state.
#pragma once

#include "app/host/host_report.h"

namespace n2nq::ui_test {

class CannedChecker : public app::HostChecker {
  Q_OBJECT
 public:
  void check(const app::Hosts& hosts, int port) override {
    asked_port = port;
    hosts_.clear();
    paths_.clear();
    checking_ = true;
    names = {"local"};
    for (const app::Host& host : hosts.hosts) names.push_back(host.name);
    for (const std::string& name : names) {
      for (app::CheckCell& cell : hosts_[name].cells) cell.state = app::CheckState::checking;
    }
    emit changed();
  }
  void cancel() override {
    for (auto& [name, report] : hosts_) report.cells.fill({app::CheckState::not_checked, QString(), {}, {}, {}});
    end();
  }
  void leave_out(const std::string& name) override { hosts_.erase(name); }
  void forget_ways_to(const std::string& name) override {
    std::erase_if(paths_, [&](const auto& path) { return path.first.second == name; });
    emit changed();
  }
  bool is_checking() const override { return checking_; }
  const app::HostReports& hosts() const override { return hosts_; }
  const app::PathReports& paths() const override { return paths_; }

  /// All is well; the last host does not answer, and the one before has a changed key, a busy processor and a wrong folder.
  void find(bool with_trouble) {
    using app::CheckItem, app::CheckState;
    const char* const good[] = {"0.4 ms", "lab",      "x86-64", "6.8.0-45-generic",    "8",
                                "0.12",   "1843 GiB", "runs",   "+250.004 ms ± 42 µs", "9 µs"};
    for (const std::string& name : names) {
      app::HostReport& report = hosts_[name];
      for (std::size_t i = 0; i < app::check_items_count; ++i) {
        report.cells[i] = {CheckState::good, QString::fromUtf8(good[i]), QString::fromUtf8(good[i]), {}, {}};
      }
      for (const std::string& other : names) {
        if (other != name) paths_[{name, other}] = {CheckState::good, QStringLiteral("0.41 ms"), {}, {}, 410};
      }
    }
    if (with_trouble && names.size() > 1) spoil();
    end();
  }

  /// A program is on its way there.
  void send(const std::string& name, qint64 sent_bytes, qint64 all_bytes) {
    hosts_[name].now = {app::CheckActivity::Kind::sending, QStringLiteral("n2nq-broker"), sent_bytes, all_bytes};
    emit changed();
  }

  /// The time is over, and nothing was found out.
  void give_up(const QString& what_to_do = {}) {
    for (auto& [name, report] : hosts_) {
      report.cells.fill({app::CheckState::not_known, QString(), QStringLiteral("the check took too long"), what_to_do, {}});
      report.now = {};
    }
    end();
  }

  int asked_port = -1;

 private:
  void spoil() {
    using app::CheckItem, app::CheckState;
    const std::string& gone = names.back();
    for (app::CheckCell& cell : hosts_[gone].cells) cell = {CheckState::not_known, QString(), {}, {}, {}};
    hosts_[gone].of(CheckItem::reach) = {CheckState::bad, QStringLiteral("no answer"),
                                         QStringLiteral("Nobody answers at 192.0.2.12 port 22 within 4 s"),
                                         QStringLiteral("Is it switched on, and is the address right? Edit changes it."), {}};
    for (const std::string& other : names) {
      if (other == gone) continue;
      paths_[{other, gone}] = {CheckState::bad, QStringLiteral("no way"), QStringLiteral("No connection within 4 s"),
                               QStringLiteral("Does a firewall stand between them? Open the port there."), {}};
      paths_[{gone, other}] = {CheckState::not_known, QString(), {}, {}, {}};
    }
    app::HostReport& busy = hosts_[names[names.size() - 2]];
    busy.of(CheckItem::load) = {CheckState::warning, QStringLiteral("7.90"), QStringLiteral("7.90 processes ran or waited on 8 processors"),
                                QStringLiteral("End what else runs there, or figures tell about that."), 7.9};
    busy.of(CheckItem::folder) = {CheckState::bad, QStringLiteral("noexec"),
                                  QStringLiteral("Programs cannot be run from .cache/n2nq-bench: it is mounted noexec"),
                                  QStringLiteral("Choose another folder with Edit, such as /var/tmp/n2nq."), {}};
  }
  void end() {
    checking_ = false;
    for (auto& [name, report] : hosts_) {
      for (app::CheckCell& cell : report.cells) {
        if (cell.state == app::CheckState::checking) cell.state = app::CheckState::not_checked;
      }
    }
    emit changed();
    emit checked();
  }

  bool checking_ = false;
  std::vector<std::string> names;
  app::HostReports hosts_;
  app::PathReports paths_;
};

}  // namespace n2nq::ui_test
