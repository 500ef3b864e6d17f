#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A test case's external sets in a lab of pretend hosts: where each group runs, with the hosts that the case names and with others."""
import json
import subprocess

from lab import LabCase, main

CASE = """
format: 1
title: Places
hosts: { broker: h1, senders: h2, receivers: h3 }
without_hosts: leave-out
settings: { senders: { amount: 2, messages: 10, delay_ms: 20 }, receivers: { amount: 2 } }
axes:
  place:
    values:
      - { name: both internal, place: { senders: internal, receivers: internal } }
      - { name: senders external, place: { senders: external, receivers: internal } }
      - { name: both external, place: { senders: external, receivers: external } }
figures:
  - { id: places, title: Latency by location, x: place, y: latency_us.mean_lowest_95 }
"""


class Places(LabCase):
    hosts = 3

    def run_case(self, *arguments):
        case = self.folder / "places.yaml"
        case.write_text(CASE)
        command = self.lab.bench_command("case", case, "--json", *arguments)
        process = subprocess.run(command, env=self.lab.environment(), capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)
        self.assertEqual(process.returncode, 0, process.stderr)
        return json.loads(process.stdout.splitlines()[-1])

    def places_of(self, out):
        found = set()
        for summary in out.glob("runs/*/summary.json"):
            content = json.loads(summary.read_text())
            self.assert_clean(summary.parent.name, content, delay_ns=0)
            found.add(tuple(content["settings"][role]["host"] for role in ("broker", "senders", "receivers")))
        return found

    def test_the_hosts_that_the_case_names(self):
        result = self.run_case("--out", self.folder / "named")
        self.assertEqual(self.places_of(self.folder / "named"), {("h1", "h1", "h1"), ("h1", "h2", "h1"), ("h1", "h2", "h3")})
        figure = result["figures"][0]
        self.assertEqual([point["x"] for point in figure["series"][0]["points"]], ["both internal", "senders external", "both external"])
        self.assertIn("These hosts are one machine", " ".join(figure["remarks"]))

    def test_hosts_chosen_by_hand(self):
        self.run_case("--on", "h3,h1,h2", "--out", self.folder / "chosen")
        self.assertEqual(self.places_of(self.folder / "chosen"), {("h3", "h3", "h3"), ("h3", "h1", "h3"), ("h3", "h1", "h2")})


if __name__ == "__main__":
    main()
