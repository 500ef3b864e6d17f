#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""`n2nq-bench report`: the same numbers in summary, HTML, CSV, JSON and XLSX, cell by cell; figures in three forms; nothing from the network."""
import bisect
import csv
import html.parser
import json
import math
import re
import statistics
import struct
import subprocess
import unittest
import xml.etree.ElementTree as xml
import zipfile

from bench import BIN, DEADLINE_S, BenchCase
from run_folder import RunFolder

STUDENT_OF_THREE = 4.3027  # 97.5 %, two degrees of freedom
SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
FIGURES = {"latency": "latency_us", "latency from plan": "latency_from_plan_us", "lag": "lag_us", "delay": "delay_ms", "stage: in queue": "stages.in_queue_us"}


def report(*arguments):
    done = subprocess.run([BIN / "n2nq-bench", "report", *arguments], capture_output=True, text=True, timeout=DEADLINE_S * 3)
    return done


def number_or_text(text):
    try:
        return float(text)
    except ValueError:
        return text


def from_csv(path):
    with path.open(newline="") as file:
        rows = list(csv.reader(file))
    return rows[0], [[number_or_text(cell) if cell else None for cell in row] for row in rows[1:]]


class Tables(html.parser.HTMLParser):
    """id of a table → (columns, rows); also what would be loaded from elsewhere."""

    def __init__(self):
        super().__init__()
        self.tables, self.loaded, self.svgs, self.misread, self.grey = {}, [], 0, [], []
        self.table = self.cell = None

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.loaded += [value for name, value in attributes.items() if name in ("src", "href") and not value.startswith("#")]
        self.svgs += tag == "svg"
        if tag == "table":
            self.table = self.tables.setdefault(attributes["id"].removeprefix("table-"), ([], []))
        elif tag == "tr" and self.table:
            self.table[1].append([])
        elif tag in ("td", "th"):
            all_digits, _, doubt = (attributes.get("title") or "").partition(" (")
            self.cell = (tag, "number" in attributes.get("class", ""), all_digits)
            if "few" in attributes.get("class", ""):
                self.grey.append((float(all_digits), doubt.removesuffix(")")))
            self.text = ""

    def handle_data(self, data):
        if self.cell:
            self.text += data

    def handle_endtag(self, tag):
        if tag == "th":
            self.table[0].append(self.text)
        elif tag == "td":
            # What is read in words has its key in the title.
            self.table[1][-1].append(None if self.text == "–" else self.number() if self.cell[1] else self.cell[2] or self.text)
        if tag in ("td", "th"):
            self.cell = None
        if tag == "table":
            self.table = None

    def number(self):
        """All digits stand in the title; what is read is that, rounded to about three."""
        exact, read = float(self.cell[2] or self.text), float(self.text.replace("\u202f", ""))
        if abs(exact - read) > 0.006 * abs(exact) or (exact != int(exact) and len(self.text.replace("\u202f", "").lstrip("-0.")) > 9):
            self.misread.append((self.text, self.cell[2]))
        return exact

    def rows(self, name):
        return [row for row in self.tables[name][1] if row]


class Workbook:
    def __init__(self, path):
        self.zip = zipfile.ZipFile(path)
        shared = xml.fromstring(self.zip.read("xl/sharedStrings.xml"))
        self.shared = ["".join(text.text or "" for text in item.iter(SHEET + "t")) for item in shared]
        names = [sheet.get("name") for sheet in xml.fromstring(self.zip.read("xl/workbook.xml")).iter(SHEET + "sheet")]
        self.sheets = {name: self.read(f"xl/worksheets/sheet{i + 1}.xml") for i, name in enumerate(names)}
        self.charts = [name for name in self.zip.namelist() if re.fullmatch(r"xl/charts/chart\d+\.xml", name)]

    def read(self, path):
        cells = {}
        for cell in xml.fromstring(self.zip.read(path)).iter(SHEET + "c"):
            letters, row = re.fullmatch(r"([A-Z]+)(\d+)", cell.get("r")).groups()
            column = 0
            for letter in letters:
                column = column * 26 + ord(letter) - 64
            value = cell.find(SHEET + "v")
            if value is not None:
                cells[int(row) - 1, column - 1] = self.shared[int(value.text)] if cell.get("t") == "s" else float(value.text)
        return cells


class Report(BenchCase):
    def same(self, mine, theirs, where):
        if isinstance(mine, float) or isinstance(theirs, float):
            self.assertIsInstance(mine, (int, float), where)
            self.assertIsInstance(theirs, (int, float), where)
            # XLSX keeps 16 digits.
            self.assertTrue(abs(mine - theirs) <= 1e-14 * abs(mine), f"{where}: {mine} and {theirs}")
        else:
            self.assertEqual(mine if mine != "" else None, theirs if theirs != "" else None, where)

    def same_everywhere(self, folder):
        """Every cell of every table; gives the tables, the page and the workbook."""
        told = {table["id"]: table for table in json.loads((folder / "report.json").read_text())["tables"]}
        page = Tables()
        page.feed((folder / "report.html").read_text())
        book = Workbook(folder / "report.xlsx")

        compared = 0
        for name, table in told.items():
            columns, rows = from_csv(folder / "tables" / f"{name}.csv")
            self.assertEqual(columns, table["columns"], name)
            self.assertEqual(len(rows), len(table["rows"]), name)
            sheet = book.sheets[name[:31]]
            in_page = page.rows(name) if name in page.tables else None
            for r, row in enumerate(table["rows"]):
                for c, value in enumerate(row):
                    where = f"{name}, row {r}, {table['columns'][c]}"
                    value = float(value) if isinstance(value, int) and not isinstance(value, bool) else value
                    written = rows[r][c]
                    if isinstance(value, str) and isinstance(written, float):  # a text that looks like a number
                        written = value if number_or_text(value) == written else written
                    self.same(value, written, where + " (CSV)")
                    self.same(value, sheet.get((r + 1, c)), where + " (XLSX)")
                    if in_page is not None and table["columns"][c] != "remarks":  # there under the mouse, and below
                        self.same(value, in_page[r][c], where + " (HTML)")
                    compared += 1
        self.assertEqual(page.misread, [])
        return told, page, book, compared

    def test_the_same_numbers_in_all_of_them(self):
        folder = self.run_bench("quick", "--set", "senders.messages=60", "--set", "senders.delay_ms=10", "--set", "senders.amount=4")
        done = report(folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.strip(), str(folder / "report.html"))
        summary = json.loads((folder / "summary.json").read_text())
        told, page, book, compared = self.same_everywhere(folder)
        self.assertGreater(compared, 1000)

        # And they are those of the summary.
        columns, rows = told["figures"]["columns"], told["figures"]["rows"]
        for row in rows:
            if row[0] in FIGURES:
                of = summary
                for key in FIGURES[row[0]].split("."):
                    of = of[key]
                for column, value in zip(columns[2:], row[2:]):
                    if column != "remarks":
                        self.assertEqual(value, of.get(column), f"{row[0]} {column}")
        self.assertEqual({row[0]: row[1] for row in told["ledger"]["rows"]},
                         {key: value for key, value in summary["ledger"]["total"].items() if isinstance(value, (int, float)) and not isinstance(value, bool)})
        self.assertEqual({row[0] for row in told["settings"]["rows"]} & {"senders.amount", "queue.mode"}, {"senders.amount", "queue.mode"})
        hgrm = [line.split() for line in (folder / "latency.hgrm").read_text().splitlines()[2:] if not line.startswith("#")]
        by_percentile = {round(row[0], 6): row[1] for row in told["percentiles"]["rows"]}
        for words in hgrm[:-1]:
            if float(words[1]) <= 0.9999:
                self.assertEqual(by_percentile[round(float(words[1]) * 100, 6)], float(words[0]))
        self.assertEqual(sum(row[1] for row in told["histogram"]["rows"]), summary["latency_us"]["count"])
        self.assertEqual(sum(sum(row[1:]) for row in told["pairs-count"]["rows"]), summary["latency_us"]["count"])

        # Figures, in the page and as files.
        self.assertEqual(page.loaded, [])
        charts = sorted(path.stem for path in (folder / "charts").glob("*.svg"))
        self.assertEqual(page.svgs, len(charts))
        self.assertGreaterEqual(set(charts), {"percentiles", "histogram", "cdf", "stages", "latency-over-time", "receivers", "pairs-p50"})
        for name in charts:
            xml.fromstring((folder / "charts" / f"{name}.svg").read_text())
            png = (folder / "charts" / f"{name}.png").read_bytes()
            at = png.index(b"pHYs") + 4
            self.assertEqual(struct.unpack(">IIB", png[at:at + 9]), (11811, 11811, 1), "300 dpi")
            self.assertTrue((folder / "charts" / f"{name}.pdf").read_bytes().startswith(b"%PDF"))
        self.assertGreaterEqual(len(book.charts), 6, "native charts")

    def test_the_cdf_is_that_of_the_logs(self):
        folder = self.run_bench("quick", "--set", "senders.messages=100", "--set", "senders.delay_ms=10")
        self.assertEqual(report(folder).returncode, 0)
        [cdf] = [table for table in json.loads((folder / "report.json").read_text())["tables"] if table["id"] == "cdf"]
        latencies_us = sorted(float(row["latency_us"]) for log in RunFolder(folder).receivers.values() for row in log.rows)
        share = lambda us: bisect.bisect_right(latencies_us, us) / len(latencies_us) * 100
        self.assertGreater(len(cdf["rows"]), 20)
        # On the line between two points, too.
        middles = [(math.sqrt(a[0] * b[0]), (a[1] + b[1]) / 2) for a, b in zip(cdf["rows"], cdf["rows"][1:])]
        for us, percent in cdf["rows"] + middles:
            self.assertTrue(share(us * 0.985) - 1e-6 <= percent <= share(us * 1.015) + 1e-6, (us, percent, share(us)))

    def test_times_that_are_less_than_their_bound_are_said_to_be(self):
        folder = self.run_bench("quick", "--set", "senders.messages=30", "--set", "senders.delay_ms=10")
        summary = json.loads((folder / "summary.json").read_text())
        to_broker, to_receiver = (summary["stages"][f"{stage}_us"] for stage in ("to_broker", "to_receiver"))
        for figures in (summary["latency_us"], to_receiver):
            figures["bound_us"] = 0.001
        to_broker["bound_us"] = 1e6
        (folder / "summary.json").write_text(json.dumps(summary))
        self.assertEqual(report(folder).returncode, 0)
        text = (folder / "report.html").read_text()
        page = Tables()
        page.feed(text)
        less = {value for value, doubt in page.grey if "the clocks tell nothing finer" in doubt}
        self.assertEqual(less, {to_broker[key] for key in ("mean", "mean_lowest_95", "min", "p50", "p90", "p95", "p99", "p99_9", "max")}, "of it alone, few samples or not")
        words = "less than its ±: the clocks tell nothing finer"
        self.assertRegex(text, f"Grey: [^<]*{words}")
        # In files, where no mouse asks: of which columns, in words.
        self.same_everywhere(folder)
        columns, rows = from_csv(folder / "tables" / "figures.csv")
        self.assertEqual(columns[-1], "remarks")
        said = {row[0]: [part for part in (row[-1] or "").split("; ") if part.endswith(words)] for row in rows}
        self.assertEqual({name: parts for name, parts in said.items() if parts},
                         {"stage: to broker": [f"mean, mean_lowest_95, min, p50, p90, p95, p99, p99_9, max: {words}"]})
        columns, rows = from_csv(folder / "tables" / "stages.csv")
        self.assertIn(words, rows[1][columns.index("remarks")])
        self.assertEqual([row[0] for row in rows if row[columns.index("remarks")]], ["to N2NQ"])
        # Where both groups share a clock and N2NQ does not, stages alone have one.
        del summary["latency_us"]["bound_us"]
        (folder / "summary.json").write_text(json.dumps(summary))
        self.assertEqual(report(folder).returncode, 0)
        columns, rows = from_csv(folder / "tables" / "figures.csv")
        bounds = {row[0]: row[columns.index("clocks ±")] for row in rows}
        self.assertEqual({name: bound for name, bound in bounds.items() if bound},
                         {"stage: to broker": 1e6, "stage: to receiver": 0.001}, bounds)
        # Where nobody knows how far the clocks are apart.
        to_broker["bound_us"] = None
        (folder / "summary.json").write_text(json.dumps(summary))
        self.assertEqual(report(folder).returncode, 0)
        self.same_everywhere(folder)
        columns, rows = from_csv(folder / "tables" / "figures.csv")
        row = next(row for row in rows if row[0] == "stage: to broker")
        self.assertEqual(row[columns.index("clocks ±")], "?")
        self.assertIn("between two clocks, and not known how far they are apart", row[columns.index("remarks")])

    def test_latencies_near_the_floor_are_grey(self):
        few, near = "fewer than 10 samples above it", "below twice what an echo over loopback took there"
        done = subprocess.run([BIN / "n2nq-bench", "run", "quick", "--set", "senders.messages=30", "--set", "senders.delay_ms=10", "--out", self.folder / "run"],
                              capture_output=True, text=True, timeout=DEADLINE_S * 3)
        self.assertEqual(done.returncode, 0, done.stderr)
        file = self.folder / "run" / "summary.json"
        summary = json.loads(file.read_text())
        floors = summary["environment"]["floor"]
        # A group's is unknown where an echo took too long; without any, nothing is below.
        floor_us = max(floors[group]["loopback_echo_p50_ns"] or 0 for group in ("senders", "receivers")) / 1000
        line = next(line for line in done.stdout.splitlines() if line.startswith("latency  "))
        columns = {"mean": "mean", "lowest 95%": "mean_lowest_95", "p50": "p50", "p90": "p90", "p95": "p95", "p99": "p99", "p99.9": "p99_9", "max": "max"}
        below = [name for name, key in columns.items() if summary["latency_us"][key] < 2 * floor_us]
        self.assertEqual(line.rpartition(" µs): ")[2].split(", ") if "below twice the floor" in line else [], below, line)

        def values(figures):
            return [value for key, value in figures.items() if key in ("mean", "mean_lowest_95", "min", "p50", "p90", "p95", "p99", "p99_9", "max")]
        latencies = [*values(summary["latency_us"]), *values(summary["latency_from_plan_us"])]
        for floor_us in (0.001, sorted(latencies)[len(latencies) // 2] / 2, 1e6):
            for group in ("senders", "receivers"):
                floors[group]["loopback_echo_p50_ns"] = floor_us * 1000
            file.write_text(json.dumps(summary))
            self.assertEqual(report(self.folder / "run").returncode, 0)
            page = Tables()
            page.feed((self.folder / "run" / "report.html").read_text())
            grey = [value for value, doubt in page.grey if near in doubt]
            self.assertTrue(all(doubt.startswith((few, near)) for _, doubt in page.grey), page.grey)
            below = [value for value in latencies if value < 2 * floor_us]
            self.assertLessEqual(set(below), set(grey), "few samples or not")
            self.assertTrue(all(value < 2 * floor_us for value in grey), (floor_us, grey))
            self.assertEqual(bool(grey), floor_us > 0.001)

    def test_latencies_of_a_case_near_the_floor_are_grey(self):
        case = self.folder / "sweep.yaml"
        case.write_text("""format: 1
title: Sweep
settings: { senders: { messages: 10, delay_ms: 5 } }
axes:
  services: { title: Services, keys: [senders.amount, receivers.amount], values: [1, 2] }
figures:
  - { id: fig-1, title: Latency, x: services, y: latency_us.mean_lowest_95 }
  - { id: fig-2, title: In queue, x: services, y: stages.in_queue_us.mean }
""")
        sweep = self.folder / "sweep"

        def told(*arguments):
            done = subprocess.run([BIN / "n2nq-bench", "case", case, "--out", sweep, *arguments], capture_output=True, text=True,
                                  timeout=DEADLINE_S * 3)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            return done.stdout
        told()
        sentence = "below twice the floor of its runs, an echo over loopback"
        for floor_us in (0.001, 1e6):
            is_near = floor_us == 1e6
            latencies = []
            for file in sweep.glob("runs/*/summary.json"):
                summary = json.loads(file.read_text())
                latencies.append(summary["latency_us"]["mean_lowest_95"])
                for group in ("senders", "receivers"):
                    summary["environment"]["floor"][group]["loopback_echo_p50_ns"] = floor_us * 1000
                file.write_text(json.dumps(summary))
            self.assertEqual(len(latencies), 2)
            page = told("--resume")
            latency, in_queue = page.split("fig-2")
            self.assertEqual((latency.count("(floor 1 000 000)"), latency.count(sentence)), (2, 1) if is_near else (0, 0), page)
            self.assertNotIn("floor", in_queue.partition("runs     ")[0])
            self.assertEqual(report(sweep).returncode, 0)
            text = (sweep / "report.html").read_text()
            tables = Tables()
            tables.feed(text)
            self.assertEqual(sorted(value for value, _ in tables.grey), sorted(latencies) if is_near else [])
            self.assertTrue(all(doubt.startswith("below twice its floor") for _, doubt in tables.grey))
            self.assertEqual("Grey: below twice its floor, an echo over loopback: it says more about the machine than about the queue." in text, is_near)
            self.assertEqual(">Grey: below twice the floor" in text, is_near, "below the figure")
            runs = next(table for table in json.loads((sweep / "report.json").read_text())["tables"] if table["id"] == "runs")
            self.assertEqual([row[runs["columns"].index("floor (µs)")] for row in runs["rows"]], [floor_us] * 2)

    def test_a_case_has_the_same_numbers_in_all_of_them(self):
        case = self.folder / "sweep.yaml"
        case.write_text("""format: 1
title: Sweep
settings: { senders: { messages: 10, delay_ms: 5 } }
axes:
  services: { title: Services, keys: [senders.amount, receivers.amount], values: [1, 2] }
  size: { title: Message size, key: senders.size_bytes, unit: kB, divide: 1000, values: [100, 4000] }
repeats: 3
figures:
  - { id: fig-1, title: Latency by size, x: size, y: latency_us.mean_lowest_95, series: services }
  - { id: fig-2, title: Percentiles, kind: percentiles, series: services, where: { size: 4 kB } }
""")
        done = subprocess.run([BIN / "n2nq-bench", "case", case, "--out", self.folder / "sweep"], capture_output=True, text=True,
                              timeout=DEADLINE_S * 3)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertEqual(report(self.folder / "sweep").returncode, 0)
        told, page, book, _ = self.same_everywhere(self.folder / "sweep")
        self.assertEqual(told["fig-1"]["columns"][:2], ["Message size (kB)", "Services 1 (µs)"])
        self.assertEqual([row[0] for row in told["fig-1"]["rows"]], [0.1, 4])
        self.assertEqual(len(told["runs"]["rows"]), 12)
        self.assertEqual(len(book.charts), 2)
        self.assertEqual(page.svgs, 2)
        # The figure's points are medians of what the runs' own summaries say.
        for x, point in zip((0.1, 4), (row[1] for row in told["fig-1"]["rows"])):
            values = sorted(row[3] for row in told["runs"]["rows"] if row[0] == f"1, {x:g} kB")
            self.assertEqual(len(values), 3)
            self.assertEqual(point, values[1])

    def test_a_case_over_other_values_is_said_to_be_left_out(self):
        case = self.folder / "sweep.yaml"
        case.write_text("""format: 1
title: Sweep
settings: { senders: { messages: 5, delay_ms: 5 } }
axes:
  mode:
    title: Mode
    values:
      quick: [{ name: broadcaster, set: { queue.mode: broadcaster } }]
      thesis: [{ name: broadcaster, set: { queue.mode: broadcaster } }, { name: load balancer, set: { queue.mode: load-balancer } }]
figures:
  - { id: fig-1, title: Latency, x: mode, y: latency_us.mean_lowest_95 }
""")
        sides = [self.folder / f"20%3 {scale}" for scale in ("quick", "thesis")]
        for side in sides:
            done = subprocess.run([BIN / "n2nq-bench", "case", case, "--scale", side.name.split()[1], "--out", side], capture_output=True, text=True,
                                  timeout=DEADLINE_S * 3)
            self.assertIn(done.returncode, (0, 1), done.stderr)
        done = report(*sides, "--out", self.folder / "both")
        self.assertEqual(done.returncode, 0, done.stderr)
        text = (self.folder / "both" / "report.html").read_text()
        self.assertIn("B: drawn over other values, left out.", text)
        self.assertIn("A: 20%3 quick, 1 run", text)

    def test_several_runs_overlaid(self):
        folders = [self.run_bench("quick", "--set", "senders.messages=30", "--set", "senders.delay_ms=10", "--set", f"queue.mode={mode}", out=mode)
                   for mode in ("broadcaster", "load-balancer")]
        done = report(*folders, "--out", self.folder / "both")
        self.assertEqual(done.returncode, 0, done.stderr)
        told = {table["id"]: table for table in json.loads((self.folder / "both" / "report.json").read_text())["tables"]}
        p50 = self.compared(told, "latency_us.p50")
        for side, folder in zip("AB", folders):
            self.assertEqual(p50[side], json.loads((folder / "summary.json").read_text())["latency_us"]["p50"])
        self.assertEqual(p50["B against A"], "under 5 repeats: no statement")
        self.assertAlmostEqual(p50["B − A (%)"], (p50["B"] / p50["A"] - 1) * 100, places=6)
        self.assertEqual([row[0] for row in told["settings"]["rows"]], ["queue.mode"])

    def compared(self, told, figure):
        table = told["comparison"]
        return dict(zip(table["columns"], next(row for row in table["rows"] if row[0] == figure)))

    def test_a_folder_of_runs_is_drawn_by_what_they_differ_in(self):
        for senders in (1, 4):
            for repeat in range(3):
                self.run_bench("quick", "--set", "senders.messages=10", "--set", "senders.delay_ms=10", "--set", f"senders.amount={senders}",
                               out=f"sweep/{senders}-{repeat}")
        done = report(self.folder / "sweep", "--out", self.folder / "drawn")
        self.assertEqual(done.returncode, 0, done.stderr)
        told = {table["id"]: table for table in json.loads((self.folder / "drawn" / "report.json").read_text())["tables"]}
        drawn = told["latency-us-p50"]
        # Behind them there may be remarks, where it is near the floor.
        self.assertEqual(drawn["columns"][:4], ["senders.amount", "Latency, median (µs)", "Latency, median, 95 % from (µs)", "Latency, median, to (µs)"])
        self.assertEqual([row[0] for row in drawn["rows"]], [1, 4])
        for senders, middle, low, high, *_ in drawn["rows"]:
            samples = [json.loads((self.folder / "sweep" / f"{senders:.0f}-{repeat}" / "summary.json").read_text())["latency_us"]["p50"] for repeat in range(3)]
            self.assertAlmostEqual(middle, sum(samples) / 3, places=6, msg="of three none is left out")
            half = STUDENT_OF_THREE * statistics.stdev(samples) / math.sqrt(3)
            self.assertAlmostEqual(low, max(0, middle - half), delta=1e-4 * half + 1e-6)
            self.assertAlmostEqual(high, middle + half, delta=1e-4 * half + 1e-6)
        # The same runs named one by one: repeats of two sides, the middle run of each in full.
        runs = [self.folder / "sweep" / f"{senders}-{repeat}" for repeat in range(3) for senders in (1, 4)]
        done = report(*runs, "--out", self.folder / "named")
        self.assertEqual(done.returncode, 0, done.stderr)
        named = json.loads((self.folder / "named" / "report.json").read_text())
        told = {table["id"]: table for table in named["tables"]}
        self.assertEqual(sum(column.startswith("B against") for column in told["comparison"]["columns"]), 1, told["comparison"]["columns"])
        p50 = self.compared(told, "latency_us.p50")
        for side, (_, middle, *_) in zip("AB", drawn["rows"]):
            self.assertAlmostEqual(p50[side], middle, places=9)
        self.assertTrue((self.folder / "named" / "charts" / "percentiles.svg").exists())

    def test_a_run_without_logs_says_what_is_missing(self):
        folder = self.run_bench("quick", "--set", "senders.messages=5", "--set", "senders.delay_ms=10", "--set", "log=off")
        self.assertEqual(report(folder).returncode, 0)
        self.assertIn("wrote no logs (log: off)", (folder / "report.html").read_text())
        self.assertTrue((folder / "charts" / "percentiles.svg").exists())

    def test_what_the_logs_do_not_hold_is_not_drawn(self):
        few = ("--set", "senders.messages=5", "--set", "senders.delay_ms=10")
        folder = self.run_bench("quick", *few, "--set", "log=sampled", out="sampled")
        self.assertEqual(report(folder).returncode, 0)
        self.assertIn("rates and copies under way are not drawn", (folder / "report.html").read_text())
        self.assertFalse((folder / "charts" / "rates-over-time.svg").exists())
        self.assertFalse((folder / "charts" / "in-flight-over-time.svg").exists())
        folder = self.run_bench("quick", *few, out="whole")
        self.assertEqual(report(folder).returncode, 0)
        self.assertTrue((folder / "charts" / "rates-over-time.svg").exists())
        self.assertNotIn("never came", (folder / "report.html").read_text())
        log = sorted((folder / "receivers").glob("R*.log"))[0]  # as if one had come twice, and two not at all
        lines = log.read_text().splitlines(keepends=True)
        rows = [i for i, line in enumerate(lines) if line[0].isdigit()]
        lines[rows[1]] = lines[rows[2]] = lines[rows[0]]
        log.write_text("".join(lines))
        self.assertEqual(report(folder).returncode, 0)
        self.assertIn("2 copies never came: here they are under way to the end", (folder / "report.html").read_text())

    def test_logs_that_are_not_here_are_not_drawn_as_nothing(self):
        few = ("--set", "senders.messages=5", "--set", "senders.delay_ms=10", "--set", "senders.amount=2", "--set", "receivers.amount=2")
        folder = self.run_bench("quick", *few)
        file = folder / "summary.json"
        summary = json.loads(file.read_text())
        drawn = folder / "charts" / "in-flight-over-time.svg"

        def is_drawn():
            drawn.unlink(missing_ok=True)
            self.assertEqual(report(folder).returncode, 0)
            self.assertNotIn("never came", (folder / "report.html").read_text())
            return drawn.exists()
        self.assertTrue(is_drawn())
        summary["services"]["senders"][1]["unnoted"] = 3
        file.write_text(json.dumps(summary))
        self.assertFalse(is_drawn(), "a sender was killed and had not noted all")
        columns, rows = from_csv(folder / "tables" / "senders.csv")
        self.assertEqual([row[columns.index("unnoted")] for row in rows], [None, 3], "though the first one has none")
        del summary["services"]["senders"][1]["unnoted"]
        file.write_text(json.dumps(summary))
        self.assertTrue(is_drawn())
        log = sorted((folder / "receivers").glob("R*.log"))[1]
        text = log.read_text()
        log.unlink()
        self.assertFalse(is_drawn(), "a receiver's log lies elsewhere")
        log.write_text(text)
        self.assertTrue(is_drawn())
        for log in (folder / "senders").glob("S*.log"):
            log.unlink()
        self.assertFalse(is_drawn(), "the senders' logs lie elsewhere")

    def test_a_run_that_others_disturbed_says_so_on_top(self):
        folder = self.run_bench("quick", "--set", "senders.messages=5", "--set", "senders.delay_ms=10")
        summary = json.loads((folder / "summary.json").read_text())
        summary["environment"]["disturbed"] = ["others took 40 % of this machine"]
        (folder / "summary.json").write_text(json.dumps(summary))
        self.assertEqual(report(folder).returncode, 0)
        self.assertIn("<li>disturbed: others took 40 % of this machine</li>", (folder / "report.html").read_text())

    def test_bad_input_is_named(self):
        done = report(self.folder / "nothing")
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no such folder", done.stderr)


if __name__ == "__main__":
    unittest.main()
