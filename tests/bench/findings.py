# SPDX-License-Identifier: GPL-3.0-or-later
"""What is found out about N2NQ alone, without a comparison: a Finding for each row."""
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from figures import Finding, interval, said, verdict
from repeats import repeats
from sides import BIN, START_AFTER_S, Broker, load_of, run, start_group
from variants import wait_until
from works import Work
# Of the folder that sides adds to the path
from control import DEADLINE_S, TOKEN, start_broker
from random_wire import ERROR, FRAME, HEADER, HELLO, NOT_N2NQ, RECEIVER, SENDER, TOKEN_WRONG, WELCOME, hello_frame

MANY = Work("thousand", "load-balancer", 1000, 1000, 1_000_000_000, {})
STEADY = Work("steady", "load-balancer", 20, 20, 10_000_000, {})
# The works of which allocations are counted
COUNTED = (STEADY, replace(STEADY, mode="broadcaster"), replace(STEADY, queue={"responses": True}),
           replace(STEADY, queue={"requests": True}, of_receivers={"requests": []}))
FULL = Work("killed", "load-balancer", 50, 50, 0, {}, queue={"responses": True})
MEMORY_MAX_MIB = 100
POLL_S = 0.005
TRACED_S = 10
# A timer is read and set to wait for the next message's time.
CALLS = {"send", "sendto", "sendmsg", "recv", "recvfrom", "recvmsg", "epoll_wait", "epoll_pwait", "poll", "restart_syscall", "read", "timerfd_settime"}
CALLS_AIM, OTHER_CALLS_MAX = "only send, receive, wait", 0.001
ALLOCATIONS_MAX = {"senders": 0, "receivers": 0, "broker": 0.001}  # per message; N2NQ: lists that grow still, and what it does once a second
COUNTED_FROM_S, COUNTED_S = 2, 3  # buffers have grown to what they need by then
KILLS, KILL_RUN_S = 50, 2
WINDOWS = 25 * 256  # of those that are killed: what they may have got and not confirmed
REFUSED, CUT_OFF = 100, 10  # times
MIB = 1 << 20
BEHIND = 0.1
AWAY = Work("absent", "broadcaster", 500, 50, 100_000_000, {}, queue={"retention_ms": 1000})
AWAY_RECEIVERS, AWAY_S, AWAY_AIM = 950, 8, 1.20
LARGE = Work("large", "broadcaster", 1, 1, 0, {}, size_bytes=MIB)
ROUNDS_PER_PAIR = 3  # figures of one whole run differ more from those of the next than the pairs of a work do


def thousand(seconds, _pairs):
    """1,000 senders and 1,000 receivers, a message a second each. run() raises unless all is there, once and in order."""
    result = run(MANY, "broker", max(seconds, 3))
    return [Finding("1,000 x 1,000, load balancer, 1 s", f"p50 {result['p50']:,.0f} µs, p99 {result['p99']:,.0f} µs, nothing lost, doubled or out of order", "that", "yes"),
            Finding("1,000 x 1,000: most memory of the broker", f"{result['peak_mib']:.0f} MiB", f"under {MEMORY_MAX_MIB} MiB",
                    said(result["peak_mib"] < MEMORY_MAX_MIB))]


@contextlib.contextmanager
def started(work, seconds, parts=1, program="n2nq-{}", **more):
    """N2NQ, receivers in so many processes, then senders; all connected. `program` may name others, with {} for the role. All end here."""
    each = work.receivers // parts
    with contextlib.ExitStack() as ending:
        broker = Broker(work, program=program.format("broker"), **more)
        ending.callback(broker.process.close)
        groups = []
        for role, numbers, total, own in (
                *(("receivers", (1 + i * each, (i + 1) * each), work.receivers,
                   {"senders_total": work.senders, "queue_mode": work.mode, **work.of_receivers}) for i in range(parts)),
                ("senders", (1, work.senders), work.senders, {"seed": 1, "load": load_of(work, seconds)})):
            groups.append(start_group(role, "n2nq", broker.port, numbers, total, program=program.format(role), **own, **more))
            ending.callback(groups[-1].close)
        for group in groups:
            group.wait_for("state", state="connected")
        yield broker, groups


def start(groups):
    begin_ns = time.monotonic_ns() + int(START_AFTER_S * 1e9)
    for group in groups:
        group.send(type="start", at_broker_ns=begin_ns)
    return begin_ns


def kill_once(seconds):
    """Half of the receivers, one process, is killed at full load with responses: how long until the others have what it had not confirmed."""
    with started(FULL, seconds, parts=2) as (broker, groups):
        doomed, others, senders = groups
        begin_ns = start(groups)
        wait_until(begin_ns, seconds / 2)
        os.kill(doomed.popen.pid, signal.SIGKILL)
        killed_at = time.monotonic()
        redelivered, complete_after_s, asked, ended = 0, 0.0, 0, False
        while not ended:  # once more behind their end: then nothing is to come
            assert time.monotonic() < killed_at + seconds + DEADLINE_S, "the receivers that were left did not end"
            others.send(type="stats", id=asked, services=[])
            told = others.wait_for("stats", id=asked)
            asked += 1
            ended = told["state"] == "ended"
            if told["redelivered"] != redelivered:
                redelivered, complete_after_s = told["redelivered"], time.monotonic() - killed_at
            time.sleep(POLL_S)
        for group in (senders, others):
            group.wait_for("state", state="ended")
        for group in (senders, others):
            group.send(type="bye")
        sent, received = senders.wait_for("bye"), others.wait_for("bye")
        for group in groups:
            group.close()
        summary = broker.close()
    # What was accepted was confirmed, by the killed receivers or by the others, or N2NQ says what became of it.
    lost = sent["accepted"] - sum(receiver["confirmed"] for receiver in summary["receivers"]) - sum(
        summary["total"][key] for key in ("expired", "unrequested", "parked", "cut_off", "still_queued"))
    return complete_after_s * 1e3, redelivered, lost, received["duplicated"]


def killed(_seconds, _pairs):
    """The same many times: it is a rare moment that a kill has to meet for something to go wrong."""
    times_ms, redelivered, lost, duplicated = zip(*(kill_once(KILL_RUN_S) for _ in range(KILLS)))
    what = f"kill -9 of 25 of 50 receivers, load balancer, responses, as fast as it goes, {KILLS} times"
    return [Finding(what + ": the last redelivered message after", f"median {statistics.median(times_ms):.0f} ms, longest {max(times_ms):.0f} ms "
                    f"({min(redelivered):,} to {max(redelivered):,} redelivered)", "1 s", said(max(times_ms) <= 1000)),
            Finding(what + ": lost in all; duplicated, most in a run", f"{sum(lost)}; {max(duplicated)}", f"0; at most {WINDOWS}",
                    said(not any(lost) and max(duplicated) <= WINDOWS))]


def said_hello(connection, role, number):
    connection.sendall(hello_frame(role, number, token=bytes.fromhex(TOKEN)))
    size, kind, _, _ = HEADER.unpack(connection.recv(HEADER.size, socket.MSG_WAITALL))
    connection.recv(size, socket.MSG_WAITALL)
    assert kind == WELCOME, kind


def refused_after_s(port, wrong, code, greeted_as=None):
    """How long until N2NQ has closed the connection, behind an ERROR with this code, of who says something wrong: at first, or as a sender."""
    with socket.create_connection(("127.0.0.1", port), timeout=DEADLINE_S) as connection:
        if greeted_as:
            said_hello(connection, SENDER, greeted_as)
        began_s, heard = time.monotonic(), b""
        connection.sendall(wrong)
        while part := connection.recv(4096):
            heard += part
        after_s = time.monotonic() - began_s
    assert (heard[4], heard[HEADER.size]) == (ERROR, code), heard
    return after_s


def cut_off_after_s():
    """How long N2NQ bears, from the first message on, a receiver that takes hardly a byte of a hundred of 1 MiB, where 1 MiB may be pending."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder, socket.socket() as receiver:
        log = Path(folder, "broker.log")
        processes = []
        try:
            broker, port = start_broker(1, 1, limits={"pending_bytes": MIB}, log_file=str(log))
            processes.append(broker)
            receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 128)
            receiver.connect(("127.0.0.1", port))
            said_hello(receiver, RECEIVER, 1)
            senders = start_group("senders", "n2nq", port, (1, 1), 1, seed=1, load={**load_of(LARGE, 0), "messages": 100, "duration_ms": None})
            processes.append(senders)
            senders.wait_for("state", state="connected")
            begin_ns = start([senders])
            while not re.search(r"R001.* left: .*pending bytes", log.read_text()):
                assert time.monotonic() < begin_ns / 1e9 + DEADLINE_S, log.read_text()
                time.sleep(POLL_S)
            return time.monotonic() - begin_ns / 1e9
        finally:
            for process in processes:
                process.close()


def refusals(_seconds, _pairs):
    """How soon N2NQ closes what it can do nothing with."""
    broker, port = start_broker(REFUSED, 1)
    lines = b"\0" + (b"A" * 1023 + b"\n") * 50  # every header behind it is read from somewhere else
    try:
        times_s = {
            "a header with a length of 2^31": [refused_after_s(port, HEADER.pack(1 << 31, HELLO, 0, 0), NOT_N2NQ) for _ in range(REFUSED)],
            "a sender's stream shifted by a byte": [refused_after_s(port, lines, FRAME, greeted_as=1 + i) for i in range(REFUSED)],
            "a wrong token": [refused_after_s(port, hello_frame(RECEIVER, 1, token=bytes(32)), TOKEN_WRONG) for _ in range(REFUSED)]}
    finally:
        broker.close()
    times_s = {f"{what}, {len(after_s)} times: closed after at most": max(after_s) for what, after_s in times_s.items()}
    times_s[f"a receiver that does not read, 100 messages of 1 MiB, 1 MiB pending, {CUT_OFF} times: cut off after at most"] = max(
        cut_off_after_s() for _ in range(CUT_OFF))
    return [Finding(what, f"{after_s * 1e3:.1f} ms", f"{aim_s} s", said(after_s <= aim_s)) for (what, after_s), aim_s in zip(times_s.items(), (1, 1, 2, 2))]


def system_calls(_seconds, _pairs):
    """What each process calls in a steady run, per message."""
    if not shutil.which("strace"):
        return [Finding("system calls per message", "not measured: there is no strace here (apt install strace)", CALLS_AIM)]
    found = []
    with started(STEADY, TRACED_S + 2) as (broker, groups), tempfile.TemporaryDirectory() as folder:
        start(groups)
        time.sleep(START_AFTER_S + 0.5)
        pids = {"n2nq-receivers": groups[0].popen.pid, "n2nq-senders": groups[1].popen.pid, "n2nq-broker": broker.pid}
        tracers = [subprocess.Popen(["strace", "-f", "-c", "-U", "name,calls", "-o", f"{folder}/{name}", "-p", str(pid)], stderr=subprocess.DEVNULL)
                   for name, pid in pids.items()]
        time.sleep(TRACED_S)
        for tracer in tracers:
            tracer.send_signal(signal.SIGINT)
            tracer.wait()
        messages = STEADY.senders * TRACED_S * 1_000_000_000 / STEADY.interval_ns
        for name in pids:
            with open(f"{folder}/{name}", encoding="ascii") as counted:
                calls = dict(re.findall(r"^ *(\w+) +(\d+) *$", counted.read(), re.MULTILINE))
            calls.pop("total", None)
            text = ", ".join(f"{call} {int(count) / messages:.3f}" for call, count in sorted(calls.items(), key=lambda item: -int(item[1])))
            others = sum(int(count) for call, count in calls.items() if call not in CALLS)
            found.append(Finding(f"system calls per message, {name}, load balancer 20 x 20, 0.01 s", text, CALLS_AIM, said(others / messages < OTHER_CALLS_MAX)))
        for group in reversed(groups):
            group.wait_for("state", state="ended")
    return found


def allocations_of(process):
    """So far, by one of the programs that count."""
    process.popen.send_signal(signal.SIGUSR1)
    return int.from_bytes(os.read(process.popen.stderr.fileno(), 8), "little")


def allocations_in(work, spans, span_s=COUNTED_S):
    """How often each program calls operator new in spans of a steady run, one behind the other: ({program: calls}, messages sent) of each."""
    with started(work, COUNTED_FROM_S + spans * span_s + 0.5, program="n2nq-{}-counted", stderr=subprocess.PIPE) as (broker, groups), \
            contextlib.ExitStack() as ending:
        receivers, senders = groups
        processes = {"broker": broker.process, "receivers": receivers, "senders": senders}
        for process in processes.values():
            ending.callback(process.popen.stderr.close)

        def count():
            return {name: allocations_of(process) for name, process in processes.items()}

        def sent():  # asked between the spans, for who answers allocates
            senders.send(type="stats", id=0, services=[])
            return senders.wait_for("stats")["attempted"]

        begin_ns = start(groups)
        for i in range(spans):
            wait_until(begin_ns, COUNTED_FROM_S + i * span_s)
            sent_before, before = sent(), count()
            wait_until(begin_ns, COUNTED_FROM_S + (i + 1) * span_s)
            after = count()
            yield {name: after[name] - before[name] for name in processes}, sent() - sent_before
        for group in reversed(groups):
            group.wait_for("state", state="ended")


def few_allocations(calls, messages):
    return all(calls[name] <= most * messages for name, most in ALLOCATIONS_MAX.items())


def allocations(_seconds, _pairs):
    """The same per message, in one span of each work."""
    found = []
    for work in COUNTED:
        [(calls, messages)] = allocations_in(work, 1)
        text = ", ".join(f"{name} {count / messages:.4f}" for name, count in calls.items())
        features = "".join(f", {feature} on" for feature in work.queue)
        found.append(Finding(f"allocations per message, {work.mode} 20 x 20{features}, 0.01 s", text, "0 (N2NQ: at most 0.001)", said(few_allocations(calls, messages))))
    return found


def ratios_of(rounds):
    """Of (without, with, without again): with against the mean of both others, and the others against each other, each with its interval."""
    return [interval(values) for values in ([changed / statistics.mean((here, again)) for here, changed, again in rounds],
                                            [again / here for here, _, again in rounds])]


def told_of(rounds):
    return ["{:.3f} ({:.3f} to {:.3f})".format(*found) for found in ratios_of(rounds)]


def window(seconds, pairs):
    """200 + 200 services with the window open and charting (offscreen), between two runs without a window; the same settings."""
    seconds = max(int(seconds), 10)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:

        def opened():
            told = subprocess.run([BIN / "measure_window", str(seconds)], capture_output=True, text=True, check=True,
                                  env={**os.environ, "QT_QPA_PLATFORM": "offscreen"}).stdout
            return tuple(float(value) for value in re.search(r"latency p50, p99 +([\d.]+) +([\d.]+) µs", told).groups())

        def headless(name):
            told = subprocess.run([BIN / "n2nq-bench", "run", "many-services", "--set", f"senders.messages={seconds * 10}", "--json", "--out",
                                   f"{folder}/{name}"], capture_output=True, text=True, check=True).stdout
            latency = json.loads(told.splitlines()[-1])["latency_us"]
            return latency["p50"], latency["p99"]

        rounds = [(headless(f"{i}"), opened(), headless(f"{i}-again")) for i in range(ROUNDS_PER_PAIR * pairs)]
    found = []
    for i, (figure, aim) in enumerate((("p50", "1.02"), ("p99", "1.10"))):
        of_figure = [[one[i] for one in each] for each in rounds]
        changed, alike = told_of(of_figure)
        ratio, aa = ratios_of(of_figure)
        met = verdict(ratio, float(aim), aa, at_least=False, pairs=pairs)
        text = "; ".join(f"{here:,.0f}/{there:,.0f}/{again:,.0f}" for here, there, again in of_figure)
        found.append(Finding(f"window open, 200 + 200 services, against headless: {figure}, and headless against headless",
                             f"{changed}, {alike}; {figure} in µs headless/open/headless: {text}", aim, met))
    return found


def over_ssh(seconds, pairs):
    """The same run by local processes, through SSH to a pretend host on this machine, and by local processes again; each round gives a ratio and a spread."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "end_to_end"))
    from lab import Lab

    shape = {"senders.amount": 50, "receivers.amount": 50, "senders.delay_ms": 100, "senders.messages": max(int(seconds), 4) * 10, "log": "off"}
    places = {f"{role}.host": "h1" for role in ("broker", "senders", "receivers")}
    lab = Lab(1)
    try:
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:

            def p50(name, values):
                words = [word for key, value in values.items() for word in ("--set", f"{key}={value}")]
                told = subprocess.run(lab.bench_command("run", "thesis-baseline", *words, "--json", "--out", f"{folder}/{name}"),
                                      capture_output=True, text=True, check=True, env=lab.environment()).stdout
                return json.loads(told.splitlines()[-1])["latency_us"]["p50"]

            rounds = [(p50(f"{i}-here", shape), p50(f"{i}-over", {**shape, **places}), p50(f"{i}-again", shape)) for i in range(ROUNDS_PER_PAIR * pairs)]
    finally:
        lab.close()
    over, alike = told_of(rounds)
    ratio, aa = ratios_of(rounds)
    met = verdict(ratio, 1.02, aa, at_least=False, pairs=pairs)
    text = "; ".join(f"{here:,.1f}/{over:,.1f}/{again:,.1f}" for here, over, again in rounds)
    return [Finding("over SSH to this machine, 50 x 50, 0.1 s, against local processes: p50, and local against local",
                    f"{over}, {alike}; p50 in µs here/over/here: {text}", "1.02", met)]


def absent(_seconds, pairs):
    """What receivers cost the others that are expected and stay away, so that all expires for them: without any, with them, and without again."""

    def latency_us(receivers):
        work = replace(AWAY, receivers=receivers)
        broker = Broker(work)
        try:
            groups = [start_group("receivers", "n2nq", broker.port, (1, AWAY.receivers), receivers, senders_total=work.senders, queue_mode=work.mode),
                      start_group("senders", "n2nq", broker.port, (1, work.senders), work.senders, load=load_of(work, AWAY_S))]
            for group in groups:
                group.wait_for("state", state="connected")
            for group in groups:
                group.send(type="start", at_broker_ns=0)
            groups[1].wait_for("state", state="ended")
            groups[0].send(type="stop")
            groups[0].wait_for("state", state="ended")
            byes = []
            for group in groups:
                group.send(type="bye")
                byes.append(group.wait_for("bye"))
                group.close()
        finally:
            broker.close()
        if byes[0]["received"] != byes[1]["accepted"] * AWAY.receivers:
            raise RuntimeError(f"{byes[0]['received']} of {byes[1]['accepted']} x {AWAY.receivers} received")
        return [byes[0]["figures"]["latency"][key] / 1000 for key in ("p50_ns", "p99_ns")]

    rounds = [tuple(latency_us(AWAY.receivers + away) for away in (0, AWAY_RECEIVERS, 0)) for _ in range(pairs)]
    found = []
    for i, figure in enumerate(("p50", "p99")):
        of_figure = [[one[i] for one in each] for each in rounds]
        changed, alike = told_of(of_figure)
        ratio, aa = ratios_of(of_figure)
        text = "; ".join(f"{here:,.0f}/{there:,.0f}/{again:,.0f}" for here, there, again in of_figure)
        found.append(Finding(f"{AWAY_RECEIVERS} receivers stay away, broadcaster 500 x 50, 0.1 s, retention 1 s: {figure}, and without against without",
                             f"{changed}, {alike}; {figure} in µs without/with/without: {text}", f"{AWAY_AIM:.2f}",
                             verdict(ratio, AWAY_AIM, aa, at_least=False, pairs=pairs)))
    return found


def falls(seconds, _pairs):
    """From which delay on N2NQ does not follow: 50 x 50 and fewer, each delay a whole run of `n2nq-bench`, downwards until it falls behind (one
    message of a hundred is late by more than BEHIND of the run, as the last ones of a queue that grows from the first message on), or a run is
    not clean."""
    both = {"queue.responses": "true", "queue.requests": "true"}
    delays_ms = (100, 50, 20, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05)
    seconds = max(int(seconds), 4)
    found = []
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:

        def whole_run(name, values):
            shape = {"senders.duration_s": seconds, "log": "off", **values}
            words = [word for key, value in shape.items() for word in ("--set", f"{key}={value}")]
            done = subprocess.run([BIN / "n2nq-bench", "run", "thesis-baseline", *words, "--json", "--out", f"{folder}/{name}"],
                                  capture_output=True, text=True)
            if not done.stdout:
                raise AssertionError(f"{name}: {done.stderr}")
            return json.loads(done.stdout.splitlines()[-1])

        def step(mode, features, services, values, delay_ms):
            """What to tell of it, and whether N2NQ followed."""
            told = whole_run(f"{mode}{features}-{services}-{delay_ms}".replace(", ", "-").replace(" ", "-"),
                             {"queue.mode": mode, "senders.amount": services, "receivers.amount": services, "senders.delay_ms": delay_ms, **values})
            p50_us, p99_us = (told["latency_us"][key] for key in ("p50", "p99"))
            text = f"{delay_ms:g} ms: " + (f"{p50_us:,.0f} µs, {p99_us:,.0f} µs" if p50_us else "nothing came")
            if told["verdict"] != "clean":
                return text + f" {told['verdict']}: {told['reasons'][0]}", False
            return (text + " falls behind", False) if p99_us > BEHIND * seconds * 1e6 else (text, True)

        for mode in ("broadcaster", "load-balancer"):
            for features, values in (("", {}), (", responses and requests", both)):
                for services in (50, 30, 20) if values else (50,):
                    steps, followed = [], 0
                    for delay_ms in delays_ms:
                        text, follows = step(mode, features, services, values, delay_ms)
                        steps.append(text)
                        if not follows:
                            break
                        followed += 1
                    else:
                        steps.append("follows at all of these")
                    found.append(Finding(f"{mode} {services} x {services}{features}: delay of each sender: p50, p99 of the latency", "; ".join(steps),
                                         f"clean at {delays_ms[0]} ms", said(followed > 0)))
    return found


FINDINGS = {"thousand": thousand, "killed": killed, "refusals": refusals, "system-calls": system_calls, "allocations": allocations,
            "absent": absent, "falls": falls, "window": window, "ssh": over_ssh, "repeats": repeats}
