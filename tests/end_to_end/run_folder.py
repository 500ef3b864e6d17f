# SPDX-License-Identifier: GPL-3.0-or-later
"""A run folder read with nothing but Python: logs to rows, rows to figures. Shares no code with the programs it checks."""
import json
import math
import pathlib


class Log:
    """One service log: `#` lines, the last of which names the columns, then tab-separated lines. `rows` are what is measured; what is flagged
    as warm-up stands apart."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.header, self.footer, self.rows, self.warm_up = [], [], [], []
        columns = None
        for line in self.path.read_text().splitlines():
            if line.startswith("#"):
                (self.footer if self.rows or self.warm_up else self.header).append(line)
                continue
            if columns is None:
                columns = next(line for line in reversed(self.header) if "\t" in line).lstrip("# ").split("\t")  # a remark may follow
            values = line.split("\t")
            if len(values) != len(columns):
                raise ValueError(f"{path}: {len(values)} values for {len(columns)} columns: {line!r}")
            row = dict(zip(columns, values))
            (self.warm_up if "warm-up" in row["flags"].split(",") else self.rows).append(row)
        if columns is None and self.header:
            columns = [h for h in self.header if "\t" in h][-1].lstrip("# ").split("\t")
        self.columns = columns or []

    def numbers(self, column):
        return [int(row[column]) for row in self.rows]


class RunFolder:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.summary = json.loads((self.folder / "summary.json").read_text())
        self.senders = {number_of(p): Log(p) for p in sorted((self.folder / "senders").glob("S*.log"))}
        self.receivers = {number_of(p): Log(p) for p in sorted((self.folder / "receivers").glob("R*.log"))}
        settings = self.summary["settings"]
        self.broadcaster = settings["queue"]["mode"] == "broadcaster"
        self.as_fast_as_it_goes = settings["senders"]["delay_ms"] == 0


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
