# SPDX-License-Identifier: GPL-3.0-or-later
"""The wire protocol (docs/wire-protocol.md) for clients that do right or wrong on purpose, in asyncio: frames, and connections that carry them."""
import asyncio
import pathlib
import socket
import struct
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "docs/examples"))
from n2nq_client import (CONFIRM, CREDIT, DELIVER, END, ERROR, HEARTBEAT, HELLO, PROBE, PROBE_REPLY, PUBLISH, RECORD, RULES,  # noqa: E402,F401
                         SKIPPED, WELCOME, crc32c)

SENDER, RECEIVER, PROBER = 1, 2, 3  # roles
# Codes of ERROR
(NOT_N2NQ, VERSION, TOKEN_WRONG, NUMBER, FRAME, GAP, CONFIRMATION, TOO_MANY, REPLACED, TOO_SLOW, SILENT, HANDSHAKE, ENDING, NOT_OFFERED,
 RULES_WRONG) = range(1, 16)
REDELIVERED, NEWLY_MATCHED = 2, 4  # flags
ANY = (0, 0xFFFFFFFF)
LETTERS = bytes(65 + i * 7 % 26 for i in range(1 << 18))
CHECKED_BYTES_MAX = 256  # payloads above it have no checksum: it would take this program longer than all the rest
HEADER = struct.Struct("<IBBH")


class Told(Exception):
    """An ERROR frame."""

    def __init__(self, body):
        self.code, self.text = body[0], body[8:].decode()
        super().__init__(f"error {self.code}: {self.text}")


class Closed(Exception):
    """The connection is gone, without a word."""


def frame(kind, body=b"", size=None):
    return HEADER.pack(len(body) if size is None else size, kind, 0, 0) + body


def hello_frame(role, number, session=0, token=b"", magic=b"N2NQ", version=1):
    return frame(HELLO, struct.pack("<4sHBxIIQ32s", magic, version, role, number, session, 0, token))


def record(sender, index, size, now_ns, taken_in_ns=0, flags=0):
    head = struct.pack("<IIQqq", size, sender, index, now_ns, now_ns)
    letters = LETTERS[:size]
    checksum = crc32c(head + letters) if size <= CHECKED_BYTES_MAX else 0
    return head + struct.pack("<qHHI", taken_in_ns, flags, 0, checksum) + letters


def records_of(body):
    """(offset, fields) of each record of a DELIVER."""
    at = 8
    while at < len(body):
        fields = RECORD.unpack_from(body, at)
        yield at, fields
        at += RECORD.size + fields[0]


def is_intact(body, at, fields):
    return fields[0] > CHECKED_BYTES_MAX or crc32c(body[at:at + 32] + body[at + 48:at + 48 + fields[0]]) == fields[8]


class Wire:
    """A connection, by TCP or by N2NQ's Unix-domain name, and frames on it."""

    @classmethod
    async def open(cls, port, unix=False, receive_bytes=None):
        self = cls()
        self.half_closed = False
        self.heard_of = None  # the header of a frame whose body is still to come: who listens may be called away in between
        self.frame_bytes_max = 2048
        family, address = (socket.AF_UNIX, f"\0n2nq-{port}") if unix else (socket.AF_INET, ("127.0.0.1", port))
        self.socket = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        try:
            if receive_bytes:
                self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
            while True:
                try:
                    await asyncio.get_running_loop().sock_connect(self.socket, address)
                    break
                except BlockingIOError:  # a Unix-domain backlog that is full
                    await asyncio.sleep(0.01)
            if not unix:
                self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.reader, self.writer = await asyncio.open_connection(sock=self.socket, limit=1 << 17)
        except BaseException as error:
            self.socket.close()
            if isinstance(error, OSError):
                raise Closed(f"connecting: {error}") from error
            raise
        return self

    async def greet(self, hello):
        """WELCOME's fields as attributes."""
        self.put(hello)
        self.said_hello_s = time.monotonic()
        kind, body = await self.hear()
        if kind != WELCOME:
            raise AssertionError(f"a frame of type {kind} before WELCOME")
        (_, _, features, self.heartbeat_ms, self.message_bytes_max, self.frame_bytes_max, _, self.next_index, self.window, _,
         _) = struct.unpack("<HBBIIIQQIIq", body)
        self.responses, self.requests = features & 1, features & 2

    def put(self, data):
        """What comes too late, when this end is closed, is forgotten."""
        if not self.half_closed and not self.writer.is_closing():
            self.writer.write(data)

    async def drain(self):
        """Waits until the kernel takes more: N2NQ may hold senders back."""
        try:
            await self.writer.drain()
        except OSError as error:
            raise Closed(str(error)) from error

    async def hear(self):
        """The next frame but HEARTBEAT. Raises Told or Closed."""
        try:
            while True:
                self.heard_of = self.heard_of or HEADER.unpack(await self.reader.readexactly(HEADER.size))
                size, kind, zero, also_zero = self.heard_of
                if zero or also_zero or size > self.frame_bytes_max:
                    raise AssertionError(f"N2NQ sent a malformed frame: {self.heard_of}")
                body = await self.reader.readexactly(size)
                self.heard_of = None
                if kind == ERROR:
                    raise Told(body)
                if kind != HEARTBEAT:
                    return kind, body
        except (OSError, asyncio.IncompleteReadError) as error:
            raise Closed(str(error)) from error

    def reset(self):
        """Gone without a word: whoever writes to it is told by RST."""
        if self.socket.family == socket.AF_INET and self.socket.fileno() >= 0:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()

    def half_close(self):
        self.half_closed = True
        try:
            self.writer.write_eof()
        except OSError as error:
            raise Closed(str(error)) from error

    def close(self):
        self.writer.close()
