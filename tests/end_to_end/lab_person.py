# SPDX-License-Identifier: GPL-3.0-or-later
"""Who uses the bench in a lab: a home folder of their own, with an SSH config, keys and known hosts as a test wants them, perhaps an agent."""
import os
import shutil
import subprocess

from bench import BIN, BenchCase, run_with_nobody
from pseudo_terminal import AtTerminal

PASSPHRASE = f"open sesame, dear cave {os.urandom(4).hex()}"  # another test's own programs have another one on their command lines


class PersonCase(BenchCase):
    """A test whose class has a `lab`. Its person knows the lab's host keys, and has no key."""

    def setUp(self):
        super().setUp()
        self.home = self.folder / "home"
        self.keys = self.folder / "keys"
        for folder in (self.home / ".ssh", self.keys):
            folder.mkdir(parents=True, mode=0o700)
        self.known_hosts = self.home / ".ssh/known_hosts"
        shutil.copy(self.lab.folder / "known_hosts", self.known_hosts)
        self.hosts_file = self.folder / "hosts.yaml"
        self.agent = None

    def write_config(self, *lines, hosts=("h1",)):
        """~/.ssh/config with these lines for each host, and the bench's hosts."""
        blocks = [[f"Host {name}", f"  HostName {self.lab.hosts[name]['address']}", f"  User {self.lab.facts['user']}",
                   *(f"  {line}" for line in lines), ""] for name in hosts]
        (self.home / ".ssh/config").write_text("\n".join(sum(blocks, [])))
        self.hosts_file.write_text("format: 1\nhosts:\n" + "".join(f"  - name: {name}\n" for name in hosts))

    def make_key(self, name, passphrase=""):
        """One that no host knows."""
        path = self.keys / name
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-f", path], check=True)
        return path

    def right_key(self, passphrase=""):
        """One that lets in."""
        path = self.keys / "right"
        shutil.copy(self.lab.folder / "client_key", path)
        path.chmod(0o600)
        subprocess.run(["ssh-keygen", "-q", "-p", "-P", "", "-N", passphrase, "-f", path], check=True, stdout=subprocess.DEVNULL)
        return path

    def start_agent(self, *keys, asks_s=0, says="yes"):
        """asks_s: so long it asks before each signature, and is then told yes, or no. 0: it does not ask."""
        socket, asker = self.folder / "agent", self.folder / "asker"
        asker.write_text(f"#!/bin/sh\nsleep {asks_s}\n[ {says} = yes ]\n")
        asker.chmod(0o700)
        agent = subprocess.Popen(["ssh-agent", "-D", "-a", socket], stdout=subprocess.DEVNULL,
                                 env={**os.environ, "SSH_ASKPASS": str(asker), "SSH_ASKPASS_REQUIRE": "force", "DISPLAY": ":none"})
        self.processes.append(agent)
        self.wait_for("the agent", socket.exists)
        self.agent = socket
        subprocess.run(["ssh-add", "-q", *(["-c"] if asks_s else []), *keys], check=True, env=self.environment())

    def environment(self):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("SSH_", "XDG_"))}
        return {**kept, "HOME": str(self.home), **({"SSH_AUTH_SOCK": str(self.agent)} if self.agent else {})}

    def command(self, *arguments):
        return [BIN / "n2nq-bench", *arguments, "--hosts", self.hosts_file]

    def run_command(self, host="h1", out="run"):
        """A run of four seconds, all of it on one host."""
        settings = [f"broker.host={host}", f"senders.host={host}", f"receivers.host={host}", "senders.amount=2", "senders.messages=40",
                    "senders.delay_ms=100", "receivers.amount=2"]
        return self.command("run", "quick", *sum((["--set", each] for each in settings), []), "--out", self.folder / out)

    def at_terminal(self, command):
        terminal = AtTerminal(command, self.environment())
        self.addCleanup(terminal.close)
        return terminal

    def with_nobody(self, command):
        """The completed process, where there is no terminal."""
        return run_with_nobody(command, env=self.environment(), stderr=subprocess.STDOUT)
