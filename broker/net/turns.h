// SPDX-License-Identifier: GPL-3.0-or-later
// How long a thread's turns on a core are, which decides who goes first where several want the same one: of threads that are ready, Linux
// runs the one whose turn would be over first (EEVDF). With turns of one's own since Linux 6.12; before, nothing here changes anything.
//
// False: the kernel refuses, or the calling thread has another scheduling policy than the usual one.
#pragma once

#include <cstdint>

namespace n2nq::net {

inline constexpr int64_t short_turn_ns = 500'000;    // below what others get (0.7 ms and more)
inline constexpr int64_t long_turn_ns = 20'000'000;  // far above it, and below what a person sees

/// Of the calling thread, and of those it starts then: when it has waited for something it gets the core at once from a thread that
/// computes, not at the end of that one's turn.
bool ask_for_short_turns();

/// Of the calling thread alone: whoever wakes up goes before it. It gets as much of a core as before.
bool ask_for_long_turns();

}  // namespace n2nq::net
