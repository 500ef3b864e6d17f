// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/wire/record.h"

#include <gtest/gtest.h>

#include "broker/wire/crc32c.h"
#include "tests/broker/support/seed_frames.h"

namespace n2nq::wire {
namespace {

TEST(Record, HeaderRoundTrip) {
  const RecordHeader header{5, 0xFFFFFFFF, ~0ull, INT64_MIN, INT64_MAX, -1, 7, 9, 0xDEADBEEF};
  Bytes bytes(record_header_bytes);
  write_record_header(bytes.data(), header);
  EXPECT_EQ(read_record_header(bytes.data()), header);
  EXPECT_EQ(record_size(bytes.data()), 5u);
  EXPECT_EQ(record_index(bytes.data()), ~0ull);
  EXPECT_EQ(record_flags(bytes.data()), 7);
  EXPECT_EQ(record_attempt(bytes.data()), 9);
}

TEST(Record, TheChecksumCoversWhatTheSenderWroteAndNothingElse) {
  Bytes record = support::make_record(3, 17, 50);
  const uint32_t checksum = compute_record_checksum(record.data());
  set_record_taken_in_ns(record.data(), 123456789);
  set_record_flags(record.data(), 6);
  set_record_attempt(record.data(), 2);
  EXPECT_EQ(compute_record_checksum(record.data()), checksum);
  for (const size_t at : {4u, 8u, 16u, 31u, 48u, 97u}) {
    record[at] ^= 1;
    EXPECT_NE(compute_record_checksum(record.data()), checksum) << "byte " << at;
    record[at] ^= 1;
  }
}

TEST(Record, AWalkGivesWholeRecordsAndNoticesABrokenEnd) {
  Bytes body;
  for (uint64_t index = 0; index < 4; ++index) Writer(body).put_bytes(support::make_record(1, index, index * 10));
  for (size_t bytes = 0; bytes <= body.size(); ++bytes) {
    RecordWalk walk(ByteView(body).first(bytes));
    size_t consumed = 0;
    while (const auto record = walk.next()) consumed += record->size();
    EXPECT_EQ(walk.failed(), consumed != bytes) << bytes;
  }
}

TEST(Record, ASizeBeyondTheBodyIsNoticed) {
  Bytes body = support::make_record(1, 0, 10);
  store(body.data(), uint32_t{0xFFFFFFFF});
  RecordWalk walk(body);
  EXPECT_FALSE(walk.next().has_value());
  EXPECT_TRUE(walk.failed());
}

}  // namespace

TEST(Crc32c, MatchesTheExamplesOfRfc3720) {
  Bytes rising(32);
  for (size_t i = 0; i < rising.size(); ++i) rising[i] = static_cast<uint8_t>(i);
  EXPECT_EQ(crc32c(Bytes(32, 0)), 0x8A9136AAu);
  EXPECT_EQ(crc32c(Bytes(32, 0xFF)), 0x62A8AB43u);
  EXPECT_EQ(crc32c(rising), 0x46DD794Eu);
  EXPECT_EQ(crc32c({}), 0u);
}

TEST(Crc32c, BothWaysAgreeOnEveryLengthAlignmentAndCut) {
  Bytes bytes(300);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * i + 3);
  for (size_t begin = 0; begin < 9; ++begin) {
    for (size_t size = 0; size + begin <= 100; ++size) {
      const ByteView part = ByteView(bytes).subspan(begin, size);
      ASSERT_EQ(crc32c(part), crc32c_portable(part));
    }
  }
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    ASSERT_EQ(crc32c(ByteView(bytes).subspan(cut), crc32c(ByteView(bytes).first(cut))), crc32c(bytes));
    ASSERT_EQ(crc32c_of_two(ByteView(bytes).first(cut), ByteView(bytes).subspan(cut)), crc32c(bytes));
  }
}

}  // namespace n2nq::wire
