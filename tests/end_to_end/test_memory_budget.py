#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Senders at full rate against a small memory budget: they are held back, nothing is dropped in silence, and the run says for how long. And
what became of each copy is remembered in a bit or two, however wanted and unwanted ones alternate.

    N2NQ_FULL=1   with a budget of 1 GiB where nobody receives (64 MiB otherwise)
"""
import itertools
import json
import os
import re
import time
import unittest

from bench import BenchCase
from control import copies, start_broker, start_group

MIB = 1 << 20
FULL = bool(os.environ.get("N2NQ_FULL"))
FRAME_BYTES = 320 * 1024  # the largest PUBLISH, and the end of the chunk that it did not fit into: the one that used the budget up is beyond it
BESIDE_MIB = 32  # of N2NQ's memory beside queued messages


class MemoryBudget(BenchCase):
    def test_the_run_says_so(self):
        budget_mib, senders = 4, 4
        settings = {"queue.remove": "after-time", "queue.retention_s": 1, "limits.memory_mib": budget_mib, "limits.pending_mib": budget_mib,
                    "limits.message_max_bytes": 100_000, "senders.amount": senders, "senders.delay_ms": 0, "senders.messages": 4000,
                    "senders.size_bytes": 1000, "receivers.amount": 2, "log": "off"}
        folder = self.run_bench("quick", *(word for key, value in settings.items() for word in ("--set", f"{key}={value}")))
        summary = json.loads((folder / "summary.json").read_text())
        told = re.compile(rf"senders were held back for (\d+\.\d) s by the memory budget \({budget_mib} MiB\)")
        match = next(filter(None, map(told.search, summary["reasons"])), None)
        self.assertTrue(match, summary["reasons"])
        self.assertGreaterEqual(float(match[1]), 0.1)
        self.assertRegex(self.output, told)
        total = summary["ledger"]["total"]
        self.assertEqual((total["attempted"], total["delivered"], total["lost"]), (16_000, 32_000, 0), summary["reasons"])
        self.assertLessEqual(summary["broker"]["memory_bytes_max"], budget_mib * MIB + FRAME_BYTES)

    def test_the_largest_messages_cut_nobody_off_who_reads(self):
        """Each is a quarter of the smallest budget that has room for such."""
        settings = {"limits.memory_mib": 4, "senders.size_bytes": MIB, "senders.delay_ms": 0, "senders.amount": 2, "senders.messages": 50, "receivers.amount": 1,
                    "log": "off"}
        folder = self.run_bench("quick", *(word for key, value in settings.items() for word in ("--set", f"{key}={value}")), expect_exit=None)
        summary = json.loads((folder / "summary.json").read_text())
        self.assertEqual(summary["ledger"]["total"]["delivered"], 100, summary["reasons"])
        self.assertNotIn("pending bytes", self.output)

    def test_without_receivers_the_senders_wait_and_memory_does_not_grow(self):
        budget_mib, senders = 1024 if FULL else 64, 4
        # Of messages of a letter, what is noted of them takes more than they do.
        for mode, sizes in itertools.product(("broadcaster", "load-balancer"), ([1000, 1000], [1, 1])):
            with self.subTest(mode=mode, sizes=sizes):
                log = self.folder / f"{mode}-{sizes[0]}.log"
                broker, port = start_broker(senders, 1, mode=mode, limits={"memory_bytes": budget_mib * MIB}, log_file=str(log))
                self.addCleanup(broker.close)
                group = start_group("senders", port, (1, senders, senders), None,
                                    load={"messages": None, "duration_ms": None, "size_bytes": sizes,
                                          "interval_ns": {"num": 0, "den": 1}, "start": "spread"})
                self.addCleanup(group.close)
                group.wait_for("state", state="connected")
                group.send(type="start", at_broker_ns=0)

                def accepted():
                    group.send(type="stats", id=1, services=[])
                    return group.wait_for("stats")["accepted"]

                def stand_still():
                    before = accepted()
                    time.sleep(1)
                    return accepted() == before
                self.wait_for("a full queue", lambda: "the memory budget is used up" in log.read_text())
                self.wait_for("senders that stand still for a second", stand_still)
                held_at = accepted()
                with open(f"/proc/{broker.popen.pid}/status") as status:
                    peak_mib = int(next(line for line in status if line.startswith("VmHWM")).split()[1]) / 1024
                broker.send(type="bye")
                bye = broker.wait_for("bye")
                self.assertGreater(bye["held_back_by_memory_ns"], 0)
                beyond = bye["memory_bytes_max"] - budget_mib * MIB
                print(f"{mode}, messages of {sizes[0]} B: {beyond / 1024:.0f} KiB beyond the budget")
                self.assertLessEqual(beyond, FRAME_BYTES * (1 if sizes[0] == 1000 else 2))  # with what is noted of its messages
                self.assertLess(peak_mib, budget_mib + BESIDE_MIB)
                books = bye["total"] if mode == "load-balancer" else bye["receivers"][0]
                self.assertEqual(books["still_queued"], bye["messages_accepted"])
                self.assertEqual(bye["messages_accepted"], held_at, "nothing came in from then on")

    def test_books_that_are_full_end_the_run_in_order(self):
        settings = {"queue.requests": "[{receivers: R1-R50, sizes: 10-54, prefetch: 100}]", "limits.books_mib": 1, "senders.amount": 50,
                    "senders.duration_s": 3600, "senders.delay_ms": 20, "senders.size_bytes": "[10, 99]", "receivers.amount": 50, "log": "off"}
        folder = self.run_bench("quick", *(word for key, value in settings.items() for word in ("--set", f"{key}={value}")), expect_exit=1)
        summary = json.loads((folder / "summary.json").read_text())
        self.assertEqual(summary["verdict"], "broken")
        self.assertRegex("\n".join(summary["reasons"]), r"N2NQ ended the run: the books of .* the limit is 1048576 \(limits.books_mib\)")
        self.assertTrue(summary["ledger"]["balanced"], summary["reasons"])
        total = summary["ledger"]["total"]
        self.assertEqual((total["lost"], total["unexplained"]), (0, 0), summary["reasons"])
        self.assertGreater(total["unrequested"], 0)
        self.assertGreater(summary["broker"]["books_bytes_max"], MIB)

    def test_accounts_of_messages_of_which_every_other_one_is_wanted(self):
        senders, receivers, messages = 4, 3, 50_000
        broker, port = start_broker(senders, receivers, requests=True, remove="when-all-have-it")
        self.addCleanup(broker.close)
        getting = start_group("receivers", port, (1, receivers, receivers), None, senders_total=senders, queue_mode="broadcaster",
                              requests=[{"receivers": [[1, receivers]], "rules": [{"sizes": [10, 54]}], "prefetch": 1000}])
        self.addCleanup(getting.close)
        sending = start_group("senders", port, (1, senders, senders), None,
                              load={"messages": messages, "duration_ms": None, "size_bytes": [10, 99],
                                    "interval_ns": {"num": 0, "den": 1}, "start": "spread"})
        self.addCleanup(sending.close)
        for group in (getting, sending):
            group.wait_for("state", state="connected")
        for group in (getting, sending):
            group.send(type="start", at_broker_ns=0)
        byes = []
        for process in (sending, getting, broker):
            if process is not broker:
                process.wait_for("state", state="ended")
            process.send(type="bye")
            byes.append(process.wait_for("bye"))
        _, received, books = byes
        everything = {(sender, index) for sender in range(1, senders + 1) for index in range(messages)}
        for service, account in zip(received["services"], books["receivers"]):
            got, skipped = copies(service["delivered_sets"]), copies(account["unrequested_sets"])
            self.assertEqual(copies(service["skipped_sets"]["unrequested"]), skipped)
            self.assertFalse(got & skipped)
            self.assertEqual(got | skipped, everything)
            self.assertEqual((len(got), len(skipped)), (service["received"], account["unrequested"]))
            self.assertGreater(min(len(got), len(skipped)), len(everything) / 3)
        self.assertLess(len(json.dumps(books)), senders * messages * receivers / 3)


if __name__ == "__main__":
    unittest.main()
