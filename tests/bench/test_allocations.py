#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""In the steady state senders and receivers call operator new for no message, and N2NQ hardly ever: the real programs, with one that counts.

Lists, rings and buffers grow when more waits in them than ever before, as behind a moment in which a busy machine held a process up. What
each message costs, it costs in every span: a single one without any shows that there is none.
"""
import contextlib
import unittest

from findings import COUNTED, allocations_in, few_allocations

SPANS_MAX, SPAN_S = 10, 1
MESSAGES_MIN = 1000  # of the 2,000 that are due in one


def is_steady(calls, messages):
    return messages >= MESSAGES_MIN and few_allocations(calls, messages)


class Allocations(unittest.TestCase):
    def test_none_for_a_message(self):
        for work in COUNTED:
            with self.subTest(work=work.title, queue=work.queue), contextlib.closing(allocations_in(work, SPANS_MAX, SPAN_S)) as spans:
                seen = []
                for calls, messages in spans:
                    seen.append((calls, messages))
                    if is_steady(calls, messages):
                        break
                print(f"{work.title} {work.queue}: {seen}")
                self.assertTrue(is_steady(*seen[-1]), seen)


if __name__ == "__main__":
    unittest.main()
