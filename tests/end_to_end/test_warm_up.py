#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Warm-up: traffic before message 0, on the same path and at the same pace, counted apart, in the logs, and in no figure."""
import itertools
import os
import signal
import time
import unittest

from bench import BenchCase, children
from run_folder import RunFolder, figures
from verify_run import verify

PLANTED_NS = 50_000_000
SENDERS, RECEIVERS, MESSAGES = 5, 4, 100


def latencies_us(rows):
    return [(int(row["received_ns"]) - int(row["sent_ns"])) / 1e3 for row in rows]


class WarmUp(BenchCase):
    def arguments(self, warm_up, *more):
        settings = (f"senders.amount={SENDERS}", f"receivers.amount={RECEIVERS}", "senders.duration_s=none", f"senders.messages={MESSAGES}",
                    "senders.delay_ms=5", f"senders.warmup_messages={warm_up}", *more)
        return ["quick", *(argument for setting in settings for argument in ("--set", setting))]

    def check(self, out, warm_up, copies, messages=MESSAGES):
        """Everything planned is measured, all of the warm-up is logged and counted apart, and nothing is mixed."""
        result = verify(self.folder / out)
        self.assertEqual(result.differences, [])
        run = RunFolder(self.folder / out)
        total, apart = run.summary["ledger"]["total"], run.summary["ledger"]["warmup"]
        self.assertEqual((total["attempted"], total["delivered"]), (SENDERS * messages, SENDERS * messages * copies))
        self.assertEqual(run.summary["latency_us"]["count"], total["delivered"] + total["duplicated"])
        self.assertEqual(run.summary["delay_ms"]["count"], SENDERS * (messages - 1))
        self.assertEqual((apart["planned"], apart["attempted"], apart["accepted"]), (SENDERS * warm_up,) * 3)
        self.assertEqual((apart["delivered"], apart["lost"]), (SENDERS * warm_up * copies, 0))
        for log in run.senders.values():
            self.assertEqual([int(row["index"]) for row in log.warm_up], list(range(-warm_up, 0)))
            self.assertEqual(log.numbers("index"), list(range(messages)))
            self.assertLessEqual(max(int(row["sent_ns"]) for row in log.warm_up), min(log.numbers("sent_ns")))
            self.assertEqual(log.rows[0]["delay_us"], "-", "the gap between warm-up and message 0 is no figure")
        return run

    def test_a_delay_planted_in_the_warm_up_is_in_no_figure_and_stays_in_the_log(self):
        warm_up = 1200  # 6 s
        process = self.start(*self.arguments(warm_up))

        def warm_up_lines():
            return [log for log in (self.folder / "run" / "receivers").glob("R*.log") if "\twarm-up" in log.read_text()]

        self.wait_for("warm-up", lambda: len(warm_up_lines()) == RECEIVERS)
        receivers = children(process.pid)["n2nq-receivers"]
        os.kill(receivers, signal.SIGSTOP)
        time.sleep(PLANTED_NS / 1e9)  # it is the delay
        os.kill(receivers, signal.SIGCONT)
        output, _ = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, output)
        self.assertIn(f"warm-up              sent {SENDERS * warm_up:_} of".replace("_", " "), output)

        run = self.check("run", warm_up, RECEIVERS)
        measured = [us for log in run.receivers.values() for us in latencies_us(log.rows)]
        flagged = [us for log in run.receivers.values() for us in latencies_us(log.warm_up)]
        without, mixed, said = figures(measured), figures(measured + flagged), run.summary["latency_us"]
        print(f"p99.9 {said['p99_9']:.0f} us, max {said['max']:.0f} us of {said['count']}; with the warm-up it would be "
              f"{mixed['p99_9']:.0f} and {mixed['max']:.0f} of {mixed['count']}")
        slow = [row for log in run.receivers.values() for row in log.warm_up
                if int(row["received_ns"]) - int(row["sent_ns"]) >= 0.9 * PLANTED_NS]
        self.assertTrue(slow, "the planted delay stands in the log")
        self.assertTrue(all("warm-up" in row["flags"] for row in slow))
        self.assertEqual(said["count"], SENDERS * MESSAGES * RECEIVERS)
        self.assertAlmostEqual(said["max"], without["max"], places=3)
        self.assertNotEqual(mixed["count"], said["count"])
        self.assertGreaterEqual(mixed["max"], 0.9 * PLANTED_NS / 1e3)

    def test_every_mode_with_and_without_responses_and_requests(self):
        for mode, responses, requests in itertools.product(("broadcaster", "load-balancer"), ("false", "true"), ("false", "true")):
            out = f"{mode}-{responses}-{requests}"
            with self.subTest(out):
                self.run_bench(*self.arguments(20, f"queue.mode={mode}", f"queue.responses={responses}", f"queue.requests={requests}",
                                               "queue.retention_s=60"), out=out)
                self.check(out, 20, RECEIVERS if mode == "broadcaster" else 1)

    def test_as_fast_as_it_goes(self):
        self.run_bench(*self.arguments(3000, "senders.delay_ms=0", "senders.size_bytes=[20, 500]", "senders.messages=5000",
                                       "queue.retention_s=60"))
        run = self.check("run", 3000, RECEIVERS, messages=5000)
        self.assertEqual(run.summary["lag_us"]["count"], 0, "there is no plan")
        self.run_bench(*self.arguments(3000, "senders.delay_ms=0", "senders.duration_s=0.2", "log=off", "queue.retention_s=60"),
                       out="for-a-while")
        summary = RunFolder(self.folder / "for-a-while").summary
        apart = summary["ledger"]["warmup"]
        self.assertEqual((apart["attempted"], apart["delivered"]), (SENDERS * 3000, SENDERS * 3000 * RECEIVERS))
        self.assertEqual(summary["latency_us"]["count"], summary["ledger"]["total"]["delivered"])
        self.assertGreater(summary["ledger"]["total"]["attempted"], 0)

    def test_it_is_not_repeated_when_groups_are_killed_and_started_again(self):
        self.run_bench(*self.arguments(20, "queue.responses=true", "queue.retention_s=60"), "--fault", "restart:senders@0.1", "--fault",
                       "restart:receivers@0.25")
        run = RunFolder(self.folder / "run")
        self.assertEqual(verify(self.folder / "run").differences, [])
        for log in run.senders.values():
            self.assertEqual([int(row["index"]) for row in log.warm_up], list(range(-20, 0)))
        total, apart = run.summary["ledger"]["total"], run.summary["ledger"]["warmup"]
        self.assertEqual((total["attempted"], total["lost"]), (SENDERS * MESSAGES, 0))
        self.assertEqual((apart["attempted"], apart["lost"]), (SENDERS * 20, 0))

    def test_the_messages_that_count_are_the_same_with_and_without_it(self):
        for warm_up in (0, 30):
            self.run_bench(*self.arguments(warm_up, "senders.size_bytes=[1, 1000]"), out=str(warm_up))
        without, with_it = (RunFolder(self.folder / out).senders for out in ("0", "30"))
        for number, log in without.items():
            self.assertEqual(log.numbers("size"), with_it[number].numbers("size"))


if __name__ == "__main__":
    unittest.main()
