// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/server/broker_process.h"

#include <sched.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>

#include "broker/net/clock.h"
#include "broker/net/file_limit.h"
#include "broker/net/host_facts.h"
#include "broker/net/section.h"
#include "broker/server/options.h"

namespace n2nq {

namespace {

constexpr int64_t log_flush_ns = 500 * net::ns_per_ms;
constexpr int64_t last_words_ns = 4 * net::ns_per_s;  // a stop and a drain of 5 s take less than 10 s together

/// Each session is an open file, and there are to be as many as the settings allow: else whoever comes then is not told why he is not
/// taken. Throws SectionError when the system does not let us.
void get_files_for(const Options& options) {
  const size_t needed = options.limits.sessions_max + Server::files_beside_sessions;
  const size_t allowed = net::raise_file_limit();
  if (allowed >= needed) return;
  const size_t services = options.queue.senders + options.queue.receivers;
  const size_t sessions = allowed - std::min(allowed, Server::files_beside_sessions);
  std::string text = "limits.sessions_max is " + std::to_string(options.limits.sessions_max) + ", which needs " + std::to_string(needed) +
                     " open files; this system allows " + std::to_string(allowed) + ": ";
  if (sessions > services) text += "set limits.sessions_max to at most " + std::to_string(sessions) + ", or ";
  throw net::SectionError("limits.sessions_max",
                          text + "raise the hard limit for open files (ulimit -Hn, nofile in /etc/security/limits.conf)");
}

uint64_t random_epoch() {
  uint64_t epoch = 0;
  // Fails on kernels before 3.17 only; the clock differs from start to start as well.
  if (getrandom(&epoch, sizeof epoch, 0) != sizeof epoch) epoch = static_cast<uint64_t>(net::now_ns());
  return epoch;
}

}  // namespace

BrokerProcess::BrokerProcess(bool marked)
    : channel_(
          loop_, {.marked = marked},
          {[this](const nlohmann::json& object) { on_object(object); }, {}, [this](const std::string& reason) { on_lease_lost(reason); }}) {
}

BrokerProcess::~BrokerProcess() = default;

int BrokerProcess::run() {
  loop_.run();
  if (!channel_.flush(last_words_ns) && exit_code_ == exit_done) exit_code_ = exit_lease_lost;  // nobody reads
  // A disk that takes nothing keeps nobody running: the log's end would wait for it.
  if (log_ && !log_->flush(net::now_ns() + log_flush_ns)) _exit(exit_code_);
  return exit_code_;
}

void BrokerProcess::on_object(const nlohmann::json& object) {
  if (ending_) return;
  const std::string type = object.at("type").get<std::string>();
  if (type == "configure") {
    on_configure(object);
  } else if (type == "start") {
    if (server_) server_->begin();
  } else if (type == "stop") {
    if (server_) server_->stop();
  } else if (type == "bye") {
    on_bye();
  } else {
    channel_.write_error("type", "the broker does not know \"" + type + "\"; it knows configure, start, stop and bye", "type");
  }
}

void BrokerProcess::on_configure(const nlohmann::json& object) {
  if (server_) {
    channel_.write_error("configured", "the broker is configured already; a new run needs a new process");
    return;
  }
  try {
    const Options options = parse_options(object);
    get_files_for(options);
    auto log = std::make_shared<EventLog>(options.log_file);  // whose disk may let it wait: who ends this process meanwhile does not
    {
      const std::lock_guard lock(log_guard_);
      log_ = std::move(log);
    }
    log_->write("n2nq-broker " N2NQ_VERSION ", run " + options.run);
    server_ = std::make_unique<Server>(loop_, options, *log_, random_epoch(),
                                       [this](Server::State state, const std::string& why) { on_state(state, why); });
    // From here on nobody but this thread uses the listeners and the connections. With a table of descriptors of its own the kernel does
    // not count who uses one at each call. Where it is not allowed, all goes on as it was.
    unshare(CLONE_FILES);
    nlohmann::json hello = net::make_hello("broker");
    hello["address"] = server_->address().address();
    hello["port"] = server_->address().port();
    channel_.write_line(hello);
  } catch (const net::SectionError& error) {
    end(exit_bad_start);  // first, for whoever reads the error may end stdin at once
    channel_.write_error("configure", error.what(), error.key());
  } catch (const std::exception& error) {
    end(exit_bad_start);
    channel_.write_error("listen", error.what(), "listen");
  }
}

void BrokerProcess::on_bye() {
  if (!server_) {
    channel_.write_line({{"type", "bye"}, {"role", "broker"}});  // it was never configured: there is nothing to tell
    end(exit_done);
    return;
  }
  // Behind a `stop` the last word waits for the drain, which has its own deadline; asked again, it does not.
  const bool draining = server_->stopping() && server_->state() != Server::State::ended;
  if (draining && !std::exchange(bye_wanted_, true)) return;
  bye_wanted_ = true;
  server_->finish();
  if (server_->state() == Server::State::ended) say_bye();
}

void BrokerProcess::on_state(Server::State state, const std::string& why) {
  const int64_t now = net::now_ns();
  nlohmann::json object{{"type", "state"}, {"state", name_of(state)}, {"now_ns", now}, {"broker_now_ns", now}};
  if (!why.empty()) object[state == Server::State::waiting ? "for" : "message"] = why;
  channel_.write_line(object);
  if (state == Server::State::ended && bye_wanted_) say_bye();
}

void BrokerProcess::say_bye() {
  if (std::exchange(bye_said_, true)) return;
  log_->flush(net::now_ns() + log_flush_ns);
  SetLetters letters{.most = channel_.written_line_bytes_max()};
  const nlohmann::json summary = server_->summary(letters);
  if (letters.fit()) {
    channel_.write_line(summary);
  } else {
    channel_.leave_out("bye", "at least " + std::to_string(letters.count));
  }
  end(exit_done);
}

void BrokerProcess::end(int exit_code) {
  ending_ = true;
  exit_code_ = exit_code;
  loop_.stop();
}

void BrokerProcess::on_lease_lost(const std::string& reason) {
  if (exit_code_ != exit_done) return;  // it is ending already, and says why
  std::shared_ptr<EventLog> log;
  {
    const std::lock_guard lock(log_guard_);
    log = log_;
  }
  if (log) {
    log->write("the bench is gone (" + reason + "): ending at once");
    log->flush(net::now_ns() + log_flush_ns);
  }
  // At once, whatever the data thread is doing.
  _exit(exit_lease_lost);
}

}  // namespace n2nq
