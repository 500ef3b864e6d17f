#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs with a host that is reached through others only (ProxyJump): all of it works, when the jump host is lost it is the one that is
blamed, and of several jump hosts only the first is reached by a ProxyCommand of its own."""
import re
import socket

from lab import LabCase, main

PLACES = ["--set", "broker.host=h1", "--set", "senders.host=h1", "--set", "receivers.host=h3"]


class Jump(LabCase):
    hosts, arguments = 3, {"shape": {"delay_ns": 0}}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        config = cls.lab.folder / "home/.ssh/config"
        config.write_text(f"Host {cls.lab.hosts['h3']['address']}\n  ProxyJump h2\n\n" + config.read_text())

    def knocks_from_the_jump_host(self):
        return self.lab.sshd_log("h3").count(f"Accepted publickey for lab from {self.lab.hosts['h2']['address']} ")

    def receivers_are_at_broker(self):
        """A process of h3 has connected to h1: nobody else there does."""
        address = socket.inet_aton(self.lab.hosts["h1"]["address"])[::-1].hex().upper()
        return re.search(rf" {address}:\w+ 01 ", self.lab.inside("h3", "cat", "/proc/net/tcp"))

    def carried(self):
        """Frames to the host behind."""
        return self.lab.link_stats()["h3"]["down"]["frames"]

    def test_a_run_behind_it_is_clean_and_its_logs_are_brought(self):
        before = self.knocks_from_the_jump_host()
        bench = self.start("quick", *PLACES)
        output, _ = bench.communicate(timeout=120)
        self.assertEqual(bench.returncode, 0, output)
        self.assertEqual(self.knocks_from_the_jump_host() - before, 2, "control and files")
        self.assertTrue((self.folder / "run/receivers/R001.log").exists())
        self.assertEqual(self.lab.processes("h3"), {})

    def test_a_jump_host_that_is_lost_is_named_first(self):
        bench = self.start("quick", *PLACES, "--set", "senders.duration_s=300", out="lost")
        self.wait_for("receivers at N2NQ", self.receivers_are_at_broker)
        before = self.carried()
        self.wait_for("traffic", lambda: self.carried() > before + 200)
        self.lab.shape_links({"blackhole": True}, ["h2"])
        self.addCleanup(self.lab.shape_links, {"blackhole": False})
        output = self.said_until_fetching_waits(bench)
        self.lab.shape_links({"blackhole": False})  # else it would try for a minute
        rest, _ = bench.communicate(timeout=120)
        output += rest
        self.assertEqual(bench.returncode, 1, output)
        said = re.search(r"Receivers lost: the connection to h3 was lost: its jump host .*", output)
        self.assertIsNotNone(said, output)
        self.assertIn("h2", said[0])
        self.assertNotIn("cannot be reached from the jump host", output, "h3 is well")
        self.wait_for("nothing to be left", lambda: not self.lab.processes("h1") and not self.lab.processes("h3"))


class SeveralJumps(LabCase):
    """Each of them, and the host behind them, has a ProxyCommand, which would lead there, too: ssh would run the first one's only."""
    hosts, arguments = 3, {"shape": {"delay_ns": 0}}
    ways = "control and files"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        addresses = {name: host["address"] for name, host in cls.lab.hosts.items()}
        cls.ran = cls.lab.folder / "ran"
        proxy = cls.lab.folder / "proxy"
        proxy.write_text(f"#!/bin/sh\necho $1 >>{cls.ran}\nexec ssh -F {cls.lab.folder}/ssh_config -W $2:$3 h1\n")
        proxy.chmod(0o755)
        config = cls.lab.folder / "home/.ssh/config"
        jumps = {"gate": addresses["h1"], "inner": addresses["h2"]}
        known = cls.lab.folder / "known_hosts"
        config.write_text(f"Host {addresses['h3']}\n  ProxyJump gate,inner\n"
                          + "".join(f"Host {name}\n  HostName {address}\n" for name, address in jumps.items())
                          + f"Host gate inner {addresses['h3']}\n  ProxyCommand {proxy} %n %h %p\n"
                          + f"  User lab\n  IdentityFile {cls.lab.folder}/client_key\n  UserKnownHostsFile {known}\n\n"
                          + config.read_text())

    def knocks(self, name, at):
        """Log-ins there, from that one."""
        return self.lab.sshd_log(name).count(f"Accepted publickey for lab from {self.lab.hosts[at]['address']} ")

    def test_the_first_one_alone_is_reached_by_its_proxy_command(self):
        bench = self.start("quick", *PLACES)
        output, _ = bench.communicate(timeout=120)
        self.assertEqual(bench.returncode, 0, output)
        self.assertEqual(self.ran.read_text().split(), ["gate"] * 2, self.ways)
        self.assertEqual([self.knocks("h2", "h1"), self.knocks("h3", "h2")], [2, 2], self.ways)
        self.assertEqual(self.lab.processes("h3"), {})


if __name__ == "__main__":
    main()
