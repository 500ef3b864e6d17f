// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/queue/flights.h"

namespace n2nq {

namespace {
/// Not worth making way for.
constexpr size_t slack = 64;
constexpr uint64_t forgotten_at_once = 4096;
}  // namespace

void Flights::add(const Flight& flight) {
  recent_.push_back(flight);
  ++open_;
}

/// Most are not open any more, and one before them that is holds them up: what is open makes way.
void Flights::make_way() {
  for (size_t rest = old_.size(); rest > 0; --rest) {
    const Numbered one = old_.front();
    old_.pop_front();
    if (one.flight.open) old_.push_back(one);
  }
  for (; !recent_.empty(); recent_.pop_front(), ++first_) {
    if (recent_.front().open) old_.push_back({first_, recent_.front()});
  }
}

void Flights::fit(size_t kept_bytes) {
  recent_.fit(kept_bytes);
  old_.fit(kept_bytes);
}

void Flights::tidy() {
  while (!recent_.empty() && !recent_.front().open) {
    recent_.pop_front();
    ++first_;
  }
  while (!old_.empty() && !old_.front().flight.open) old_.pop_front();
  if (kept() > 2 * open_ + slack) make_way();
  fit(busy_kept_bytes);
}

Flight* Flights::find(uint64_t number) {
  if (number >= first_) return &recent_[number - first_];
  size_t low = 0;
  for (size_t high = old_.size(); low < high;) {
    const size_t middle = low + (high - low) / 2;
    old_[middle].number < number ? low = middle + 1 : high = middle;
  }
  return low == old_.size() || old_[low].number != number ? nullptr : &old_[low].flight;
}

void Flights::close(Flight& flight) {
  flight.open = false;
  --open_;
  tidy();
}

bool Flights::was_answered(uint64_t number) const {
  return answered_.contains(number);
}

Flights::Answer Flights::answer(uint64_t number, Flight& flight) {
  if (number >= next_number()) return Answer::never_sent;
  if (number < forgotten_below_) return Answer::forgotten;
  Flight* found = find(number);
  const bool open = found && found->open;
  if (!open && was_answered(number)) return Answer::twice;
  answered_.add(number);
  if (answered_.bytes() > answered_bytes_max) limit_answered();
  if (!open) return Answer::late;
  flight = *found;
  close(*found);
  return Answer::taken;
}

const Flight* Flights::oldest() const {
  if (open_ == 0) return nullptr;
  // tidy() keeps an open one in front.
  return old_.empty() ? &recent_.front() : &old_.front().flight;
}

int64_t Flights::next_deadline_ns() const {
  const Flight* const first = oldest();
  return first ? first->deadline_ns : 0;
}

std::optional<Flight> Flights::pass_deadline(int64_t now_ns) {
  if (open_ == 0 || next_deadline_ns() > now_ns) return std::nullopt;
  Flight& first = old_.empty() ? recent_.front() : old_.front().flight;
  const Flight passed = first;
  close(first);
  if (const uint64_t oldest = oldest_open(); oldest > forgotten_below_ + passed_max + forgotten_at_once) forget_below(oldest - passed_max);
  return passed;
}

/// The list grows to twice its length, and stays long when it is cut: what it has in reserve is no reason to forget anything.
void Flights::limit_answered() {
  answered_.fit(answered_bytes_max);
  if (answered_.bytes() <= answered_bytes_max) return;
  forget_below(answered_.middle());
  answered_.fit(answered_bytes_max);
}

void Flights::forget_below(uint64_t number) {
  forgotten_below_ = number;
  wire::IndexSet forgotten;
  forgotten.add_range(0, number - 1);
  answered_ -= forgotten;
}

/// The next number where none is.
uint64_t Flights::oldest_open() const {
  return old_.empty() ? first_ : old_.front().number;  // tidy() keeps an open one in front
}

std::vector<Flight> Flights::reset() {
  std::vector<Flight> open;
  open.reserve(open_);
  for (size_t i = 0; i < old_.size(); ++i) {
    if (old_[i].flight.open) open.push_back(old_[i].flight);
  }
  for (size_t i = 0; i < recent_.size(); ++i) {
    if (recent_[i].open) open.push_back(recent_[i]);
  }
  *this = Flights();
  return open;
}

}  // namespace n2nq
