# SPDX-License-Identifier: GPL-3.0-or-later
"""Medians of ratios, and how sure they are."""
import random
import statistics
from typing import NamedTuple

BOOTSTRAP_ROUNDS = 2000
SPREAD_MAX = 0.25
PAIRS_MIN = 5  # below, nothing is said of an aim


def interval(values, seed=1):
    """(median, low, high): 95 % of the medians of samples drawn anew lie between low and high (Efron's percentile bootstrap)."""
    values = list(values)
    draw = random.Random(seed)
    medians = sorted(statistics.median(draw.choices(values, k=len(values))) for _ in range(BOOTSTRAP_ROUNDS))
    return statistics.median(values), medians[int(0.025 * BOOTSTRAP_ROUNDS)], medians[int(0.975 * BOOTSTRAP_ROUNDS) - 1]


def ratios(above, below):
    """Pairs of the same repetition only: what disturbs both cancels out."""
    return [a / b for a, b in zip(above, below)]


def spread(aa):
    """How far apart two equal things came out: the larger half of the interval of A/A."""
    _, low, high = aa
    return max(high - 1, 1 - low, 0)


def verdict(ratio, aim, aa, at_least, pairs):
    """The whole interval has to lie on the right side of aim and spread; where two equal things differ too much, nothing can be told."""
    _, low, high = ratio
    if pairs < PAIRS_MIN:
        return "too few pairs"
    if spread(aa) > SPREAD_MAX:
        return "cannot tell"
    met = low >= aim - spread(aa) if at_least else high <= aim + spread(aa)
    return "yes" if met else "no"


class Finding(NamedTuple):
    """A row of what is found out about N2NQ alone."""
    what: str
    figure: str
    aim: str
    met: str = "–"  # "yes", "no", "cannot tell", "too few pairs", or that there is nothing to judge


def said(holds):
    return "yes" if holds else "no"


def text_of(ratio):
    return "{:.2f} ({:.2f}–{:.2f})".format(*ratio)
