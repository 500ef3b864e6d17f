#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Twenty hosts, of which one does not answer, one has another key than is known, one is unknown, and one has a full disk: each is named, the
other sixteen are found to be well, and nothing is left on any of them."""
import contextlib
import json
import os
import re
import signal
import time

from bench import BIN, hold_ups, run_with_nobody
from lab import START_S, LabCase, main

HOSTS = 20
GONE, CHANGED, UNKNOWN, FULL = "h3", "h7", "h12", "h17"


@contextlib.contextmanager
def stopped(pid):
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


class Many(LabCase):
    hosts, arguments = HOSTS, {"bad_key": [CHANGED], "unknown_key": [UNKNOWN]}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.lab.set_plugged_in(GONE, False)
        cls.lab.inside(FULL, "sh", "-c", "mkdir -p /home/lab/.cache && mount -t tmpfs -o size=1m,mode=1777 full /home/lab/.cache")

    def lines_of(self, name):
        """What the lab's hosts file says of it."""
        return re.search(rf"(?m)^  - name: {name}\n(    .*\n)+", (self.lab.folder / "hosts.yaml").read_text())[0]

    def check(self, hosts, *options):
        begun = time.monotonic()
        done = run_with_nobody([BIN / "n2nq-bench", "hosts", "check", *options, "--hosts", hosts], env=self.lab.environment())
        print(f"{hosts.name}: checked in {time.monotonic() - begun:.1f} s")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.wait_for("nothing to be left", lambda: not any(self.lab.processes(name) for name in self.lab.hosts if name != GONE))
        return done.stdout

    def test_a_check_names_those_that_are_not_well_first(self):
        hosts = self.folder / "few.yaml"
        hosts.write_text("format: 1\nhosts:\n" + "".join(self.lines_of(name) for name in ("h1", "h2", GONE, CHANGED, UNKNOWN, FULL)))
        bad = re.findall(r"^BAD (\S+), ([^:]+): (.*)$", self.check(hosts), re.MULTILINE)
        self.assertEqual([(name, what) for name, what, _ in bad],
                         [(GONE, "reachable"), (CHANGED, "reachable"), (UNKNOWN, "reachable"), (FULL, "free disk"), (FULL, "folder")])
        for (_, _, why), expected in zip(bad, ("no answer", "has changed", "is not known", "little room", "disk is full")):
            self.assertIn(expected, why)

    def test_a_check_finds_the_others_well_and_every_way_between_them(self):
        found = json.loads(self.check(self.lab.folder / "hosts.yaml", "--json"))
        self.assertEqual([host["name"] for host in found["hosts"]], ["local", *(f"h{i}" for i in range(1, HOSTS + 1))])
        well = {host["name"] for host in found["hosts"] if host["name"] != "local" and host["folder"]["state"] == "good"}
        self.assertEqual(well, set(self.lab.hosts) - {GONE, CHANGED, UNKNOWN, FULL})
        ways = {(path["from"], path["to"]) for path in found["paths"] if path["round_trip_us"]["state"] == "good"}
        self.assertEqual({way for way in ways if "local" not in way}, {(a, b) for a in well for b in well if a != b})

    def test_a_start_on_hosts_that_are_not_well_names_each_and_takes_the_others_down(self):
        for places in ((CHANGED, UNKNOWN, FULL), ("h1", GONE, FULL), ("h1", "h2", GONE)):
            roles = zip(("broker", "senders", "receivers"), places)
            held_up_s = hold_ups()
            bench = self.start("quick", *(word for role, host in roles for word in ("--set", f"{role}.host={host}")), out="-".join(places))
            output, _ = bench.communicate(timeout=60)
            self.assertEqual(bench.returncode, 1, output)
            self.assert_start_failed_in_time("-".join(places), held_up_s)
            for name in set(places) & {GONE, CHANGED, UNKNOWN, FULL}:
                self.assertRegex(output, rf"(?m)^ +- .* could not be started: .*\b{name}\b")
            self.wait_for("the others to be taken down", lambda: not any(self.lab.processes(name) for name in ("h1", "h2")))

    def test_a_host_that_says_nothing_is_named_beside_one_that_fails_at_once(self):
        roles = {"broker": CHANGED, "senders": "h2", "receivers": "h1"}
        for attempt in range(4):  # what is waited for takes most of the time by itself, so a busy machine may make it too long
            held_up_s = hold_ups()
            with stopped(self.lab.hosts["h2"]["pid"]):
                bench = self.start("quick", *(word for role, host in roles.items() for word in ("--set", f"{role}.host={host}")),
                                   out=f"silent-{attempt}")
                output, _ = bench.communicate(timeout=60)
            self.assertEqual(bench.returncode, 1, output)
            for name in (CHANGED, "h2"):
                self.assertRegex(output, rf"(?m)^ +- .* could not be started: .*\b{name}\b")
            took_s = self.failed_start_s(f"silent-{attempt}", held_up_s)
            if took_s < START_S:
                break
        self.assertLess(took_s, START_S)

    def test_a_host_that_answers_after_the_start_has_failed_is_named_too(self):
        roles = {"broker": CHANGED, "senders": UNKNOWN, "receivers": "h1"}
        sshd = self.lab.hosts[UNKNOWN]["pid"]
        with stopped(sshd):
            bench = self.start("quick", *(word for role, host in roles.items() for word in ("--set", f"{role}.host={host}")), out="late")
            told = next(line for line in bench.stdout if "could not be started" in line)
        output, _ = bench.communicate(timeout=60)
        self.assertRegex(told, rf"N2NQ could not be started: .*\b{CHANGED}\b")
        self.assertRegex(output, rf"(?m)^ +- Senders could not be started: .*\b{UNKNOWN}\b.* is not known")


if __name__ == "__main__":
    main()
