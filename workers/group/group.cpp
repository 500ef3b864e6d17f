// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/group/group.h"

#include <algorithm>

#include "broker/net/clock.h"
#include "broker/net/host_facts.h"
#include "workers/group/floor.h"
#include "workers/recorder/salvage.h"

namespace n2nq::worker {

namespace {

constexpr std::int64_t tick_every_ns = 250 * net::ns_per_ms;
/// A tick that comes this late says that the whole process stood still: what it would take for silence may lie unread in the sockets.
constexpr std::int64_t tick_late_ns = net::ns_per_s;
constexpr std::size_t faults_max = 100;

const char* const state_names[] = {"waiting", "connected", "running", "ending", "ended", "failed"};

/// When a process sent or received that.
std::int64_t instant_ns(WorkerRole role, const Record& record) {
  return role == WorkerRole::senders ? record.sent_ns : record.other_ns;
}

/// Salvaging writes the logs itself.
LogOptions log_of(const WorkerSettings& settings) {
  LogOptions log = settings.log;
  log.go_on = !settings.continue_of.empty();
  if (!settings.salvage.empty()) log.mode = LogMode::off;
  return log;
}

}  // namespace

Group::Group(net::EventLoop& loop, WorkerSettings settings, Tell tell)
    : loop_(loop),
      settings_(std::move(settings)),
      tell_(std::move(tell)),
      recorder_(settings_.role, settings_.first, settings_.last, log_of(settings_), settings_.staging_folder),
      tick_timer_(loop, [this] { tick(); }),
      start_timer_(loop, [this] { run_at_start(); }) {
  by_state_[static_cast<std::size_t>(ServiceState::waiting)] = amount();
}

Group::~Group() = default;

Service::Tools Group::tools() {
  return {loop_, recorder_, *this, settings_.system, settings_.token, settings_.seed, settings_.continue_of.empty() ? 0u : 1u,
          settings_.last - settings_.first + 1, settings_.reconnect_deadline_ns};
}

void Group::connect(const net::SocketAddress& address, bool clock_shared, bool clocks_first) {
  address_ = address.text();
  broker_ = address;
  floor_ = measure_floor();
  tick_due_ns_ = net::now_ns() + tick_every_ns;
  tick_timer_.arm(tick_due_ns_);
  waits_for_clocks_ = clocks_first;
  if (!clocks_first) connect_services();
  if (clock_shared) {
    clock_changed(clock_, net::now_ns());
  } else {
    watch_clock();
  }
  look_at_clocks();
  tell_waiting();
}

void Group::connect_services() {
  for (std::size_t place = 0; place < amount(); ++place) service(place).connect(broker_);
}

void Group::look_at_clocks() {
  if (!waits_for_clocks_ || !knows_clocks() || state() != State::waiting) return;
  waits_for_clocks_ = false;
  connect_services();
}

void Group::salvage() {
  // Nobody tells a start to who reads back, and that may be long after the last message.
  const auto take = [this](const Record& record) {
    replay(record);
    if (record.is_skipped()) return;
    const std::int64_t at_ns = instant_ns(settings_.role, record);
    ended_ns_ = std::max(ended_ns_, at_ns);
    if (record.index >= 0 && (start_ns_ == 0 || at_ns < start_ns_)) start_ns_ = at_ns;  // not of the warm-up
  };
  salvaged_ = salvage_logs(settings_.salvage, settings_.role, settings_.first, settings_.last, settings_.log, LogsGoOn::no, take);
  replayed_all();
  keep_fault(std::string("the ") + name_of(settings_.role) +
             " ended before their time; their figures are what their logs and their staging file hold");
}

void Group::take_over() {
  recorder_.go_on_from(salvage_logs(settings_.continue_of, settings_.role, settings_.first, settings_.last, settings_.log, LogsGoOn::yes,
                                    [this](const Record& record) { replay(record); }));
  keep_fault(std::string("the ") + name_of(settings_.role) + " were killed and started again");
}

void Group::request(const RequestOrder& /*order*/) {
  throw net::SectionError("type", "\"request\" to senders; receivers are who may ask");
}

void Group::make_fault(std::uint32_t number, Fault fault) {
  if (fault != Fault::disconnect) throw net::SectionError("kind", "a sender can only \"disconnect\"; the other faults are for receivers");
  service(place_of(number)).break_connection();
}

void Group::set_senders_clock(const ClockOrder& /*order*/) {
  throw net::SectionError("type", "\"clock\" to senders; receivers are who compare clocks");
}

void Group::watch_clock() {
  clock_watch_ = std::make_unique<ClockWatch>(broker_, settings_.token, [this](const measure::ClockReport& report) {
    // Before what follows from it, so that the bench knows the clock when it is told that all are connected.
    nlohmann::json line = report;
    line["type"] = "clock";
    tell_(line);
    loop_.post([this, report] { take_clock(report); });
  });
}

void Group::take_clock(const measure::ClockReport& report) {
  const bool is_new = !clock_known_ || report.line != clock_;
  clock_ = report.line;
  clock_known_ = true;
  if (is_new) {
    const std::int64_t now = net::now_ns();
    clock_changed(clock_, now);
    recorder_.note_clock({ClockNote::Whose::own, now, clock_, report.bound});
  }
  look_at_clocks();
  judge_state();
}

void Group::tick() {
  const std::int64_t now = net::now_ns();
  if (now - tick_due_ns_ < tick_late_ns) {
    for (std::size_t place = 0; place < amount(); ++place) service(place).tick(now);
  }
  if (state() == State::waiting) tell_waiting();
  tick_due_ns_ = now + tick_every_ns;
  tick_timer_.arm(tick_due_ns_);
}

void Group::start(const StartOrder& order) {
  if (start_told_) return;
  start_told_ = true;
  start_ns_ = clock_.when(order.at_broker_ns);
  const std::int64_t wanted_ns = start_ns_ - order.lead_ns;
  if (const std::int64_t late_ns = order.late_ns.value_or(net::now_ns() - wanted_ns); late_ns > 0) {
    if (!order.late_ns) started_late_ns_ = late_ns;
    start_ns_ = settings_.role == WorkerRole::senders ? start_ns_ + late_ns : std::max(start_ns_, wanted_ns + late_ns);
  }
  measure_clock_from(start_ns_ - order.lead_ns);
  begin(start_ns_);
  start_timer_.arm(start_ns_ - order.lead_ns);
}

void Group::measure_clock_from(std::int64_t instant_ns) {
  if (clock_watch_) clock_watch_->measure_from(instant_ns);
}

void Group::run_at_start() {
  if (state() == State::waiting || state() == State::connected) set_state(State::running);
}

void Group::stop() {
  if (state() == State::ended || state() == State::failed) return;
  start_timer_.disarm();
  set_state(State::ending);
  stop_services();
  judge_state();
}

void Group::service_changed(ServiceState from, ServiceState to) {
  by_state_[static_cast<std::size_t>(from)].fetch_sub(1, std::memory_order_relaxed);
  by_state_[static_cast<std::size_t>(to)].fetch_add(1, std::memory_order_relaxed);
  judge_state();
}

void Group::judge_state() {
  const std::uint64_t over = services_in(ServiceState::ended) + services_in(ServiceState::failed);
  const bool is_over = state() == State::ended || state() == State::failed;
  if (is_over) return;
  // Who was killed and comes back to less, one that was cut off before, say, goes on with that.
  const bool refused_early = state() == State::waiting && services_in(ServiceState::failed) > 0 && settings_.continue_of.empty();
  if (over == amount() || refused_early) {
    ended_ns_ = net::now_ns();
    // Some that failed on the way are faults of the run; it is the process that failed when none came through, or not even to the start.
    set_state(refused_early || services_in(ServiceState::ended) == 0 ? State::failed : State::ended);
  } else if (state() == State::waiting && services_in(ServiceState::waiting) == 0) {
    if (clock_known()) set_state(State::connected);
  } else if (state() == State::running && services_in(ServiceState::ending) + over == amount()) {
    set_state(State::ending);
  }
}

void Group::service_opened(const OpenFacts& facts) {
  // In virtual machines that were cloned while they ran, everything says that the clocks are one.
  if (!clock_watch_ && facts.offset_ns != 0 && settings_.system == "n2nq") {
    service_fault("the clock of N2NQ's host is another one, though it has this host's boot id and time namespace");
    watch_clock();
  }
  offset_error_ns_ = std::min(offset_error_ns_, facts.offset_error_ns);
}

/// At once, too: who is killed gives no account.
void Group::service_fault(const std::string& fault) {
  if (keep_fault(fault)) tell_({{"type", "fault"}, {"message", fault}});
}

bool Group::keep_fault(const std::string& fault) {
  last_fault_ = fault;
  if (faults_.size() == faults_max) {
    ++faults_left_out_;
    return false;
  }
  faults_.push_back(fault);
  return true;
}

void Group::set_state(State state) {
  if (this->state() == state) return;
  state_.store(state, std::memory_order_relaxed);
  nlohmann::json extra = nlohmann::json::object();
  if (state == State::connected) extra["floor"] = floor_;
  if (state == State::failed) extra["message"] = last_fault_;
  if (state == State::running && started_late_ns_) extra["started_late_ns"] = *started_late_ns_;
  tell_state(std::move(extra));
}

void Group::tell_state(nlohmann::json extra) {
  const std::int64_t now = net::now_ns();
  nlohmann::json line = {
      {"type", "state"}, {"state", state_names[static_cast<std::size_t>(state())]}, {"now_ns", now}, {"broker_now_ns", nullptr}};
  if (offset_error_ns_ != INT64_MAX) line["broker_now_ns"] = to_broker_ns(now);
  line.update(extra);
  tell_(line);
}

void Group::tell_waiting() {
  if (state() != State::waiting) return;
  const std::uint64_t connected = amount() - services_in(ServiceState::waiting);
  std::string what = std::to_string(connected) + " of " + std::to_string(amount()) + " connected";
  if (waits_for_clocks_) what = "the clocks are being compared before anybody connects";
  if (connected == amount()) what = "all connected, and its clock is being compared with this host's";
  nlohmann::json told = {{"for", "N2NQ at " + address_ + " (" + what + ")"}};
  if (const std::string in_the_way = why_waiting(); !in_the_way.empty()) told["last"] = in_the_way;
  if (told == waiting_told_) return;
  waiting_told_ = told;
  tell_state(std::move(told));
}

/// What was in the way of a connection when it was tried last, of any that is waited for; empty: nothing yet.
std::string Group::why_waiting() {
  for (std::size_t place = 0; place < amount(); ++place) {
    const Service& each = service(place);
    if (each.state() == ServiceState::waiting && !each.last_reason().empty()) return each.last_reason();
  }
  return clock_watch_ && !clock_known_ ? clock_watch_->why_not() : std::string();
}

nlohmann::json Group::log_json() const {
  const LogCounts counts = salvaged_ ? *salvaged_ : recorder_.counts();
  return {{"lines", counts.lines}, {"dropped", counts.dropped}, {"error", counts.error}};
}

nlohmann::json Group::stats(std::uint64_t id, const Ranges& ranges) {
  nlohmann::json answer = {
      {"type", "stats"}, {"id", id}, {"now_ns", net::now_ns()}, {"state", state_names[static_cast<std::size_t>(state())]}};
  nlohmann::json rows = nlohmann::json::array();
  put_counts(answer, ranges, rows);
  answer["interval"] = cut_intervals();
  answer["log"] = log_json();
  answer["services"] = std::move(rows);
  return answer;
}

nlohmann::json Group::bye() {
  tick_timer_.disarm();
  start_timer_.disarm();
  if (ended_ns_ == 0) ended_ns_ = net::now_ns();
  for (std::size_t place = 0; place < amount(); ++place) service(place).close();
  // Of all threads: those of log and clock end here.
  const auto involuntary_switches = net::involuntary_switches();
  const auto core_times = net::core_times();
  std::optional<measure::ClockReport> clock;
  if (clock_watch_) clock = clock_watch_->finish(ended_ns_);
  recorder_.finish();
  nlohmann::json line = {{"type", "bye"}, {"role", name_of(settings_.role)}, {"started_ns", start_ns_}, {"ended_ns", ended_ns_}};
  nlohmann::json no_rows = nlohmann::json::array();
  put_counts(line, {}, no_rows);
  put_totals(line);
  if (clock) line["clock"] = *clock;
  line["involuntary_switches"] = involuntary_switches;
  line["core_times"] = core_times;
  line["faults"] = faults_;
  if (faults_left_out_ > 0) line["faults"].push_back("and " + std::to_string(faults_left_out_) + " more faults");
  line["log"] = log_json();
  return line;
}

}  // namespace n2nq::worker
