#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recomputes a run folder from its service logs and says where summary.json differs. Exit 0: agrees, 1: differs.

    verify_run.py FOLDER

Shares no code with the programs: counts, sets and percentiles are worked out here from the raw stamps in the logs. Needs `log: all`.
"""
import sys

from run_folder import RunFolder, figures

RELATIVE = 0.001  # what the histograms promise for totals
RELATIVE_SERVICE = 0.01  # and per service
ROUNDING = 0.0011  # summary figures carry three decimals


class Check:
    def __init__(self):
        self.differences = []
        self.compared = 0

    def equal(self, what, mine, theirs):
        self.compared += 1
        if mine != theirs:
            self.differences.append(f"{what}: logs say {mine}, summary says {theirs}")

    def near(self, what, mine, theirs, relative):
        self.compared += 1
        if theirs is None or abs(mine - theirs) > abs(mine) * relative + ROUNDING:
            self.differences.append(f"{what}: logs say {mine}, summary says {theirs}")

    def figures(self, what, samples, theirs, unit_ns, relative):
        mine = figures(samples)
        self.equal(f"{what}.count", mine["count"], theirs["count"])
        for name in mine:
            if name != "count":
                exact = name in ("mean", "max")
                self.near(f"{what}.{name}", mine[name] / unit_ns, theirs[name], 1e-9 if exact else relative)


def latencies(log):
    return [r - s + log.clocks.between(s, r, place) for r, s, place in zip(log.numbers("received_ns"), log.numbers("sent_ns"), log.places)]


def latencies_from_plan(log):
    return [latency + s - i for latency, s, i in zip(latencies(log), log.numbers("sent_ns"), log.numbers("intended_ns"))]


def logged_latencies(log):
    return nanoseconds(log, "latency_us")


def nanoseconds(log, column):
    return [round(float(row[column]) * 1000) for row in log.rows]


def lags(log):
    return [s - i for s, i in zip(log.numbers("sent_ns"), log.numbers("intended_ns"))]


def delays(log):
    """Gaps; there is none across messages that a killed process sent and did not note."""
    sent, index = log.numbers("sent_ns"), log.numbers("index")
    return [sent[i] - sent[i - 1] for i in range(1, len(sent)) if index[i] == index[i - 1] + 1]


def keys_of(rows, number=None):
    """(sender, index) of each row; `number` is the sender's where the rows do not name it."""
    return {(int(row.get("sender", number)), int(row["index"])) for row in rows}


def check_figures(check, run):
    summary, services = run.summary, run.summary["services"]
    planned = not run.as_fast_as_it_goes
    for name, unit_ns, logs, samples, of_plan in [
        ("latency_us", 1e3, run.receivers, latencies, False),
        ("latency_from_plan_us", 1e3, run.receivers, latencies_from_plan, True),
        ("delay_ms", 1e6, run.senders, delays, False),
        ("lag_us", 1e3, run.senders, lags, True),
    ]:
        if of_plan and not planned:
            check.equal(f"{name}.count", 0, summary[name]["count"])
            continue
        everything = []
        rows = services["receivers" if logs is run.receivers else "senders"]
        by_number = {row["number"]: row for row in rows}
        check.equal(f"services with {name}", sorted(logs), sorted(by_number))
        for number, log in logs.items():
            if number not in by_number:
                continue  # told above
            mine = samples(log)
            everything += mine
            check.figures(f"services {log.path.stem} {name}", mine, by_number[number][name], unit_ns, RELATIVE_SERVICE)
        check.figures(name, everything, summary[name], unit_ns, RELATIVE)
    stages = summary["stages"]
    by_number = {row["number"]: row["stages"] for row in services["receivers"]}
    for stage in ("lag_us", "to_broker_us", "in_queue_us", "to_receiver_us"):
        if stage == "lag_us" and not planned:
            check.equal("stages.lag_us.count", 0, stages[stage]["count"])
            continue
        everything = []
        for number, log in run.receivers.items():
            if number not in by_number:
                continue  # told above
            mine = lags(log) if stage == "lag_us" else nanoseconds(log, stage)
            everything += mine
            check.figures(f"services {log.path.stem} {stage}", mine, by_number[number][stage], 1e3, RELATIVE_SERVICE)
        check.figures(f"stages {stage}", everything, stages[stage], 1e3, RELATIVE)
    if planned and stages["in_queue_us"]["count"] > 0:
        added = sum(stages[s]["mean"] for s in ("lag_us", "to_broker_us", "in_queue_us", "to_receiver_us"))
        check.near("sum of the stages' means", added, summary["latency_from_plan_us"]["mean"], 1e-6)


def check_clocks(check, run):
    """The column latency_us is what raw stamps and the lines between the clocks make, to the nanosecond."""
    for log in run.receivers.values():
        others = sum(a != b for a, b in zip(latencies(log), logged_latencies(log)))
        check.equal(f"{log.path.stem} lines whose latency_us is something else", 0, others)
        parts = zip(*(nanoseconds(log, stage) for stage in ("to_broker_us", "in_queue_us", "to_receiver_us")))
        wrong = sum(sum(three) != whole for three, whole in zip(parts, logged_latencies(log)))
        check.equal(f"{log.path.stem} lines whose stages do not add up", 0, wrong)


def check_answers(check, run):
    for row in run.summary["services"]["receivers"]:
        log = run.receivers[row["number"]]
        for word, count in [("confirmed", "confirmed"), ("refused", "answered_negatively")]:
            mine = sum(word in line["flags"].split(",") for line in log.rows)
            check.equal(f"{log.path.stem} {count}", mine, row[count])


def check_negative(check, run):
    """Latencies below zero are marked, and counted of each receiver; those of the warm-up are in no count."""
    for row in run.summary["services"]["receivers"]:
        log = run.receivers[row["number"]]
        marked = ["negative" in line["flags"].split(",") for line in log.rows]
        below_zero = [latency < 0 for latency in latencies(log)]
        check.equal(f"{log.path.stem} lines that are marked as negative and are not, or are and are not marked", 0,
                    sum(a != b for a, b in zip(marked, below_zero)))
        check.equal(f"{log.path.stem} negative", sum(below_zero), row["negative"])


def unnoted_messages(run):
    return any(row.get("unnoted") for row in run.summary["services"]["senders"])


def bytes_of(logs):
    return sum(sum(log.numbers("size")) for log in logs.values())


def check_rates(check, run):
    gaps_of_each = [list(delays(log)) for log in run.senders.values() if log.rows]
    still = {row["number"]: row.get("stood_still_ns", 0) for row in run.summary["services"]["senders"]}  # until the stop: no log tells of it
    still_of_each = [still[number] for number, log in run.senders.items() if log.rows]
    gaps = [gap for own in gaps_of_each for gap in own]
    if sum(gaps) == 0 or unnoted_messages(run):  # nobody sent twice, or all in one instant
        return
    sent = sum(len(log.rows) for log in run.senders.values())
    mean_gap = sum(gaps) / len(gaps)
    own_gaps = [min(sum(own) / len(own), mean_gap) if own else mean_gap for own in gaps_of_each]
    took = [sum(own) + max(gap, still) for own, gap, still in zip(gaps_of_each, own_gaps, still_of_each)]
    ended_last = [one for one, gap in zip(took, own_gaps) if max(took) - one <= 1.5 * gap]
    over_s = max(mean_gap * sent / len(run.senders), sum(ended_last) / len(ended_last)) / 1e9
    rates = run.summary["rates"]
    check.near("rates over_s", over_s, rates["over_s"], 1e-6)
    check.near("rates sent_per_s", sent / over_s, rates["sent_per_s"], 1e-6)
    deliveries = sum(len(log.rows) for log in run.receivers.values())
    microsecond = 1e-6 / rates["received_over_s"]  # what it is rounded to, of a time that may be short
    check.near("rates received_per_s", deliveries / rates["received_over_s"], rates["received_per_s"], max(1e-6, microsecond))
    check.near("rates sent_bytes_per_s", bytes_of(run.senders) / over_s, rates["sent_bytes_per_s"], 1e-6)
    check.near("rates received_bytes_per_s", bytes_of(run.receivers) / rates["received_over_s"], rates["received_bytes_per_s"],
               max(1e-6, microsecond))
    check.equal("rates received_over_s is at least over_s", rates["received_over_s"] >= rates["over_s"], True)


def check_ledger(check, run):
    """What is measured, and what was warm-up: the same sums, each for itself."""
    ledger = run.summary["ledger"]
    check_part(check, run, "", lambda log: log.rows, ledger["total"], unnoted_messages(run))
    check.equal("messages before message 0 that are not flagged", 0, sum(index < 0 for index in indexes(run, lambda log: log.rows)))
    check.equal("messages from 0 on that are flagged as warm-up", 0, sum(index >= 0 for index in indexes(run, lambda log: log.warm_up)))
    check.equal("warm-up has an account", run.summary["settings"]["senders"]["warmup_messages"] > 0, "warmup" in ledger)
    if "warmup" in ledger:
        check_part(check, run, "warm-up: ", lambda log: log.warm_up, ledger["warmup"], unnoted_messages(run))
    check_sender_rows(check, run)
    check_receiver_rows(check, run)


NOT_DELIVERED = ("expired", "unrequested", "parked", "cut_off", "still_queued", "lost")


def tag_counts(rows):
    """What a receiver counts of its deliveries, none of which came damaged."""
    flags = [row["flags"].split(",") for row in rows]
    alike = ("redelivered", "out_of_order", "negative", "unasked")
    counts = {key: sum(key.replace("_", "-") in words for words in flags) for key in alike}
    counts["received"] = len(rows)
    counts["duplicated"] = sum("duplicate" in words for words in flags)
    counts["duplicated_unflagged"] = sum("duplicate" in words and not {"redelivered", "overtaken"} & set(words) for words in flags)
    return counts


def ledger_rows(check, run, group, logs):
    """Of each service of the group its line in the ledger, its line among the services, and its log; who lacks one is told above."""
    lines = run.summary["ledger"][group]
    told = {row["number"]: row for row in run.summary["services"][group]}
    check.equal(f"ledger's {group}", sorted(logs), [row["number"] for row in lines])
    return [(row, told[row["number"]], logs[row["number"]]) for row in lines if row["number"] in logs and row["number"] in told]


def check_sender_rows(check, run):
    ledger = run.summary["ledger"]
    for row, service, log in ledger_rows(check, run, "senders", run.senders):
        name = f"ledger's S{row['number']:03}"
        unnoted, lines = service.get("unnoted", 0), len(log.rows)
        check.equal(f"{name} attempted what its log holds", True, lines <= row["attempted"] <= lines + unnoted)
        parts = row["accepted"] + row["refused"] + row["lost_before_queue"] + row["unexplained"]
        check.equal(f"{name} attempted, added up", parts, row["attempted"])
        for key in ("attempted", "accepted", "refused", "lost_before_queue"):
            check.equal(f"services {name} {key}", row[key], service[key])
    for key in ("attempted", "accepted", "refused", "lost_before_queue"):
        check.equal(f"{key} of all senders", sum(row[key] for row in ledger["senders"]), ledger["total"][key])


def check_receiver_rows(check, run):
    ledger = run.summary["ledger"]
    for row, service, log in ledger_rows(check, run, "receivers", run.receivers):
        name = f"ledger's R{row['number']:03}"
        counts = tag_counts(log.rows)
        for key, mine in counts.items():
            check.equal(f"{name} {key}", mine, row[key])
        if run.broadcaster:
            check.equal(f"{name} accepted", ledger["total"]["accepted"], row["accepted"])
            parts = row["delivered"] + sum(row[key] for key in NOT_DELIVERED) + row["unexplained"]
            check.equal(f"{name} accepted, added up", parts, row["accepted"])
        else:
            check.equal(f"{name} delivered", counts["received"] - counts["duplicated"], row["delivered"])
        if row["handed_over"] is not None:
            check.equal(f"services {name} handed_over", row["handed_over"], service["handed_over"])
        if row["handed_over"]:
            check.equal(f"{name} handed over, added up", len(log.rows) + row["not_received"], row["handed_over"])
    if run.broadcaster:
        for key in ("delivered", *NOT_DELIVERED, "parked_delivered", "unexplained"):
            check.equal(f"{key} of all receivers", sum(row[key] for row in ledger["receivers"]), ledger["total"][key])


def indexes(run, rows_of):
    return [int(row["index"]) for logs in (run.senders, run.receivers) for log in logs.values() for row in rows_of(log)]


def check_part(check, run, name, rows_of, total, some_unnoted):
    sent = set()
    for number, log in run.senders.items():
        mine = keys_of(rows_of(log), number)
        check.equal(f"{name}messages of {log.path.stem} logged twice", len(rows_of(log)) - len(mine), 0)
        sent |= mine
    copies = {number: keys_of(rows_of(log)) for number, log in run.receivers.items()}
    # What a killed group of senders had sent and not noted yet stands in no log of its own; the receivers may know it.
    unnoted = total["attempted"] - len(sent) if some_unnoted else 0
    known = set().union(*copies.values()) - sent if unnoted else set()
    sent |= known if len(known) <= unnoted else set()
    unseen = unnoted - len(known)
    check.equal(f"{name}attempted", len(sent) + unseen, total["attempted"])

    delivered_rows = sum(len(rows_of(log)) for log in run.receivers.values())
    check.equal(f"{name}delivered + duplicated", delivered_rows, total["delivered"] + total["duplicated"])
    unexpected = sum(len(got - sent) for got in copies.values())
    check.equal(f"{name}unexpected", unexpected, total["unexpected"])
    if run.broadcaster:
        check.equal(f"{name}delivered", sum(len(got) for got in copies.values()), total["delivered"])
        missing = sum(len(sent - got) + unseen for got in copies.values())
    else:
        union = set().union(*copies.values()) if copies else set()
        check.equal(f"{name}delivered", len(union), total["delivered"])
        missing = len(sent - union) + unseen
    explained = sum(total[k] for k in ("expired", "unrequested", "parked", "cut_off", "still_queued", "lost"))
    not_accepted = (total["attempted"] - total["accepted"]) * (len(copies) if run.broadcaster else 1)
    check.equal(f"{name}copies that no receiver logged", missing, explained + not_accepted)
    check.equal(f"{name}unexplained", 0, total["unexplained"])
    check.equal(f"{name}accepted_copies", total["accepted"] * (len(copies) if run.broadcaster else 1), total["accepted_copies"])
    for key, mine in tag_counts([row for log in run.receivers.values() for row in rows_of(log)]).items():
        check.equal(f"{name}{key}", mine, total[key])


def check_master_file(check, run):
    master = run.summary["messages_tsv"]
    if master["cut"] or master["limit_mib"] == 0:
        return
    lines = [l for l in (run.folder / "messages.tsv").read_text().splitlines() if not l.startswith("#")]
    columns = lines[0].split("\t")
    rows = [dict(zip(columns, line.split("\t"))) for line in lines[1:]]
    check.equal("lines of messages.tsv", len(rows), sum(len(log.rows) + len(log.warm_up) for log in run.receivers.values()))
    if run.summary["environment"]["offsets"]["receivers_to_broker"].get("jumps"):
        return  # there is no order by a clock that went back
    received = [int(row["received_ns"]) for row in rows]
    check.equal("messages.tsv ordered by receive time", sorted(received) == received, True)


def verify(folder):
    run = RunFolder(folder)
    logs = run.summary["logs"]
    dropped = sum(logs[group]["dropped"] for group in ("senders", "receivers") if logs.get(group))
    if logs["mode"] != "all" or dropped:
        raise SystemExit(f"{folder}: the logs do not hold every message (log: {logs['mode']}, {dropped} lines dropped), so they cannot be checked")
    check = Check()
    check_figures(check, run)
    check_clocks(check, run)
    check_answers(check, run)
    check_negative(check, run)
    check_rates(check, run)
    check_ledger(check, run)
    check_master_file(check, run)
    return check


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: verify_run.py FOLDER")
    result = verify(sys.argv[1])
    for difference in result.differences:
        print(difference)
    print(f"{result.compared} figures compared, {len(result.differences)} differ")
    sys.exit(1 if result.differences else 0)
