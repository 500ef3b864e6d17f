#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs whose processes have clocks that drift and jump: the latencies are as if they had not, within the bound that stands beside them."""
import json
import os
import signal
import subprocess
import threading
import time

from bench import BIN, children, main_at_once, stop_for
from clocks import MS, S, ClocksCase, programs_in, quick_us
from run_folder import RunFolder, percentile
from verify_run import verify

UNASKED_S = 4
OFF_OUTSIDE_US = 100  # of what a jump has nothing to do with
FULL = bool(os.environ.get("N2NQ_FULL"))


class Clocks(ClocksCase):
    def test_drift_is_followed(self):
        # 50 millionths are 3 ms in a minute, 0.5 ms in ten seconds.
        seconds = 600 if FULL else 12
        settings = ("--set", "senders.delay_ms=20", "--set", f"senders.messages={seconds * 50}")
        run = self.run_with("drift", *settings, test_clocks={"n2nq-senders": {"offset_ns": 250 * MS, "drift_ppb": 50_000},
                                                             "n2nq-receivers": {"offset_ns": -250 * MS, "drift_ppb": -50_000}})
        told = self.offsets(run)
        self.assertAlmostEqual(told["senders_to_broker"]["drift_ppm"], -50, delta=5)
        self.assertAlmostEqual(told["receivers_to_broker"]["drift_ppm"], 50, delta=5)
        latencies = sorted((int(row["received_ns"]), float(row["latency_us"])) for log in run.receivers.values() for row in log.rows)
        part = len(latencies) // (10 if FULL else 4)
        parts = [sorted(us for _, us in some) for some in (latencies[:part], latencies[-part:])]
        for name, q in (("one in twenty below", 0.05), ("p50", 0.5)):
            first, last = (percentile(some, q) for some in parts)
            print(f"drift, {seconds} s: {name} {first:.1f} us in the first part, {last:.1f} us in the last")
            if FULL:
                self.assertLess(abs(last - first), 20, name)
        first, last = (quick_us(some) for some in parts)
        self.assertLess(abs(last - first), 300, "uncorrected it would be off by 100 us a second, 900 between these parts")

    def test_a_clock_that_jumps_is_noticed(self):
        for program, step_ns in (("n2nq-senders", S), ("n2nq-receivers", -S)):
            with self.subTest(program):
                for attempt in range(4):  # a busy machine may hold all probes of a burst up for longer than that
                    off_us = self.off_outside_of_a_jump_us(program, step_ns, f"{program}-{step_ns}-{attempt}")
                    if off_us < OFF_OUTSIDE_US:
                        break
                self.assertLess(off_us, OFF_OUTSIDE_US)

    def off_outside_of_a_jump_us(self, program, step_ns, name):
        """How far a latency is off at most that has nothing to do with the jump, which is noticed and named."""
        run = self.run_with(name, "--set", "senders.delay_ms=10", "--set", "senders.messages=800",
                            test_clocks={program: {"step_ns": step_ns, "step_after_ns": 6 * S}})
        role = program.removeprefix("n2nq-")
        told = self.offsets(run)[f"{role}_to_broker"]
        self.assertEqual(told["jumps"], 1, told)
        [span] = told["wrong_spans"]
        self.assertAlmostEqual(span["jump_us"], -step_ns / 1e3, delta=5000)
        self.assertLess(span["to_s"] - span["from_s"], 2)
        self.assertLess(self.offsets(run)["senders_to_receivers"]["bound_us"], 100_000, "told in time")
        self.assertEqual(run.summary["verdict"], "degraded")
        self.assertTrue(any("jumped" in reason for reason in run.summary["reasons"]), run.summary["reasons"])
        return self.off_outside_us(run, span)

    def test_a_jump_that_is_told_late_is_within_the_bound(self):
        """While the bench stands still, nobody tells the receivers that the senders' clock has jumped."""
        name = "told-late"
        heard = self.folder / f"{name}-heard"
        programs = programs_in(self.folder / f"{name}-programs", heard={"n2nq-senders": heard},
                               test_clocks={"n2nq-senders": {"step_ns": S, "step_after_ns": 6 * S}})
        process = self.start("quick", "--set", "log=all", "--set", "senders.amount=1", "--set", "receivers.amount=2", "--set", "senders.delay_ms=10",
                             "--set", "senders.messages=1200", out=name, bin=programs)
        self.wait_until_traffic(out=name)
        hello_ns = next(said["now_ns"] for said in map(json.loads, heard.read_text().splitlines()) if said["type"] == "hello")
        self.wait_for("the jump to be near", lambda: time.monotonic_ns() - hello_ns > 4 * S)
        stop_for(process.pid, 6)
        output, _ = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, output)
        run = RunFolder(self.folder / name)
        bound_us = self.offsets(run)["senders_to_receivers"]["bound_us"]
        span = self.offsets(run)["senders_to_broker"]["wrong_spans"][0]
        off_us = []
        for log in run.receivers.values():
            for row in log.rows:
                if log.clocks.on_broker(int(row["received_ns"])) > span["to_broker_ns"]:
                    raw_us = (int(row["received_ns"]) - int(row["sent_ns"])) / 1e3
                    off_us.append(abs(float(row["latency_us"]) - (raw_us - round(raw_us * 1e3 / S) * S / 1e3)))  # the jump is of a whole second
        print(f"behind the span at most {max(off_us):.1f} us from the truth, within {bound_us:.1f}")
        self.assertGreater(max(off_us), 900_000, "the bench stood still over the jump")
        self.assertLess(max(off_us), bound_us)
        # Meanwhile the messages seemed to leave a second later than they did.
        below_zero = sum(float(row["latency_us"]) < 0 for log in run.receivers.values() for row in log.rows)
        self.assertGreater(below_zero, 0)
        self.assertEqual(run.summary["ledger"]["total"]["negative"], below_zero)
        self.assertTrue(any("below zero" in reason for reason in run.summary["reasons"]), run.summary["reasons"])
        self.assertEqual(run.summary["verdict"], "degraded", run.summary["reasons"])

    def test_a_jump_just_before_the_end_counts_too(self):
        # The first ones come while messages flow, the last ones too late; what is noticed is in the verdict, however little is known of it.
        noticed = 0
        for after_ms in range(1_000, 2_000, 200):
            with self.subTest(after_ms):
                run = self.run_with(f"late-{after_ms}", "--set", "senders.delay_ms=10", "--set", "senders.messages=100",
                                    test_clocks={"n2nq-senders": {"step_ns": S, "step_after_ns": after_ms * MS}})
                told = self.offsets(run)["senders_to_broker"]
                jumped = [reason for reason in run.summary["reasons"] if "jumped" in reason]
                self.assertEqual(bool(told["wrong_spans"]), told["jumps"] > 0, told)
                if told["jumps"] > 0:
                    noticed += 1
                    self.assertEqual(run.summary["verdict"], "degraded")
                    self.assertTrue(jumped, run.summary["reasons"])
        self.assertGreater(noticed, 0)

    def test_a_line_of_the_senders_clock_that_is_refused_ends_the_run(self):
        """Latencies would go on with the line before, and be more and more wrong."""
        name = "refused"
        programs = programs_in(self.folder / f"{name}-programs",
                               test_clocks={"n2nq-senders": {"offset_ns": 250 * MS, "drift_ppb": 50_000}},
                               spoilt={"n2nq-receivers": [{"type": "clock", "behind": "start", "with": {"senders": {"drift_ppt": 10**12}}}]})
        process = self.start("quick", "--set", "senders.amount=2", "--set", "receivers.amount=2", "--set", "senders.duration_s=300", out=name,
                             bin=programs)
        output, _ = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 1, output)
        run = RunFolder(self.folder / name)
        refused = [reason for reason in run.summary["reasons"] if "refused" in reason]
        self.assertEqual(refused, ["Receivers refused what they were told of the senders' clock: senders.drift_ppt is 1000000000000, it has to be "
                                   "a whole number from -10000000000 to 10000000000"], run.summary["reasons"])
        self.assertEqual(run.summary["verdict"], "broken")
        self.assertEqual(output.count("n2nq-bench: " + refused[0]), 1, output)

    def test_the_bound_of_who_is_killed_grew_until_then(self):
        """What it said last of its clock is some seconds old when its last messages leave, here because N2NQ's cannot be asked meanwhile."""
        for attempt in range(4):  # on a busy machine a probe of before may have been held up for as long as the bound grows in these seconds
            grown_ns, worst_ns, told_ns = self.killed_while_unasked(f"killed-{attempt}")
            if grown_ns > worst_ns:
                break
        self.assertGreater(grown_ns, worst_ns, "else nothing has grown")
        self.assertGreaterEqual(told_ns, grown_ns)

    def killed_while_unasked(self, name):
        """Returns how wide the bound of the senders' clock had grown when they were killed, the worst that they had seen, and the result's."""
        offset_ns, drift = 250 * MS, 50e-6
        heard = self.folder / f"{name}-heard"
        programs = programs_in(self.folder / f"{name}-programs", heard={"n2nq-senders": heard},
                               test_clocks={"n2nq-senders": {"offset_ns": offset_ns, "drift_ppb": round(drift * 1e9)}})
        process = self.start("quick", "--set", "log=all", "--set", "senders.amount=2", "--set", "receivers.amount=2", "--set", "senders.delay_ms=10",
                             "--set", "senders.duration_s=300", out=name, bin=programs)
        self.wait_until_traffic(out=name, lines=400)
        senders = children(children(process.pid)["n2nq-senders"])["n2nq-senders"]
        broker = children(process.pid)["n2nq-broker"]
        stopped = threading.Timer(UNASKED_S, os.kill, (senders, signal.SIGKILL))
        stopped.start()
        stop_for(broker, UNASKED_S + 0.1)
        output, _ = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 1, output)
        self.assertEqual(verify(self.folder / name).differences, [], output)
        run = RunFolder(self.folder / name)
        said = [json.loads(line) for line in heard.read_text().splitlines()]
        hello = next(object for object in said if object["type"] == "hello")  # and not of who reads back what was left
        last = [object for object in said if object["type"] == "clock"][-1]
        age_ns = max(sent for log in run.senders.values() for sent in log.numbers("sent_ns")) - last["line"]["at_ns"]
        self.assertGreater(age_ns, (UNASKED_S - 0.5) * S)
        now, later, worst = (sum(last[key].values()) for key in ("bound", "later", "worst"))
        grown_ns = now + (later - now) * age_ns / (60 * S)
        told_ns = self.offsets(run)["senders_to_broker"]["bound_us"] * 1e3
        # The test clock counts from its settings, just before the hello: the truth is known to 50 ns for each ms in between.
        begun_ns = hello["now_ns"] - offset_ns
        off_ns = []
        for log in run.receivers.values():
            for row in log.rows:
                sent_ns = begun_ns + (int(row["sent_ns"]) - offset_ns - begun_ns) / (1 + drift)
                off_ns.append(abs(float(row["latency_us"]) * 1e3 - (int(row["received_ns"]) - sent_ns)))
        print(f"{age_ns / 1e9:.1f} s behind its last word: at most {max(off_ns) / 1e3:.1f} us from the truth, within {told_ns / 1e3:.1f} us; the "
              f"worst that it had seen was {worst / 1e3:.1f} us")
        self.assertLess(told_ns, later, "the growth of those seconds, and not of any time")
        self.assertLess(max(off_ns), told_ns)
        for latency in (run.summary["latency_us"], *(receiver["latency_us"] for receiver in run.summary["services"]["receivers"])):
            self.assertEqual(latency["bound_us"] * 1e3, told_ns, "beside each latency")
        return grown_ns, worst, told_ns

    def test_groups_that_a_jump_of_n2nqs_clock_told_apart_are_one_again(self):
        """The receivers start again behind the jump, while the senders, on the same clock, stand still and have not noticed it."""
        run = self.run_with("told-apart", "--set", "queue.responses=true", "--set", "senders.delay_ms=20", "--set", "senders.duration_s=20",
                            "--set", "queue.retention_s=60", "--set", "limits.reconnect_deadline_s=30",
                            "--fault", "kill:receivers@1", "--fault", "pause:senders@1", "--fault", "restart:receivers@7",
                            "--fault", "resume:senders@9.5", test_clocks={"n2nq-broker": {"step_ns": S, "step_after_ns": 6 * S}})
        told = self.offsets(run)
        self.assertEqual(told["senders_to_broker"]["jumps"], 1, told)
        self.assertEqual(told["receivers_to_broker"]["jumps"], 0, "they knew nothing of before")
        self.assertEqual(told["senders_to_receivers"]["clock"], "probed", "some of the figures are of when they were taken for two")
        [span] = told["senders_to_broker"]["wrong_spans"]
        wrong = 0
        for log in run.receivers.values():
            lines = [line.split() for line in log.header + log.footer if line.startswith("# clock: senders")]
            same_ns = [int(line[3].split("=")[1]) for line in lines if line[-3:] == ["same", "as", "own"]]
            apart_ns = [int(line[3].split("=")[1]) for line in lines if line[-3:] != ["same", "as", "own"]]
            self.assertGreater(len(apart_ns), 0, lines)
            self.assertGreater(same_ns[-1], apart_ns[-1], "one again")
            behind = 0
            for row in log.rows:
                received_ns = int(row["received_ns"])
                off_ns = abs(float(row["latency_us"]) * 1e3 - (received_ns - int(row["sent_ns"])))
                if received_ns > same_ns[-1]:
                    behind += 1
                    self.assertLess(off_ns, 1, "exact, as before")
                elif off_ns > told["senders_to_receivers"]["bound_us"] * 1e3:
                    wrong += 1
                    self.assertLessEqual(log.clocks.on_broker(received_ns), span["to_broker_ns"])
            self.assertGreater(behind, 50, "the run went on long enough to show something")
        verified = subprocess.run([BIN / "n2nq-bench", "verify", run.folder], capture_output=True, text=True)
        self.assertEqual(verified.returncode, 0, verified.stdout)
        print(f"{wrong} latencies off by the jump, all in its span; {told['senders_to_receivers']['bound_us']:.0f} us of bound")
        self.assertTrue(any("jumped" in reason for reason in run.summary["reasons"]), run.summary["reasons"])

    def off_outside_us(self, run, span):
        """What was neither sent nor received in the span is as before, and within the bound: how far it is off at most."""
        before, inside, after, off_us = [], [], [], []
        for log in run.receivers.values():
            begun = over = False  # a clock that went back says the same instants twice, but the lines stand in the order of receipt
            before_ns = 0
            for row in log.rows:
                received_ns = log.clocks.on_broker(int(row["received_ns"]))
                sent_ns = received_ns - round(float(row["latency_us"]) * 1e3)
                if received_ns < before_ns - S // 2:  # the jump itself, which is in the span: a message came just before its first one
                    self.assertGreater(before_ns, span["from_broker_ns"] - 0.2 * S)
                    begun = True
                begun = begun or received_ns >= span["from_broker_ns"]
                before_ns = received_ns
                over = over or (begun and min(sent_ns, received_ns) > span["to_broker_ns"])
                (after if over else inside if begun else before).append(float(row["latency_us"]))
                if over or not begun:
                    raw_us = (int(row["received_ns"]) - int(row["sent_ns"])) / 1e3
                    off_us.append(float(row["latency_us"]) - (raw_us - round(raw_us * 1e3 / S) * S / 1e3))  # jumps are of whole seconds
        worst_us, bound_us = max(map(abs, off_us)), self.offsets(run)["senders_to_receivers"]["bound_us"]
        print(f"{run.folder.name}: outside of the span at most {worst_us:.1f} us from the truth, within {bound_us:.1f}")
        self.assertLessEqual(worst_us, bound_us)
        outside = sorted(before + after)
        self.assertGreater(len(outside), 2 * len(inside))
        self.assertLess(abs(quick_us(before) - quick_us(after)), 100)
        self.assertGreater(outside[0], -100_000)
        self.assertLess(outside[-1], 500_000, "nothing outside is off by the jump")
        return worst_us


if __name__ == "__main__":
    main_at_once()
