# SPDX-License-Identifier: GPL-3.0-or-later
"""What is compared: N2NQ, the bare relay in its three kinds, and a bare client through that relay. run() runs one of them once."""
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "end_to_end"))
from bench import BIN  # noqa: E402
from control import TOKEN, Process, configure  # noqa: E402
from machine import Others, processor_s, resident_mib  # noqa: E402

START_AFTER_S = 0.3
RATE_FROM_S, RATE_TO_S = 0.5, 0.2  # a rate is taken between so long after the start and so long before the end
FLOORS = {"floor-read": "read", "floor-wake": "wake-up", "floor-kept": "kept"}
PLAIN_FLOORS = ("floor-read", "floor-wake")  # without what N2NQ does about its core


class Relay:
    """n2nq-floor; ends with its standard input."""

    def __init__(self, work, kind):
        pattern = "balance" if work.mode == "load-balancer" else "broadcast"
        self.popen = subprocess.Popen([BIN / "n2nq-floor", pattern, kind, str(work.senders), str(work.receivers)],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = int(self.popen.stdout.readline())
        self.pid = self.popen.pid

    def close(self):
        self.popen.communicate(timeout=10)


class Broker:
    def __init__(self, work, token=TOKEN, program="n2nq-broker", stderr=None):
        self.process = Process(program, stderr=stderr)
        self.process.send(**configure("broker", token=token, listen={"address": "127.0.0.1", "port": 0, "unix": work.transport == "unix"}, io=work.io, spin_us=work.spin_us, keep_core=work.keep_core,
                                      expect={"senders": work.senders, "receivers": work.receivers},
                                      queue={"mode": work.mode, "dispatch": "round-robin", "retention_ms": 60000, **work.queue},
                                      limits=work.limits))
        self.port = self.process.wait_for("hello")["port"]
        self.pid = self.process.popen.pid

    def close(self):
        self.process.send(type="bye")
        bye = self.process.wait_for("bye")
        self.process.close()
        return bye


def start_group(role, system, port, numbers, total, logs="", program="", stderr=None, transport="tcp", **more):
    """Services of these numbers (first, last), connecting."""
    group = Process(program or f"n2nq-{role}", stderr=stderr)
    group.send(**configure(role, system=system, services={"first": numbers[0], "last": numbers[1], "total": total}, staging_folder="/dev/shm",
                           log={"mode": "all" if logs else "off", "sample_every": 1, "folder": f"{logs}/{role}" if logs else "", "header": {}},
                           **more))
    group.wait_for("hello")
    group.send(type="connect", address="127.0.0.1", port=port, transport=transport)
    return group


def load_of(work, seconds):
    return {"messages": None, "duration_ms": int(seconds * 1000), "size_bytes": [work.size_bytes] * 2,
            "interval_ns": {"num": work.interval_ns, "den": 1}, "start": work.start}


def rate_between(receivers, begin_ns, seconds):
    """Deliveries a second in the middle of the run, from two answers of the receivers."""
    seen = []
    for at_s in (RATE_FROM_S, seconds - RATE_TO_S):
        time.sleep(max(0, begin_ns / 1e9 + at_s - time.monotonic()))
        receivers.send(type="stats", id=len(seen), services=[])
        seen.append(receivers.wait_for("stats", id=len(seen)))
    return (seen[1]["received"] - seen[0]["received"]) / (seen[1]["now_ns"] - seen[0]["now_ns"]) * 1e9


def check(work, sent, received, ledger_is_complete):
    """A run that lost something has no figures."""
    wrong = {key: received[key] for key in ("duplicated", "out_of_order", "unexpected", "bad_checksum", "negative") if received[key]}
    copies = work.receivers if work.mode == "broadcaster" else 1
    if ledger_is_complete and received["received"] != sent["attempted"] * copies:
        wrong["received"] = (received["received"], sent["attempted"] * copies)
    if (ledger_is_complete and (sent["faults"] or received["faults"])) or wrong:
        raise AssertionError(f"{work.name}: {wrong} {sent['faults'][:3]} {received['faults'][:3]}")


def run(work, side, seconds, during=None):
    """Runs a work once against "broker" or one of FLOORS. `during(groups, begin_ns)` may do something meanwhile."""
    server = Broker(work) if side == "broker" else Relay(work, FLOORS[side])
    system = "n2nq" if side == "broker" else "floor"
    groups = []
    try:
        receivers = start_group("receivers", system, server.port, (1, work.receivers), work.receivers, work.logs, senders_total=work.senders,
                                queue_mode=work.mode, transport=work.transport, **work.of_receivers)
        groups.append(receivers)
        senders = start_group("senders", system, server.port, (1, work.senders), work.senders, work.logs, seed=1, load=load_of(work, seconds),
                              transport=work.transport)
        groups.append(senders)
        for group in groups:
            group.wait_for("state", state="connected")
        used_before_s = processor_s(server.pid)
        others = Others([server.pid, receivers.popen.pid, senders.popen.pid])
        begin_ns = time.monotonic_ns() + int(START_AFTER_S * 1e9)
        for group in groups:
            group.send(type="start", at_broker_ns=begin_ns)
        told = during(work, server, receivers, senders, begin_ns, seconds) if during else {}
        rate = rate_between(receivers, begin_ns, seconds) if work.interval_ns == 0 else None
        for group in (senders, receivers):
            group.wait_for("state", state="ended")
        others_share = others.share()
        used_s = processor_s(server.pid) - used_before_s
        peak_mib = resident_mib(server.pid)
        for group in groups:
            group.send(type="bye")
        received, sent = receivers.wait_for("bye"), senders.wait_for("bye")
        check(work, sent, received, work.complete)
        latency = received["figures"]["latency"]
        result = {"p50": latency["p50_ns"] / 1e3, "p99": latency["p99_ns"] / 1e3, "count": received["received"],
                  "cpu": used_s / max(received["received"], 1) * 1e6, "peak_mib": peak_mib, "others": others_share,
                  "delay_p99": (sent["figures"]["delay"]["p99_ns"] or 0) / 1e3,
                  # of a receiver beside the first one, which may be made to misbehave
                  "p99_beside": statistics.median((s["figures"]["latency"]["p99_ns"] or 0) / 1e3 for s in received["services"][-9:]),
                  "log": received["log"], **told}
        if rate is not None:
            result["rate"] = rate
        return result
    finally:
        for group in groups:
            group.close()
        server.close()


def run_bare(work, side, seconds):
    """The same traffic by n2nq-bare-client, through the relay or N2NQ."""
    server = Broker(work, token="") if side == "broker" else Relay(work, FLOORS[side])
    try:
        others = Others([server.pid])
        output = subprocess.run([BIN / "n2nq-bare-client", "n2nq" if side == "broker" else "floor", str(server.port), str(work.senders),
                                 str(work.receivers), str(work.size_bytes), str(work.interval_ns), work.start, str(seconds)],
                                check=True, capture_output=True, text=True, timeout=seconds + 60).stdout
        result = json.loads(output)
        result["others"] = others.share()
        result["cpu"] = processor_s(server.pid) / max(result["count"], 1) * 1e6
        return result
    finally:
        server.close()
