#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab of pretend hosts itself: hosts that one can log in to, with clocks of their own, and nothing left of them afterwards."""
import json
import os
import pathlib
import re
import subprocess
import time
import unittest

from lab import LAB, Lab, main, pretend_lab
import pretend_host

CLOCKS_NS = (0, 250_000_000, -250_000_000)


def offset_ns(lab, name):
    """How far the host's clock is ahead of ours, and how far off that may be: what /proc/uptime there says between two looks here (10 ms steps)."""
    before = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    there = float(lab.inside(name, "cat", "/proc/uptime").split()[0]) * 1e9
    after = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    return there - (before + after) / 2, (after - before) / 2 + 10e6


def traces(number):
    """Whatever of a lab can be seen from outside of it."""
    devices = [device for device in os.listdir("/sys/class/net") if re.fullmatch(rf"n2nq{number}(-h\d+)?", device)]
    folder = pretend_lab.folder_of(number)
    mounts = [line for line in pathlib.Path("/proc/mounts").read_text().splitlines() if str(folder) in line]
    return devices + mounts + [str(folder)] * folder.exists()


def network_namespaces():
    found = set()
    for link in pathlib.Path("/proc").glob("[0-9]*/ns/net"):
        try:
            found.add(os.readlink(link))
        except OSError:
            pass
    return found


class ALab(unittest.TestCase):
    def setUp(self):
        self.lab = Lab(3, clocks_ns=CLOCKS_NS)
        self.addCleanup(self.lab.close)

    def test_hosts_are_what_they_seem(self):
        for name, host in self.lab.hosts.items():
            done = self.lab.ssh(name, "echo $HOSTNAME $USER $HOME")
            self.assertEqual((done.returncode, done.stdout), (0, f"{name} lab /home/lab\n"), done.stderr)
            self.assertEqual(self.lab.ssh(f"root@{host['address']}", "true").returncode, 0)
            offset, bound = offset_ns(self.lab, name)
            self.assertLessEqual(abs(offset - host["clock_ns"]), bound)
            clock = os.readlink(f"/proc/{host['pid']}/ns/time")
            self.assertNotEqual(clock, os.readlink("/proc/self/ns/time"), "a clock of its own, whatever it shows")
        self.assertEqual(self.lab.ssh("h1", "exec 3<>/dev/tcp/h2/22; head -c 4 <&3").stdout, "SSH-", "they reach each other, by name")

    def test_nothing_of_the_machine_is_there_or_can_be_written(self):
        self.assertEqual(self.lab.files("h1"), [])
        self.assertFalse(pathlib.Path(f"/proc/{self.lab.hosts['h1']['pid']}/root{LAB}").exists())
        self.assertNotEqual(self.lab.ssh("root@h1", "touch /usr/bin/x").returncode, 0)
        self.lab.inside("h1", "touch", "/tmp/x", "/home/lab/x")
        self.assertEqual(self.lab.files("h1"), ["/home/lab/x", "/tmp/x"])
        self.assertEqual(self.lab.files("h2"), [])

    def test_a_person_with_a_password(self):
        asked = self.lab.folder / "askpass"
        asked.write_text(f"#!/bin/sh\necho {self.lab.facts['password']}\n")
        asked.chmod(0o700)
        for method in ("password", "keyboard-interactive"):
            done = subprocess.run(["ssh", "-F", self.lab.folder / "ssh_config", "-o", f"PreferredAuthentications={method}", "h1", "echo in"],
                                  capture_output=True, text=True, stdin=subprocess.DEVNULL,
                                  env={**os.environ, "SSH_ASKPASS": str(asked), "SSH_ASKPASS_REQUIRE": "force"})
            self.assertEqual(done.stdout, "in\n", f"{method}: {done.stderr}")

    def test_nothing_is_left_of_it(self):
        number = self.lab.number
        lingering = subprocess.Popen(["ssh", "-F", self.lab.folder / "ssh_config", "h1", "echo there; exec sleep 1000"], stdout=subprocess.PIPE,
                                     stderr=subprocess.DEVNULL, text=True)
        self.assertEqual(lingering.stdout.readline(), "there\n")
        pids = [host["pid"] for host in self.lab.hosts.values()]
        networks = {os.readlink(f"/proc/{pid}/ns/net") for pid in pids}
        self.assertTrue(networks <= network_namespaces())
        self.assertNotEqual(traces(number), [])
        self.lab.close()
        lingering.kill()
        lingering.communicate()
        self.assertEqual(traces(number), [])
        self.assertEqual([pid for pid in pids if pretend_host.born(pid) is not None], [])
        self.assertFalse(networks & network_namespaces())


class HostKeys(unittest.TestCase):
    def test_wrong_and_unknown_ones(self):
        lab = Lab(3, bad_key=["h2"], unknown_key=["h3"])
        self.addCleanup(lab.close)
        self.assertEqual(lab.ssh("h1", "true").returncode, 0)
        for name, words in (("h2", "REMOTE HOST IDENTIFICATION HAS CHANGED"), ("h3", "No ED25519 host key is known")):
            done = lab.ssh(name, "true")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(words, done.stderr)


class ByHand(unittest.TestCase):
    NUMBER = 9

    def call(self, script, *arguments):
        return subprocess.run([LAB / script, *map(str, arguments), "--number", str(self.NUMBER)], capture_output=True, text=True)

    def test_up_and_down(self):
        self.addCleanup(self.call, "down")
        done = self.call("up", 2, "--clock", "0,1.5s")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("clock +1500 ms", done.stdout)
        facts = json.loads((pretend_lab.folder_of(self.NUMBER) / "lab.json").read_text())
        self.assertEqual([host["clock_ns"] for host in facts["hosts"]], [0, 1_500_000_000])
        again = self.call("up", 1)
        self.assertEqual(again.returncode, 1)
        self.assertIn("stands already", again.stderr)
        self.assertEqual(self.call("down").returncode, 0)
        self.assertEqual(traces(self.NUMBER), [])
        self.assertIn("There is no lab 9", self.call("down").stdout)

    def test_wrong_words(self):
        for arguments, words in ((("0",), "from 1 to"), (("1", "--clock", "1h"), "250ms"), (("1", "--clock", ","), "250ms")):
            done = self.call("up", *arguments)
            self.assertEqual(done.returncode, 2)
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    main()
