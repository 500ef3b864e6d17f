// SPDX-License-Identifier: GPL-3.0-or-later
// A real n2nq-broker process, spoken to as the bench does.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <mutex>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "broker/net/fd.h"

namespace n2nq::support {

/// For everything that is waited for: far more than it takes, also on a loaded machine.
constexpr int64_t patience_ns = 60'000'000'000;

/// How the environment wants N2NQ to write (N2NQ_BROKER_IO); "": as it does by itself.
std::string wanted_io();

/// A program with pipes for stdin and stdout. Killed with its object, and with the thread that made it: where a test is aborted, nobody
/// else would end a process that was stopped.
class ChildProcess {
 public:
  explicit ChildProcess(const std::vector<std::string>& command);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Any thread.
  void write(const std::string& text);
  void close_stdin();
  /// Without its end of line; "" at the end of the stream. Throws after the patience.
  std::string read_line();
  /// Exit code, or 128 + the signal. Throws after the patience.
  int wait();
  void signal(int number);
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  bool waited_ = false;
  std::mutex in_guard_;
  net::Fd in_;  // guarded by in_guard_
  net::Fd out_;
  std::string unread_;
};

class BrokerUnderTest {
 public:
  /// Starts and configures; `changes` are merged into 2 senders, 2 receivers, broadcaster, no token. Expects `hello`.
  explicit BrokerUnderTest(const nlohmann::json& changes = nlohmann::json::object());

  static nlohmann::json configuration(const nlohmann::json& changes);
  static std::string program();

  uint16_t port() const { return port_; }
  const nlohmann::json& hello() const { return hello_; }
  ChildProcess& process() { return process_; }

  void say(const nlohmann::json& object);
  /// The next object from it.
  nlohmann::json hear();
  /// Objects until one of this type (and of this state, unless empty).
  nlohmann::json hear(const std::string& type, const std::string& state = {});
  /// stop and bye; expects exit code 0 and returns the summary.
  nlohmann::json finish();

 private:
  void keep_lease(const std::stop_token& stop);

  ChildProcess process_;
  nlohmann::json hello_;
  uint16_t port_ = 0;
  std::jthread lease_;  // last: it uses the process
};

}  // namespace n2nq::support
