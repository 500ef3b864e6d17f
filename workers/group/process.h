// SPDX-License-Identifier: GPL-3.0-or-later
// A worker program: the control protocol on stdin and stdout around one group of services.
//
// Threads: this one carries the messages, one of the control channel answers stats, one of the recorder writes the logs.
#pragma once

#include "workers/recorder/record.h"

namespace n2nq::worker {

/// main() of n2nq-senders and n2nq-receivers. Returns the exit code: 0 after bye, 2 when it was told something impossible before hello,
/// 3 when the lease was lost.
int run_worker(WorkerRole role, int argc, char** argv);

}  // namespace n2nq::worker
