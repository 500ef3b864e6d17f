#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A sender and a receiver for N2NQ in plain Python, written from docs/wire-protocol.md and from nothing else.

    n2nq_client.py send    HOST PORT NUMBER [--messages 20] [--size 50] [--delay-ms 10] [--warm-up 5]
    n2nq_client.py receive HOST PORT NUMBER [--rules 1-3:any,4:20-100] [--then 10 none] [--credit 1]
    both: [--token 64 HEX DIGITS] [--session 1]    (one more each time the same NUMBER connects again)

Needs Python 3.9 and no packages. Responses and requests are used when N2NQ says that the run has them on. `--rules` are SENDERS:SIZES,
each a number, a range or `any`; `none` asks for nothing; `--then 10 LIST` asks for another list after ten deliveries. `--warm-up 5`: so many first.
With `--session` above 0 `--rules` need requests to be on; without them the list of before holds.
What happens is written to stdout, tab-separated:  connected VERSION MODE  sent INDEX LETTERS  accepted BELOW  refused FROM TO REASON
    delivered SENDER INDEX ATTEMPT FLAGS LATENCY_US LETTERS  corrupt SENDER INDEX  skipped SENDER REASON FROM TO  end TOTALS…
"""
import argparse, random, select, socket, struct, sys, time

_, HELLO, WELCOME, PUBLISH, DELIVER, CONFIRM, RULES, CREDIT, ACCEPTED, SKIPPED, PROBE, PROBE_REPLY, END, ERROR, HEARTBEAT = range(15)
RECORD = struct.Struct("<IIQqqqHHI")  # size, sender, index, intended, sent, taken in, flags, attempt, checksum

CRC_TABLE = []  # CRC-32C: polynomial 0x1EDC6F41, bits reversed
for byte in range(256):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
    CRC_TABLE.append(byte)

def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = CRC_TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF

def tell(*words):
    print(*words, sep="\t", flush=True)

def frame_of(kind, body=b""):
    return struct.pack("<IBBH", len(body), kind, 0, 0) + body

class Connection:
    """Frames to and from N2NQ, and the heartbeats between them."""
    def __init__(self, args, role, behind_hello=b""):
        self.socket = socket.create_connection((args.host, args.port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer, self.body_max, self.heartbeat_s, self.heard_s = b"", 2048, 10, time.monotonic()
        token = bytes.fromhex(args.token or "00" * 32)
        hello = struct.pack("<4sHBxIIQ32s", b"N2NQ", 1, role, args.number, args.session, 0, token)
        self.write(frame_of(HELLO, hello) + behind_hello)
        kind, body = self.frame()
        if kind != WELCOME:
            sys.exit(f"expected WELCOME, got a frame of type {kind}")
        version, mode, features, heartbeat_ms, _, self.body_max, _, self.next_index, _, _, _ = struct.unpack("<HBBIIIQQIIq", body)
        self.responses, self.requests, self.heartbeat_s = features & 1, features & 2, heartbeat_ms / 1000 or 1e9
        tell("connected", version, mode)

    def send(self, kind, body=b""):
        self.write(frame_of(kind, body))

    def write(self, frames):
        self.socket.sendall(frames)
        self.sent_s = time.monotonic()

    def frame(self, until_s=float("inf")):
        """The next frame as (type, body); (None, b"") when none is complete by then."""
        while True:
            if len(self.buffer) >= 8:
                size, kind, zero, also_zero = struct.unpack_from("<IBBH", self.buffer)
                if size > self.body_max or zero or also_zero:
                    sys.exit("N2NQ sent a malformed frame")
                if len(self.buffer) >= 8 + size:
                    body, self.buffer = self.buffer[8:8 + size], self.buffer[8 + size:]
                    if kind == ERROR:
                        sys.exit(f"N2NQ says: error {body[0]}: {body[8:].decode()}")
                    if kind != HEARTBEAT:
                        return kind, body
                    continue
            now_s = time.monotonic()
            if now_s - self.sent_s > self.heartbeat_s / 4:  # a third is asked for
                self.send(HEARTBEAT)
            if now_s >= until_s:
                return None, b""
            if select.select([self.socket], [], [], min(until_s - now_s, self.heartbeat_s / 10))[0]:
                data = self.socket.recv(1 << 18)
                self.read_ns, self.heard_s = time.monotonic_ns(), time.monotonic()  # what this read completes is received now
                if not data:
                    sys.exit("N2NQ closed the connection")
                self.buffer += data
            elif time.monotonic() - self.heard_s > 1.5 * self.heartbeat_s:  # and nothing lies there: whoever was held up reads first
                sys.exit("nothing heard from N2NQ")

def send(args):
    n2nq, period_ns = Connection(args, role=1), round(args.delay_ms * 1e6)
    start_ns = time.monotonic_ns() - n2nq.next_index * period_ns

    def hear(until_s=float("inf")):
        kind, body = n2nq.frame(until_s)
        if kind:
            tell("accepted" if kind == ACCEPTED else "end", *struct.unpack_from("<Q", body))
            for first, last, reason, _ in struct.iter_unpack("<QQII", body[8:]):
                tell("refused", first, last, reason)
        return kind

    for index in range(n2nq.next_index, args.messages):
        intended_ns = start_ns + index * period_ns
        while hear(intended_ns / 1e9):
            pass
        letters = bytes(random.choices(range(65, 91), k=args.size))
        head = struct.pack("<IIQqq", args.size, args.number, index, intended_ns, time.monotonic_ns())
        n2nq.send(PUBLISH, head + struct.pack("<qHHI", 0, index < args.warm_up, 0, crc32c(head + letters)) + letters)
        tell("sent", index, letters.decode())
    n2nq.send(END, struct.pack("<Q", max(n2nq.next_index, args.messages)))
    while hear() != END:
        pass

def span(text):  # "3", "1-3" or "any"
    first, _, last = text.partition("-")
    return (0, 0xFFFFFFFF) if text == "any" else (int(first), int(last or first))

def receive(args):
    def rules(text, number):
        entries = [] if text == "none" else [[*map(span, rule.split(":"))] for rule in text.split(",")]
        return frame_of(RULES, struct.pack("<II", number, len(entries)) + b"".join(struct.pack("<4I", *s, *z) for s, z in entries))

    # Who comes back asks in one write with HELLO: N2NQ may have nothing left for its list before, and would say END.
    comes_back = args.session > 0 and args.rules is not None
    n2nq, deliveries, kind = Connection(args, role=2, behind_hello=rules(args.rules, 0) if comes_back else b""), 0, None
    if n2nq.requests:
        if args.session == 0:
            n2nq.write(rules(args.rules or "any:any", 0))  # before the credit: until then it asks for anything
        n2nq.send(CREDIT, struct.pack("<Q", args.credit))
    while kind != END:
        kind, body = n2nq.frame()
        if kind == SKIPPED:
            for entry in struct.iter_unpack("<IIQQ", body):
                tell("skipped", *entry)
        elif kind == DELIVER:
            at, before, answers = 8, deliveries, []  # [first delivery, how many, wrong]
            while at < len(body):
                size, sender, index, _, sent_ns, _, flags, attempt, checksum = RECORD.unpack_from(body, at)
                letters = body[at + 48:at + 48 + size]
                wrong = crc32c(body[at:at + 32] + letters) != checksum
                told = [attempt, flags, (n2nq.read_ns - sent_ns) / 1e3, letters.decode()] if not wrong else []
                tell("corrupt" if wrong else "delivered", sender, index, *told)
                if answers and answers[-1][2] == wrong:
                    answers[-1][1] += 1
                else:
                    answers.append([deliveries, 1, wrong])
                at, deliveries = at + 48 + size, deliveries + 1
                if n2nq.requests and args.then and deliveries == int(args.then[0]):
                    n2nq.write(rules(args.then[1], 1))
            if n2nq.responses:  # that gives the credit back, too
                for some in range(0, len(answers), 4096):  # as many as a frame may have
                    n2nq.send(CONFIRM, b"".join(struct.pack("<QIBxxx", *answer) for answer in answers[some:some + 4096]))
            elif n2nq.requests:
                n2nq.send(CREDIT, struct.pack("<Q", deliveries - before))
    tell("end", *struct.unpack("<7Q", body))

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, kind, default in [("what", str, None), ("host", str, None), ("port", int, None), ("number", int, None), ("--messages", int, 20),
                                ("--size", int, 50), ("--delay-ms", float, 10), ("--rules", str, None), ("--credit", int, 1),
                                ("--token", str, ""), ("--session", int, 0), ("--warm-up", int, 0)]:
        parser.add_argument(name, type=kind, default=default)
    parser.add_argument("--then", nargs=2)
    arguments = parser.parse_args()
    {"send": send, "receive": receive}[arguments.what](arguments)
