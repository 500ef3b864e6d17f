// SPDX-License-Identifier: GPL-3.0-or-later
// What a check of lab machines finds out: a row of cells per machine, and a matrix of the ways from each to each. Values, and the interface
// of who fills them.
#pragma once

#include <QObject>
#include <QString>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/host/check_activity.h"
#include "app/host/hosts_file.h"

namespace n2nq::app {

/// not_known: it was looked at, and cannot be found out there; that is no fault.
enum class CheckState { not_checked, checking, good, warning, bad, not_known };

struct CheckCell {
  CheckState state = CheckState::not_checked;
  QString text;                         // what a cell of a table has room for: "x86-64", "2.1 ms", "refused"
  QString detail;                       // a sentence for the tooltip; what was found in full
  QString what_to_do;                   // with warning and bad, always: a sentence
  nlohmann::json value;                 // for machines, in the unit that check_items() says; null: not known
  std::optional<double> bound_us = {};  // of a clock's offset: how sure the value is
  nlohmann::json beside = {};           // more values for machines, by names that end in their units; null: none

  bool operator==(const CheckCell&) const = default;
};

enum class CheckItem { reach, login, architecture, kernel, cores, load, disk, folder, clock, floor };
inline constexpr std::size_t check_items_count = 10;

struct CheckItemInfo {
  CheckItem item;
  const char* key;      // "disk_free_bytes", in JSON; the unit is part of it
  const char* label;    // "Free disk", as a table's head
  const char* meaning;  // one sentence for the tooltip
};
/// In the order of CheckItem.
const std::array<CheckItemInfo, check_items_count>& check_items();

struct HostReport {
  std::array<CheckCell, check_items_count> cells;
  CheckActivity now;          // while it is checked
  bool lets_through = false;  // others are reached through it, which needs no more than that it lets in, and it does
  CheckCell& of(CheckItem item) { return cells[static_cast<std::size_t>(item)]; }
  const CheckCell& of(CheckItem item) const { return cells[static_cast<std::size_t>(item)]; }
};

/// By name of a host, or "local" for this machine.
using HostReports = std::map<std::string, HostReport>;
/// From one host to another; value: the smallest round trip in µs.
using PathReports = std::map<std::pair<std::string, std::string>, CheckCell>;

/// The worst state of all cells: bad, then warning; good when all that was looked at is.
CheckState worst_of(const HostReports& hosts, const PathReports& paths);
/// What is said of the whole: bad; else not_known, where something of a machine is not known or was not checked; else as worst_of(). Ways
/// that are not known do not count, for those to this machine are not until somebody says where it is reached; nor does a clock that a
/// warning about the way there explains, nor what is not known of a machine that only has to let others through.
CheckState state_of(const HostReports& hosts, const PathReports& paths);
/// "good", "bad", …: in JSON.
const char* check_word(CheckState state);
/// What `hosts check --json` prints. `names`: in which order; there is a report of each.
nlohmann::ordered_json report_json(const std::vector<std::string>& names, const HostReports& hosts, const PathReports& paths);

/// Checks all hosts at once, asynchronously; lives on its owner's thread and never blocks it.
class HostChecker : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;
  /// Forgets what was found before. `port`: on which a host is reached from the others; 0: a free one of its own choosing. Every host ends
  /// with each cell filled, at the latest after check_ms_max; time that a person takes to answer does not count, nor does, up to
  /// check_sending_ms_max, that in which programs are on their way to machines.
  virtual void check(const Hosts& hosts, int port) = 0;
  /// What is not found out yet stays not_checked; checked() follows.
  virtual void cancel() = 0;
  /// This host is no more, or is another one: what was found out of it is forgotten, and a check goes on without it. It may be asking for
  /// something; then it does not any more.
  virtual void leave_out(const std::string& name) = 0;
  /// The others reach this host, or this machine, at another address than before: what was found out of the ways there is forgotten, if a
  /// check is under way when it is over.
  virtual void forget_ways_to(const std::string& name) = 0;
  virtual bool is_checking() const = 0;
  virtual const HostReports& hosts() const = 0;
  virtual const PathReports& paths() const = 0;

 signals:
  void changed();  // of hosts() or paths()
  void checked();  // it is over
};

inline constexpr int check_ms_max = 60'000;
inline constexpr int check_sending_ms_max = 600'000;

}  // namespace n2nq::app
