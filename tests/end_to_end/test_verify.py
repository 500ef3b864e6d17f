#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""`n2nq-bench verify`: agrees with what real runs leave, and finds a flipped byte."""
import itertools
import json
import math
import random
import re
import subprocess
import unittest

import verify_run
from bench import BIN, BenchCase
from clocks import MS, S, ClocksCase

FLIPS = 60  # for each kind of file


def verify(folder):
    done = subprocess.run([BIN / "n2nq-bench", "verify", "--json", folder], capture_output=True, text=True, timeout=120)
    found = json.loads(done.stdout) if done.stdout else None
    told = {0: True, 1: found and (found["differences"] or found.get("not_possible")), 2: done.stderr}
    assert told.get(done.returncode), f"exit code {done.returncode}: {found}, {done.stderr}"  # a crash finds nothing
    return done.returncode, found


def differences_without_the_bench(folder):
    try:
        return verify_run.verify(folder).differences
    except ValueError as error:  # a log that cannot be read
        return [str(error)]


class Verify(BenchCase):
    def run_small(self, *settings, more=(), **named):
        small = ("senders.amount=4", "receivers.amount=3", "senders.duration_s=none", "senders.messages=60", "senders.delay_ms=10", *settings)
        return self.run_bench("quick", *(word for setting in small for word in ("--set", setting)), *more, **named)

    def assert_agrees(self, folder):
        code, found = verify(folder)
        self.assertEqual((code, found and found["differences"]), (0, []), found)
        self.assertGreater(found["compared"], 500)

    def test_agrees_with_every_kind_of_run(self):
        for number, settings in enumerate([
                (),
                ("senders.warmup_messages=7", "queue.responses=true"),
                ("queue.mode=load-balancer", "senders.size_bytes=[20, 100]"),
                ("queue.mode=load-balancer", "queue.responses=true", "queue.requests=true", "senders.warmup_messages=3"),
                ("senders.delay_ms=0", "senders.messages=500"),
                ("queue.remove=after-time", "queue.retention_s=0.1")]):
            with self.subTest(settings):
                self.assert_agrees(self.run_small(*settings, out=f"run{number}"))

    def test_agrees_with_runs_of_killed_groups(self):
        for number, faults in enumerate([
                ("kill:receivers@0.5", "restart:receivers@0.8"),
                ("kill:senders@0.5", "restart:senders@0.8"),
                ("disconnect:R001@0.5",)]):
            with self.subTest(faults):
                more = [word for fault in faults for word in ("--fault", fault)]
                folder = self.run_small("senders.messages=300", "queue.responses=true", more=more, out=f"run{number}", expect_exit=None)
                self.assert_agrees(folder)

    def test_takes_the_last_foot_of_a_log_that_was_gone_on_with(self):
        """As one has whose first process ended in order behind a cut link before the second one had it."""
        folder = self.run_small()
        for path in (folder / "receivers").glob("R*.log"):
            lines = path.read_text().splitlines(keepends=True)
            path.write_text("".join([*lines[:-20], "# lines: 7\n", "# dropped: 0\n", "# complete: yes\n", *lines[-20:]]))
        self.assert_agrees(folder)
        self.assertEqual(differences_without_the_bench(folder), [])

    def test_finds_a_flipped_byte(self):
        folder = self.run_small("senders.warmup_messages=2")
        self.assert_agrees(folder)
        draw = random.Random(20)
        for pattern, lines_of in [("senders/S*.log", data_lines), ("receivers/R*.log", data_lines), ("messages.tsv", data_lines),
                                  ("latency.hgrm", whole), ("summary.json", figures_of_summary)]:
            missed = []
            for _ in range(FLIPS):
                path = draw.choice(sorted(folder.glob(pattern)))
                before = path.read_bytes()
                at = draw.choice(lines_of(before))
                flipped = bytearray(before)
                flipped[at] ^= 1 << draw.randrange(7)
                path.write_bytes(flipped)
                code, _ = verify(folder)
                if code == 0 and not (path.suffix == ".json" and is_same(json.loads(flipped), json.loads(before))):
                    begin = before.rfind(b"\n", 0, at) + 1
                    missed.append((path.name, at - begin, before[begin:before.find(b"\n", at)], bytes(flipped[begin:before.find(b"\n", at)])))
                path.write_bytes(before)
            self.assertEqual(missed, [], pattern)
        self.assert_agrees(folder)

    def test_finds_each_changed_number(self):
        """Of the services that of the first one; figures have the test above."""
        for name, settings, not_checked in [("broadcaster", (), NOT_CHECKED),
                                            ("balanced", ("queue.mode=load-balancer", "queue.responses=true"), NOT_CHECKED_BALANCED)]:
            folder = self.run_small("senders.warmup_messages=2", *settings, out=name)
            before = (folder / "summary.json").read_bytes()
            changed, missed = set(), set()
            for path, begin, end in numbers_of(before):
                if not is_result(path) or path in changed or any(figure in path.split(".") for figure in FIGURES):
                    continue
                changed.add(path)
                other = json.dumps(json.loads(before[begin:end]) * 10 + 5).encode()
                (folder / "summary.json").write_bytes(before[:begin] + other + before[end:])
                if verify(folder)[0] == 0:
                    missed.add(path)
            self.assertGreater(len(changed), 90)
            self.assertEqual(missed, not_checked, name)

    def test_finds_copies_that_went_from_one_column_to_another(self):
        folder = self.run_small("senders.messages=300", "queue.retention_s=0.5", more=("--fault", "kill:receivers@0.3"), expect_exit=None)
        self.assert_agrees(folder)
        summary = json.loads((folder / "summary.json").read_text())
        self.assertGreaterEqual(summary["ledger"]["total"]["expired"], 5, "nobody came for them")
        summary["ledger"]["total"]["expired"] -= 5
        summary["ledger"]["total"]["lost"] += 5
        (folder / "summary.json").write_text(json.dumps(summary))
        code, found = verify(folder)
        self.assertEqual((code, sorted(difference.split(",")[0] for difference in found["differences"])), (1, ["expired", "lost"]), found)

    def test_finds_a_mark_that_all_files_agree_on_and_the_latency_does_not(self):
        folder = self.run_small()
        for path in (folder / "receivers/R001.log", folder / "messages.tsv"):
            lines = path.read_text().splitlines(keepends=True)
            at = next(i for i, line in enumerate(lines) if line.removeprefix("R001\t").startswith("0\t1\t"))
            lines[at] = lines[at].removesuffix("-\n") + "negative\n"
            path.write_text("".join(lines))
        summary = json.loads((folder / "summary.json").read_text())
        for counts in (summary["services"]["receivers"][0], summary["ledger"]["receivers"][0], summary["ledger"]["total"]):
            counts["negative"] += 1
        (folder / "summary.json").write_text(json.dumps(summary))
        code, found = verify(folder)
        self.assertEqual(code, 1)
        self.assertTrue(any("R001.log, message 0 of S001" in difference and "marked as negative" in difference
                            for difference in found["differences"]), found["differences"])

    def test_shows_of_a_damaged_log_as_much_as_is_needed_to_find_it(self):
        folder = self.run_small()
        path = folder / "receivers/R001.log"
        log = path.read_bytes()
        behind = len(log.splitlines()) + 1
        unreadable = f"R001.log: 1 line(s) that cannot be read (line {behind}: {5 << 20} bytes long"
        for name, damaged, told in [
                ("zeros, as a power cut leaves them", log + b"\0" * (5 << 20), unreadable),
                ("one long line", log + b"7" * (5 << 20) + b"\n", unreadable),
                ("a word of its head", log.replace(b"# run: ", b"# run: " + b"x" * (5 << 20), 1), 'R001.log: "# run" says xxx')]:
            with self.subTest(name):
                path.write_bytes(damaged)
                done = subprocess.run([BIN / "n2nq-bench", "verify", folder], capture_output=True, text=True, timeout=120)
                self.assertEqual(done.returncode, 1, done.stderr)
                lines = done.stdout.splitlines()
                self.assertLess(max(map(len, lines)), 1000)
                self.assertEqual(len([line for line in lines if line.startswith(told)]), 1, done.stdout)

    def test_says_that_not_all_logs_were_fetched(self):
        folder = self.run_small()
        summary = json.loads((folder / "summary.json").read_text())
        summary["reasons"].append("log incomplete: the files of Receivers were not all brought back: stopped; the rest is on h3 in runs/x")
        (folder / "summary.json").write_text(json.dumps(summary))
        self.assert_agrees(folder)  # somebody has fetched them since
        (folder / "receivers" / "R002.log").write_text("")
        (folder / "receivers" / "R003.log").unlink()
        code, found = verify(folder)
        self.assertEqual((code, found["differences"]), (1, []))
        self.assertIn("stopped; the rest is on h3 in runs/x", found["not_possible"])

    def test_says_whose_lines_are_missing_and_why(self):
        folder = self.run_small()
        whole = json.loads((folder / "summary.json").read_text())

        def told(change):
            summary = json.loads(json.dumps(whole))
            change(summary)
            (folder / "summary.json").write_text(json.dumps(summary))
            code, found = verify(folder)
            self.assertEqual((code, found["compared"]), (1, 0))
            return found["not_possible"]

        def stays_away(summary):  # with the group on it, which gave no account
            summary["logs"]["senders"] = {}
            summary["reasons"].append("log incomplete: the files of Senders were not all brought back: h2 does not answer")

        self.assertEqual(told(stays_away), "the logs are not complete: the files of Senders were not all brought back: "
                                           "h2 does not answer; the senders gave no final account")
        self.assertEqual(told(lambda summary: summary["logs"]["receivers"].update(dropped=1234)),
                         "the logs are not complete: 1234 lines of the receivers' logs were not written")

    def test_takes_no_other_log_for_that_of_an_earlier_start(self):
        folder = self.run_small()
        lines = (folder / "receivers/R001.log").read_text().splitlines(keepends=True)
        head = "".join(itertools.takewhile(lambda line: line.startswith("#"), lines))
        head = head.replace("# service: R001\n", "# service: R004\n").replace("# receivers.amount: 3\n", "# receivers.amount: 4\n")
        foot = "# lines: 0\n# dropped: 0\n# complete: yes\n"
        left = folder / "receivers/R004.log"
        left.write_text(head + foot)
        self.assert_agrees(folder)
        self.assertEqual(differences_without_the_bench(folder), [])

        def assert_differs(log, text, what):
            before = log.read_text()
            log.write_text(text)
            code, found = verify(folder)
            self.assertEqual(code, 1, what)
            self.assertTrue(any(log.stem in difference for difference in found["differences"]), (what, found["differences"]))
            if log.stem[0] == "R":  # that script looks at no settings in a head
                self.assertNotEqual(differences_without_the_bench(folder), [], what)
            log.write_text(before)

        assert_differs(left, head + "".join(line for line in lines if line[0] != "#"), "it received something")
        assert_differs(left, head.replace("# receivers.amount: 4\n", "# receivers.amount: 3\n") + foot, "no start had it")
        assert_differs(left, head.replace("# run: ", "# run: not-") + foot, "it is of another run")
        assert_differs(left, head + "no line\n" + foot, "it cannot be read")
        last = folder / "receivers/R003.log"
        assert_differs(last, head.replace("# service: R004\n", "# service: R003\n") + foot, "the last start had it as well")

        sender = folder / "senders/S001.log"
        text = sender.read_text()
        assert_differs(sender, text.replace("# senders.amount: 4\n", "# senders.amount: 5\n"), "its group goes by that")
        sender.write_text(text.replace("# receivers.amount: 3\n", "# receivers.amount: 4\n"))  # when the senders were started
        self.assert_agrees(folder)

    def test_says_why_it_cannot_tell(self):
        code, found = verify(self.run_small("log=off", out="off"))
        self.assertEqual(code, 1)
        self.assertIn("log: off", found["not_possible"])
        done = subprocess.run([BIN / "n2nq-bench", "verify", self.folder], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("not the folder of a run", done.stderr)


class VerifyClocks(ClocksCase):
    """Latencies that were worked out with lines between clocks."""

    def run_of_receivers(self, clock, messages, name):
        return self.run_with(name, "--set", "senders.delay_ms=10", "--set", f"senders.messages={messages}",
                             test_clocks={"n2nq-receivers": clock})

    def assert_agrees(self, folder):
        code, found = verify(folder)
        self.assertEqual((code, found["differences"]), (0, []))

    def assert_finds_a_changed_line(self, run, row):
        """The line of the receivers' clock that was the last one above this row of R001 is a nanosecond off."""
        log = run.folder / "receivers/R001.log"
        before = log.read_text()
        lines = before.splitlines(keepends=True)
        messages = [at for at, line in enumerate(lines) if not line.startswith("#")]
        at = next(at for at in range(messages[run.receivers[1].places[row]], -1, -1) if lines[at].startswith("# clock: own "))
        lines[at] = re.sub(r"offset_ns=(-?\d+)", lambda found: f"offset_ns={int(found[1]) + 1}", lines[at])
        log.write_text("".join(lines))
        code, found = verify(run.folder)
        self.assertEqual(code, 1, lines[at])
        self.assertTrue(any(difference.startswith("R001.log, message") and "lines between the clocks" in difference
                            for difference in found["differences"]), found["differences"])
        self.assertNotEqual(differences_without_the_bench(run.folder), [], lines[at])
        log.write_text(before)

    def test_finds_a_changed_line_between_clocks(self):
        run = self.run_of_receivers({"offset_ns": 250 * MS}, 100, "ahead")
        self.assert_agrees(run.folder)
        self.assert_finds_a_changed_line(run, len(run.receivers[1].rows) // 2)

    def test_finds_one_where_the_clock_went_back(self):
        for attempt in range(3):  # on a busy machine messages may flow only behind the jump
            run = self.run_of_receivers({"step_ns": -S, "step_after_ns": 6 * S}, 800, f"back-{attempt}")
            received = run.receivers[1].numbers("received_ns")
            back = [row for row in range(1, len(received)) if received[row] < received[row - 1] - S // 2]
            if back:
                break
        self.assertEqual(len(back), 1, "it went back while messages came")
        self.assert_agrees(run.folder)
        # Before the instants that came twice; in them, for the first time; and behind them.
        for row in (back[0] // 4, back[0] - 1, len(received) - 1 - (len(received) - back[0]) // 4):
            with self.subTest(row):
                self.assert_finds_a_changed_line(run, row)


def is_same(one, other, relative=1e-12):
    """As far as a sum of doubles can tell, whose last digits depend on the order, and a rate over a time rounded to microseconds."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_same(one[key], other[key], 1e-5 if key == "rates" else relative) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(is_same(a, b, relative) for a, b in zip(one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=relative)
    return one == other


def data_lines(text):
    """Places in the lines of messages."""
    places, begin = [], 0
    for line in text.splitlines(keepends=True):
        if not line.startswith((b"#", b"receiver\t")):
            places += range(begin, begin + len(line))
        begin += len(line)
    return places


def whole(text):
    return range(len(text))


FIGURES = ("latency_us", "latency_from_plan_us", "delay_ms", "lag_us", "stages")
# Numbers of `ledger`, `rates`, `services` and the figures that neither logs nor the rest of a summary tell.
NOT_CHECKED = {"services.senders.[].port", "services.receivers.[].port", "ledger.warmup.parked_delivered"}
# There the total is N2NQ's own account, and a receiver's line holds what it was told.
NOT_CHECKED_BALANCED = NOT_CHECKED | {"ledger.total.parked_delivered"} | {
    f"ledger.receivers.[].{key}" for key in ("expired", "unrequested", "parked", "cut_off", "parked_delivered")}


def numbers_of(summary):
    """(path, place of its first character, place behind its last) of each number in the text, which has one value on a line. A place in an
    array is [] in the path."""
    path, begin = [], 0
    for line in summary.splitlines(keepends=True):
        found = re.fullmatch(rb'\s*(?:"([^"]*)": )?(.*?),?\s*', line)
        name, value = (found[1] or b"[]").decode(), found[2]
        if value in (b"{", b"["):
            path.append(name)
        elif value in (b"}", b"]"):
            path.pop()
        elif re.fullmatch(rb"-?[0-9][0-9.e+-]*", value):
            yield ".".join([*path[1:], name]), begin + found.start(2), begin + found.end(2)
        begin += len(line)


def is_result(path):
    return path.split(".")[0] in ("ledger", "rates", "services", *FIGURES)


def figures_of_summary(text):
    """Places in all numbers that can be checked in a broadcaster."""
    return [place for path, begin, end in numbers_of(text) if is_result(path) and path not in NOT_CHECKED for place in range(begin, end)]


if __name__ == "__main__":
    unittest.main()
