#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Receivers that ask for something else again and again while messages flow, some lying, N2NQ stopped for moments: nobody is accused of anything."""
import os
import random
import signal
import time
import unittest

from bench import BenchCase
from control import copies, start_broker, start_group

SENDERS, RECEIVERS, MESSAGES = 4, 6, 150
SEED = int(os.environ.get("N2NQ_SEED", 1))


class RulesOnTheWay(BenchCase):
    def run_one(self, mode, responses, seed):
        pick = random.Random(seed)
        logs = self.folder / f"{mode}-{responses}"
        broker, port = start_broker(SENDERS, RECEIVERS, mode=mode, requests=True, responses=responses, responses_deadline_ms=50,
                                    responses_attempts_max=100, remove=pick.choice(["after-time", "when-all-have-it"]))
        self.addCleanup(broker.close)
        receivers = start_group("receivers", port, (1, RECEIVERS, RECEIVERS), logs / "receivers", senders_total=SENDERS, queue_mode=mode,
                                requests=[])
        self.addCleanup(receivers.close)
        senders = start_group("senders", port, (1, SENDERS, SENDERS), logs / "senders",
                              load={"messages": MESSAGES, "duration_ms": None, "size_bytes": [10, 99],
                                    "interval_ns": {"num": 5_000_000, "den": 1}, "start": "spread"})
        self.addCleanup(senders.close)
        for group in (receivers, senders):
            group.wait_for("state", state="connected")
        for group in (receivers, senders):
            group.send(type="start", at_broker_ns=0)

        def ask(rules=None):
            first = pick.randint(1, RECEIVERS)
            sender, size = pick.randint(1, SENDERS), pick.randint(10, 99)
            if rules is None:
                rules = pick.choice([[], [{}], [{"senders": [sender, sender]}], [{"sizes": [size, 99]}, {"senders": [1, sender]}]])
            receivers.send(type="request", receivers=[[first, RECEIVERS]], rules=rules, prefetch=pick.choice([1, 3, 20]))

        end_s = time.monotonic() + MESSAGES * 0.005
        while time.monotonic() < end_s:
            for _ in range(pick.randint(1, 10)):
                ask()
            if pick.random() < 0.2:
                os.kill(broker.popen.pid, signal.SIGSTOP)
                ask()
                time.sleep(pick.uniform(0, 0.08))
                os.kill(broker.popen.pid, signal.SIGCONT)
            if pick.random() < 0.1:
                receivers.send(type="fault", service=pick.randint(1, RECEIVERS), kind=pick.choice(["disconnect", "stop-reading"]))
            if responses and pick.random() < 0.2:
                receivers.send(type="fault", service=pick.randint(1, RECEIVERS), kind=pick.choice(["confirm-nothing", "answer-negatively"]))
            receivers.send(type="stats", id=1, services=[])
            receivers.wait_for("stats")
        for number in range(1, RECEIVERS + 1):
            receivers.send(type="fault", service=number, kind="none")
        receivers.send(type="request", receivers=[[1, RECEIVERS]], rules=[{}], prefetch=10)
        byes = []
        for process in (senders, receivers, broker):
            if process is not broker:
                process.wait_for("state", state="ended")
            process.send(type="bye")
            byes.append(process.wait_for("bye"))
        return byes

    def test_nobody_is_accused(self):
        everything = {(sender, index) for sender in range(1, SENDERS + 1) for index in range(MESSAGES)}
        for mode in ("broadcaster", "load-balancer"):
            for responses in (False, True):
                with self.subTest(mode=mode, responses=responses):
                    senders, receivers, broker = self.run_one(mode, responses, seed=SEED + len(mode) + responses)
                    self.assertEqual(senders["accepted"], len(everything))
                    self.assertGreater(receivers["received"], 0)
                    for count in ("unasked", "unexpected", "bad_checksum", "out_of_order", "duplicated_unflagged"):
                        self.assertEqual(receivers[count], 0, count)
                    for service, account in zip(receivers["services"], broker["receivers"]):
                        self.assertLessEqual(account["confirmed"], service["confirmed"])
                        if mode == "broadcaster" and responses:
                            self.assertEqual(copies(service["delivered_sets"]).union(*self.skipped(account)), everything)
                    if mode == "load-balancer" and responses:
                        self.assertEqual(copies(receivers["delivered_sets"]).union(*self.skipped(broker["total"])), everything)

    def skipped(self, account):
        return [copies(account[f"{reason}_sets"]) for reason in ("expired", "unrequested", "parked", "cut_off", "still_queued")]


if __name__ == "__main__":
    unittest.main()
