#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""As fast as it goes, in both queue modes: every delivery arrives once, in each sender's order. The receivers compare sets and count inversions.
N2NQ_DELIVERIES sets how many there are per mode (2,000,000 by default; 100,000,000 is the long form)."""
import json
import os
import unittest

from bench import BenchCase

DELIVERIES = int(os.environ.get("N2NQ_DELIVERIES", 2_000_000))
SENDERS = 4


class Order(BenchCase):
    def run_mode(self, mode, receivers, copies):
        messages = DELIVERIES // copies // SENDERS
        settings = {"queue.mode": mode, "queue.retention_s": 600, "senders.amount": SENDERS, "receivers.amount": receivers, "senders.messages": messages,
                    "senders.delay_ms": 0, "senders.size_bytes": 50, "log": "off"}
        folder = self.run_bench("quick", *(word for key, value in settings.items() for word in ("--set", f"{key}={value}")), out=mode,
                                timeout_s=300 + DELIVERIES / 100_000)
        summary = json.loads((folder / "summary.json").read_text())
        total = summary["ledger"]["total"]
        never = {key: total[key] for key in ("lost", "duplicated", "out_of_order", "unexpected", "unexplained", "expired", "cut_off")}
        print(f"{mode}: {total['attempted']} messages, {total['delivered']} deliveries, {never}, {summary['verdict']} {summary['reasons']}")
        self.assertEqual(total["attempted"], messages * SENDERS)
        self.assertEqual(total["delivered"], messages * SENDERS * copies)
        self.assertEqual(set(never.values()), {0}, never)
        self.assertEqual(summary["latency_us"]["count"], total["delivered"])
        self.assertEqual(summary["verdict"], "clean", summary["reasons"])

    def test_load_balancer(self):
        self.run_mode("load-balancer", receivers=4, copies=1)

    def test_broadcaster(self):
        self.run_mode("broadcaster", receivers=10, copies=10)


if __name__ == "__main__":
    unittest.main()
