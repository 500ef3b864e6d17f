# SPDX-License-Identifier: GPL-3.0-or-later
"""Clients that do what a network full of them does: come and go at any time, in order or in the middle of a frame, under their own number or
another's, confirm late, wrongly or never, ask for this and that, and send junk. They speak the wire protocol (docs/wire-protocol.md) and share
nothing with the C++. Each is made from a seed. Numbers 1 are the well-behaved pair's (test_random_clients.py).

What N2NQ answers is checked: each wrong thing gets its own error or a closed connection, order holds, and who did nothing wrong is told nothing."""
import asyncio
import struct

from random_wire import (ANY, CONFIRM, CONFIRMATION, CREDIT, DELIVER, END, FRAME, GAP, HANDSHAKE, HEARTBEAT, HELLO, NEWLY_MATCHED, NOT_N2NQ, NOT_OFFERED,
                         NUMBER, PROBE, PROBE_REPLY, PROBER, PUBLISH, RECEIVER, REDELIVERED, REPLACED, RULES, RULES_WRONG, SENDER, SILENT,
                         TOKEN_WRONG, TOO_SLOW, VERSION, Closed, Told, Wire, frame, hello_frame, is_intact, record, records_of)

NOBODYS_FAULT = {REPLACED}  # by another client that took the number
RECORDS_IN_A_FRAME = (1, 1, 1, 2, 20)
RECORDS_PER_FRAME = sum(RECORDS_IN_A_FRAME) / len(RECORDS_IN_A_FRAME)


class Client:
    """One place at the table: it lives one life after another, each on a connection of its own, until the table is cleared."""
    ROLE = None

    def __init__(self, table, number, chance):
        self.table, self.number, self.chance = table, number, chance
        self.session = 0

    async def live_until_cleared(self):
        while not self.table.cleared:
            try:
                await self.live()
            except Closed:
                pass  # by N2NQ, or by another who took the number: what is wrong is found elsewhere
            except Told as told:
                self.table.expect(told.code in NOBODYS_FAULT | self.blamed_for, f"{self.name()} is told {told} (of {sorted(self.blamed_for)})")
            await self.pause(0.2)

    def name(self):
        return f"{type(self).__name__} {self.number}, {self.doing}"

    async def pause(self, seconds_max):
        await self.table.sleep(self.chance.uniform(0, seconds_max))

    async def live(self):
        self.blamed_for, self.doing, self.wire = {HANDSHAKE}, "connecting", None  # a busy machine
        try:
            await self.connect()
            await self.do_something()
        finally:
            if self.wire:
                self.leave()

    def leave(self):
        self.chance.choice([self.wire.close, self.wire.reset])()

    async def connect(self, number=None):
        self.under = number or (self.number if self.chance.random() < 0.9 else self.table.other_number(self.ROLE, self.chance))
        self.wire = await Wire.open(self.table.port, unix=self.chance.random() < 0.2, receive_bytes=4096 if self.is_lazy() else None)
        hello = hello_frame(self.ROLE, self.under, self.session, self.table.token)
        self.session += 1
        if self.chance.random() < 0.05:  # in two pieces
            cut = self.chance.randrange(1, len(hello))
            self.wire.put(hello[:cut])
            await self.pause(0.1)
            hello = hello[cut:]
        await self.wire.greet(hello)
        self.blamed_for = {SILENT, TOO_SLOW} if self.is_lazy() else {SILENT}

    def is_lazy(self):
        return False

    async def do_wrong(self, data, *codes):
        """Says what is wrong, and waits for the answer."""
        self.blamed_for = self.blamed_for | set(codes)
        self.wire.put(data)
        while True:
            await self.wire.hear()

    def junk(self):
        return self.chance.randbytes(self.chance.choice([8, 9, 100, 5000, 100_000]))

    async def die_within(self, data):
        self.wire.put(data[:self.chance.randrange(1, len(data))])
        await self.pause(0.05)


class RandomSender(Client):
    ROLE = SENDER

    async def do_something(self):
        self.index = self.wire.next_index
        if self.index and self.chance.random() < 0.2:  # what is accepted already is dropped, whatever it is
            self.index -= self.chance.randint(1, min(self.index, 5))
        self.doing = "publishing"
        listening = asyncio.ensure_future(self.listen())
        try:
            talking = asyncio.ensure_future(self.publish_and_part())
            await asyncio.wait([listening, talking], return_when=asyncio.FIRST_COMPLETED)
            if self.doing == "waiting" and not listening.done():
                await listening
            for task in (listening, talking):
                if task.done():
                    task.result()
        finally:
            for task in (listening, talking):
                task.cancel()
            await asyncio.gather(listening, talking, return_exceptions=True)

    async def do_wrong(self, data, *codes):
        self.blamed_for = self.blamed_for | set(codes)
        self.wire.put(data)
        await asyncio.Future()  # the listener hears the answer

    async def listen(self):
        """Until END: sums and indexes never go back."""
        below = 0
        while True:
            kind, body = await self.wire.hear()
            told = struct.unpack_from("<Q", body)[0]
            if kind == END:
                self.table.expect(self.doing == "waiting", f"{self.name()}: END unasked")
                return
            self.table.expect(below <= told, f"{self.name()}: accepted below {told} after {below}")
            below = told

    def size(self):
        kind = self.chance.random()
        if kind < 0.9:
            return self.chance.randint(0, 200)
        if kind < 0.97:
            return self.chance.randint(200, 5000)
        largest = self.wire.message_bytes_max
        return self.chance.choice([largest - 1, largest, largest + 1, largest * 2])

    def some_records(self, **wrong):
        made = []
        for _ in range(self.chance.choice(RECORDS_IN_A_FRAME)):
            if sum(map(len, made)) > self.wire.message_bytes_max:
                break
            made.append(record(self.under, self.index, self.size(), self.table.now_ns(), **wrong))
            self.index += 1
        return b"".join(made)

    async def publish_and_part(self):
        each_s = self.table.publish_every_s * self.chance.choice([0.3, 1, 1, 3])
        end_s = self.table.now_s() + self.chance.uniform(0, self.table.life_s)
        while not self.table.cleared:
            wait_s = self.chance.uniform(0, 2 * each_s)
            left_s = end_s - self.table.now_s()
            await self.table.sleep(max(0, min(wait_s, left_s)))
            if wait_s > left_s:
                break
            self.wire.put(frame(PUBLISH, self.some_records()))
            await self.wire.drain()
        self.doing = self.chance.choice(["ending", "ending", "leaving", "dying", "half-closing", "idling", "junk", "too long", "gap", "another's",
                                         "marked", "cut record", "not a sender's"])
        await getattr(self, "part_" + self.doing.replace(" ", "_").replace("-", "_").replace("'", ""))()

    async def part_ending(self):
        self.doing = "waiting"
        self.wire.put(frame(END, struct.pack("<Q", max(self.index, self.wire.next_index))))
        if self.chance.random() < 0.3:
            self.wire.half_close()

    async def part_leaving(self):
        pass

    async def part_dying(self):
        await self.die_within(frame(PUBLISH, self.some_records()))

    async def part_half_closing(self):
        self.wire.half_close()
        await self.pause(0.5)

    async def part_idling(self):
        await self.pause(self.table.idle_s)

    async def part_junk(self):
        await self.do_wrong(b"\xff" * 8 + self.junk(), FRAME)

    async def part_too_long(self):
        await self.do_wrong(frame(PUBLISH, size=self.chance.choice([self.wire.frame_bytes_max + 1, 1 << 31, (1 << 32) - 1])), FRAME)

    async def part_gap(self):
        await self.do_wrong(frame(PUBLISH, record(self.under, max(self.index, self.wire.next_index) + self.chance.randint(1, 9), 5, 1)), GAP)

    async def part_anothers(self):
        await self.do_wrong(frame(PUBLISH, record(self.under + 1, max(self.index, self.wire.next_index), 5, 1)), GAP)

    async def part_marked(self):
        self.index = max(self.index, self.wire.next_index)
        await self.do_wrong(frame(PUBLISH, self.some_records(**self.chance.choice([{"taken_in_ns": 5}, {"flags": REDELIVERED}]))), FRAME)

    async def part_cut_record(self):
        await self.do_wrong(frame(PUBLISH, self.some_records()[:-1] or b"x"), FRAME, GAP)

    async def part_not_a_senders(self):
        await self.do_wrong(self.chance.choice([frame(CONFIRM, bytes(16)), frame(DELIVER, bytes(8)), frame(99), frame(CREDIT, bytes(8)),
                                                frame(END, bytes(7))]), FRAME)


def confirm(wire, first, count, negative=False):
    wire.put(frame(CONFIRM, struct.pack("<QIBxxx", first, count, negative)))


class RandomReceiver(Client):
    ROLE = RECEIVER

    def is_lazy(self):
        """Some numbers may stop reading: they are cut off, and N2NQ does not take them back."""
        return self.under in self.table.lazy_receivers

    async def connect(self, number=None):
        # Whoever is cut off stays so.
        if self.number in self.table.cut_off:
            number = self.chance.choice(self.table.receivers_left())
        try:
            await super().connect(number)
        except Told as told:
            if told.code != TOO_SLOW or self.under not in self.table.lazy_receivers:
                raise
            self.table.cut_off.add(self.under)
            raise Closed("cut off") from told

    async def do_something(self):
        chance = self.chance
        self.doing, self.deliveries, self.lists, self.newest, self.later = "receiving", 0, 0, {}, []
        self.manner = chance.choice(["at once", "at once", "late", "never", "negatively", "bundled"]) if self.wire.responses else "not"
        if self.wire.requests:
            self.ask()
            self.wire.put(frame(CREDIT, struct.pack("<Q", chance.choice([1, 10, 1000]))))
        end_s = self.table.now_s() + chance.uniform(0, self.table.life_s)
        changing = asyncio.ensure_future(self.change_lists())
        try:
            while self.table.now_s() < end_s and not self.table.cleared:
                try:
                    kind, body = await asyncio.wait_for(self.wire.hear(), max(0.01, end_s - self.table.now_s()))
                except asyncio.TimeoutError:
                    break  # of a frame that has begun, part is gone: it is not listened to any more
                if kind == DELIVER:
                    self.take(body)
                elif kind == END:
                    return
                await self.wire.drain()
            self.doing = chance.choice(["ending", "leaving", "half-closing", "idling", "junk", "not sent", "twice", "not offered", "wrong rules"])
            await getattr(self, "part_" + self.doing.replace(" ", "_").replace("-", "_"))()
        finally:
            changing.cancel()

    def take(self, body):
        first = self.deliveries
        for at, fields in records_of(body):
            _, sender, index, _, _, taken_in_ns, flags, attempt, _ = fields
            self.deliveries += 1
            if self.chance.random() < 0.05:
                self.table.expect(is_intact(body, at, fields), f"{self.name()}: message {index} of sender {sender} is corrupt")
            self.table.expect(1 <= sender <= self.table.senders and attempt >= 1 and taken_in_ns > 0, f"{self.name()}: {fields}")
            if not flags & (REDELIVERED | NEWLY_MATCHED):
                before = self.newest.get(sender, -1)
                self.table.expect(index > before, f"{self.name()}: message {index} of sender {sender} after {before}")
                self.newest[sender] = index
        self.table.received += self.deliveries - first
        self.answer(first, self.deliveries - first)

    def answer(self, first, count):
        chance = self.chance
        if self.manner == "not":
            if self.wire.requests:
                self.wire.put(frame(CREDIT, struct.pack("<Q", count)))
            elif chance.random() < 0.05:
                self.wire.put(frame(HEARTBEAT))
        elif self.manner == "at once":
            confirm(self.wire, first, count)
        elif self.manner == "negatively":
            confirm(self.wire, first, count, negative=chance.random() < 0.5)
        elif self.manner == "bundled":
            self.later += range(first, first + count)
            if chance.random() < 0.2:
                chance.shuffle(self.later)
                self.wire.put(frame(CONFIRM, b"".join(struct.pack("<QIBxxx", number, 1, 0) for number in self.later)))
                self.later.clear()
        elif self.manner == "late":
            delay_s = chance.uniform(0, 2) * self.table.deadline_s
            asyncio.get_running_loop().call_later(delay_s, confirm, self.wire, first, count)

    async def change_lists(self):
        while self.wire.requests and self.chance.random() < 0.6:
            await self.pause(self.table.life_s)
            self.ask()

    def ask(self):
        """Never for sender 1: that one is the pair's."""
        entries = b""
        for _ in range(self.chance.choice([0, 1, 1, 1, 3])):
            first = self.chance.randint(2, self.table.senders)
            senders = first, self.chance.randint(first, self.table.senders)
            sizes = ANY if self.chance.random() < 0.9 else (0, self.chance.choice([50, 4000]))
            entries += struct.pack("<4I", *senders, *sizes)
        self.wire.put(frame(RULES, struct.pack("<II", self.lists, len(entries) // 16) + entries))
        self.lists += 1

    async def part_ending(self):
        self.wire.put(frame(END, bytes(8)))
        kind = None
        while kind != END:
            kind, body = await self.wire.hear()
            if kind == DELIVER:
                self.take(body)

    async def part_leaving(self):
        pass

    async def part_half_closing(self):
        self.wire.half_close()
        await self.pause(0.5)

    async def part_idling(self):
        """Takes nothing more, or only what Python reads ahead; who is not lazy not for so long that it is cut off."""
        if self.is_lazy():
            self.wire.writer.transport.pause_reading()
        await self.pause(self.table.lazy_s if self.is_lazy() else self.table.idle_s)

    async def part_junk(self):
        await self.do_wrong(b"\xff" * 8 + self.junk(), FRAME)

    async def part_not_sent(self):
        wrong = frame(CONFIRM, struct.pack("<QIBxxx", self.deliveries + 10_000_000, 1, 0))
        await self.do_wrong(wrong, CONFIRMATION if self.wire.responses else NOT_OFFERED)

    async def part_twice(self):
        wrong = frame(CONFIRM, struct.pack("<QIBxxx", 0, 1, 0) * 2)
        await self.do_wrong(wrong, CONFIRMATION if self.wire.responses else NOT_OFFERED)

    async def part_not_offered(self):
        if self.wire.requests:
            return
        await self.do_wrong(self.chance.choice([frame(CREDIT, bytes(8)), frame(RULES, bytes(8))]), NOT_OFFERED)

    async def part_wrong_rules(self):
        wrong = self.chance.choice([struct.pack("<II4I", self.lists, 1, 9, 2, *ANY), struct.pack("<II", self.lists, 1025) + bytes(16 * 1025)])
        await self.do_wrong(frame(RULES, wrong), RULES_WRONG if self.wire.requests else NOT_OFFERED, FRAME)


class Stranger(Client):
    """Never gets as far as being served; or is a clock probe."""
    ROLE = PROBER
    doing = "knocking"

    async def live(self):
        self.blamed_for, self.wire = {HANDSHAKE}, None
        token, pick = self.table.token, self.chance.choice
        wrong_hello = pick([
            (hello_frame(PROBER, 0, token=bytes(32)), TOKEN_WRONG), (hello_frame(9, 1, token=token), NUMBER),
            (hello_frame(SENDER, 0, token=token), NUMBER), (hello_frame(RECEIVER, 1 << 31, token=token), NUMBER),
            (hello_frame(SENDER, 2, token=token, version=7), VERSION), (hello_frame(SENDER, 2, token=token, magic=b"AMQP"), NOT_N2NQ),
            (frame(PUBLISH, bytes(48)), NOT_N2NQ), (frame(HELLO, size=1 << 31), NOT_N2NQ),
            (b"GET / HTTP/1.1\r\n\r\n" + self.junk(), NOT_N2NQ), (frame(HELLO, bytes(60)), NOT_N2NQ)])
        try:
            self.wire = await Wire.open(self.table.port, unix=self.chance.random() < 0.2)
            self.doing = pick(["saying nothing", "saying half", "saying wrong", "saying wrong", "probing", "probing without listening"])
            if self.doing == "saying nothing":
                await self.wire.hear()
            elif self.doing == "saying half":
                await self.die_within(wrong_hello[0])
            elif self.doing == "saying wrong":
                await self.do_wrong(*wrong_hello)
            else:
                await self.probe(listening=self.doing == "probing")
        finally:
            if self.wire:
                self.leave()

    async def probe(self, listening):
        await self.wire.greet(hello_frame(PROBER, 0, token=self.table.token))
        self.blamed_for = {SILENT}
        for i in range(self.chance.randint(1, 50)):
            self.wire.put(frame(PROBE, struct.pack("<q", i)) * (1 if listening else 50))
            await self.wire.drain()
            if listening:
                kind, body = await self.wire.hear()
                t1, t2, t3 = struct.unpack("<3q", body)
                self.table.expect(kind == PROBE_REPLY and t1 == i and t2 <= t3, f"{self.name()}: {kind} {body}")
                await self.pause(0.05)
