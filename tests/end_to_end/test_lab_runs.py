#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs on three hosts whose clocks are a quarter of a second apart, over links with a known delay: what is measured is that delay and what the
same run takes without it.
N2NQ_LAB_REPEATS: attempts for each comparison that needs a quiet machine (5). N2NQ_LAB_FULL=1: more delays, and longer runs."""
import os
import subprocess
import sys
import unittest
from statistics import median
from pathlib import Path

from lab import LabCase, main, processors_kept_awake
from run_folder import RunFolder

MS = 1_000_000
FULL = bool(os.environ.get("N2NQ_LAB_FULL"))
ATTEMPTS = int(os.environ.get("N2NQ_LAB_REPEATS", 5))
DELAYS_NS = (MS // 2, 2 * MS, 10 * MS, 50 * MS) if FULL else (2 * MS,)
MESSAGES = 50 if FULL else 8
SERVICES = 50
LINKS_PASSED = (("h2", "up"), ("h1", "down"), ("h1", "up"), ("h3", "down"))  # senders, broker, receivers
WITHIN_US = 150
# What is put into a link comes out again, where one message at a time is on the way and so nothing else changes. (It says the slope, too: 50 us
# of 50 ms are a thousandth.)
KNOWN_DELAYS_NS = (MS // 2, 2 * MS, 10 * MS, 50 * MS) if FULL else (MS // 2, 50 * MS)
KNOWN_WITHIN_US, KNOWN_ATTEMPTS = 50, 12
KNOWN_PAIRS = 5 if FULL else 1  # whose middle is judged, at least
# The broadcaster's 50 copies pass links of 20 Mbit/s one by one. Without a rate N2NQ and the receivers, which here share a processor, want it at
# the same moment when there is no delay, and one after the other when there is: a quarter of a millisecond, of this machine and not of the links.
RATE_BPS = {"broadcaster": 20_000_000, "load-balancer": 0}
# A message every 7 ms: where the links' delays are multiples of that, one thread carries what is on all of them at the same instants, and adds
# a quarter of a millisecond of its own.
DELAY_MS = 350

PLACES = {"broker.host": "h1", "senders.host": "h2", "receivers.host": "h3"}


def settings(values):
    return [word for key, value in values.items() for word in ("--set", f"{key}={value}")]


CLOCKS_NS = (0, 250 * MS, -250 * MS)
APART_NS = CLOCKS_NS[1] - CLOCKS_NS[2]  # the senders' clock before that of the receivers


class OnThreeHosts(LabCase):
    hosts, arguments = 3, {"clocks_ns": CLOCKS_NS, "shape": {"delay_ns": 0}}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.lab.keep_links_apart()

    def run_over(self, delay_ns, mode, out):
        """A clean run over links with that delay."""
        self.lab.shape_links({"delay_ns": delay_ns, "rate_bps": RATE_BPS[mode]})
        self.lab.link_stats(forget=True)
        folder = self.run_bench("thesis-baseline", *settings({
            **PLACES, "queue.mode": mode, "senders.amount": SERVICES, "receivers.amount": SERVICES,
            "senders.messages": MESSAGES, "senders.delay_ms": DELAY_MS}), out=out)
        run = RunFolder(folder)
        self.assert_clean(run.summary, delay_ns)
        self.check_logs(run)
        return run

    def check_logs(self, run):
        """All of them came here, whole, and say what the summary says."""
        self.assertEqual((list(run.senders), list(run.receivers)), (list(range(1, SERVICES + 1)),) * 2)
        self.assertEqual(sum(len(log.rows) for log in run.senders.values()), SERVICES * MESSAGES)
        copies = SERVICES * MESSAGES * (SERVICES if run.broadcaster else 1)
        self.assertEqual(sum(len(log.rows) for log in run.receivers.values()), copies)
        verified = subprocess.run([sys.executable, "-B", Path(__file__).with_name("verify_run.py"), run.folder], capture_output=True, text=True)
        self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)

    def late_us(self):
        """By how much, by its own clock, the emulator let a message go later than it was due, on all links that it passed."""
        stats = self.lab.link_stats()
        return sum(stats[host][direction]["late"]["p50_ns"] for host, direction in LINKS_PASSED) / 1e3

    def clock_error_us(self, run):
        """What estimated clocks make of the median: the lab knows by how much they differ."""
        rows = [row for log in run.receivers.values() for row in log.rows]
        return run.summary["latency_us"]["p50"] - median(int(row["received_ns"]) - int(row["sent_ns"]) + APART_NS for row in rows) / 1e3

    def check_delay(self, mode):
        for delay_ns in DELAYS_NS:
            errors_us = []
            for attempt in range(ATTEMPTS):
                with processors_kept_awake():
                    without, over = (self.run_over(ns, mode, f"{mode}-{delay_ns}-{attempt}-{ns}") for ns in (0, delay_ns))
                late_us = self.late_us()
                expected_us = len(LINKS_PASSED) * delay_ns / 1e3
                p50_us = [run.summary["latency_us"]["p50"] for run in (without, over)]
                by_clocks_us = [self.clock_error_us(run) for run in (without, over)]
                errors_us.append(p50_us[1] - p50_us[0] - expected_us)
                print(f"{mode}, links of {delay_ns / 1e6:g} ms: p50 {p50_us[0]:.0f} us without, {p50_us[1]:.0f} us over them, "
                      f"{errors_us[-1]:+.0f} us from what is due; of it {by_clocks_us[1] - by_clocks_us[0]:+.0f} us from the estimated clocks; "
                      f"the links were late by {late_us:.1f} us")
                bounds_us = [run.summary["latency_us"]["bound_us"] for run in (without, over)]
                for by_clock_us, bound_us in zip(by_clocks_us, bounds_us):
                    self.assertLessEqual(abs(by_clock_us), bound_us)
                self.assertLessEqual(abs(errors_us[-1]), sum(bounds_us))
                if abs(errors_us[-1]) <= WITHIN_US:
                    break
            else:
                self.fail(f"{mode}, {delay_ns} ns: never within {WITHIN_US} us: {errors_us}")

    def p50_over_us(self, delay_ns, out):
        """Of a clean run of one sender and one receiver; the way to N2NQ, and back, takes that much longer."""
        self.lab.shape_links({"delay_ns": delay_ns}, names=["h2"])
        folder = self.run_bench("quick", *settings({**PLACES, "senders.amount": 1, "receivers.amount": 1, "senders.messages": 200,
                                                    "senders.delay_ms": 7}), out=out)
        summary = RunFolder(folder).summary
        self.assert_clean(summary, delay_ns)
        return summary["latency_us"]["p50"]

    def test_known_delays(self):
        self.lab.shape_links({"delay_ns": 0, "rate_bps": 0})
        self.addCleanup(self.lab.shape_links, {"delay_ns": 0})
        with processors_kept_awake():
            without_us = self.p50_over_us(0, "known-0")
            for delay_ns in KNOWN_DELAYS_NS:
                errors_us = []
                while len(errors_us) < KNOWN_PAIRS or abs(median(errors_us)) > KNOWN_WITHIN_US:
                    self.assertLess(len(errors_us), KNOWN_ATTEMPTS, f"{delay_ns} ns: {errors_us}")
                    if errors_us:
                        without_us = self.p50_over_us(0, f"known-{delay_ns}-{len(errors_us)}-0")
                    over_us = self.p50_over_us(delay_ns, f"known-{delay_ns}-{len(errors_us)}")
                    errors_us.append(over_us - without_us - delay_ns / 1e3)
                    print(f"{delay_ns / 1e6:g} ms put in: p50 {without_us:.0f} us without, {over_us:.0f} us with it, {errors_us[-1]:+.0f} us from what is due")

    def test_broadcaster(self):
        self.check_delay("broadcaster")

    def test_load_balancer(self):
        self.check_delay("load-balancer")


if __name__ == "__main__":
    main()
