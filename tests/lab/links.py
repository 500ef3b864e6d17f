# SPDX-License-Identifier: GPL-3.0-or-later
"""The links between a lab's hosts and its bridge: plain cables, or emulated ones (tests/lab/emulator) whose shape can change at any time.

A shape is a dict of delay_ns, jitter_ns (up to so much more), jitter_share (of the frames that it falls on), jitter_overtaken (by others), loss (share), rate_bps (0: without
limit), reorder (share of the frames that are late by reorder_ns, for others to overtake), blackhole. Each link has one up, from its host, and one
down: what goes from one host to another passes one of each."""
import contextlib
import json
import os
import pathlib
import socket

import pretend_host
from namespaces import ip

DIRECTIONS = ("up", "down")
ANSWER_S = 10
_QUEUE_FRAMES = 10_000  # of a device, for bursts while the emulator waits for a processor


def connect(facts, emulated, write_facts):
    """Gives each host its eth0. emulated: by links whose shape can be set, and which do nothing yet; else plain ones."""
    for i, host in enumerate(facts["hosts"], 1):
        host["device"] = f"{facts['devices'][0]}-h{i}"
        facts["devices"].append(host["device"])
    write_facts()
    if not emulated:
        for host in facts["hosts"]:
            ip("link", "add", host["device"], "type", "veth", "peer", "name", "eth0", "netns", str(host["pid"]))
    else:
        _start_emulator(facts, write_facts)
    for host in facts["hosts"]:
        ip("link", "set", host["device"], "txqueuelen", _QUEUE_FRAMES, "master", facts["devices"][0], "up")
        ip("link", "set", "lo", "up", pid=host["pid"])
        ip("address", "add", f"{host['address']}/24", "dev", "eth0", pid=host["pid"])
        ip("link", "set", "eth0", "txqueuelen", _QUEUE_FRAMES, "up", pid=host["pid"])


def set_shape(facts, shape, names=(), directions=DIRECTIONS):
    """Changes what the shape names, of these links (none named: all) and directions; the rest stays. For frames from now on."""
    return _ask(facts, {"do": "shape", "links": list(names), "directions": list(directions), "shape": shape})


def stats(facts, forget=False):
    """By link and direction: counts since the start, and how late frames came out since it was last forgotten."""
    return _ask(facts, {"do": "stats", "forget": forget})


def _ask(facts, order):
    if not facts["emulator"]:
        raise OSError("the links of this lab are plain ones: it was made without --delay and the like")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as asker:
        asker.settimeout(ANSWER_S)
        asker.bind("")  # a name of the kernel's choice, for the answer
        asker.sendto(json.dumps(order).encode(), facts["emulator"]["socket"])
        answer = json.loads(asker.recv(1 << 16))
    if "error" in answer:
        raise OSError(f"link emulator: {answer['error']}")
    return answer


def _program():
    project = pathlib.Path(__file__).parents[2]
    program = pathlib.Path(os.environ.get("N2NQ_BIN", project / "build/release/bin"), "n2nq-lab-links")
    if not os.access(program, os.X_OK):
        raise FileNotFoundError(f"{program} is not there: build it (apt install libgtest-dev; "
                                "cmake --preset release -DN2NQ_BUILD_TESTS=ON && ninja -C build/release n2nq-lab-links), "
                                "or name its folder with N2NQ_BIN")
    return str(program)


def _start_emulator(facts, write_facts):
    path = os.path.join(facts["folder"], "links.socket")
    arguments = [_program(), path]
    for host in facts["hosts"]:
        arguments += [host["name"], f"/proc/{host['pid']}/ns/net", "eth0", host["device"]]
    said_from, said_to = os.pipe()
    go_from, go_to = os.pipe()  # one byte once it is noted; its end: it never will be
    log = os.path.join(facts["folder"], "links.log")
    actions = [(os.POSIX_SPAWN_DUP2, go_from, 0), (os.POSIX_SPAWN_DUP2, said_to, 1),
               (os.POSIX_SPAWN_OPEN, 2, log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)]
    pid = os.posix_spawn(arguments[0], arguments, {}, file_actions=actions, setsid=True)
    os.close(said_to)
    os.close(go_from)
    facts["emulator"] = {"pid": pid, "socket": path}
    facts["processes"].append({"pid": pid, "born": pretend_host.born(pid)})
    write_facts()
    with contextlib.suppress(BrokenPipeError):  # it has ended already, and its log says why
        os.write(go_to, b"g")
    os.close(go_to)
    with os.fdopen(said_from) as said:
        if said.readline() != "ready\n":
            raise OSError(f"no link emulator: {pathlib.Path(log).read_text().strip()}")
