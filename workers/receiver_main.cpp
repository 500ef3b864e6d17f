// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/group/process.h"

int main(int argc, char** argv) {
  return n2nq::worker::run_worker(n2nq::worker::WorkerRole::receivers, argc, argv);
}
