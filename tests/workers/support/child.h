// SPDX-License-Identifier: GPL-3.0-or-later
// A program under test, driven over its stdin and stdout as the bench does it.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "broker/net/fd.h"

namespace n2nq::worker::testing {

class Child {
 public:
  static constexpr std::int64_t deadline_ns = 60'000'000'000;  // for anything that is waited for: generous, because machines are busy

  /// Starts a program of this build by its name. Its stderr is the test's.
  explicit Child(const std::string& program, const std::vector<std::string>& arguments = {});
  ~Child();  // kills what is left
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  void send(const nlohmann::json& object);
  /// A line as it is.
  void send_text(const std::string& line);
  void close_stdin();
  /// From now on the lease is not kept up any more.
  void fall_silent();
  void kill(int signal);

  using Wanted = std::function<bool(const nlohmann::json&)>;
  /// The first object for which `wanted` says yes, among those that were passed over before and then among the next. Throws
  /// std::runtime_error at the deadline or when stdout ends.
  nlohmann::json wait_for(const Wanted& wanted);
  nlohmann::json wait_for_type(const std::string& type);
  nlohmann::json wait_for_state(const std::string& state);
  /// As the hello said; wait_for_type("hello") has to come before.
  const std::string& staging_file() const { return staging_file_; }
  /// The next line, unparsed.
  std::string wait_for_line();

  /// Exit code, or minus the signal that ended it. Throws at the deadline.
  int wait_for_exit();

 private:
  void keep_lease();
  std::string passed_over() const;

  std::string program_;
  pid_t pid_ = -1;
  net::Fd from_;
  std::mutex mutex_;
  net::Fd to_;           // guarded by mutex_
  bool silent_ = false;  // guarded by mutex_
  std::condition_variable silent_changed_;
  std::thread lease_keeper_;
  std::string buffer_;
  std::string staging_file_;
  std::vector<nlohmann::json> seen_;  // read, but not asked for yet
};

}  // namespace n2nq::worker::testing
