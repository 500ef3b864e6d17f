#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a host is told to execute is the same text whatever a run's settings say: those go over stdin, and nothing of them reaches a shell. A
check says nothing else."""
import json
import re

from bench import BIN, run_with_nobody
from lab import LabCase, main

# Says what it was told to execute, and does it, but for what /tmp/not says. What comes of the settings must not come this far.
RECORDER = """#!/bin/sh
printf '%s\\n' "$SSH_ORIGINAL_COMMAND" >>/tmp/commands
case "$(cat /tmp/not 2>/dev/null) $SSH_ORIGINAL_COMMAND" in
"sftp internal-sftp") exit 1;;
"trial "*--version*) echo; echo n2nq-pid $$; exec sleep 300;;
esac
[ "$SSH_ORIGINAL_COMMAND" = internal-sftp ] && exec /usr/lib/openssh/sftp-server
exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"
"""
NASTY = "$(touch /tmp/oops) `touch /tmp/oops`; touch /tmp/oops & 'x' \"y\""
# Holds a process still, until it is told to let it go on or hears nothing more.
PAUSE = re.escape("""exec /bin/sh -c 'timeout 8 /bin/sh -c : || exit 91; kill -s STOP PID || exit 92; silent=0; while [ $silent = 0 ]; do """
                  """timeout 8 /bin/sh -c "read still"; silent=$?; done; kill -s CONT PID; case $silent in 124|143) timeout 5 /bin/sh -c """
                  """"read still"; case $? in 124|143) kill -s TERM PID; sleep 1; kill -s KILL PID;; esac;; esac; exit 0'""")
PAUSE = PAUSE.replace("PID", "[0-9]+")
STANDBY = re.escape("""exec /bin/sh -c 'cd; read -r file && read -r folder || exit 1; while timeout 13 /bin/sh -c "read -r still"; do :; """
                    """done; [ -f "$file" ] || exit 0; mv -f "$file" "$folder/" || """
                    """{ rm -f "$folder/${file##*/}"; [ -d "$folder" ] || { [ -d "${folder%/*}" ] && rm -f "$file"; }; }'""")
SHELL = re.escape("exec /bin/sh -c 'echo; echo n2nq-machine $(uname -m)'")  # where a host offers no SFTP: whether there is one
KILL_ALL = "exec /bin/sh -c 'kill -s KILL -- -([0-9]+) \\|\\| kill -s KILL \\1'"  # what hangs, with what it has started


def fixed(folder=".cache/n2nq-bench"):
    """All that a host is told to execute whose programs are in that folder, as expressions."""
    home, below = ("", folder) if folder.startswith("/") else ("cd && ", f"./{folder}")
    file = rf"{re.escape(below)}/bin/n2nq-[a-z]+-[0-9a-f]{{64}}"
    program, digest = f"exec {file}", rf"s=\$\(sha256sum {file} 2>/dev/null\); echo n2nq-sha256 \$s"
    return (rf"exec /bin/sh -c 'echo; echo n2nq-pid \$\$; {home}{program} --marked'",
            rf"exec /bin/sh -c 'LC_ALL=C; export LC_ALL; echo; echo n2nq-pid \$\$; echo n2nq-machine \$\(uname -m\); {home}{digest}; case \$s in [0-9a-f]{{64}}\*\) echo n2nq-tries >&2; {program} --version;; esac'",
            PAUSE, STANDBY, SHELL, KILL_ALL, "exec /bin/sh -c 'kill -s (CONT|KILL|TERM) [0-9]+'", "internal-sftp")


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

    def told_by_check(self, folder, *options):
        """What a check finds of the host, whose programs are to be in that folder, and the different texts of it."""
        self.lab.inside("h1", "sh", "-c", ": >/tmp/commands")
        hosts = self.folder / "hosts.yaml"
        hosts.write_text((self.lab.folder / "hosts.yaml").read_text() + f"    folder: {folder}\n")
        done = run_with_nobody([BIN / "n2nq-bench", "hosts", "check", "--json", *options, "--hosts", hosts], env=self.lab.environment())
        [found] = [host for host in json.loads(done.stdout)["hosts"] if host["name"] == "h1"]
        return found, set(self.lab.inside("h1", "cat", "/tmp/commands").splitlines())

    def assert_fixed(self, texts, **of):
        for text in texts:
            self.assertTrue(any(re.fullmatch(expression, text) for expression in fixed(**of)), text)
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

    def test_a_check_says_nothing_else(self):
        """Nothing of its port either. The folder stands in it: below the home there, and from /."""
        for folder in ("lab.d/n2nq", "/home/lab/n2nq_2"):
            found, told = self.told_by_check(folder, "--port", "47110")
            self.assertEqual(found["folder"]["state"], "good", found)
            self.assertGreaterEqual(len([text for text in told if folder in text]), 2, "what tries a program, and what starts it")
            self.assert_fixed(told, folder=folder)

    def test_what_a_check_says_where_sftp_or_a_program_fails_is_fixed_too(self):
        folder = "/home/lab/fails"
        for fails, expected in (("sftp", SHELL), ("trial", KILL_ALL)):
            self.lab.inside("h1", "sh", "-c", f"echo {fails} >/tmp/not")
            self.addCleanup(self.lab.inside, "h1", "rm", "-f", "/tmp/not")
            found, told = self.told_by_check(folder)
            self.assertTrue(any(re.fullmatch(expected, text) for text in told), found)
            self.assert_fixed(told, folder=folder)
            self.wait_for("nothing to be left", lambda: not self.lab.processes("h1"))


if __name__ == "__main__":
    main()
