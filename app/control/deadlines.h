// SPDX-License-Identifier: GPL-3.0-or-later
// Every time a run waits for, in ms. A run stopped by a person is over drain + stop_margin + term_to_kill after the stop: 10 s by
// default, unless what is killed by then does not end, or what a process that has ended said last is still on its way.
#pragma once

namespace n2nq::app {

struct ProcessDeadlines {
  int hello = 5'000;         // from launch to hello
  int lease = 2'000;         // between two empty lines
  int answer = 30'000;       // from a question to its answer
  int term_to_kill = 2'000;  // the last two steps of the ladder
  int killed = 60'000;       // from SIGKILL to the end: the kernel takes seconds to tear down tens of GiB, and on a dead disk nothing ends
};

struct RunDeadlines {
  ProcessDeadlines process;
  int start_lead = 200;  // from the word to the common start, beside what the ways to the groups and back were seen to take
  int start_ways_max = 5'000;  // these count for no more
  int connect_advice = 10'000;  // in a window, from the word to connect: until what may keep a group from N2NQ is told
  int senders_stop = 1'500;  // from stop to the senders' end
  int stop_margin = 3'000;   // beyond limits.drain_s: from a person's stop to SIGTERM
  int drain_margin = 5'000;  // beyond queue.retention_s (limits.drain_s if longer): from the senders' end to that of broker and receivers
  int hurry = 1'000;         // the same, when a person stops for the second time
  int bye = 20'000;          // from bye to the process's end, logs written
  // From the last message that was sent or received to giving up. At least two periods of the plan, and queue.retention_s
  // and drain_margin, and limits.reconnect_deadline_s; where a process is paused on purpose it goes on then, after two periods at least.
  int standstill = 60'000;
  int salvage = 60'000;        // for reading back what a killed worker has left
  int touch = 120'000;         // between two touches of what it has left, while it may be started again
  int other_starts = 9'500;    // from each one's start, less a person's time: when one cannot be started, until it is known of the others
  int other_starts_min = 500;  // the same, from when that is known
  int rates_hold = 1'000;      // while logs are fetched: until the last rates are of more than a second ago
  int single_stop = 3'000;     // before traffic: from one process's stop to SIGTERM
  int own_standstill = 5'000;  // of this bench itself, from which on it is told
};

}  // namespace n2nq::app
