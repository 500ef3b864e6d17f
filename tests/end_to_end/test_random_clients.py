#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A crowd of random clients (random_clients.py) and a well-behaved pair in the middle of it, against one real n2nq-broker after the other, each
with other settings. In rounds: traffic; then everybody leaves, whatever is queued is fetched, and memory is read. N2NQ has to live, to deliver
all of the pair's messages in order, to give all files and memory back, and its summary has to balance.

    N2NQ_CLIENTS=1000   so many (60 by default)
    N2NQ_SECONDS=3600   of traffic, over all settings (16 by default)
    N2NQ_SEED=17        another crowd (1 by default)
    N2NQ_SETTINGS=2,5   only these settings (all 8)
    N2NQ_BIN            the programs, such as those with a sanitizer (build/asan/bin): then memory is read, but not judged
"""
import asyncio
import json
import os
import random
import resource
import struct
import time
import unittest

from bench import BIN, DEADLINE_S, BenchCase
from control import TOKEN, Process, configure
from random_clients import RECORDS_PER_FRAME, RandomReceiver, RandomSender, Stranger
from random_wire import (ANY, CONFIRM, CREDIT, DELIVER, END, HANDSHAKE, HEARTBEAT, NEWLY_MATCHED, PUBLISH, RECEIVER, REDELIVERED, RULES, SENDER,
                         SKIPPED, TOO_SLOW, Told, Wire, frame, hello_frame, is_intact, record, records_of)

CLIENTS = int(os.environ.get("N2NQ_CLIENTS", 60))
SECONDS = float(os.environ.get("N2NQ_SECONDS", 16))
SEED = int(os.environ.get("N2NQ_SEED", 1))
# Queue settings, and how N2NQ writes. Each feature in each mode, with and without the other.
SETTINGS = [
    ({"mode": "broadcaster", "remove": "when-all-have-it"}, "epoll"),
    ({"mode": "broadcaster", "remove": "after-time", "responses": True}, "io_uring"),
    ({"mode": "broadcaster", "remove": "when-all-have-it", "requests": True}, "io_uring"),
    ({"mode": "broadcaster", "remove": "when-all-have-it", "responses": True, "requests": True}, "epoll"),
    ({"mode": "load-balancer", "dispatch": "random"}, "io_uring"),
    ({"mode": "load-balancer", "dispatch": "next-free", "responses": True}, "epoll"),
    ({"mode": "load-balancer", "dispatch": "round-robin", "requests": True}, "epoll"),
    ({"mode": "load-balancer", "dispatch": "next-free", "responses": True, "requests": True}, "io_uring"),
]
ONLY = [int(number) for number in os.environ.get("N2NQ_SETTINGS", ",".join(map(str, range(len(SETTINGS))))).split(",")]
SANITIZED = next((name for name in ("asan", "tsan") if name in BIN.parts), None)
ROUND_S = min(15.0, SECONDS / len(ONLY) / 3)
# Under sanitizers what is to be confirmed in time takes longer. Until its list is in force a receiver gets nothing. With the lists of hundreds
# before it that takes seconds under the thread sanitizer (13 on a busy machine), in which nothing of the pair's is to expire.
RETENTION_S = 30 if SANITIZED == "tsan" and CLIENTS > 500 else 8 if SANITIZED else 4
DEADLINE_OF_RESPONSES_S, HANDSHAKE_S, HEARTBEAT_S, WRITE_DEADLINE_S = 0.5, 1, 12, 10
MESSAGE_BYTES_MAX = 20_000
# As much as this program can take beside everything else: it must not be the one that is too slow.
COPIES_PER_S, PAIR_EVERY_S = 12_000, 0.02
CATEGORIES = ("expired", "unrequested", "parked", "cut_off", "still_queued")
BATCH_KEPT_KIB = 12  # for each receiver, to be used again (docs/architecture.md)
# Books are very many short lists. What each of them outgrew as it doubled lies between the others, for lists that grow later: all of it
# together would be as much as the lists have now, and what is used again is none any more (docs/decisions/0007-what-lies-between-books.md).
# Without books it was 1.5 MiB, of 1,000 clients that came and went.
HOLES_OF_BOOKS, HOLES_BESIDE_MIB = 0.5, 4
FILES_AT_A_TIME = 100  # of those who clear the table


class Table:
    """What the clients have in common. One thread."""

    def __init__(self, broker, port, queue, seed):
        self.broker, self.port, self.queue, self.random = broker, port, queue, random.Random(seed)
        self.token = bytes.fromhex(TOKEN)
        strangers = max(1, CLIENTS // 10)
        self.senders = 1 + (CLIENTS - strangers) // 2  # the pair's is number 1
        self.receivers = 1 + CLIENTS - strangers - self.senders
        self.lazy_receivers = range(self.receivers - self.receivers // 10 + 1, self.receivers + 1)
        self.cut_off, self.wrong, self.received = set(), [], 0
        copies = self.receivers if queue["mode"] == "broadcaster" else 5
        self.publish_every_s = self.senders * copies * RECORDS_PER_FRAME / COPIES_PER_S
        self.life_s, self.deadline_s = ROUND_S, DEADLINE_OF_RESPONSES_S
        self.idle_s, self.lazy_s = 1, 3 * WRITE_DEADLINE_S
        self.cleared = True
        self.clients = [RandomSender(self, number, self.chance()) for number in range(2, self.senders + 1)]
        self.clients += [RandomReceiver(self, number, self.chance()) for number in range(2, self.receivers + 1)]
        self.clients += [Stranger(self, number, self.chance()) for number in range(strangers)]

    def chance(self):
        return random.Random(self.random.getrandbits(64))

    def expect(self, condition, what):
        if not condition:
            self.wrong.append(what)

    async def sleep(self, seconds):
        await asyncio.sleep(seconds)

    def now_ns(self):
        return time.monotonic_ns()

    def now_s(self):
        return time.monotonic()

    def other_number(self, role, chance):
        return chance.randint(2, self.senders if role == SENDER else self.receivers)

    def receivers_left(self):
        return range(2, self.lazy_receivers.start)

    async def let_live(self, seconds):
        self.cleared = False
        lives = [asyncio.ensure_future(client.live_until_cleared()) for client in self.clients]
        await asyncio.sleep(seconds)
        self.cleared = True
        _, busy = await asyncio.wait(lives, timeout=0.5)
        for life in busy:
            life.cancel()
        for life in await asyncio.gather(*lives, return_exceptions=True):
            if isinstance(life, Exception):
                raise life


class Pair:
    """Sender 1 and receiver 1 do nothing wrong. What comes of sender 1's messages is theirs alone where it can be (see exclusive)."""

    def __init__(self, table):
        self.table, self.session, self.published, self.accepted = table, -1, 0, 0
        self.exclusive = table.queue["mode"] == "broadcaster" or bool(table.queue.get("requests"))
        self.got, self.newest, self.redelivered = 0, {}, 0

    async def connect(self):
        self.session += 1
        self.done = False
        # The sender first: where all senders have ended and nothing is queued, a receiver is told its END at once.
        self.sender = await greeted(self.table.port, hello_frame(SENDER, 1, self.session, self.table.token))
        self.table.expect(self.sender.next_index == self.published, f"pair: WELCOME says {self.sender.next_index}, published {self.published}")
        self.receiver = await greeted(self.table.port, hello_frame(RECEIVER, 1, self.session, self.table.token))
        if self.receiver.requests:
            self.receiver.put(frame(RULES, struct.pack("<II4I", 0, 1, 1, 1, *ANY)) + frame(CREDIT, struct.pack("<Q", 500)))
        self.receiving = asyncio.ensure_future(receive_all(self.receiver, self.take))
        self.publishing = asyncio.ensure_future(self.publish())

    async def publish(self):
        heartbeat_s = 0
        while not self.done:
            size = self.table.random.randint(0, 200)
            self.sender.put(frame(PUBLISH, record(1, self.published, size, time.monotonic_ns())))
            self.published += 1
            if time.monotonic() > heartbeat_s:
                heartbeat_s = time.monotonic() + HEARTBEAT_S / 4
                self.receiver.put(frame(HEARTBEAT))
            await self.sender.drain()
            await asyncio.sleep(PAIR_EVERY_S)
        self.sender.put(frame(END, struct.pack("<Q", self.published)))
        while True:
            kind, body = await self.sender.hear()
            if kind == END:
                break
        self.sender.close()
        self.accepted = struct.unpack("<Q", body)[0]
        self.table.expect(self.accepted == self.published, f"pair: {self.accepted} accepted of {self.published}")

    def take(self, body, at, fields):
        _, sender, index, _, _, _, flags, attempt, _ = fields
        self.table.expect(is_intact(body, at, fields), f"pair: message {index} of sender {sender} is corrupt")
        self.table.expect(not self.table.queue.get("requests") or sender == 1, f"pair: sender {sender} was not asked for")
        if flags & (REDELIVERED | NEWLY_MATCHED):
            self.redelivered += 1
            return
        before = self.newest.get(sender, -1)
        self.newest[sender] = index
        if sender == 1:
            right = index == before + 1 if self.exclusive else index > before
            self.got += 1
        else:
            right = index > before
        self.table.expect(right, f"pair: message {index} of sender {sender} after {before}")

    async def finish(self):
        """Until all is there."""
        self.done = True
        await self.publishing
        deadline_s = time.monotonic() + DEADLINE_S
        while self.exclusive and self.got < self.published and not self.receiving.done() and time.monotonic() < deadline_s:
            await asyncio.sleep(0.01)
        self.table.expect(not self.exclusive or self.got == self.published, f"pair: {self.got} of {self.published} messages")


async def greeted(port, hello):
    """A connection that has its WELCOME. Where this program itself had no turn for longer than the handshake may take, it comes again."""
    while True:
        begun_s = time.monotonic()
        wire = await Wire.open(port)
        try:
            await wire.greet(hello)
            return wire
        except Told as told:
            wire.close()
            if told.code != HANDSHAKE or wire.said_hello_s - begun_s < HANDSHAKE_S:
                raise


async def receive_all(wire, take=None):
    """Takes, confirms and asks for more until END; returns its totals."""
    deliveries = 0
    while True:
        kind, body = await wire.hear()
        if kind == END:
            wire.close()
            return struct.unpack("<7Q", body)
        if kind != DELIVER:
            assert kind == SKIPPED
            continue
        first = deliveries
        for at, fields in records_of(body):
            deliveries += 1
            if take:
                take(body, at, fields)
        if wire.responses:
            wire.put(frame(CONFIRM, struct.pack("<QIBxxx", first, deliveries - first, 0)))
        elif wire.requests:
            wire.put(frame(CREDIT, struct.pack("<Q", deliveries - first)))


class Clearing:
    """Ends every sender, and fetches what is queued for every receiver that is not cut off."""

    def __init__(self, table):
        self.table, self.room = table, asyncio.Semaphore(FILES_AT_A_TIME)

    async def end_sender(self, number):
        async with self.room:
            wire = await greeted(self.table.port, hello_frame(SENDER, number, 0, self.table.token))
            wire.put(frame(END, struct.pack("<Q", wire.next_index)))
            while (await wire.hear())[0] != END:
                pass
            wire.close()

    async def fetch(self, number):
        if number in self.table.cut_off:
            return
        try:
            wire = await greeted(self.table.port, hello_frame(RECEIVER, number, 0, self.table.token))
        except Told as told:
            if told.code != TOO_SLOW or number not in self.table.lazy_receivers:
                raise
            self.table.cut_off.add(number)
            return
        if wire.requests:
            wire.put(frame(RULES, struct.pack("<II4I", 0, 1, *ANY, *ANY)) + frame(CREDIT, struct.pack("<Q", 1_000_000)))
        await receive_all(wire)

    async def clear(self, pair):
        await asyncio.gather(*(self.end_sender(number) for number in range(2, self.table.senders + 1)))
        await asyncio.gather(*(self.fetch(number) for number in range(2, self.table.receivers + 1)), pair.receiving)


def files_of(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def rss_mib(pid):
    with open(f"/proc/{pid}/status") as status:
        return int(next(line for line in status if line.startswith("VmRSS")).split()[1]) / 1024


def slope(points):
    """Of a line through (x, y), least squares."""
    x_mean, y_mean = (sum(values) / len(points) for values in zip(*points))
    return sum((x - x_mean) * (y - y_mean) for x, y in points) / sum((x - x_mean) ** 2 for x, _ in points)


class RandomClients(BenchCase):
    def start_broker(self, queue, io):
        self.errors = open(self.folder / "stderr", "w+")
        self.addCleanup(self.errors.close)
        table = Table(None, 0, queue, SEED)
        broker = Process("n2nq-broker", stderr=self.errors)
        self.addCleanup(broker.close)
        broker.send(**configure(
            "broker", listen={"address": "127.0.0.1", "port": 0, "unix": True}, io=io,
            expect={"senders": table.senders, "receivers": table.receivers},
            queue={"retention_ms": RETENTION_S * 1000, "responses_deadline_ms": int(DEADLINE_OF_RESPONSES_S * 1000), "responses_attempts_max": 3,
                   "responses_window": 64, **queue},
            limits={"message_bytes_max": MESSAGE_BYTES_MAX, "handshake_deadline_ms": HANDSHAKE_S * 1000, "heartbeat_ms": HEARTBEAT_S * 1000,
                    "write_deadline_ms": WRITE_DEADLINE_S * 1000, "reconnect_deadline_ms": 1000, "sessions_max": 4 * CLIENTS + 100},
            log_file=str(self.folder / "broker.log")))
        table.broker, table.port = broker, broker.wait_for("hello")["port"]
        return table

    async def rounds(self, table, seconds):
        pid, memory = table.broker.popen.pid, []
        files = files_of(pid)
        pair, begun_s = Pair(table), time.monotonic()
        until_s = begun_s + seconds
        while time.monotonic() < until_s or len(memory) < 3:
            await pair.connect()
            await table.let_live(ROUND_S)
            await pair.finish()
            await asyncio.wait_for(Clearing(table).clear(pair), DEADLINE_S)
            if table.queue.get("remove") == "after-time":
                await asyncio.sleep(RETENTION_S + 0.1)  # what everybody has stays until then
            deadline_s = time.monotonic() + DEADLINE_S
            while files_of(pid) > files and time.monotonic() < deadline_s:
                await asyncio.sleep(0.02)
            self.assertLessEqual(files_of(pid), files, "files that nobody needs any more")
            memory.append((time.monotonic() - begun_s, rss_mib(pid)))
        return pair, memory

    def run_settings(self, queue, io):
        table = self.start_broker(queue, io)
        try:
            pair, memory = asyncio.run(self.rounds(table, SECONDS / len(ONLY)))
        except Exception:
            self.tell_about(table.broker)
            raise
        table.broker.send(type="stop")
        table.broker.send(type="bye")
        bye = table.broker.wait_for("bye")
        self.assertEqual(table.broker.popen.wait(DEADLINE_S), 0)
        self.errors.seek(0)
        errors = self.errors.read()
        lives = sum(client.session for client in table.clients)
        books_mib = bye["books_bytes_max"] / 2**20  # of what receivers did not get
        books_now_mib = bye["books_bytes"] / 2**20  # without what was only foreseen
        kinds_mib = bye["kinds_bytes"] / 2**20
        holes_mib = bye["heap_holes_bytes"] / 2**20
        told_of_heap = "nothing is known of the heap under a sanitizer, which has its own"
        if not SANITIZED:
            in_use_mib = (bye["heap_bytes"] - self.heap_bytes_of_an_idle_one(queue, io)) / 2**20
            told_of_heap = (f"at the end {in_use_mib:.1f} MiB are in use that were not at the start, {bye['kept_bytes'] / 2**20:.1f} MiB of them "
                            f"for nobody, and {holes_mib:.1f} MiB lie between")
        refused = {refusal["code"]: refusal["count"] for refusal in bye["sessions_refused"]}
        cut_off = sum(bool(account["cut_off_reason"]) for account in bye["receivers"])
        account = bye["total"] if queue["mode"] == "load-balancer" else bye["receivers"][0]
        gone = {category: text for category in CATEGORIES for first, last, text in account.get(f"{category}_sets", []) if first <= 1 <= last}
        print(f"{queue} {io}: {len(memory)} rounds in {memory[-1][0]:.0f} s, {lives} lives, {bye['messages_accepted']} messages accepted, "
              f"{bye['messages_refused']} refused, {bye['deliveries']} deliveries, {cut_off} cut off, refusals {refused}, "
              f"pair: {pair.published} published, {pair.got} received, {pair.redelivered} again, N2NQ says of the rest {gone}; "
              f"memory in MiB when drained: {[round(mib, 1) for _, mib in memory]}; books {books_mib:.1f} MiB, "
              f"at the end {books_now_mib:.1f}, kinds {kinds_mib:.1f} MiB; "
              f"{told_of_heap}", flush=True)
        self.assertEqual(errors, "")
        self.assertEqual(table.wrong[:20], [], f"{len(table.wrong)} things are wrong")
        self.assertGreater(bye["messages_accepted"], 0)
        self.check_balance(bye, queue, pair)
        if not SANITIZED:
            kept_mib = table.receivers * BATCH_KEPT_KIB / 1024 + bye["kept_bytes"] / 2**20
            self.assertLess(in_use_mib, 2 + books_now_mib + kinds_mib + kept_mib, "memory that is in no figure")
            self.assertLess(holes_mib, HOLES_BESIDE_MIB + HOLES_OF_BOOKS * books_mib, "memory that lies between")
            self.check_memory(memory, books_mib + kinds_mib, holes_mib)

    def heap_bytes_of_an_idle_one(self, queue, io):
        table = self.start_broker(queue, io)
        table.broker.send(type="stop")
        table.broker.send(type="bye")
        bye = table.broker.wait_for("bye")
        table.broker.popen.wait(DEADLINE_S)
        return bye["heap_bytes"]

    def tell_about(self, broker):
        """Whether it lives, and its last words."""
        self.errors.seek(0)
        log = (self.folder / "broker.log").read_text(errors="replace").splitlines()
        pair = [line for line in log if "S001 " in line or "R001 " in line]
        print("n2nq-broker", "lives" if broker.popen.poll() is None else f"ended with {broker.popen.returncode}", self.errors.read(20_000),
              "\n".join(["its log:", *log[-5:], "of it about the pair:", *pair[-6:]]), flush=True)

    def check_balance(self, bye, queue, pair):
        accepted = bye["messages_accepted"]
        self.assertEqual(sum(sender["accepted"] for sender in bye["senders"]), accepted)
        self.assertEqual(bye["senders"][0]["accepted"], pair.published)
        self.assertEqual(bye["receivers"][0]["cut_off_reason"], "")

        def there(account):
            return account["confirmed"] if queue.get("responses") else account["handed_over"] - account["redelivered"]
        accounts = bye["receivers"]
        if queue["mode"] == "load-balancer":
            sums = {key: sum(account[key] for account in accounts) for key in ("confirmed", "handed_over")}
            accounts = [{**bye["total"], **sums, "redelivered": 0, "number": "all"}]
        for account in accounts:
            figures = {key: account[key] for key in ("number", "handed_over", "redelivered", "confirmed", *CATEGORIES)}
            self.assertEqual(accepted, there(account) + sum(account[category] for category in CATEGORIES), figures)

    def check_memory(self, memory, noted_mib, holes_mib):
        self.assertLess(memory[-1][1], memory[0][1] + 2 + noted_mib + holes_mib, "memory that nobody needs any more")
        if memory[-1][0] >= 60:
            settled = memory[len(memory) // 4:]
            creep_mib = slope(settled) * 600 - noted_mib * 600 / memory[-1][0]
            print(f"memory grows by {slope(settled) * 600:.2f} MiB in 10 min, {creep_mib:.2f} MiB besides books and kinds")
            self.assertLess(creep_mib, 1)

    def test_nobody_upsets_it(self):
        files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, max(files, 4 * CLIENTS + 1000)), most))
        print(f"{CLIENTS} clients, {SECONDS:g} s, seed {SEED}, {BIN}")
        for number in ONLY:
            with self.subTest(number=number, settings=json.dumps(SETTINGS[number])):
                self.run_settings(*SETTINGS[number])


if __name__ == "__main__":
    unittest.main()
