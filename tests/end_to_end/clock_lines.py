# SPDX-License-Identifier: GPL-3.0-or-later
"""The lines between clocks that a run's logs were written by, held against what nobody in the run knows: how far the clocks are apart."""
ROUNDED_NS = 1  # of a line, which is cut off to whole nanoseconds


def check_lines(test, run, clocks_ns):
    """Each line that was told was as good as it said when it was told, and wherever it was used no worse than the result says. Returns how many
    lines these are. clocks_ns: by role, how far ahead of this machine's clock that of its host is, all the time."""
    apart_ns = {role: clocks_ns["broker"] - clocks_ns[role] for role in ("senders", "receivers")}
    told = {}  # all logs of a group have the same ones, and receivers' have the senders', too
    for group, logs in (("senders", run.senders), ("receivers", run.receivers)):
        for log in logs.values():
            for line in log.clocks.told:
                told[group if line.whose == "own" else line.whose, line.at_ns, line.offset_ns] = line
    test.assertEqual({role for role, *_ in told}, set(apart_ns))
    shares = {key: abs(line.offset_ns - apart_ns[key[0]]) / line.bound_ns for key, line in told.items()}
    wrong = [key for key, share in shares.items() if share > 1]

    # It grows worse until the next one, most of all in the first seconds, in which few probes tell how fast clocks drift apart.
    worst = {role: 0 for role in apart_ns}
    for log in run.receivers.values():
        clocks = log.clocks
        for row, place in zip(log.rows, log.places):
            received_ns = int(row["received_ns"])
            for role, lines, stamp_ns in (("senders", clocks.senders, int(row["sent_ns"])), ("receivers", clocks.own, received_ns)):
                off_ns = clocks.offset(clocks.in_force(lines, received_ns, place), stamp_ns) - apart_ns[role]
                worst[role] = max(worst[role], abs(off_ns) - ROUNDED_NS)
    offsets = run.summary["environment"]["offsets"]
    bounds_ns = {role: offsets[f"{role}_to_broker"]["bound_us"] * 1e3 for role in apart_ns}
    used = ", ".join(f"{role} at most {worst[role] / 1e3:.1f} us off, of {bounds_ns[role] / 1e3:.1f}" for role in worst)
    print(f"{run.folder.name}: {len(told) - len(wrong)} lines of {len(told)} within their bound, worst share {max(shares.values()):.2f}; "
          f"as they were used: {used}", flush=True)
    test.assertEqual(wrong, [], f"apart: {apart_ns}; {shares}")
    for role, off_ns in worst.items():
        test.assertLessEqual(off_ns, bounds_ns[role], role)
    return len(told)
