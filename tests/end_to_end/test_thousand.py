#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""1,000 senders and 1,000 receivers, load balancer, a message a second each: everything arrives, and N2NQ's process stays small."""
import json
import pathlib
import re
import time
import unittest

from bench import BenchCase, children, is_sound

SERVICES, MESSAGES = 1000, 10
MEMORY_MIB = 100
# Longer than any machine is busy with something else: what is judged here is no time.
PATIENCE = {"queue.retention_s": 600, "limits.connect_deadline_s": 120, "limits.handshake_deadline_s": 60, "limits.write_deadline_s": 600,
            "limits.heartbeat_s": 600}


def peak_mib(pid):
    """The most memory a process has had so far; none: it is gone."""
    try:
        told = re.search(r"^VmHWM:\s*(\d+) kB", pathlib.Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    except OSError:
        return None
    return told and int(told[1]) / 1024


class Thousand(BenchCase):
    def test_load_balancer(self):
        settings = {"queue.mode": "load-balancer", "senders.amount": SERVICES, "receivers.amount": SERVICES, "senders.messages": MESSAGES,
                    "senders.delay_ms": 1000, "log": "off", **PATIENCE}
        process = self.start("quick", *(word for key, value in settings.items() for word in ("--set", f"{key}={value}")))
        broker = self.wait_for("N2NQ", lambda: process.poll() is not None or children(process.pid).get("n2nq-broker"))
        peaks = []
        while process.poll() is None and (peak := peak_mib(broker)):
            peaks.append(peak)
            time.sleep(0.05)
        output, _ = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, output)
        self.assertTrue(peaks, "N2NQ was over before anybody looked")
        summary = json.loads((self.folder / "run" / "summary.json").read_text())
        total = summary["ledger"]["total"]
        print(f"N2NQ's process had at most {peaks[-1]:.1f} MiB; {summary['verdict']} {summary['reasons']}")
        messages = SERVICES * MESSAGES
        self.assertEqual((total["attempted"], total["delivered"]), (messages, messages), summary["reasons"])
        never = {key: total[key] for key in ("lost", "duplicated", "out_of_order", "unexpected", "unexplained", "expired", "cut_off")}
        self.assertEqual(set(never.values()), {0}, never)
        self.assertTrue(is_sound(summary), (summary["verdict"], summary["reasons"]))
        self.assertLess(peaks[-1], MEMORY_MIB)


if __name__ == "__main__":
    unittest.main()
