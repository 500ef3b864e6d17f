// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/broker/support/broker_under_test.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <stdexcept>

#include "broker/net/clock.h"

namespace n2nq::support {

namespace {

int left_ms(int64_t deadline_ns) {
  const int64_t left_ns = deadline_ns - net::now_ns();
  if (left_ns <= 0) throw std::runtime_error("waited too long");
  return static_cast<int>(left_ns / net::ns_per_ms + 1);
}

}  // namespace

std::string wanted_io() {
  const char* io = std::getenv("N2NQ_BROKER_IO");
  return io ? io : "";
}

ChildProcess::ChildProcess(const std::vector<std::string>& command) {
  std::signal(SIGPIPE, SIG_IGN);
  int in[2], out[2];
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);  // it is gone already
    dup2(in[0], 0);
    dup2(out[1], 1);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  ::close(in[0]);
  ::close(out[1]);
  in_.reset(in[1]);
  out_.reset(out[0]);
}

ChildProcess::~ChildProcess() {
  if (waited_) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void ChildProcess::close_stdin() {
  const std::lock_guard lock(in_guard_);
  in_.reset();
}

void ChildProcess::write(const std::string& text) {
  const std::lock_guard lock(in_guard_);
  for (size_t written = 0; written < text.size();) {
    const ssize_t bytes = ::write(in_.get(), text.data() + written, text.size() - written);
    if (bytes <= 0) throw std::runtime_error("the process does not take its stdin");
    written += static_cast<size_t>(bytes);
  }
}

std::string ChildProcess::read_line() {
  const int64_t deadline_ns = net::now_ns() + patience_ns;
  while (true) {
    const size_t end = unread_.find('\n');
    if (end != std::string::npos) {
      const std::string line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return line;
    }
    pollfd wait{out_.get(), POLLIN, 0};
    if (poll(&wait, 1, left_ms(deadline_ns)) <= 0) continue;
    char bytes[65536];
    const ssize_t count = ::read(out_.get(), bytes, sizeof bytes);
    if (count <= 0) return std::exchange(unread_, {});
    unread_.append(bytes, static_cast<size_t>(count));
  }
}

int ChildProcess::wait() {
  const int64_t deadline_ns = net::now_ns() + patience_ns;
  // The end of its stdout is the event; what it still says is thrown away.
  while (true) {
    pollfd waits{out_.get(), POLLIN, 0};
    if (poll(&waits, 1, left_ms(deadline_ns)) <= 0) continue;
    char bytes[65536];
    if (::read(out_.get(), bytes, sizeof bytes) <= 0) break;
  }
  int status = 0;
  waitpid(pid_, &status, 0);
  waited_ = true;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void ChildProcess::signal(int number) {
  kill(pid_, number);
}

std::string BrokerUnderTest::program() {
  return N2NQ_BROKER_PROGRAM;
}

nlohmann::json BrokerUnderTest::configuration(const nlohmann::json& changes) {
  nlohmann::json configure = {{"type", "configure"},
                              {"control", 1},
                              {"run", "test"},
                              {"role", "broker"},
                              {"token", ""},
                              {"listen", {{"address", "127.0.0.1"}, {"port", 0}}},
                              {"queue", {{"mode", "broadcaster"}, {"retention_ms", 600000}}},
                              {"expect", {{"senders", 2}, {"receivers", 2}}},
                              {"limits", {{"heartbeat_ms", 0}, {"write_deadline_ms", 600000}, {"handshake_deadline_ms", 60000}}},
                              {"seed", 1}};
  if (const std::string io = wanted_io(); !io.empty()) configure["io"] = io;
  configure.merge_patch(changes);
  return configure;
}

BrokerUnderTest::BrokerUnderTest(const nlohmann::json& changes) : process_({program()}) {
  say(configuration(changes));
  hello_ = hear();
  if (hello_.value("type", "") != "hello") throw std::runtime_error("no hello: " + hello_.dump());
  port_ = hello_["port"];
  lease_ = std::jthread([this](const std::stop_token& stop) { keep_lease(stop); });
}

void BrokerUnderTest::keep_lease(const std::stop_token& stop) {
  std::mutex guard;
  std::condition_variable_any stopped;
  std::unique_lock lock(guard);
  while (!stopped.wait_for(lock, stop, std::chrono::seconds(2), [&stop] { return stop.stop_requested(); })) {
    try {
      process_.write("\n");
    } catch (const std::runtime_error&) {
      return;  // it has ended, or its stdin was closed by the test
    }
  }
}

void BrokerUnderTest::say(const nlohmann::json& object) {
  process_.write(object.dump() + "\n");
}

nlohmann::json BrokerUnderTest::hear() {
  const std::string line = process_.read_line();
  if (line.empty()) throw std::runtime_error("the broker says nothing more");
  return nlohmann::json::parse(line);
}

nlohmann::json BrokerUnderTest::hear(const std::string& type, const std::string& state) {
  while (true) {
    nlohmann::json object = hear();
    if (object["type"] == type && (state.empty() || object["state"] == state)) return object;
  }
}

nlohmann::json BrokerUnderTest::finish() {
  say({{"type", "stop"}});
  say({{"type", "bye"}});
  nlohmann::json bye = hear("bye");
  EXPECT_EQ(process_.wait(), 0);
  return bye;
}

}  // namespace n2nq::support
