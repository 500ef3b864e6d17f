#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Test cases with real processes: killed in the middle and gone on with, shuffled, of another build, stopped, asserted."""
import contextlib
import json
import os
import pathlib
import shlex
import shutil
import signal
import socket
import subprocess
import time
import unittest

from bench import BIN, DEADLINE_S, BenchCase, alive, children, start_with_nobody

CASE = """
format: 1
title: Small
settings: {{ senders: {{ messages: {messages}, delay_ms: 25 }} }}
axes:
  size: {{ key: senders.size_bytes, values: [50, 2000] }}
  services: {{ title: Services, keys: [senders.amount, receivers.amount], values: [1, 2] }}
repeats: {repeats}
figures:
  - {{ id: fig-1, title: Latency by services, x: services, y: latency_us.mean_lowest_95, series: size }}
  - {{ id: fig-2, title: By percentile, kind: percentiles, series: size, where: {{ services: 2 }} }}
"""
# Root may read everything, unless it gives that up.
AS_A_USER = [] if os.geteuid() else ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]


@contextlib.contextmanager
def denied(folder):
    folder.chmod(0)
    try:
        yield
    finally:
        folder.chmod(0o700)


class Cases(BenchCase):
    def write_case(self, messages=10, repeats=2):
        path = self.folder / "small.yaml"
        path.write_text(CASE.format(messages=messages, repeats=repeats))
        return path

    def environment(self):
        return dict(os.environ, XDG_DATA_HOME=str(self.folder / "data"), XDG_CONFIG_HOME=str(self.folder / "config"))

    def begin(self, *arguments, bin=BIN):
        process = start_with_nobody([bin / "n2nq-bench", "case", *map(str, arguments)], env=self.environment(), stderr=subprocess.PIPE)
        self.processes.append(process)
        return process

    def run_case(self, *arguments, expect_exit=0, bin=BIN):
        process = self.begin(*arguments, bin=bin)
        output, self.said = process.communicate(timeout=DEADLINE_S * 3)
        self.assertEqual(process.returncode, expect_exit, self.said + output)
        return output

    def interrupt(self, process):
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=DEADLINE_S)
        self.assertEqual(process.returncode, 130, said)
        return said

    def runs(self):
        return sorted((self.folder / "out/runs").iterdir())

    def summary(self, run):
        return json.loads((run / "summary.json").read_text())

    def finished(self):
        """Those that came to their end; one that was stopped leaves a summary, too."""
        with_summary = [run for run in self.runs() if (run / "summary.json").exists()] if (self.folder / "out/runs").exists() else []
        return [run for run in with_summary if self.summary(run)["verdict"] != "stopped"]

    def identity(self, run):
        """What tells runs of this case apart; worked out from what was written, not from names."""
        settings = self.summary(run)["settings"]
        return settings["senders"]["size_bytes"], settings["senders"]["amount"], settings["receivers"]["amount"], settings["seed"]

    def expect_complete(self):
        expected = {(size, amount, amount, seed) for size in (50, 2000) for amount in (1, 2) for seed in (1, 2)}
        self.assertEqual(sorted(map(self.identity, self.finished())), sorted(expected))

    def test_a_killed_case_goes_on(self):
        case = self.write_case(messages=40)
        process = self.begin(case, "--scale", "quick", "--out", self.folder / "out")
        self.wait_for("three finished runs and one on its way", lambda: len(self.finished()) >= 3 and len(self.runs()) > len(self.finished()))
        started = children(process.pid)
        process.kill()
        process.communicate()
        before = {run: (run / "summary.json").stat().st_mtime_ns for run in self.finished()}
        lost = [run for run in self.runs() if run not in before]
        self.wait_for("no process left over", lambda: not any(alive(pid) for pid in started.values()))

        output = self.run_case(case, "--resume", "--out", self.folder / "out", "--json")
        self.expect_complete()
        for run, when in before.items():
            self.assertEqual((run / "summary.json").stat().st_mtime_ns, when, f"{run} was touched")
        self.assertLessEqual(len(lost), 1)
        self.assertEqual(len(self.runs()), 8 + len(lost), "nothing is run twice")
        result = json.loads(output.splitlines()[-1])
        self.assertEqual(result["runs"]["done"], 8)
        self.assertIn(f"{len(before)} of 8 runs are there", self.said)

        self.run_case(case, "--resume", "--out", self.folder / "out")
        self.assertEqual(len(self.runs()), 8 + len(lost), "all are there: nothing is run")

    def test_figures_and_order(self):
        output = self.run_case(self.write_case(repeats=3), "--out", self.folder / "out", "--json", "--assert", "latency_us.p50 > 0")
        lines = [json.loads(line) for line in output.splitlines()]
        self.assertEqual({next(iter(line)) for line in lines[:-1]}, {"progress"})
        result = lines[-1]
        self.assertEqual(result["assertions"][0], {"text": "latency_us.p50 > 0", "runs": 12, "unmet": 0, "met": True})
        drawn, percentiles = result["figures"]
        self.assertEqual([series["name"] for series in drawn["series"]], ["50 B", "2000 B"])
        for series in drawn["series"]:
            self.assertEqual([point["x"] for point in series["points"]], [1, 2])
            for point in series["points"]:
                self.assertEqual(point["repeats"], 3)
                values = sorted(self.summary(pathlib.Path(folder))["latency_us"]["mean_lowest_95"] for folder in point["folders"])
                self.assertAlmostEqual(point["y"], values[1], places=9, msg="the median of the runs' own summaries")
                self.assertLessEqual(point["low"], point["y"])
                self.assertGreaterEqual(point["high"], point["y"])
        self.assertEqual(len(percentiles["series"]), 2)
        order = [self.identity(run) for run in self.runs()]
        blocks = [order[at:at + 4] for at in (0, 4, 8)]
        for repeat, block in enumerate(blocks, 1):
            self.assertEqual({identity[3] for identity in block}, {repeat}, "a block is one repeat of all points")
        points = [[identity[:2] for identity in block] for block in blocks]
        self.assertEqual(sorted(points[0]), sorted(points[1]))
        listed = [(50, 1), (50, 2), (2000, 1), (2000, 2)]
        self.assertTrue(any(block != listed for block in points), "shuffled")

    def test_what_makes_latencies_incomparable_is_named_in_all_of_it(self):
        case, out = self.write_case(repeats=1), self.folder / "out"
        case.write_text(case.read_text().replace("settings: { ", "settings: { transport: unix, broker: { spin_us: 50 }, "))
        words = "N2NQ spins for 50 µs, by Unix-domain sockets"
        result = json.loads(self.run_case(case, "--out", out, "--json").splitlines()[-1])
        self.assertEqual([f"Made with: {words}." in figure["remarks"] for figure in result["figures"]], [True, True], result)
        page = self.run_case(case, "--resume", "--out", out)
        self.assertEqual(page.count(f"Made with: {words}.\n"), 2, page)
        subprocess.run([BIN / "n2nq-bench", "report", out], env=self.environment(), check=True, capture_output=True, timeout=DEADLINE_S)
        table = next(table for table in json.loads((out / "report.json").read_text())["tables"] if table["id"] == "case")
        self.assertIn(["made with", words], table["rows"])

    def test_another_build_is_refused(self):
        other = self.folder / "bin"
        other.mkdir()
        for program in ("n2nq-bench", "n2nq-broker", "n2nq-senders", "n2nq-receivers"):
            shutil.copy(BIN / program, other)
        case = self.write_case(messages=40)
        process = self.begin(case, "--out", self.folder / "out")
        self.wait_for("a finished run", self.finished)
        self.assertIn("--resume --out ", self.interrupt(process))
        count = len(self.runs())

        with open(other / "n2nq-broker", "ab") as broker:
            broker.write(b"\n")  # behind the program's end: it runs all the same
        self.run_case(case, "--resume", "--out", self.folder / "out", bin=other, expect_exit=2)
        self.assertIn("was begun with another build", self.said)
        self.assertEqual(len(self.runs()), count)
        self.run_case(case, "--resume", "--out", self.folder / "out", "--accept-build", bin=other)
        self.expect_complete()

    def test_all_cases_go_on_as_they_were_chosen(self):
        first = self.folder / "all cases/1-message-size/runs"
        words = ["all", "--scale", "quick", "--repeats", "2", "--warm-up", "0.1", "--out", str(self.folder / "all cases"),
                 "--assert", "latency_us.p50 > 0", "--strict", "--json"]
        for _ in range(2):
            before = len(list(first.glob("*/summary.json")))
            process = self.begin(*words)
            self.wait_for("one more finished run", lambda: len(list(first.glob("*/summary.json"))) > before)
            said = self.interrupt(process)
            words = ["all", "--resume", *words[words.index("--scale"):]]
            self.assertIn("go on with: n2nq-bench case " + shlex.join(words) + "\n", said)
        self.assertEqual(json.loads((first.parent / "case.json").read_text())["repeats"], 2)
        self.assertEqual(os.listdir(self.folder / "all cases"), ["1-message-size"])

    def test_all_cases_go_on_with_what_was_begun_with_them(self):
        def folders(name):
            return sorted((self.folder / "data/n2nq/runs").glob(f"*-case-{name}-quick*"))

        def finished(folder):
            return len(list(folder.glob("runs/*/summary.json")))

        def begin_and_interrupt(name, *words):
            count = len(folders(name))
            process = self.begin(*words, "--scale", "quick")
            self.wait_for("a finished run", lambda: len(folders(name)) > count and finished(folders(name)[-1]) > 0)
            return self.interrupt(process)

        begin_and_interrupt("2-message-amount", "2")
        said = begin_and_interrupt("1-message-size", "all")
        words = ["all", "--resume", "--scale", "quick"]
        self.assertIn("go on with: n2nq-bench case " + " ".join(words) + "\n", said)
        begin_and_interrupt("1-message-size", "1", "--repeats", "3")
        first, otherwise = folders("1-message-size")
        before = [finished(folder) for folder in (otherwise, folders("2-message-amount")[0])]

        process = self.begin(*words)
        for runs in (6, 12):
            self.wait_for(f"{runs} runs of the first case", lambda: finished(first) >= runs)
        self.wait_for("the second case, begun anew", lambda: len(folders("2-message-amount")) == 2)
        self.interrupt(process)
        self.assertEqual(folders("1-message-size"), [first, otherwise])
        self.assertEqual([finished(folder) for folder in (otherwise, folders("2-message-amount")[0])], before)

    def test_it_goes_on_with_what_is_in_the_folder(self):
        case, out = self.write_case(repeats=1), self.folder / "out"
        self.run_case(case, "--out", out)
        whole, count = case.read_text(), len(self.runs())
        other = self.folder / "other.yaml"
        other.write_text(whole.replace("Small", "Other"))
        for asked in (other, self.folder / "absent.yaml", "delay", "smal"):
            self.run_case(asked, "--resume", "--out", out, expect_exit=2)
            self.assertIn(f"{out} holds case small, not ", self.said)
        self.assertIn("smal: is not a test case (nearest: ", self.said)
        as_it_was = f"goes on with {out}/case.yaml as it was when it was begun; {case}"
        case.write_text(whole.replace("delay_ms: 25", "delay_ms: 30"))
        self.run_case(case, "--resume", "--out", out)
        self.assertIn(as_it_was + " has changed since", self.said)
        case.write_text(whole.replace("messages:", "mesages:"))
        self.run_case(case, "--resume", "--out", out)
        self.assertIn(as_it_was + ":4: settings.senders.mesages is not a setting", self.said)
        case.unlink()
        for asked in (case, "small"):
            self.run_case(asked, "--resume", "--out", out)
            self.assertIn("4 of 4 runs are there", self.said)
        self.assertEqual(len(self.runs()), count, "nothing else was run")

    def test_one_bench_at_a_time(self):
        case = self.write_case(messages=400)
        process = self.begin(case, "--out", self.folder / "out")
        self.wait_for("a run", lambda: (self.folder / "out/runs").exists() and self.runs())
        self.run_case(case, "--resume", "--out", self.folder / "out", expect_exit=2)
        self.assertIn("Another bench works on", self.said)
        self.interrupt(process)

    def test_nothing_is_said_into_a_file_where_there_are_no_standard_descriptors(self):
        case, out = self.write_case(messages=40, repeats=1), self.folder / "out"
        command = ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", BIN / "n2nq-bench", "case", case, "--out", out]
        process = start_with_nobody(command, env=self.environment())
        self.processes.append(process)
        self.wait_for("its lock", (out / "case.lock").exists)
        with open(out / "case.lock") as lock:
            self.assertEqual(process.wait(DEADLINE_S), 1, "nobody has its figures")
            self.assertEqual(lock.read(), f"{process.pid}\n")
        self.assertEqual(len(self.finished()), 4)

    def test_what_may_not_be_read_is_not_told_as_missing(self):
        if subprocess.run([*AS_A_USER, "true"], capture_output=True).returncode:
            self.skipTest("root may not give up here what it may read")
        no, runs, cases = (self.folder / name for name in ("no", "data/n2nq/runs", "config/n2nq-bench/cases"))
        for folder in (no, runs, cases):
            folder.mkdir(parents=True)
        (no / "summary.json").write_text("{}")
        report = ("--out", self.folder / "report")
        for folder, *words in [(no, "verify", no), (no, "compare", no, no), (no, "report", no, *report), (no, "report", no, no, *report),
                               (no, "case", "1", "--resume", "--out", no), (runs, "case", "1", "--resume"), (cases, "cases"), (cases, "case", "nowhere")]:
            with self.subTest(words), denied(folder):
                done = subprocess.run([*AS_A_USER, BIN / "n2nq-bench", *words], env=self.environment(), capture_output=True, text=True,
                                      timeout=DEADLINE_S)
                self.assertIn(f"n2nq-bench: {folder} cannot be read: permission denied\n", done.stderr)
                self.assertEqual(done.returncode, 0 if words == ["cases"] else 2)

    def test_a_newer_case_that_may_not_be_read_is_told_before_an_older_one_goes_on(self):
        if subprocess.run([*AS_A_USER, "true"], capture_output=True).returncode:
            self.skipTest("root may not give up here what it may read")
        case, runs = self.write_case(repeats=1), self.folder / "data/n2nq/runs"
        for begun in (1, 2):
            process = self.begin(case)
            self.wait_for("a run", lambda: len(list(runs.glob("*-case-small-*/runs/*"))) >= begun)
            self.interrupt(process)
            time.sleep(1.1)  # folders are named by the second
        older, newer = sorted(runs.glob("*-case-small-*"))

        def resume():
            done = subprocess.run([*AS_A_USER, BIN / "n2nq-bench", "case", case, "--resume"], env=self.environment(), capture_output=True,
                                  text=True, timeout=DEADLINE_S)
            return done.returncode, done.stderr
        with denied(newer), denied(older):
            code, said = resume()
            self.assertIn(f"n2nq-bench: {newer} cannot be read: permission denied\n", said)
            self.assertEqual((code, "there is no folder" in said), (2, False), said)
        with denied(newer):
            code, said = resume()
        self.assertIn(f"n2nq-bench: {newer} cannot be read: permission denied\nn2nq-bench: goes on with the newest that can be read, {older}\n", said)
        self.assertEqual(code, 0, said)

    def test_the_time_left_is_of_all_that_is_made_again(self):
        case, out = self.write_case(messages=80, repeats=1), self.folder / "out"
        self.run_case(case, "--out", out)
        for run in self.runs():
            summary = self.summary(run)
            summary.update(verdict="degraded", reasons=["for this test"])
            (run / "summary.json").write_text(json.dumps(summary))
        told = self.run_case(case, "--resume", "--again", "--json", "--out", out)
        lines = [json.loads(line)["progress"] for line in told.splitlines() if '"progress"' in line]
        first = {line["run"]: line["left_s"] for line in reversed(lines) if line["again"]}
        self.assertEqual(sorted(first), [1, 2, 3, 4], lines)
        self.assertEqual([first[run] for run in (1, 2, 3, 4)], sorted(first.values(), reverse=True))
        self.assertGreater(first[1], 2.5 * first[4])

    def test_a_run_made_again_that_comes_to_nothing_is_told(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        case, out = self.write_case(repeats=1), self.folder / "out"
        case.write_text(case.read_text().replace("settings: {", f"settings: {{ broker: {{ port: {port} }},"))
        self.run_case(case, "--out", out)
        for run in self.runs():
            summary = self.summary(run)
            summary.update(verdict="degraded", reasons=["for this test"])
            (run / "summary.json").write_text(json.dumps(summary))
        with socket.create_server(("127.0.0.1", port)):
            self.run_case(case, "--resume", "--again", "--out", out, expect_exit=1)
        self.assertRegex(self.said, f"3 runs in a row (sent nothing|left no result): .*{port}")
        self.assertIn("4 of 4 runs are there, 4 of 4 marked ones are to be made again; go on with: n2nq-bench case ", self.said)
        self.assertIn(" --resume --again --out ", self.said)

    def test_an_assertion_that_is_not_met(self):
        self.run_case(self.write_case(repeats=1), "--out", self.folder / "out", "--assert", "latency_us.max < 0.001", expect_exit=1)
        self.assertIn("--assert latency_us.max < 0.001: not met by 4 of 4 runs, first by ", self.said)

    def test_an_assertion_that_some_run_cannot_meet_is_told_before_anything_is_run(self):
        case, out = self.write_case(repeats=1), self.folder / "out"
        for number in (500, 2):  # the second one some runs have
            self.run_case(case, "--out", out, "--assert", f"services.receivers.R{number:03}.latency_us.p99 < 5000", expect_exit=2)
            self.assertIn("is of a service that this run does not have: it has R001 to R001", self.said)
        self.run_case(case, "--out", out, "--assert", "ledger.warmup.lost == 0", expect_exit=2)
        self.assertRegex(self.said, 'small: 50.*, 1: --assert "ledger.warmup.lost" is of a warm-up, which this run does not have')
        self.assertFalse(out.exists())
        self.run_case(case, "--out", out, "--warm-up", "0.1", "--assert", "ledger.warmup.lost == 0")
        self.assertIn("--assert ledger.warmup.lost == 0: met by all 4 runs", self.said)
        self.run_case(case, "--resume", "--out", out, "--assert", "services.senders.S002.attempted > 0", expect_exit=2)
        self.assertIn("is of a service that this run does not have: it has S001 to S001", self.said)

    def test_an_assertion_without_a_run(self):
        process = self.begin(self.write_case(messages=4000), "--out", self.folder / "out", "--assert", "latency_us.p50 > 0")
        self.wait_for("a run", lambda: (self.folder / "out/runs").exists() and self.runs())
        said = self.interrupt(process)
        self.assertIn("--assert latency_us.p50 > 0: no run to look at", said)
        self.assertIn("small.yaml --resume --out " + str(self.folder / "out") + " --assert 'latency_us.p50 > 0'\n", said)

    def test_a_hosts_file_with_mistakes_matters_to_who_needs_it(self):
        hosts = self.folder / "config/n2nq-bench/hosts.yaml"
        hosts.parent.mkdir(parents=True)
        hosts.write_text("format: 1\nhosts: nobody\n")
        case = self.write_case(repeats=1)
        self.run_case(case, "--out", self.folder / "out")
        self.run_case(case, "--on", "a,b,c", "--out", self.folder / "on", expect_exit=2)
        self.assertIn("hosts.yaml:2: ", self.said)
        case.write_text(case.read_text().replace("settings: { ", "settings: { broker: { host: lab-1 }, "))
        self.run_case(case, "--out", self.folder / "placed", expect_exit=2)
        self.assertRegex(self.said, r"small: 50.*, 1: broker\.host is lab-1, but .*hosts\.yaml:2: ")
        self.assertFalse((self.folder / "on").exists() or (self.folder / "placed").exists())

    def test_what_cannot_be_begun(self):
        case = self.write_case()
        self.run_case("no-such-case", expect_exit=2)
        self.assertIn("is not a test case (nearest: ", self.said)
        self.run_case(case, "--resume", "--out", self.folder / "nowhere", expect_exit=2)
        self.assertIn("has no case.json", self.said)
        self.run_case(case, "--scale", "stress", expect_exit=2)
        self.assertIn("scale stress needs a knee", self.said)
        case.write_text(case.read_text().replace("services: {", "servces: {"))
        self.run_case(case, expect_exit=2)
        self.assertIn('figures[1].x "services" is not an axis of this case; there are size or servces', self.said)


if __name__ == "__main__":
    unittest.main()
