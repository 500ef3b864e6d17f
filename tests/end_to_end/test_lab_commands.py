#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a host is told to execute is the same text whatever a run's settings say: those go over stdin, and nothing of them reaches a shell."""
import json
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
# Holds a process still, until it is told to let it go on or hears nothing more.
PAUSE = re.escape("""exec /bin/sh -c 'timeout 8 /bin/sh -c : || exit 91; kill -s STOP PID || exit 92; silent=0; while [ $silent = 0 ]; do """
                  """timeout 8 /bin/sh -c "read still"; silent=$?; done; kill -s CONT PID; case $silent in 124|143) timeout 5 /bin/sh -c """
                  """"read still"; case $? in 124|143) kill -s TERM PID; sleep 1; kill -s KILL PID;; esac;; esac; exit 0'""")
PAUSE = PAUSE.replace("PID", "[0-9]+")
STANDBY = re.escape("""exec /bin/sh -c 'cd; read -r file && read -r folder || exit 1; while timeout 13 /bin/sh -c "read -r still"; do :; """
                    """done; [ -f "$file" ] || exit 0; mv -f "$file" "$folder/" || """
                    """{ rm -f "$folder/${file##*/}"; [ -d "$folder" ] || { [ -d "${folder%/*}" ] && rm -f "$file"; }; }'""")
FIXED = (rf"exec /bin/sh -c 'echo; echo n2nq-pid \$\$; cd && {PROGRAM} --in-parts'",
         rf"exec /bin/sh -c 'LC_ALL=C; export LC_ALL; echo; echo n2nq-pid \$\$; echo n2nq-machine \$\(uname -m\); {SUM}; case \$s in [0-9a-f]{{64}}\*\) echo n2nq-tries >&2; {PROGRAM} --version;; esac'",
         PAUSE, STANDBY, "exec /bin/sh -c 'kill -s (CONT|KILL|TERM) [0-9]+'", "internal-sftp")


class Commands(LabCase):
    hosts = 1

    def setUp(self):
        super().setUp()
        self.lab.inside("h1", "sh", "-c", "cat >/tmp/recorder && chmod 755 /tmp/recorder && touch /tmp/commands && chmod 666 /tmp/commands",
                        text=RECORDER)
        self.lab.set_sshd("h1", ForceCommand="/tmp/recorder")

    def told(self, *settings, out, messages=5, faults=()):
        """The different texts of a run with these settings."""
        self.lab.inside("h1", "sh", "-c", ": >/tmp/commands")
        values = ("broker.host=h1", "senders.host=h1", "receivers.host=h1", f"senders.messages={messages}", *settings)
        self.run_bench("quick", *(word for each in values for word in ("--set", each)),
                       *(word for fault in faults for word in ("--fault", fault)), out=out)
        return set(self.lab.inside("h1", "cat", "/tmp/commands").splitlines())

    def assert_fixed(self, texts):
        for text in texts:
            self.assertTrue(any(re.fullmatch(fixed, text) for fixed in FIXED), text)
        self.assertFalse([path for path in self.lab.files("h1") if "oops" in path])

    def test_settings_change_nothing_in_them(self):
        self.told(out="first")  # sends the programs
        plain = self.told(out="plain")
        other = self.told(f"title={NASTY}", "senders.size_bytes=77", "queue.mode=load-balancer", "queue.responses=true", "seed=4711",
                          out=NASTY.replace("/", "_"))
        self.assertGreaterEqual(len(plain), 3, "one for each program at least")
        self.assertEqual(plain, other)
        self.assert_fixed(plain)

    def test_what_pauses_and_kills_has_only_numbers_of_its_own(self):
        self.told(out="first")  # sends the programs
        out = NASTY.replace("/", "_")
        # Responses and a short retention: what the dead do not get any more expires, and so breaks nothing.
        told = self.told(f"title={NASTY}", "queue.responses=true", "queue.retention_s=0.5", messages=120, out=out,
                         faults=("pause:receivers@1", "resume:receivers@3", "kill:receivers@5"))
        events = json.loads((self.folder / out / "summary.json").read_text())["events"]
        self.assertEqual([event["what"] for event in events], ["Receivers paused", "Receivers resumed", "Receivers killed"], self.output)
        [pause] = [text for text in told if re.fullmatch(PAUSE, text)]  # which ends, and so resumes, when its stdin does
        pid = re.search("STOP ([0-9]+)", pause)[1]
        self.assertIn(f"exec /bin/sh -c 'kill -s KILL {pid}'", told)
        self.assertTrue(any(re.fullmatch(STANDBY, text) for text in told), told)
        self.assert_fixed(told)


if __name__ == "__main__":
    main()
