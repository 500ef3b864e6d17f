#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Receivers that confirm nothing, under full load: what is unconfirmed stays within its window, and memory stays where it is.
N2NQ_SECONDS sets how long (5 by default; 600 is the long form)."""
import os
import time
import unittest

from bench import BenchCase
from control import start_broker, start_group

SECONDS = float(os.environ.get("N2NQ_SECONDS", 5))
SENDERS, RECEIVERS = 4, 4
WINDOW, DEADLINE_MS, ATTEMPTS = 256, 500, 5
RETENTION_MS = 3_600_000  # longer than any run: what expires on the way gives its place in the window back before the deadline
WRITE_DEADLINE_MS = 3_600_000  # or they would be cut off, because they answer nothing and others need the memory
MEMORY_MIB = 32
PENDING_MIB = 8 * MEMORY_MIB  # so that it is the budget that holds the senders back, and the queue is always full
# Beside queued messages: the program, its connections, what is said at the end about each receiver.
BESIDE_MIB = 32


def rss_mib(pid):
    with open(f"/proc/{pid}/status") as status:
        return int(next(line for line in status if line.startswith("VmRSS")).split()[1]) / 1024


class NeverConfirms(BenchCase):
    def run_mode(self, mode):
        log = self.folder / f"{mode}.log"
        broker, port = start_broker(
            SENDERS, RECEIVERS, mode=mode, responses=True, log_file=str(log),
            limits={"memory_bytes": MEMORY_MIB << 20, "pending_bytes": PENDING_MIB << 20, "write_deadline_ms": WRITE_DEADLINE_MS},
            responses_window=WINDOW, responses_deadline_ms=DEADLINE_MS, responses_attempts_max=ATTEMPTS, retention_ms=RETENTION_MS)
        self.addCleanup(broker.close)
        receivers = start_group("receivers", port, (1, RECEIVERS, RECEIVERS), None, senders_total=SENDERS, queue_mode=mode)
        self.addCleanup(receivers.close)
        senders = start_group("senders", port, (1, SENDERS, SENDERS), None,
                              load={"messages": None, "duration_ms": None, "size_bytes": [50, 50], "interval_ns": {"num": 0, "den": 1},
                                    "start": "spread"})
        self.addCleanup(senders.close)
        for group in (receivers, senders):
            group.wait_for("state", state="connected")
        for number in range(1, RECEIVERS + 1):
            receivers.send(type="fault", service=number, kind="confirm-nothing")
        started = time.monotonic()
        receivers.send(type="start", at_broker_ns=0)
        receivers.wait_for("state", state="running")  # they take what they are told in order: by now none of them confirms
        senders.send(type="start", at_broker_ns=0)

        self.wait_for("a full queue", lambda: log.exists() and "the memory budget is used up" in log.read_text())
        full, rss = time.monotonic(), []
        while time.monotonic() - full < SECONDS or len(rss) < 20:
            time.sleep(0.25)
            rss.append(rss_mib(broker.popen.pid))
        byes = []  # the senders do not wait for room: there will be none
        for process in (senders, receivers, broker):
            process.send(type="bye")
            byes.append(process.wait_for("bye"))
        elapsed_s = time.monotonic() - started
        return rss, elapsed_s, byes

    def test_window_and_memory_stay_where_they_are(self):
        for mode in ("broadcaster", "load-balancer"):
            with self.subTest(mode=mode):
                rss, elapsed_s, (senders, receivers, broker) = self.run_mode(mode)
                # Each delivery holds its place in the window for the whole deadline: seen from outside, the window bounds the rate.
                most = WINDOW * RECEIVERS * (elapsed_s * 1000 / DEADLINE_MS + 1)
                quarter = len(rss) // 4
                first, last = max(rss[quarter:2 * quarter]), max(rss[-quarter:])
                tenth = len(rss) // 10
                tenths = [round(max(rss[at:at + tenth]), 1) for at in range(0, 10 * tenth, tenth)]
                print(f"{mode}: {elapsed_s:.0f} s, {senders['accepted']} messages accepted, {receivers['received']} deliveries (at most {most:.0f} fit into "
                      f"the windows), 0 confirmed; N2NQ's memory at most, by tenths of the time: {tenths} MiB, "
                      f"of queued messages {broker['memory_bytes_max'] / 2**20:.1f} of {MEMORY_MIB} MiB; held back {broker['held_back_ns'] / 1e9:.0f} s")
                self.assertEqual(sum(account["confirmed"] for account in broker["receivers"]), 0)
                self.assertGreater(receivers["received"], WINDOW * RECEIVERS)
                self.assertLessEqual(receivers["received"], most)
                self.assertGreater(broker["held_back_ns"], 0, "this is to be full load")
                self.assertLess(max(rss), MEMORY_MIB + BESIDE_MIB)
                self.assertLess(last, first + 2, "memory grows")
                self.assertEqual(receivers["unexpected"] + receivers["duplicated_unflagged"], 0)
                # Every message is told to be parked, expired or still queued.
                total = broker["total"] if mode == "load-balancer" else None
                accounts = [total] if total else broker["receivers"]
                for account in accounts:
                    self.assertEqual(sum(account[key] for key in ("expired", "parked", "cut_off", "still_queued")), broker["messages_accepted"])


if __name__ == "__main__":
    unittest.main()
