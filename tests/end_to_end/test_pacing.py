#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Senders keep their plan to the message and do not creep: 3,000 a second is not a whole number of nanoseconds. Where there are processors
for it, 99 of 100 messages leave within 150 us of it, too.

    N2NQ_SECONDS=600      so long (60 by default)
    N2NQ_RATE=10000       so many a second (3,000 by default)
"""
import json
import os
import re
import unittest

from bench import DEADLINE_S, BenchCase
from run_folder import RunFolder, percentile


SECONDS = int(os.environ.get("N2NQ_SECONDS", 60))
RATE = int(os.environ.get("N2NQ_RATE", 3000))
MESSAGES = SECONDS * RATE
SLEEPING_LAG_NS = 150_000  # of 99 in 100 messages, where the sender does not spin
PROCESSORS_TO_JUDGE = 4


class Pacing(BenchCase):
    def test_one_sender_keeps_its_plan_to_the_message(self):
        folder = self.run_bench("quick", "--set", "senders.amount=1", "--set", "receivers.amount=1", "--set", f"senders.rate_per_s={RATE}",
                                "--set", f"senders.duration_s={SECONDS}", timeout_s=DEADLINE_S + 2 * SECONDS)
        run = RunFolder(folder)
        log = run.senders[1]
        self.assertEqual(run.summary["ledger"]["total"]["attempted"], MESSAGES)
        self.assertEqual(log.numbers("index"), list(range(MESSAGES)))
        intended = log.numbers("intended_ns")
        for index in (1, 2, 3, RATE - 1, RATE, MESSAGES - 1):
            self.assertEqual(intended[index] - intended[0], index * 1_000_000_000 // RATE, index)

        lags = [s - i for s, i in zip(log.numbers("sent_ns"), intended)]
        least = [min(lags[k * RATE:(k + 1) * RATE]) for k in range(SECONDS)]
        slope_ns_per_s = fitted_slope(least)
        ordered = sorted(lags)
        print(f"{MESSAGES} messages, lag p50 {percentile(ordered, 0.5) / 1e3:.1f} us, p99 {percentile(ordered, 0.99) / 1e3:.1f} us, "
              f"slope of each second's minimum {slope_ns_per_s * 60 / 1e3:+.3f} us/min")
        self.assertLess(abs(slope_ns_per_s) * 60, 1000)
        by_second = sorted(percentile(sorted(lags[k * RATE:(k + 1) * RATE]), 0.99) for k in range(SECONDS))
        quiet_ns = by_second[SECONDS // 4]  # other tests may run beside this one, but not in each second
        print(f"p99 in a quiet second {quiet_ns / 1e3:.1f} us")
        # Sender, N2NQ and receiver want a core each, and so does what else runs; with fewer, what a sender waits for is a core.
        processors = len(os.sched_getaffinity(0))
        if processors >= PROCESSORS_TO_JUDGE:
            self.assertLessEqual(quiet_ns, SLEEPING_LAG_NS)
        else:
            print(f"not judged: that takes {PROCESSORS_TO_JUDGE} processors, here are {processors}")

    def test_a_rate_that_n2nq_does_not_take_is_told_with_what_became_of_it(self):
        # N2NQ stands still over the planned end, and the sockets take a part of a second.
        folder = self.run_bench("quick", "--set", "senders.amount=1", "--set", "receivers.amount=1", "--set", "senders.size_bytes=100000",
                                "--set", "senders.rate_per_s=400", "--set", "senders.duration_s=2", "--fault", "pause:broker@1",
                                "--fault", "resume:broker@3", expect_exit=None)
        summary = RunFolder(folder).summary
        [reason] = [reason for reason in summary["reasons"] if reason.startswith("plan not kept")]
        told = re.fullmatch(r"plan not kept: the last message was (\d+) ms late, (\d+) of (\d+) messages/s", reason)
        self.assertTrue(told, reason)
        late_ms, achieved, offered = map(int, told.groups())
        self.assertGreater(late_ms, 500)
        self.assertLess(achieved, 350)
        self.assertEqual(offered, 400)
        self.assertNotEqual(summary["verdict"], "clean")

    def test_a_rate_that_cannot_be_kept_is_told_though_it_is_over_before_much_was_late(self):
        """Twenty million a second, which nothing takes, but only so many that the last one leaves less than 250 ms late."""
        messages = 320_000  # of each sender
        while True:
            messages //= 2
            self.assertGreater(messages, 500, "nothing but that they are late can be wrong with so few")
            for attempt in range(4):  # a group that is held up once in the middle does not get later and later
                folder = self.run_bench("quick", "--set", "senders.amount=20", "--set", "receivers.amount=1",
                                        "--set", "queue.mode=load-balancer", "--set", "log=off", "--set", "senders.rate_per_s=1000000",
                                        "--set", f"senders.messages={messages}", out=f"at-once-{messages}-{attempt}", expect_exit=None)
                summary = json.loads((folder / "summary.json").read_text())
                plan = summary["plan"]
                print(f"{messages} messages each: the last one {plan['last_message_late_ms']:.1f} ms late, "
                      f"growth {plan['lag_growth_ms']:.1f} ms")
                if not plan["kept"]:
                    break
            self.assertFalse(plan["kept"], summary["reasons"])
            if plan["last_message_late_ms"] < 250:
                break
        [reason] = [reason for reason in summary["reasons"] if reason.startswith("plan not kept")]
        told = re.fullmatch(r"plan not kept: messages left later and later, by (\d+) ms at the end, (\d+) of 20000000 messages/s", reason)
        self.assertTrue(told, reason)
        self.assertEqual(int(told[1]), int(plan["lag_growth_ms"]))
        self.assertLess(int(told[2]), 20_000_000)
        self.assertEqual(summary["verdict"], "degraded", summary["reasons"])


def fitted_slope(values):
    """Median of the slopes between all pairs (Theil 1950, Sen 1968): one disturbed second does not bend it."""
    slopes = sorted((b - a) / (j - i) for i, a in enumerate(values) for j, b in enumerate(values) if j > i)
    return slopes[len(slopes) // 2]


if __name__ == "__main__":
    unittest.main()
