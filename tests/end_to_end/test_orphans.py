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

from bench import BenchCase, alive, children, is_sound

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
