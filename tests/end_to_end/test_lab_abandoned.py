#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A lab whose maker was killed. It stands for any other to take down, so no other test that makes one may run beside this."""
import os
import pathlib
import subprocess
import sys
import time
import unittest

from lab import Lab, by_hand, main, pretend_lab, up_by_hand
import pretend_host


class Abandoned(unittest.TestCase):
    def test_the_next_test_takes_it_down(self):
        program = "from lab import Lab; import os; print(Lab(1).number, flush=True); os.kill(os.getpid(), 9)"
        killed = subprocess.run([sys.executable, "-B", "-c", program], cwd=pathlib.Path(__file__).parent, capture_output=True, text=True)
        number = int(killed.stdout)
        pid = pretend_lab.read_facts(number)["hosts"][0]["pid"]
        self.assertIsNotNone(pretend_host.born(pid), "a host lives on without who made it")
        Lab(1).close()
        self.assertIsNone(pretend_host.born(pid))

    def test_so_it_is_where_a_program_lets_up_make_its_lab(self):
        owner = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
        self.addCleanup(owner.communicate)
        number, done = up_by_hand(1, "--owner", owner.pid)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.addCleanup(pretend_lab.take_down, number)
        pid = pretend_lab.read_facts(number)["hosts"][0]["pid"]
        self.assertIn("stands already", by_hand("up", number, 1).stderr, "its owner is there")
        owner.kill()
        owner.wait()
        done = by_hand("up", number, 1, "--owner", os.getpid())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIsNone(pretend_host.born(pid))

    def test_a_host_goes_with_its_maker_that_has_not_noted_it(self):
        self.check_that_it_goes_with_its_maker('facts["hosts"] and facts["hosts"][0]["pid"]')

    def test_so_do_emulated_links(self):
        self.check_that_it_goes_with_its_maker('facts["emulator"] and facts["emulator"]["pid"]')

    def check_that_it_goes_with_its_maker(self, pid):
        """Of a lab whose maker is killed where it was to note this process."""
        program = f"""if True:
            import os
            from lab import Lab, pretend_lab
            write = pretend_lab._write_facts
            def die_instead(facts):
                if pid := {pid}:
                    print(pid, flush=True)
                    os.kill(os.getpid(), 9)
                write(facts)
            pretend_lab._write_facts = die_instead
            Lab(1, shape={{"delay_ns": 0}})"""
        killed = subprocess.run([sys.executable, "-B", "-c", program], cwd=pathlib.Path(__file__).parent, capture_output=True, text=True)
        pid = int(killed.stdout)
        until = time.monotonic() + 60
        while pretend_host.born(pid) is not None and time.monotonic() < until:
            time.sleep(0.05)
        self.assertIsNone(pretend_host.born(pid))
        Lab(1).close()  # takes the rest of it down


if __name__ == "__main__":
    main()
