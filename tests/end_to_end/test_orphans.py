#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""However the bench ends, no process stays behind."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import unittest

from bench import BIN, BenchCase, alive, children, is_sound, start_with_nobody

PROGRAMS = {"n2nq-broker", "n2nq-senders", "n2nq-receivers"}


class Orphans(BenchCase):
    def started(self):
        process = self.start("quick", "--set", "senders.duration_s=60")
        self.wait_until_traffic()
        found = children(process.pid)
        self.assertEqual(set(found), PROGRAMS)
        return process, found

    def check_gone(self, found):
        self.wait_for("all processes to be gone", lambda: not any(alive(pid) for pid in found.values()))

    def test_killed_bench(self):
        process, found = self.started()
        process.kill()
        process.wait()
        self.check_gone(found)
        # What was written so far can be read: settings, and logs whose lines are whole.
        self.assertIn("format: 1", (self.folder / "run" / "settings.yaml").read_text())
        log = (self.folder / "run" / "receivers" / "R001.log").read_text()
        self.assertTrue(log.startswith("#"))

    def wait_until_paused(self, found):
        pid = found["n2nq-receivers"]
        self.wait_for("the pause", lambda: pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T")

    def test_killed_bench_of_a_paused_group(self):
        process = self.start("quick", "--set", "senders.duration_s=60", "--fault", "pause:receivers@1")
        self.wait_until_traffic()
        found = children(process.pid)
        self.wait_until_paused(found)
        process.kill()
        process.wait()
        self.check_gone(found)

    def test_killed_bench_of_a_paused_group_whose_next_parent_is_of_the_same_session(self):
        """As in a container. There the kernel lets nobody go on."""
        program = """if True:
            import ctypes, subprocess, sys, time
            ctypes.CDLL(None).prctl(36, 1)  # PR_SET_CHILD_SUBREAPER
            print(subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL).pid, flush=True)
            time.sleep(600)"""
        run = [BIN / "n2nq-bench", "run", "quick", "--set", "senders.duration_s=60", "--fault", "pause:receivers@1", "--out", self.folder / "run"]
        parent = start_with_nobody([sys.executable, "-c", program, *run])
        self.processes.append(parent)
        bench = int(parent.stdout.readline())
        self.wait_until_traffic()
        found = {name: pid for name, pid in children(bench).items() if name in PROGRAMS}
        self.addCleanup(lambda: [os.kill(pid, signal.SIGKILL) for pid in found.values() if alive(pid)])
        self.assertEqual(set(found), PROGRAMS)
        self.wait_until_paused(found)
        watches = children(bench)
        os.kill(bench, signal.SIGKILL)
        self.check_gone({**watches, **found})

    def test_a_test_that_is_killed_leaves_no_bench(self):
        """As with Ctrl+C, which a session of its own does not get."""
        program = """if True:
            import os, pathlib, sys
            from bench import BenchCase
            test = BenchCase()
            test.folder, test.processes = pathlib.Path(sys.argv[1]), []
            bench = test.start("quick", "--set", "senders.duration_s=3600")
            test.wait_until_traffic()
            print(bench.pid, flush=True)
            os.kill(os.getpid(), 9)"""
        killed = subprocess.run([sys.executable, "-B", "-c", program, self.folder], cwd=pathlib.Path(__file__).parent,
                                stdout=subprocess.PIPE, text=True)
        bench = int(killed.stdout)
        self.addCleanup(lambda: alive(bench) and os.kill(bench, signal.SIGKILL))
        self.wait_for("the bench to be gone", lambda: not alive(bench))

    def test_ctrl_c_keeps_what_was_measured(self):
        process, found = self.started()
        os.kill(process.pid, signal.SIGINT)
        output, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, output)
        self.check_gone(found)
        summary = json.loads((self.folder / "run" / "summary.json").read_text())
        others = [reason for reason in summary["reasons"] if reason != "stopped by the user"]
        self.assertEqual(len(summary["reasons"]) - len(others), 1, summary["reasons"])
        self.assertTrue(summary["verdict"] == "stopped" or is_sound({"verdict": summary["verdict"], "reasons": others}), summary["reasons"])
        self.assertGreater(summary["ledger"]["total"]["delivered"], 0)

    def test_killed_broker_breaks_the_run_and_is_named(self):
        process, found = self.started()
        os.kill(found["n2nq-broker"], signal.SIGKILL)
        output, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1, output)
        self.check_gone(found)
        summary = json.loads((self.folder / "run" / "summary.json").read_text())
        self.assertEqual(summary["verdict"], "broken")
        self.assertTrue(any("N2NQ" in reason for reason in summary["reasons"]), summary["reasons"])


if __name__ == "__main__":
    unittest.main()
