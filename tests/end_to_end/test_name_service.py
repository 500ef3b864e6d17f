#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A name service that never answers, in a network of the test's own: what is known by then is said, and the bench ends."""
import os
import subprocess

from bench import BIN, BenchCase, run_with_nobody
from lab import main
from name_service import with_names

# Arguments: what becomes of it then.
DEAD = """import os, socket, subprocess, sys
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
silent = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
silent.bind(("127.0.0.1", 53))
silent.set_inheritable(True)
os.execv(sys.argv[1], sys.argv[1:])"""
DEADLINE_S = 60  # the resolver would need 150 s
NAMES_WITHOUT_ANSWER = 30  # more than Qt asks for at a time


class DeadNameService(BenchCase):
    def setUp(self):
        super().setUp()
        names = with_names(self.folder / "names", {"resolv.conf": "nameserver 127.0.0.1\noptions timeout:30 attempts:5\n",
                                                  "hosts": "127.0.0.1 known.example\n"})
        self.in_own_network = ["unshare", "--net", "--mount", "--map-root-user", *names, "python3", "-c", DEAD]
        self.hosts = self.folder / "hosts.yaml"
        self.hosts.write_text("format: 1\nhosts:\n  - name: h1\n    address: nowhere.example\n")

    def run_in_own_network(self, command, **environment):
        return run_with_nobody([*self.in_own_network, *command], env={**os.environ, "HOME": str(self.folder), **environment},
                               stderr=subprocess.STDOUT, timeout=DEADLINE_S)

    def test_a_check_says_so_and_ends(self):
        done = self.run_in_own_network([BIN / "n2nq-bench", "hosts", "check", "--hosts", self.hosts])
        self.assertIn("no answer about the name nowhere.example within 9 s", done.stdout)
        self.assertEqual(done.returncode, 1, done.stdout)

    def test_a_name_that_needs_no_name_service_is_not_held_up_by_those_that_do(self):
        names = [f"nowhere-{number}.example" for number in range(NAMES_WITHOUT_ANSWER)] + ["known.example"]
        self.hosts.write_text("format: 1\nhosts:\n" + "".join(f"  - name: h{number}\n    address: {name}\n" for number, name in enumerate(names)))
        done = self.run_in_own_network([BIN / "n2nq-bench", "hosts", "check", "--hosts", self.hosts])
        self.assertIn(f"no answer about the name {names[-2]} within 9 s", done.stdout)
        self.assertIn("cannot be reached (127.0.0.1 port 22: Connection refused)", done.stdout)
        self.assertNotIn("no answer about the name known.example", done.stdout)

    def test_the_window_ends_when_it_is_closed(self):
        program = BIN / "close_while_looking_up"
        if not program.exists():
            self.skipTest("built without the window")
        done = self.run_in_own_network([program, self.hosts], XDG_RUNTIME_DIR=str(self.folder), QT_QPA_PLATFORM="offscreen")
        self.assertIn("checking", done.stdout)
        self.assertNotIn("ended as it began", done.stdout, "nothing was being looked up: this says nothing")
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    main()
