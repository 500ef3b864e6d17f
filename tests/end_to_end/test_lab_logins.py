#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each way to log in, with what is right and with what is wrong, by whole runs at a terminal; and none of the secrets is found anywhere."""
import os
import pathlib
import re
import unittest

from lab import Lab, main
from lab_person import PASSPHRASE, PersonCase

WRONG = "this is not it, either"
ATTEMPTS = 3


def secret_of_key(path):
    """A line of a private key that only this key has: the first ones say what kind it is."""
    return path.read_text().splitlines()[-3]


def holders(secrets, folders):
    """Where any of the secrets is: files below the folders; command lines and environments of all processes, those on pretend hosts too."""
    wanted = [secret.encode() for secret in secrets]
    files = [path for folder in folders for path in pathlib.Path(folder).rglob("*") if path.is_file() and not path.is_symlink()]
    files += [path for name in ("cmdline", "environ") for path in pathlib.Path("/proc").glob(f"[0-9]*/{name}")]
    found = []
    for path in files:
        try:
            content = path.read_bytes()
        except OSError:  # a process that has ended
            continue
        found += [str(path) for secret in wanted if secret in content]
    return found


class Logins(PersonCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = Lab(1)
        cls.addClassCleanup(cls.lab.close)
        cls.lab.set_sshd("h1", AuthenticationMethods="any", LogLevel="DEBUG3")

    def setUp(self):
        super().setUp()
        self.secrets = {self.lab.facts["password"], WRONG, PASSPHRASE, secret_of_key(self.lab.folder / "client_key")}

    def folders(self):
        root = pathlib.Path(f"/proc/{self.lab.hosts['h1']['pid']}/root")
        return [self.folder / "run", self.home, self.lab.folder / "hosts", *(root / name for name in ("home", "root", "tmp", "var", "run", "dev/shm"))]

    def check_nothing_is_found(self, terminal):
        self.assertEqual(holders(self.secrets, self.folders()), [])
        for secret in self.secrets:
            self.assertNotIn(secret, terminal.said)

    def check_in(self, prompt=None, answers=()):
        """A run is clean for who answers this prompt so."""
        terminal = self.at_terminal(self.run_command())
        for answer in answers:
            terminal.wait_for(prompt)
            terminal.type(answer + "\n")
        running = re.compile(r"\./\.cache/n2nq-bench/bin/n2nq-receivers-\w+ --marked$")
        self.wait_for("the run to be under way", lambda: any(map(running.match, self.lab.processes("h1").values())))
        self.assertNotEqual(holders(["bin/n2nq-receivers-"], []), [], "processes on the host are looked at")
        self.check_nothing_is_found(terminal)
        self.assertEqual(terminal.wait(), (0, True), terminal.said)
        self.check_nothing_is_found(terminal)
        self.assertTrue((self.folder / "run/summary.json").exists())
        return terminal

    def check_refused(self, prompt=None, answers=(), says="does not let lab in"):
        terminal = self.at_terminal(self.run_command())
        for answer in answers:
            terminal.wait_for(prompt)
            terminal.type(answer + "\n")
        code, echoes = terminal.wait()
        self.assertNotEqual(code, 0, terminal.said)
        self.assertTrue(echoes)
        self.assertIn("h1 " + says, re.sub(r"\s+", " ", terminal.said))
        self.assertEqual(self.lab.processes("h1"), {})
        self.check_nothing_is_found(terminal)
        return terminal

    def use_key(self, path):
        self.secrets.add(secret_of_key(path))
        self.write_config(f"IdentityFile {path}", "IdentitiesOnly yes")

    def only(self, methods):
        self.lab.set_sshd("h1", AuthenticationMethods=methods)

    def test_agent_right(self):
        self.only("publickey")
        self.start_agent(self.make_key("another"), self.right_key())
        self.write_config()
        self.check_in()

    def test_agent_wrong(self):
        self.only("publickey")
        self.start_agent(self.make_key("another"))
        self.write_config()
        self.assertIn("the agent's keys", self.check_refused().said)

    def test_an_agent_that_asks_is_waited_for(self):
        self.only("publickey")
        self.start_agent(self.right_key(), asks_s=4)
        self.write_config()
        done = self.with_nobody([*self.run_command(), "--set", "limits.connect_deadline_s=3"])
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_an_agent_that_refuses_to_sign_is_named(self):
        self.only("publickey")
        self.start_agent(self.right_key(), asks_s=0.1, says="no")
        self.write_config()
        self.assertIn("the agent's keys (1), with one of which the agent refused to sign", self.check_refused().said)

    def test_an_agent_that_holds_more_keys_than_the_host_looks_at(self):
        self.only("publickey")
        keys = [self.make_key(f"another-{i}") for i in range(8)]
        self.start_agent(*keys, self.right_key())
        self.write_config()
        said = re.sub(r"\s+", " ", self.check_refused(says="ended the connection while logging in as lab").said)
        self.assertIn("tried the agent's keys (9)", said)
        self.assertIn("IdentitiesOnly yes", said)
        self.write_config(f"IdentityFile {self.keys / 'right'}")  # what it says helps
        checked = self.with_nobody(self.command("hosts", "check"))
        self.assertEqual(checked.returncode, 0, checked.stdout)

    def test_the_public_key_as_key_file(self):
        self.only("publickey")
        key = self.make_key("another")
        self.write_config(f"IdentityFile {key}.pub", "IdentitiesOnly yes")
        said = re.sub(r"\s+", " ", self.check_refused().said)
        self.assertIn(f"{key}.pub (no private key is in it", said)
        self.assertIn(f"Name the private key as key file: {key}", said)

    def test_a_key_file_that_cannot_be_read(self):
        """Root reads all files, but no folder as one."""
        self.only("publickey")
        key = self.make_key("another")
        key.unlink()
        key.mkdir()
        self.write_config(f"IdentityFile {key}", "IdentitiesOnly yes")
        said = re.sub(r"\s+", " ", self.check_refused().said)
        self.assertIn(f"{key} (cannot be read: ", said)
        self.assertIn(f"Let yourself read the key file {key}, or name another one", said)
        self.assertNotIn("no private key is in it", said)

    def test_a_key_file_that_others_may_read(self):
        """As ssh does: whether it needs a passphrase or not, and it is no matter where the agent has it."""
        self.only("publickey")
        key = self.right_key()
        key.chmod(0o644)
        self.use_key(key)
        said = re.sub(r"\s+", " ", self.check_refused().said)
        self.assertIn(f"{key} (not taken: others may read or change it, mode 0644)", said)
        self.assertIn(f"If nobody has read it: chmod 600 '{key}'", said)

    def test_key_right(self):
        self.only("publickey")
        self.use_key(self.right_key())
        self.check_in()

    def test_key_wrong(self):
        self.only("publickey")
        key = self.make_key("another")
        self.use_key(key)
        self.assertIn(f"ssh-copy-id -i '{key}' lab@h1", re.sub(r"\s+", " ", self.check_refused().said))

    def test_encrypted_key_right(self):
        self.only("publickey")
        self.use_key(self.right_key(PASSPHRASE))
        self.check_in("Passphrase of ", [PASSPHRASE])

    def test_encrypted_key_wrong(self):
        self.only("publickey")
        self.use_key(self.right_key(PASSPHRASE))
        self.assertIn("(wrong passphrase)", self.check_refused("Passphrase of ", [WRONG] * ATTEMPTS).said)

    def test_password_right(self):
        self.only("password")
        self.write_config()
        self.check_in("Password of lab on h1: ", [WRONG, self.lab.facts["password"]])

    def test_password_wrong(self):
        self.only("password")
        self.write_config()
        self.check_refused("Password of lab on h1: ", [WRONG] * ATTEMPTS)

    def test_passwords_that_are_wrong_as_often_as_the_host_allows(self):
        """The advice is about what was typed, not about keys."""
        self.only("password")
        self.lab.set_sshd("h1", MaxAuthTries=3)
        self.addCleanup(self.lab.set_sshd, "h1", MaxAuthTries=6)
        self.write_config()
        terminal = self.check_refused("Password of lab on h1: ", [WRONG] * ATTEMPTS, says="ended the connection while logging in as lab")
        said = re.sub(r"\s+", " ", terminal.said)
        self.assertIn("tried password. What was typed was wrong as often as its sshd allows (MaxAuthTries)", said)
        self.assertNotIn("IdentitiesOnly", said)

    def test_keyboard_interactive_right(self):
        self.only("keyboard-interactive")
        self.write_config()
        self.check_in("(lab@h1) Password: ", [WRONG, self.lab.facts["password"]])

    def test_keyboard_interactive_wrong(self):
        self.only("keyboard-interactive")
        self.write_config()
        self.check_refused("(lab@h1) Password: ", [WRONG] * ATTEMPTS)

    def test_nothing_in_common(self):
        self.write_config("Ciphers 3des-cbc")
        terminal = self.check_refused(says=f"({self.lab.hosts['h1']['address']} port 22) cannot be spoken with")
        self.assertIn("It takes none of what ~/.ssh/config allows (Ciphers", re.sub(r"\s+", " ", terminal.said))

    def test_none_right(self):
        """A user without a password, on a host that lets those in."""
        kept = {path: self.lab.inside("h1", "cat", path) for path in ("/etc/shadow", "/etc/pam.d/sshd")}
        self.addCleanup(self.lab.set_sshd, "h1", PermitEmptyPasswords="no")
        for path in kept:
            self.lab.inside("h1", "cp", path, path + ".kept")
            self.addCleanup(self.lab.inside, "h1", "mv", path + ".kept", path)
        self.lab.inside("h1", "sed", "-i", "s/^lab:[^:]*:/lab::/", "/etc/shadow")
        self.lab.inside("h1", "sed", "-i", "s/pam_unix.so$/pam_unix.so nullok/", "/etc/pam.d/sshd")
        self.lab.set_sshd("h1", AuthenticationMethods="any", PermitEmptyPasswords="yes")
        self.write_config()
        self.check_in()

    def test_none_wrong(self):
        self.only("publickey")
        self.write_config()
        self.assertIn("nothing to log in with", re.sub(r"\s+", " ", self.check_refused().said))


class TheSearch(unittest.TestCase):
    def test_finds_what_is_there(self):
        self.assertIn(f"/proc/{os.getpid()}/cmdline", holders([pathlib.Path(__file__).name], []))
        self.assertIn(__file__, holders(["finds_what_is_there"], [pathlib.Path(__file__).parent]))


if __name__ == "__main__":
    main()
