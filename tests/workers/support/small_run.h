// SPDX-License-Identifier: GPL-3.0-or-later
// A whole run of real processes over real TCP, for tests: a broker, a senders group and a receivers group.
#pragma once

#include <memory>
#include <string>

#include "tests/workers/support/child.h"

namespace n2nq::worker::testing {

struct RunShape {
  int senders = 5;
  int receivers = 5;
  std::string mode = "broadcaster";
  nlohmann::json load = {{"messages", 20},
                         {"duration_ms", nullptr},
                         {"size_bytes", {50, 50}},
                         {"interval_ns", {{"num", 5'000'000}, {"den", 1}}},
                         {"start", "spread"}};
  std::string log = "all";
  nlohmann::json queue = nlohmann::json::object();  // of the broker's settings, on top of these
  nlohmann::json requests;                          // of the receivers' settings; null: off
  int reconnect_deadline_ms = 10'000;               // of both groups
};

class SmallRun {
 public:
  explicit SmallRun(RunShape shape);
  ~SmallRun();  // removes the folder

  /// Launches all three and waits until both groups are connected.
  void launch();
  void start();
  /// Waits until both groups have ended and takes everybody's bye.
  void finish();

  nlohmann::json configure_broker() const;
  nlohmann::json configure_senders() const;
  nlohmann::json configure_receivers() const;
  nlohmann::json connect_message() const;
  void launch_broker(int port = 0);
  void launch_senders();
  void launch_receivers();
  /// In place of a killed group, from what it has left: returns when they are connected.
  void go_on_with_senders(const std::string& staging_file);
  void go_on_with_receivers(const std::string& staging_file);

  const std::string& folder() const { return folder_; }
  std::string log_path(const std::string& group, const std::string& name) const { return folder_ + "/" + group + "/" + name + ".log"; }
  static nlohmann::json stats_message(int id) { return {{"type", "stats"}, {"id", id}}; }

  RunShape shape;
  std::unique_ptr<Child> broker, senders, receivers;
  nlohmann::json senders_bye, receivers_bye, broker_bye;
  int port = 0;

 private:
  nlohmann::json common(const char* role) const;
  nlohmann::json log_settings(const char* group) const;
  std::unique_ptr<Child> go_on(const char* program, nlohmann::json configure, const std::string& staging_file) const;

  std::string folder_;
};

}  // namespace n2nq::worker::testing
