#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The thesis' four placements, as they come with the program, on hosts of the names that they ask for.
N2NQ_LAB_FULL=1: whole, else fewer messages."""
import os

from lab import LabCase, main
from run_folder import RunFolder

PLACEMENTS = {  # preset: hosts of senders and receivers
    "placement-internal": ("n2nq-vm", "n2nq-vm"),
    "placement-senders-external": ("senders-vm", "n2nq-vm"),
    "placement-receivers-external": ("n2nq-vm", "receivers-vm"),
    "placement-external": ("senders-vm", "receivers-vm"),
}
SHORTER = [] if os.environ.get("N2NQ_LAB_FULL") else ["--set", "senders.messages=8"]


class Placements(LabCase):
    hosts = ("n2nq-vm", "senders-vm", "receivers-vm")
    arguments = {"shape": {"delay_ns": 1_000_000}}

    def check(self, preset, mode):
        """Clean, and each group ran where it should: messages pass two links of 1 ms for each group that is elsewhere."""
        senders, receivers = PLACEMENTS[preset]
        run = RunFolder(self.run_bench(preset, *SHORTER, "--set", f"queue.mode={mode}", out=f"{preset}-{mode}"))
        self.assertEqual(run.summary["verdict"], "clean", run.summary["reasons"])
        settings = run.summary["settings"]
        self.assertEqual((settings["broker"]["host"], settings["senders"]["host"], settings["receivers"]["host"]), ("n2nq-vm", senders, receivers))
        due_us = 2000 * ((senders != "n2nq-vm") + (receivers != "n2nq-vm"))
        latency_us = run.summary["latency_us"]
        print(f"{preset}, {mode}: p50 {latency_us['p50']:.0f} us, at least {latency_us['min']:.0f} us, {due_us} us of it are links")
        # The fastest of many: how busy this machine is does not matter. A frame leaves at most 50 us early.
        self.assertGreater(latency_us["min"], due_us - 200)
        self.assertLess(latency_us["min"], due_us + 1900)


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
    for mode in ("broadcaster", "load-balancer"):
        setattr(Placements, f"test_{preset}_{mode}".replace("-", "_"), test_of(preset, mode))

if __name__ == "__main__":
    main()
