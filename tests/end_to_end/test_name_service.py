#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A name service that never answers, in a network of the test's own: what is known by then is said, and the bench ends."""
import os
import subprocess

from bench import BIN, BenchCase
from lab import main

# Arguments: the resolver's settings, and what is run by them.
DEAD = """import socket, subprocess, sys
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
subprocess.run(["mount", "--bind", sys.argv[1], "/etc/resolv.conf"], check=True)
silent = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
silent.bind(("127.0.0.1", 53))
sys.exit(subprocess.run(sys.argv[2:]).returncode)"""
IN_OWN_NETWORK = ["unshare", "--net", "--mount", "--map-root-user", "python3", "-c", DEAD]
DEADLINE_S = 60  # the resolver would need 150 s


class DeadNameService(BenchCase):
    def setUp(self):
        super().setUp()
        self.resolver = self.folder / "resolv.conf"
        self.resolver.write_text("nameserver 127.0.0.1\noptions timeout:30 attempts:5\n")
        self.hosts = self.folder / "hosts.yaml"
        self.hosts.write_text("format: 1\nhosts:\n  - name: h1\n    address: nowhere.example\n")

    def test_a_check_says_so_and_ends(self):
        done = subprocess.run([*IN_OWN_NETWORK, self.resolver, BIN / "n2nq-bench", "hosts", "check", "--hosts", self.hosts],
                              env={**os.environ, "HOME": str(self.folder)}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=DEADLINE_S, start_new_session=True)
        self.assertIn("no answer about the name nowhere.example within 9 s", done.stdout)
        self.assertEqual(done.returncode, 1, done.stdout)

    def test_the_window_ends_when_it_is_closed(self):
        program = BIN / "close_while_looking_up"
        if not program.exists():
            self.skipTest("built without the window")
        done = subprocess.run([*IN_OWN_NETWORK, self.resolver, program, self.hosts],
                              env={**os.environ, "HOME": str(self.folder), "XDG_RUNTIME_DIR": str(self.folder), "QT_QPA_PLATFORM": "offscreen"},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=DEADLINE_S,
                              start_new_session=True)
        self.assertIn("checking", done.stdout)
        self.assertNotIn("ended as it began", done.stdout, "nothing was being looked up: this says nothing")
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    main()
