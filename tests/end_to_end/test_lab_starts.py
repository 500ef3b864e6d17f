#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Starts on several hosts that fail on one of them, or take long."""
import json
import os
import re
import shlex
import socket
import time

from bench import BIN, hold_ups, run_with_nobody, stop_for
from lab import RUN_FOLDERS, START_S, LabCase, main, places, pretend_lab
from name_service import with_names

# Stands in for sftp-server, and hands nothing on any more from the first folder of such a run.
GATE = """#!/usr/bin/env python3
import os, subprocess
server = subprocess.Popen(["/usr/lib/openssh/sftp-server"], stdin=subprocess.PIPE)
hangs = False
while asked := os.read(0, 1 << 16):
    hangs = hangs or b"hangs-" in asked
    if not hangs:
        server.stdin.write(asked)
        server.stdin.flush()
"""


class Starts(LabCase):
    hosts, arguments = 5, {"bad_key": ["h4"], "unknown_key": ["h5"], "shape": {"delay_ns": 0}}

    def setUp(self):
        super().setUp()
        self.addCleanup(self.lab.shape_links, {"blackhole": False})

    def check_failed_start(self, name, *reasons, bin=BIN):
        held_up_s = hold_ups()
        bench = self.start("quick", *places("h1", name, "h3"), bin=bin)
        output, _ = bench.communicate(timeout=60)
        print(output.strip().splitlines()[-1])
        self.assertNotEqual(bench.returncode, 0, output)
        self.assertIn(name, output)
        for reason in reasons:
            self.assertIn(reason, output)
        self.assert_start_failed_in_time("run", held_up_s)
        table = output[output.rindex("verdict  "):]
        for words in ("latency", "deliveries", " died", "disturbed", "± "):
            self.assertNotIn(words, output if words != "latency" else table, "nothing was there that this could be said of")
        self.wait_for("the others to be taken down", lambda: not any(self.lab.processes(host) for host in ("h1", "h3")))
        return output

    def start_from_afar(self, out):
        """So slowly that each moment of it can be met."""
        self.lab.shape_links({"delay_ns": 100_000_000})
        self.addCleanup(self.lab.shape_links, {"delay_ns": 0})
        return self.start("quick", *places("h1", "h2", "h3"), "--set", "senders.messages=10", out=out)

    def test_a_bench_that_stood_still_while_it_logged_in_starts_all_the_same(self):
        bench = self.start_from_afar("paused")
        self.wait_for("a host to be connected to", lambda: self.lab.sshd_of_sessions("h2"))
        stop_for(bench.pid, 16)
        output, _ = bench.communicate(timeout=120)
        self.assertEqual(bench.returncode, 0, output)

    def test_a_bench_that_stood_still_says_so_before_it_blames_others(self):
        """As with a lid that is closed while a run is being started, and a host that is gone behind that."""
        bench = self.start_from_afar("slept")
        self.wait_for("a host to be connected to", lambda: self.lab.sshd_of_sessions("h2"))
        self.lab.shape_links({"blackhole": True}, ["h2"])
        held_up_s = hold_ups()
        stopped_s = stop_for(bench.pid, 16)
        output = self.failed_start(bench)
        reasons = json.loads((self.folder / "slept" / "summary.json").read_text())["reasons"]
        told = re.fullmatch(r"This machine, or the bench on it, stood still for up to (\d+) s: asleep\?", reasons[0])
        self.assertTrue(told, output)
        self.assertLess(abs(int(told[1]) - stopped_s), 2 + held_up_s(), "it is told in whole seconds")

    def test_a_host_that_does_not_answer(self):
        self.lab.shape_links({"blackhole": True}, ["h2"])
        self.check_failed_start("h2")

    def failed_start(self, bench, said=""):
        """What a start on h1, h2 and h3 says that fails, behind what is known of that; all is taken down."""
        output, _ = bench.communicate(timeout=60)
        output = said + output
        self.assertNotEqual(bench.returncode, 0, output)
        self.assertNotIn("latency ", output[output.rindex("verdict  "):])
        self.wait_for("all to be taken down", lambda: not any(self.lab.processes(host) for host in ("h1", "h2", "h3")))
        return output

    def test_folders_in_which_none_can_be_made_for_a_run_are_found_by_the_start_and_the_check(self):
        unwritable = ("h1", "h2")
        for name in unwritable:
            self.lab.inside(name, "sh", "-c", f"rm -rf {RUN_FOLDERS}; mkdir -p {RUN_FOLDERS}; chmod 555 {RUN_FOLDERS}; "
                            f"chown -R lab /home/lab/.cache; chown root {RUN_FOLDERS}")
            self.addCleanup(self.lab.inside, name, "rm", "-rf", RUN_FOLDERS)
        held_up_s = hold_ups()
        output = self.failed_start(self.start("quick", *places("h1", "h2", "h3"), out="unwritable"))
        self.assert_start_failed_in_time("unwritable", held_up_s)
        for name in unwritable:
            self.assertRegex(output, rf"{name}: making the folder .*/runs/.* is not permitted. Give its user the right to write there, or give the host another folder")
        done = run_with_nobody(self.lab.bench_command("hosts", "check", "--json"), env=self.lab.environment())
        for host in json.loads(done.stdout)["hosts"]:
            if host["name"] in unwritable:
                self.assertEqual(host["folder"]["state"], "bad", host)
                self.assertRegex(host["folder"]["detail"], "making the folder .*/runs/.* is not permitted")

    def test_sftp_that_hangs_at_the_folder_of_a_run_ends_the_start(self):
        """It has answered all else until then."""
        self.assertEqual(self.start("quick", *places("h1", "h2", "h3"), "--set", "senders.messages=10", out="before").wait(timeout=120), 0)
        for name in ("h1", "h2"):
            self.lab.inside(name, "sh", "-c", "cat >/tmp/gate && chmod 755 /tmp/gate", text=GATE)
            self.lab.set_sshd(name, Subsystem="sftp /tmp/gate")
            self.addCleanup(self.lab.set_sshd, name, Subsystem="sftp internal-sftp")
        held_up_s, begun = hold_ups(), time.monotonic()
        outs = {"h1": "hangs-with-n2nq", "h2": "hangs-with-a-group"}
        benches = {"h1": self.start("quick", *places("h1", "h3", "h3"), out=outs["h1"]),
                   "h2": self.start("quick", *places("h3", "h2", "h3"), out=outs["h2"])}
        said = {name: "" for name in benches}
        for name, bench in benches.items():
            while "did not answer" not in said[name]:
                piece = os.read(bench.stdout.fileno(), 1 << 16).decode(errors="replace")
                self.assertNotEqual(piece, "", said[name])
                said[name] += piece
            told_s = time.time() - (self.folder / outs[name] / "settings.yaml").stat().st_mtime - held_up_s()
            print(f"{outs[name]}: told after {told_s:.1f} s")
            self.assertLess(told_s, START_S)
        for name, bench in benches.items():
            output = self.failed_start(bench, said[name])
            print(f"over after {time.monotonic() - begun:.1f} s")
            self.assertRegex(output, rf"died: {name} did not answer for [3-9](\.\d)? s at .*hangs-.* Does the disk there answer?")
            self.assertEqual(output.count("did not answer"), 4, f"that it hangs, and that one try to bring back what is there did too; told, and in the verdict:\n{output}")

    def test_a_host_that_answers_late_and_then_no_more_fails_in_time(self):
        """Each of two log-ins takes more than a second, and then nothing is run."""
        self.assertEqual(self.start("quick", *places("h1", "h2", "h3"), "--set", "senders.messages=10", out="before").wait(timeout=120), 0)
        self.lab.inside("h2", "sed", "-i", "1i account optional pam_exec.so /bin/sleep 1.1", "/etc/pam.d/sshd")
        self.addCleanup(self.lab.inside, "h2", "sed", "-i", "1d", "/etc/pam.d/sshd")
        self.lab.inside("h2", "sh", "-c", "cat >/home/lab/.bashrc", text="sleep 4718\n")
        self.addCleanup(self.lab.inside, "h2", "sh", "-c", "rm /home/lab/.bashrc; pkill -f '^sleep 4718' || true")
        output = self.check_failed_start("h2", "Does something that is read at each login there (.bashrc) wait", "what came before has taken the rest")
        self.assertLess(float(re.search(r"a command on h2 did not end within ([0-9.]+) s", output)[1]), 7, "log-ins have taken the rest")

    def test_addresses_at_which_n2nq_cannot_listen_or_is_not_reached_are_named_with_their_setting(self):
        hosts = self.lab.folder / "hosts.yaml"
        kept = hosts.read_text()
        self.addCleanup(hosts.write_text, kept)
        address = f"data_address: {self.lab.hosts['h1']['address']}\n"
        hosts.write_text(kept.replace(address, "data_address: 192.0.2.77\n"))
        held_up_s = hold_ups()
        output = self.failed_start(self.start("quick", *places("h1", "h2", "h3"), out="elsewhere"))
        self.assert_start_failed_in_time("elsewhere", held_up_s)
        self.assertRegex(output, r"N2NQ on h1 died: .*cannot listen on 192.0.2.77.* Is 192.0.2.77 \(data address of h1\) one of its addresses\?")
        hosts.write_text(kept.replace(address, "data_address: 127.0.0.1\n"))
        output = self.failed_start(self.start("quick", *places("h1", "h2", "h3"), "--set", "limits.connect_deadline_s=2", out="loopback"))
        self.assertRegex(output, r"not connected within 2 s: (Senders on h2|Receivers on h3), .* Is 127.0.0.1 \(data address of h1\) where they reach it, and does a firewall")

    def test_a_disk_that_fills_costs_logs_and_a_full_one_is_in_the_way_of_groups_that_write_some_alone(self):
        self.lab.inside("h2", "sh", "-c", "rm -rf /home/lab/.cache/*; mkdir -p /home/lab/.cache && mount -t tmpfs -o size=64m,mode=1777 full /home/lab/.cache")
        self.addCleanup(self.lab.inside, "h2", "umount", "/home/lab/.cache")
        def fill():
            self.lab.inside("h2", "sh", "-c", "head -c 64M /dev/zero >/home/lab/.cache/filler || true")
        bench = self.start("quick", *places("h1", "h2", "h2"), "--set", "senders.duration_s=5", "--set", "senders.delay_ms=10", out="fills")
        self.wait_for("logs there", lambda: self.lab.inside("h2", "sh", "-c", f"cat {RUN_FOLDERS}/*/R001.log 2>/dev/null | grep '^[0-9]' || true"))
        fill()
        output, _ = bench.communicate(timeout=120)
        self.assertEqual(bench.returncode, 0, output)
        reasons = " ".join(json.loads((self.folder / "fills/summary.json").read_text())["reasons"])
        self.assertIn("log incomplete", reasons)
        for role, group in (("S", "senders"), ("R", "receivers")):
            logs = [(self.folder / f"fills/{group}/{role}{number:03}.log").read_text() for number in range(1, 11)]
            self.assertTrue(all(re.search("^[0-9]", log, re.M) for log in logs), "what is there was brought")
        self.assertEqual(self.lab.inside("h2", "find", RUN_FOLDERS, "-mindepth", "1") + self.lab.inside("h2", "ls", "/dev/shm"), "")
        settings = [*places("h1", "h2", "h2"), "--set", "senders.messages=10"]  # the programs are there from now on
        fill()
        bench = self.start("quick", *settings, "--set", "log=off", out="off")
        output, _ = bench.communicate(timeout=120)
        self.assertEqual(bench.returncode, 0, output)
        self.check_failed_start("h2", "are needed for the logs of a run")

    def test_hosts_of_ipv6_addresses_are_checked_and_run_on(self):
        """One of them by the address that its link alone has."""
        def add_address(address, device, pid=None):
            pretend_lab.ip("address", "add", f"{address}/64", "dev", device, "nodad", pid=pid)
            self.addCleanup(pretend_lab.ip, "address", "delete", f"{address}/64", "dev", device, pid=pid)
        network, bridge = f"fd77:0:0:{self.lab.number}::", pretend_lab.bridge_of(self.lab.number)
        add_address(f"{network}1", bridge)
        lines, known = ["format: 1", f"local_data_address: {network}1", "hosts:"], []
        for number, name in enumerate(("h1", "h2", "h3"), 11):
            host = self.lab.hosts[name]
            add_address(f"{network}{number}", "eth0", host["pid"])
            address = f"{network}{number}"
            if name == "h3":
                address = f"fe80::77:{number}%{bridge}"
                add_address(address.partition("%")[0], "eth0", host["pid"])
            lines += [f"  - name: {name}", f"    address: {address}", "    user: lab", f"    identity_file: {self.lab.folder}/client_key",
                      f"    data_address: {network}{number}"]
            known.append(f"{address} {' '.join(host['host_key'].split()[:2])}")
        for file, text in ((self.lab.folder / "hosts.yaml", lines), (self.lab.folder / "known_hosts", known)):
            self.addCleanup(file.write_text, file.read_text())
            file.write_text("".join(line + "\n" for line in text))
        self.run_bench("quick", *places("h1", "h2", "h3"), "--set", "senders.messages=20", out="ipv6")
        self.assert_clean("ipv6", json.loads((self.folder / "ipv6/summary.json").read_text()), 0)
        done = run_with_nobody(self.lab.bench_command("hosts", "check", "--json"), env=self.lab.environment())
        told = json.loads(done.stdout)
        self.assertEqual({(way["from"], way["to"]) for way in told["paths"] if way["round_trip_us"]["state"] == "good"},
                         {(one, other) for one in ("local", "h1", "h2", "h3") for other in ("local", "h1", "h2", "h3") if one != other}, done.stdout)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_a_host_without_sshd(self):
        self.add_host(f"  - name: h9\n    address: 10.77.{self.lab.number}.99\n    user: lab\n")
        self.check_failed_start("h9")

    def dead_addresses(self, count):
        """Of this machine, and a port: nobody there answers who connects."""
        addresses, port = [], 0
        for number in range(count):
            addresses.append(f"127.77.{self.lab.number}.{100 + number}")
            listening = socket.socket()
            self.addCleanup(listening.close)
            listening.bind((addresses[-1], port))
            listening.listen(0)
            port = listening.getsockname()[1]
            for _ in range(4):  # with that it is full
                waiting = socket.socket()
                self.addCleanup(waiting.close)
                waiting.setblocking(False)
                waiting.connect_ex((addresses[-1], port))
        return addresses, port

    def where_a_name_has(self, addresses, name):
        """The folder of a n2nq-bench for which it is so."""
        names = with_names(self.folder / "names", {"hosts": "".join(f"{address} {name}\n" for address in addresses)})
        bench = self.folder / "n2nq-bench"
        bench.write_text(f'#!/bin/sh\nexec {shlex.join(["unshare", "--mount", *names, str(BIN / "n2nq-bench")])} "$@"\n')
        bench.chmod(0o700)
        return self.folder

    def add_host(self, lines):
        hosts = self.lab.folder / "hosts.yaml"
        kept = hosts.read_text()
        self.addCleanup(hosts.write_text, kept)
        hosts.write_text(kept + lines)

    def test_the_addresses_of_a_name_share_the_time_of_connecting(self):
        addresses, port = self.dead_addresses(3)
        self.add_host(f"  - name: h9\n    address: h9.test\n    port: {port}\n    user: lab\n")
        output = self.check_failed_start("h9", *addresses, bin=self.where_a_name_has(addresses, "h9.test"))
        limits_s = [float(text) for text in re.findall(r"no answer within ([0-9.]+) s", next(line for line in output.splitlines() if addresses[0] in line))]
        self.assertEqual(len(limits_s), 3, output)
        self.assertLess(sum(limits_s), 6.2)  # they are rounded

    def test_what_answers_behind_dead_addresses_is_found_once(self):
        """A run connects twice, and would not start in time if it went through them twice."""
        addresses, port = self.dead_addresses(2)  # this machine may have an SSH server of its own at the usual one
        there = self.lab.hosts["h2"]["address"]
        self.lab.set_sshd("h2", Port=f"22\\nPort {port}")
        self.addCleanup(self.lab.set_sshd, "h2", Port=22)
        self.add_host(f"  - name: h9\n    address: h9.test\n    port: {port}\n    user: lab\n"
                      f"    identity_file: {self.lab.folder}/client_key\n")
        with open(self.lab.folder / "known_hosts", "a+") as known:
            known.seek(0)
            before = known.read()
            self.addCleanup((self.lab.folder / "known_hosts").write_text, before)
            known.writelines(f"[h9.test]:{port} {line.split(maxsplit=1)[1]}\n" for line in before.splitlines() if line.startswith("h2,"))
        bench = self.start("quick", *places("h1", "h9", "h3"), "--set", "senders.messages=10",
                           bin=self.where_a_name_has([*addresses, there], "h9.test"))
        output, _ = bench.communicate(timeout=60)
        self.assertEqual(bench.returncode, 0, output)

    def test_a_host_whose_key_changed(self):
        self.check_failed_start("h4", "SHA256:")

    def test_a_host_whose_key_is_not_known(self):
        known = (self.lab.folder / "known_hosts").read_text()
        self.check_failed_start("h5", "SHA256:", "known_hosts")
        self.assertEqual((self.lab.folder / "known_hosts").read_text(), known)

    def test_a_host_that_nobody_knows(self):
        bench = self.start("quick", *places("h1", "h7", "h3"))
        output, _ = bench.communicate(timeout=60)
        self.assertEqual(bench.returncode, 2, output)
        self.assertIn("h7", output)
        self.assertIn("hosts.yaml", output)

    def on_a_slow_link(self):
        """On which the programs take some 10 s, and are on no host yet."""
        for name in ("h1", "h2", "h3"):
            self.lab.inside(name, "rm", "-rf", "/home/lab/.cache")
        self.lab.shape_links({"rate_bps": 4_000_000}, ["h2"])
        self.addCleanup(self.lab.shape_links, {"rate_bps": 0})

    def test_a_slow_link_is_waited_for_as_long_as_something_comes(self):
        self.on_a_slow_link()
        bench = self.start("quick", *places("h1", "h2", "h3"), "--set", "senders.messages=10", "--set", "limits.connect_deadline_s=3",
                           "--json")
        output, _ = bench.communicate(timeout=180)
        self.assertEqual(bench.returncode, 0, output)
        told = [json.loads(line)["progress"] for line in output.splitlines() if line.startswith('{"progress"')]
        copied = [each["copied_percent"]["senders"] for each in told if each["doing"] == "starting"]
        copied = [percent for percent in copied if percent is not None]
        self.assertGreater(len(copied), 3, "it takes some 10 s")
        self.assertEqual(copied, sorted(copied))

    def test_a_check_over_a_slow_link_finds_what_is_there(self):
        self.on_a_slow_link()
        done = run_with_nobody(self.lab.bench_command("hosts", "check", "--json"), env=self.lab.environment())
        ways = {(path["from"], path["to"]): path["round_trip_us"] for path in json.loads(done.stdout)["paths"]}
        for way in (("h1", "h2"), ("h2", "h1"), ("h2", "h3")):
            self.assertEqual(ways[way]["state"], "good", ways[way])

    def test_hosts_a_fifth_of_a_second_away_are_connected_in_time(self):
        """From one to the other and back; nobody is connected before the clocks are compared."""
        self.lab.shape_links({"delay_ns": 50_000_000})
        self.addCleanup(self.lab.shape_links, {"delay_ns": 0})
        bench = self.start("quick", *places("h1", "h2", "h3"), "--set", "senders.messages=10", "--json", out="far")
        output, _ = bench.communicate(timeout=180)
        self.assertEqual(bench.returncode, 0, output)
        told = json.loads((self.folder / "far" / "summary.json").read_text())["environment"]["offsets"]
        for role in ("senders", "receivers"):
            self.assertGreaterEqual(told[f"{role}_to_broker"]["round_trip_min_us"], 200_000)
            self.assertLess(told[f"{role}_to_broker"]["estimation_us"], 10_000)

    def test_a_host_that_is_far_away_is_waited_for_as_long_as_it_gets_on(self):
        """It is reached twice, and its files are looked at: each step takes a while."""
        settings = [*places("h1", "h2", "h3"), "--set", "senders.amount=1", "--set", "senders.messages=10"]
        self.assertEqual(self.start("quick", *settings, out="near").wait(timeout=60), 0, "the programs are there from now on")
        self.lab.shape_links({"delay_ns": 120_000_000}, ["h2"])
        self.addCleanup(self.lab.shape_links, {"delay_ns": 0})
        bench = self.start("quick", *settings, "--set", "limits.connect_deadline_s=5", out="far")
        output, _ = bench.communicate(timeout=180)
        self.assertEqual(bench.returncode, 0, output)

    def test_a_group_that_is_far_away_hears_of_the_start_in_time(self):
        settings = [*places("h1", "h2", "h3"), "--set", "senders.amount=1", "--set", "senders.messages=10"]
        self.assertEqual(self.start("quick", *settings, out="heard").wait(timeout=60), 0, "the programs are there from now on")
        self.lab.shape_links({"delay_ns": 200_000_000}, ["h2"])
        self.addCleanup(self.lab.shape_links, {"delay_ns": 0})
        for attempt in range(3):  # a group may be held up for longer than the fifth of a second that it has beside the ways, on a busy machine
            bench = self.start("quick", *settings, out=f"far-{attempt}")
            output, _ = bench.communicate(timeout=180)
            late_ns = json.loads((self.folder / f"far-{attempt}" / "summary.json").read_text())["environment"]["started_late_ns"]
            print(f"started late: {late_ns}")
            if late_ns == {"senders": 0, "receivers": 0}:
                break
        self.assertEqual(late_ns, {"senders": 0, "receivers": 0})
        self.assertEqual(bench.returncode, 0, output)
        self.assertNotIn("behind the common start", output)

    def test_a_pause_and_a_kill_that_a_host_does_not_carry_out_are_not_told_as_done(self):
        """It takes one command on a connection: the process is that."""
        self.lab.set_sshd("h3", MaxSessions=1)
        self.addCleanup(self.lab.set_sshd, "h3", MaxSessions=10)
        bench = self.start("quick", *places("h1", "h2", "h3"), "--set", "senders.duration_s=5", "--fault", "pause:receivers@1",
                           "--fault", "kill:receivers@3", "--json", out="pause")
        output, _ = bench.communicate(timeout=120)
        summary = json.loads((self.folder / "pause" / "summary.json").read_text())
        reasons = " ".join(summary["reasons"])
        for word in ("paused", "killed"):
            self.assertNotIn(f"Receivers {word}", reasons + output)
            self.assertRegex(reasons, rf"tried at .* s: Receivers to be {word}: not done, h3 .*MaxSessions")
        self.assertNotIn("done on purpose", reasons)


if __name__ == "__main__":
    main()
