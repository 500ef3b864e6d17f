#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Receivers that stop reading and are cut off, before and after whatever else befalls a run: what went with their connections is told apart
from what was lost otherwise, and the others go on."""
import pathlib
import shlex
import sys
import unittest

from bench import BIN, SKIPPED, BenchCase
from run_folder import RunFolder
from verify_run import verify

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "lab"))
from bare_hosts import AS_ROOT, Impossible, check_possible

STOPS_READING = "stop-reading:R001@1.5"
# In a network of its own, whose buffers are full soon: the system's may grow to tens of MiB, and take all that comes until the next fault.
SMALL_BUFFERS = '''
ip link set lo up && for buffer in rmem wmem; do echo 4096 131072 262144 >/proc/sys/net/ipv4/tcp_$buffer || exit; done && exec "$0" "$@"
'''


class CutOff(BenchCase):
    def start(self, *arguments, **more):
        bench = self.folder / "n2nq-bench"
        command = ["unshare", *AS_ROOT, "--net", "sh", "-c", SMALL_BUFFERS, str(BIN / "n2nq-bench")]
        bench.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
        bench.chmod(0o700)
        return super().start(*arguments, bin=self.folder, **more)

    def run_with(self, *faults, mode="load-balancer", out="run", **more):
        values = {"queue.mode": mode, "senders.amount": 3, "receivers.amount": 3, "senders.messages": 4000, "senders.delay_ms": 1,
                  "senders.size_bytes": 5000, "limits.write_deadline_s": 0.3, **more}
        folder = self.run_bench("quick", *(word for key, value in values.items() for word in ("--set", f"{key}={value}")),
                                *(word for fault in faults for word in ("--fault", fault)), out=out, expect_exit=None)
        run = RunFolder(folder)
        self.assertTrue(run.summary["ledger"]["balanced"], run.summary["reasons"])
        self.assertEqual(verify(folder).differences, [])
        return run, run.summary["ledger"]["receivers"][0]

    @staticmethod
    def on_connections(log):
        """How many were received on each of them."""
        counts = [0]
        for row in log.rows:
            if "reconnected" in row["flags"].split(","):
                counts.append(0)
            counts[-1] += 1
        return counts

    @staticmethod
    def others_were_cut_off(run):
        """They had no turn for as long as the write deadline: such a run shows nothing."""
        return any("cut_connection" in receiver for receiver in run.summary["ledger"]["receivers"][1:])

    def assert_gone(self, total, told, received):
        """One more than was handed over: of that the kernel had taken a part."""
        self.assertIn(total["cut_off"] - (told["cut_connection"]["handed_over"] - received), (0, 1), self.output)

    def test_the_others_go_on_when_the_group_is_restarted_after_it(self):
        for mode in ("load-balancer", "broadcaster"):
            for responses in ("true", "false"):
                with self.subTest(f"{mode}, responses {responses}"):
                    run, told = self.run_with(STOPS_READING, "restart:receivers@3.4", mode=mode, out=f"{mode}-{responses}",
                                           **{"queue.responses": responses, "queue.retention_s": 60, "responses.window": 8192})
                    self.assertIn("cut_connection", told, self.output)
                    ledger, reasons = run.summary["ledger"], run.summary["reasons"]
                    self.assertEqual(ledger["total"]["attempted"], ledger["planned"], reasons)
                    self.assertTrue(any(reason.startswith("R001: ") for reason in reasons), reasons)
                    self.assertFalse(any("failed" in reason for reason in reasons), reasons)
                    if responses == "true":
                        self.assertEqual(ledger["total"]["lost"], 0, reasons)
                        self.assertEqual(run.summary["verdict"], "degraded", reasons)

    def test_when_all_are_cut_off_it_is_said_and_breaks_nothing(self):
        folder = self.run_bench("quick", *(word for pair in (
            "senders.amount=4", "receivers.amount=2", "senders.messages=200", "senders.delay_ms=10", "senders.size_bytes=20000",
            "limits.pending_mib=1", "queue.responses=true") for word in ("--set", pair)),
            "--fault", "stop-reading:R001@0.5", "--fault", "stop-reading:R002@0.5")
        summary = RunFolder(folder).summary
        total = summary["ledger"]["total"]
        self.assertEqual(summary["verdict"], "degraded", summary["reasons"])
        self.assertEqual((total["delivered"] + total["cut_off"], total["lost"]), (2 * total["accepted"], 0), summary["reasons"])

    def test_what_was_lost_before_stays_lost_when_the_group_dies_after_it(self):
        # Where the machine held R001 over both instants, it stopped and went in one step, and lost nothing; where it held all of them up, R001
        # was killed before it was cut off. Such a run shows nothing, so another.
        shown = False
        for attempt in range(5):
            run, told = self.run_with("stop-reading:R001@0.5", "disconnect:R001@1.1", "normal:R001@1.15", "stop-reading:R001@1.8",
                                      "kill:receivers@3.4", out=f"run-{attempt}", **{"limits.write_deadline_s": 0.8})
            if "cut_connection" not in told or self.others_were_cut_off(run):
                continue
            counts = self.on_connections(run.receivers[1])
            handed_over_first = told["handed_over"] - told["cut_connection"]["handed_over"]
            total = run.summary["ledger"]["total"]
            print(f"lost {total['lost']}, cut off {total['cut_off']}; handed over {handed_over_first} + "
                  f"{told['cut_connection']['handed_over']}, received {counts}")
            shown = len(counts) == 2 and handed_over_first > counts[0]
            if shown:
                break
        self.assertTrue(shown, "it was cut off before it was disconnected, or not at all, or lost nothing before, five times")
        first, last = counts
        # Those that died with the group are lost as well.
        self.assert_gone(total, told, last)
        self.assertGreaterEqual(total["lost"], handed_over_first - first)

    def test_n2nq_that_was_restarted_before_it_knows_what_went_with_it(self):
        for attempt in range(5):
            run, told = self.run_with("restart:broker@0.5", "stop-reading:R001@2.2", out=f"run-{attempt}", **{"limits.write_deadline_s": 1})
            if not self.others_were_cut_off(run):
                break
        self.assertIn("cut_connection", told, self.output)
        *_, last = self.on_connections(run.receivers[1])
        total = run.summary["ledger"]["total"]
        print(f"lost {total['lost']}, cut off {total['cut_off']} of {total['accepted']}")
        self.assert_gone(total, told, last)
        self.assertGreater(total["cut_off"], 0)


if __name__ == "__main__":
    try:
        check_possible("--net", "sh", "-c", SMALL_BUFFERS, "true")
    except Impossible as why:
        print(f"skipped: {why}")
        sys.exit(SKIPPED)
    unittest.main()
