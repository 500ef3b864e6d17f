// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/wire/messages.h"

#include <gtest/gtest.h>

#include "tests/broker/support/seed_frames.h"

namespace n2nq::wire {
namespace {

ByteView body_of(const Bytes& frame) {
  return ByteView(frame).subspan(frame_header_bytes);
}

template <typename Message>
void expect_round_trip(const std::string& name) {
  for (const auto& seed : support::seed_frames()) {
    if (seed.name != name) continue;
    const auto decoded = Message::decode(body_of(seed.bytes));
    ASSERT_TRUE(decoded.has_value()) << name;
    Bytes again;
    decoded->encode(again);
    EXPECT_EQ(again, seed.bytes) << name;
    EXPECT_FALSE(Message::decode(body_of(seed.bytes).first(body_of(seed.bytes).size() - 1)).has_value()) << name << " cut short";
    return;
  }
  FAIL() << "no seed frame is named " << name;
}

TEST(Messages, WhatIsEncodedDecodesToTheSame) {
  expect_round_trip<Hello>("HELLO");
  expect_round_trip<Welcome>("WELCOME");
  expect_round_trip<Confirm>("CONFIRM");
  expect_round_trip<Rules>("RULES");
  expect_round_trip<Rules>("RULES that get nothing");
  expect_round_trip<Credit>("CREDIT");
  expect_round_trip<Accepted>("ACCEPTED");
  expect_round_trip<Skipped>("SKIPPED");
  expect_round_trip<Probe>("PROBE");
  expect_round_trip<ProbeReply>("PROBE_REPLY");
  expect_round_trip<End>("END");
  expect_round_trip<EndTotals>("END with totals");
}

TEST(Messages, FieldsLieWhereTheProtocolSaysTheyDo) {
  Bytes bytes;
  Hello hello;
  hello.role = Role::sender;
  hello.number = 0x11223344;
  hello.session = 0x55667788;
  hello.next_index = 0x0102030405060708;
  hello.token[0] = 0xAA;
  hello.token[31] = 0xBB;
  hello.encode(bytes);
  ASSERT_EQ(bytes.size(), 8u + 56u);
  EXPECT_EQ(std::string(bytes.begin() + 8, bytes.begin() + 12), "N2NQ");
  EXPECT_EQ(bytes[0], 56);
  EXPECT_EQ(bytes[4], 1);
  EXPECT_EQ(load<uint16_t>(bytes.data() + 8 + 4), 1);
  EXPECT_EQ(bytes[8 + 6], 1);
  EXPECT_EQ(load<uint32_t>(bytes.data() + 8 + 8), 0x11223344u);
  EXPECT_EQ(load<uint32_t>(bytes.data() + 8 + 12), 0x55667788u);
  EXPECT_EQ(load<uint64_t>(bytes.data() + 8 + 16), 0x0102030405060708u);
  EXPECT_EQ(bytes[8 + 24], 0xAA);
  EXPECT_EQ(bytes[8 + 55], 0xBB);

  bytes.clear();
  Welcome{1, QueueMode::load_balancer, 1, 2, 3, 4, 5, 6, 7, 8, 9}.encode(bytes);
  ASSERT_EQ(bytes.size(), 8u + 48u);
  const uint8_t* body = bytes.data() + 8;
  EXPECT_EQ(body[2], 2);
  EXPECT_EQ(body[3], 1);
  EXPECT_EQ(load<uint32_t>(body + 4), 2u);
  EXPECT_EQ(load<uint32_t>(body + 12), 4u);
  EXPECT_EQ(load<uint64_t>(body + 16), 5u);
  EXPECT_EQ(load<uint64_t>(body + 24), 6u);
  EXPECT_EQ(load<uint32_t>(body + 32), 7u);
  EXPECT_EQ(load<uint32_t>(body + 36), 8u);
  EXPECT_EQ(load<int64_t>(body + 40), 9);
}

TEST(Messages, TheOpeningOfAnyVersionCanBeRead) {
  Bytes body(8);
  store(body.data(), magic);
  store(body.data() + 4, uint16_t{7});
  const auto opening = Hello::decode_opening(body);
  ASSERT_TRUE(opening.has_value());
  EXPECT_EQ(opening->magic, magic);
  EXPECT_EQ(opening->version, 7);
  EXPECT_FALSE(Hello::decode_opening(ByteView(body).first(5)).has_value());
}

TEST(Messages, NonsenseInsideABodyIsNotDecoded) {
  Bytes rules;
  Rules{1, {{}, {}}}.encode(rules);
  store(rules.data() + 8 + 4, uint32_t{3});  // says three, brings two
  EXPECT_FALSE(Rules::decode(body_of(rules)).has_value());

  Bytes confirm;
  Confirm{{{1, 1, false}}}.encode(confirm);
  confirm[8 + 12] = 2;  // no such kind
  EXPECT_FALSE(Confirm::decode(body_of(confirm)).has_value());

  Bytes skipped;
  Skipped{{{1, SkipReason::expired, 5, 4}}}.encode(skipped);  // ends before it begins
  EXPECT_FALSE(Skipped::decode(body_of(skipped)).has_value());
}

TEST(Messages, AnErrorsTextIsCutBetweenLetters) {
  std::string text(error_text_bytes_max - 1, 'x');
  text += "ü";  // two bytes, of which one would fit
  Bytes bytes;
  Error{ErrorCode::frame, text}.encode(bytes);
  const auto error = Error::decode(body_of(bytes));
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->text, std::string(error_text_bytes_max - 1, 'x'));
  EXPECT_EQ(std::string(name_of(error->code)), "frame");
}

TEST(Messages, ATokenIsHexOrNothing) {
  EXPECT_TRUE(token_from_hex("").has_value());
  const std::string good = "00ff" + std::string(60, 'A');
  ASSERT_TRUE(token_from_hex(good).has_value());
  EXPECT_EQ((*token_from_hex(good))[1], 0xFF);
  EXPECT_EQ((*token_from_hex(good))[2], 0xAA);
  EXPECT_FALSE(token_from_hex(std::string(63, 'a')).has_value());
  EXPECT_FALSE(token_from_hex(std::string(63, 'a') + "g").has_value());
}

}  // namespace
}  // namespace n2nq::wire
