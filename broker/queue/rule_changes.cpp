// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/queue/rule_changes.h"

#include <utility>

namespace n2nq {

namespace {

/// Rules of a list that are looked at for one unit; that are put in order, with their borders.
constexpr size_t rules_per_unit = 16, ordered_per_unit = 2;

}  // namespace

bool RuleChanges::ask(uint32_t receiver, GridIndex::List list, uint64_t asked_on, bool compare) {
  if (compare && !pending(receiver) && grid_.is(owner_.interest_of(receiver), list)) return false;
  if (!waiting_.contains(receiver)) turns_.push_back(receiver);
  waiting_[receiver] = {std::move(list), asked_on};
  return true;
}

size_t RuleChanges::work(size_t units) {
  size_t done = 0;
  while (done < units && !(idle() && grid_.tidied())) {
    if (!grid_.tidied()) {
      done += grid_.tidy(units - done);
    } else if (active_ == 0) {
      done += 1 + begin_next();
    } else if (!entered_) {
      done += part(units - done);
    } else {
      done += change_over(units - done);
    }
  }
  return done;
}

size_t RuleChanges::begin_next() {
  active_ = turns_.front();
  turns_.pop_front();
  Asked asked = std::move(waiting_.extract(active_).mapped());
  active_asked_on_ = asked.on;
  size_t done = owner_.on_turn(active_) + asked.list.size() / ordered_per_unit;
  if (std::string reason = grid_.begin(std::move(asked.list)); !reason.empty()) {
    refuse(std::move(reason));
  } else if (grid_.parted()) {
    done += enter();
  }
  return done;
}

size_t RuleChanges::part(size_t units) {
  std::string reason;
  size_t done = grid_.part(units, reason);
  if (!reason.empty()) {
    refuse(std::move(reason));
  } else if (grid_.parted()) {
    done += enter();
  }
  return done;
}

size_t RuleChanges::enter() {
  const uint32_t before = owner_.interest_of(active_);
  interest_ = grid_.enter();
  entered_ = true;
  next_cell_ = 0;
  if (interest_ != before) owner_.on_change_begun(active_, interest_);
  // It held the one before in any case.
  before_ = grid_.leave(before) ? before : GridIndex::none;
  const size_t done = before_ == GridIndex::none ? 0 : grid_.rules_of(before_) / ordered_per_unit;
  return interest_ == before ? done + finish() : done;
}

size_t RuleChanges::change_over(size_t units) {
  size_t done = 0;
  const size_t per_cell = 1 + grid_.rules_of(interest_) / rules_per_unit;
  for (; done < units && next_cell_ < grid_.cells_end(); ++next_cell_) {
    ++done;
    if (!grid_.exists(next_cell_)) continue;
    const bool matches = grid_.mark(interest_, next_cell_);
    done += per_cell + owner_.on_cell_changes(active_, next_cell_, matches);
    // That may have emptied the cell, but it goes later.
    if (before_ != GridIndex::none) grid_.unmark(before_, next_cell_);
  }
  if (next_cell_ == grid_.cells_end()) done += finish();
  return done;
}

size_t RuleChanges::finish() {
  grid_.entered(interest_);
  if (before_ != GridIndex::none) grid_.forget(before_);
  before_ = GridIndex::none;
  entered_ = false;
  const uint32_t receiver = std::exchange(active_, 0);
  return owner_.on_change_done(receiver);
}

void RuleChanges::refuse(std::string reason) {
  entered_ = false;
  const uint32_t receiver = std::exchange(active_, 0);
  refused_.push_back({receiver, active_asked_on_, std::move(reason)});
  owner_.on_refused(receiver);
}

}  // namespace n2nq
