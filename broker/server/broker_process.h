// SPDX-License-Identifier: GPL-3.0-or-later
// n2nq-broker as a process of the bench: listens to the control protocol, starts the server, says how it goes and what came out.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>

#include "broker/net/control_channel.h"
#include "broker/net/event_loop.h"
#include "broker/server/event_log.h"
#include "broker/server/server.h"

namespace n2nq {

class BrokerProcess {
 public:
  /// Exit codes of the control protocol.
  static constexpr int exit_done = 0;
  static constexpr int exit_bad_start = 2;
  static constexpr int exit_lease_lost = 3;

  /// `marked`: see ControlChannel::Options.
  explicit BrokerProcess(bool marked);
  ~BrokerProcess();
  BrokerProcess(const BrokerProcess&) = delete;
  BrokerProcess& operator=(const BrokerProcess&) = delete;

  /// Until `bye` was answered; returns the exit code.
  int run();

 private:
  void on_object(const nlohmann::json& object);
  void on_configure(const nlohmann::json& object);
  void on_bye();
  void on_state(Server::State state, const std::string& why);
  void say_bye();
  void on_lease_lost(const std::string& reason);
  void end(int exit_code);

  net::EventLoop loop_;
  std::shared_ptr<EventLog> log_;  // guarded by log_guard_: the control thread writes the last line when the lease is lost
  std::mutex log_guard_;
  std::unique_ptr<Server> server_;
  bool ending_ = false;  // what is told to it now comes too late
  bool bye_wanted_ = false;
  bool bye_said_ = false;
  std::atomic<int> exit_code_ = exit_done;  // the control thread reads it, too
  net::ControlChannel channel_;  // last: its thread uses what stands above
};

}  // namespace n2nq
