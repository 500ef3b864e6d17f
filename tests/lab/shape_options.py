# SPDX-License-Identifier: GPL-3.0-or-later
"""The options that say how emulated links are shaped: tests/lab/up and tests/lab/link have them in common."""
import argparse

from quantities import duration_ns, rate_bps


def _duration(text):
    value = duration_ns(text)
    if value < 0:
        raise argparse.ArgumentTypeError("not below 0")
    return value


def _share(text):
    value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError("from 0 to 1, or from 0% to 100%")
    return value


def _on_or_off(text):
    if text not in ("on", "off"):
        raise argparse.ArgumentTypeError("on or off")
    return text == "on"


def add_shape_options(parser):
    parser.add_argument("--delay", type=_duration, dest="delay_ns", metavar="2ms", help="of each link, each way: twice that from host to host")
    parser.add_argument("--jitter", type=_duration, dest="jitter_ns", metavar="1ms", help="up to so much more, evenly spread; the order stays")
    parser.add_argument("--jitter-overtaken", type=_on_or_off, metavar="on|off", help="or others overtake the frames that it falls on (off)")
    parser.add_argument("--jitter-share", type=_share, metavar="SHARE", help="of the frames that jitter falls on (all)")
    parser.add_argument("--loss", type=_share, metavar="SHARE", help="share of the frames, such as 0.01 or 1%%")
    parser.add_argument("--reorder", type=_share, metavar="SHARE", help="of the frames: others may overtake them")
    parser.add_argument("--reorder-by", type=_duration, dest="reorder_ns", metavar="1ms", help="how much later those come out (1ms)")
    parser.add_argument("--rate", type=rate_bps, dest="rate_bps", metavar="10mbit", help="0: without limit")
    parser.add_argument("--blackhole", type=_on_or_off, metavar="on|off", help="nothing gets through")


def shape_of(given):
    """The shape of links.py with what was given; empty: nothing was."""
    keys = ("delay_ns", "jitter_ns", "jitter_share", "jitter_overtaken", "loss", "reorder", "reorder_ns", "rate_bps", "blackhole")
    return {key: getattr(given, key) for key in keys if getattr(given, key) is not None}
