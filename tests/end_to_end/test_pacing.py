#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Senders keep their plan to the message and do not creep: 3,000 a second is not a whole number of nanoseconds."""
import unittest

from bench import BenchCase
from run_folder import RunFolder, percentile


class Pacing(BenchCase):
    def test_3000_a_second_for_a_minute(self):
        folder = self.run_bench("quick", "--set", "senders.amount=1", "--set", "receivers.amount=1", "--set", "senders.rate_per_s=3000",
                                "--set", "senders.duration_s=60")
        run = RunFolder(folder)
        log = run.senders[1]
        self.assertEqual(run.summary["ledger"]["total"]["attempted"], 180_000)
        self.assertEqual(log.numbers("index"), list(range(180_000)))
        intended = log.numbers("intended_ns")
        for index in (1, 2, 3, 2999, 3000, 179_999):
            self.assertEqual(intended[index] - intended[0], index * 1_000_000_000 // 3000, index)

        lags = [s - i for s, i in zip(log.numbers("sent_ns"), intended)]
        least = [min(lags[k * 3000:(k + 1) * 3000]) for k in range(60)]
        slope_ns_per_s = fitted_slope(least)
        ordered = sorted(lags)
        print(f"lag p50 {percentile(ordered, 0.5) / 1e3:.1f} us, p99 {percentile(ordered, 0.99) / 1e3:.1f} us, "
              f"slope of each second's minimum {slope_ns_per_s * 60 / 1e3:+.3f} us/min")
        self.assertLess(abs(slope_ns_per_s) * 60, 1000)


def fitted_slope(values):
    """Median of the slopes between all pairs (Theil 1950, Sen 1968): one disturbed second does not bend it."""
    slopes = sorted((b - a) / (j - i) for i, a in enumerate(values) for j, b in enumerate(values) if j > i)
    return slopes[len(slopes) // 2]


if __name__ == "__main__":
    unittest.main()
