#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs whose processes have clocks of their own from time namespaces, where those are allowed: the latencies are as if they had not."""
import sys

from bench import SKIPPED, is_late, main_at_once
from clocks import MS, ClocksCase, can_shift_clocks, quick_us
from run_folder import percentile


def latencies_us(run):
    return [float(row["latency_us"]) for log in run.receivers.values() for row in log.rows]


def true_latencies_us(run, apart_ns):
    """By the raw stamps, and by how far the receivers' clock is ahead of the senders', which the test knows because it is one machine's."""
    return [(int(row["received_ns"]) - int(row["sent_ns"]) - apart_ns) / 1e3 for log in run.receivers.values() for row in log.rows]


class Offsets(ClocksCase):
    def assert_not_moved(self, run, other, apart_ns):
        """Clocks shift all latencies alike. Another run's are comparable where both were quick, on a machine that does other things too; what
        this run's would be if all had one clock is known."""
        self.assertLess(abs(quick_us(latencies_us(run)) - quick_us(latencies_us(other))), 300)
        true_us = sorted(true_latencies_us(run, apart_ns))
        for figure, q in (("p50", 0.5), ("p99", 0.99)):
            moved_us = run.summary["latency_us"][figure] - percentile(true_us, q)
            print(f"{run.folder.name}: {figure} {run.summary['latency_us'][figure]:.1f} us, {moved_us:+.1f} us from the truth")
            self.assertLess(abs(moved_us), 100 + 0.001 * abs(percentile(true_us, q)), figure)  # percentiles are to a thousandth

    def test_an_offset_of_a_quarter_of_a_second_moves_nothing(self):
        settings = ("--set", "senders.delay_ms=10", "--set", "senders.messages=300")
        plain = self.run_with("plain", *settings)
        self.assertEqual(self.offsets(plain)["senders_to_receivers"]["clock"], "shared")
        self.assertNotIn("bound_us", plain.summary["latency_us"])
        for name, namespaces in {
            "senders-ahead": {"n2nq-senders": 250 * MS},
            "senders-behind": {"n2nq-senders": -250 * MS},
            "all-apart": {"n2nq-senders": -250 * MS, "n2nq-receivers": 250 * MS},
            "broker-apart": {"n2nq-broker": 250 * MS},
        }.items():
            with self.subTest(name):
                run = self.run_with(name, *settings, namespaces=namespaces)
                # Latencies between processes of one machine may be shorter than what clocks can be compared to.
                reasons = [reason for reason in run.summary["reasons"]
                           if "below zero" not in reason and "tell nothing finer" not in reason and not is_late(reason)]
                self.assertEqual(reasons, [])
                self.assert_not_moved(run, plain, namespaces.get("n2nq-receivers", 0) - namespaces.get("n2nq-senders", 0))
                # Without a correction half of them would be as far off as the clocks are.
                for role, sign in (("senders", -1), ("receivers", -1)):
                    told = self.offsets(run)[f"{role}_to_broker"]
                    truth_us = (namespaces.get("n2nq-broker", 0) - namespaces.get(f"n2nq-{role}", 0)) / 1e3
                    if truth_us == 0:
                        self.assertEqual(told["clock"], "shared")
                    else:
                        self.assertEqual(told["clock"], "probed")
                        self.assertLessEqual(abs(told["offset_us"] - truth_us), told["bound_us"], told)
                        self.assertLess(told["bound_us"], 2000)


if __name__ == "__main__":
    if not can_shift_clocks():
        print("skipped: time namespaces are forbidden here")
        sys.exit(SKIPPED)
    main_at_once()
