// SPDX-License-Identifier: GPL-3.0-or-later
// What a broker process takes of its host, as the kernel tells it: memory and files.
#pragma once

#include <cstddef>

#include "tests/broker/support/broker_under_test.h"

namespace n2nq::support {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr size_t sanitizer_bytes = size_t{512} << 20;  // what was freed stays for a while, and memory has a shadow
#else
inline constexpr size_t sanitizer_bytes = 0;
#endif

/// What the process takes of memory, in bytes.
size_t memory_of(BrokerUnderTest& broker);

/// How many files it has open, connections among them.
size_t files_of(BrokerUnderTest& broker);

/// Returns when the broker has closed what was closed at this end: a probe that connects now uses no more files than expected.
void wait_for_files(BrokerUnderTest& broker, size_t files);

}  // namespace n2nq::support
