# SPDX-License-Identifier: GPL-3.0-or-later
"""How much of the machine others took while something was measured."""
import os
import time
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def processor_s(pid):
    """Processor time a process has used so far, all its threads."""
    return sum(int(task.read_text().split()[0]) for task in Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e9


def idle_s():
    """For how long cores had nothing to do so far, all together. What they did is not added up from the other fields: these are sampled, and
    what the kernel receives for a process counts as an interrupt there, while that process's own time has it."""
    with open("/proc/stat", encoding="ascii") as stat:
        _user, _nice, _system, idle, waiting, *_ = (int(field) for field in stat.readline().split()[1:])
    return (idle + waiting) / TICKS


def resident_mib(pid):
    """The most memory a process has had so far."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return None


class Others:
    """The share of all cores that was used by none of `pids`, nor by this process and what it waited for: other processes, interrupts while
    nobody computed, and what a virtual machine's host gave to others. About nothing may come out as a little below it."""

    def __init__(self, pids):
        self.pids = list(pids)
        self.begun = time.monotonic(), idle_s(), self.own_s()

    def own_s(self):
        times = os.times()
        own = times.user + times.system + times.children_user + times.children_system
        return own + sum(processor_s(pid) for pid in self.pids)

    def share(self):
        began_at, idle_before, own_before = self.begun
        cores_s = (time.monotonic() - began_at) * os.cpu_count()
        return 1 - (idle_s() - idle_before + self.own_s() - own_before) / cores_s
