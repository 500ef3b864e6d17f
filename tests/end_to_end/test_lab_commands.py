#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a host is told to execute is the same text whatever a run's settings say: those go over stdin, and nothing of them reaches a shell."""
import re

from lab import LabCase, main

# Says what it was told to execute, and does it. What comes of the settings must not come this far.
RECORDER = """#!/bin/sh
printf '%s\\n' "$SSH_ORIGINAL_COMMAND" >>/tmp/commands
[ "$SSH_ORIGINAL_COMMAND" = internal-sftp ] && exec /usr/lib/openssh/sftp-server
exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"
"""
NASTY = "$(touch /tmp/oops) `touch /tmp/oops`; touch /tmp/oops & 'x' \"y\""
FILE = r"\./\.cache/n2nq-bench/bin/n2nq-[a-z]+-[0-9a-f]{64}"
PROGRAM, SUM = f"exec {FILE}", rf"cd && s=\$\(sha256sum {FILE} 2>/dev/null\); echo n2nq-sha256 \$s"
FIXED = (rf"exec /bin/sh -c 'echo; echo n2nq-pid \$\$; cd && {PROGRAM}'",
         rf"exec /bin/sh -c 'LC_ALL=C; export LC_ALL; echo; echo n2nq-pid \$\$; echo n2nq-machine \$\(uname -m\); {SUM}; case \$s in [0-9a-f]{{64}}\*\) echo n2nq-tries >&2; {PROGRAM} --version;; esac'",
         r"exec /bin/sh -c 'kill -s [A-Z]+ [0-9]+'", "internal-sftp")


class Commands(LabCase):
    hosts = 1

    def setUp(self):
        super().setUp()
        self.lab.inside("h1", "sh", "-c", "cat >/tmp/recorder && chmod 755 /tmp/recorder && touch /tmp/commands && chmod 666 /tmp/commands",
                        text=RECORDER)
        self.lab.set_sshd("h1", ForceCommand="/tmp/recorder")

    def told(self, *settings, out):
        """The different texts of a run with these settings."""
        self.lab.inside("h1", "sh", "-c", ": >/tmp/commands")
        self.run_bench("quick", *(word for each in ("broker.host=h1", "senders.host=h1", "receivers.host=h1", "senders.messages=5", *settings)
                                  for word in ("--set", each)), out=out)
        return set(self.lab.inside("h1", "cat", "/tmp/commands").splitlines())

    def test_settings_change_nothing_in_them(self):
        self.told(out="first")  # sends the programs
        plain = self.told(out="plain")
        other = self.told(f"title={NASTY}", "senders.size_bytes=77", "queue.mode=load-balancer", "queue.responses=true", "seed=4711",
                          out=NASTY.replace("/", "_"))
        self.assertGreaterEqual(len(plain), 3, "one for each program at least")
        self.assertEqual(plain, other)
        for text in plain:
            self.assertTrue(any(re.fullmatch(fixed, text) for fixed in FIXED), text)
        self.assertFalse([path for path in self.lab.files("h1") if "oops" in path])


if __name__ == "__main__":
    main()
