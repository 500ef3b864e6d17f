# SPDX-License-Identifier: GPL-3.0-or-later
"""What pairs of measurements say of a difference, in the middle: how large it is, how sure that is, and whether it is small enough."""
from statistics import median

# The standard deviation of a middle, in times of that of the whole by the root of how many there are, and of the whole in times of the
# middle distance from the middle, where they are spread as errors are.
OF_MIDDLE, OF_DISTANCE = 1.253, 1.483
PAIRS_MIN = 5  # of fewer it is chance how far they are apart


class Middle:
    """Of these differences. known: twice the standard deviation of their median."""

    def __init__(self, differences):
        self.differences = list(differences)
        self.value = median(self.differences)
        distance = median(abs(each - self.value) for each in self.differences)
        self.known = 2 * OF_MIDDLE * OF_DISTANCE * distance / len(self.differences) ** 0.5

    def is_sharp(self, within):
        """More pairs would make it no clearer that is worth their time. It says nothing of how large the middle is, so that nobody who asks
        it goes on until a middle pleases."""
        return len(self.differences) >= PAIRS_MIN and self.known <= within / 2

    def verdict(self, within):
        """"yes": it lies within that, and is known to as much. "no": it does not, as far as it is known. Else "cannot tell", as where the
        differences spread too much."""
        if abs(self.value) - self.known > within:
            return "no"
        told = len(self.differences) >= PAIRS_MIN and self.known <= within
        return "yes" if told and abs(self.value) <= within else "cannot tell"

    def text(self, unit):
        return (f"the middle of {len(self.differences)} pairs is {self.value:+.1f} {unit}, known to ± {self.known:.1f} {unit}; they are "
                f"from {min(self.differences):+.0f} to {max(self.differences):+.0f} {unit}")


def judge(make_pairs, within, attempts):
    """(verdict, middle) of pairs that are made until the middle is sharp, at most so many times. make_pairs: returns some more differences,
    given how many times it has been called."""
    differences = []
    for attempt in range(attempts):
        differences += make_pairs(attempt)
        middle = Middle(differences)
        if middle.is_sharp(within):
            break
    return middle.verdict(within), middle
