// SPDX-License-Identifier: GPL-3.0-or-later
// Between the workers' messages and the records of docs/wire-protocol.md: what every client that carries records shares.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "broker/wire/record.h"
#include "workers/queue_client/queue_client.h"

namespace n2nq::worker {

/// Length of all of them as records, one behind another.
std::size_t record_bytes_of(std::span<const Outgoing> messages);
/// Writes the records to `at`, which has room for record_bytes_of(). Fills in sent_ns where it was not_sent_yet: the clock once the
/// payloads are in place, so that between stamp and write() lies only what the stamp itself goes into.
void write_records(std::uint8_t* at, std::span<Outgoing> messages, std::uint32_t sender);
/// The stamps of a damaged record are at most so far from 0, so that what is reckoned with them is less than wire::stamp_ns_max: its log
/// line can be read back.
inline constexpr std::int64_t damaged_stamp_ns_max = wire::stamp_ns_max / 4;
/// What the record itself says, and whether its checksum is right; stamps beyond wire::stamp_ns_max are no right ones, whatever the
/// checksum says. Stamps of one that is not right are within damaged_stamp_ns_max.
Delivery read_record(const std::uint8_t* record);

}  // namespace n2nq::worker
