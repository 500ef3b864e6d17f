// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/wire/frame.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "broker/wire/messages.h"
#include "tests/broker/support/seed_frames.h"

namespace n2nq::wire {
namespace {

struct Seen {
  FrameType type;
  Bytes body;
  bool operator==(const Seen&) const = default;
};

/// Memory that others use between two reads.
std::array<uint8_t, 4096> shared_room;

/// Feeds `stream` in parts that end at `cuts` and at the end; `shares`: by way of memory that is not the reader's.
std::vector<Seen> feed(FrameReader& reader, ByteView stream, std::vector<size_t> cuts, bool shares = false) {
  std::vector<Seen> seen;
  cuts.push_back(stream.size());
  size_t fed = 0;
  for (const size_t cut : cuts) {
    while (fed < cut) {
      const std::span<uint8_t> room = shares ? reader.room(shared_room) : reader.room();
      const size_t bytes = std::min(room.size(), cut - fed);
      std::copy_n(stream.begin() + static_cast<ptrdiff_t>(fed), bytes, room.begin());
      reader.commit(bytes);
      fed += bytes;
      while (const auto frame = reader.next()) seen.push_back({frame->type, Bytes(frame->body.begin(), frame->body.end())});
      if (!shares) continue;
      reader.keep();
      shared_room.fill(0xEE);
    }
  }
  return seen;
}

Bytes header(uint32_t body_bytes, uint8_t type, uint8_t reserved_1 = 0, uint16_t reserved_2 = 0) {
  Bytes bytes;
  Writer(bytes).put(body_bytes).put(type).put(reserved_1).put(reserved_2);
  return bytes;
}

std::string error_after(const Bytes& stream, uint32_t frame_bytes_max) {
  FrameReader reader(frame_bytes_max);
  feed(reader, stream, {});
  return reader.error();
}

TEST(Frame, EverySeedFrameCutAtEveryByteReadsLikeTheWhole) {
  for (const auto& seed : support::seed_frames()) {
    FrameReader whole(1 << 20);
    const std::vector<Seen> expected = feed(whole, seed.bytes, {});
    ASSERT_EQ(expected.size(), 1u) << seed.name;
    for (size_t cut = 1; cut < seed.bytes.size(); ++cut) {
      FrameReader reader(1 << 20);
      ASSERT_EQ(feed(reader, seed.bytes, {cut}), expected) << seed.name << " cut at " << cut;
      ASSERT_FALSE(reader.failed());
      FrameReader sharing(1 << 20);
      ASSERT_EQ(feed(sharing, seed.bytes, {cut}, true), expected) << seed.name << " cut at " << cut << ", shared memory";
    }
  }
}

TEST(Frame, EverySeedFrameCutAtAnyTwoBytesReadsLikeTheWhole) {
  size_t cuts = 0;
  for (const auto& seed : support::seed_frames()) {
    FrameReader whole(1 << 20);
    const std::vector<Seen> expected = feed(whole, seed.bytes, {});
    for (size_t first = 1; first + 1 < seed.bytes.size(); ++first) {
      for (size_t second = first + 1; second < seed.bytes.size(); ++second, cuts += 2) {
        FrameReader reader(1 << 20);
        ASSERT_EQ(feed(reader, seed.bytes, {first, second}, cuts % 4 == 0), expected) << seed.name << " cut at " << first << " and " << second;
      }
    }
  }
  EXPECT_GE(cuts, 100'000u);
}

TEST(Frame, AllSeedFramesInOneStreamMayComeByteByByte) {
  Bytes stream;
  for (const auto& seed : support::seed_frames()) stream.insert(stream.end(), seed.bytes.begin(), seed.bytes.end());
  FrameReader whole(1 << 20);
  const std::vector<Seen> expected = feed(whole, stream, {});
  EXPECT_EQ(expected.size(), support::seed_frames().size());

  std::vector<size_t> every_byte(stream.size());
  for (size_t i = 0; i < every_byte.size(); ++i) every_byte[i] = i + 1;
  FrameReader reader(1 << 20);
  EXPECT_EQ(feed(reader, stream, every_byte), expected);
  EXPECT_EQ(reader.bytes_waiting(), 0u);

  FrameReader sharing(1 << 20);
  EXPECT_EQ(feed(sharing, stream, every_byte, true), expected);
  EXPECT_EQ(sharing.bytes_waiting(), 0u);
}

TEST(Frame, ImpossibleLengthsAreRefusedBeforeABodyIsKept) {
  for (const uint32_t length : {0u, 1u, 47u, 0x7FFFFFFFu, 0x80000000u, 0xFFFFFFFFu}) {
    FrameReader reader(1 << 20);
    feed(reader, header(length, 3), {});
    EXPECT_TRUE(reader.failed()) << length;
    EXPECT_LE(reader.room().size(), FrameReader::read_bytes_max) << length;
    EXPECT_FALSE(reader.next().has_value());
  }
}

TEST(Frame, EveryTypeRefusesLengthsItCannotHave) {
  const std::vector<std::pair<uint8_t, uint32_t>> wrong = {{1, 7},  {2, 47}, {3, 47}, {4, 55},  {5, 0},  {5, 17},
                                                           {6, 7},  {6, 25}, {7, 9},  {8, 20},  {9, 0},  {9, 25},
                                                           {10, 7}, {11, 8}, {12, 7}, {12, 57}, {13, 7}, {14, 1}};
  for (const auto& [type, length] : wrong) EXPECT_NE(error_after(header(length, type), 1 << 20), "") << int{type} << " of " << length;
}

TEST(Frame, UnknownTypesAndReservedBytesAreRefused) {
  EXPECT_NE(error_after(header(8, 0), 64), "");
  EXPECT_NE(error_after(header(8, 15), 64), "");
  EXPECT_NE(error_after(header(8, 255), 64), "");
  EXPECT_NE(error_after(header(0, 14, 1, 0), 64), "");
  EXPECT_NE(error_after(header(0, 14, 0, 0x0100), 64), "");
}

TEST(Frame, TheLimitIsTheLimit) {
  EXPECT_EQ(error_after(header(1000, 3), 1000), "");
  EXPECT_NE(error_after(header(1001, 3), 1000).find("1000"), std::string::npos);
}

TEST(Frame, ABrokenStreamStaysBrokenButGivesTheFramesBeforeIt) {
  Bytes stream;
  encode_heartbeat(stream);
  const Bytes junk = header(0, 99);
  stream.insert(stream.end(), junk.begin(), junk.end());
  encode_heartbeat(stream);
  FrameReader reader(64);
  EXPECT_EQ(feed(reader, stream, {}).size(), 1u);
  EXPECT_TRUE(reader.failed());
  EXPECT_FALSE(reader.next().has_value());
  reader.reset();
  EXPECT_EQ(feed(reader, ByteView(stream).first(8), {}).size(), 1u);
}

TEST(Frame, MemoryFollowsTheBytesThatCameNotTheLengthThatWasSaid) {
  FrameReader reader(1 << 30);
  feed(reader, header(1 << 30, 3), {});
  EXPECT_LE(reader.room().size(), 64u * 1024);
  const Bytes more(100'000, 'A');
  feed(reader, more, {});
  EXPECT_LE(reader.room().size(), 400'000u);
}

TEST(Frame, ALargeFrameComesWhole) {
  Bytes stream;
  const size_t begun_at = begin_frame(stream, FrameType::publish);
  for (size_t i = 0; i < 3'000'000; ++i) stream.push_back(static_cast<uint8_t>(i * 7));
  end_frame(stream, begun_at);
  FrameReader reader(3'000'000);
  const std::vector<Seen> seen = feed(reader, stream, {1, 9, 100'000, 100'001});
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_TRUE(std::equal(seen[0].body.begin(), seen[0].body.end(), stream.begin() + 8, stream.end()));
}

TEST(Frame, EachTypeHasItsOwnLimit) {
  FrameLimits limits(64);
  limits.set(FrameType::publish, 1000);
  FrameReader reader(limits);
  feed(reader, header(1000, 3), {});
  EXPECT_EQ(reader.error(), "");
  FrameReader other(limits);
  feed(other, header(80, 5), {});
  EXPECT_EQ(other.error(), "CONFIRM: a body of 80 bytes is over the limit of 64");
}

TEST(Frame, AReaderThatAsksReadsLongFramesIntoMemoryThatItIsLent) {
  constexpr size_t long_bytes = 300'000;
  Bytes stream;
  encode_heartbeat(stream);
  for (int i = 0; i < 2; ++i) {
    const size_t begun_at = begin_frame(stream, FrameType::publish);
    stream.resize(stream.size() + long_bytes, static_cast<uint8_t>(i + 1));
    end_frame(stream, begun_at);
    encode_heartbeat(stream);
  }
  for (const bool shares : {false, true}) {
    FrameReader reader(1 << 20);
    reader.ask_for_large();
    std::vector<std::pair<FrameType, size_t>> seen;
    for (size_t fed = 0; fed < stream.size();) {
      const std::span<uint8_t> room = shares ? reader.room(shared_room) : reader.room();
      EXPECT_LE(room.size(), reader.has_large() ? long_bytes : FrameReader::read_bytes_max + frame_header_bytes);
      const size_t bytes = std::min(room.size(), stream.size() - fed);
      std::copy_n(stream.begin() + static_cast<ptrdiff_t>(fed), bytes, room.begin());
      reader.commit(bytes);
      fed += bytes;
      while (const auto frame = reader.next()) {
        seen.emplace_back(frame->type, frame->body.size());
        const auto expected = static_cast<uint8_t>(seen.size() / 2);
        EXPECT_TRUE(std::all_of(frame->body.begin(), frame->body.end(), [=](uint8_t byte) { return byte == expected; }));
      }
      if (reader.has_large() && reader.bytes_waiting() == 0) {
        EXPECT_EQ(reader.give_back().capacity, long_bytes + frame_header_bytes);
      }
      if (const size_t wanted = reader.bytes_wanted(); wanted > 0) {
        EXPECT_EQ(wanted, long_bytes + frame_header_bytes);
        reader.reserve({std::make_unique<uint8_t[]>(wanted), wanted});
      }
      if (!shares) continue;
      reader.keep();
      shared_room.fill(0xEE);
    }
    using enum FrameType;
    EXPECT_EQ(seen, (std::vector<std::pair<FrameType, size_t>>{
                        {heartbeat, 0}, {publish, long_bytes}, {heartbeat, 0}, {publish, long_bytes}, {heartbeat, 0}}));
  }
}

/// Wherever a read ends within it, and whether it waits for memory, has some, or fits into a read.
TEST(Frame, WhatNobodyWantsIsThrownAwayAndWhatComesBehindItIsRead) {
  for (const size_t long_bytes : {size_t{60}, size_t{5000}, size_t{100'000}}) {
    Bytes stream;
    encode_heartbeat(stream);
    const size_t begun_at = begin_frame(stream, FrameType::publish);
    stream.resize(stream.size() + long_bytes, 7);
    end_frame(stream, begun_at);
    const size_t head_end = begun_at + frame_header_bytes, ends_at = stream.size();
    encode_heartbeat(stream);
    for (const size_t known_at : {head_end, head_end + 1, head_end + 40, ends_at - 1}) {
      for (const bool shares : {false, true}) {
        FrameReader reader(1 << 20);
        reader.ask_for_large();
        std::vector<FrameType> seen;
        bool skipped = false;
        for (size_t fed = 0; fed < stream.size();) {
          const std::span<uint8_t> room = shares ? reader.room(shared_room) : reader.room();
          const size_t bytes = std::min(room.size(), (fed < known_at ? known_at : stream.size()) - fed);
          std::copy_n(stream.begin() + static_cast<ptrdiff_t>(fed), bytes, room.begin());
          reader.commit(bytes);
          fed += bytes;
          while (const auto frame = reader.next()) seen.push_back(frame->type);
          if (fed == known_at) {
            const auto begun = reader.begun();
            ASSERT_TRUE(begun.has_value());
            EXPECT_EQ(begun->type, FrameType::publish);
            EXPECT_EQ(begun->body_bytes, long_bytes);
            EXPECT_EQ(begun->so_far.size(), known_at - head_end);
            reader.skip();
            skipped = true;
            EXPECT_EQ(reader.bytes_waiting(), 0u);
          }
          EXPECT_EQ(reader.in_frame(), fed > 8 && fed < ends_at) << fed;
          if (reader.has_large() && reader.bytes_waiting() == 0) reader.give_back();
          EXPECT_FALSE(skipped && reader.has_large());
          if (const size_t wanted = reader.bytes_wanted(); wanted > 0) reader.reserve({std::make_unique<uint8_t[]>(wanted), wanted});
          if (shares) reader.keep(), shared_room.fill(0xEE);
        }
        EXPECT_EQ(seen, (std::vector<FrameType>{FrameType::heartbeat, FrameType::heartbeat})) << long_bytes << ", known at " << known_at;
      }
    }
  }
}

TEST(Frame, WhereMuchWaitsReadsOfManyFramesStayLong) {
  constexpr size_t frame_bytes = 50'000, reads = 40;
  Bytes one;
  const size_t begun_at = begin_frame(one, FrameType::publish);
  one.resize(frame_bytes);
  end_frame(one, begun_at);
  Bytes shared(4 * FrameReader::read_bytes_max);
  FrameReader reader(1 << 20);
  size_t fed = 0, frames = 0;
  for (size_t i = 0; i < reads; ++i) {
    const std::span<uint8_t> room = reader.room(shared);
    ASSERT_GE(room.size(), 3 * FrameReader::read_bytes_max) << i;
    // As the stream has them: no two places in a frame are the same.
    for (uint8_t& byte : room) {
      const size_t at = fed++ % frame_bytes;
      byte = at < frame_header_bytes ? one[at] : static_cast<uint8_t>(at * 7 + at / 251);
    }
    reader.commit(room.size());
    while (const auto frame = reader.next()) {
      ++frames;
      ASSERT_EQ(frame->body.size(), frame_bytes - frame_header_bytes);
      for (size_t at = frame_header_bytes; at < frame_bytes; ++at)
        ASSERT_EQ(frame->body[at - frame_header_bytes], static_cast<uint8_t>(at * 7 + at / 251)) << frames << ' ' << at;
    }
    reader.keep();
    std::ranges::fill(shared, 0xEE);
  }
  EXPECT_EQ(frames, fed / frame_bytes);

  // A frame that comes in pieces is put together in its own memory, not carried to and fro.
  const size_t rest = frame_bytes - fed % frame_bytes;
  const std::span<uint8_t> room = reader.room(shared);
  std::ranges::fill(room.first(rest / 2), 1);
  reader.commit(rest / 2);
  EXPECT_FALSE(reader.next().has_value());
  reader.keep();
  EXPECT_LE(reader.room(shared).size(), FrameReader::read_bytes_max);
}

TEST(Frame, WhatIsPutBackComesAgain) {
  Bytes stream;
  encode_heartbeat(stream);
  const size_t begun_at = begin_frame(stream, FrameType::publish);
  stream.resize(stream.size() + 1000, 7);
  end_frame(stream, begun_at);
  FrameReader reader(1 << 20);
  for (size_t fed = 0; fed < stream.size();) {
    const std::span<uint8_t> room = reader.room(shared_room);
    const size_t bytes = std::min(room.size(), stream.size() - fed);
    std::copy_n(stream.begin() + static_cast<ptrdiff_t>(fed), bytes, room.begin());
    reader.commit(bytes);
    fed += bytes;
  }
  EXPECT_EQ(reader.next()->type, FrameType::heartbeat);
  for (int i = 0; i < 3; ++i) {
    const auto frame = reader.next();
    ASSERT_TRUE(frame.has_value());
    EXPECT_EQ(frame->type, FrameType::publish);
    EXPECT_EQ(frame->body.size(), 1000u);
    EXPECT_EQ(frame->body[999], 7);
    EXPECT_EQ(reader.bytes_waiting(), 0u);
    reader.put_back(*frame);
    EXPECT_EQ(reader.bytes_waiting(), 1000 + frame_header_bytes);
    reader.keep();
    shared_room.fill(0xEE);
  }
  EXPECT_TRUE(reader.next().has_value());
  EXPECT_FALSE(reader.next().has_value());
  FrameReader other;
  EXPECT_THROW(other.put_back(Frame{FrameType::publish, stream}), std::logic_error);
}

TEST(Frame, LessMemoryThanAFrameWantsCannotBeLent) {
  FrameReader reader(1 << 20);
  reader.ask_for_large();
  feed(reader, header(100'000, 3), {});
  ASSERT_EQ(reader.bytes_wanted(), 100'008u);
  EXPECT_THROW(reader.reserve({std::make_unique<uint8_t[]>(100'007), 100'007}), std::logic_error);
}

TEST(Frame, MoreThanTheRoomCannotBeCommitted) {
  FrameReader reader;
  const size_t room = reader.room().size();
  EXPECT_THROW(reader.commit(room + 1), std::logic_error);
}

}  // namespace
}  // namespace n2nq::wire
