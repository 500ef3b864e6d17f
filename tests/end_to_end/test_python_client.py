#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clients written from docs/wire-protocol.md alone (docs/examples/n2nq_client.py) take part in runs beside the real groups."""
import pathlib
import subprocess
import sys
import unittest

from bench import DEADLINE_S, BenchCase
from control import TOKEN, copies, start_broker, start_group
from run_folder import Log

CLIENT = pathlib.Path(__file__).parents[2] / "docs/examples/n2nq_client.py"
MESSAGES = 40
WARM_UP, REDELIVERED, NEWLY_MATCHED = 1, 2, 4  # flags
UNREQUESTED = 2  # reason of SKIPPED
TOTALS = ("handed_over", "redelivered", "expired", "unrequested", "parked", "cut_off", "still_queued")


class Client:
    """One Python client; what it has written, once it has ended."""

    def __init__(self, folder, what, port, number, *options):
        self.number, self.output = number, folder / f"{what}-{number}.tsv"
        with open(self.output, "w") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-B", CLIENT, what, "127.0.0.1", str(port), str(number), "--token", TOKEN, *map(str, options)],
                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.PIPE, text=True)

    def is_connected(self):
        return self.output.read_text().startswith("connected") or self.process.poll() is not None

    def has_been_accepted(self):
        """At least one message of this sender is in N2NQ's queue."""
        told = [line.split("\t") for line in self.output.read_text().splitlines(keepends=True)]
        return any(words[0] == "accepted" and words[-1].endswith("\n") and int(words[1]) > 0 for words in told) or self.process.poll() is not None

    def finish(self):
        _, errors = self.process.communicate(timeout=DEADLINE_S)
        if self.process.returncode != 0:
            raise AssertionError(f"client {self.number} ended with {self.process.returncode}: {errors}")
        output = self.output.read_text()
        self.lines = [line.split("\t") for line in output.splitlines()]
        self.end = [int(value) for value in self.of("end")[0]]
        self.sent = {(self.number, int(index)): letters for index, letters in self.of("sent")}
        self.delivered = [(int(sender), int(index)) for sender, index, *_ in self.of("delivered")]
        self.flags = [int(flags) for _, _, _, flags, *_ in self.of("delivered")]
        self.letters = {(int(sender), int(index)): letters for sender, index, _, _, _, letters in self.of("delivered")}
        self.skipped = {}
        for sender, reason, first, last in self.of("skipped"):
            self.skipped.setdefault(int(reason), set()).update((int(sender), i) for i in range(int(first), int(last) + 1))

    def of(self, kind):
        return [words for first, *words in self.lines if first == kind]


class Mixed(BenchCase):
    """Senders 1-3 and receivers 1-2 are real groups, senders 4-5 and receivers 3-4 are Python."""

    SENDERS, RECEIVERS = 5, 4

    runs = 0
    warm_up = 0  # the first of each sender's messages

    def run_mixed(self, mode, rules=("any:any", "any:any"), more=((), ()), group_requests=None, ahead=False, **queue):
        """With `ahead`, S5 begins first, and S4 only when something of S5 is in the queue."""
        self.mode, self.runs = mode, self.runs + 1
        self.logs = self.folder / str(self.runs)
        self.logs.mkdir()
        broker, port = start_broker(self.SENDERS, self.RECEIVERS, mode=mode, **{"responses_deadline_ms": 60_000, **queue})
        self.addCleanup(broker.close)
        requests = {"requests": group_requests} if queue.get("requests") else {}
        receivers = start_group("receivers", port, (1, 2, self.RECEIVERS), self.logs / "receivers", senders_total=self.SENDERS,
                                queue_mode=mode, warmup_messages=self.warm_up, **requests)
        self.addCleanup(receivers.close)
        self.receivers = [self.client("receive", port, 3 + i, "--rules", rules[i], "--credit", 1 + 3 * i, *more[i]) for i in range(2)]
        senders = start_group("senders", port, (1, 3, self.SENDERS), self.logs / "senders",
                              load={"messages": MESSAGES - self.warm_up, "warmup_messages": self.warm_up, "duration_ms": None, "size_bytes": [20, 60],
                                    "interval_ns": {"num": 5_000_000, "den": 1}, "start": "spread"})
        self.addCleanup(senders.close)
        receivers.wait_for("state", state="connected")
        senders.wait_for("state", state="connected")
        for client in self.receivers:
            self.wait_for("the Python receivers", client.is_connected)
        self.senders = []
        for number, size in ((5, 70), (4, 30)):
            self.senders.append(self.client("send", port, number, "--messages", MESSAGES, "--size", size, "--delay-ms", 5, "--warm-up", self.warm_up))
            if ahead and number == 5:
                self.wait_for("what S5 sends", self.senders[0].has_been_accepted)
        for group in (receivers, senders):
            group.send(type="start", at_broker_ns=0)  # in the past: at once
        for client in self.senders + self.receivers:
            client.finish()
        byes = []
        for process in (senders, receivers, broker):
            if process is not broker:
                process.wait_for("state", state="ended")
            process.send(type="bye")
            byes.append(process.wait_for("bye"))
        self.senders_bye, self.receivers_bye, self.broker_bye = byes
        self.check_senders()
        self.check_receivers()

    def client(self, *arguments):
        client = Client(self.logs, *arguments)
        self.processes.append(client.process)  # killed at the end of the test, if need be
        return client

    def check_senders(self):
        self.sizes = {}
        for number in range(1, 4):
            log = Log(self.logs / "senders" / f"S{number:03}.log")
            # On the wire indexes begin with the warm-up, in the logs behind it.
            self.sizes.update({(number, int(row["index"]) + self.warm_up): int(row["size"]) for row in log.warm_up + log.rows})
            self.assertEqual([int(row["index"]) for row in log.warm_up], list(range(-self.warm_up, 0)))
        for client in self.senders:
            self.assertEqual(client.end, [MESSAGES], "what N2NQ accepted of it")
            self.sizes.update({key: len(letters) for key, letters in client.sent.items()})
            self.assertEqual(client.of("refused"), [])
        self.sent = set(self.sizes)
        self.assertEqual(len(self.sent), self.SENDERS * MESSAGES)
        self.assertEqual(self.senders_bye["accepted"], 3 * (MESSAGES - self.warm_up))
        if self.warm_up:
            self.assertEqual(self.senders_bye["warmup"], {"attempted": 3 * self.warm_up, "accepted": 3 * self.warm_up, "refused": 0})
        self.assertEqual([sender["accepted"] for sender in self.broker_bye["senders"]], [MESSAGES] * self.SENDERS)

    def check_receivers(self):
        for count in ("bad_checksum", "unexpected", "out_of_order", "negative"):
            self.assertEqual(self.receivers_bye[count], 0, count)
        letters = {}
        for client in self.senders:
            letters.update(client.sent)
        for client in self.receivers:
            totals, account = dict(zip(TOTALS, client.end)), self.broker_bye["receivers"][client.number - 1]
            self.assertEqual(client.of("corrupt"), [])
            for (_, index), flags in zip(client.delivered, client.flags):
                self.assertEqual(bool(flags & WARM_UP), index < self.warm_up)
            self.assertEqual(totals["handed_over"], len(client.delivered))
            self.assertEqual(totals["redelivered"], sum(flags & REDELIVERED != 0 for flags in client.flags))
            self.assertEqual(account["handed_over"], len(client.delivered))
            self.assertEqual(account["confirmed"], len(client.delivered) if self.responses() else 0)
            self.assertLessEqual(set(client.delivered), self.sent)
            self.assertEqual(len(client.delivered), len(set(client.delivered)), "nothing comes twice in an undisturbed run")
            for key, got in client.letters.items():
                self.assertEqual(len(got), self.sizes[key], key)
                self.assertRegex(got, "^[A-Z]*$")
                # What another Python client sent is known to the letter; of what the groups sent, two who got it got the same.
                self.assertEqual(got, letters.setdefault(key, got), key)
            self.assertLessEqual(set(client.skipped), {UNREQUESTED})
            self.check_order(client)
            if self.mode == "broadcaster":
                unrequested = client.skipped.get(UNREQUESTED, set())
                self.assertEqual(totals["unrequested"], len(unrequested))
                self.assertEqual(set(client.delivered) & unrequested, set())
                self.assertEqual(set(client.delivered) | unrequested, self.sent)
        if self.mode == "load-balancer":
            got = [set(client.delivered) for client in self.receivers] + [copies(self.receivers_bye["delivered_sets"])]
            unrequested = copies(self.broker_bye["total"]["unrequested_sets"])
            self.assertEqual(set().union(*got) | unrequested, self.sent)
            self.assertEqual(sum(map(len, got)) + len(unrequested), len(self.sent), "each went to one receiver")

    def responses(self):
        return any(account["confirmed"] for account in self.broker_bye["receivers"])

    def check_order(self, client):
        last = {}
        for (sender, index), flags in zip(client.delivered, client.flags):
            if not flags & (REDELIVERED | NEWLY_MATCHED):
                self.assertGreater(index, last.get(sender, -1), f"sender {sender}")
                last[sender] = index

    def matching(self, senders, smallest, largest):
        return {key for key, size in self.sizes.items() if key[0] in senders and smallest <= size <= largest}

    # --- broadcaster ---

    def test_broadcaster(self):
        self.run_mixed("broadcaster")
        self.assertEqual([len(client.delivered) for client in self.receivers], [len(self.sent)] * 2)
        self.assertFalse(self.responses())

    def test_broadcaster_with_responses(self):
        self.run_mixed("broadcaster", responses=True, responses_window=16)
        self.assertTrue(self.responses())

    def test_broadcaster_with_requests(self):
        for responses in (False, True):
            with self.subTest(responses=responses):
                self.run_mixed("broadcaster", rules=("1-2:any,5:20-69", "2-4:30-45"), requests=True, responses=responses,
                               group_requests=[{"receivers": [[1, 1]], "rules": [{"senders": [4, 5]}], "prefetch": 2}])
                self.assertEqual(set(self.receivers[0].delivered), self.matching({1, 2}, 0, 99), "S5 sends 70 letters")
                self.assertEqual(set(self.receivers[1].delivered), self.matching({2, 3, 4}, 30, 45))
                group = {service["number"]: copies(service["delivered_sets"]) for service in self.receivers_bye["services"]}
                self.assertEqual(group, {1: self.matching({4, 5}, 0, 99), 2: self.sent})

    def test_broadcaster_asks_for_something_else_on_the_way(self):
        # Everything stays in the queue here, so that what was passed over before is still there for the second list. That comes after ten
        # messages of S4, the first of which is sent when N2NQ has the first of S5: it is older than what the receiver got already.
        self.run_mixed("broadcaster", remove="after-time", rules=("4:any", "none"), more=(("--then", 10, "4-5:any"), ()), requests=True,
                       responses=True, ahead=True)
        self.assertEqual(set(self.receivers[0].delivered), self.matching({4, 5}, 0, 99))
        flags = dict(zip(self.receivers[0].delivered, self.receivers[0].flags))
        self.assertTrue(flags[5, 0] & NEWLY_MATCHED, "what is older than it got already is flagged")
        self.assertFalse(any(flags[4, index] & NEWLY_MATCHED for index in range(MESSAGES)), "what it asked for before and after is not")
        self.assertEqual(self.receivers[1].delivered, [])

    def test_warm_up(self):
        self.warm_up = 15
        for queue in ({}, {"responses": True, "requests": True}):
            for mode in ("broadcaster", "load-balancer"):
                with self.subTest(mode=mode, **queue):
                    self.run_mixed(mode, **queue)
                    count = sum(len(client.delivered) for client in self.receivers)
                    if mode == "broadcaster":
                        self.assertEqual(self.receivers_bye["warmup"]["received"], 2 * self.SENDERS * self.warm_up)
                        self.assertEqual(self.receivers_bye["received"], 2 * self.SENDERS * (MESSAGES - self.warm_up))
                    else:
                        self.assertEqual(self.receivers_bye["received"] + self.receivers_bye["warmup"]["received"] + count, len(self.sent))

    def test_more_answers_than_a_frame_has_room_for(self):
        """One receiver, which comes when all is there: batches of 4,500 deliveries and more."""
        self.logs = self.folder
        broker, port = start_broker(1, 1, mode="broadcaster", responses=True, responses_window=65536, responses_deadline_ms=60_000, retention_ms=600_000)
        self.addCleanup(broker.close)
        sender = self.client("send", port, 1, "--messages", 10_000, "--size", 10, "--delay-ms", 0)
        sender.finish()
        receiver = self.client("receive", port, 1)
        receiver.finish()
        self.assertEqual(receiver.delivered, [(1, index) for index in range(10_000)])

    def test_who_comes_back_with_another_list_gets_what_it_asks_for_then(self):
        self.logs = self.folder
        broker, port = start_broker(1, 1, mode="broadcaster", requests=True, remove="after-time", retention_ms=600_000)
        self.addCleanup(broker.close)
        first = self.client("receive", port, 1, "--rules", "any:1-10")
        self.wait_for("the receiver", first.is_connected)
        self.client("send", port, 1, "--messages", 3).finish()
        first.finish()
        self.assertEqual((first.delivered, len(first.skipped[UNREQUESTED])), ([], 3))
        again = self.client("receive", port, 1, "--session", 1, "--rules", "any:any")
        again.finish()
        self.assertEqual(again.delivered, [(1, 0), (1, 1), (1, 2)])

    # --- load balancer ---

    def test_load_balancer(self):
        for dispatch in ("random", "round-robin", "next-free"):
            with self.subTest(dispatch=dispatch):
                self.run_mixed("load-balancer", dispatch=dispatch)
                if dispatch == "round-robin":
                    share = len(self.sent) // self.RECEIVERS
                    self.assertEqual([len(client.delivered) for client in self.receivers], [share, share])

    def test_load_balancer_with_responses(self):
        self.run_mixed("load-balancer", responses=True, responses_window=4)
        self.assertTrue(self.responses())

    def test_load_balancer_with_requests(self):
        for responses in (False, True):
            with self.subTest(responses=responses):
                self.run_mixed("load-balancer", rules=("4:any", "5:any"), requests=True, responses=responses,
                               group_requests=[{"receivers": [[1, 2]], "rules": [{"senders": [2, 5]}], "prefetch": 1}])
                self.assertLessEqual(set(self.receivers[0].delivered), self.matching({4}, 0, 99))
                self.assertLessEqual(set(self.receivers[1].delivered), self.matching({5}, 0, 99))
                self.assertEqual(copies(self.broker_bye["total"]["unrequested_sets"]), self.matching({1}, 0, 99))


if __name__ == "__main__":
    unittest.main()
