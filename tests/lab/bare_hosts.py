# SPDX-License-Identifier: GPL-3.0-or-later
"""Two hosts without anything but a network, and a real link between them that can be cut: two network namespaces and a veth pair. For
processes that a test starts itself; hosts that one logs in to are pretend_lab's. Needs root, or a system that gives users namespaces of their
own (see become_root_here)."""
import os
import subprocess
import sys
import time

from namespaces import ip
from pretend_lab import REFUSALS, Impossible, refuse

ADDRESSES = ("10.123.0.1", "10.123.0.2")
DEADLINE_S = 30


# For unshare: without root what it makes is made in a user namespace, as its root.
AS_ROOT = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]


def check_possible(*unshared):
    """Raises Impossible where this process may not `unshare` this, OSError where it could if something were not missing or broken, and with
    N2NQ_NEED_LAB always."""
    probe = ["unshare", *AS_ROOT, *map(str, unshared)]
    done = subprocess.run(probe, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
    if done.returncode == 0:
        return
    said = done.stderr.strip()
    if any(refusal.lower() in said.lower() for refusal in (*REFUSALS, "Read-only file system")):
        refuse(f"namespaces or mounts are forbidden here: {said}")
    raise OSError(f"{' '.join(probe)} failed with {done.returncode}: {said}")


def skip_unless_possible(test, *unshared):
    try:
        check_possible(*unshared)
    except Impossible as why:
        test.skipTest(str(why))


def become_root_here():
    """Without root: starts this script again as root of a user namespace, where that is allowed. To be called first."""
    again = ["unshare", *AS_ROOT]
    if AS_ROOT and subprocess.run([*again, "true"], capture_output=True).returncode == 0:
        os.execvp(again[0], [*again, sys.executable, "-B", *sys.argv])


class Link:
    """Hosts 0 and 1 at ADDRESSES; what is started with prefix(host) before its command runs there."""

    def __init__(self):
        # Each namespace lives as long as a process that waits for the end of its stdin: with this one, whatever becomes of it.
        self.keepers = [subprocess.Popen(["unshare", "--net", "cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) for _ in ADDRESSES]
        for keeper in self.keepers:
            self._wait_for_namespace(keeper.pid)
        self._ip(0, "link", "add", "lab0", "type", "veth", "peer", "name", "lab1", "netns", self.keepers[1].pid)
        for host, address in enumerate(ADDRESSES):
            self._ip(host, "link", "set", "lo", "up")
            self._ip(host, "address", "add", f"{address}/24", "dev", f"lab{host}")
            self._ip(host, "link", "set", f"lab{host}", "up")

    @staticmethod
    def _wait_for_namespace(pid):
        deadline = time.monotonic() + DEADLINE_S
        while os.readlink(f"/proc/{pid}/ns/net") == os.readlink("/proc/self/ns/net"):
            if time.monotonic() > deadline:
                raise AssertionError("no network namespace")
            time.sleep(0.01)

    def prefix(self, host):
        return ["nsenter", f"--net=/proc/{self.keepers[host].pid}/ns/net"]

    def _ip(self, host, *arguments):
        ip(*arguments, pid=self.keepers[host].pid)

    def cut(self):
        """From now on nothing gets through, and nobody is told."""
        self._ip(0, "link", "set", "lab0", "down")

    def mend(self):
        self._ip(0, "link", "set", "lab0", "up")

    def established(self, host):
        """How many TCP connections that host takes for alive."""
        lines = subprocess.run([*self.prefix(host), "cat", "/proc/net/tcp"], check=True, capture_output=True, text=True).stdout
        return sum(line.split()[3] == "01" for line in lines.splitlines()[1:])

    def close(self):
        for keeper in self.keepers:
            keeper.stdin.close()
            keeper.wait()
