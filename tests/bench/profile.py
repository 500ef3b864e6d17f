#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where N2NQ's processor time goes in works of the table, by samples of perf (Debian: linux-perf), which needs no hardware counters.

N2NQ_BIN names the folder of the programs: for what was before a change, one with another n2nq-broker and links to the rest.
"""
import argparse
import subprocess
import tempfile
import time

import sides
from works import WORKS

SAMPLES_PER_S = 4000
SKIPPED_S = 0.5  # at the beginning and at the end


def sampled(work, seconds, data):
    """A run of the work, of whose N2NQ perf leaves its samples in that file."""

    def sample(_work, server, _receivers, _senders, begin_ns, _seconds):
        time.sleep(max(0, begin_ns / 1e9 + SKIPPED_S - time.monotonic()))
        subprocess.run(["perf", "record", "-e", "cpu-clock", "-F", str(SAMPLES_PER_S), "-o", data, "-p", str(server.pid), "--", "sleep",
                        str(seconds - 2 * SKIPPED_S)], check=True, capture_output=True)
        return {}

    return sides.run(work, "broker", seconds, sample)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("works", nargs="+", choices=WORKS)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--least-percent", type=float, default=1.5)
    arguments = parser.parse_args()
    for name in arguments.works:
        with tempfile.NamedTemporaryFile() as data:
            result = sampled(WORKS[name], arguments.seconds, data.name)
            report = subprocess.run(["perf", "report", "-i", data.name, "--stdio", "--no-children", "-F", "overhead,sym", "--percent-limit",
                                     str(arguments.least_percent)], check=True, capture_output=True, text=True).stdout
        print(f"{WORKS[name].title}: {result['cpu']:.3f} us of N2NQ's processor time for each delivery")
        print("\n".join(line.rstrip() for line in report.splitlines() if line.strip() and not line.startswith("#")), flush=True)


if __name__ == "__main__":
    main()
