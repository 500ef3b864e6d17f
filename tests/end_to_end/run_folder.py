# SPDX-License-Identifier: GPL-3.0-or-later
"""A run folder read with nothing but Python: logs to rows, rows to figures. Shares no code with the programs it checks."""
import json
import math
import pathlib
from collections import namedtuple

ToldLine = namedtuple("ToldLine", "whose at_ns offset_ns bound_ns")  # whose: "own" or "senders"; how wrong it was at most when it was told


class Clocks:
    """What the `# clock:` lines of a receiver's log say: which straight lines between clocks its latencies were worked out with, and from
    when on. Without any, all stamps are of one clock. A clock that went back says the same instants twice: which line was in force then,
    its place among the messages' lines tells."""

    def __init__(self, placed_lines):
        """placed_lines: (how many messages' lines stand above it, line) of each `#` line, in the file's order."""
        # (place, from_ns, at_ns, offset_ns, drift_ppt), and where the senders' clock is our own, (place, from_ns, None)
        self.own, self.senders = [], []
        self.told = []  # of all of them but the latter, in any log
        for place, line in placed_lines:
            words = line.split()
            if words[:2] != ["#", "clock:"]:
                continue
            values = dict(word.split("=") for word in words[3:] if "=" in word)
            if words[2] == "senders" and words[-3:] == ["same", "as", "own"]:
                self.senders.append((place, int(values["from_ns"]), None))
                continue
            entry = (place, *(int(values[key]) for key in ("from_ns", "at_ns", "offset_ns", "drift_ppt")))
            (self.own if words[2] == "own" else self.senders).append(entry)
            bound_ns = int(values["asymmetry_ns"]) + int(values["estimation_ns"])
            self.told.append(ToldLine(words[2], int(values["at_ns"]), int(values["offset_ns"]), bound_ns))

    @staticmethod
    def in_force(entries, received_ns, place=math.inf):
        return ([entry for entry in entries if entry[0] <= place and entry[1] <= received_ns] or entries[:1] or [(0, 0, 0, 0, 0)])[-1]

    @staticmethod
    def offset(entry, stamp_ns):
        _, _, at_ns, offset_ns, drift_ppt = entry
        return offset_ns + int(float(stamp_ns - at_ns) * (float(drift_ppt) * 1e-12))

    def between(self, sent_ns, received_ns, place):
        """To be added to received - sent of the message behind so many others."""
        senders = self.in_force(self.senders, received_ns, place)
        if senders[2] is None:
            return 0
        return self.offset(self.in_force(self.own, received_ns, place), received_ns) - self.offset(senders, sent_ns)

    def on_broker(self, received_ns):
        return received_ns + self.offset(self.in_force(self.own, received_ns), received_ns)


class Log:
    """One service log: `#` lines, the last of which names the columns, then tab-separated lines. `rows` are what is measured; what is flagged
    as warm-up stands apart. `places` are of the rows: how many lines of messages stand above each, warm-up included. `skipped` are the
    (sender, index) that N2NQ said this receiver will not get, warm-up included."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.header, self.footer, self.rows, self.warm_up, self.places = [], [], [], [], []
        columns, remarks = None, []
        for line in self.path.read_text().splitlines():
            place = len(self.rows) + len(self.warm_up)
            if line.startswith("#"):
                remarks.append((place, line))
                (self.footer if self.rows or self.warm_up else self.header).append(line)
                continue
            if columns is None:
                columns = next(line for line in reversed(self.header) if "\t" in line).lstrip("# ").split("\t")  # a remark may follow
            values = line.split("\t")
            if len(values) != len(columns):
                raise ValueError(f"{path}: {len(values)} values for {len(columns)} columns: {line!r}")
            row = dict(zip(columns, values))
            if "warm-up" in row["flags"].split(","):
                self.warm_up.append(row)
            else:
                self.rows.append(row)
                self.places.append(place)
        if columns is None and self.header:
            columns = [h for h in self.header if "\t" in h][-1].lstrip("# ").split("\t")
        self.columns = columns or []
        words = [line[2:].split(": ", 1) for line in self.header + self.footer if ": " in line[2:]]
        self.words = dict(reversed(words))  # the first of each key counts
        # But of the foot the last one: who goes on with a log that had one writes another.
        self.words.update((key, word) for key, word in words if key in ("lines", "dropped", "complete"))
        self.skipped = set()
        for line in self.header + self.footer:
            if line.startswith("# skipped: "):
                words = dict(word.split("=") for word in line.split()[2:])
                first, last = map(int, words["senders"].split("-"))
                self.skipped.update((sender, index) for sender in range(first, last + 1)
                                    for index in range(int(words["from"]), int(words["to"]) + 1))
        self.clocks = Clocks(remarks)

    def numbers(self, column):
        return [int(row[column]) for row in self.rows]


class RunFolder:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.summary = json.loads((self.folder / "summary.json").read_text())
        self.senders, self.receivers = self._logs("senders", "S"), self._logs("receivers", "R")
        settings = self.summary["settings"]
        self.broadcaster = settings["queue"]["mode"] == "broadcaster"
        self.as_fast_as_it_goes = settings["senders"]["delay_ms"] == 0

    def _logs(self, group, letter):
        """By number, without those that only an earlier start of the group had, with more services, and before there was any traffic."""
        last_amount = self.summary["settings"][group]["amount"]
        of_last_start = {row["number"] for row in self.summary["services"][group]}

        def is_of_an_earlier_start(number, log):
            return (not log.rows and not log.warm_up and log.words.get("run") == self.summary["run"]
                    and number > last_amount and number not in of_last_start and number <= int(log.words.get(f"{group}.amount", 0)))
        logs = {number_of(path): Log(path) for path in sorted((self.folder / group).glob(f"{letter}*.log"))}
        return {number: log for number, log in logs.items() if not is_of_an_earlier_start(number, log)}


def number_of(path):
    return int(path.stem[1:])


def percentile(ordered, q):
    """The smallest value such that at least ceil(q * n) samples are not above it."""
    return ordered[max(0, math.ceil(q * len(ordered)) - 1)]


def figures(samples):
    """The figures of the summary, exactly, from all samples."""
    if not samples:
        return {"count": 0}
    ordered = sorted(samples)
    lowest = ordered[: math.ceil(0.95 * len(ordered))]
    return {
        "count": len(ordered),
        "mean": sum(ordered) / len(ordered),
        "mean_lowest_95": sum(lowest) / len(lowest),
        "p50": percentile(ordered, 0.50),
        "p90": percentile(ordered, 0.90),
        "p95": percentile(ordered, 0.95),
        "p99": percentile(ordered, 0.99),
        "p99_9": percentile(ordered, 0.999),
        "max": ordered[-1],
    }
