// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/workers/support/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

#include "broker/net/clock.h"

namespace n2nq::worker::testing {

Child::Child(const std::string& program, const std::vector<std::string>& arguments) {
  int in[2], out[2];
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
  program_ = program;
  const std::string path = std::string(N2NQ_BIN_DIR) + "/" + program;
  std::vector<char*> argv = {const_cast<char*>(path.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_ = fork();
  if (pid_ == 0) {
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    execv(path.c_str(), argv.data());
    _exit(127);
  }
  to_.reset(in[1]);
  from_.reset(out[0]);
  close(in[0]);
  close(out[1]);
  signal(SIGPIPE, SIG_IGN);
  lease_keeper_ = std::thread([this] { keep_lease(); });
}

Child::~Child() {
  fall_silent();
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void Child::send(const nlohmann::json& object) {
  send_text(object.dump());
}

void Child::keep_lease() {
  std::unique_lock lock(mutex_);
  while (!silent_changed_.wait_for(lock, std::chrono::seconds(3), [this] { return silent_; })) {
    [[maybe_unused]] const ssize_t bytes = ::write(to_.get(), "\n", 1);  // the program may be gone: whoever waits for it will say so
  }
}

void Child::fall_silent() {
  {
    const std::lock_guard lock(mutex_);
    silent_ = true;
  }
  silent_changed_.notify_all();
  if (lease_keeper_.joinable()) lease_keeper_.join();
}

void Child::close_stdin() {
  fall_silent();
  to_.reset();
}

void Child::send_text(const std::string& line) {
  const std::lock_guard lock(mutex_);
  const std::string text = line + "\n";
  for (std::size_t written = 0; written < text.size();) {
    const ssize_t bytes = ::write(to_.get(), text.data() + written, text.size() - written);
    if (bytes < 0) throw std::runtime_error("the program's stdin is closed");
    written += static_cast<std::size_t>(bytes);
  }
}

void Child::kill(int signal) {
  ::kill(pid_, signal);
}

std::string Child::wait_for_line() {
  const std::int64_t end_ns = net::now_ns() + deadline_ns;
  std::size_t searched = 0;
  while (true) {
    const std::size_t end = buffer_.find('\n', searched);
    if (end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return line;
    }
    searched = buffer_.size();
    pollfd wait{from_.get(), POLLIN, 0};
    if (poll(&wait, 1, static_cast<int>((end_ns - net::now_ns()) / net::ns_per_ms)) <= 0)
      throw std::runtime_error("nothing came from " + program_ + " within the deadline; " + passed_over());
    char bytes[65536];
    const ssize_t count = ::read(from_.get(), bytes, sizeof bytes);
    if (count <= 0) throw std::runtime_error("the stdout of " + program_ + " has ended after " + std::to_string(buffer_.size()) + " B of a line; " + passed_over());
    buffer_.append(bytes, static_cast<std::size_t>(count));
  }
}

std::string Child::passed_over() const {
  std::string text = "said before, and not asked for:";
  for (const nlohmann::json& object : seen_) text += "\n  " + object.dump().substr(0, 300);
  return text;
}

nlohmann::json Child::wait_for(const Wanted& wanted) {
  if (const auto earlier = std::ranges::find_if(seen_, wanted); earlier != seen_.end()) {
    nlohmann::json object = std::move(*earlier);
    seen_.erase(earlier);
    return object;
  }
  while (true) {
    nlohmann::json object = nlohmann::json::parse(wait_for_line());
    if (wanted(object)) return object;
    seen_.push_back(std::move(object));
  }
}

nlohmann::json Child::wait_for_type(const std::string& type) {
  nlohmann::json object = wait_for([&](const nlohmann::json& candidate) { return candidate["type"] == type; });
  if (type == "hello") staging_file_ = object.value("staging_file", "");
  return object;
}

nlohmann::json Child::wait_for_state(const std::string& state) {
  return wait_for([&](const nlohmann::json& object) { return object["type"] == "state" && object["state"] == state; });
}

int Child::wait_for_exit() {
  const std::int64_t end_ns = net::now_ns() + deadline_ns;
  int status = 0;
  while (waitpid(pid_, &status, WNOHANG) == 0) {
    if (net::now_ns() > end_ns) throw std::runtime_error("the program does not end");
    usleep(1000);
  }
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace n2nq::worker::testing
