// SPDX-License-Identifier: GPL-3.0-or-later
// A run as its folder tells it: read back, never changed. Any thread.
#pragma once

#include <QString>
#include <QStringList>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/control/role.h"

namespace n2nq::app {

struct StoredRun {
  QString folder;          // absolute
  nlohmann::json summary;  // summary.json, with the parts every summary has

  /// The folder's last part.
  QString name() const;
  std::string verdict() const { return summary.at("verdict").get<std::string>(); }
  /// Whether it counts in a test case: somebody's stop, or that nothing was ever sent, makes it one to be run again.
  bool counts_in_case() const;
  bool broadcaster() const { return summary.at("settings").at("queue").at("mode") == "broadcaster"; }
  /// Whether messages were due at times: not where senders went as fast as they could.
  bool has_plan() const;
  /// What others did to the machine meanwhile, as sentences.
  QStringList disturbances() const;
  /// Why it is not to be trusted like others: degraded or broken, with the first reason, or else disturbed, and how. Empty: it is.
  QString mark() const;
  /// Whether each message has a line in a service log: `log: all`, nothing dropped.
  bool has_every_line() const;
  /// Whether all lines were written that its logs were to have; with `log: off` these are none.
  bool dropped_no_line() const;
};

/// Whether a run of a case was made before another, by their folders' names: "2000-broadcaster-r1" before "10012-broadcaster-r2".
bool is_earlier_run(const QString& name, const QString& other);
/// The number in front of such a name; 0: there is none.
int number_of_run(const QString& name);

/// Empty result: `error` says what is wrong with the folder.
std::optional<StoredRun> read_run(const QString& folder, QString& error);

/// A number of the summary by its path: "latency_us.p99", "ledger.total.lost", "services.receivers.R001.latency_us.p50". Empty: the
/// summary knows no such figure; NaN: it does, and the run gave none (null).
std::optional<double> figure_at(const nlohmann::json& summary, std::string_view path);
/// Every path that leads to a number (or null), services left out: for help and for nearest names. Of a service's row as well.
std::vector<std::string> figure_paths(const nlohmann::json& summary);
/// "services.receivers.R001.latency_us.p50" in its parts. None: the path leads to no service, or names one as its group is not called.
struct ServicePath {
  Role group = Role::receivers;
  int number = 0;
  std::string figure;  // "latency_us.p50"
};
std::optional<ServicePath> service_path(std::string_view path);
/// "Latency, mean of the lowest 95 %"; the path itself where it has no such title.
QString title_of_path(const std::string& path);
/// The same short, for a column's head or a row's name, in the words of the window: "latency p99.9", "cut off". Without the unit; names
/// that have no words become their own: "answered_negatively" is "answered negatively".
QString words_of_path(const std::string& path);
/// "us", "ms", "s", "bytes", … as the path's names say; "" for a number of things.
std::string unit_of_path(std::string_view path);
/// On which machine that role ran (its key in the settings), by the name there; a summary may be of a version that knew this one alone.
QString machine_name_at(const nlohmann::json& summary, std::string_view role);
/// How far it may be off because clocks are, in µs: the ± of a time between two clocks, which stands beside it in the summary. Infinite:
/// nobody knows how far these are apart (null there). NaN: it is of one clock (nothing there). What else has such a ± tells it like this.
double clock_limit_at(const nlohmann::json& summary, std::string_view path);
/// Whether the path leads to a percentile with few of so many samples above it (are_few_samples_above).
bool has_few_samples(std::string_view path, double samples);
/// The same by the count that stands beside it in the summary (or in a service's row).
bool has_few_samples(const nlohmann::json& summary, std::string_view path);
/// Whether it leads to a time from senders to receivers, of all messages: what a floor is about.
bool is_latency(std::string_view path);
/// The floor of the run, an echo over loopback in µs, of a latency by its path, below twice of which it says more about the machine than
/// about the queue (is_near_floor). NaN: the path leads to no latency, or the floor is not known.
double floor_us_at(const nlohmann::json& summary, std::string_view path);
/// "below twice what an echo over loopback took there, …" of such a latency; empty: it is none.
QString near_floor_words(double floor_us, double latency_us);

}  // namespace n2nq::app
