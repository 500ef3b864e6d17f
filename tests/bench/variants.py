# SPDX-License-Identifier: GPL-3.0-or-later
"""What a feature, a disturbance or an observer costs: the same work on N2NQ without and with it."""
import contextlib
import functools
import os
import resource
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Callable

from works import TENTH, Work

SETTLED_S = 0.5  # after the start
HALF_OPEN = 1000
CLOSED_S = 1.0
HANDSHAKE_S = 2  # N2NQ's default


@dataclass(frozen=True)
class Variant:
    name: str
    title: str
    without: Work
    aims: dict                     # figure -> largest ratio of with to without
    changes: dict = field(default_factory=dict)  # of the work
    during: Callable | None = None               # sides.run()
    logs: Callable | None = None                 # gives a folder for the logs of both; with(True) for the changed run
    seconds_min: float = 0


def stop_reading(work, server, receivers, senders, begin_ns, seconds):
    """The first receiver takes nothing any more."""
    wait_until(begin_ns, SETTLED_S)
    receivers.send(type="fault", service=1, kind="stop-reading")
    return {}


@contextlib.contextmanager
def port_of_nobody():
    """Where connections are made, by the kernel alone."""
    with socket.create_server(("127.0.0.1", 0), backlog=HALF_OPEN) as nobody:
        yield nobody.getsockname()[1]


def knock(work, server, receivers, senders, begin_ns, seconds, apart_s=0, at_n2nq=True):
    """1,000 connections that say nothing, and as many again whenever N2NQ has closed all of them. Opening them as fast as it goes takes a
    core of this machine, which has nothing to do with N2NQ: apart_s. Not at_n2nq: they are opened elsewhere, and stay as long."""
    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, max(files, HALF_OPEN + 500)), most))
    begin_files, closed_after_s = len(os.listdir(f"/proc/{server.pid}/fd")), []
    wait_until(begin_ns, SETTLED_S)
    while time.monotonic() < begin_ns / 1e9 + seconds - HANDSHAKE_S:
        opened = []
        with contextlib.nullcontext(server.port) if at_n2nq else port_of_nobody() as port:
            for _ in range(HALF_OPEN):
                opened.append(socket.create_connection(("127.0.0.1", port)))
                time.sleep(apart_s)
            last_opened = time.monotonic()
            if not at_n2nq:
                time.sleep(HANDSHAKE_S)
            for connection in opened:
                with connection:
                    while at_n2nq and connection.recv(4096):  # ERROR, then the end
                        pass
        closed_after_s.append(time.monotonic() - last_opened)
    def files_now():
        return len(os.listdir(f"/proc/{server.pid}/fd"))

    # N2NQ has ended each of them; the last ones it closes when it hears that the other end has, too.
    deadline = time.monotonic() + CLOSED_S
    while files_now() > begin_files and time.monotonic() < deadline:
        time.sleep(0.01)
    return {"half_open": len(closed_after_s) * HALF_OPEN, "closed_after_s": closed_after_s, "files": (begin_files, files_now())}


def ask_often(work, server, receivers, senders, begin_ns, seconds):
    """Both groups are asked for their figures ten times a second, as the window does."""
    rounds = int(seconds * 10)
    for i in range(rounds):
        wait_until(begin_ns, i / 10)
        for group in (receivers, senders):
            group.send(type="stats", id=i)
        for group in (receivers, senders):
            group.wait_for("stats", id=i)
    return {"asked": rounds}


def wait_until(begin_ns, after_s):
    time.sleep(max(0.0, begin_ns / 1e9 + after_s - time.monotonic()))


@contextlib.contextmanager
def log_folder(_changed):
    with tempfile.TemporaryDirectory(prefix="n2nq-bench-", dir="/dev/shm") as folder:
        yield folder


@contextlib.contextmanager
def full_disk(changed):
    """The changed run writes its logs to a file system of 1 MB that has no room."""
    with tempfile.TemporaryDirectory(prefix="n2nq-bench-", dir="/dev/shm") as folder:
        if not changed:
            yield folder
            return
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", folder], check=True)
        try:
            for role in ("senders", "receivers"):
                Path(folder, role).mkdir()
            with contextlib.suppress(OSError), open(Path(folder, "filler"), "wb", buffering=0) as filler:
                while True:
                    filler.write(bytes(4096))
            yield folder
        finally:
            subprocess.run(["umount", "-l", folder], check=True)


PAIRS_OF_20 = Work("", "load-balancer", 20, 20, TENTH, {})
PAIRS_OF_100 = Work("", "load-balancer", 100, 100, TENTH, {})
ONE_TO_ONE = Work("", "broadcaster", 1, 1, 1_000_000, {})
TO_ALL_50 = Work("", "broadcaster", 50, 50, TENTH, {})
TO_ALL_100 = Work("", "broadcaster", 100, 100, TENTH, {})
# 5 senders of 10,000/s to 10 receivers; one that does not read is cut off within the run
MANY_A_SECOND = Work("", "broadcaster", 5, 10, 100_000, {}, complete=False, limits={"write_deadline_ms": 1000})

VARIANTS = {variant.name: variant for variant in (
    Variant("responses", "responses on (window 1), load balancer 20 x 20, 0.1 s", PAIRS_OF_20, {"p50": 1.10},
            {"queue": {"responses": True, "responses_window": 1}}),
    Variant("requests", "requests on (prefetch 1), load balancer 20 x 20, 0.1 s", PAIRS_OF_20, {"p50": 1.20},
            {"queue": {"requests": True}, "of_receivers": {"requests": []}}),
    Variant("stopped-receiver", "1 of 10 receivers stops reading, broadcaster, 50,000/s", MANY_A_SECOND,
            {"p99_beside": 1.20, "delay_p99": 1.20}, during=stop_reading, seconds_min=4),
    Variant("half-open", "1,000 connections that say nothing, load balancer 100 x 100, 0.1 s", PAIRS_OF_100, {"p50": 1.20, "p99": 1.20},
            during=knock, seconds_min=5),
    Variant("half-open-spread", "the same, opened 1 ms after one another", PAIRS_OF_100, {"p50": 1.20, "p99": 1.20},
            during=functools.partial(knock, apart_s=0.001), seconds_min=5),
    Variant("half-open-elsewhere", "the same, opened as fast as it goes, but not at N2NQ", PAIRS_OF_100, {"p50": 1.20, "p99": 1.20},
            during=functools.partial(knock, at_n2nq=False), seconds_min=5),
    Variant("full-disk", "logs on a full disk, load balancer 100 x 100, 0.1 s", PAIRS_OF_100, {"p99": 1.20}, logs=full_disk),
    Variant("logs", "logs on, load balancer 100 x 100, 0.1 s", PAIRS_OF_100, {"p50": 1.02, "p99": 1.05}, {"logs": "on"}, logs=log_folder),
    Variant("asked", "figures asked for 10 times a second, load balancer 100 x 100, 0.1 s", PAIRS_OF_100, {"p50": 1.02, "p99": 1.05},
            during=ask_often),
    Variant("keep-core-50", "broker.keep_core, broadcaster 50 x 50, 0.1 s", replace(TO_ALL_50, keep_core=False), {"p50": 1, "p99": 1},
            {"keep_core": True}),
    Variant("keep-core-100", "broker.keep_core, broadcaster 100 x 100, 0.1 s", replace(TO_ALL_100, keep_core=False), {"p50": 1, "p99": 1},
            {"keep_core": True}),
    # What three settings bring that are off by default; the broker is to lose nothing by them
    Variant("unix-one", "transport: unix, 1 to 1, 1,000/s", ONE_TO_ONE, {"p50": 1, "p99": 1}, {"transport": "unix"}),
    Variant("unix-50", "transport: unix, broadcaster 50 x 50, 0.1 s", TO_ALL_50, {"p50": 1, "p99": 1}, {"transport": "unix"}),
    Variant("uring-one", "broker.io: io_uring, 1 to 1, 1,000/s", ONE_TO_ONE, {"p50": 1, "p99": 1}, {"io": "io_uring"}),
    Variant("uring-50", "broker.io: io_uring, broadcaster 50 x 50, 0.1 s", TO_ALL_50, {"p50": 1, "p99": 1}, {"io": "io_uring"}),
    Variant("spin-one", "broker.spin_us: 2000, 1 to 1, 1,000/s", ONE_TO_ONE, {"p50": 1, "p99": 1}, {"spin_us": 2000}),
    Variant("spin-50", "broker.spin_us: 2000, broadcaster 50 x 50, 0.1 s", TO_ALL_50, {"p50": 1, "p99": 1}, {"spin_us": 2000}),
)}


def missing(variant):
    """What it needs that is not here; empty: nothing."""
    return "mounting a small file system needs root" if variant.logs is full_disk and os.geteuid() != 0 else ""


@contextlib.contextmanager
def work_of(variant, changed):
    """The work without the change, or with it."""
    work = replace(variant.without, name=variant.name, **(variant.changes if changed else {}))
    if variant.logs is None:
        yield work
    elif variant.name == "logs" and not changed:
        yield work
    else:
        with variant.logs(changed) as folder:
            yield replace(work, logs=folder)
