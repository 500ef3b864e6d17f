#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real disk that is full: the run goes on, every message is delivered, and the result says what could not be written and why."""
import fcntl
import json
import os
import pathlib
import socket
import subprocess
import sys
import unittest

from bench import BIN, DEADLINE_S, BenchCase
from control import Process, configure, start_broker

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "lab"))
from bare_hosts import AS_ROOT, skip_unless_possible

# In a mount namespace of its own: whatever becomes of this test, nothing stays mounted. $0 is the folder.
MOUNT = 'mount -t tmpfs -o size=2m none "$0"'
# What is in the run's folder then stands beside it.
RUN = MOUNT + ' && { "$@"; code=$?; ls "$0/run" >"$0.files"; exit $code; }'


class DiskFull(BenchCase):
    def test_run_on_a_full_disk(self):
        disk = self.folder / "disk"
        disk.mkdir()
        bench = [BIN / "n2nq-bench", "run", "thesis-baseline", "--set", "senders.delay_ms=20", "--set", "queue.remove=when-all-have-it",
                 "--set", "queue.retention_s=60", "--json", "--out", disk / "run"]
        skip_unless_possible(self, "--mount", "sh", "-c", MOUNT, disk)
        done = subprocess.run(["unshare", *AS_ROOT, "--mount", "sh", "-c", RUN, disk, *bench], capture_output=True, text=True,
                              timeout=DEADLINE_S)
        self.assertTrue(done.stdout, done.stderr)
        self.assertEqual(done.returncode, 1, done.stderr)

        summary = json.loads(done.stdout.splitlines()[-1])  # stdout has room where the disk has none
        total = summary["ledger"]["total"]
        self.assertEqual((total["attempted"], total["delivered"], total["lost"]), (2_500, 125_000, 0), summary["reasons"])
        self.assertEqual(summary["latency_us"]["count"], 125_000)
        self.assertEqual(summary["verdict"], "broken", "a result that cannot be kept is none")
        files = (self.folder / "disk.files").read_text().split()
        log = summary["logs"]["receivers"]
        self.assertEqual(log["lines"] + log["dropped"], 125_000)
        self.assertGreater(log["dropped"], 0)
        for path in ("receivers/R", "messages.tsv", "latency.hgrm", "summary.json"):
            named = [r for r in summary["reasons"] if path in r and "No space left on device" in r]
            # A few kB may fit behind the last line that found room: then it is there.
            fits = path == "latency.hgrm" and not named and path in files
            self.assertEqual(len(named), 0 if fits else 1, summary["reasons"])

    def test_what_cannot_be_begun_on_a_full_disk_is_no_bad_input(self):
        disk = self.folder / "disk"
        disk.mkdir()
        skip_unless_possible(self, "--mount", "sh", "-c", MOUNT, disk)
        full = MOUNT + ' && { head -c 4M /dev/zero >"$0/all" 2>/dev/null; "$@"; }'
        for words in (["run", "quick"], ["case", "1"]):
            bench = [BIN / "n2nq-bench", *words, "--out", disk / "out"]
            done = subprocess.run(["unshare", *AS_ROOT, "--mount", "sh", "-c", full, disk, *bench], capture_output=True, text=True,
                                  timeout=DEADLINE_S)
            self.assertRegex(done.stderr, "Cannot (make|write) ", words)
            self.assertEqual(done.returncode, 1, words)


class DiskThatTakesNothing(BenchCase):
    """What N2NQ would write its log to is a pipe that nobody reads."""

    def setUp(self):
        super().setUp()
        self.log = self.folder / "broker.log"
        os.mkfifo(self.log)

    def test_it_keeps_no_broker_that_has_said_its_last_word(self):
        reader = os.open(self.log, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 4096)
        broker, port = start_broker(1, 1, log_file=str(self.log))
        self.addCleanup(broker.close)
        for _ in range(200):
            with socket.create_connection(("127.0.0.1", port)) as stranger:
                stranger.sendall(b"no HELLO at all!")
                stranger.recv(1000)  # it is told that, behind which the log has a line of it
        broker.send(type="bye")
        faults = broker.wait_for("bye")["faults"]
        self.assertEqual(faults, [f"broker log incomplete: {self.log}: the disk has not taken its last lines yet"])
        self.assertEqual(broker.popen.wait(DEADLINE_S), 0)

    def test_it_keeps_no_broker_whose_bench_is_gone(self):
        broker = Process("n2nq-broker")
        self.addCleanup(broker.close)
        broker.send(**configure("broker", listen={"address": "127.0.0.1", "port": 0}, expect={"senders": 1, "receivers": 1},
                                log_file=str(self.log)))  # to open it takes until somebody reads
        broker.popen.stdin.close()
        self.assertEqual(broker.popen.wait(DEADLINE_S), 3)


class ReadBack(BenchCase):
    """Why nothing can be read back of a killed group is told by a code: whether it may pass hangs on it."""

    def code(self, log, prefix=()):
        logs = self.folder / "logs"
        logs.mkdir(exist_ok=True)
        if log:
            (logs / "R001.log").write_text(log)
        reader = Process("n2nq-receivers", [part or logs for part in prefix])
        self.addCleanup(reader.close)
        reader.send(**configure("receivers", system="n2nq", services={"first": 1, "last": 1, "total": 1}, senders_total=1,
                                queue_mode="broadcaster", staging_folder="/dev/shm", salvage="/dev/shm/n2nq-none.staging",
                                log={"mode": "all", "sample_every": 1, "folder": str(logs), "header": {}}))
        error = reader.wait_for("error")
        self.assertEqual(reader.popen.wait(DEADLINE_S), 2)
        self.assertIn("Read-only file system" if prefix else "staging file /dev/shm/n2nq-none.staging is gone", error["message"])
        return error["code"]

    def test_where_the_logs_are_read_only_it_may_pass(self):
        read_only = ["--mount", "sh", "-c", 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"']
        skip_unless_possible(self, *read_only, self.folder, "true")
        self.assertEqual(self.code("# format: 1\n", ["unshare", *AS_ROOT, *read_only, None]), "read-only")

    def test_where_nothing_is_left_of_it_it_is_gone(self):
        self.assertEqual(self.code(None), "gone")
        self.assertEqual(self.code("# format: 1\n"), "gone")


class OutputFull(BenchCase):
    def test_a_result_that_nobody_can_read_is_not_a_success(self):
        for command in (["run", "quick", "--set", "senders.messages=2", "--json", "--out", self.folder / "run"], ["settings"], ["--help"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run([BIN / "n2nq-bench", *command], stdout=full, stderr=subprocess.PIPE, text=True, timeout=DEADLINE_S)
            self.assertEqual(done.returncode, 1, command)
            self.assertIn("No space left on device", done.stderr)


if __name__ == "__main__":
    unittest.main()
