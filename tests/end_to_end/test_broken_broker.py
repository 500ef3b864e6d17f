#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs with a broker that is broken on purpose, once per way (broker/queue/sabotage.h): each has to be found, and its reason has to name it."""
import json
import os
import re
import shutil
import subprocess
import unittest

import bench
from bench import BenchCase

BROKEN = bench.BIN / "n2nq-broker-broken"

BASE = {"format": 1, "messages_tsv_max_mib": 0, "senders": {"amount": 3, "messages": 60, "size_bytes": 40, "delay_ms": 10},
        "receivers": {"amount": 3}}


def settings(queue, responses=None, senders=None, **more):
    return {**BASE, "queue": queue, **({"responses": responses} if responses else {}), "senders": {**BASE["senders"], **(senders or {})}, **more}


BROADCASTER = {"mode": "broadcaster"}
BALANCER = {"mode": "load-balancer", "dispatch": "round-robin"}
FAST = {"delay_ms": 0, "messages": 2000}
ASKING = [{"receivers": "R1", "senders": "S1"}, {"receivers": "R2", "senders": "S2", "prefetch": 5}, {"receivers": "R3", "senders": "S3"}]
SLOW = {"messages": 200}
PATIENT = {"amount": 1, "messages": 40, "delay_ms": 50}
WARM_UP = {"warmup_messages": 20}
DEADLINE = {"deadline_s": 0.2}
PATIENT_DEADLINE = {"deadline_s": 1}  # of who confirms, on a busy machine
ONE_AT_A_TIME = {"window": 1, "deadline_s": 3}
# More than the buffers of a connection hold, which may be megabytes: else N2NQ does not notice who stops reading. A balancer divides it.
TO_BE_CUT_OFF = {"messages": 3000, "delay_ms": 1, "size_bytes": 5000}
TO_BE_DIVIDED = {**TO_BE_CUT_OFF, "size_bytes": 3 * TO_BE_CUT_OFF["size_bytes"]}
CUT_OFF = ["--fault", "stop-reading:R001@1.5"]
SILENT = ["--fault", "confirm-nothing:R002@0.2"]
FOR_A_WHILE = SILENT + ["--fault", "normal:R002@1.2"]
BAD_TEMPER = ["--fault", "answer-negatively:R002@0.2", "--fault", "normal:R002@1.2"]

# way, settings, more arguments, verdict, what one of the reasons says
WAYS = [
    ("not-queued", settings(BROADCASTER), [], "broken", r"^3 copies lost: accepted by N2NQ, neither delivered nor skipped"),
    ("not-queued", settings(BALANCER), [], "broken", r"^1 copy lost"),
    ("drop-one", settings(BROADCASTER, senders=FAST), [], "broken", r"^1 copy lost.*R00\d: 1"),
    # What goes with a receiver that is cut off does not hide what went before.
    ("drop-one", settings(BROADCASTER, senders=TO_BE_CUT_OFF, limits={"write_deadline_s": 0.3}), CUT_OFF, "broken", r"^1 copy lost.*R00\d: 1"),
    ("not-queued", settings(BALANCER, senders=TO_BE_DIVIDED, limits={"write_deadline_s": 0.3}), CUT_OFF, "broken", r"^1 copy lost"),
    ("not-queued", settings({**BALANCER, "responses": True}, senders=TO_BE_DIVIDED, limits={"write_deadline_s": 0.3}), CUT_OFF, "broken",
     r"^1 copy lost"),
    ("not-queued", settings(BALANCER, senders={**TO_BE_DIVIDED, **WARM_UP}, limits={"write_deadline_s": 0.3}), CUT_OFF, "broken",
     r"^warm-up: 1 copy lost"),
    ("deliver-twice", settings(BROADCASTER), [], "degraded", r"^3 duplicates that N2NQ did not announce"),
    ("deliver-twice", settings(BALANCER), [], "degraded", r"^1 duplicate that N2NQ did not announce"),
    ("swap-two", settings(BROADCASTER), [], "degraded", r"^3 deliveries out of order"),
    ("swap-two", settings({**BALANCER, "responses": True}, senders={"amount": 1}, receivers={"amount": 1}), [], "degraded",
     r"^1 delivery out of order"),
    ("flip-byte", settings(BROADCASTER), [], "broken", r"^3 deliveries with a wrong checksum"),
    ("flip-byte", settings({**BALANCER, "responses": True}), [], "broken", r"^5 deliveries with a wrong checksum"),
    ("invent", settings(BROADCASTER), [], "broken", r"^3 deliveries that no sender of this run made"),
    ("invent", settings(BALANCER), [], "broken", r"^1 delivery that no sender of this run made"),
    ("not-queued", settings(BROADCASTER, senders=WARM_UP), [], "broken", r"^warm-up: 3 copies lost: accepted by N2NQ, neither delivered nor skipped"),
    ("not-queued", settings(BALANCER, senders=WARM_UP), [], "broken", r"^warm-up: 1 copy lost"),
    ("deliver-twice", settings(BALANCER, senders=WARM_UP), [], "degraded", r"^warm-up: 1 duplicate that N2NQ did not announce"),
    ("swap-two", settings(BROADCASTER, senders=WARM_UP), [], "degraded", r"^warm-up: 3 deliveries out of order"),
    ("unmarked", settings(BROADCASTER, senders=WARM_UP), [], "broken", r"^3 deliveries that no sender of this run made"),
    ("unmarked", settings({**BALANCER, "responses": True}, senders=WARM_UP), [], "broken", r"^1 delivery that no sender of this run made"),
    ("count-one-more", settings(BROADCASTER), [], "broken", r"^R00\d: 1 delivery counted by N2NQ did not arrive"),
    ("count-one-more", settings(BALANCER), [], "broken", r"^R00\d: 1 delivery counted by N2NQ did not arrive"),
    ("accepted-ahead", settings(BROADCASTER, senders={"delay_ms": 500, "messages": 4}, limits={"reconnect_deadline_s": 0.5}), [], "degraded", r"N2NQ says it has messages up to \d+, but only \d+ (was|were) sent"),
    ("unasked", settings({**BROADCASTER, "requests": ASKING}), [], "broken", r"^1 delivery that its receiver had not asked for"),
    ("unasked", settings({**BALANCER, "requests": ASKING, "responses": True}), [], "broken", r"^1 delivery that its receiver had not asked for"),
    ("skip-confirmation", settings({**BROADCASTER, "responses": True}, DEADLINE), [], "broken", r"^R00\d: \d+ confirmations? not counted by N2NQ"),
    ("skip-confirmation", settings({**BALANCER, "responses": True}, DEADLINE), [], "broken", r"^R00\d: \d+ confirmations? not counted by N2NQ"),
    ("confirm-by-itself", settings({**BROADCASTER, "responses": True}, PATIENT_DEADLINE, SLOW), FOR_A_WHILE, "broken",
     r"^R002: N2NQ counts 1 confirmation that was never given"),
    ("confirm-by-itself", settings({**BALANCER, "responses": True}, PATIENT_DEADLINE, SLOW), FOR_A_WHILE, "broken",
     r"^R002: N2NQ counts 1 confirmation that was never given"),
    ("unflagged", settings({**BROADCASTER, "responses": True}, senders=SLOW), BAD_TEMPER, "degraded", r"^1 duplicate that N2NQ did not announce"),
    ("unflagged", settings({**BALANCER, "responses": True}, senders=SLOW), BAD_TEMPER, "degraded", r"^1 duplicate that N2NQ did not announce"),
    ("forget-expired@1", settings({**BROADCASTER, "responses": True, "retention_s": 1.5}, ONE_AT_A_TIME, PATIENT), SILENT, "broken",
     r"^R002: \d+ cop(y|ies) expired, but N2NQ did not say so"),
    ("lose-expired@1", settings({**BROADCASTER, "responses": True, "retention_s": 1.5}, ONE_AT_A_TIME, PATIENT), SILENT, "broken",
     r"^\d+ cop(y|ies) lost.*R002"),
]


@unittest.skipUnless(BROKEN.exists(), "n2nq-broker-broken is not built (CMake option N2NQ_SABOTAGE)")
class BrokenBroker(BenchCase):
    def setUp(self):
        super().setUp()
        # The bench takes the programs that stand beside it.
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        shutil.copy2(bench.BIN / "n2nq-bench", self.bin)
        for name in ("n2nq-senders", "n2nq-receivers"):
            (self.bin / name).symlink_to(bench.BIN / name)
        (self.bin / "n2nq-broker").symlink_to(BROKEN)

    def start_broken(self, way, wanted, arguments, out):
        file = self.folder / f"{out}.yaml"
        file.write_text(json.dumps(wanted))  # JSON is YAML
        environment = {key: value for key, value in os.environ.items() if key != "N2NQ_SABOTAGE"}
        return self.start(file, *arguments, out=out, bin=self.bin, env={**environment, **({"N2NQ_SABOTAGE": way} if way else {})})

    def finish(self, process, out):
        output, _ = process.communicate(timeout=bench.DEADLINE_S)
        try:
            return json.loads((self.folder / out / "summary.json").read_text())
        except OSError:
            self.fail(output)

    def test_each_way_is_found_and_named(self):
        # Two at a time: the runs are mostly waiting.
        numbered = [(f"{number:02}-{way}", way, *more) for number, (way, *more) in enumerate(WAYS)]
        for pair in zip(numbered[::2], numbered[1::2] + [None] * (len(numbered) % 2)):
            running = [(case, self.start_broken(case[1], case[2], case[3], case[0])) for case in pair if case]
            for (out, way, wanted, arguments, verdict, reason), process in running:
                summary = self.finish(process, out)
                with self.subTest(way=way, mode=wanted["queue"]["mode"]):
                    self.assertEqual(summary["verdict"], verdict, summary["reasons"])
                    self.assertTrue(any(re.search(reason, told) for told in summary["reasons"]), summary["reasons"])
                    if way in ("flip-byte", "invent", "unmarked"):  # what came was wrong, and the workers' books are right
                        done = subprocess.run([bench.BIN / "n2nq-bench", "verify", self.folder / out], capture_output=True, text=True)
                        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_without_an_order_it_does_nothing_wrong(self):
        for mode in (BROADCASTER, BALANCER):
            for more in ({}, {"responses": True, "requests": ASKING}):
                out = f"{mode['mode']}-{len(more)}"
                summary = self.finish(self.start_broken(None, settings({**mode, **more}), [], out), out)
                with self.subTest(out):
                    self.assertTrue(bench.is_sound(summary), summary["reasons"])

    def test_an_unknown_way_is_refused(self):
        result = subprocess.run([BROKEN, "--version"], env={"N2NQ_SABOTAGE": "no-such-way"}, capture_output=True, text=True)
        self.assertEqual(result.returncode, 2)
        self.assertIn("no-such-way is no WAY[@NTH]; the ways are not-queued drop-one", result.stderr)


if __name__ == "__main__":
    unittest.main()
