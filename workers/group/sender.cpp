// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/group/sender.h"

#include <algorithm>
#include <limits>

#include "broker/net/clock.h"

namespace n2nq::worker {

namespace {

constexpr std::int64_t standstill_ns_min = 10 * net::ns_per_ms;

std::uint64_t planned_messages(const SenderPlan& plan, const Pacer& pacer) {
  std::uint64_t planned = plan.messages.value_or(std::numeric_limits<std::uint64_t>::max());
  if (plan.duration_ns && !pacer.as_fast_as_it_goes()) planned = std::min(planned, pacer.messages_within(*plan.duration_ns));
  return planned + std::min(plan.warmup_messages, std::numeric_limits<std::uint64_t>::max() - planned);
}

}  // namespace

Sender::Sender(const Tools& tools, std::uint32_t number, const SenderPlan& plan, const PayloadSource& payload,
               SendHistograms<measure::FineHistogram>& all, Scheduler& scheduler)
    : Service(tools, wire::Role::sender, number),
      plan_(plan),
      payload_(payload),
      all_(all),
      scheduler_(scheduler),
      pacer_(plan.interval, plan.start, number, plan.total),
      planned_(planned_messages(plan, pacer_)),
      slip_(planned_ - std::min(plan.warmup_messages, planned_)),
      goes_on_(tools.first_session > 0) {}

void Sender::start(std::int64_t start_ns) {
  started_ = true;
  start_ns_ = start_ns;
  run();
  scheduler_.sender_ready(*this);
}

std::int64_t Sender::next_due_ns() const {
  return is_planned() ? due_ns(next_) : start_ns_;
}

bool Sender::is_due(std::uint64_t index, std::int64_t now_ns) const {
  return is_planned() ? due_ns(index) <= now_ns : start_ns_ <= now_ns;
}

/// When the duration of who sends as fast as it goes is over, where that is known by now.
std::optional<std::int64_t> Sender::over_at_ns() const {
  if (!started_ || is_planned() || !plan_.duration_ns) return {};
  // Without a plan nobody knows how long the warm-up takes: the duration counts from message 0.
  if (plan_.warmup_messages == 0) return start_ns_ + *plan_.duration_ns;
  return first_sent_ns_ ? std::optional(*first_sent_ns_ + *plan_.duration_ns) : std::nullopt;
}

/// True when no further message will ever be made.
bool Sender::nothing_new(std::int64_t now_ns) const {
  if (stopping_ || (started_ && next_ >= planned_)) return true;
  const auto over_ns = over_at_ns();
  return over_ns && now_ns >= *over_ns;
}

Sender::Turn Sender::take_turn(std::int64_t now_ns) {
  if (is_over() || (!started_ && !stopping_)) return Turn::done;
  if (!is_open() || !client()->can_publish()) return Turn::held_up;
  batch_.clear();
  batch_bytes_ = 0;
  collect_again();
  const std::size_t offered_before = batch_.size();
  if (again_from_ == next_ && !nothing_new(now_ns)) again_from_ += collect_due(now_ns);
  if (!batch_.empty()) {
    const std::uint64_t known_before = known_below_;
    client()->publish(batch_);
    if (unnoted_ > 0 && known_below_ == known_before) keep_stamps(offered_before);
    for (std::size_t i = offered_before; i < batch_.size(); ++i) account(batch_[i]);
    measure_without_gap();
  }
  finish_if_done(now_ns);
  if (again_from_ == next_) {
    if (nothing_new(now_ns)) return Turn::done;
    if (!is_due(next_, now_ns)) return Turn::due_later;
  }
  return stamps_.room() == 0 || !client()->can_publish() ? Turn::held_up : Turn::more;
}

/// Messages that were offered on a connection that broke: with the stamps they had.
void Sender::collect_again() {
  for (; again_from_ < next_; ++again_from_) {
    const std::string_view letters = letters_of(again_from_);
    if (!fits(letters.size())) return;
    const StampRing::Stamps stamps = stamps_.at(again_from_ - known_below_);
    std::int64_t intended_ns = Outgoing::unplanned;
    if (is_planned() && stamps.sent_ns != Outgoing::not_sent_yet) {
      intended_ns = stamps.intended_ns;
    } else if (is_planned() && started_) {  // before that nobody has said when it was due
      intended_ns = due_ns(again_from_);
    }
    batch_.push_back({again_from_, intended_ns, stamps.sent_ns, is_warm_up(again_from_), letters});
  }
}

/// What was offered again without the stamps of the first time keeps those of this one, should it have to be offered once more.
void Sender::keep_stamps(std::size_t offered_before) {
  for (std::size_t i = 0; i < offered_before; ++i) {
    const Outgoing& message = batch_[i];
    const std::int64_t intended_ns = message.intended_ns == Outgoing::unplanned ? message.sent_ns : message.intended_ns;
    stamps_.set(message.index - known_below_, {intended_ns, message.sent_ns});
  }
}

std::size_t Sender::collect_due(std::int64_t now_ns) {
  std::size_t count = 0;
  for (std::uint64_t index = next_; index < planned_ && count < stamps_.room() && is_due(index, now_ns); ++index, ++count) {
    const std::string_view letters = letters_of(index);
    if (!fits(letters.size())) break;
    const std::int64_t intended_ns = is_planned() ? due_ns(index) : Outgoing::unplanned;
    batch_.push_back({index, intended_ns, Outgoing::not_sent_yet, is_warm_up(index), letters});
  }
  return count;
}

bool Sender::fits(std::size_t letters) {
  const std::size_t bytes = client()->bytes_in_batch(letters);
  if (!batch_.empty() && batch_bytes_ + bytes > batch_bytes_max_) return false;
  batch_bytes_ += bytes;
  return true;
}

/// A message that was offered for the first time.
void Sender::account(const Outgoing& message) {
  Record record;
  record.index = plan_index_of(message.index);
  record.sent_ns = record.intended_ns = message.sent_ns;
  record.service = number();
  record.size = static_cast<std::uint32_t>(message.letters.size());
  record.attempt = 1;
  if (message.warm_up) record.flags |= measure::line_warm_up;
  if (is_planned()) {
    record.intended_ns = message.intended_ns;
  } else {
    record.flags |= Record::without_plan;
  }
  if (record.index == 0) last_sent_ns_.reset();  // its gap to the warm-up is no figure
  record.other_ns = last_sent_ns_ ? message.sent_ns - *last_sent_ns_ : Record::none_ns;
  last_sent_ns_ = message.sent_ns;
  stamps_.push({record.intended_ns, message.sent_ns});
  ++next_;
  measure(record);
  if (recorder().is_on()) recorder().note(record);
}

void Sender::measure(const Record& record) {
  if ((record.flags & measure::line_warm_up) != 0) return warm_up_.attempted.add();
  measured_.attempted.add();
  bytes_.add(record.size);
  if (!first_sent_ns_) first_sent_ns_ = record.sent_ns;
  latest_sent_ns_ = record.sent_ns;
  if ((record.flags & Record::without_plan) == 0) {
    last_lag_ns_ = record.sent_ns - record.intended_ns;
    slip_.note(record.index, *last_lag_ns_);
    all_.lag.record(*last_lag_ns_);
    histograms_.lag.record(*last_lag_ns_);
  }
  if (record.other_ns == 0) {
    ++without_gap_;
  } else if (record.other_ns != Record::none_ns) {
    all_.delay.record(record.other_ns);
    histograms_.delay.record(record.other_ns);
  }
}

void Sender::measure_without_gap() {
  if (without_gap_ == 0) return;
  all_.delay.record(0, without_gap_);
  histograms_.delay.record(0, without_gap_);
  without_gap_ = 0;
}

void Sender::replay(const Record& record) {
  const std::uint64_t index = wire_index(record.index, plan_.warmup_messages);
  // Lines that were dropped, or what was found out when the group was started again before. Whether N2NQ has them is not known.
  missing_ += count_unnoted(index);
  measure(record);
  measure_without_gap();
  if (is_planned() && !replayed_start_ns_) replayed_start_ns_ = record.intended_ns - pacer_.due_ns(record.index);
  // A full ring had made the killed process wait, so what does not fit any more was answered.
  remember({record.intended_ns, record.sent_ns});
  last_sent_ns_ = record.sent_ns;
  again_from_ = next_ = index + 1;
}

void Sender::remember(StampRing::Stamps stamps) {
  if (stamps_.room() == 0) stamps_.drop(1), ++known_below_;
  stamps_.push(stamps);
}

/// Messages up to `next_index` that the killed process had sent, with stamps that nobody knows. Returns how many.
std::uint64_t Sender::count_unnoted(std::uint64_t next_index) {
  if (next_index <= next_) return 0;
  const std::uint64_t unnoted = next_index - next_;
  unnoted_ += unnoted;
  for (; next_ < next_index; ++next_) {
    (is_warm_up(next_) ? warm_up_ : measured_).attempted.add();
    if (!is_warm_up(next_)) bytes_.add(letters_of(next_).size());
    remember({Outgoing::not_sent_yet, Outgoing::not_sent_yet});
  }
  last_sent_ns_.reset();  // the gap to what is sent next is no figure
  again_from_ = next_;
  return unnoted;
}

void Sender::tell_unnoted(std::uint64_t behind_log) {
  const auto messages = [](std::uint64_t count) { return std::to_string(count) + (count == 1 ? " message was" : " messages were"); };
  const auto are = [](std::uint64_t count) { return std::string(count == 1 ? "is" : "are") + " in no figure but the counts"; };
  if (behind_log > 0)
    fault_left(messages(behind_log) + " sent but not noted when the process was killed, and " + are(behind_log));
  if (missing_ > 0) fault_left(messages(missing_) + " sent of which the log of the killed process has no line, and " + are(missing_));
  missing_ = 0;
}

void Sender::finish_if_done(std::int64_t now_ns) {
  if (again_from_ != next_ || !nothing_new(now_ns) || !is_open()) return;
  if (!stopping_ && over_at_ns() && state() != ServiceState::ending) note_standstill(now_ns);
  client()->end(next_);
  set_state(ServiceState::ending);
}

void Sender::stop() {
  if (is_over()) return;
  if (!stopping_ && state() != ServiceState::ending) note_standstill(net::now_ns());
  stopping_ = true;
  if (state() == ServiceState::waiting && !comes_back()) {  // never had a connection: there is nobody to say END to
    close();
    return set_state(ServiceState::ended);
  }
  set_state(ServiceState::ending);
  if (again_from_ != next_) return scheduler_.sender_ready(*this);  // what a killed process had offered: traffic need not have begun
  if (is_open()) client()->end(next_);
}

/// Who stands still until it is stopped, or its time is over, has sent its last message in time, and would have its rate from before that.
void Sender::note_standstill(std::int64_t now_ns) {
  if (!started_ || !first_sent_ns_ || next_ >= planned_) return;
  if (is_planned()) {
    const std::int64_t overdue_ns = now_ns - due_ns(next_);
    if (overdue_ns > 0) last_lag_ns_ = std::max(last_lag_ns_.value_or(0), overdue_ns);
    if (overdue_ns < standstill_ns_min) return;
  }
  const std::int64_t still_ns = std::min(now_ns, over_at_ns().value_or(now_ns)) - latest_sent_ns_;
  if (still_ns >= standstill_ns_min) stood_still_ns_ = still_ns;
}

void Sender::opened(const OpenFacts& facts, bool /*restarted*/) {
  if (plan_.size_max > facts.letters_max) {
    return fail("messages of up to " + std::to_string(plan_.size_max) + " letters do not fit: N2NQ takes at most " +
                std::to_string(facts.letters_max));
  }
  batch_bytes_max_ = facts.batch_bytes_max;
  if (goes_on_) tell_unnoted(count_unnoted(facts.next_index));
  on_accepted(std::min(facts.next_index, next_), {});
  again_from_ = known_below_;
  if (stopping_ && again_from_ == next_) return client()->end(next_);
  if (started_) run();
  scheduler_.sender_ready(*this);
}

void Sender::ended(const wire::EndTotals& /*totals*/) {
  if (again_from_ == next_ && (stopping_ || next_ >= planned_ || state() == ServiceState::ending)) return;
  fault("N2NQ ended the connection after " + std::to_string(next_) + (next_ == 1 ? " message" : " messages") +
        ", before the plan was done");
}

void Sender::on_accepted(std::uint64_t next_index, std::span<const wire::RefusedRange> refused) {
  for (const wire::RefusedRange& range : refused) {
    if (range.from < next_) refused_set_.add_range(range.from, std::min(range.to, next_ - 1));
  }
  if (next_index > next_)
    return fail("N2NQ says it has messages up to " + std::to_string(next_index) + ", but only " + std::to_string(next_) +
                (next_ == 1 ? " was sent" : " were sent"));
  if (next_index <= known_below_ && refused.empty()) return;
  const bool was_full = stamps_.room() == 0;
  if (next_index > known_below_) {
    stamps_.drop(next_index - known_below_);
    known_below_ = next_index;
    again_from_ = std::max(again_from_, known_below_);
  }
  const std::uint64_t known_warm_up = std::min(known_below_, plan_.warmup_messages);
  const std::uint64_t refused_warm_up = plan_.warmup_messages == 0 ? 0 : wire::below(refused_set_, plan_.warmup_messages).count();
  warm_up_.refused.set(refused_warm_up);
  warm_up_.accepted.set(known_warm_up - refused_warm_up);
  measured_.refused.set(refused_set_.count() - refused_warm_up);
  measured_.accepted.set(known_below_ - known_warm_up - measured_.refused.get());
  if (was_full) scheduler_.sender_ready(*this);
}

wire::IndexSet Sender::accepted_set() const {
  wire::IndexSet accepted;
  if (known_below_ > 0) accepted.add_range(0, known_below_ - 1);
  accepted -= refused_set_;
  return accepted;
}

}  // namespace n2nq::worker
