# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs over links whose delay is put in and taken out again in turn, and what is judged by them. What else changes while they run, on a
machine that others use, too, is in both halves of a pair. The middle of all pairs is judged, and how many there are depends on how far they
lie apart, not on where, so that nothing passes because one of them was lucky. Where they lie too far apart to tell, that is said: a test of
the short form is skipped then, one of the whole form (N2NQ_LAB_FULL=1) fails."""
import contextlib
import subprocess
import time
from bisect import bisect_left
from statistics import median

from lab import FULL, LabCase
from middles import judge
from run_folder import RunFolder

MS = 1_000_000
# Beside what the links take: what was sent so shortly before or after a change belongs to neither half.
SETTLED_NS = 25 * MS
# The broadcaster's copies pass links of 20 Mbit/s one by one. Without a rate N2NQ and the receivers, which here share a processor, want it at
# the same moment when there is no delay, and one after the other when there is: a quarter of a millisecond, of this machine and not of the links.
RATE_BPS = {"broadcaster": 20_000_000, "load-balancer": 0}
# So many times as many pairs as at first, where they lie far apart.
ATTEMPTS = 4 if FULL else 2


class InTurn(LabCase):
    senders_clock_ns = 0  # how far ahead of this machine's it is

    def run_in_turn(self, preset, values, delay_ns, names, passed, pairs, half_ms, out):
        """A clean run of the preset with these settings, long enough for so many pairs of halves: so long without the delay, then as long
        with it. names: of the links that it is put into (none: all), passed: how many of those a message passes. The run, and of each pair
        by how much the medians of what was sent in its halves differ from what is due, in us."""
        around_ns = passed * delay_ns + SETTLED_NS
        span_ns = half_ms * MS + 2 * around_ns
        messages = (2 * pairs + 3) * span_ns // (values["senders.delay_ms"] * MS) + 1
        options = [word for key, value in {**values, "senders.messages": messages}.items() for word in ("--set", f"{key}={value}")]
        changes = []  # when, by the senders' clock, and the delay from then on

        def run_once(name):
            changes.clear()
            process = self.start(preset, *options, out=name)
            while process.poll() is None:
                ns = delay_ns if len(changes) % 2 else 0
                self.lab.shape_links({"delay_ns": ns}, names=names)
                changes.append((time.monotonic_ns() + self.senders_clock_ns, ns))
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(span_ns / 1e9)
            self.assertEqual(process.returncode, 0, process.stdout.read())
            return RunFolder(self.folder / name)

        run = self.clean_run(run_once, out, 0)
        rows = sorted((int(row["sent_ns"]), float(row["latency_us"])) for log in run.receivers.values() for row in log.rows)
        halves = []
        for (from_ns, ns), (to_ns, _) in zip(changes, changes[1:]):
            inside = rows[bisect_left(rows, (from_ns + around_ns,)):bisect_left(rows, (to_ns - around_ns,))]
            if from_ns >= rows[0][0] and to_ns <= rows[-1][0] and (halves or ns == 0):
                halves.append(median(latency_us for _, latency_us in inside))
        self.assertGreaterEqual(len(halves), 2 * pairs)
        return run, [over - without - passed * delay_ns / 1e3 for without, over in zip(halves[::2], halves[1::2])][:pairs]

    def judge(self, what, within_us, make_pairs):
        """The middle of the pairs is within that, and known to as much. make_pairs: returns, of some more, by how much they are off, in us,
        given how many times it has been called."""
        with self.subTest(what):
            verdict, middle = judge(make_pairs, within_us, ATTEMPTS)
            told = f"{what}: {middle.text('us')} (aim: {within_us} us from what is due)"
            if verdict == "cannot tell" and not FULL:
                print(f"\nskipped: cannot tell: {told}", flush=True)  # as tests/run finds it, which tells it at its end
                self.skipTest(f"cannot tell: {told}")
            print(told if verdict == "yes" else f"{verdict.upper()}: {told}")
            self.assertEqual(verdict, "yes", f"{told}: {middle.differences}")
