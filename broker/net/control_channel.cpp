// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/net/control_channel.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>

#include "broker/net/clock.h"
#include "broker/net/parsed_json.h"

namespace n2nq::net {

namespace {

constexpr size_t read_bytes = 64 * 1024;
/// A pipe that poll() calls writable takes this much without blocking, so that stdout need not be made non-blocking (which would also
/// change it for whoever shares it), and in one piece (PIPE_BUF, pipe(7)).
constexpr size_t write_bytes_max = 4096;
constexpr int64_t last_words_ns = 5 * ns_per_s;
constexpr int64_t last_answers_ns = ns_per_s;

int poll_ms(int64_t left_ns) {
  return static_cast<int>(std::clamp<int64_t>(left_ns / ns_per_ms + 1, 0, 60'000));
}

sigset_t terminate_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  return signals;
}

/// The object of a line; discarded when it is no JSON object.
nlohmann::json parse_object(std::string_view line) {
  auto object = parsed_json(line);
  if (!object.is_object()) return nlohmann::json(nlohmann::json::value_t::discarded);
  return object;
}

}  // namespace

void prepare_signals() {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGINT, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);  // what is larger than `ulimit -f` fails like what a full disk does not take
  const sigset_t signals = terminate_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

ControlChannel::ControlChannel(EventLoop& loop, Options options, Handlers handlers)
    : loop_(loop),
      options_(options),
      handlers_(std::move(handlers)),
      wake_fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      last_read_ns_(now_ns()) {
  const sigset_t signals = terminate_signals();
  signal_fd_.reset(signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC));
  if (!wake_fd_.valid() || !signal_fd_.valid()) throw std::system_error(errno, std::generic_category(), "control channel");
  thread_ = std::thread([this] { run(); });
}

ControlChannel::~ControlChannel() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake();
  thread_.join();
}

void ControlChannel::write_line(const nlohmann::json& object) {
  std::string line = object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  line += '\n';
  if (line.size() > options_.unsent_bytes_max) return leave_out(object.value("type", std::string()), std::to_string(line.size()));
  {
    const std::lock_guard lock(mutex_);
    if (!options_.marked) {
      queue_output(std::move(line));
    } else {
      line.pop_back();
      constexpr size_t part_bytes_max = write_bytes_max - 3;
      for (std::string_view rest = line; !rest.empty(); rest.remove_prefix(std::min(rest.size(), part_bytes_max))) {
        std::string part(1, part_begin);
        part += rest.substr(0, part_bytes_max);
        if (rest.size() <= part_bytes_max) part += last_part_end;
        queue_output(std::move(part += '\n'));
      }
    }
  }
  wake();
}

void ControlChannel::leave_out(const std::string& type, const std::string& bytes) {
  write_error("line", "the line \"" + type + "\" would be " + bytes + " bytes long; at most " + std::to_string(options_.unsent_bytes_max) +
                          " can be told, so it is left out");
}

/// With mutex_ held.
void ControlChannel::queue_output(std::string line) {
  output_bytes_ += line.size();
  output_.push_back(std::move(line));
}

void ControlChannel::write_error(const std::string& code, const std::string& message, const std::string& key, const std::string& order) {
  nlohmann::json error{{"type", "error"}, {"code", code}, {"message", message}};
  if (!key.empty()) error["key"] = key;
  if (!order.empty()) error["order"] = order;
  write_line(error);
}

bool ControlChannel::flush(int64_t stall_ns) {
  const int64_t since_ns = now_ns();
  std::unique_lock lock(mutex_);
  while (!output_.empty()) {
    const int64_t left_ns = give_up_ns(since_ns, stall_ns) - now_ns();
    if (left_ns <= 0) {
      gave_up_ = true;
      return false;
    }
    written_out_.wait_for(lock, std::chrono::nanoseconds(left_ns));
  }
  return !output_failed_;
}

/// With mutex_ held.
int64_t ControlChannel::give_up_ns(int64_t since_ns, int64_t stall_ns) const {
  return (may_be_slow_ ? std::max(since_ns, last_written_ns_) : since_ns) + stall_ns;
}

int64_t ControlChannel::unheard_ns() const {
  return now_ns() - last_read_ns_;
}

void ControlChannel::wake() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t bytes = ::write(wake_fd_.get(), &one, sizeof one);
}

bool ControlChannel::output_waits() {
  const std::lock_guard lock(mutex_);
  return !output_.empty() && !output_failed_;
}

bool ControlChannel::must_end(int64_t now) {
  const std::lock_guard lock(mutex_);
  if (!ending_) return false;
  if (ending_since_ns_ == 0) ending_since_ns_ = now;
  return output_.empty() || output_failed_ || gave_up_ || lost_told_ || now >= give_up_ns(ending_since_ns_, last_words_ns);
}

void ControlChannel::run() {
  while (true) {
    const int64_t now = now_ns();
    if (must_end(now)) return;
    const bool is_answered = input_handled_ && !output_waits();
    if (!input_end_.empty() && (is_answered || now - input_end_ns_ >= last_answers_ns)) lose_lease(input_end_);
    const int64_t lease_left_ns = lease_lost_           ? last_words_ns
                                  : input_end_.empty() ? last_read_ns_ + options_.lease_ns - now
                                                       : input_end_ns_ + last_answers_ns - now;
    const int64_t left_ns = ending_since_ns_ == 0 ? lease_left_ns : std::min(lease_left_ns, last_words_ns);
    std::array<pollfd, 4> waits{{{input_ended_ ? -1 : options_.in_fd, POLLIN, 0},
                                 {output_waits() ? options_.out_fd : -1, POLLOUT, 0},
                                 {wake_fd_.get(), POLLIN, 0},
                                 {signal_fd_.get(), POLLIN, 0}}};
    if (poll(waits.data(), waits.size(), poll_ms(left_ns)) < 0 && errno != EINTR) {
      lose_lease(std::string("poll: ") + std::strerror(errno));
      return;
    }
    if (waits[2].revents != 0) {
      uint64_t count = 0;
      [[maybe_unused]] const ssize_t bytes = ::read(wake_fd_.get(), &count, sizeof count);
    }
    if (waits[3].revents != 0) take_signal();
    if (waits[1].revents != 0) write_output();
    check_output();
    if (waits[0].revents != 0) {
      read_input();
    } else if (!lease_lost_ && now_ns() - last_read_ns_ >= options_.lease_ns) {
      lose_lease("nothing was heard from the bench for " + std::to_string(options_.lease_ns / ns_per_ms) + " ms");
    }
  }
}

void ControlChannel::take_signal() {
  signalfd_siginfo info{};
  if (::read(signal_fd_.get(), &info, sizeof info) != sizeof info) return;
  deliver({{"type", "stop"}});
  deliver({{"type", "bye"}});
}

void ControlChannel::read_input() {
  std::array<char, read_bytes> bytes;
  const ssize_t count = ::read(options_.in_fd, bytes.data(), bytes.size());
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (count <= 0) {
    input_ended_ = true;
    if (count == 0 && bye_read_) return;  // a bench that said bye owes nothing more; a process that hangs still loses its lease by time
    input_end_ = count == 0 ? "end of stdin" : std::string("stdin: ") + std::strerror(errno);
    input_end_ns_ = now_ns();
    // What was read before is answered first: whoever starts it by hand is to hear what is wrong with the settings.
    loop_.post([this] {
      input_handled_ = true;
      wake();
    });
    return;
  }
  last_read_ns_ = now_ns();
  std::string_view rest(bytes.data(), static_cast<size_t>(count));
  for (size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
    append_to_line(rest.substr(0, end));
    if (!line_too_long_) take_line(line_);
    line_.clear();
    line_too_long_ = false;
    rest.remove_prefix(end + 1);
  }
  append_to_line(rest);
}

void ControlChannel::append_to_line(std::string_view part) {
  if (line_too_long_) return;
  if (line_.size() + part.size() <= options_.line_bytes_max) {
    line_ += part;
    return;
  }
  line_too_long_ = true;
  line_ = std::string();
  write_error("line", "a line is longer than " + std::to_string(options_.line_bytes_max) + " bytes; it is skipped");
}

void ControlChannel::take_line(std::string_view line) {
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;  // the lease
  nlohmann::json object = parse_object(line);
  const auto type = object.is_object() ? object.find("type") : object.end();
  if (object.is_discarded()) {
    write_error("line", "a line is not a JSON object: " + std::string(line.substr(0, 80)));
  } else if (type == object.end() || !type->is_string()) {
    write_error("type", "an object has no \"type\" that is text, as \"configure\"");
  } else {
    bye_read_ = bye_read_ || *type == "bye";
    deliver(std::move(object));
  }
}

void ControlChannel::deliver(nlohmann::json object) {
  if (handlers_.handle_here && handlers_.handle_here(object)) return;
  if (!handlers_.on_object) return;
  loop_.post([this, object = std::move(object)] { handlers_.on_object(object); });
}

void ControlChannel::write_output() {
  const std::lock_guard lock(mutex_);
  if (output_.empty()) return;
  const std::string_view rest = std::string_view(output_.front()).substr(output_written_);
  const ssize_t count = ::write(options_.out_fd, rest.data(), std::min(rest.size(), write_bytes_max));
  if (count < 0) {
    if (errno == EINTR || errno == EAGAIN) return;
    output_failed_ = true;  // nobody reads: stdin will say so too, or the lease
    output_.clear();
    output_bytes_ = 0;
  } else {
    last_written_ns_ = now_ns();
    output_written_ += static_cast<size_t>(count);
    output_bytes_ -= static_cast<size_t>(count);
    if (output_written_ == output_.front().size()) {
      output_.pop_front();
      output_written_ = 0;
    }
  }
  if (output_.empty()) written_out_.notify_all();
}

void ControlChannel::check_output() {
  std::string reason;
  {
    const std::lock_guard lock(mutex_);
    if (output_failed_) reason = "stdout is gone";
    if (output_bytes_ > options_.unsent_bytes_max) reason = "the bench does not read stdout";
  }
  if (!reason.empty()) lose_lease(reason);
}

void ControlChannel::lose_lease(const std::string& reason) {
  if (std::exchange(lease_lost_, true)) return;
  {
    const std::lock_guard lock(mutex_);
    may_be_slow_ = false;
    if (ending_) return;  // the process has said its last words and is leaving anyway
    lost_told_ = true;
  }
  if (handlers_.on_lease_lost) handlers_.on_lease_lost(reason);
}

}  // namespace n2nq::net
