#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""N2NQ on one host, the services on another, and a link between them that loses 1 % of the segments and lets others overtake 1 %: below TCP, so
that nothing of it may be seen above. Every payload's checksum and every index is checked by the receivers.
N2NQ_MESSAGES sets how many there are in each queue mode (100,000 by default; 100,000,000 is the long form)."""
import os
import unittest

from bench import BenchCase
from control import copies, start_broker, start_group
from lab import Lab, main

MESSAGES = int(os.environ.get("N2NQ_MESSAGES", 100_000))
SENDERS = 4
LOSS = REORDER = 0.01
REORDER_NS = 1_000_000
# Enough that a receiver may be behind for as long as its segments are sent again: it is the budget that holds the senders back.
MEMORY_MIB, PENDING_MIB = 128, 512
TIME_S = 120 + MESSAGES / 1000


class LossyLink(BenchCase):
    def setUp(self):
        super().setUp()
        self.lab = Lab(2, shape={"reorder_ns": REORDER_NS})
        self.addCleanup(self.lab.close)
        # Up only: what goes from one host to the other passes one such lane, and one down that keeps everything.
        self.lab.shape_links({"loss": LOSS, "reorder": REORDER}, directions=["up"])

    def prefix(self, name):
        return ["nsenter", f"--net=/proc/{self.lab.hosts[name]['pid']}/ns/net"]

    def run_mode(self, mode, receivers, copies_of_each, responses):
        at, address = self.prefix("h2"), self.lab.hosts["h1"]["address"]
        broker, port = start_broker(
            SENDERS, receivers, self.prefix("h1"), address, {"memory_bytes": MEMORY_MIB << 20, "pending_bytes": PENDING_MIB << 20},
            mode=mode, responses=responses, responses_deadline_ms=60_000, retention_ms=3_600_000)
        self.addCleanup(broker.close)
        group = start_group("receivers", port, (1, receivers, receivers), None, at, address, senders_total=SENDERS, queue_mode=mode)
        self.addCleanup(group.close)
        senders = start_group("senders", port, (1, SENDERS, SENDERS), None, at, address,
                              load={"messages": MESSAGES // SENDERS, "duration_ms": None, "size_bytes": [20, 400],
                                    "interval_ns": {"num": 0, "den": 1}, "start": "spread"})
        self.addCleanup(senders.close)
        for process in (group, senders):
            process.wait_for("state", state="connected")
        for process in (group, senders):
            process.send(type="start", at_broker_ns=0)
        for process in (senders, group):
            process.wait_for("state", timeout_s=TIME_S, state="ended")
        byes = []
        for process in (senders, group, broker):
            process.send(type="bye")
            byes.append(process.wait_for("bye"))
        sent, received, _ = byes
        lanes = {name: lane["up"] for name, lane in self.lab.link_stats().items()}
        never = {key: received[key] for key in ("bad_checksum", "out_of_order", "duplicated", "unexpected", "redelivered")}
        link = ", ".join(f"of {lane['frames'] + lane['lost']} segments of {name} {lane['lost']} lost, {lane['held_up']} overtaken"
                         for name, lane in lanes.items())
        print(f"{mode}: {sent['accepted']} messages accepted, {received['received']} deliveries, {never}; {link}")
        self.assertEqual(sent["accepted"], MESSAGES // SENDERS * SENDERS)
        self.assertEqual(received["received"], sent["accepted"] * copies_of_each)
        self.assertEqual(set(never.values()), {0}, never)
        wanted = {(sender, index) for sender in range(1, SENDERS + 1) for index in range(MESSAGES // SENDERS)} if MESSAGES <= 1_000_000 else None
        if wanted and copies_of_each == 1:
            self.assertEqual(copies(received["delivered_sets"]), wanted)
        self.assertEqual(sent["faults"] + received["faults"], [])
        for name, lane in lanes.items():
            self.assertGreater(lane["lost"], 0.005 * lane["frames"], name)
            self.assertGreater(lane["held_up"], 0.005 * lane["frames"], name)

    def test_broadcaster(self):
        self.run_mode("broadcaster", receivers=2, copies_of_each=2, responses=False)

    def test_load_balancer_with_responses(self):
        self.run_mode("load-balancer", receivers=4, copies_of_each=1, responses=True)


if __name__ == "__main__":
    main()
