#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Logs that are on their way back when the link is cut: that is said, they go on where they were when it is there again, and the result is as if
nothing had been. N2NQ_LAB_REPEATS: how many cuts, each at another place (1)."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

from bench import BIN
from lab import LabCase, main
from run_folder import RunFolder

CUTS = int(os.environ.get("N2NQ_LAB_REPEATS", 1))
SERVICES, MESSAGES = 20, 160  # the logs take 5 s and more over 8 Mbit/s: the cut comes meanwhile, also on a busy machine
PLACES = ["--set", "broker.host=h1", "--set", "senders.host=h2", "--set", "receivers.host=h3"]


class Fetching(LabCase):
    hosts, arguments = 3, {"shape": {"delay_ns": 0}}

    def brought(self, folder):
        return sum(path.stat().st_size for path in folder.glob("receivers/R*.log"))

    def test_a_cut_while_they_are_fetched(self):
        self.lab.shape_links({"rate_bps": 8_000_000}, ["h3"], ["up"])
        self.addCleanup(self.lab.shape_links, {"blackhole": False, "rate_bps": 0})
        for cut in range(CUTS):
            folder = self.folder / f"cut-{cut}"
            bench = self.start("quick", *PLACES, "--set", f"senders.amount={SERVICES}", "--set", f"receivers.amount={SERVICES}", "--set",
                               f"senders.messages={MESSAGES}", "--set", "senders.delay_ms=50", "--json", out=folder.name)
            self.wait_for("logs to come", lambda: self.brought(folder) > 200_000 * (cut % 10))
            self.lab.shape_links({"blackhole": True}, ["h3"])
            output = self.said_until_fetching_waits(bench)
            self.assertIn("h3", output.splitlines()[-1])
            self.lab.shape_links({"blackhole": False}, ["h3"])
            rest, _ = bench.communicate(timeout=120)
            self.assertEqual(bench.returncode, 0, output + rest)
            told = [json.loads(line)["progress"] for line in (output + rest).splitlines() if line.startswith('{"progress"')]
            fetched = [each["fetched"] for each in told if each["doing"] == "fetching logs"]
            self.assertTrue(fetched and all(0 <= share <= 1 for share in fetched), fetched)
            run = RunFolder(folder)
            self.assert_clean(folder.name, run.summary, 0)
            self.assertEqual(sum(len(log.rows) for log in run.receivers.values()), SERVICES * SERVICES * MESSAGES)
            verified = subprocess.run([sys.executable, "-B", pathlib.Path(__file__).with_name("verify_run.py"), folder], capture_output=True, text=True)
            self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)
            self.assertEqual([path for path in self.lab.files("h3") if "/runs/" in path], [])

    def test_keys_that_are_exchanged_anew_disturb_nothing(self):
        """As sshd does each hour or gigabyte, unless it is told to sooner: while messages flow and, on the other connection, while logs come."""
        for option, usual in {"RekeyLimit": "default none", "LogLevel": "VERBOSE"}.items():
            self.addCleanup(self.lab.set_sshd, "h3", **{option: usual})
        self.lab.set_sshd("h3", RekeyLimit="1M 3s", LogLevel="DEBUG1")
        said_before = len(self.lab.sshd_log("h3"))
        folder = self.run_bench("quick", *PLACES, "--set", "senders.messages=300", "--set", "senders.delay_ms=40", out="rekeyed")
        run = RunFolder(folder)
        self.assert_clean(folder.name, run.summary, 0)
        self.check_logs(run, 10)
        self.assertGreater(self.brought(folder), 2_000_000)
        self.assertGreater(self.lab.sshd_log("h3")[said_before:].count("ssh_set_newkeys: rekeying out"), 5, "of both, in a run of 12 s")
        self.assertEqual([path for path in self.lab.files("h3") if "/runs/" in path], [])

    def test_a_narrow_link(self):
        """A megabyte takes longer than a host may be silent: what comes counts."""
        self.lab.shape_links({"rate_bps": 500_000}, ["h3"], ["up"])
        self.addCleanup(self.lab.shape_links, {"rate_bps": 0})
        messages = 6000
        folder = self.run_bench("quick", *PLACES, "--set", "senders.amount=1", "--set", "receivers.amount=1", "--set",
                                f"senders.messages={messages}", "--set", "senders.delay_ms=1", out="narrow")
        run = RunFolder(folder)
        self.assertGreater((folder / "receivers" / "R001.log").stat().st_size, 500_000)
        self.assertEqual(len(run.receivers[1].rows), messages)
        self.assertEqual([reason for reason in run.summary["reasons"] if "log" in reason], [])

    def test_a_link_that_takes_less_than_the_plan_bends_no_plan(self):
        """What it does not take lags behind, and the result says what came of the rate that was asked for."""
        self.addCleanup(self.lab.shape_links, {"rate_bps": 0})
        bench = self.start("quick", *PLACES, "--set", "senders.amount=1", "--set", "receivers.amount=1", "--set", "senders.size_bytes=1000", "--set",
                           "senders.rate_per_s=2000", "--set", "senders.duration_s=4", "--json", out="less")
        while '"running"' not in (line := bench.stdout.readline()):
            self.assertNotEqual(line, "")
        self.lab.shape_links({"rate_bps": 8_000_000}, ["h2"], ["up"])  # half of it
        output, _ = bench.communicate(timeout=120)
        summary = RunFolder(self.folder / "less").summary
        [reason] = [reason for reason in summary["reasons"] if reason.startswith("plan not kept")]
        late_ms, achieved, offered = map(int, re.fullmatch(r"plan not kept: the last message was (\d+) ms late, (\d+) of (\d+) messages/s", reason).groups())
        self.assertEqual(offered, 2000)
        self.assertLess(achieved, 1600)
        self.assertGreater(late_ms, 1000)
        self.assertEqual(summary["verdict"], "degraded", output)
        self.assertEqual(summary["ledger"]["total"]["attempted"], 8000, "the plan stays what it is")
        self.assertEqual(summary["ledger"]["total"]["delivered"], 8000)
        self.assertGreater(summary["latency_from_plan_us"]["max"], 1_000_000)

    def test_a_run_in_the_folder_of_one_that_was_killed_brings_its_own_logs_alone(self):
        folder = self.folder / "again"
        dead = self.start("quick", *PLACES, "--set", "senders.duration_s=30", out="again")
        self.wait_for("logs there", lambda: any(path.endswith("/R010.log") for path in self.lab.files("h3")))
        dead.kill()
        dead.communicate()
        for host in ("h1", "h2", "h3"):  # what it left stays for a day
            self.addCleanup(self.lab.inside, host, "sh", "-c", "rm -rf /home/lab/.cache/n2nq-bench/runs/*")
        shutil.rmtree(folder)
        bench = self.start("quick", *PLACES, "--set", "senders.amount=4", "--set", "receivers.amount=4", "--set", "senders.messages=20",
                           "--set", "senders.delay_ms=20", out="again")
        output, _ = bench.communicate(timeout=120)
        self.assertEqual(bench.returncode, 0, output)
        run = RunFolder(folder)
        self.assert_clean(folder.name, run.summary, 0)
        self.assertEqual(sorted(path.name for path in folder.glob("*/*.log")), [f"{role}00{i}.log" for role in "RS" for i in range(1, 5)])
        self.assertEqual(len((folder / "broker.log").read_text().split("listening on")), 2)
        verified = subprocess.run([sys.executable, "-B", pathlib.Path(__file__).with_name("verify_run.py"), folder], capture_output=True, text=True)
        self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)

    def test_a_host_that_boots_before_its_disk_is_there_is_read_back_and_fetched_from(self):
        """Its group is dead, what it had in memory is gone with that, and for a while there is nothing where its logs were."""
        self.addCleanup(self.lab.shape_links, {"blackhole": False})
        bench = self.start("quick", *PLACES, "--set", "senders.amount=4", "--set", "receivers.amount=4", "--set", "senders.delay_ms=20", "--set",
                           "senders.duration_s=8", out="booted")
        self.wait_for("logs there", lambda: any(path.endswith("/S004.log") for path in self.lab.files("h2")))
        self.lab.shape_links({"blackhole": True}, ["h2"])
        time.sleep(1)  # what it goes on to note is read back
        self.lab.inside("h2", "sh", "-c", "pkill -KILL -u lab; mv /home/lab/.cache/n2nq-bench /home/lab/unmounted")
        time.sleep(8)  # until that is noticed
        self.lab.shape_links({"blackhole": False}, ["h2"])
        output = self.said_until_fetching_waits(bench)
        self.assertIn("is not there", output.splitlines()[-1])
        self.assertEqual([path for path in self.lab.files("h2") if "/n2nq-bench/" in path], [], "nothing is made where the disk will be")
        self.lab.inside("h2", "mv", "/home/lab/unmounted", "/home/lab/.cache/n2nq-bench")
        rest, _ = bench.communicate(timeout=120)
        run = RunFolder(self.folder / "booted")
        self.assertEqual(run.summary["verdict"], "broken", output + rest)
        self.assertNotIn("final account", " ".join(run.summary["reasons"]))
        self.assertEqual(sum(len(log.rows) for log in run.senders.values()), run.summary["ledger"]["total"]["attempted"], run.summary["reasons"])
        verified = subprocess.run([BIN / "n2nq-bench", "verify", run.folder], capture_output=True, text=True)
        self.assertEqual(verified.returncode, 0, verified.stdout[-2000:])
        self.assertEqual([path for path in self.lab.files("h2") if "/runs/" in path], [])

    def test_logs_that_are_removed_there_are_missed(self):
        bench = self.start("quick", *PLACES, "--set", "senders.duration_s=4", out="removed")
        self.wait_for("logs there", lambda: any(path.endswith("/R001.log") for path in self.lab.files("h3")))
        self.lab.inside("h3", "sh", "-c", "rm /home/lab/.cache/n2nq-bench/runs/*/*.log")
        output, _ = bench.communicate(timeout=120)
        self.assertEqual(bench.returncode, 0, output)
        run = RunFolder(self.folder / "removed")
        self.assertEqual(run.summary["verdict"], "degraded", output)
        self.assertIn("log incomplete: 10 of 10 logs of the receivers are missing, the first is R001.log", "; ".join(run.summary["reasons"]))


if __name__ == "__main__":
    main()
