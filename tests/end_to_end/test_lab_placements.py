#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The thesis' four placements, as they come with the program, on hosts of the names that they ask for.
N2NQ_LAB_FULL=1: whole, and no run counts but one whose verdict is clean; else fewer messages, sooner after each other, judged less
strictly, and both queue modes only where both groups are elsewhere.
N2NQ_LAB_REPEATS: how many pairs of halves, with and without the links' delay, are judged by their middle (20 in a whole run, else 5); up to twice,
in a whole run four times as many where they lie far apart."""
import os

from in_turn import RATE_BPS, InTurn
from lab import FULL, main, processors_kept_awake

PLACEMENTS = {  # preset: hosts of senders and receivers
    "placement-internal": ("n2nq-vm", "n2nq-vm"),
    "placement-senders-external": ("senders-vm", "n2nq-vm"),
    "placement-receivers-external": ("n2nq-vm", "receivers-vm"),
    "placement-external": ("senders-vm", "receivers-vm"),
}
PAIRS = int(os.environ.get("N2NQ_LAB_REPEATS", 20 if FULL else 5))
DELAY_MS = 500 if FULL else 350  # as the presets have it, or as test_lab_runs, which judges more strictly
LINK_NS = 1_000_000
WITHIN_US = 150 if FULL else 500  # of a median, on a machine that others use, too


class Placements(InTurn):
    hosts = ("n2nq-vm", "senders-vm", "receivers-vm")
    arguments = {"shape": {"delay_ns": 0}}

    def setUp(self):
        super().setUp()
        self.lab.shape_links({"delay_ns": LINK_NS})

    def check(self, preset, mode):
        """A clean run of the preset's, each group where it should be, in which half of the messages take what the links take, beside what
        they take without them. Messages pass two links for each group that is elsewhere."""
        senders, receivers = PLACEMENTS[preset]
        passed = 2 * sum(host != "n2nq-vm" for host in (senders, receivers))
        self.lab.shape_links({"rate_bps": RATE_BPS[mode]})

        def make_pairs(attempt):
            with processors_kept_awake():
                run, errors_us = self.run_in_turn(preset, {"queue.mode": mode, "senders.delay_ms": DELAY_MS}, LINK_NS, (), passed, PAIRS,
                                                  DELAY_MS, f"{preset}-{mode}-{attempt}")
            placed = run.summary["settings"]
            self.assertEqual([placed[role]["host"] for role in ("broker", "senders", "receivers")], ["n2nq-vm", senders, receivers])
            self.check_clocks(run, {"senders": senders, "receivers": receivers})
            return errors_us

        self.judge(f"{preset}, {mode}", WITHIN_US, make_pairs)

    def check_clocks(self, run, hosts):
        """That the clocks of these hosts show the same is found out, and not taken for one clock."""
        offsets = run.summary["environment"]["offsets"]
        for role, host in hosts.items():
            told = offsets[f"{role}_to_broker"]
            self.assertEqual(told["clock"], "shared" if host == "n2nq-vm" else "probed", role)
            self.assertLessEqual(abs(told["offset_us"]), told["bound_us"], role)
        one_clock = set(hosts.values()) == {"n2nq-vm"}
        self.assertEqual(offsets["senders_to_receivers"]["clock"], "shared" if one_clock else "probed")


def test_of(preset, mode):
    return lambda self: self.check(preset, mode)


for preset in PLACEMENTS:
    shorter = ["load-balancer" if preset == "placement-senders-external" else "broadcaster"]
    for mode in ("broadcaster", "load-balancer") if FULL or preset == "placement-external" else shorter:
        setattr(Placements, f"test_{preset}_{mode}".replace("-", "_"), test_of(preset, mode))

if __name__ == "__main__":
    main()
