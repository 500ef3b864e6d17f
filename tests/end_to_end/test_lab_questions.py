#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Host keys, and what is asked at a terminal: h1's key has changed, h2's is not known, h3's is."""
import json
import re
import socket
import subprocess
import threading

from bench import run_with_nobody
from lab import Lab, main
from lab_person import PASSPHRASE, PersonCase

INTERRUPTED = 130


class CountingAgent:
    """A socket as of an SSH agent that counts who asks, and has nothing for them. To be closed."""

    def __init__(self, path):
        self.asked = 0
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(path))
        self._socket.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.asked += 1
            connection.close()

    def close(self):
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


class Questions(PersonCase):
    @classmethod
    def setUpClass(cls):
        cls.lab = Lab(3, bad_key=["h1"], unknown_key=["h2"])
        cls.addClassCleanup(cls.lab.close)
        for name in cls.lab.hosts:
            cls.lab.set_sshd(name, LogLevel="DEBUG3")

    def fingerprint(self, text):
        """Of a public key's line."""
        done = subprocess.run(["ssh-keygen", "-l", "-f", "-"], input=text, check=True, capture_output=True, text=True)
        return done.stdout.split()[1]

    def logins_tried(self, name):
        return self.lab.sshd_log(name).count("userauth-request for user")

    def test_a_changed_key_ends_it_before_agent_or_person_are_asked_for_anything(self):
        agent = CountingAgent(self.folder / "agent")
        self.addCleanup(agent.close)
        self.agent = self.folder / "agent"
        shown = self.fingerprint(self.lab.hosts["h1"]["host_key"])
        known = self.fingerprint((self.lab.folder / "hosts/h1/another_key.pub").read_text())
        # Behind a right host key the agent is asked, and then the person for a passphrase.
        self.write_config(f"IdentityFile {self.right_key(PASSPHRASE)}", "IdentitiesOnly no", hosts=["h1", "h3"])
        for terminal in (True, False):
            for command in (self.command("hosts", "check"), self.run_command("h1", out=f"run-{terminal}")):
                connections, tried = self.lab.sshd_log("h1").count("Connection from"), self.logins_tried("h1")
                asked_before = agent.asked
                if terminal:
                    there = self.at_terminal(command)
                    if "check" in command:  # h3 asks; the person does not want to
                        there.wait_for("Passphrase of ")
                        there.type("\x04")
                    code, _ = there.wait()
                    said = there.said
                else:
                    done = self.with_nobody(command)
                    code, said = done.returncode, done.stdout
                self.assertNotEqual(code, 0, said)
                self.assertIn(shown, said)
                self.assertIn(known, said)
                self.assertGreater(self.lab.sshd_log("h1").count("Connection from"), connections, "it was connected to")
                self.assertEqual(self.logins_tried("h1"), tried, "not even a user's name was sent")
                # On h3, whose key is right, it is seen that the agent counts.
                self.assertEqual(agent.asked > asked_before, "check" in command, said)
        self.assertGreater(self.logins_tried("h3"), 0)

    def test_an_unknown_key_is_refused_where_nobody_can_be_asked_and_the_command_that_is_told_adds_it(self):
        self.write_config(f"IdentityFile {self.right_key()}", hosts=["h2"])
        before, tried = self.known_hosts.read_text(), self.logins_tried("h2")
        refused = self.with_nobody(self.command("hosts", "check"))
        self.assertNotEqual(refused.returncode, 0, refused.stdout)
        self.assertIn(self.fingerprint(self.lab.hosts["h2"]["host_key"]), refused.stdout)
        self.assertEqual(self.known_hosts.read_text(), before)
        self.assertEqual(self.logins_tried("h2"), tried)
        told = re.search(r"same: (echo '[^']*' >> '[^']*')", refused.stdout)
        self.assertIsNotNone(told, refused.stdout)
        subprocess.run(["sh", "-c", told[1]], check=True)
        done = self.with_nobody(self.command("hosts", "check"))
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(self.with_nobody(self.run_command("h2")).returncode, 0)

    def test_an_answer_that_two_connections_wait_for_may_come_after_the_host_has_hung_up_on_both(self):
        """h2 is a host and the way to h3: one of its two connections asks, and the other one must not send what is answered into a dead line."""
        self.lab.set_sshd("h2", AuthenticationMethods="keyboard-interactive", LoginGraceTime=6)  # enough for a login on a busy machine
        self.addCleanup(self.lab.set_sshd, "h2", AuthenticationMethods="any", LoginGraceTime=120)
        self.write_config(f"IdentityFile {self.right_key()}", hosts=["h2", "h3"])
        config = self.home / ".ssh/config"
        config.write_text("Host h3\n  ProxyJump h2\n\n" + config.read_text())
        self.hosts_file.write_text(self.hosts_file.read_text() + f"    data_address: {self.lab.hosts['h3']['address']}\n")
        with self.known_hosts.open("a") as known:
            known.write(f"{self.lab.hosts['h2']['address']} {self.lab.hosts['h2']['host_key']}\n")

        def at_the_prompt():
            return self.lab.sshd_log("h2").count("Postponed keyboard-interactive for lab")
        before = at_the_prompt()
        terminal = self.at_terminal(self.command("hosts", "check"))
        terminal.wait_for("(lab@h2) Password: ")
        self.wait_for("both connections to be asked", lambda: at_the_prompt() >= before + 2)
        self.wait_for("the host to hang up on both", lambda: not self.lab.sshd_of_sessions("h2"))
        said_before = len(terminal.said)
        terminal.type(self.lab.facts["password"] + "\n")
        self.assertEqual(terminal.wait(), (0, True), terminal.said)
        self.assertNotIn("Password:", terminal.said[said_before:], "what was answered is remembered")

    def test_the_command_that_is_told_makes_the_folder_too(self):
        folder = self.known_hosts.parent / "not yet"
        self.write_config(f"IdentityFile {self.right_key()}", f'UserKnownHostsFile "{folder}/known"', hosts=["h2"])
        refused = self.with_nobody(self.command("hosts", "check"))
        told = re.search(r"same: (mkdir -p -m 700 '[^']*' && echo '[^']*' >> '[^']*')", refused.stdout)
        self.assertIsNotNone(told, refused.stdout)
        subprocess.run(["sh", "-c", told[1]], check=True)
        self.assertEqual(folder.stat().st_mode & 0o777, 0o700)
        self.assertEqual(self.with_nobody(self.command("hosts", "check")).returncode, 0)

    def test_no_line_of_the_config_lets_unknown_or_changed_keys_pass(self):
        for switch in ("StrictHostKeyChecking no", "StrictHostKeyChecking accept-new", "CheckHostIP no"):
            self.write_config(f"IdentityFile {self.right_key()}", switch, hosts=["h1", "h2"])
            before, tried = self.known_hosts.read_text(), [self.logins_tried(name) for name in ("h1", "h2")]
            refused = self.with_nobody(self.command("hosts", "check"))
            self.assertNotEqual(refused.returncode, 0, refused.stdout)
            for words in ("has changed", "is not known"):
                self.assertIn(words, refused.stdout)
            self.assertEqual(self.known_hosts.read_text(), before)
            self.assertEqual([self.logins_tried(name) for name in ("h1", "h2")], tried)

    def test_jump_hosts_that_lead_back_to_one_another_are_told(self):
        self.write_config(f"IdentityFile {self.right_key()}", hosts=["h1", "h2"])
        config = self.home / ".ssh/config"
        config.write_text("Host h1\n  ProxyJump h2\nHost h2\n  ProxyJump h1\n" + config.read_text())
        for command in (self.command("hosts", "check"), self.run_command("h1")):
            refused = self.with_nobody(command)
            self.assertEqual(refused.returncode, 1, refused.stdout)
            self.assertIn("its jump hosts lead back to one another", refused.stdout)

    def test_at_a_terminal_an_unknown_key_is_refused_as_well(self):
        self.write_config(f"IdentityFile {self.right_key()}", hosts=["h2"])
        before = self.known_hosts.read_text()
        terminal = self.at_terminal(self.run_command("h2"))
        code, echoes = terminal.wait()
        self.assertNotEqual(code, 0)
        self.assertTrue(echoes)
        self.assertIn(self.fingerprint(self.lab.hosts["h2"]["host_key"]), terminal.said)
        self.assertEqual(self.known_hosts.read_text(), before)

    def test_a_passphrase_is_asked_for(self):
        key = self.right_key(PASSPHRASE)
        self.write_config(f"IdentityFile {key}", hosts=["h3"])
        terminal = self.at_terminal(self.run_command("h3"))
        terminal.wait_for(f"Passphrase of {key}: ")
        terminal.type(PASSPHRASE + "\n")
        self.assertEqual(terminal.wait(), (0, True), terminal.said)
        self.assertNotIn(PASSPHRASE, terminal.said)

    def test_one_passphrase_for_two_machines(self):
        self.write_config(f"IdentityFile {self.right_key(PASSPHRASE)}", hosts=["h2", "h3"])
        with self.known_hosts.open("a") as known:
            known.write(f"{self.lab.hosts['h2']['address']} {self.lab.hosts['h2']['host_key']}\n")
        terminal = self.at_terminal(self.command("hosts", "check"))
        terminal.wait_for("Passphrase of ")
        terminal.type(PASSPHRASE + "\n")
        self.assertEqual(terminal.wait(), (0, True), terminal.said)
        self.assertEqual(terminal.said.count("Passphrase of "), 1)

    def test_ctrl_c_at_a_question_ends_it_and_leaves_the_terminal_as_it_was(self):
        self.write_config(f"IdentityFile {self.right_key(PASSPHRASE)}", hosts=["h3"])
        for command in (self.run_command("h3"), self.command("hosts", "check")):
            with self.subTest(command=command[1]):
                terminal = self.at_terminal(command)
                terminal.wait_for("Passphrase of ")
                terminal.interrupt()
                self.assertEqual(terminal.wait(), (INTERRUPTED, True), terminal.said)

    def test_what_was_not_found_out_is_not_good(self):
        def check():
            done = run_with_nobody(self.command("hosts", "check", "--json"), env=self.environment())
            return done.returncode, json.loads(done.stdout)

        self.write_config(f"IdentityFile {self.right_key()}", hosts=["h3"])
        code, found = check()
        self.assertIn((code, found["state"]), [(0, "good"), (0, "warning")], "others may compute here")
        self.assertIn("unknown", [path["round_trip_us"]["state"] for path in found["paths"]], "the way to this machine")
        self.lab.set_sshd("h3", Subsystem="sftp internal-sftp -P statvfs")  # it does not say how much room there is
        self.addCleanup(self.lab.set_sshd, "h3", Subsystem="sftp internal-sftp")
        code, found = check()
        host = found["hosts"][1]
        self.assertEqual((host["name"], host["disk_free_bytes"]["state"], host["folder"]["state"]), ("h3", "unknown", "good"), found)
        self.assertEqual((code, found["state"]), (1, "unknown"), found)

    def test_a_check_that_is_interrupted_knows_nothing(self):
        self.write_config(f"IdentityFile {self.right_key(PASSPHRASE)}", hosts=["h3"])
        terminal = self.at_terminal(self.command("hosts", "check", "--json"))
        terminal.wait_for("Passphrase of ")
        terminal.interrupt()
        self.assertEqual(terminal.wait(), (INTERRUPTED, True), terminal.said)
        told = re.search(r'^ "state": "(.*)"', terminal.said.replace("\r", "\n"), re.M)
        self.assertTrue(told, terminal.said)
        self.assertEqual(told[1], "unknown", terminal.said)

    def test_a_question_ends_with_what_asked_it(self):
        """h3 asks, and before anybody answers the start is over, because of h1."""
        self.write_config(f"IdentityFile {self.right_key(PASSPHRASE)}", hosts=["h1", "h3"])
        terminal = self.at_terminal([*self.run_command("h3"), "--set", "senders.host=h1"])
        code, echoes = terminal.wait()
        self.assertNotEqual(code, 0)
        self.assertTrue(echoes)
        told = re.search(r"^n2nq-bench: .*has changed", terminal.said.replace("\r", "\n"), re.M)
        self.assertTrue(told, terminal.said)
        self.assertNotIn("Passphrase of", terminal.said.replace("\r", "\n")[told.end():], "nobody is asked for a start that has failed")
        self.assertIn("verdict", terminal.said, "it came to its end")

    def test_ctrl_c_at_the_first_of_two_questions_asks_no_second(self):
        for name in ("h2", "h3"):
            self.lab.set_sshd(name, AuthenticationMethods="password")
            self.addCleanup(self.lab.set_sshd, name, AuthenticationMethods="any")
        self.write_config(hosts=["h2", "h3"])
        with self.known_hosts.open("a") as known:
            known.write(f"{self.lab.hosts['h2']['address']} {self.lab.hosts['h2']['host_key']}\n")
        for command in ([*self.run_command("h2"), "--set", "senders.host=h3"], self.command("hosts", "check")):
            with self.subTest(command=command[1]):
                terminal = self.at_terminal(command)
                terminal.wait_for("Password of ")
                terminal.interrupt()
                self.assertEqual(terminal.wait(), (INTERRUPTED, True), terminal.said)
                self.assertEqual(terminal.said.count("Password of "), 1, terminal.said)

    def test_a_person_may_take_their_time(self):
        self.write_config(f"IdentityFile {self.right_key(PASSPHRASE)}", hosts=["h3"])
        terminal = self.at_terminal([*self.run_command("h3"), "--set", "limits.connect_deadline_s=8"])
        terminal.wait_for("Passphrase of ")
        self.assertFalse(terminal.says_more_within(9), terminal.said)
        terminal.type(PASSPHRASE + "\n")
        self.assertEqual(terminal.wait(), (0, True), terminal.said)


if __name__ == "__main__":
    main()
