# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs whose clocks are not this machine's, on this machine: a folder of programs for a bench, some of which are scripts that start the
real one in a time namespace, or hand it a test clock with its settings (docs/control-protocol.md), or what it is told otherwise than it was
told."""
import ctypes
import json
import os
import shutil
import sys

from bench import BIN, BenchCase
from run_folder import RunFolder, percentile
from verify_run import verify

MS, S = 10**6, 10**9
PROGRAMS = ("n2nq-bench", "n2nq-broker", "n2nq-senders", "n2nq-receivers")
NEW_TIME = 0x80

IN_NAMESPACE = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def checked(result, what):
    if result != 0:
        sys.exit(f"{what}: {os.strerror(ctypes.get_errno())}")
checked(libc.unshare(%(new_time)d), "unshare")
with open("/proc/self/timens_offsets", "w") as offsets:
    offsets.write("monotonic %(seconds)d %(nanoseconds)d\\n")
ours = os.open("/proc/self/ns/time_for_children", os.O_RDONLY)
checked(libc.setns(ours, 0), "setns")
os.close(ours)
os.execv(%(program)r, [%(program)r, *sys.argv[1:]])
"""

THROUGH_RELAY = """
import json, os, signal, subprocess, sys, threading
heard = %(heard)r
child = subprocess.Popen([%(program)r, *sys.argv[1:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE if heard else None)
signal.signal(signal.SIGTERM, lambda *_: child.terminate())
changes = json.loads(%(changes)r)
def merge(into, more):
    for key, value in more.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            merge(into[key], value)
        else:
            into[key] = value
def pass_on():
    told = set()
    for line in sys.stdin.buffer:
        if line.strip():
            order = json.loads(line)
            told.add(order["type"])
            for change in changes:
                if change["type"] == order["type"] and change.get("behind", order["type"]) in told:
                    merge(order, change["with"])
                    line = json.dumps(order).encode() + b"\\n"
        try:
            child.stdin.write(line)
            child.stdin.flush()
        except OSError:
            return
    child.stdin.close()
threading.Thread(target=pass_on, daemon=True).start()
if heard:
    with open(heard, "ab", buffering=0) as copy:
        for line in child.stdout:
            copy.write(line)
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
os._exit(child.wait())  # the other thread may be in the middle of a read
"""


def can_shift_clocks():
    """Whether a process may be given a time namespace here."""
    child = os.fork()
    if child == 0:
        os._exit(0 if ctypes.CDLL(None).unshare(NEW_TIME) == 0 else 1)
    return os.waitpid(child, 0)[1] == 0


def programs_in(folder, namespaces=None, test_clocks=None, spoilt=None, heard=None):
    """A folder with a bench that starts what stands beside it. `namespaces`: nanoseconds ahead, by program; `test_clocks`: the object of
    `configure`, by program; `spoilt`: lists of {"type", "behind", "with"}, by program: what it is told of that type, behind the first
    thing of the other one, has these values; `heard`: by program, a file in which all stands that it has said."""
    folder.mkdir()
    for program in PROGRAMS:
        real = str(BIN / program)
        if program in (namespaces or {}):
            ahead_s, ahead_ns = divmod(namespaces[program], 10**9)
            script(folder / program, IN_NAMESPACE % {"new_time": NEW_TIME, "seconds": ahead_s, "nanoseconds": ahead_ns, "program": real})
        elif program in {**(test_clocks or {}), **(spoilt or {}), **(heard or {})}:
            changes = list((spoilt or {}).get(program, []))
            if program in (test_clocks or {}):
                changes.append({"type": "configure", "with": {"test_clock": test_clocks[program]}})
            script(folder / program, THROUGH_RELAY % {"program": real, "changes": json.dumps(changes),
                                                               "heard": str((heard or {}).get(program, ""))})
        else:
            shutil.copy(real, folder / program)  # a link would lead the bench to the others
    return folder


def script(path, text):
    path.write_text(f"#!{sys.executable}\n{text}")
    path.chmod(0o755)


def quick_us(latencies):
    """Five in a hundred are as quick."""
    return percentile(sorted(latencies), 0.05)


class ClocksCase(BenchCase):
    def run_with(self, name, *arguments, expect_exit=0, **clocks):
        programs = programs_in(self.folder / f"{name}-programs", **clocks)
        process = self.start("quick", "--set", "log=all", "--set", "senders.amount=4", "--set", "receivers.amount=4", *arguments, out=name, bin=programs)
        self.output, _ = process.communicate(timeout=1200)
        self.assertEqual(process.returncode, expect_exit, self.output)
        differences = verify(self.folder / name).differences
        self.assertEqual(differences, [], self.output)
        return RunFolder(self.folder / name)

    def offsets(self, run):
        return run.summary["environment"]["offsets"]
