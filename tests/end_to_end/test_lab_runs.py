#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs on three hosts whose clocks are a quarter of a second apart, over links whose delay is put in and taken out again in turn while they
run: what is measured is that delay and what the same run takes without it.
N2NQ_LAB_REPEATS: how many pairs of such halves (up to twice as many, in a whole run four times, where they lie far apart). N2NQ_LAB_FULL=1: more
delays, more pairs, and no run counts but one whose verdict is clean."""
import os
from statistics import median

from clock_lines import check_lines
from in_turn import RATE_BPS, InTurn
from lab import FULL, main, processors_kept_awake
from middles import Middle

MS = 1_000_000
PAIRS = int(os.environ.get("N2NQ_LAB_REPEATS", 25 if FULL else 7))
ALL_DELAYS_NS = (MS // 2, 2 * MS, 10 * MS, 50 * MS)
DELAYS_NS = {"broadcaster": ALL_DELAYS_NS if FULL else (2 * MS,), "load-balancer": ALL_DELAYS_NS if FULL else (10 * MS,)}
SERVICES = 50
LINKS_PASSED = 4  # up and down from the senders to the broker, and on to the receivers
WITHIN_US = 150
# What is put into a link comes out again, where one message at a time is on the way and so nothing else changes. (It says the slope, too: 50 us
# of 50 ms are a thousandth. What is added to each delay alike, 50 ms show as well as half of one.)
KNOWN_DELAYS_NS = ALL_DELAYS_NS if FULL else (50 * MS,)
KNOWN_WITHIN_US = 50
SLOPE_OFF_MAX = 0.01  # from the shortest of them to the longest one, whatever is added to both
KNOWN_PAIRS = int(os.environ.get("N2NQ_LAB_REPEATS", 25 if FULL else 9))
# A message every 7 ms: where the links' delays are multiples of that, one thread carries what is on all of them at the same instants, and adds
# a quarter of a millisecond of its own.
DELAY_MS = 350

PLACES = {"broker.host": "h1", "senders.host": "h2", "receivers.host": "h3"}
CLOCKS_NS = (0, 250 * MS, -250 * MS)
ROLES_CLOCKS_NS = dict(zip(("broker", "senders", "receivers"), CLOCKS_NS))
APART_NS = CLOCKS_NS[1] - CLOCKS_NS[2]  # the senders' clock before that of the receivers


class OnThreeHosts(InTurn):
    senders_clock_ns = CLOCKS_NS[1]
    hosts, arguments = 3, {"clocks_ns": CLOCKS_NS, "shape": {"delay_ns": 0}}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.lab.keep_links_apart()

    def clock_error_us(self, run):
        """What estimated clocks make of a latency, in the middle: the lab knows by how much they differ."""
        return median(float(row["latency_us"]) - (int(row["received_ns"]) - int(row["sent_ns"]) + APART_NS) / 1e3
                      for log in run.receivers.values() for row in log.rows)

    def pairs_over(self, mode, delay_ns, out):
        values = {"queue.mode": mode, "senders.amount": SERVICES, "receivers.amount": SERVICES, "senders.delay_ms": DELAY_MS}
        with processors_kept_awake():
            run, errors_us = self.run_in_turn("quick", {**PLACES, **values}, delay_ns, (), LINKS_PASSED, PAIRS, DELAY_MS, out)
        self.check_logs(run, SERVICES)
        check_lines(self, run, ROLES_CLOCKS_NS)
        clocks_us, bound_us = self.clock_error_us(run), run.summary["latency_us"]["bound_us"]
        print(f"{mode}: the estimated clocks are off by {clocks_us:+.0f} us, known to ± {bound_us:.0f} us")
        self.assertLessEqual(abs(clocks_us), bound_us)
        middle = Middle(errors_us)
        self.assertLessEqual(abs(middle.value) - middle.known, bound_us, f"as far as it is known: {middle.text('us')}")
        return errors_us

    def check_delay(self, mode):
        self.lab.shape_links({"rate_bps": RATE_BPS[mode]})
        for delay_ns in DELAYS_NS[mode]:
            self.judge(f"{mode}, links of {delay_ns / 1e6:g} ms", WITHIN_US,
                       lambda attempt: self.pairs_over(mode, delay_ns, f"{mode}-{delay_ns}-{attempt}"))

    def known_pairs(self, delay_ns, out):
        values = {"senders.amount": 1, "receivers.amount": 1, "senders.delay_ms": 7}
        with processors_kept_awake():
            run, errors_us = self.run_in_turn("quick", {**PLACES, **values}, delay_ns, ["h2"], 1, KNOWN_PAIRS, 350, out)
        check_lines(self, run, ROLES_CLOCKS_NS)
        return errors_us

    def test_known_delays(self):
        self.lab.shape_links({"delay_ns": 0, "rate_bps": 0})
        self.addCleanup(self.lab.shape_links, {"delay_ns": 0})
        errors_us = {delay_ns: [] for delay_ns in KNOWN_DELAYS_NS}

        def pairs(delay_ns, attempt):
            more_us = self.known_pairs(delay_ns, f"known-{delay_ns}-{attempt}")
            errors_us[delay_ns] += more_us
            return more_us

        for delay_ns in KNOWN_DELAYS_NS:
            self.judge(f"{delay_ns / 1e6:g} ms put in", KNOWN_WITHIN_US, lambda attempt: pairs(delay_ns, attempt))
        shortest_ns, longest_ns = min(KNOWN_DELAYS_NS), max(KNOWN_DELAYS_NS)
        if shortest_ns < longest_ns:
            slope_off = (median(errors_us[longest_ns]) - median(errors_us[shortest_ns])) * 1e3 / (longest_ns - shortest_ns)
            print(f"from {shortest_ns / 1e6:g} to {longest_ns / 1e6:g} ms put in, {100 * slope_off:+.3f} % more came out")
            self.assertLess(abs(slope_off), SLOPE_OFF_MAX)

    def test_broadcaster(self):
        self.check_delay("broadcaster")

    def test_load_balancer(self):
        self.check_delay("load-balancer")


if __name__ == "__main__":
    main()
