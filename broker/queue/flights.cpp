// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/queue/flights.h"

#include <algorithm>

namespace n2nq {

namespace {
/// recent_ may be so much longer than what is open in it.
constexpr size_t recent_slack = 1024;
}  // namespace

void Flights::add(const Flight& flight) {
  recent_.push_back(flight);
  ++open_;
  if (recent_.size() > 4 * open_ + recent_slack) {
    // Few are open, and the first of them holds up the rest: it makes way.
    for (size_t half = recent_.size() / 2; half > 0; --half, ++first_) {
      if (recent_.front().open) old_.push_back({first_, recent_.front()});
      recent_.pop_front();
    }
    tidy();
  }
}

void Flights::tidy() {
  while (!recent_.empty() && !recent_.front().open) {
    recent_.pop_front();
    ++first_;
  }
  while (!old_.empty() && !old_.front().flight.open) old_.erase(old_.begin());
}

Flight* Flights::find(uint64_t number) {
  if (number >= first_) return &recent_[number - first_];
  const auto place = std::lower_bound(old_.begin(), old_.end(), number, [](const Numbered& one, uint64_t n) { return one.number < n; });
  return place == old_.end() || place->number != number ? nullptr : &place->flight;
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
  if (answered_.bytes() > answered_bytes_max) {
    forgotten_below_ = answered_.middle();
    wire::IndexSet forgotten;
    forgotten.add_range(0, forgotten_below_ - 1);
    answered_ -= forgotten;
  }
  if (!open) return Answer::late;
  flight = *found;
  close(*found);
  return Answer::taken;
}

int64_t Flights::next_deadline_ns() const {
  if (open_ == 0) return 0;
  // tidy() keeps an open one in front.
  return old_.empty() ? recent_.front().deadline_ns : old_.front().flight.deadline_ns;
}

std::optional<Flight> Flights::pass_deadline(int64_t now_ns) {
  if (open_ == 0 || next_deadline_ns() > now_ns) return std::nullopt;
  Flight& first = old_.empty() ? recent_.front() : old_.front().flight;
  const Flight passed = first;
  close(first);
  return passed;
}

std::vector<Flight> Flights::reset() {
  std::vector<Flight> open;
  open.reserve(open_);
  for (const Numbered& one : old_) {
    if (one.flight.open) open.push_back(one.flight);
  }
  for (size_t i = 0; i < recent_.size(); ++i) {
    if (recent_[i].open) open.push_back(recent_[i]);
  }
  *this = Flights();
  return open;
}

}  // namespace n2nq
