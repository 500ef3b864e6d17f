// SPDX-License-Identifier: GPL-3.0-or-later
// Ways to break the broker on purpose, so that tests can show that a run finds each of them and says what is wrong. Only n2nq-broker-broken
// (CMake option N2NQ_SABOTAGE) is built with them; everywhere else this is constant false and compiles to nothing.
//
// The environment variable N2NQ_SABOTAGE=WAY[@NTH] chooses the way and the occasion (from 1; the third by default). Without it
// n2nq-broker-broken does nothing wrong.
#pragma once

#include <cstdint>

#include "broker/wire/bytes.h"

namespace n2nq {
class Queue;
}

namespace n2nq::sabotage {

enum class Way {
  none,
  not_queued,         // accepts a message and does not queue it
  drop_one,           // leaves out one message for one receiver
  deliver_twice,      // queues a message twice: broadcaster, each receiver gets it twice; load balancer, two receivers get it
  swap_two,           // queues two messages of a sender in the wrong order
  flip_byte,          // changes a letter of a payload
  invent,             // delivers a message that nobody sent
  skip_confirmation,  // takes no notice of a confirmation
  confirm_by_itself,  // counts a delivery as confirmed whose deadline passes
  count_one_more,     // counts a delivery that did not take place
  forget_expired,     // does not tell what has expired
  lose_expired,       // neither tells nor counts what has expired
  unasked,            // gives a message to receivers whose rules match another sender's
  unflagged,          // delivers again without saying so
  unmarked,           // passes on a warm-up message as one that is measured
  accepted_ahead,     // tells one index too many in ACCEPTED
};

#ifdef N2NQ_SABOTAGE
constexpr bool possible = true;
/// True once: at the occasion that was chosen.
bool now(Way way);
/// True when it was this message's turn; then it is dealt with.
bool takes_in(Queue& queue, wire::ByteView record, int64_t taken_in_ns);
#else
constexpr bool possible = false;
constexpr bool now(Way) {
  return false;
}
constexpr bool takes_in(Queue&, wire::ByteView, int64_t) {
  return false;
}
#endif

}  // namespace n2nq::sabotage
