#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A link that goes dead in the middle of a run: both ends find out, say why, and go on when it is back. And processes that stand still, which must
not be taken for gone. N2NQ_HEARTBEAT_S sets the heartbeat time (2 s by default; a person's default is 10 s)."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest

from bench import DEADLINE_S, SKIPPED, BenchCase, hold_ups, stop_for
from control import copies, start_broker, start_group

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "lab"))
from bare_hosts import ADDRESSES, Link, become_root_here, skip_unless_possible

HEARTBEAT_S = float(os.environ.get("N2NQ_HEARTBEAT_S", 2))
TICK_S = 0.25  # between two looks of the workers
SENDERS, RECEIVERS = 4, 3


class Run(BenchCase):
    def connect_all(self, prefix=lambda host: [], address="127.0.0.1", out="run"):
        """The broker on host 0, the groups on host 1; their logs in FOLDER/out."""
        folder = self.folder / out
        folder.mkdir()
        self.log = folder / "broker.log"
        self.broker, port = start_broker(
            SENDERS, RECEIVERS, prefix=prefix(0), address=address, limits={"heartbeat_ms": int(HEARTBEAT_S * 1000), "reconnect_deadline_ms": 60000},
            log_file=str(self.log), mode="broadcaster", responses=True, retention_ms=600000)
        self.addCleanup(self.broker.close)
        common = {"prefix": prefix(1), "address": address}
        self.receivers = start_group("receivers", port, (1, RECEIVERS, RECEIVERS), folder / "receivers", senders_total=SENDERS,
                                     queue_mode="broadcaster", **common)
        self.addCleanup(self.receivers.close)
        self.senders = start_group("senders", port, (1, SENDERS, SENDERS), folder / "senders",
                                   load={"messages": None, "duration_ms": None, "size_bytes": [50, 50],
                                         "interval_ns": {"num": 50_000_000, "den": 1}, "start": "spread"}, **common)
        self.addCleanup(self.senders.close)
        for group in (self.receivers, self.senders):
            group.wait_for("state", state="connected")

    def start_traffic(self):
        """Until told to stop."""
        for group in (self.receivers, self.senders):
            group.send(type="start", at_broker_ns=0)
        self.wait_for_more()

    def received(self):
        self.receivers.send(type="stats", id=1, services=[])
        return self.receivers.wait_for("stats")["received"]

    def wait_for_more(self):
        """Until messages come that were not there before."""
        before = self.received()
        self.wait_for("messages", lambda: self.received() > before + 10 * SENDERS * RECEIVERS)

    def left(self):
        """Who left the broker, and why, in the order of its log."""
        return re.findall(r"([SR]\d+) \(\S+\) left: (.*)", self.log.read_text())

    def finish(self):
        self.senders.send(type="stop")
        byes = []
        for process in (self.senders, self.receivers, self.broker):
            if process is not self.broker:
                process.wait_for("state", state="ended")
            process.send(type="bye")
            byes.append(process.wait_for("bye"))
        senders, receivers, broker = byes
        # With responses nothing is lost, whatever happened to the connections.
        self.assertEqual(senders["accepted"], senders["attempted"])
        self.assertEqual(receivers["received"] - receivers["duplicated"], senders["accepted"] * RECEIVERS)
        self.assertEqual((receivers["unexpected"], receivers["out_of_order"], receivers["duplicated_unflagged"]), (0, 0, 0))
        return byes


class DeadLink(Run):
    def setUp(self):
        super().setUp()
        skip_unless_possible(self, "--net", "ip", "link", "add", "lab0", "type", "veth", "peer", "name", "lab1")
        self.link = Link()
        self.addCleanup(self.link.close)

    def test_both_ends_find_out_and_go_on_when_it_is_back(self):
        self.connect_all(self.link.prefix, ADDRESSES[0])
        self.start_traffic()
        everybody = {f"S{n:03}" for n in range(1, SENDERS + 1)} | {f"R{n:03}" for n in range(1, RECEIVERS + 1)}
        self.assertEqual(self.left(), [], "nobody is gone while the link is there")
        self.assertEqual(self.link.established(1), len(everybody))

        held_up_s = hold_ups()
        cut = time.monotonic()
        self.link.cut()
        known = {}  # end -> seconds behind the cut

        def both_know():
            if self.link.established(1) == 0:
                known.setdefault("workers", time.monotonic() - cut)
            if len(self.left()) == len(everybody):
                known.setdefault("broker", time.monotonic() - cut)
            return len(known) == 2
        self.wait_for("both ends to know", both_know)
        for end, seconds in sorted(known.items()):
            self.assertLessEqual(seconds - held_up_s(), 1.1 * HEARTBEAT_S + TICK_S, end)
            print(f"the {end} know{'s' * (end == 'broker')} after {seconds:.2f} s, {seconds / HEARTBEAT_S:.3f} x the heartbeat time of {HEARTBEAT_S:g} s")
        self.assertEqual({who for who, _ in self.left()}, everybody)
        for who, why in self.left():
            self.assertRegex(why, r"^silent: nothing was heard for \d+ ms, and its host acknowledges nothing", who)

        self.link.mend()
        self.wait_for_more()
        self.wait_for("all of them back", lambda: self.link.established(1) == len(everybody))
        senders, receivers, _ = self.finish()
        faults = senders["faults"] + receivers["faults"]
        self.assertEqual({fault[:4] for fault in faults}, everybody)
        # Whoever tried in vain meanwhile says what the last attempt met.
        for fault in faults:
            self.assertRegex(fault, r"connection lost for \d+ ms: ")


class StandStill(Run):
    def processes_of_run(self):
        return self.senders, self.receivers, self.broker

    def pids(self):
        return [process.popen.pid for process in self.processes_of_run()]

    def stops_for_less_than_the_heartbeat_time(self, out):
        """False where this machine held somebody up, beside a stop or for longer than it was to be stopped, which shows nothing."""
        self.connect_all(out=out)
        held_up_s = hold_ups()
        # Without traffic the last sign of life before a stop is older: a heartbeat.
        stopped_s = []
        for pid in self.pids():
            stopped_s.append(stop_for(pid, 0.8 * HEARTBEAT_S))
            time.sleep(0.4 * HEARTBEAT_S)  # a heartbeat of everybody's
        self.start_traffic()
        for pid in self.pids():
            stopped_s.append(stop_for(pid, 0.8 * HEARTBEAT_S))
            self.wait_for_more()
        if max(stopped_s) > 0.95 * HEARTBEAT_S or held_up_s() > 0.15 * HEARTBEAT_S:
            for process in self.processes_of_run():
                process.close()
            return False
        self.assertEqual(self.left(), [])
        for bye in self.finish():
            self.assertEqual(bye["faults"], [])
        return True

    def test_for_less_than_the_heartbeat_time_nobody_is_taken_for_gone(self):
        for attempt in range(5):
            if self.stops_for_less_than_the_heartbeat_time(f"run-{attempt}"):
                return
        self.fail("this machine holds everybody up")

    def test_for_much_longer_they_are_and_come_back(self):
        self.connect_all()
        self.start_traffic()
        os.kill(self.senders.popen.pid, signal.SIGSTOP)
        try:
            self.wait_for("N2NQ to take them for gone", lambda: len(self.left()) >= SENDERS)
        finally:
            os.kill(self.senders.popen.pid, signal.SIGCONT)
        self.wait_for_more()
        left = self.left()
        self.assertEqual({who for who, _ in left}, {f"S{n:03}" for n in range(1, SENDERS + 1)})
        for who, why in left:
            self.assertRegex(why, r"^silent: nothing was heard for \d+ ms, though its host answers: the process stands still, or sends no HEARTBEAT; one is due \d+ ms ", who)
        senders, receivers, _ = self.finish()
        self.assertEqual((len(senders["faults"]), receivers["faults"]), (SENDERS, []))


class WhereTheKernelRefuses(unittest.TestCase):
    """Tests that need namespaces or mounts of their own are skipped, and fail with N2NQ_NEED_LAB."""
    TESTS = (("test_link", "DeadLink", 0), ("test_disk_full", "DiskFull", 0), ("test_cut_off", "CutOff", SKIPPED))

    def without_rights(self, script, test, need):
        rights = ["setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin"] if os.geteuid() == 0 else []
        return subprocess.run([*rights, sys.executable, "-B", pathlib.Path(__file__).with_name(f"{script}.py"), "-v", test], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, "N2NQ_NEED_LAB": need}, timeout=DEADLINE_S)

    def test_they_are_skipped(self):
        for script, test, exit_code in self.TESTS:
            with self.subTest(script):
                done = self.without_rights(script, test, need="")
                self.assertEqual(done.returncode, exit_code, done.stdout)
                self.assertRegex(done.stdout, "skipped.*are forbidden here")

    def test_they_fail_where_none_may_be_skipped(self):
        for script, test, _ in self.TESTS:
            with self.subTest(script):
                done = self.without_rights(script, test, need="1")
                self.assertEqual(done.returncode, 1, done.stdout)
                self.assertRegex(done.stdout, r"are forbidden here.*\(N2NQ_NEED_LAB is set\)")


if __name__ == "__main__":
    become_root_here()
    unittest.main()
