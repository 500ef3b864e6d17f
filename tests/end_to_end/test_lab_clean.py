#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs on three hosts whose clocks are a quarter of a second apart, over links that take what real ones do: nothing is wrong with them, and all
logs come here. What they measure, test_lab_runs and test_lab_placements judge.
N2NQ_LAB_FULL=1: no run counts but one whose verdict is clean."""
from lab import LabCase, main
from run_folder import RunFolder

MS = 1_000_000
DELAY_NS = 2 * MS
SERVICES = 50


class CleanRuns(LabCase):
    hosts, arguments = 3, {"clocks_ns": (0, 250 * MS, -250 * MS), "shape": {"delay_ns": DELAY_NS}}

    def check(self, hosts, amount, out, **settings):
        """hosts: of broker, senders and receivers; "local" is this machine."""
        values = {**dict(zip(("broker.host", "senders.host", "receivers.host"), hosts)), "senders.amount": amount, "receivers.amount": amount,
                  **settings}
        options = [word for key, value in values.items() for word in ("--set", f"{key}={value}")]
        run = self.clean_run(lambda name: RunFolder(self.run_bench("quick", *options, out=name)), out, DELAY_NS)
        self.check_logs(run, amount)

    def check_fifty(self, mode):
        self.check(("h1", "h2", "h3"), SERVICES, mode, **{"queue.mode": mode, "senders.delay_ms": 100, "senders.messages": 30})

    def test_broadcaster(self):
        self.check_fifty("broadcaster")

    def test_load_balancer(self):
        self.check_fifty("load-balancer")

    def test_n2nq_here_and_groups_there(self):
        self.check(("local", "h2", "h3"), 10, "n2nq-here", **{"senders.messages": 10})

    def test_n2nq_there_and_groups_here(self):
        self.check(("h1", "local", "local"), 10, "groups-here", **{"senders.messages": 10})


if __name__ == "__main__":
    main()
