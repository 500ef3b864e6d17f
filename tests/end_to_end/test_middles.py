#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is judged by the middle of pairs: not more leniently where they spread more, and not until it pleases."""
import random
import unittest

from middles import Middle, judge

WITHIN = 150


class Middles(unittest.TestCase):
    def spread_around(self, value, deviation, pairs=25, seed=1):
        chance = random.Random(seed)
        return [chance.gauss(value, deviation) for _ in range(pairs)]

    def verdict(self, value, deviation, pairs=25):
        return Middle(self.spread_around(value, deviation, pairs)).verdict(WITHIN)

    def test_what_is_known_well_is_judged_by_its_middle(self):
        self.assertEqual(self.verdict(0, 10), "yes")
        self.assertEqual(self.verdict(-130, 10), "yes")
        self.assertEqual(self.verdict(170, 10), "no")
        self.assertEqual(self.verdict(-170, 10), "no")

    def test_where_the_pairs_spread_too_much_nothing_is_told_however_well_the_middle_lies(self):
        for value in (0, 100, 400, 990):
            self.assertEqual(Middle(value + 3000 * step for step in range(-12, 13)).verdict(WITHIN), "cannot tell", value)
        self.assertEqual(Middle([-600, 0, 600]).verdict(WITHIN), "cannot tell", "exactly what is due, and known to nothing")
        self.assertEqual(Middle([390, 990, 1590]).verdict(WITHIN), "cannot tell")

    def test_a_few_that_happen_to_agree_tell_nothing(self):
        for few in ([0], [10, 11], [5, 5, 400], [1, 1, 1, 1]):
            self.assertEqual(Middle(few).verdict(WITHIN), "cannot tell", few)
            self.assertFalse(Middle(few).is_sharp(WITHIN))

    def test_noise_never_lets_pass_what_lies_beyond(self):
        for deviation in range(0, 5000, 50):
            for seed in range(20):
                middle = Middle(self.spread_around(1000, deviation, seed=seed))
                if middle.verdict(WITHIN) == "yes":
                    self.assertLessEqual(abs(middle.value), WITHIN)
                    self.assertLessEqual(middle.known, WITHIN)
                    self.fail(f"1000 with a deviation of {deviation}")

    def test_what_lies_far_beyond_fails_though_it_is_not_known_well(self):
        self.assertEqual(self.verdict(2000, 600), "no")

    def test_what_lies_as_far_as_is_allowed_is_neither_right_nor_wrong(self):
        self.assertEqual(Middle([100, 160, 220]).verdict(WITHIN), "cannot tell")

    def test_the_known_is_two_standard_deviations_of_the_median(self):
        off = sum(abs(Middle(self.spread_around(0, 100, seed=seed)).value) > Middle(self.spread_around(0, 100, seed=seed)).known
                  for seed in range(1000))
        self.assertTrue(20 <= off <= 120, off)

    def judged(self, rounds, attempts=4):
        asked = []

        def make(attempt):
            asked.append(attempt)
            return rounds[attempt]
        verdict, middle = judge(make, WITHIN, attempts)
        return verdict, len(middle.differences), asked

    def test_more_pairs_are_made_only_where_they_spread(self):
        sharp = self.spread_around(0, 20, 5)
        self.assertEqual(self.judged([sharp]), ("yes", 5, [0]))
        wrong = self.spread_around(500, 20, 5)
        self.assertEqual(self.judged([wrong]), ("no", 5, [0]), "it is not tried again until it passes")
        wide = [-900, 900, -700, 700, 0]
        self.assertEqual(self.judged([wide] * 4), ("cannot tell", 20, [0, 1, 2, 3]), "and there is an end to it")
        self.assertEqual(self.judged([wide, self.spread_around(0, 20, 200)]), ("yes", 205, [0, 1]))

    def test_the_middle_of_all_pairs_counts_also_of_those_before(self):
        verdict, pairs, _ = self.judged([[600, 700, 2000, 100, 900], *[self.spread_around(1000, 20, 5)] * 3])
        self.assertEqual(verdict, "no")
        self.assertGreater(pairs, 5)


if __name__ == "__main__":
    unittest.main()
