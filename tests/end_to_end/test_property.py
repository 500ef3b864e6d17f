#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Short runs of every kind, made up from a seed each: modes, rules, responses, requests, faults. Whatever is done to a run, it has to end, to
balance exactly, to say what was done, and to agree with its own logs.

    N2NQ_PROPERTY_RUNS=1000   so many runs (70 by default)
    N2NQ_PROPERTY_SEED=17     that one alone; with N2NQ_KEEP=1 its folder is kept and named
"""
import collections
import concurrent.futures
import ctypes
import errno
import json
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import time
import unittest

from bench import BIN, DEADLINE_S
from run_folder import RunFolder
from verify_run import verify

RUNS = int(os.environ.get("N2NQ_PROPERTY_RUNS", 70))
ONLY = os.environ.get("N2NQ_PROPERTY_SEED")
AT_A_TIME = 4  # they mostly wait
TRAFFIC_S = 0.6
LONG_S = 60  # a retention that does not end within a run


def has_io_uring():
    setup = 425  # its number on every machine; without room for an answer it fails, but differently where it is not to be had
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall(setup, 1, None)
    return ctypes.get_errno() not in (errno.ENOSYS, errno.EPERM, errno.EACCES)


IO = ["epoll", "io_uring" if has_io_uring() else "epoll"]


class Case:
    """What is done in the run of one seed, and what may come of it."""

    def __init__(self, seed):
        self.seed, self.random = seed, random.Random(seed)
        pick = self.random.choice
        self.senders, self.receivers = self.random.randint(1, 6), self.random.choice([1, 2, 3, 4, 5, 6, 6, 20])  # 20: N2NQ keeps them off its core
        self.broadcaster = pick([True, False])
        self.responses = pick([True, False])
        self.kind = pick(["nothing"] * 8 + [getattr(self, name) for name in sorted(dir(self)) if name.startswith("fault_")])
        self.arguments, self.lost, self.unflagged, self.parked, self.cut_off, self.cut_short = [], False, False, False, False, False
        self.settings = {
            "format": 1, "seed": seed,
            "queue": {"mode": "broadcaster" if self.broadcaster else "load-balancer", "remove": pick(["when-all-have-it", "after-time"]),
                      "dispatch": pick(["random", "round-robin", "next-free"]), "retention_s": LONG_S,
                      "responses": self.responses, "requests": pick([False, False, True, "list", "list"])},
            "responses": {"window": pick([1, 3, 256]), "deadline_s": pick([0.1, 0.3, 2])},
            "senders": {"amount": self.senders, "messages": self.random.randint(10, 80), "start": pick(["spread", "in-phase"]),
                        "size_bytes": pick([[20, 20], [1, 200], [500, 5000], [10000, 60000]])},
            "receivers": {"amount": self.receivers},
            "start_when": pick(["all-connected", "all-connected", "senders-connected"]),
            "transport": pick(["tcp", "tcp", "unix"]), "broker": {"spin_us": pick([0, 0, 0, 200]), "keep_core": pick([True, True, False]), "io": pick(IO)},
        }
        self.settings["senders"]["delay_ms"] = round(TRAFFIC_S * 1000 / self.settings["senders"]["messages"], 3)
        if self.settings["queue"]["requests"] == "list":
            self.settings["queue"]["requests"] = [self.request() for _ in range(self.random.randint(1, 4))]
        self.changes = []  # of what receivers ask for, on the way
        if self.settings["queue"]["requests"]:
            self.changes = [(self.request(), self.at(0.05, 0.4)) for _ in range(pick([0, 0, 1, 3]))]
        if self.kind != "nothing":
            self.settings["queue"]["retention_s"] = pick([0.3, 1, LONG_S])
            self.kind()
            self.kind = self.kind.__name__
        if not self.parked:
            self.settings["responses"]["attempts_max"] = 1000  # a busy machine misses the shortest of these deadlines more than once
        self.settings["senders"]["warmup_messages"] = pick([0, 0, 1, 7, 30])

    def request(self):
        def some(letter, amount):
            first = self.random.randint(1, amount)
            return f"{letter}{first}-{letter}{self.random.randint(first, amount)}"

        entry = {"receivers": some("R", self.receivers), "prefetch": self.random.choice([1, 1, 4, 1000])}
        if self.random.random() < 0.7:
            entry["senders"] = some("S", self.senders)
        if self.random.random() < 0.4:
            low = self.random.choice([1, 15, 100, 1000])
            entry["sizes"] = f"{low}-{low * self.random.choice([1, 3, 50])}"
        return entry

    def asks_for(self, receiver, sender, size):
        """By each of its lists, one after another. Worked out from the settings, with nothing from the programs. Entries of one list that
        name the same receiver are united; what is asked for on the way replaces what was."""
        requests = self.settings["queue"]["requests"]
        lists = [[entry for entry in requests if receiver in span(entry["receivers"])] if isinstance(requests, list) else []]
        lists += [[entry] for entry, _ in self.changes if receiver in span(entry["receivers"])]
        return [not mine or any(sender in span(entry.get("senders")) and size in span(entry.get("sizes")) for entry in mine) for mine in lists]

    # --- what can be done to a run ---

    def at(self, first_s, last_s):
        return round(self.random.uniform(first_s, last_s), 3)

    def do(self, *what_and_when):
        for what, when_s in what_and_when:
            self.arguments += ["--fault", f"{what}@{when_s}"]

    def some_receiver(self):
        return f"R{self.random.randint(1, self.receivers):03}"

    def fault_kill_receivers(self):
        self.do(("kill:receivers", self.at(0.05, 0.3)), ("restart:receivers", self.at(0.31, 0.5)))
        self.lost = not self.responses

    def fault_restart_receivers(self):
        self.do(("restart:receivers", self.at(0.05, 0.5)))
        self.lost = not self.responses

    def fault_kill_receivers_for_good(self):
        self.settings["queue"]["retention_s"] = 0.3
        self.do(("kill:receivers", self.at(0.05, 0.5)))
        self.lost = not self.responses

    def fault_kill_senders(self):
        self.do(("kill:senders", self.at(0.05, 0.3)), ("restart:senders", self.at(0.31, 0.5)))

    def fault_kill_senders_for_good(self):
        self.settings["limits"] = {"reconnect_deadline_s": self.random.choice([0.1, 0.5])}
        self.do(("kill:senders", self.at(0.001, 0.5)))
        self.cut_short = self.lost = True

    def fault_kill_senders_for_good_and_restart_broker(self):
        self.fault_kill_senders_for_good()
        self.fault_restart_broker()

    def fault_cut_off(self):
        self.settings["limits"] = {"pending_mib": 1}
        self.settings["queue"]["requests"], self.changes = False, []  # credit would keep it from what it does not read
        self.settings["senders"].update(amount=6, messages=80, size_bytes=[60000, 60000], delay_ms=round(TRAFFIC_S * 1000 / 80, 3))
        self.senders = 6
        self.do((f"stop-reading:{self.some_receiver()}", self.at(0.05, 0.3)))
        self.cut_off, self.parked = True, self.responses

    def fault_restart_everybody_who_works(self):
        for whom in ("senders", "receivers"):
            self.do((f"restart:{whom}", self.at(0.05, 0.5)))
        self.lost = not self.responses

    def fault_restart_broker(self):
        self.do(("restart:broker", self.at(0.05, 0.5)))
        self.lost = self.unflagged = True  # what it had in its queue is gone, and it does not know what it delivered

    def fault_pause(self):
        whom = self.random.choice(["senders", "receivers", "broker"])
        self.do((f"pause:{whom}", self.at(0.05, 0.3)), (f"resume:{whom}", self.at(0.31, 0.55)))

    def fault_disconnect_receivers(self):
        for _ in range(self.random.randint(1, 3)):
            self.do((f"disconnect:{self.some_receiver()}", self.at(0.05, 0.5)))
        self.lost = not self.responses

    def fault_disconnect_senders(self):
        for _ in range(self.random.randint(1, 3)):
            self.do((f"disconnect:S{self.random.randint(1, self.senders):03}", self.at(0.05, 0.5)))

    def fault_slow_receiver(self):
        whom = self.some_receiver()
        self.do((f"stop-reading:{whom}", self.at(0.05, 0.3)), (f"normal:{whom}", self.at(0.31, 0.55)))
        self.parked = self.responses

    def fault_lying_receiver(self):
        self.responses = self.settings["queue"]["responses"] = True
        self.settings["responses"]["deadline_s"] = self.random.choice([0.1, 0.3])
        whom = self.some_receiver()
        self.do((f"{self.random.choice(['confirm-nothing', 'answer-negatively'])}:{whom}", self.at(0.05, 0.3)),
                (f"normal:{whom}", self.at(0.31, 0.55)))
        self.parked = True

    def fault_several(self):
        self.fault_pause()
        self.fault_disconnect_senders()
        self.fault_disconnect_receivers()
        self.parked = self.responses


def span(text):
    """The numbers of "R1-R3" or "20-100"; all of them without a text."""
    if text is None:
        return range(1 << 32)
    first, last = (int(part.lstrip("RS")) for part in text.split("-"))
    return range(first, last + 1)


class Check:
    def __init__(self, case, folder):
        self.case, self.folder, self.wrong = case, folder, []

    def expect(self, what, condition):
        if not condition:
            self.wrong.append(what)

    def asking(self):
        return [word for entry, at_s in self.case.changes for word in ("--request", f"{json.dumps(entry)}@{at_s}")]

    def run(self):
        file = self.folder / "settings.yaml"
        file.write_text(json.dumps(self.case.settings))  # JSON is YAML
        self.command = [str(BIN / "n2nq-bench"), "run", str(file), *self.case.arguments, *self.asking(), "--json", "--out", str(self.folder / "run")]
        process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            output, errors = process.communicate(timeout=DEADLINE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            self.wrong.append(f"did not end within {DEADLINE_S} s")
            return
        try:
            self.summary = json.loads(output.splitlines()[-1])
            self.check_ledger()
            self.check_verdict(process.returncode)
            result = verify(self.folder / "run")
            self.wrong += result.differences[:5]
            self.check_rules()
        except (Exception, SystemExit) as error:
            self.wrong.append(f"{type(error).__name__}: {error}; it said {(output + errors)[-500:]}")

    def check_ledger(self):
        total, warm_up = self.summary["ledger"]["total"], self.summary["ledger"].get("warmup")
        self.expect("does not balance", self.summary["ledger"]["balanced"])
        for line in self.summary["ledger"]["senders"] + self.summary["ledger"]["receivers"]:
            self.expect(f"unexplained in {line}", line.get("unexplained", 0) == 0)
        samples = self.summary["latency_us"]["count"]
        self.expect(f"{samples} latency samples for {total['delivered']} delivered and {total['duplicated']} duplicated",
                    samples == total["delivered"] + total["duplicated"])
        planned = self.case.senders * self.case.settings["senders"]["messages"]
        self.check_counts("", total, planned)
        warmup_planned = self.case.senders * self.case.settings["senders"]["warmup_messages"]
        if warmup_planned > 0:
            self.check_counts("warm-up: ", warm_up, warmup_planned)
        else:
            self.expect(f"warm-up without any: {warm_up}", warm_up is None)

    def check_counts(self, part, total, planned):
        self.expect(f"{part}unexplained {total['unexplained']}", total["unexplained"] == 0)
        for never in ("unexpected", "bad_checksum", "unasked"):
            self.expect(f"{part}{never} {total[never]}", total[never] == 0)
        for name, allowed in [("lost", self.case.lost), ("lost_before_queue", self.case.lost), ("duplicated_unflagged", self.case.unflagged),
                              ("out_of_order", self.case.unflagged), ("parked", self.case.parked), ("cut_off", self.case.cut_off), ("refused", self.case.cut_off or self.case.cut_short),
                              ("duplicated", self.case.responses or self.case.unflagged),
                              ("unrequested", self.case.settings["queue"]["requests"]), ("expired", self.case.arguments)]:
            self.expect(f"{part}{name} {total[name]}", allowed or total[name] == 0)
        whole = total["attempted"] <= planned if self.case.cut_short else total["attempted"] == planned
        self.expect(f"{part}attempted {total['attempted']} of {planned}", whole)

    def check_verdict(self, code):
        verdict, reasons = self.summary["verdict"], self.summary["reasons"]
        parts = [self.summary["ledger"]["total"], self.summary["ledger"].get("warmup", {})]
        lost = any(part.get("lost", 0) + part.get("lost_before_queue", 0) > 0 for part in parts)
        if lost:
            wanted = ["broken"]
        elif self.case.arguments:
            wanted = ["degraded"]
        elif all(reason.startswith(("plan not kept", "senders were held back", "this bench stood still")) or
                 reason.endswith(" behind the common start") for reason in reasons):  # a busy machine
            wanted = ["clean", "degraded"]
        else:
            wanted = ["clean"]
        self.expect(f"verdict {verdict}, wanted {wanted}: {reasons}", verdict in wanted)
        self.expect(f"exit code {code} with verdict {verdict}", code == (1 if verdict == "broken" else 0))

    def check_rules(self):
        """What each receiver logged is what the settings say it asked for; undisturbed, it is all of that."""
        if not self.case.settings["queue"]["requests"]:
            return
        run = RunFolder(self.folder / "run")
        sent = {(number, index): size for number, log in run.senders.items() for index, size in zip(log.numbers("index"), log.numbers("size"))}
        for number, log in run.receivers.items():
            got = set(zip(log.numbers("sender"), log.numbers("index"))) & set(sent)  # a killed sender may not have noted its last one
            asked = {(sender, index): self.case.asks_for(number, sender, size) for (sender, index), size in sent.items()}
            ever, always = {key for key, by in asked.items() if any(by)}, {key for key, by in asked.items() if all(by)}
            self.expect(f"R{number:03} got what it had not asked for: {sorted(got - ever)[:5]}", got <= ever)
            if not self.case.arguments and self.case.broadcaster:
                self.expect(f"R{number:03} did not get {sorted(always - got)[:5]}", always <= got)


class Property(unittest.TestCase):
    def one(self, seed):
        folder = pathlib.Path(tempfile.mkdtemp(prefix=f"n2nq-property-{seed}-"))
        case = Case(seed)
        check = Check(case, folder)
        try:
            check.run()
        finally:
            if os.environ.get("N2NQ_KEEP"):
                print(folder)
            else:
                shutil.rmtree(folder, ignore_errors=True)
        return check

    def test_runs_of_every_kind(self):
        seeds = [int(ONLY)] if ONLY else range(RUNS)
        begun_s, kinds, verdicts, failed = time.monotonic(), collections.Counter(), collections.Counter(), []
        with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
            for check in pool.map(self.one, seeds):
                kinds[check.case.kind] += 1
                verdicts[getattr(check, "summary", {}).get("verdict", "none")] += 1
                if not check.wrong:
                    continue
                failed.append(check.case.seed)
                print(f"seed {check.case.seed} ({check.case.kind}):", *check.wrong, sep="\n  ")
                print(f"  settings: {json.dumps(check.case.settings)}\n  faults: {' '.join([*check.case.arguments, *check.asking()])}")
                print(f"  again: N2NQ_PROPERTY_SEED={check.case.seed} N2NQ_BIN={BIN} python3 {pathlib.Path(__file__).resolve()}", flush=True)
        print(f"{len(seeds)} runs in {time.monotonic() - begun_s:.0f} s: {dict(verdicts)}; {dict(kinds)}")
        self.assertEqual(failed, [], "seeds")


if __name__ == "__main__":
    unittest.main()
