// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/settings/requests.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/settings/settings.h"

namespace n2nq::app {
namespace {

Requests read(std::string_view text) {
  std::optional<Requests> requests;
  const Problem problem = parse_requests(text, requests);
  EXPECT_FALSE(problem) << *problem;
  return requests.value_or(Requests{});
}

std::string problem(std::string_view text) {
  std::optional<Requests> requests;
  return parse_requests(text, requests).value_or("");
}

TEST(requests, a_list_reads_as_in_the_design_and_both_spellings_are_alike) {
  const Requests requests = read("[{receivers: R1-R25, senders: S1-S10, sizes: 20-100, prefetch: 1}]");
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].receivers, (NumberRanges{{1, 25}}));
  EXPECT_EQ(requests[0].senders, (NumberRanges{{1, 10}}));
  EXPECT_EQ(requests[0].sizes, (std::pair<std::int64_t, std::int64_t>{20, 100}));
  EXPECT_EQ(read("[{receivers: R001-R025, senders: s1-10, sizes: 20-100}]"), requests);
  EXPECT_EQ(read("[{receivers: [R1, R2-R25], senders: [S1-S5, 6-10], sizes: 20 - 100}]"), requests);
}

TEST(requests, text_reads_back) {
  for (const char* text :
       {"false", "true", "[{receivers: [any], senders: [any], sizes: any, prefetch: 1}]",
        "[{receivers: [R1-R3, R9], senders: [none], sizes: 50, prefetch: 7}, {receivers: [R4], senders: [S2], sizes: any, "
        "prefetch: 1}]"}) {
    std::optional<Requests> requests, again;
    ASSERT_FALSE(parse_requests(text, requests)) << text;
    EXPECT_EQ(requests_text(requests), text);
    ASSERT_FALSE(parse_requests(requests_text(requests), again));
    EXPECT_EQ(requests, again);
  }
}

TEST(requests, mistakes_are_named) {
  EXPECT_EQ(problem("[{receivers: S1}]"), "receivers must be any, none, or numbers such as R1-R10, R15, not \"S1\"");
  EXPECT_EQ(problem("[{senders: S9-S3}]"), "senders must be any, none, or numbers such as S1-S10, S15, not \"S9-S3\"");
  EXPECT_EQ(problem("[{sizes: 100-20}]"), "sizes must be any, one size such as 50, or a range such as 20-100, not \"100-20\"");
  EXPECT_EQ(problem("[{prefetch: 0}]"), "prefetch must be a whole number from 1 to 1000000, not \"0\"");
  EXPECT_EQ(problem("[{size: 5}]"), "has the unknown field \"size\"; the nearest one is sizes");
  EXPECT_EQ(problem("[{receivers: R1, receivers: R2}]"), "has \"receivers\" twice in one entry; keep one of them");
  EXPECT_EQ(problem("[]"), "must have an entry, not []; or say false (no requests), or true (each receiver asks for anything)");
  EXPECT_NE(problem("[R1]"), "");
  EXPECT_NE(problem("[{receivers: R1"), "");
  EXPECT_NE(problem("[{receivers: R0}]"), "");
}

TEST(requests, entries_of_one_receiver_are_united_and_who_is_not_named_gets_anything) {
  const auto rules = rules_of(read("[{receivers: R1-R2, senders: S1, prefetch: 2}, {receivers: R2, sizes: 5-9, prefetch: 4}, "
                                   "{receivers: R3, senders: none}]"),
                              4);
  ASSERT_EQ(rules.size(), 4u);
  EXPECT_EQ(rules[0].text(), "S001");
  EXPECT_EQ(rules[0].prefetch, 2);
  EXPECT_EQ(rules[1].text(), "S001 or 5–9 B");
  EXPECT_EQ(rules[1].prefetch, 4) << "the last one that names it";
  EXPECT_EQ(rules[2].text(), "nothing");
  EXPECT_TRUE(rules[3].is_any());
  EXPECT_EQ(rules[3].prefetch, 1);
}

TEST(requests, rules_that_differ_in_their_senders_alone_are_said_together) {
  const auto rules = rules_of(read("[{senders: [S1, S3, S5-S7], sizes: 20-25}, {senders: [S9, S11]}, {sizes: 5}, {sizes: 6}]"), 1);
  EXPECT_EQ(rules[0].text(), "S001, S003, S005–S007, 20–25 B or S009, S011 or 5 B or 6 B");
}

TEST(requests, numbers_beyond_the_services_are_refused) {
  Settings settings;
  settings.receivers.amount = 10;
  settings.queue.requests = read("[{receivers: R1-R25}]");
  const auto errors = validate(settings);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].key, "queue.requests");
  EXPECT_EQ(errors[0].message, "names R25, but there are 10 receivers");
}

}  // namespace
}  // namespace n2nq::app
