#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stall oracle: a process stopped for one second must show up where it belongs, and nowhere else.

In 30 s of even traffic a fraction f = 1/30 of the messages falls into a stall of 1 s, and their extra latency is spread evenly over it.
So the q-th percentile of a latency that sees the stall is 1 s x (1 - (1 - q) / f), e.g. 0.70 s at 99 % and 0.97 s at 99.9 %.
"""
import unittest

from bench import BenchCase, children, stop_for
from run_folder import RunFolder

RUN_S = 30
STALL_S = 1.0


class Stall(BenchCase):
    def run_with_stall(self, program, *settings):
        arguments = [a for s in (f"senders.duration_s={RUN_S}", *settings) for a in ("--set", s)]
        process = self.start("quick", *arguments)
        self.wait_until_traffic(lines=50)
        self.stalled_s = stop_for(self.wait_for(program, lambda: children(process.pid).get(program)), STALL_S)
        output, _ = process.communicate(timeout=RUN_S + 60)
        self.assertEqual(process.returncode, 0, output)
        return RunFolder(self.folder / "run").summary

    def near(self, what, seen, wanted, relative):
        print(f"{what}: {seen:.3f} s, closed form {wanted:.3f} s")
        self.assertLessEqual(abs(seen - wanted), wanted * relative, what)

    def test_stopped_receivers_show_in_latency(self):
        summary = self.run_with_stall("n2nq-receivers", "senders.amount=5", "receivers.amount=5", "senders.rate_per_s=200")
        latency = summary["latency_us"]
        self.near("latency p99", latency["p99"] / 1e6, self.stalled_s * 0.70, 0.05)
        self.near("latency p99.9", latency["p99_9"] / 1e6, self.stalled_s * 0.97, 0.05)
        self.near("latency max", latency["max"] / 1e6, self.stalled_s, 0.02)
        total = summary["ledger"]["total"]
        self.assertEqual(total["attempted"], 5 * 200 * RUN_S)
        self.assertEqual(latency["count"], total["delivered"])
        self.assertEqual(total["delivered"], 5 * 5 * 200 * RUN_S)

    def test_stopped_senders_show_in_delay_lag_and_plan_but_not_in_latency(self):
        summary = self.run_with_stall("n2nq-senders", "senders.amount=5", "receivers.amount=5", "senders.delay_ms=1")
        self.near("delay max", summary["delay_ms"]["max"] / 1e3, self.stalled_s, 0.02)
        self.near("lag max", summary["lag_us"]["max"] / 1e6, self.stalled_s, 0.02)
        self.near("lag p99", summary["lag_us"]["p99"] / 1e6, self.stalled_s * 0.70, 0.05)
        self.near("latency from plan p99", summary["latency_from_plan_us"]["p99"] / 1e6, self.stalled_s * 0.70, 0.05)
        # From the actual send the stall must not show; what shows is the burst of 5,000 messages that follows it.
        print(f"latency p50 {summary['latency_us']['p50']} us, p99 {summary['latency_us']['p99']} us")
        self.assertLess(summary["latency_us"]["p99"] / 1e6, self.stalled_s * 0.70 / 2)
        total = summary["ledger"]["total"]
        self.assertEqual(total["attempted"], 5 * 1000 * RUN_S)
        self.assertEqual(summary["latency_us"]["count"], total["delivered"])


if __name__ == "__main__":
    unittest.main()
