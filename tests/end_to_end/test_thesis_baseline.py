#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The thesis' baseline in both queue modes: exact counts, a balanced ledger, and figures that a script can work out again."""
import unittest

from bench import BenchCase, is_sound
from run_folder import RunFolder
from verify_run import nanoseconds, verify


class ThesisBaseline(BenchCase):
    def check(self, folder, delivered_each):
        run = RunFolder(folder)
        self.assertTrue(is_sound(run.summary), (run.summary["verdict"], run.summary["reasons"]))
        total = run.summary["ledger"]["total"]
        self.assertEqual(total["attempted"], 2500)
        self.assertEqual(total["accepted"], 2500)
        self.assertEqual(total["delivered"], run.summary["ledger"]["expected"])
        for name in ("refused", "lost_before_queue", "expired", "unrequested", "parked", "cut_off", "still_queued", "lost", "unexplained",
                     "duplicated", "out_of_order", "unexpected"):
            self.assertEqual(total[name], 0, name)
        self.assertEqual(len(run.senders), 50)
        self.assertEqual(len(run.receivers), 50)
        for log in run.senders.values():
            self.assertEqual(log.numbers("index"), list(range(50)), log.path.name)
        for log in run.receivers.values():
            self.assertTrue(log.rows, f"{log.path.name} is empty")
            if delivered_each:
                self.assertEqual(len(log.rows), delivered_each, log.path.name)
        result = verify(folder)
        self.assertGreater(result.compared, 1000)
        self.assertEqual(result.differences, [])
        return run

    def test_broadcaster(self):
        folder = self.run_bench("thesis-baseline")
        run = self.check(folder, delivered_each=2500)
        self.assertEqual(run.summary["ledger"]["total"]["delivered"], 125000)
        for row in run.summary["ledger"]["receivers"]:
            self.assertEqual(row["delivered"], 2500, row)
        self.check_resolution([ns for log in list(run.receivers.values())[:4] for ns in nanoseconds(log, "latency_us")])

    def check_resolution(self, latencies_ns):
        """A microsecond or finer: of 10,000 deliveries on one machine more than a hundred took a time of their own."""
        self.assertEqual(len(latencies_ns), 10_000)
        distinct = sorted(set(latencies_ns))
        self.assertGreater(len(distinct), 100)
        self.assertLessEqual(min(b - a for a, b in zip(distinct, distinct[1:])), 1000)

    def test_load_balancer(self):
        folder = self.run_bench("thesis-baseline", "--set", "queue.mode=load-balancer")
        run = self.check(folder, delivered_each=None)
        self.assertEqual(run.summary["ledger"]["total"]["delivered"], 2500)

    def test_a_changed_log_is_found(self):
        folder = self.run_bench("quick", "--set", "senders.messages=5")
        log = folder / "receivers" / "R003.log"
        lines = log.read_text().splitlines(keepends=True)
        data = [i for i, line in enumerate(lines) if line[:1].isdigit()]
        del lines[data[2]]
        log.write_text("".join(lines))
        self.assertTrue(verify(folder).differences)


if __name__ == "__main__":
    unittest.main()
