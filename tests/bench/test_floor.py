#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The relay that N2NQ is compared with does the same work: the same worker processes find that everything arrived, once and in order.

sides.run() raises when something is missing, doubled, out of order or damaged. Nothing here looks at a clock.
"""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from figures import interval, verdict
from judging import judge
from sides import FLOORS, run, run_bare
from works import Work

SECONDS = 1.0


class Floor(unittest.TestCase):
    def each(self, work):
        for side in ("broker", *FLOORS):
            with self.subTest(work=work.title, side=side):
                self.assertGreater(run(work, side, SECONDS)["count"], 0)

    def test_broadcast(self):
        self.each(Work("test", "broadcaster", 10, 10, 10_000_000, {}))

    def test_balance_in_phase_with_larger_messages(self):
        self.each(Work("test", "load-balancer", 10, 7, 10_000_000, {}, start="in-phase", size_bytes=3000))

    def test_as_fast_as_it_goes_so_that_sockets_and_rings_are_full(self):
        self.each(Work("test", "load-balancer", 3, 2, 0, {}))
        self.each(Work("test", "broadcaster", 2, 5, 0, {}, size_bytes=20_000))

    def test_the_bare_client_goes_through_it_too(self):
        work = Work("test", "broadcaster", 5, 4, 10_000_000, {})
        self.assertEqual(run_bare(work, "floor-read", SECONDS)["count"], 5 * 4 * 100)
        flat_out = Work("test", "load-balancer", 2, 2, 0, {})
        # On a busy machine nothing may have come through in a second.
        self.assertTrue(any(run_bare(flat_out, "floor-wake", seconds)["count"] > 0 for seconds in (SECONDS, 5 * SECONDS, 25 * SECONDS)))


class Figures(unittest.TestCase):
    def test_an_aim_is_met_when_the_whole_interval_lies_within_aim_and_spread(self):
        close = (1.00, 0.97, 1.02)
        self.assertEqual(verdict((1.05, 1.01, 1.07), 1.05, close, at_least=False, pairs=5), "yes")
        self.assertEqual(verdict((1.05, 1.01, 1.09), 1.05, close, at_least=False, pairs=5), "no")
        self.assertEqual(verdict((0.90, 0.83, 0.95), 0.85, close, at_least=True, pairs=5), "yes")
        self.assertEqual(verdict((0.90, 0.81, 0.95), 0.85, close, at_least=True, pairs=5), "no")

    def test_where_equal_things_differ_nothing_can_be_told(self):
        self.assertEqual(verdict((1.0, 0.9, 1.1), 1.05, (1.1, 0.7, 1.6), at_least=False, pairs=5), "cannot tell")

    def test_of_fewer_than_five_pairs_nothing_is_said(self):
        self.assertEqual(verdict((0.5, 0.5, 0.5), 1.05, (1.0, 1.0, 1.0), at_least=False, pairs=4), "too few pairs")

    def test_who_is_behind_the_best_relay_may_be_ahead_of_those_that_do_nothing_about_their_core(self):
        medians = {"floor-read": 200, "floor-wake": 190, "floor-kept": 90, "broker": 100}
        again = {f"{kind}-again": value for kind, value in medians.items() if kind != "broker"}
        runs = {side: [{"p50": value, "cpu": 1}] * 5 for side, value in {**medians, **again}.items()}
        found = judge(Work("test", "broadcaster", 1, 1, 1, {"p50": 1.05}), "p50", runs)
        self.assertEqual((found["floor"], found["met"]), ("floor-kept", "no"))
        self.assertEqual((found["plain"]["floor"], found["plain"]["met"]), ("floor-wake", "yes"))

    def test_a_relay_is_judged_by_both_of_its_runs(self):
        medians = {"floor-read": 200, "floor-read-again": 200, "floor-wake": 60, "floor-wake-again": 140, "floor-kept": 80, "floor-kept-again": 100,
                   "broker": 90}
        runs = {side: [{"p50": value, "cpu": 1}] * 5 for side, value in medians.items()}
        found = judge(Work("test", "broadcaster", 1, 1, 1, {"p50": 1.05}), "p50", runs)
        self.assertEqual((found["floor"], found["medians"]["floor-kept"], found["ratio"]), ("floor-kept", 90, (1, 1, 1)))

    def test_clients_are_measured_where_the_workers_take_more_than_the_bare_client(self):
        def met(figure, workers, bare):
            medians = {**{kind: workers for kind in FLOORS}, **{f"{kind}-again": workers for kind in FLOORS},
                       **{f"bare-{kind}": bare for kind in (*FLOORS, "broker")}, "broker": workers}
            runs = {side: [{figure: value, "cpu": 1}] * 5 for side, value in medians.items()}
            return judge(Work("test", "broadcaster", 1, 1, 1, {figure: 1.0}), figure, runs)["met"]

        self.assertEqual(met("p50", 120, 100), "yes, but the clients are measured")
        self.assertEqual(met("rate", 100, 120), "yes, but the clients are measured")
        for alike in (("p50", 110, 100), ("p50", 100, 120), ("rate", 100, 110), ("rate", 120, 100)):
            self.assertEqual(met(*alike), "yes")

    def test_the_interval_holds_the_median(self):
        median, low, high = interval([1.0, 1.1, 0.9, 1.05, 5.0])
        self.assertEqual(median, 1.05)
        self.assertTrue(0.9 <= low <= median <= high <= 5.0)


class Kept(unittest.TestCase):
    def test_settings_stand_beside_the_runs_which_are_judged_anew(self):
        def bench(*arguments):
            return subprocess.run([sys.executable, "-B", Path(__file__).with_name("bench.py"), *arguments], check=True, stdout=subprocess.PIPE,
                                  text=True).stdout

        with tempfile.TemporaryDirectory() as folder:
            kept = Path(folder, "kept.json")
            bench("--works", "one-to-one", "spin-one", "--pairs", "1", "--seconds", "0.2", "--json", kept)
            told = json.loads(kept.read_text())
            usual = {"io": "epoll", "spin_us": 0, "keep_core": True, "transport": "tcp"}
            self.assertEqual([entry["settings"] for entry in told["works"]], [usual])
            self.assertEqual([entry["settings"] for entry in told["variants"]], [{"without": usual, "with": {**usual, "spin_us": 2000}}])
            self.assertIn(told["works"][0]["title"], bench("--judge", kept))


if __name__ == "__main__":
    unittest.main()
