# SPDX-License-Identifier: GPL-3.0-or-later
"""Labs of pretend hosts for the end-to-end tests: made, used, taken down again. See tests/lab."""
import contextlib
import os
import pathlib
import re
import subprocess
import sys
import time
import unittest

from bench import BIN, SKIPPED, BenchCase, is_late, is_sound

LAB = pathlib.Path(__file__).parents[1] / "lab"
sys.path.insert(0, str(LAB))
import links
import pretend_lab

# Labs that people make by hand have the numbers below.
FIRST_NUMBER = 10
START_S = 10  # until a start that cannot succeed has failed
FULL = bool(os.environ.get("N2NQ_LAB_FULL"))  # tests are whole, and judge strictly
RUNS_MAX = 3  # of one that has to be clean, where all that is wrong is that the machine was late
RUN_FOLDERS = "/home/lab/.cache/n2nq-bench/runs"  # of the benches, on a host


NUMBERS = range(FIRST_NUMBER, pretend_lab.NUMBERS_MAX)


def under_a_free_number(take_up, numbers=NUMBERS):
    """What take_up(number) gives for the first one that nobody uses; for others it raises pretend_lab.Stands."""
    for number in numbers:
        try:
            return take_up(number)
        except pretend_lab.Stands:
            continue
    raise OSError(f"all numbers of labs are taken: what stands in {pretend_lab.folder_of('*')}?")


def by_hand(script, number, *arguments):
    """The completed process of tests/lab/SCRIPT, for the lab of that number."""
    return subprocess.run([LAB / script, *map(str, arguments), "--number", str(number)], capture_output=True, text=True)


def up_by_hand(*arguments):
    """The number of a lab that nobody used, and the completed process of tests/lab/up, which stands there if that gave 0. The last ones
    first: when it was taken down, no other test has made its lab there."""
    def up(number):
        done = by_hand("up", number, *arguments)
        if "stands already" in done.stderr:
            raise pretend_lab.Stands(done.stderr)
        return number, done
    return under_a_free_number(up, reversed(NUMBERS))


class Lab:
    """Hosts as tests/lab/up would make with these arguments, under a number that nobody uses. To be closed. hosts: how many, or their names."""

    def __init__(self, hosts, **arguments):
        names = pretend_lab.names_of(hosts) if isinstance(hosts, int) else hosts
        self.facts = under_a_free_number(lambda number: pretend_lab.take_up(number, names, owner=os.getpid(), **arguments))
        self.number = self.facts["number"]
        self.folder = pathlib.Path(self.facts["folder"])
        self.hosts = {host["name"]: host for host in self.facts["hosts"]}

    def close(self):
        pretend_lab.take_down(self.number)

    def environment(self):
        """Of a bench or an ssh whose user knows the lab's hosts and nothing else, and has no agent."""
        kept = {name: value for name, value in os.environ.items() if name not in ("SSH_AUTH_SOCK", "SSH_ASKPASS")}
        return {**kept, "HOME": str(self.folder / "home"), "XDG_CONFIG_HOME": str(self.folder / "home/.config"),
                "XDG_DATA_HOME": str(self.folder / "home/.local/share")}

    def bench_command(self, *arguments):
        return [str(BIN / "n2nq-bench"), *map(str, arguments), "--hosts", str(self.folder / "hosts.yaml")]

    def ssh(self, name, *command, timeout_s=30):
        """The completed process of `ssh NAME COMMAND`."""
        return subprocess.run(["ssh", "-F", self.folder / "ssh_config", "-o", "BatchMode=yes", name, *command], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=timeout_s)

    def inside(self, name, *command, text=""):
        """What the command writes, given the text, run by root on that host, without any ssh: for a test's own looks and mischief."""
        return subprocess.run(["nsenter", "--target", str(self.hosts[name]["pid"]), "--all", *command], check=True, capture_output=True,
                              text=True, input=text, timeout=30).stdout

    def processes(self, name):
        """Command lines of what runs on that host, but for its sshd, by process id there."""
        found = {}
        for line in self.inside(name, "ps", "-e", "-o", "pid=,args=").splitlines():
            pid, command = line.split(maxsplit=1)
            if not command.startswith(("sshd: ", "ps -e ")) and not command.endswith("<defunct>"):
                found[int(pid)] = command
        return found

    def sshd_of_sessions(self, name):
        """Process ids, on the host, of the sshd that serve sessions."""
        lines = self.inside(name, "ps", "-e", "-o", "pid=,args=").splitlines()
        return [int(pid) for pid, command in (line.split(maxsplit=1) for line in lines) if command.startswith("sshd: ") and int(pid) != 1]

    def files(self, name):
        """Paths of all files on the host outside of what it came with."""
        found = self.inside(name, "find", "/home", "/root", "/tmp", "/var", "/run", "/dev/shm", "-type", "f").splitlines()
        return sorted(path for path in found if not path.endswith("/.ssh/authorized_keys"))

    def shape_links(self, shape, names=(), directions=links.DIRECTIONS):
        """Of a lab that was made with a shape: see tests/lab/links.py."""
        links.set_shape(self.facts, shape, names, directions)

    def link_stats(self, forget=False):
        return links.stats(self.facts, forget)

    def keep_links_apart(self):
        """Gives the emulator of the links a processor to itself and what the hosts start from now on the others, where there are two. A real link
        needs none of its hosts' time; an emulated one that shares the broker's core interrupts it at each write, but only where nothing waits."""
        *rest, last = sorted(os.sched_getaffinity(0))
        if rest:
            os.sched_setaffinity(self.facts["emulator"]["pid"], {last})
            for host in self.hosts.values():
                os.sched_setaffinity(host["pid"], rest)  # inherited

    def sshd_log(self, name):
        return pathlib.Path(self.hosts[name]["sshd_log"]).read_text(errors="replace")

    def set_sshd(self, name, **options):
        """Changes its sshd_config; sshd is ready for connections again."""
        # It ignores a SIGHUP from one until it listens anew and has said so: only then is the next one, or a connection, not lost.
        def takes_hup():
            status = pathlib.Path(f"/proc/{self.hosts[name]['pid']}/status").read_text()
            return int(re.search(r"SigCgt:\s*(\w+)", status)[1], 16) % 2 == 1

        def wait_until_up(said_before):
            deadline = time.monotonic() + pretend_lab.DEADLINE_S
            while not ("Server listening" in self.sshd_log(name)[said_before:] and takes_hup()):
                if time.monotonic() > deadline:
                    raise OSError(f"sshd of {name} does not come back")
                time.sleep(0.02)

        wait_until_up(0)
        for option, value in options.items():
            self.inside(name, "sed", "-i", "-e", f"1i {option} {value}", "-e", f"/^{option} /d", "/etc/ssh/sshd_config")
        said_before = len(self.sshd_log(name))
        self.inside(name, "kill", "-s", "HUP", "1")
        wait_until_up(said_before)

    def set_plugged_in(self, name, plugged_in):
        """Unplugs a host's cable at the bridge, or plugs it in: nobody is told."""
        pretend_lab.ip("link", "set", self.hosts[name]["device"], "up" if plugged_in else "down")


def places(broker, senders, receivers):
    """Arguments of a run on these hosts."""
    return ["--set", f"broker.host={broker}", "--set", f"senders.host={senders}", "--set", f"receivers.host={receivers}"]


# Runs on one processor where nothing else wants to, for as long as its parent lives.
_AWAKE = """import os, sys
os.sched_setaffinity(0, {int(sys.argv[1])})
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
while os.getppid() == int(sys.argv[2]): pass"""


@contextlib.contextmanager
def processors_kept_awake():
    """Meanwhile no processor sleeps, as idle=poll does in a real lab: waking a virtual one takes from 5 us to more than 50, as the machine
    below it likes, and what waits for a link lets its processor sleep where what waits for nothing does not."""
    processes = [subprocess.Popen([sys.executable, "-c", _AWAKE, str(processor), str(os.getpid())]) for processor in os.sched_getaffinity(0)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


class LabCase(BenchCase):
    """A test whose class names the lab it needs, shared by its tests: hosts, and arguments as of pretend_lab.take_up."""
    hosts, arguments = 3, {}

    def assert_clean(self, name, summary, delay_ns):
        """But for what a busy machine does to the clock, and for this: over links without delay a single latency may be shorter than what the
        clocks of the hosts are known to. By more than that none is below zero. Prints the verdict and its reasons."""
        print("; ".join([f"{name}: verdict {summary['verdict']}", *summary["reasons"]]), flush=True)
        if delay_ns == 0 and summary["verdict"] == "degraded":
            shorter = ("below zero", "tell nothing finer")
            self.assertEqual([reason for reason in summary["reasons"] if not is_late(reason) and not any(words in reason for words in shorter)], [])
            self.assertGreaterEqual(summary["latency_us"]["min"], -summary["latency_us"].get("bound_us", 0), summary["reasons"])
        else:
            self.assertTrue(is_sound(summary), summary["reasons"])

    def clean_run(self, make_run, out, delay_ns):
        """The RunFolder that make_run(OUT) gives, a run in the folder of that name. A whole test (N2NQ_LAB_FULL=1) takes none but one whose
        verdict is clean: it has up to RUNS_MAX of them made while assert_clean() lets pass what degraded them; all else fails at once."""
        for attempt in range(1, RUNS_MAX + 1):
            run = make_run(out if attempt == 1 else f"{out}-again-{attempt}")
            self.assert_clean(run.folder.name, run.summary, delay_ns)
            if not FULL or run.summary["verdict"] == "clean":
                return run
        self.fail(f"{out}: none of {RUNS_MAX} runs was clean")

    def check_logs(self, run, amount):
        """All of so many services each came here, whole, and say what the summary says."""
        self.assertEqual((list(run.senders), list(run.receivers)), (list(range(1, amount + 1)),) * 2)
        copies = sum(len(log.rows) for log in run.senders.values()) * (amount if run.broadcaster else 1)
        self.assertEqual(sum(len(log.rows) for log in run.receivers.values()), copies)
        verified = subprocess.run([sys.executable, "-B", pathlib.Path(__file__).with_name("verify_run.py"), run.folder],
                                  capture_output=True, text=True)
        self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)

    def failed_start_s(self, out, held_up_s):
        """How long it took on a machine that runs, from the first file of the run to its last: how long the program takes to begin and to
        end is not meant. held_up_s: what hold_ups() gave before the start."""
        first, last = ((self.folder / out / name).stat().st_mtime for name in ("settings.yaml", "summary.json"))
        print(f"{out}: failed after {last - first:.1f} s, held up for {held_up_s():.1f} s")
        return last - first - held_up_s()

    def assert_start_failed_in_time(self, out, held_up_s):
        self.assertLess(self.failed_start_s(out, held_up_s), START_S)

    def said_until_fetching_waits(self, bench):
        """What the bench says until all has ended but that it cannot reach logs of the run: it tries to for a minute."""
        output = ""
        while "Fetching logs waits: " not in output:
            line = bench.stdout.readline()
            self.assertNotEqual(line, "", output)
            output += line
        return output

    @classmethod
    def setUpClass(cls):
        cls.lab = Lab(cls.hosts, **cls.arguments)
        cls.addClassCleanup(cls.lab.close)

    def start(self, *arguments, out="run", bin=BIN, env=None):
        return super().start(*arguments, "--hosts", self.lab.folder / "hosts.yaml", out=out, bin=bin, env=env or self.lab.environment())


def main():
    """In place of unittest.main: where there can be no lab, says why and ends with 77, which ctest takes for skipped."""
    try:
        pretend_lab.check_possible()
    except pretend_lab.Impossible as why:
        print(f"skipped: {why}")
        sys.exit(SKIPPED)
    unittest.main()
