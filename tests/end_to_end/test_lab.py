#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab of pretend hosts itself: hosts that one can log in to, with clocks of their own, and nothing left of them afterwards."""
import json
import os
import pathlib
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

from bench import DEADLINE_S, SKIPPED
from lab import FIRST_NUMBER, LAB, Lab, by_hand, main, pretend_lab, up_by_hand
import pretend_host

CLOCKS_NS = (0, 250_000_000, -250_000_000)


def offset_ns(lab, name):
    """How far the host's clock is ahead of ours, and how far off that may be: what /proc/uptime there says between two looks here (10 ms steps)."""
    before = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    there = float(lab.inside(name, "cat", "/proc/uptime").split()[0]) * 1e9
    after = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    return there - (before + after) / 2, (after - before) / 2 + 10e6


def round_trips_ns(address, count=30, wait_s=1):
    """Of so many echo requests to a host's kernel, one after the other; None: not answered."""
    found = []
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as ping:
        ping.settimeout(wait_s)
        for number in range(count):
            packet = struct.pack("!BBHHH", 8, 0, 0xFFFF - 0x0800 - number, 0, number)  # all words and the checksum add up to 0xFFFF
            begun = time.monotonic_ns()
            ping.sendto(packet, (address, 0))
            try:
                while True:
                    answer = ping.recv(200)[20:]
                    if answer[0] == 0 and answer[4:8] == packet[4:8]:
                        break
                found.append(time.monotonic_ns() - begun)
            except TimeoutError:
                found.append(None)
    return found


def traces(number):
    """Whatever of a lab can be seen from outside of it."""
    devices = [device for device in os.listdir("/sys/class/net") if re.fullmatch(rf"n2nq{number}(-h\d+)?", device)]
    folder = pretend_lab.folder_of(number)
    mounts = [line for line in pathlib.Path("/proc/mounts").read_text().splitlines() if str(folder) in line]
    return devices + mounts + [str(folder)] * folder.exists()


def wait_for(condition):
    deadline = time.monotonic() + DEADLINE_S
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {DEADLINE_S} s")
        time.sleep(0.02)
    return found


def cpu_ticks(pid):
    return sum(map(int, pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]))


def network_namespaces():
    found = set()
    for link in pathlib.Path("/proc").glob("[0-9]*/ns/net"):
        try:
            found.add(os.readlink(link))
        except OSError:
            pass
    return found


class WhetherThereCanBeOne(unittest.TestCase):
    """Tests that need one are skipped where the kernel does not let them, and fail where something is only missing or broken."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="n2nq-tools-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def possible(self, *prefix, need="", **tools):
        """What tests/lab/up --possible says with these tools as its only ones; the others are those of this machine, None: missing. need: of
        N2NQ_NEED_LAB."""
        for name in ("unshare", "nsenter", "ip", "ssh-keygen"):
            found = tools.get(name.replace("-", "_"), shutil.which(name))
            if found is not None:
                (self.folder / name).symlink_to(found)
        return subprocess.run([*prefix, sys.executable, LAB / "up", "--possible"], capture_output=True, text=True,
                              env={**os.environ, "PATH": str(self.folder), "N2NQ_NEED_LAB": need})

    def test_it_can(self):
        done = self.possible()
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_missing_tool_is_named_with_its_package(self):
        done = self.possible(ip=None, unshare=None)
        self.assertEqual((done.returncode, done.stderr), (1, "no lab: unshare, ip missing: apt install iproute2 util-linux\n"))

    def test_a_kernel_that_refuses(self):
        done = self.possible(shutil.which("setpriv"), "--bounding-set=-all", "--inh-caps=-all")
        self.assertEqual(done.returncode, SKIPPED, done.stderr)
        self.assertIn("Operation not permitted", done.stderr)

    def test_a_kernel_that_refuses_where_there_has_to_be_one(self):
        done = self.possible(shutil.which("setpriv"), "--bounding-set=-all", "--inh-caps=-all", need="1")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("Operation not permitted", done.stderr)

    def test_a_tool_that_fails_otherwise(self):
        old = self.folder / "old-unshare"
        old.write_text("#!/bin/sh\necho \"unshare: unrecognized option '--time'\" >&2\nexit 1\n")
        old.chmod(0o700)
        done = self.possible(unshare=old)
        self.assertEqual(done.returncode, 1)
        self.assertIn("unrecognized option", done.stderr)


class ALab(unittest.TestCase):
    def setUp(self):
        self.lab = Lab(3, clocks_ns=CLOCKS_NS)
        self.addCleanup(self.lab.close)

    def test_hosts_are_what_they_seem(self):
        for name, host in self.lab.hosts.items():
            done = self.lab.ssh(name, "echo $HOSTNAME $USER $HOME")
            self.assertEqual((done.returncode, done.stdout), (0, f"{name} lab /home/lab\n"), done.stderr)
            self.assertEqual(self.lab.ssh(f"root@{host['address']}", "true").returncode, 0)
            offset, bound = offset_ns(self.lab, name)
            self.assertLessEqual(abs(offset - host["clock_ns"]), bound)
            clock = os.readlink(f"/proc/{host['pid']}/ns/time")
            self.assertNotEqual(clock, os.readlink("/proc/self/ns/time"), "a clock of its own, whatever it shows")
        self.assertEqual(self.lab.ssh("h1", "exec 3<>/dev/tcp/h2/22; head -c 4 <&3").stdout, "SSH-", "they reach each other, by name")

    def test_nothing_of_the_machine_is_there_or_can_be_written(self):
        self.assertEqual(self.lab.files("h1"), [])
        self.assertFalse(pathlib.Path(f"/proc/{self.lab.hosts['h1']['pid']}/root{LAB}").exists())
        self.assertNotEqual(self.lab.ssh("root@h1", "touch /usr/bin/x").returncode, 0)
        self.lab.inside("h1", "touch", "/tmp/x", "/home/lab/x")
        self.assertEqual(self.lab.files("h1"), ["/home/lab/x", "/tmp/x"])
        self.assertEqual(self.lab.files("h2"), [])

    def test_a_person_with_a_password(self):
        asked = self.lab.folder / "askpass"
        asked.write_text(f"#!/bin/sh\necho {self.lab.facts['password']}\n")
        asked.chmod(0o700)
        for method in ("password", "keyboard-interactive"):
            done = subprocess.run(["ssh", "-F", self.lab.folder / "ssh_config", "-o", f"PreferredAuthentications={method}", "h1", "echo in"],
                                  capture_output=True, text=True, stdin=subprocess.DEVNULL,
                                  env={**os.environ, "SSH_ASKPASS": str(asked), "SSH_ASKPASS_REQUIRE": "force"})
            self.assertEqual(done.stdout, "in\n", f"{method}: {done.stderr}")

    def test_it_is_found_whatever_the_environment_says(self):
        done = subprocess.run([LAB / "link", "--number", str(self.lab.number)], capture_output=True, text=True,
                              env={**os.environ, "XDG_RUNTIME_DIR": str(self.lab.folder / "home")})
        self.assertNotIn("There is no lab", done.stdout + done.stderr)

    def test_nothing_is_left_of_it(self):
        number = self.lab.number
        lingering = subprocess.Popen(["ssh", "-F", self.lab.folder / "ssh_config", "h1", "echo there; exec sleep 1000"], stdout=subprocess.PIPE,
                                     stderr=subprocess.DEVNULL, text=True)
        self.assertEqual(lingering.stdout.readline(), "there\n")
        pids = [host["pid"] for host in self.lab.hosts.values()]
        networks = {os.readlink(f"/proc/{pid}/ns/net") for pid in pids}
        self.assertTrue(networks <= network_namespaces())
        self.assertNotEqual(traces(number), [])
        self.lab.close()
        lingering.kill()
        lingering.communicate()
        self.assertEqual(traces(number), [])
        self.assertEqual([pid for pid in pids if pretend_host.born(pid) is not None], [])
        self.assertFalse(networks & network_namespaces())


class FoldersOfThisMachine(unittest.TestCase):
    def test_what_is_mounted_below_one_cannot_be_written_either(self):
        """As where /usr/local is a file system of its own; here in a mount namespace that goes with its process."""
        folder = tempfile.TemporaryDirectory(prefix="n2nq-mounts-")
        self.addCleanup(folder.cleanup)
        program = """if True:
            import errno, pathlib, sys
            import host_root
            from namespaces import NEW_MOUNT, PRIVATE, RECURSIVE, mount, unshare
            unshare(NEW_MOUNT)
            mount(None, "/", flags=PRIVATE | RECURSIVE)
            here, there = pathlib.Path(sys.argv[1], "here"), pathlib.Path(sys.argv[1], "there")
            (here / "below").mkdir(parents=True)
            mount("tmpfs", here / "below", "tmpfs")
            (here / "below/x").touch()
            host_root._take_over(here, there)
            assert (there / "below/x").exists()
            for place in ("y", "below/y"):
                try:
                    (there / place).touch()
                    print(place, "was written")
                except OSError as error:
                    print(place, errno.errorcode[error.errno])
            (here / "below/y").touch()"""
        done = subprocess.run([sys.executable, "-B", "-c", program, folder.name], cwd=LAB, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, "y EROFS\nbelow/y EROFS\n"), done.stderr)


class HostKeys(unittest.TestCase):
    def test_wrong_and_unknown_ones(self):
        lab = Lab(3, bad_key=["h2"], unknown_key=["h3"])
        self.addCleanup(lab.close)
        self.assertEqual(lab.ssh("h1", "true").returncode, 0)
        for name, words in (("h2", "REMOTE HOST IDENTIFICATION HAS CHANGED"), ("h3", "No ED25519 host key is known")):
            done = lab.ssh(name, "true")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(words, done.stderr)
        # What a person who is asked for the key compares it with, on that host.
        shown = lab.ssh("h1", "ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub").stdout.split()[1]
        key = subprocess.run(["ssh-keygen", "-lf", "-"], input=lab.hosts["h1"]["host_key"], capture_output=True, text=True).stdout.split()[1]
        self.assertEqual(shown, key)


class DeadLinks(unittest.TestCase):
    def test_a_lab_can_be_made_with_them(self):
        lab = Lab(1, shape={"blackhole": True})
        self.addCleanup(lab.close)
        with self.assertRaises(OSError):
            socket.create_connection((lab.hosts["h1"]["address"], 22), timeout=0.5).close()


class EmulatedLinks(unittest.TestCase):
    def setUp(self):
        self.lab = Lab(2, shape={"delay_ns": 2_000_000})
        self.addCleanup(self.lab.close)

    def fastest_ns(self, name):
        return min(round_trips_ns(self.lab.hosts[name]["address"]))

    def assert_round_trip(self, name, delays_ns):
        """Never below; the fastest of many not much above, however busy the machine is."""
        fastest_ns = self.fastest_ns(name)
        print(f"round trip over links of {delays_ns / 1e6:g} ms: {fastest_ns / 1e6:.3f} ms")
        self.assertGreater(fastest_ns, delays_ns - 100_000)  # a frame leaves at most 50 us early, see WakeLead
        self.assertLess(fastest_ns, delays_ns + 1_000_000)

    def test_delays_and_changes_while_it_runs(self):
        self.assert_round_trip("h1", 4_000_000)
        self.lab.shape_links({"delay_ns": 10_000_000}, ["h1"], ["up"])
        self.assert_round_trip("h1", 12_000_000)
        self.assert_round_trip("h2", 4_000_000)
        self.lab.shape_links({"delay_ns": 0})
        self.assert_round_trip("h1", 0)
        self.assertEqual(self.lab.ssh("h1", "true").returncode, 0)

    def test_blackhole_and_back(self):
        address = self.lab.hosts["h2"]["address"]
        self.lab.shape_links({"blackhole": True}, ["h2"], ["up"])
        self.assertEqual(round_trips_ns(address, count=2, wait_s=0.2), [None, None])
        self.assertNotIn(None, round_trips_ns(self.lab.hosts["h1"]["address"], count=5))
        self.lab.shape_links({"blackhole": False})
        self.assertNotIn(None, round_trips_ns(address, count=5))
        counts = self.lab.link_stats()["h2"]
        self.assertGreaterEqual(counts["up"]["swallowed"], 2)
        self.assertEqual(counts["down"]["swallowed"], 0)

    def test_carries_bulk(self):
        self.lab.shape_links({"delay_ns": 0})
        done = self.lab.ssh("h1", "head -c 50000000 /dev/zero | sha256sum; head -c 20000000 /dev/zero")
        self.assertEqual((done.returncode, len(done.stdout)), (0, 20_000_000 + 68), done.stderr)

    def test_carries_many_small_frames(self):
        before = self.lab.link_stats(forget=True)["h1"]["down"]
        count, each_ns = 40_000, 50_000
        begun = time.monotonic_ns()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            for i in range(count):
                while time.monotonic_ns() < begun + i * each_ns:
                    time.sleep(each_ns / 1e9)
                try:
                    sender.sendto(bytes(50), (self.lab.hosts["h1"]["address"], 9))
                except ConnectionRefusedError:  # what the host says of an earlier one: nobody listens
                    pass
        took_s = (time.monotonic_ns() - begun) / 1e9

        def all_out():
            after = self.lab.link_stats()["h1"]["down"]
            return after["frames"] + after["dropped"] - before["frames"] >= count and after
        after = wait_for(all_out)
        late = {key.removesuffix('_ns'): round(value / 1e3) for key, value in after["late"].items() if key != "count"}
        print(f"{count / took_s:.0f} frames a second, late in us: {late}")
        self.assertEqual((after["dropped"], after["lost"]), (before["dropped"], 0))

    def test_a_wrong_order_changes_nothing(self):
        for shape, names, words in (({"delay_ns": -1}, [], "delay_ns: from 0"), ({"loss": 2}, [], "loss: from 0 to 1"),
                                    ({"weight": 1}, [], "unknown key weight"), ({"delay_ns": 5}, ["h9"], "no link h9")):
            with self.assertRaisesRegex(OSError, words):
                self.lab.shape_links(shape, names)
        done = by_hand("link", self.lab.number, "h9")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("There is no link h9: there are h1, h2", done.stderr)
        self.assertEqual(self.lab.link_stats()["h1"]["up"]["shape"]["delay_ns"], 2_000_000)

    def test_nothing_is_left_of_it(self):
        number, emulator = self.lab.number, self.lab.facts["emulator"]["pid"]
        self.lab.close()
        self.assertEqual(traces(number), [])
        self.assertIsNone(pretend_host.born(emulator))

    def test_a_host_that_dies_does_not_keep_the_emulator_busy(self):
        pretend_host.end(self.lab.hosts["h1"]["pid"], self.lab.facts["processes"][0]["born"])
        self.assertEqual(self.lab.ssh("h2", "true").returncode, 0)
        before = time.process_time_ns()
        used = cpu_ticks(self.lab.facts["emulator"]["pid"])
        while time.process_time_ns() - before < 300_000_000:  # of a processor's time, however long that takes
            pass
        self.assertLess(cpu_ticks(self.lab.facts["emulator"]["pid"]) - used, 10)


class ByHand(unittest.TestCase):
    def test_up_and_down(self):
        number, done = up_by_hand(2, "--clock", "-250ms,1.5s", "--delay", "1ms", "--owner", os.getpid())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.addCleanup(pretend_lab.take_down, number)
        self.assertEqual(by_hand("link", number, "h1", "--loss", "1%").returncode, 0)
        self.assertIn("loss 0.01", by_hand("link", number, "h1", "--direction", "up").stdout)
        self.assertNotIn("loss", by_hand("link", number, "h2").stdout.replace(" lost", ""))
        self.assertIn("clock +1500 ms", done.stdout)
        folder = pretend_lab.folder_of(number)
        facts = json.loads((folder / "lab.json").read_text())
        self.assertEqual([host["clock_ns"] for host in facts["hosts"]], [-250_000_000, 1_500_000_000])
        again = by_hand("up", number, 1)
        self.assertEqual(again.returncode, 1)
        self.assertIn("stands already", again.stderr)
        run = folder / "home/.local/share/n2nq/runs/a run/summary.json"
        run.parent.mkdir(parents=True)
        run.write_text("{}")
        done = by_hand("down", number)
        self.assertEqual(done.returncode, 0)
        kept = pathlib.Path(re.search(rf"kept in ({folder}-results-\S+)", done.stdout)[1])
        self.addCleanup(shutil.rmtree, kept)
        self.assertEqual((kept / "runs/a run/summary.json").read_text(), "{}")
        self.assertEqual(traces(number), [])
        self.assertIn(f"There is no lab {number}", by_hand("down", number).stdout)

    def test_an_sshd_that_hangs_up_without_a_word_is_not_waited_for_for_ever(self):
        def hung_up(address, timeout):
            ours, theirs = socket.socketpair()
            theirs.close()
            return ours
        with unittest.mock.patch("socket.create_connection", hung_up):
            with self.assertRaisesRegex(OSError, "no sshd answers at 10.0.0.1: it says b''"):
                pretend_host.wait_for_sshd("10.0.0.1", time.monotonic() + 0.1)

    def test_wrong_words(self):
        for arguments, words in ((("0",), "from 1 to"), (("1", "--clock", "1h"), "250ms"),
                                 (("1", "--clock", ","), "250ms"), (("1", "--loss", "2"), "from 0 to 1"), (("--names", "a,a"), "no two alike"),
                                 (("2", "--bad-key", "h3"), "no host h3: there are h1, h2"),
                                 (("1", "--delay", "-1ms"), "delay"), (("1", "--owner", "0"), "no process 0")):
            done = by_hand("up", FIRST_NUMBER, *arguments)
            self.assertEqual(done.returncode, 2)
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    main()
