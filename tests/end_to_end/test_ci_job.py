#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The commands of docs/examples/ci-job.yml as they stand there, in a run made shorter."""
import json
import pathlib
import re
import shlex
import subprocess
import unittest

from bench import BIN, BenchCase

JOB = pathlib.Path(__file__).parents[2] / "docs/examples/ci-job.yml"


def commands():
    """The `run:` texts; a folded one (`>`) is one line for the shell."""
    found, folded = [], None
    for line in JOB.read_text().splitlines():
        if folded is not None and re.match(r" {10}\S", line):
            folded.append(line.strip())
            continue
        if folded is not None:
            found.append(" ".join(folded))
            folded = None
        match = re.match(r" {8}run: (.*)", line)
        if match:
            folded = [] if match[1] == ">" else None
            if match[1] != ">":
                found.append(match[1])
    return found


class CiJob(BenchCase):
    def step(self, command):
        command = command.replace("app/run", shlex.quote(str(BIN / "n2nq-bench")), 1)
        done = subprocess.run(["sh", "-e", "-c", command], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        return done.returncode, done.stderr + done.stdout

    def test_it_does_what_it_says(self):
        run, verify = commands()
        short = run.replace("run thesis-baseline", "run thesis-baseline --set senders.amount=5 --set receivers.amount=5")
        short = short.replace("senders.messages=50", "senders.messages=3")
        self.assertNotEqual(short, run)
        # On a machine where anything may run beside it: whether the bounds hold is told by the figures.
        code, said = self.step(short)
        summary = json.loads((self.folder / "result.jsonl").read_text().splitlines()[-1])
        asserted = summary["assertions"]
        self.assertEqual(len(asserted), run.count("--assert"), said)
        for figure in ("latency_us.p99", "latency_us.max", "ledger.total.expired", "plan.last_message_late_ms"):
            self.assertIn(figure, json.dumps(asserted))
        self.assertEqual(code, 0 if summary["verdict"] == "clean" and all(each["met"] for each in asserted) else 1, said)
        # A bound that nothing holds fails the job, and says by how much.
        code, said = self.step(short.replace("latency_us.p99 < 20000", "latency_us.p99 < 0.001").replace("result", "other"))
        self.assertEqual(code, 1, said)
        self.assertRegex(said, r"latency_us\.p99 < 0\.001: not met: [\d.]+ µs")
        code, said = self.step(verify)
        self.assertEqual(code, 0, said)
        for path in re.findall(r"^ {12}(\S+)$", JOB.read_text(), re.MULTILINE):
            self.assertTrue((self.folder / path).exists(), path)


if __name__ == "__main__":
    unittest.main()
