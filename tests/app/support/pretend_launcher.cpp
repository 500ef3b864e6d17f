// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/app/support/pretend_launcher.h"

#include <signal.h>

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QTimer>
#include <utility>

#include "workers/measure/figures.h"
#include "workers/measure/histogram.h"
#include "workers/measure/log_line.h"

namespace n2nq::app::testing {

namespace {

using Json = nlohmann::json;

constexpr std::int64_t broker_clock_ns = 5'000'000'000;
constexpr int port = 40001;

QByteArray line_of(const Json& object) {
  return QByteArray::fromStdString(object.dump()) + '\n';
}

const char* role_word(Role role) {
  return role == Role::broker ? "broker" : role == Role::senders ? "senders" : "receivers";
}

/// `count` samples of one value.
measure::Histogram samples(std::int64_t count, std::int64_t value_ns) {
  measure::Histogram out;
  for (std::int64_t i = 0; i < count; ++i) out.add(value_ns);
  return out;
}

/// The same samples as `interval`, `totals` or `figures`.
Json group_of(std::initializer_list<const char*> names, std::int64_t count, bool as_figures) {
  Json out;
  for (const char* name : names) {
    const auto histogram = samples(count, 100'000);
    out[name] = as_figures ? Json(measure::figures_of(histogram)) : histogram.to_json();
  }
  return out;
}

constexpr auto receiver_names = {"latency", "latency_from_plan", "lag", "to_broker", "in_queue", "to_receiver"};
constexpr auto sender_names = {"delay", "lag"};

std::string set_of(std::int64_t count) {
  return count == 0 ? "" : count == 1 ? "0" : "0-" + std::to_string(count - 1);
}

Json set_runs(int senders, std::int64_t each) {
  return each == 0 ? Json::array() : Json::array({Json::array({1, senders, set_of(each)})});
}

}  // namespace

Json PretendHost::told(Role role, const std::string& type) const {
  const auto found = heard.find(role);
  if (found == heard.end()) return {};
  for (const Json& object : found->second) {
    if (object["type"] == type) return object;
  }
  return {};
}

std::size_t PretendHost::times_told(Role role, const std::string& type) const {
  std::size_t count = 0;
  const auto found = heard.find(role);
  if (found == heard.end()) return 0;
  for (const Json& object : found->second) count += object["type"] == type ? 1 : 0;
  return count;
}

PretendLauncher::~PretendLauncher() {
  if (running_) --host_.alive;
}

void PretendLauncher::put_file(const QString& program) {
  role_ = program == "n2nq-broker" ? Role::broker : program == "n2nq-senders" ? Role::senders : Role::receivers;
  host_.process[role_] = this;
  host_.launched_on[role_] = name_;
  if (host_.unreachable.contains(name_)) return;
  QMetaObject::invokeMethod(
      this,
      [this] {
        was_away_ = host_.away.contains(name_);
        if (was_away_) return emit failed(QString::fromStdString(name_ + " does not answer"));
        put_ = !behaviour().fails_to_start;
        put_ ? emit file_put() : emit failed("the pretend host has no such program");
      },
      Qt::QueuedConnection);
}

QString PretendLauncher::not_reached() const {
  return host_.unreachable.contains(name_) ? QString::fromStdString(name_ + ": no answer yet") : QString();
}

void PretendLauncher::start(const QString&) {
  running_ = true;
  ++host_.alive;
  QMetaObject::invokeMethod(
      this,
      [this] {
        emit started();
        reach(Moment::launched);
      },
      Qt::QueuedConnection);
}

void PretendLauncher::bring_back(const QString& local_folder) {
  host_.brought[role_] = local_folder;
  host_.bringing[role_] = this;
  if (host_.away.contains(name_)) return emit bring_back_waits(QString::fromStdString(name_ + " is away"));
  if (take_holds_when_reached()) return emit reached();
  if (!host_.brings_when_told) emit brought_back(host_.bring_error[role_], host_.bring_error[role_].isEmpty());
}

void PretendLauncher::go_on_bringing() {
  bring_back(host_.brought[role_]);
}

void PretendLauncher::end_waiting(bool reached_again) {
  reached_again ? bring_back(host_.brought[role_]) : emit brought_back(QString::fromStdString(name_ + " is away"), false);
}

void PretendLauncher::write(const QByteArray& bytes) {
  if (!running_) return;
  if (behaviour().keeps_back_ms > 0 && !std::exchange(has_kept_back_, true)) {
    emit keeps_back(keeps_back_ = true);
    QTimer::singleShot(behaviour().keeps_back_ms, this, [this] {
      keeps_back_ = false;
      write(std::exchange(kept_back_, {}));
      emit keeps_back(false);
    });
  }
  if (keeps_back_) {
    kept_back_ += bytes;
    return;
  }
  open_line_ += bytes;
  for (qsizetype newline = open_line_.indexOf('\n'); newline >= 0; newline = open_line_.indexOf('\n')) {
    const QByteArray line = open_line_.left(newline);
    open_line_.remove(0, newline + 1);
    if (line.isEmpty()) {
      ++host_.leases[role_];
      continue;
    }
    const Json object = Json::parse(line.toStdString());
    host_.heard[role_].push_back(object);
    if (behaviour().answers)
      QMetaObject::invokeMethod(
          this, [this, object] { hear(object); }, Qt::QueuedConnection);
  }
}

void PretendLauncher::terminate() {
  ++host_.terminated[role_];
  if (!behaviour().host_refuses.isEmpty()) return emit not_killed(behaviour().host_refuses);
  if (!running_ || !behaviour().answers || behaviour().refuses_to_end || stands_still()) return;
  say(bye());
  end(0, 0);
}

void PretendLauncher::kill() {
  ++host_.killed[role_];
  if (!behaviour().host_refuses.isEmpty()) return emit not_killed(behaviour().host_refuses);
  if (std::exchange(bye_on_its_way_, false)) return emit gone({});
  if (!behaviour().outlives_kill) end(0, SIGKILL);
}

void PretendLauncher::end_input() {
  constexpr int lease_lost = 3;
  if (behaviour().hears_the_end) end(lease_lost, 0);
}

void PretendLauncher::say(const Json& object) {
  if (running_) emit output(line_of(object));
}

void PretendLauncher::say_waiting(const char* what_for) {
  say({{"type", "state"}, {"state", "waiting"}, {"for", what_for}, {"now_ns", broker_clock_ns}});
}

void PretendLauncher::say_connected() {
  say_state("connected");
  reach(Moment::connected);
}

void PretendLauncher::hear(const Json& object) {
  if (!running_) return;
  const std::string type = object["type"];
  const bool deaf = behaviour().refuses_to_end || stands_still();
  if (type == "configure") {
    on_configure(object);
  } else if (type == "connect") {
    behaviour().connects ? say_connected() : say_waiting("N2NQ");
  } else if (type == "start") {
    on_start();
  } else if (type == "stats") {
    if (host_.sent_each == 0 || !behaviour().silent_in_traffic) say(stats(object["id"]));
  } else if (type == "stop" && !deaf) {
    end_traffic();
  } else if (type == "bye" && !deaf) {
    QTimer::singleShot(behaviour().bye_ms, this, [this] {
      if (behaviour().bye_is_late) return end_before_bye_comes();
      say(bye());
      if (host_.salvage_lost_behind_bye && configure_.contains("salvage")) return lose_link(QString::fromStdString(name_ + " is away again"));
      end(0, 0);
    });
  }
}

void PretendLauncher::on_configure(const Json& configure) {
  configure_ = configure;
  const bool salvages = configure.contains("salvage");
  if (salvages && host_.salvage_fails) {
    say({{"type", "error"}, {"code", host_.salvage_error_code}, {"message", host_.salvage_error}});
    return end(2, 0);
  }
  if (!behaviour().says_first.isEmpty()) emit output(behaviour().says_first);
  if (!behaviour().says_as_hello.isEmpty()) return emit output(behaviour().says_as_hello);
  Json hello = {{"type", "hello"},
                {"control", 1},
                {"wire", 1},
                {"role", role_word(role_)},
                {"version", N2NQ_VERSION},
                {"pid", 1},
                {"now_ns", broker_clock_ns},
                {"host", {{"name", "here"}, {"boot_id", "same"}, {"time_namespace", "same"}}}};
  make_logs();
  if (role_ != Role::broker) hello["staging_file"] = host_.staging_file;
  if (role_ == Role::broker) hello["address"] = "127.0.0.1", hello["port"] = port;
  say(hello);
  if (role_ == Role::broker) say({{"type", "state"}, {"state", "waiting"}, {"for", "senders and receivers"}, {"now_ns", broker_clock_ns}});
  reach(Moment::waiting);
}

/// Empty ones: that they are there is what a result asks for.
void PretendLauncher::make_logs() const {
  const auto make = [](const QString& path) {
    QDir().mkpath(QFileInfo(path).path());
    QFile(path).open(QIODevice::WriteOnly | QIODevice::Append);
  };
  if (role_ == Role::broker) return make(QString::fromStdString(configure_["log_file"]));
  const char letter = role_ == Role::senders ? 'S' : 'R';
  for (int number = 1; number <= amount(role_word(role_)); ++number)
    make(QString::fromStdString(configure_["log"]["folder"].get<std::string>() + '/' +
                                measure::service_name(letter, static_cast<std::uint32_t>(number)) + ".log"));
}

void PretendLauncher::on_start() {
  say_state("running");
  if (role_ == Role::senders) {
    const Json& messages = configure_["load"]["messages"];
    host_.sent_each = messages.is_number() ? messages.get<std::int64_t>() : 3;
    if (auto broker = host_.process[Role::broker]) broker->say_state("running"), broker->reach(Moment::running);
  }
  if (!behaviour().says_when_running.isEmpty()) emit output(behaviour().says_when_running);
  reach(Moment::running);
  if (role_ == Role::senders && running_ && !behaviour().runs_on) end_traffic();
}

/// The senders' end lets the broker drain, whose end ends the receivers.
void PretendLauncher::end_traffic() {
  if (!running_ || ended_ || behaviour().refuses_to_end) return;
  say_state("ending");
  reach(Moment::ending);
  if (!running_) return;
  ended_ = true;
  say_state("ended");
  const auto next = host_.process[role_ == Role::senders ? Role::broker : Role::receivers];
  if (role_ != Role::receivers && next)
    QMetaObject::invokeMethod(
        next,
        [next] {
          if (next && next->behaviour().ends_by_itself) next->end_traffic();
        },
        Qt::QueuedConnection);
}

void PretendLauncher::reach(Moment moment) {
  if (behaviour().dies == moment) return end(0, SIGSEGV);
  if (behaviour().exits == moment) end(0, 0);
}

void PretendLauncher::say_state(const std::string& state) {
  say({{"type", "state"}, {"state", state}, {"now_ns", broker_clock_ns}, {"broker_now_ns", broker_clock_ns}});
}

void PretendLauncher::end(int code, int signal) {
  if (!running_) return;
  running_ = false;
  --host_.alive;
  QMetaObject::invokeMethod(
      this,
      [this, code, signal] {
        emit gone({code, signal, {"a line of stderr", QString("last words of ") + role_word(role_)}});
      },
      Qt::QueuedConnection);
}

void PretendLauncher::end_before_bye_comes() {
  running_ = false;
  --host_.alive;
  bye_on_its_way_ = true;
  emit exited();
}

void PretendLauncher::bring_bye() {
  bye_on_its_way_ = false;
  emit output(line_of(bye()));
  emit gone({});
}

void PretendLauncher::lose_link(const QString& why) {
  running_ = false;
  --host_.alive;
  emit gone({0, 0, {}, why, std::chrono::steady_clock::now()});
}

int PretendLauncher::amount(const char* role) const {
  if (role_ == Role::broker) return configure_["expect"][role];
  if (role_ == Role::receivers && std::string(role) == "senders") return configure_["senders_total"];
  return configure_["services"]["total"];
}

Json PretendLauncher::stats(std::uint64_t id) const {
  Json out = {{"type", "stats"},          {"id", id},    {"now_ns", broker_clock_ns},
              {"state", "running"},       {"bytes", 50}, {"log", {{"lines", 1}, {"dropped", 0}, {"error", ""}}},
              {"services", Json::array()}};
  if (role_ == Role::senders) {
    out["attempted"] = out["accepted"] = host_.sent_each, out["refused"] = 0;
    if (behaviour().held_back) out["accepted"] = std::min<std::int64_t>(host_.sent_each, static_cast<std::int64_t>(id));
    out["interval"] = group_of(sender_names, 2, false);
    out["services"].push_back({{"number", 1}, {"attempted", host_.sent_each}, {"delay_mean_ns", 500e6}});
  } else {
    for (const char* key : {"received", "duplicated", "duplicated_unflagged", "redelivered", "out_of_order", "unexpected", "negative",
                            "bad_checksum", "unasked", "confirmed", "answered_negatively", "parked_delivered", "ended"})
      out[key] = 0;
    out["skipped"] = {{"expired", 0}, {"unrequested", 0}, {"parked", 0}, {"cut_off", 0}};
    out["interval"] = group_of(receiver_names, 3, false);
  }
  return out;
}

Json PretendLauncher::bye() const {
  const int senders = configure_.is_null() ? 0 : amount("senders");
  const std::int64_t each = host_.sent_each;
  Json out = {
      {"type", "bye"}, {"role", role_word(role_)}, {"faults", Json::array()}, {"log", {{"lines", 0}, {"dropped", 0}, {"error", ""}}}};
  Json& services = out["services"] = Json::array();
  if (role_ == Role::senders) {
    out["started_ns"] = 0, out["ended_ns"] = 1'000'000'000, out["last_lag_ns"] = 1000;
    out["attempted"] = out["accepted"] = each * senders, out["bytes"] = each * senders * 50;
    out["totals"] = group_of(sender_names, each, false), out["figures"] = group_of(sender_names, each, true);
    for (int number = 1; number <= senders; ++number) {
      services.push_back({{"number", number},
                          {"port", 50000 + number},
                          {"attempted", each},
                          {"accepted", each},
                          {"refused", 0},
                          {"lost_before_queue", 0},
                          {"bytes", each * 50},
                          {"accepted_set", set_of(each)},
                          {"figures", group_of(sender_names, each, true)}});
    }
  } else if (role_ == Role::receivers && !configure_.is_null()) {
    const int receivers = amount("receivers");
    const std::int64_t got = each * senders;
    out["received"] = got * receivers, out["bytes"] = got * receivers * 50;
    out["totals"] = group_of(receiver_names, got * receivers, false), out["figures"] = group_of(receiver_names, got * receivers, true);
    for (int number = 1; number <= receivers; ++number) {
      Json row = {{"number", number},
                  {"port", 51000 + number},
                  {"received", got},
                  {"bytes", got * 50},
                  {"handed_over", got},
                  {"ended_by_broker", true},
                  {"delivered_sets", set_runs(senders, each)},
                  {"figures", group_of(receiver_names, got, true)}};
      for (const char* key : {"duplicated", "redelivered", "out_of_order", "unexpected", "negative", "bad_checksum"}) row[key] = 0;
      services.push_back(row);
    }
  } else if (role_ == Role::broker && !configure_.is_null()) {
    out["senders"] = Json::array(), out["receivers"] = Json::array();
    for (int number = 1; number <= senders; ++number) out["senders"].push_back({{"number", number}, {"accepted", each}, {"ended", true}});
    for (int number = 1; number <= amount("receivers"); ++number) {
      out["receivers"].push_back({{"number", number}, {"handed_over", each * senders}, {"expired", 0}});
    }
  }
  return out;
}

MakeLauncher PretendFactory::launchers_of(const QString& host) {
  return [this, name = host.toStdString()] { return std::make_unique<PretendLauncher>(host_, name); };
}

}  // namespace n2nq::app::testing
