#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The thesis' four placements, as they come with the program, on hosts of the names that they ask for.
N2NQ_LAB_FULL=1: whole, else fewer messages, judged less strictly, and both queue modes only where both groups are elsewhere. N2NQ_LAB_REPEATS: attempts for each comparison, which needs a quiet machine (3)."""
import os

from lab import LabCase, main
from run_folder import RunFolder

PLACEMENTS = {  # preset: hosts of senders and receivers
    "placement-internal": ("n2nq-vm", "n2nq-vm"),
    "placement-senders-external": ("senders-vm", "n2nq-vm"),
    "placement-receivers-external": ("n2nq-vm", "receivers-vm"),
    "placement-external": ("senders-vm", "receivers-vm"),
}
FULL = bool(os.environ.get("N2NQ_LAB_FULL"))
ATTEMPTS = int(os.environ.get("N2NQ_LAB_REPEATS", 3))
SHORTER = [] if FULL else ["--set", "senders.messages=5"]
LINK_NS = 1_000_000
WITHIN_US = 150 if FULL else 500  # of a median, on a machine that others use, too


class Placements(LabCase):
    hosts = ("n2nq-vm", "senders-vm", "receivers-vm")
    arguments = {"shape": {"delay_ns": 0}}

    def setUp(self):
        super().setUp()
        self.lab.shape_links({"delay_ns": LINK_NS})

    def run_placed(self, preset, mode, delay_ns, out):
        """A clean run of the preset's, each group where it should be."""
        self.lab.shape_links({"delay_ns": delay_ns})
        senders, receivers = PLACEMENTS[preset]
        run = RunFolder(self.run_bench(preset, *SHORTER, "--set", f"queue.mode={mode}", out=out))
        self.assert_clean(run.summary, delay_ns)
        settings = run.summary["settings"]
        self.assertEqual((settings["broker"]["host"], settings["senders"]["host"], settings["receivers"]["host"]), ("n2nq-vm", senders, receivers))
        return run.summary["latency_us"]

    def check(self, preset, mode):
        """Half of the messages take what the links take, beside what the same run takes without them; what is wrong with it is within what
        the clocks of the hosts are known to. Messages pass two links for each group that is elsewhere."""
        due_us = 2 * LINK_NS / 1e3 * sum(host != "n2nq-vm" for host in PLACEMENTS[preset])
        errors_us = []
        for attempt in range(ATTEMPTS):
            without, over = (self.run_placed(preset, mode, ns, f"{preset}-{mode}-{attempt}-{ns}") for ns in (0, LINK_NS))
            errors_us.append(over["p50"] - without["p50"] - due_us)
            # Those of one host share a clock.
            bound_us = over["bound_us"] + without["bound_us"] if due_us else None
            print(f"{preset}, {mode}: p50 {without['p50']:.0f} us without, {over['p50']:.0f} us over the links, {errors_us[-1]:+.0f} us from what "
                  f"is due" + (f", bound {bound_us:.0f} us" if due_us else ""))
            if abs(errors_us[-1]) <= WITHIN_US and (bound_us is None or abs(errors_us[-1]) <= bound_us):
                return
        self.fail(f"{preset}, {mode}: never within {WITHIN_US} us: {errors_us}")

    def check_mixed(self, **places):
        """Clean, with some of it on this machine."""
        options = [word for role, host in places.items() for word in ("--set", f"{role}.host={host}")]
        run = RunFolder(self.run_bench("quick", *options, "--set", "senders.messages=10"))
        self.assertEqual(run.summary["verdict"], "clean", run.summary["reasons"])
        self.assertEqual((len(run.senders), len(run.receivers)), (10, 10))

    def test_n2nq_here_and_groups_there(self):
        self.check_mixed(senders="senders-vm", receivers="receivers-vm")

    def test_n2nq_there_and_groups_here(self):
        self.check_mixed(broker="n2nq-vm")


def test_of(preset, mode):
    return lambda self: self.check(preset, mode)


for preset in PLACEMENTS:
    shorter = ["load-balancer" if preset == "placement-senders-external" else "broadcaster"]
    for mode in ("broadcaster", "load-balancer") if FULL or preset == "placement-external" else shorter:
        setattr(Placements, f"test_{preset}_{mode}".replace("-", "_"), test_of(preset, mode))

if __name__ == "__main__":
    main()
