#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every result says what it was measured on, and whether other programs got in the way."""
import os
import subprocess
import sys
import unittest

from bench import BenchCase
from run_folder import RunFolder

HOGS = 3
HOST_FACTS = {"name", "boot_id", "time_namespace", "kernel", "cpu", "cores", "smt", "turbo", "isolated_cores", "clock_sync", "governor",
              "load_1min", "timer_slack_ns", "clocksource"}
ROLES = {"broker", "senders", "receivers"}


class Environment(BenchCase):
    def environment_of(self, name):
        process = self.start("quick", "--set", "senders.messages=100", out=name)
        self.output, _ = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, self.output)
        return RunFolder(self.folder / name).summary["environment"]

    def test_every_fact_is_there_or_says_unknown(self):
        environment = self.environment_of("plain")
        for role in ROLES:
            self.assertEqual(set(environment["hosts"][role]), HOST_FACTS)
            for fact, value in environment["hosts"][role].items():
                self.assertNotIn(value, (None, ""), fact)
            times = environment["core_times"][role]
            self.assertTrue(times == "unknown" or (times["ran_ns"] > 0 and times["waited_ns"] >= 0), times)
            self.assertTrue(environment["involuntary_switches"][role] == "unknown" or environment["involuntary_switches"][role] >= 0)
        self.assertEqual(set(environment["versions"]), ROLES | {"bench"})

    def test_programs_on_the_same_core_are_told(self):
        everywhere = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(everywhere)})  # what is started from here on stays on this core
        self.addCleanup(os.sched_setaffinity, 0, everywhere)
        for _ in range(HOGS):
            hog = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            self.addCleanup(hog.wait)
            self.addCleanup(hog.kill)
        environment = self.environment_of("hogs")
        # A kernel that does not count how long threads wait can tell nobody.
        self.assertEqual(len(environment["disturbed"]) > 0, os.path.exists("/proc/self/schedstat"), environment["core_times"])
        for sentence in environment["disturbed"]:
            self.assertRegex(sentence, r"^(N2NQ|Senders|Receivers)[a-z, ]* had to wait for a core for \d+ %[\d %a-z,]* of the time in which (it|they) had ")
            self.assertIn(sentence, self.output)


if __name__ == "__main__":
    unittest.main()
