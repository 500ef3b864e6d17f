# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the real n2nq-bench for the end-to-end tests. N2NQ_BIN names the folder of the programs."""
import functools
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

BIN = pathlib.Path(os.environ.get("N2NQ_BIN", pathlib.Path(__file__).parents[2] / "build/release/bin"))
DEADLINE_S = 120  # for anything a test waits for
SKIPPED = 77  # exit code, for ctest


class BenchCase(unittest.TestCase):
    """A test with a folder of its own, removed afterwards unless N2NQ_KEEP is set."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="n2nq-test-"))
        self.processes = []

    def tearDown(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
                process.wait()
            if process.stdout:
                process.stdout.close()
        if not os.environ.get("N2NQ_KEEP"):
            shutil.rmtree(self.folder, ignore_errors=True)

    def start(self, *arguments, out="run", bin=BIN, env=None):
        """n2nq-bench run ARGUMENTS --out FOLDER/out, in the background."""
        process = start_with_nobody([bin / "n2nq-bench", "run", *map(str, arguments), "--out", self.folder / out], env=env,
                                    stderr=subprocess.STDOUT)
        self.processes.append(process)
        return process

    def run_bench(self, *arguments, out="run", expect_exit=0, timeout_s=DEADLINE_S * 3):
        process = self.start(*arguments, out=out)
        output, _ = process.communicate(timeout=timeout_s)
        if expect_exit is not None:
            self.assertEqual(process.returncode, expect_exit, output)
        self.output = output
        return self.folder / out

    def wait_for(self, what, condition):
        """Polls until the condition gives something true, and returns that."""
        deadline = time.monotonic() + DEADLINE_S
        while time.monotonic() < deadline:
            result = condition()
            if result:
                return result
            time.sleep(0.02)
        self.fail(f"waited {DEADLINE_S} s for {what}")

    def wait_until_traffic(self, out="run", lines=1):
        """Until some receiver's log has lines in it: the run is really under way."""
        def some_line():
            for log in (self.folder / out / "receivers").glob("R*.log"):
                if sum(1 for line in log.read_text().splitlines() if line[:1].isdigit()) >= lines:
                    return True
        self.wait_for("traffic", some_line)


# For programs that find no terminal to ask somebody at, though whoever started the tests may have one. Ctrl+C, typed there, does not reach them
# either: they end with the thread that started them, which has to be one that stays.
_WITH_NOBODY = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "text": True, "start_new_session": True}
_ENDING_WITH_US = ["setpriv", "--pdeathsig", "KILL"]


def start_with_nobody(command, **options):
    """The process of that command. options: of subprocess.Popen."""
    return subprocess.Popen([*_ENDING_WITH_US, *command], **_WITH_NOBODY, **options)


def run_with_nobody(command, timeout=DEADLINE_S, **options):
    """The same when it has ended, with its output. options: of subprocess.run."""
    return subprocess.run([*_ENDING_WITH_US, *command], timeout=timeout, **_WITH_NOBODY, **options)


def main_at_once():
    """In place of unittest.main, for tests that mostly wait: each in a process of its own, all at the same time."""
    words = sys.argv[1:]
    if any(not word.startswith("-") for word in words):
        unittest.main()
    running = []
    for cases in unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"]):
        for case in cases:
            output = tempfile.TemporaryFile("w+")
            command = [sys.executable, "-B", sys.argv[0], *words, case.id().removeprefix("__main__.")]
            running.append((subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT), output))
    codes = []
    for process, output in running:
        codes.append(process.wait())
        output.seek(0)
        print(output.read(), end="", flush=True)
    sys.exit(any(codes) or not codes)


def children(pid):
    """Process ids of the programs a bench has started, by their name."""
    found = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            match = re.match(r"(\d+) \((.*)\) (\S) (\d+)", stat.read_text())
        except OSError:
            continue
        if match and int(match[4]) == pid and match[3] != "Z":
            found[match[2]] = int(match[1])
    return found


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def is_pending(pid, number):
    """Whether a process has yet to take this signal: until then a second one would be the same one."""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    return bool(int(re.search(r"^ShdPnd:\s*([0-9a-f]+)", status, re.MULTILINE)[1], 16) >> (number - 1) & 1)


def is_late(reason):
    """What a busy machine does to the clock (as in tests/app/support/soundness.h)."""
    late = ("plan not kept: the last message was ", "plan not kept: messages left later", "this bench stood still")
    return reason.startswith(late) or reason.endswith(" behind the common start")


def is_sound(summary):
    """Whether a run found what it should: nothing, but for what is_late() tells."""
    # How well the clocks are known stands among the reasons, but makes no verdict.
    verdict, reasons = summary["verdict"], [reason for reason in summary["reasons"] if "tell nothing finer" not in reason]
    return verdict == "clean" or (verdict == "degraded" and bool(reasons) and all(map(is_late, reasons)))


def times_run(pid):
    """How often a process' main thread was given a core."""
    return int(pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()[2])


class _Idle(threading.Thread):
    """Does nothing, and counts the time in which this machine held it up (as in tests/app/support/event_loop.h)."""
    LOOK_S, HELD_UP_S_MIN = 0.02, 0.2

    def __init__(self):
        super().__init__(daemon=True)
        self.noted = time.monotonic(), 0.0  # when it looked last, and for how long it was held up until then
        self.start()

    def run(self):
        while True:
            time.sleep(self.LOOK_S)
            self.noted = self.look()

    def look(self):
        """To be called by others, too: what holds it up may not be over."""
        looked_at, held_up_s = self.noted
        now = time.monotonic()
        return now, held_up_s + (now - looked_at if now - looked_at > self.HELD_UP_S_MIN else 0)


_idle = functools.cache(_Idle)  # from its first use on, when all labs and links are up: making hosts forks


def hold_ups():
    """Gives a function that tells for how many seconds this machine has held up a thread that does nothing since now. What is to be over in
    some time on a machine that runs has these in addition: programs and hosts were held up, too."""
    _, before_s = _idle().look()
    return lambda: _idle().look()[1] - before_s


def stop_for(pid, seconds):
    """SIGSTOP, SIGCONT; returns how long it really was stopped: until it runs again, which on a busy machine is not at once."""
    os.kill(pid, signal.SIGSTOP)
    begun = time.monotonic()
    time.sleep(seconds)
    before = times_run(pid)
    os.kill(pid, signal.SIGCONT)
    while times_run(pid) == before and time.monotonic() - begun < seconds + 10:
        pass
    return time.monotonic() - begun
