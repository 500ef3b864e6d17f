#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""However bench and hosts lose each other in the middle of a run, soon nothing runs on any host any more, and no file is left there but what was
put into the cache and the run's own. N2NQ_LAB_REPEATS: how often each way (1)."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

from bench import BIN, hold_ups, is_late, stop_for
from lab import RUN_FOLDERS, LabCase, main
from run_folder import RunFolder

REPEATS = int(os.environ.get("N2NQ_LAB_REPEATS", 1))
SERVICES = 8
# These three hold on a machine that runs: what it is held up comes on top.
GONE_S = 15  # from the cut until no process is left
NOTICED_S = 10  # from the last that came over a link until the bench says that it is lost, by the bench's clock
ENDED_S = 5  # from when the bench sees that a link is lost until it has seen the end of everything else, by its own clock
LEASE_S = 2.5  # a new one has come by then (docs/control-protocol.md)
MOMENT_S = 6.5  # more than a host may be silent for once it is asked, and less than the lease allows when one was just due
# From one moment to the next. A bench that counts a moment as the silence of hosts, but finds it short enough, asks them all as it goes on,
# and again 3 s later: when the next one comes they have been silent for 2 s, which makes more than the 8 s after which they are lost.
AGAIN_S = 5.5
ALLOWED = re.compile(r"/home/lab/\.cache/n2nq-bench/")
PLACES = ["--set", "broker.host=h1", "--set", "senders.host=h2", "--set", "receivers.host=h3"]


class Cuts(LabCase):
    hosts, arguments = 3, {"clocks_ns": (0, 1_000_000_000, -1_000_000_000), "shape": {"delay_ns": 0}}
    sshd_ends_on = ()  # hosts of whose sshd nothing is to stay either, but for the one that listens

    def setUp(self):
        super().setUp()
        self.addCleanup(self.mend)

    def mend(self):
        self.lab.shape_links({"blackhole": False})
        for name in self.lab.hosts:
            self.lab.set_plugged_in(name, True)

    def programs(self):
        """What of ours runs, by host, as long as nobody has lost anybody: see nothing_runs()."""
        return {name: found for name in self.lab.hosts
                if (found := [command for command in self.lab.processes(name).values() if "n2nq-" in command or "read -r still" in command])}

    def nothing_runs(self):
        """On any host, whatever it is: neither a shell nor what one has started, which need not have any name of ours."""
        return not any(self.lab.processes(name) for name in self.lab.hosts) and not any(map(self.lab.sshd_of_sessions, self.sshd_ends_on))

    def begin(self, out, *more):
        bench = self.start("quick", *PLACES, *more, "--set", "senders.duration_s=300",
                           "--set", f"senders.amount={SERVICES}", "--set", f"receivers.amount={SERVICES}", out=out)
        self.wait_for("connections", lambda: self.connected() >= 2 * SERVICES or self.check_alive(bench))
        before = self.carried()
        self.wait_for("traffic", lambda: self.carried() > before + 200 or self.check_alive(bench))
        self.assertEqual(set(self.programs()), set(self.lab.hosts))
        return bench

    def check_alive(self, bench):
        if bench.poll() is not None:
            self.fail(bench.communicate()[0])

    def connected(self):
        """TCP connections that N2NQ's host takes for alive: the services', and a few of SSH."""
        lines = self.lab.inside("h1", "cat", "/proc/net/tcp", "/proc/net/tcp6").splitlines()
        return sum(line.split()[3] == "01" for line in lines)

    def carried(self):
        """Frames to the receivers' host."""
        return self.lab.link_stats()["h3"]["down"]["frames"]

    def note_cut(self):
        """It comes now."""
        self.cut_at, self.held_up_s = time.monotonic(), hold_ups()

    def check_end(self, what):
        looked_at = 0

        def all_gone():
            nonlocal looked_at
            looked_at = time.monotonic()
            return self.nothing_runs()
        self.wait_for("everything to be gone", all_gone)
        gone_s = looked_at - self.cut_at  # looking takes its time, too, and is not meant
        print(f"{what}: all gone after {gone_s:.1f} s, held up for {self.held_up_s():.1f} s")
        self.assertLess(gone_s, GONE_S + self.held_up_s())
        for name in self.lab.hosts:
            self.assertEqual([path for path in self.lab.files(name) if not ALLOWED.match(path)], [], name)

    def check_bench_says(self, bench, name, out, said=""):
        """It ended, with a broken run that names the host; from when it saw that a link was lost on it soon had nothing that runs. said:
        what it has said already."""
        rest, _ = bench.communicate(timeout=120)
        output = said + rest
        self.assertEqual(bench.returncode, 1, output)
        self.assertIn(name, output)
        processes = json.loads((self.folder / out / "summary.json").read_text())["processes"]
        gone_at_s = {role: told["gone_at_s"] for role, told in processes.items()}
        lost_at_s = min(gone_at_s[role] for role, told in processes.items() if " lost: " in told.get("trouble", ""))
        for role, told in processes.items():
            self.assertEqual("last_heard_at_s" in told, " lost: " in told.get("trouble", ""), told)
            if "last_heard_at_s" in told:
                silent_s = told["gone_at_s"] - told["last_heard_at_s"]
                print(f"{out}: {role} lost {silent_s:.3f} s after the last that came from there")
                self.assertLessEqual(silent_s, NOTICED_S + self.held_up_s())
                self.assertGreaterEqual(silent_s, 0)
        print(f"{out}: lost at {lost_at_s:.1f} s of the run, the last was gone {max(gone_at_s.values()) - lost_at_s:.1f} s later")
        self.assertLess(max(gone_at_s.values()) - lost_at_s, ENDED_S + self.held_up_s(), gone_at_s)

    def each_way(self, what, cut, name="h2", comes_back=False):
        """comes_back: when all is gone there is a way again, so that nobody waits for the minute in which the bench tries to fetch logs."""
        for repeat in range(REPEATS):
            bench = self.begin(f"{what}-{repeat}")
            self.note_cut()
            cut(bench)
            self.check_end(what)
            said = ""
            if comes_back:
                said = self.said_until_fetching_waits(bench)
                self.mend()
            if bench.returncode is None:
                self.check_bench_says(bench, name, f"{what}-{repeat}", said)
            self.mend()

    def test_unplugged_host(self):
        """It stays away, and the bench ends all the same."""
        self.each_way("unplugged", lambda bench: self.lab.set_plugged_in("h2", False))

    def check_paused(self, role, host, *settings):
        """Its sshd does not notice, so what holds the process still has to find out for itself."""
        for repeat in range(REPEATS):
            out = f"paused-{role}-{repeat}"
            bench = self.begin(out, "--fault", f"pause:{role}@3", *settings)
            self.wait_until_paused(role, host)
            paused_at = time.monotonic()
            self.wait_for("a lease to lie unread in its input", lambda: time.monotonic() > paused_at + LEASE_S)
            self.note_cut()
            self.lab.set_plugged_in(host, False)
            self.check_end(f"unplugged while {role} paused")
            said = self.said_until_fetching_waits(bench)
            self.mend()
            self.check_bench_says(bench, host, out, said)

    def test_unplugged_host_of_a_paused_group(self):
        self.check_paused("receivers", "h3")

    def test_unplugged_host_of_a_paused_n2nq(self):
        """It would wait for answers that cannot come."""
        self.check_paused("broker", "h1", "--set", "queue.responses=true")

    def check_read_back(self, name, role):
        """The cable of one group's host is pulled in the middle of traffic, and put back while its logs are waited for: the result is made from
        what the group had noted, as its logs tell it."""
        out = f"put-back-{role}"
        bench = self.begin(out)
        self.lab.set_plugged_in(name, False)
        output = self.said_until_fetching_waits(bench)
        self.assertIn(f"what the {role} had noted is read back first", output.splitlines()[-1])
        self.lab.set_plugged_in(name, True)
        rest, _ = bench.communicate(timeout=120)
        output += rest
        self.assertEqual(bench.returncode, 1, output)
        run = RunFolder(self.folder / out)
        reasons = "; ".join(run.summary["reasons"])
        self.assertEqual(run.summary["verdict"], "broken", reasons)
        self.assertIn(f"the {role} ended before their time; their figures are what their logs and their staging file hold", reasons)
        for words in ("could not be read back", "gave no final account", "unexplained", "log incomplete", "killed"):
            self.assertNotIn(words, output + reasons)
        total = run.summary["ledger"]["total"]
        received = sum(len(log.rows) for log in run.receivers.values())
        self.assertEqual(total["delivered"], received)
        self.assertEqual(run.summary["latency_us"]["count"], received)
        self.assertGreater(received, SERVICES * SERVICES)
        self.assertEqual(total["attempted"], sum(len(log.rows) for log in run.senders.values()))
        for verify in ([BIN / "n2nq-bench", "verify"], [sys.executable, "-B", pathlib.Path(__file__).with_name("verify_run.py")]):
            verified = subprocess.run([*verify, run.folder], capture_output=True, text=True)
            self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)
        self.wait_for("everything to be gone", self.nothing_runs)
        for host in self.lab.hosts:
            self.assertEqual([path for path in self.lab.files(host) if not ALLOWED.match(path) or f".{out}-" in path], [], host)

    def test_receivers_whose_cable_is_put_back(self):
        self.check_read_back("h3", "receivers")

    def test_senders_whose_cable_is_put_back(self):
        self.check_read_back("h2", "senders")

    def begin_and_kill_receivers(self, out, *more):
        """What they had not written yet lies in memory there, for when they are started again."""
        bench = self.begin(out, "--fault", "kill:receivers@3", "--fault", "restart:receivers@290", *more)
        self.wait_for("their end", lambda: not any("n2nq-receivers" in command for command in self.lab.processes("h3").values()))
        self.wait_for("who stands by", lambda: any("timeout 13" in command for command in self.lab.processes("h3").values()))
        self.assertEqual(len(self.left_in_memory()), 1)
        return bench

    def left_in_memory(self):
        return [path for path in self.lab.files("h3") if path.startswith("/dev/shm/")]

    def wait_until_paused(self, role, host):
        self.wait_for("the pause", lambda: re.search(rf"^T.* n2nq-{role}", self.lab.inside(host, "ps", "-e", "-o", "stat=,comm="), re.M))

    def test_killed_bench_behind_a_killed_group_and_a_paused_one(self):
        for repeat in range(REPEATS):
            bench = self.begin_and_kill_receivers(f"killed-both-{repeat}", "--fault", "pause:senders@3")
            self.wait_until_paused("senders", "h2")
            self.note_cut()
            bench.kill()
            bench.wait()
            self.wait_for("it to be moved", lambda: not self.left_in_memory())
            self.check_end("killed bench behind a killed group")

    def test_unplugged_host_of_a_killed_group(self):
        """The run goes on without it. What was moved there is read back when the cable is put back."""
        for repeat in range(REPEATS):
            out = f"killed-and-unplugged-{repeat}"
            bench = self.begin_and_kill_receivers(out)
            self.note_cut()
            self.lab.set_plugged_in("h3", False)
            self.wait_for("it to be moved", lambda: not self.left_in_memory())
            self.assertLess(time.monotonic() - self.cut_at, GONE_S + self.held_up_s())
            self.wait_for("who stood by to be gone", lambda: not self.lab.processes("h3"))
            self.assertLess(time.monotonic() - self.cut_at, GONE_S + self.held_up_s())
            self.assertEqual(len([path for path in self.lab.files("h3") if path.endswith(".staging") and f"/{out}.receivers-" in path]), 1)
            self.lab.set_plugged_in("h3", True)
            bench.send_signal(signal.SIGINT)
            output, _ = bench.communicate(timeout=120)
            self.assertEqual(bench.returncode, 130, output)
            self.assertNotIn("could not be read back", output)
            run = RunFolder(self.folder / out)
            self.assertEqual(run.summary["ledger"]["total"]["delivered"], sum(len(log.rows) for log in run.receivers.values()))
            self.assertEqual([path for path in self.lab.files("h3") if not ALLOWED.match(path) or f".{out}-" in path], [])

    def test_blackhole(self):
        """Of a host whose sshd asks who is silent: so neither it nor what it has started for SFTP stays. It asks once more than it says, and
        each time may take twice as long: 12 s."""
        self.addCleanup(self.lab.set_sshd, "h2", ClientAliveInterval=0, ClientAliveCountMax=3, Subsystem="sftp internal-sftp")
        self.lab.set_sshd("h2", ClientAliveInterval=2, ClientAliveCountMax=2, Subsystem="sftp /usr/lib/openssh/sftp-server")
        self.sshd_ends_on = ("h2",)

        def cut(_):
            self.assertTrue(self.lab.sshd_of_sessions("h2"))
            self.assertIn("/usr/lib/openssh/sftp-server", self.lab.processes("h2").values())
            self.lab.shape_links({"blackhole": True}, ["h2"])
        self.each_way("blackhole", cut, comes_back=True)

    def test_blackhole_of_all(self):
        self.each_way("blackhole of all", lambda bench: self.lab.shape_links({"blackhole": True}), comes_back=True)

    def test_killed_bench(self):
        def kill(bench):
            bench.kill()
            bench.wait()
        self.each_way("killed bench", kill)

    def test_killed_sshd_of_the_session(self):
        def kill(_):
            pids = " ".join(map(str, self.lab.sshd_of_sessions("h2")))
            self.lab.inside("h2", "sh", "-c", f"kill -9 {pids}; true")  # of earlier sessions, some end meanwhile
        self.each_way("killed sshd", kill)

    def test_bench_that_sleeps(self):
        """As with a lid that is closed: nothing is left, and when it wakes up it says what has happened."""
        for repeat in range(REPEATS):
            bench = self.begin(f"sleep-{repeat}")
            self.note_cut()
            bench.send_signal(signal.SIGSTOP)
            self.addCleanup(bench.send_signal, signal.SIGCONT)
            self.check_end("bench that sleeps")
            stopped_s = time.monotonic() - self.cut_at
            bench.send_signal(signal.SIGCONT)
            output, _ = bench.communicate(timeout=120)
            self.assertEqual(bench.returncode, 1, output)
            told = re.search(r"stood still for up to (\d+) s", output)
            self.assertTrue(told, output)
            self.assertLess(abs(int(told[1]) - stopped_s), 2 + self.held_up_s(), "it is told in whole seconds")
            self.assertNotIn("exit code 3", output)

    def test_bench_that_stands_still_for_a_moment(self):
        """Nobody else is blamed for that, and nobody waited for it: the run goes on, and says what it did not see."""
        for repeat in range(REPEATS):
            bench = self.begin(f"moment-{repeat}")
            stopped = []
            # Hosts are asked every few seconds: it is not to depend on when.
            for _ in range(2):
                held_up_s = hold_ups()
                stopped_s = stop_for(bench.pid, MOMENT_S)
                goes_on_at, before = time.monotonic(), self.carried()
                self.wait_for("it to have had a chance to take its silence for theirs",
                              lambda: time.monotonic() > goes_on_at + AGAIN_S or self.check_alive(bench))
                self.assertGreater(self.carried(), before + 200)
                stopped.append((stopped_s, held_up_s()))
            bench.send_signal(signal.SIGINT)
            output, _ = bench.communicate(timeout=120)
            self.assertEqual(bench.returncode, 130, output)
            summary = json.loads((self.folder / f"moment-{repeat}" / "summary.json").read_text())
            # Over links without delay a single latency may be shorter than what the clocks of the hosts are known to.
            harmless = ("stopped by the user", "stood still", "below zero", "tell nothing finer")
            self.assertEqual([reason for reason in summary["reasons"] if not is_late(reason) and not any(words in reason for words in harmless)], [])
            self.assertIn(summary["verdict"], ("stopped", "degraded"))
            self.assertEqual([event["kind"] for event in summary["events"]], ["standstill"] * 2)
            told_s = [re.search(r"stood still for ([0-9.]+) s", event["what"])[1] for event in summary["events"]]
            self.assertEqual(re.findall(r"n2nq-bench: This bench stood still for ([0-9.]+) s", output), told_s, output)
            # It looks five times a second, and does not count the time to the next look. What was measured here may be a little too long.
            for told, (stopped_s, held_up_s) in zip(map(float, told_s), stopped):
                self.assertGreater(told, stopped_s - 0.5 - held_up_s)
                self.assertLess(told, stopped_s + 1 + held_up_s)

    def test_ctrl_c(self):
        for name in self.lab.hosts:  # what benches that were killed have left stays for a day
            self.lab.inside(name, "sh", "-c", f"rm -rf {RUN_FOLDERS}/*")
        for repeat in range(REPEATS):
            bench = self.begin(f"ctrl-c-{repeat}")
            self.note_cut()
            bench.send_signal(signal.SIGINT)
            output, _ = bench.communicate(timeout=120)
            self.assertEqual(bench.returncode, 130, output)
            self.check_end("Ctrl+C")
            for name in self.lab.hosts:
                self.assertEqual(self.lab.inside(name, "find", RUN_FOLDERS, "-mindepth", "1"), "", name)


if __name__ == "__main__":
    main()
