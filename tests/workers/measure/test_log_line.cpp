// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/measure/log_line.h"

#include <gtest/gtest.h>

#include <limits>

#include "workers/measure/clock_line.h"

namespace n2nq::measure {
namespace {

template <typename Line>
std::string text_of(const Line& line) {
  char buffer[line_bytes_max];
  const std::string text(buffer, format_line(buffer, line));
  EXPECT_TRUE(text.ends_with('\n'));
  return text.substr(0, text.size() - 1);
}

TEST(LogLine, OfASender) {
  const SentLine line{.index = 7, .size = 50, .intended_ns = 1'000'000, .sent_ns = 1'012'345, .lag_ns = 12'345, .delay_ns = 500'000'001};
  EXPECT_EQ(text_of(line), "7\t50\t1000000\t1012345\t12.345\t500000.001\t1\t-");
  EXPECT_EQ(parse_sent_line(text_of(line)), line);
}

TEST(LogLine, OfASenderWithoutPlan) {
  const SentLine line{.index = 0, .size = 1, .intended_ns = 5, .sent_ns = 5, .lag_ns = {}, .delay_ns = {}, .attempt = 2};
  EXPECT_EQ(text_of(line), "0\t1\t5\t5\t-\t-\t2\t-");
  EXPECT_EQ(parse_sent_line(text_of(line)), line);
}

TEST(LogLine, OfTheWarmUp) {
  const SentLine line{
      .index = -20, .size = 50, .intended_ns = 5, .sent_ns = 7, .lag_ns = 2, .delay_ns = {}, .attempt = 1, .flags = line_warm_up};
  EXPECT_EQ(text_of(line), "-20\t50\t5\t7\t0.002\t-\t1\twarm-up");
  EXPECT_EQ(parse_sent_line(text_of(line)), line);
}

TEST(LogLine, OfAReceiver) {
  const ReceivedLine line{.index = 3,
                          .sender = 12,
                          .size = 20,
                          .intended_ns = 10,
                          .sent_ns = 2'000,
                          .received_ns = 1'500,
                          .latency_ns = -500,
                          .to_broker_ns = -1'200,
                          .in_queue_ns = 400,
                          .to_receiver_ns = 300,
                          .attempt = 2,
                          .flags = line_redelivered | line_negative};
  EXPECT_EQ(text_of(line), "3\t12\t20\t10\t2000\t1500\t-0.500\t-1.200\t0.400\t0.300\t2\tredelivered,negative");
  EXPECT_EQ(parse_received_line(text_of(line)), line);
}

TEST(LogLine, TheLongestFitsAndComesBack) {
  ReceivedLine line;
  line.index = std::numeric_limits<std::int64_t>::min();
  line.sender = line.size = std::numeric_limits<std::uint32_t>::max();
  line.intended_ns = line.sent_ns = line.received_ns = std::numeric_limits<std::int64_t>::min();
  line.latency_ns = line.to_broker_ns = line.in_queue_ns = line.to_receiver_ns = std::numeric_limits<std::int64_t>::min() + 1;
  line.attempt = 65535;
  line.flags = 0xFFF;
  EXPECT_LT(text_of(line).size(), line_bytes_max);
  line.intended_ns = line.sent_ns = line.received_ns = -stamp_ns_max;
  line.latency_ns = line.to_broker_ns = line.in_queue_ns = line.to_receiver_ns = -stamp_ns_max;
  EXPECT_EQ(parse_received_line(text_of(line)), line);
}

TEST(LogLine, OfWhatWillNotCome) {
  const SkippedLine line{
      .from = -3, .to = 49, .sender_first = 3, .sender_last = 12, .reason = wire::SkipReason::unrequested, .told_ns = 123};
  EXPECT_EQ(text_of(line), "# skipped: senders=3-12 from=-3 to=49 reason=unrequested told_ns=123");
  for (const auto reason :
       {wire::SkipReason::expired, wire::SkipReason::unrequested, wire::SkipReason::parked, wire::SkipReason::cut_off}) {
    SkippedLine of_reason = line;
    of_reason.reason = reason;
    EXPECT_EQ(parse_skipped_line(text_of(of_reason)), of_reason);
  }
  for (const char* text :
       {"# skipped: senders=3-12 from=5 to=4 reason=expired told_ns=1", "# skipped: senders=3-12 from=5 to=6 reason=late told_ns=1",
        "# skipped: senders=3-12 from=5 to=6 reason=expired told_ns=1 ", "# skipped: senders=3 from=5 to=6 reason=expired told_ns=1",
        "# skipped: senders=3-12 from=5", "# skipped: senders=3-2 from=5 to=6 reason=expired told_ns=1", "# lines: 3", ""}) {
    EXPECT_FALSE(parse_skipped_line(text)) << text;
  }
}

TEST(LogLine, SaysWhichColumnIsWrong) {
  std::string error;
  EXPECT_FALSE(parse_received_line("1\t2\t3", &error));
  EXPECT_EQ(error, "column intended_ns is missing");
  EXPECT_FALSE(parse_sent_line("x\t50\t0\t0\t0.000\t-\t1\t-", &error));
  EXPECT_EQ(error, "column index is \"x\", expected a whole number");
  EXPECT_FALSE(parse_sent_line("1\t50\t0\t0\t0.00\t-\t1\t-", &error));
  EXPECT_EQ(error, "column lag_us is \"0.00\", expected microseconds with three decimals, of at most 18 years");
  EXPECT_FALSE(parse_sent_line("1\t50\t0\t0\t0.000\t-\t1\tlate", &error));
  EXPECT_EQ(error, "column flags is \"late\", expected a known word or \"-\"");
  EXPECT_FALSE(parse_sent_line("1\t50\t0\t0\t0.000\t-\t1\t-\t9", &error));
  EXPECT_EQ(error, "more columns than expected");
  // Of what a log that somebody brings along says nothing is added up that overflows.
  EXPECT_FALSE(parse_sent_line("1\t50\t0\t9000000000000000000\t0.000\t-\t1\t-", &error));
  EXPECT_EQ(error, "column sent_ns is \"9000000000000000000\", expected nanoseconds of at most 18 years");
  EXPECT_FALSE(parse_sent_line("1\t50\t0\t0\t9000000000000000.000\t-\t1\t-", &error));
  EXPECT_EQ(error, "column lag_us is \"9000000000000000.000\", expected microseconds with three decimals, of at most 18 years");
  EXPECT_FALSE(parse_sent_line("# lines: 3"));
}

TEST(LogLine, SaysOfADamagedLineAsMuchAsIsNeededToFindIt) {
  std::string error;
  const std::string zeros(5 << 20, '\0');
  EXPECT_FALSE(parse_received_line(zeros, &error));
  EXPECT_EQ(error, "5242880 bytes long, which no line is: it begins with \"" + zeros.substr(0, 60) + "…\"");
  EXPECT_FALSE(parse_sent_line(std::string(200, 'x') + "\t50\t0\t0\t0.000\t-\t1\t-", &error));
  EXPECT_EQ(error, "column index is \"" + std::string(60, 'x') + "…\", expected a whole number");
}

TEST(LogLine, NamesServicesWithAtLeastThreeDigits) {
  EXPECT_EQ(service_name('S', 1), "S001");
  EXPECT_EQ(service_name('R', 1000), "R1000");
}

}  // namespace
}  // namespace n2nq::measure
