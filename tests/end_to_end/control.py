# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs n2nq-broker, n2nq-senders and n2nq-receivers over the control protocol, without the bench (docs/control-protocol.md)."""
import json
import subprocess
import threading
import time

from bench import BIN, DEADLINE_S

TOKEN = "ab" * 32
LEASE_S = 3


class Process:
    """One program and its two pipes. What it says is kept until it is waited for."""

    def __init__(self, program, prefix=(), stderr=None):
        self.program = program
        self.popen = subprocess.Popen([*prefix, BIN / program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, text=True)
        self.said, self.changed, self.ended = [], threading.Condition(), False
        self.writing = threading.Lock()
        self.gone = threading.Event()
        # A script that fails ends with them, and the program with its lease.
        self.threads = [threading.Thread(target=target, daemon=True) for target in (self.listen, self.keep_lease)]
        for thread in self.threads:
            thread.start()

    def listen(self):
        for line in self.popen.stdout:
            with self.changed:
                self.said.append(json.loads(line))
                self.changed.notify_all()
        with self.changed:
            self.ended = True
            self.changed.notify_all()

    def keep_lease(self):
        while not self.gone.wait(LEASE_S):
            self.write("\n")

    def write(self, text):
        with self.writing:
            try:
                self.popen.stdin.write(text)
                self.popen.stdin.flush()
            except OSError:
                pass  # whoever waits for an answer will say so

    def send(self, **message):
        self.write(json.dumps(message) + "\n")

    def wait_for(self, kind, timeout_s=DEADLINE_S, **wanted):
        """Takes the first message of this type with these values out of what was said, or waits for it."""
        wanted["type"] = kind
        deadline = time.monotonic() + timeout_s
        with self.changed:
            while True:
                for message in self.said:
                    if all(message.get(key) == value for key, value in wanted.items()):
                        self.said.remove(message)
                        return message
                if self.ended or not self.changed.wait(deadline - time.monotonic()):
                    raise AssertionError(f"{self.program} did not say {wanted}; it said {[str(m)[:300] for m in self.said]}")

    def close(self):
        self.gone.set()
        self.popen.kill()
        self.popen.wait()
        for thread in self.threads:
            thread.join()
        try:
            self.popen.stdin.close()
        except OSError:
            pass  # a line that it did not read any more
        self.popen.stdout.close()


def configure(role, **more):
    return {"type": "configure", "control": 1, "run": "test", "role": role, **{"token": TOKEN, **more}}


def start_broker(senders, receivers, prefix=(), address="127.0.0.1", limits=None, log_file="", **queue):
    """A broker and its port. The prefix goes before its command."""
    broker = Process("n2nq-broker", prefix)
    broker.send(**configure("broker", listen={"address": address, "port": 0}, expect={"senders": senders, "receivers": receivers},
                            queue={"retention_ms": 60000, **queue}, limits=limits or {}, log_file=log_file))
    return broker, broker.wait_for("hello")["port"]


def start_group(role, port, services, log_folder, prefix=(), address="127.0.0.1", **more):
    """A group of services (first, last, total), connecting to the broker at that address. Without a folder there are no logs."""
    log = {"mode": "all" if log_folder else "off", "sample_every": 1, "folder": str(log_folder or ""), "header": {}}
    group = Process(f"n2nq-{role}", prefix)
    group.send(**configure(role, system="n2nq", services=dict(zip(("first", "last", "total"), services)), staging_folder="/dev/shm",
                           log=log, **more))
    group.wait_for("hello")
    group.send(type="connect", address=address, port=port)
    return group


def indexes(text):
    """The set that a text such as "0-4,7" or, as a row of bits, "0:f9" names."""
    found = set()
    for part in filter(None, text.split(",")):
        row, _, digits = part.partition(":")
        if digits:
            bits = f"{int(digits, 16):0{4 * len(digits)}b}"
            found |= {int(row) + place for place, bit in enumerate(bits) if bit == "1"}
            continue
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


def copies(sets):
    """(sender, index) of [[first sender, last sender, "0-4,7"], …]."""
    return {(sender, index) for first, last, text in sets for sender in range(first, last + 1) for index in indexes(text)}
