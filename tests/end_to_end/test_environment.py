#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every result says what it was measured on, and whether other programs got in the way."""
import os
import pathlib
import shlex
import subprocess
import sys
import unittest

from bench import BIN, BenchCase, is_late, is_sound
from clock_lines import check_lines
from run_folder import RunFolder

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "lab"))
from bare_hosts import AS_ROOT, skip_unless_possible

FACTS = {"versions", "hosts", "floor", "started_late_ns", "involuntary_switches", "core_times", "disturbed", "offsets"}
HOST_FACTS = {"name", "boot_id", "time_namespace", "kernel", "cpu", "cores", "smt", "turbo", "isolated_cores", "clock_sync", "governor",
              "load_1min", "timer_slack_ns", "clocksource"}
# What stands in HIDE's files alone.
HIDDEN_FACTS = {"cpu", "smt", "turbo", "isolated_cores", "governor", "clocksource"}
HIDE = "mount -t tmpfs none /sys/devices/system && mount --bind /dev/null /proc/cpuinfo"
HIDE_BOOT = "mount --bind /dev/null /proc/sys/kernel/random/boot_id"
ROLES = {"broker", "senders", "receivers"}
FLOOR = {"clock_read_ns", *(f"{what}_{percentile}_ns" for what in ("timer_wake", "loopback_echo") for percentile in ("p50", "p99"))}


class Environment(BenchCase):
    def run_of(self, name, bin=BIN):
        process = self.start("quick", "--set", "senders.messages=100", out=name, bin=bin)
        self.output, _ = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, self.output)
        return RunFolder(self.folder / name)

    def environment_of(self, name):
        return self.run_of(name).summary["environment"]

    def run_without(self, hide, name):
        """One in a mount namespace of its own, behind the shell's command `hide` there."""
        skip_unless_possible(self, "--mount", "sh", "-c", hide)
        bench = self.folder / "n2nq-bench"
        command = ["unshare", *AS_ROOT, "--mount", "sh", "-c", f'{hide} && exec "$0" "$@"', str(BIN / "n2nq-bench")]
        bench.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
        bench.chmod(0o700)
        return self.run_of(name, bin=self.folder)

    def test_every_fact_is_there_or_says_unknown(self):
        environment = self.environment_of("plain")
        self.assertEqual(set(environment), FACTS)
        for role in ROLES:
            self.assertEqual(set(environment["hosts"][role]), HOST_FACTS)
            for fact, value in environment["hosts"][role].items():
                self.assertNotIn(value, (None, ""), fact)
            times = environment["core_times"][role]
            self.assertTrue(times == "unknown" or (times["ran_ns"] > 0 and times["waited_ns"] >= 0), times)
            self.assertTrue(environment["involuntary_switches"][role] == "unknown" or environment["involuntary_switches"][role] >= 0)
        self.assertEqual(set(environment["versions"]), ROLES | {"bench"})
        self.assertEqual(set(environment["floor"]), ROLES - {"broker"})
        for floor in environment["floor"].values():
            self.assertEqual(set(floor), FLOOR)
            for figure, ns in floor.items():
                self.assertGreater(ns, 0, figure)
            for what in ("timer_wake", "loopback_echo"):
                self.assertGreaterEqual(floor[f"{what}_p99_ns"], floor[f"{what}_p50_ns"])

    def test_what_the_kernel_does_not_say_is_unknown(self):
        summary = self.run_without(HIDE, "hidden").summary
        for role, facts in summary["environment"]["hosts"].items():
            self.assertEqual({fact: facts[fact] for fact in HIDDEN_FACTS}, dict.fromkeys(HIDDEN_FACTS, "unknown"), role)
            self.assertEqual(set(facts), HOST_FACTS)
            self.assertNotIn("unknown", (facts["name"], facts["kernel"], facts["cores"], facts["boot_id"]), "it does say these")
        self.assertTrue(is_sound(summary), summary["reasons"])

    def test_who_knows_no_boot_id_takes_no_clock_for_the_same(self):
        run = self.run_without(HIDE_BOOT, "no-boot")
        summary = run.summary
        for facts in summary["environment"]["hosts"].values():
            self.assertEqual(facts["boot_id"], "unknown")
        for told in summary["environment"]["offsets"].values():
            self.assertEqual(told["clock"], "probed")
            self.assertLessEqual(abs(told["offset_us"]), told["bound_us"])
        check_lines(self, run, dict.fromkeys(ROLES, 0))
        # As any latencies that are shorter than what clocks can be compared to.
        finer = ("below zero", "tell nothing finer")
        self.assertEqual([reason for reason in summary["reasons"] if not is_late(reason) and not any(words in reason for words in finer)], [])
        self.assertGreaterEqual(summary["latency_us"]["min"], -summary["latency_us"]["bound_us"])

    def test_programs_on_the_same_core_are_told(self):
        everywhere = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(everywhere)})  # what is started from here on stays on this core
        self.addCleanup(os.sched_setaffinity, 0, everywhere)
        hog = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        self.addCleanup(hog.wait)
        self.addCleanup(hog.kill)
        environment = self.environment_of("hog")
        # A kernel that does not count how long threads wait can tell nobody.
        self.assertEqual(len(environment["disturbed"]) > 0, os.path.exists("/proc/self/schedstat"), environment["core_times"])
        for sentence in environment["disturbed"]:
            self.assertRegex(sentence, r"^(N2NQ|Senders|Receivers)[a-z, ]* had to wait for a core for \d+ %[\d %a-z,]* of the time in which (it|they) had ")
            self.assertIn(sentence, self.output)


if __name__ == "__main__":
    unittest.main()
