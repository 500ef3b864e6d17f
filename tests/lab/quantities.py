# SPDX-License-Identifier: GPL-3.0-or-later
"""Times and rates as a person types them."""
import argparse
import re

_TIME_NS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
_RATE_BPS = {"kbit": 1_000, "mbit": 1_000_000, "gbit": 1_000_000_000}


def _quantity(text, units, example):
    match = re.fullmatch(r"([+-]?\d+(?:\.\d+)?)([a-z]*)", text)
    if text == "0":
        return 0
    if not match or match[2] not in units:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number with one of {', '.join(units)}, such as {example}")
    return round(float(match[1]) * units[match[2]])


def duration_ns(text):
    """Of 250ms, -2us, 0."""
    return _quantity(text, _TIME_NS, "250ms")


def rate_bps(text):
    """Bits per second, of 10mbit."""
    return _quantity(text, _RATE_BPS, "10mbit")
