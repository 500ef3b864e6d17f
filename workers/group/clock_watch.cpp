// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/group/clock_watch.h"

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include "broker/net/clock.h"
#include "workers/queue_client/queue_client.h"

namespace n2nq::worker {

namespace {

constexpr int burst_probes = 30;
constexpr std::int64_t burst_every_ns = 10 * net::ns_per_ms;
// Where a round trip takes long, fewer have to do: nobody is connected before the first burst is over.
constexpr int burst_probes_min = 5;
constexpr std::int64_t burst_max_ns = net::ns_per_s;
constexpr std::int64_t probe_every_ns = 100 * net::ns_per_ms;
constexpr std::int64_t answer_deadline_ns = 10 * net::ns_per_s;
constexpr std::int64_t pause_first_ns = 100 * net::ns_per_ms;
constexpr std::int64_t pause_max_ns = net::ns_per_s;

// How often a new line is worth telling: often while little is known, later once a second.
constexpr std::int64_t line_every_in_burst_ns = 50 * net::ns_per_ms;
constexpr std::int64_t line_every_at_first_ns = 250 * net::ns_per_ms;
constexpr std::int64_t line_every_ns = net::ns_per_s;
constexpr std::int64_t at_first_ns = 5 * net::ns_per_s;
constexpr std::int64_t report_every_ns = 5 * net::ns_per_s;
/// By how much the estimate has to be off before a new line replaces the one in force: a hundredth of the round trip, which is what is not
/// known anyway, within these.
constexpr std::int64_t moved_min_ns = 1'000, moved_max_ns = 20'000;

}  // namespace

ClockWatch::ClockWatch(const net::SocketAddress& broker, const wire::Token& token, OnReport on_report)
    : broker_(broker), token_(token), on_report_(std::move(on_report)), timer_(loop_, [this] { on_due(); }) {
  thread_ = std::thread([this] {
    connect();
    loop_.run();
    timer_.disarm();
    connection_.reset();
  });
}

ClockWatch::~ClockWatch() {
  finish(0);
}

std::optional<measure::ClockReport> ClockWatch::finish(std::int64_t ended_ns) {
  if (thread_.joinable()) {
    loop_.stop();
    thread_.join();
  }
  if (!reported_) return std::nullopt;
  if (span_) end_span(net::now_ns());  // the burst behind a jump did not come to its end
  if (ended_ns > answered_ns_) watch_bound(ended_ns);
  report_.later.reset();
  return report_;
}

void ClockWatch::connect() {
  out_.clear();
  asked_ns_ = 0;
  state_ = State::connecting;
  timer_.arm(net::now_ns() + greeting_deadline_ns);
  net::Connection::Handler& self = *this;
  try {
    connection_ = std::make_unique<net::Connection>(loop_, broker_, wire::frame_bytes_max_from_broker_before_welcome, self);
  } catch (const std::system_error& error) {  // no route, no free port, …
    lose(error.what());
  }
}

void ClockWatch::on_connected() {
  wire::Hello hello;
  hello.role = wire::Role::probe;
  hello.token = token_;
  hello.encode(out_.bytes());
  state_ = State::greeting;
  out_.flush(*connection_);
}

void ClockWatch::on_due() {
  switch (state_) {
    case State::closed:
      watch_unanswered(net::now_ns());
      return connect();
    case State::connecting:
    case State::greeting:
      return lose("no answer from " + broker_.text());
    case State::probing:
      return asked_ns_ == 0 ? probe() : lose("no answer to a probe");
  }
}

/// Not from inside a call of the connection's handler: it destroys nothing, but connects anew later.
void ClockWatch::lose(const std::string& why) {
  tell_why_not(why);
  if (connection_) connection_->close();
  state_ = State::closed;
  pause_ns_ = std::clamp(pause_ns_ * 2, pause_first_ns, pause_max_ns);
  timer_.arm(net::now_ns() + pause_ns_);
}

void ClockWatch::tell_why_not(const std::string& why) {
  const std::lock_guard lock(why_mutex_);
  why_not_ = why;
}

std::string ClockWatch::why_not() const {
  const std::lock_guard lock(why_mutex_);
  return why_not_;
}

void ClockWatch::on_closed(const std::string& reason) {
  lose(reason.empty() ? "N2NQ closed the connection" : reason);
}

void ClockWatch::on_malformed(const std::string& error) {
  lose(error);
}

void ClockWatch::on_frame(const wire::Frame& frame, std::int64_t read_ns) {
  if (frame.type == wire::FrameType::heartbeat && state_ == State::probing) return;
  if (frame.type == wire::FrameType::welcome && state_ == State::greeting) {
    const auto welcome = wire::Welcome::decode(frame.body);
    if (!welcome || welcome->version_read != wire::version) return lose("it speaks another version of the wire protocol");
    state_ = State::probing;
    tell_why_not({});
    pause_ns_ = 0;
    begin_burst();
    return probe();
  }
  if (frame.type == wire::FrameType::error) {
    const auto error = wire::Error::decode(frame.body);
    return lose(error ? "N2NQ says: " + std::string(wire::name_of(error->code)) + ": " + error->text : "N2NQ sent a malformed ERROR");
  }
  const auto reply = frame.type == wire::FrameType::probe_reply ? wire::ProbeReply::decode(frame.body) : std::nullopt;
  if (!reply || state_ != State::probing || asked_ns_ == 0 || reply->t1_ns != asked_ns_) return lose("it answers a probe with something else");
  take(*reply, read_ns);
}

void ClockWatch::probe() {
  asked_ns_ = net::now_ns();
  wire::Probe{asked_ns_}.encode(out_.bytes());
  out_.flush(*connection_);
  timer_.arm(asked_ns_ + answer_deadline_ns);
}

void ClockWatch::begin_burst() {
  burst_left_ = burst_probes;
  burst_begun_ns_ = net::now_ns();
}

/// Counts the probe that was answered.
bool ClockWatch::is_burst_over() {
  --burst_left_;
  return burst_left_ == 0 || (burst_probes - burst_left_ >= burst_probes_min && net::now_ns() - burst_begun_ns_ >= burst_max_ns);
}

void ClockWatch::take(const wire::ProbeReply& reply, std::int64_t read_ns) {
  const measure::ClockProbe probe{asked_ns_, reply.t2_ns, reply.t3_ns, read_ns};
  asked_ns_ = 0;
  // Nothing that can be: a clock went back in between. The next probe tells.
  const bool is_possible = measure::is_stamp(probe.t2_ns) && measure::is_stamp(probe.t3_ns) && probe.t4_ns > probe.t1_ns &&
                           probe.t3_ns >= probe.t2_ns && probe.round_trip_ns() >= 0;
  if (is_possible) {
    ++report_.probes;
    answered_ns_ = read_ns;
    if (const auto step = fit_.add(probe)) begin_span(*step);
    watch_bound(read_ns);
    if (burst_left_ > 0 && is_burst_over()) {
      burst_left_ = 0;
      settled_ns_ = read_ns;
      if (span_) end_span(read_ns);
      report(read_ns);
    } else if (is_line_due(read_ns)) {
      report(read_ns);
    }
  }
  timer_.arm(read_ns + (burst_left_ > 0 ? burst_every_ns : probe_every_ns));
}

/// The line in force is wrong from now on: the new one counts at once, and what was measured meanwhile is named.
void ClockWatch::begin_span(const measure::ClockStep& step) {
  if (!reported_) return;  // nothing was measured with what was thought before
  ++report_.jumps;
  if (!span_) span_ = measure::ClockSpan{.from_broker_ns = step.after_ns + report_.line.offset_at(step.after_ns)};
  span_->jump_ns += step.jump_ns;
  begin_burst();
  report(step.before_ns);
}

void ClockWatch::end_span(std::int64_t now_ns) {
  add_span(report_, now_ns);
  span_.reset();
}

void ClockWatch::add_span(measure::ClockReport& report, std::int64_t until_ns) const {
  if (report.spans.size() == measure::ClockReport::spans_max) return;
  report.spans.push_back(*span_);
  report.spans.back().end(until_ns + fit_.line().offset_at(until_ns));
}

/// How wrong the line in force can be now.
void ClockWatch::watch_bound(std::int64_t now_ns) {
  if (!reported_ || span_) return;
  report_.at_ns = now_ns;
  report_.bound = fit_.bound(report_.line, now_ns);
  report_.round_trip_min_ns = fit_.round_trip_min_ns();
  const bool measured = now_ns >= measured_from_ns_.load(std::memory_order_relaxed);
  const bool first = measured && !worst_is_measured_;
  if (first || !measured || report_.bound.total_ns() > report_.worst.total_ns()) report_.worst = report_.bound;
  worst_is_measured_ = worst_is_measured_ || measured;
}

/// What is known gets older, and whoever looks at live figures has to see it.
void ClockWatch::watch_unanswered(std::int64_t now_ns) {
  watch_bound(now_ns);
  if (reported_ && !span_ && now_ns - reported_ns_ >= report_every_ns) report(now_ns);
}

bool ClockWatch::is_line_due(std::int64_t now_ns) const {
  if (!reported_) return false;  // the first burst is not over
  const bool at_first = settled_ns_ == 0 || now_ns - settled_ns_ < at_first_ns;
  const std::int64_t since_ns = now_ns - reported_ns_;
  if (since_ns >= report_every_ns) return true;
  if (since_ns < (burst_left_ > 0 ? line_every_in_burst_ns : at_first ? line_every_at_first_ns : line_every_ns)) return false;
  const std::int64_t moved_ns = std::abs(fit_.line().offset_at(now_ns) - report_.line.offset_at(now_ns));
  return moved_ns >= std::clamp(fit_.round_trip_min_ns() / 100, moved_min_ns, moved_max_ns);
}

void ClockWatch::report(std::int64_t now_ns) {
  report_.line = fit_.line();
  report_.at_ns = now_ns;
  report_.bound = fit_.bound(report_.line, now_ns);
  report_.past = fit_.past(report_.line);
  report_.later = fit_.bound(report_.line, now_ns + measure::ClockReport::later_after_ns);
  report_.round_trip_min_ns = fit_.round_trip_min_ns();
  if (!reported_) report_.worst = report_.bound;
  reported_ = true;
  reported_ns_ = now_ns;
  if (!span_) return on_report_(report_);
  measure::ClockReport with_span = report_;  // who is killed now has named it all the same
  add_span(with_span, now_ns + burst_max_ns);
  on_report_(with_span);
}

}  // namespace n2nq::worker
