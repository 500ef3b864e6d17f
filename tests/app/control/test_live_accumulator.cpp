// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/control/live_accumulator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace n2nq::app {
namespace {

constexpr std::int64_t ns_per_ms = 1'000'000;

measure::Histogram of(std::initializer_list<std::int64_t> values_us) {
  measure::Histogram out;
  for (const auto value : values_us) out.add(value * 1000);
  return out;
}

Settings with_receivers(int amount) {
  Settings settings;
  settings.receivers.amount = amount;
  return settings;
}

/// Both groups asked and answering at once, ten times a second.
class Rounds {
 public:
  explicit Rounds(int receivers) : accumulator(with_receivers(receivers)) {}

  void ask() {
    ++id;
    accumulator.asked_senders(t_s);
    accumulator.asked_receivers(t_s);
  }
  void senders_answer(std::int64_t attempted) {
    SendersStats stats;
    stats.id = id, stats.attempted = stats.accepted = attempted, stats.bytes = attempted * 50;
    stats.now_ns = now_ns();
    stats.rows = {{1, attempted, unknown, 5}};
    accumulator.add(stats, t_s);
  }
  void receivers_answer(std::int64_t received, const measure::Histogram& latency = measure::Histogram()) {
    ReceiversStats stats;
    stats.id = id, stats.received = received, stats.latency = stats.to_broker = stats.in_queue = stats.to_receiver = latency;
    stats.now_ns = now_ns();
    stats.rows = {{1, received, unknown, 90, 200}};
    accumulator.add(stats, t_s);
  }
  LiveFigures after(double seconds) {
    t_s += seconds;
    return accumulator.snapshot(t_s);
  }
  std::int64_t now_ns() const { return 77'000'000'000 + std::llround(t_s * 1e9); }

  LiveAccumulator accumulator;
  double t_s = 0;
  std::int64_t id = 0;
};

TEST(live_accumulator, what_is_held_against_a_run_is_shown_as_the_receivers_counted_it) {
  Rounds rounds(1);
  rounds.ask();
  rounds.senders_answer(10);
  ReceiversStats stats;
  stats.id = rounds.id, stats.received = 14, stats.duplicated = 4, stats.duplicated_unflagged = 1, stats.redelivered = 5;
  stats.bad_checksum = 2, stats.unasked = 3;
  rounds.accumulator.add(stats, rounds.t_s);
  const LiveFigures figures = rounds.after(0.1);
  EXPECT_EQ(figures.duplicated, 4);
  EXPECT_EQ(figures.duplicated_unflagged, 1);  // though more were announced than came twice
  EXPECT_EQ(figures.bad_checksum, 2);
  EXPECT_EQ(figures.unasked, 3);
}

TEST(live_accumulator, what_arrived_and_was_parked_raises_nothing_above_what_was_sent) {
  Rounds rounds(1);
  rounds.ask();
  rounds.senders_answer(10);
  ReceiversStats stats;
  stats.id = rounds.id, stats.received = 50, stats.duplicated = 40, stats.parked_delivered = 10;
  rounds.accumulator.add(stats, rounds.t_s);
  const LiveFigures figures = rounds.after(0.1);
  EXPECT_EQ(figures.attempted, 10);
  EXPECT_EQ(figures.accepted, 10);
  EXPECT_EQ(figures.in_flight, 0);
  EXPECT_EQ(figures.parked, 0);
  EXPECT_EQ(figures.parked_delivered, 10);
}

TEST(live_accumulator, intervals_add_up_to_the_whole_run) {
  Rounds rounds(1);
  rounds.ask(), rounds.senders_answer(3), rounds.receivers_answer(3, of({10, 20, 30}));
  EXPECT_EQ(rounds.after(0.1).latency_now.count, 3u);
  rounds.ask(), rounds.senders_answer(4), rounds.receivers_answer(4, of({1000}));
  const LiveFigures figures = rounds.after(0.1);
  EXPECT_EQ(figures.latency.count, 4u);
  EXPECT_EQ(figures.latency_now.count, 1u);
  EXPECT_NEAR(figures.latency.mean_us, 265, 1e-9);
  EXPECT_NEAR(figures.latency.max_us, 1000, 1e-9);
  EXPECT_NEAR(figures.latency.p50_us, 20, 0.02);
}

TEST(live_accumulator, what_is_not_known_is_not_zero) {
  LiveAccumulator accumulator{Settings()};
  const LiveFigures figures = accumulator.snapshot(0);
  EXPECT_EQ(figures.planned, 2500);
  EXPECT_EQ(figures.round, 0u);
  EXPECT_FALSE(figures.senders_silent || figures.receivers_silent) << "nobody was asked";
  for (const double value :
       {figures.latency.p50_us, figures.delay.mean_us, figures.sent_per_s, figures.stages.in_queue_us, figures.sent_copies_per_s}) {
    EXPECT_TRUE(std::isnan(value));
  }
}

TEST(live_accumulator, what_stands_side_by_side_answers_the_same_question) {
  Rounds rounds(4);
  rounds.ask(), rounds.senders_answer(10), rounds.receivers_answer(33);
  LiveFigures figures = rounds.after(0.1);
  EXPECT_EQ(figures.round, 1u);
  EXPECT_EQ(figures.in_flight, 7);
  rounds.ask(), rounds.senders_answer(20);
  figures = rounds.after(0.1);
  EXPECT_EQ(figures.round, 1u) << "the receivers have not answered the same question yet";
  EXPECT_EQ(figures.attempted, 10);
  EXPECT_EQ(figures.latency_now.count, 0u);
  rounds.receivers_answer(70);
  figures = rounds.after(0.1);
  EXPECT_EQ(figures.round, 2u);
  EXPECT_EQ(figures.attempted, 20);
  EXPECT_EQ(figures.in_flight, 10);
}

/// A thousand messages a second to one receiver, whose answers come 20 ms behind the senders' and whose clock is a second ahead.
TEST(live_accumulator, groups_on_two_hosts_are_brought_to_one_instant_and_say_how_well) {
  Rounds rounds(1);
  ClockBounds clocks;
  clocks.latency = {.apart = true, .asymmetry_us = 4000, .estimation_us = 2'000'000};  // the worst moment, which is over
  clocks.senders_offset = {.apart = true, .asymmetry_us = 1000, .estimation_us = 500};
  clocks.receivers_offset = {.apart = true, .asymmetry_us = 3000, .estimation_us = 500};
  clocks.senders_offset_us = 0, clocks.receivers_offset_us = -1e6;
  rounds.accumulator.set_clocks(clocks);
  LiveFigures figures;
  for (std::int64_t round = 1; round <= 20; ++round) {
    rounds.ask(), rounds.senders_answer(100 * round);
    ReceiversStats stats;
    stats.id = rounds.id, stats.received = 100 * round + 15;  // of the 20 that were sent since, 15 have come
    stats.now_ns = rounds.now_ns() + 1'020'000'000;
    rounds.accumulator.add(stats, rounds.t_s);
    figures = rounds.after(0.1);
    if (round == 1) {
      EXPECT_TRUE(std::isnan(figures.in_flight_bound)) << "no rate is known yet";
    }
  }
  EXPECT_NEAR(static_cast<double>(figures.in_flight), 5, 1);
  EXPECT_NEAR(figures.in_flight_bound, 20 + 5 + 1, 1);
  clocks.latency.apart = false;
  rounds.accumulator.set_clocks(clocks);
  rounds.ask(), rounds.senders_answer(2100), rounds.receivers_answer(2080);
  figures = rounds.after(0.1);
  EXPECT_EQ(figures.in_flight, 20);
  EXPECT_EQ(figures.in_flight_bound, 0) << "on one host there is nothing to tell";
}

/// What is shown of six seconds with a thousand messages a second, 50 of them under way. The receivers answer at once, the senders one
/// question at a time, and each so many tenths of a second late.
std::vector<LiveFigures> shown_with_late_senders(int late_tenths) {
  Rounds rounds(1);
  std::vector<LiveFigures> shown;
  std::int64_t open_id = 0;
  int asked_at = 0;
  for (int tenth = 0; tenth < 60; ++tenth) {
    ++rounds.id;
    if (open_id > 0 && tenth - asked_at == late_tenths) {
      SendersStats stats;
      stats.id = open_id, stats.attempted = stats.accepted = 100 * tenth;
      stats.now_ns = rounds.now_ns();
      rounds.accumulator.add(stats, rounds.t_s);
      open_id = 0;
    }
    if (open_id == 0) {
      open_id = rounds.id, asked_at = tenth;
      rounds.accumulator.asked_senders(rounds.t_s);
    }
    rounds.accumulator.asked_receivers(rounds.t_s);
    rounds.receivers_answer(std::max(0, 100 * tenth - 50));
    const LiveFigures figures = rounds.after(0.1);
    if (figures.round > (shown.empty() ? 0 : shown.back().round)) shown.push_back(figures);
  }
  return shown;
}

TEST(live_accumulator, what_is_in_flight_is_not_known_between_answers_to_two_questions) {
  const std::vector<LiveFigures> late = shown_with_late_senders(7);
  ASSERT_GT(late.size(), 5u);
  for (const LiveFigures& figures : late) {
    EXPECT_FALSE(figures.senders_silent) << figures.t_s;
    EXPECT_TRUE(std::isnan(figures.in_flight_bound)) << figures.in_flight << " at " << figures.t_s;
  }
  const std::vector<LiveFigures> in_time = shown_with_late_senders(2);
  ASSERT_GT(in_time.size(), 20u);
  for (const LiveFigures& figures : in_time) EXPECT_EQ(figures.in_flight_bound, 0) << figures.t_s;
}

TEST(live_accumulator, with_requests_what_is_in_flight_is_an_upper_bound) {
  Settings settings;
  EXPECT_FALSE(LiveAccumulator(settings).snapshot(0).in_flight_at_most);
  settings.queue.requests.emplace();
  EXPECT_TRUE(LiveAccumulator(settings).snapshot(0).in_flight_at_most);
}

TEST(live_accumulator, what_is_in_flight_is_an_upper_bound_where_some_of_it_may_have_been_lost) {
  const auto is_at_most = [](Role restarted, bool responses) {
    Settings settings;
    settings.queue.responses = responses;
    LiveAccumulator accumulator(settings);
    accumulator.restarted(restarted);
    return accumulator.snapshot(0).in_flight_at_most;
  };
  for (const bool responses : {false, true}) {
    EXPECT_EQ(is_at_most(Role::receivers, responses), !responses) << "what was not confirmed comes again";
    EXPECT_TRUE(is_at_most(Role::broker, responses)) << "what it held is gone";
    EXPECT_FALSE(is_at_most(Role::senders, responses)) << "they hear what N2NQ has";
  }
}

TEST(live_accumulator, what_has_arrived_was_accepted_and_sent) {
  Rounds rounds(4);
  rounds.ask(), rounds.senders_answer(10), rounds.receivers_answer(45);
  const LiveFigures figures = rounds.after(0.1);
  EXPECT_EQ(figures.accepted, 12);
  EXPECT_EQ(figures.attempted, 12);
  EXPECT_EQ(figures.in_flight, 3);
}

TEST(live_accumulator, a_late_answer_bends_no_rate_and_leaves_no_gap) {
  Rounds rounds(1);
  LiveFigures figures;
  const auto go_on = [&](double seconds) {
    figures = rounds.after(seconds);
    rounds.ask();
    const auto count = std::llround(rounds.t_s * 1000);
    rounds.senders_answer(count), rounds.receivers_answer(count, of({90}));
  };
  for (int i = 0; i < 30; ++i) {
    go_on(i % 7 == 3 ? 0.45 : 0.1);
    if (i < 10) continue;
    EXPECT_NEAR(figures.sent_per_s, 1000, 0.5);
    EXPECT_NEAR(figures.received_per_s, 1000, 0.5);
    EXPECT_NEAR(figures.sent_bytes_per_s, 50'000, 50);
    EXPECT_EQ(figures.latency_now.count, 1u);
    EXPECT_NEAR(figures.senders.front().rate_per_s, 1000, 0.5);
  }
}

TEST(live_accumulator, a_group_that_does_not_answer_is_silent_and_the_other_goes_on) {
  Rounds rounds(2);
  for (int i = 1; i <= 20; ++i) rounds.ask(), rounds.senders_answer(i * 10), rounds.receivers_answer(i * 20, of({90})), rounds.after(0.1);
  rounds.ask(), rounds.senders_answer(210);
  const std::uint64_t round = rounds.after(0.1).round;
  rounds.after(0.5);
  rounds.ask(), rounds.senders_answer(210);
  LiveFigures figures = rounds.after(0.5);
  EXPECT_TRUE(figures.receivers_silent);
  EXPECT_FALSE(figures.senders_silent);
  EXPECT_GT(figures.round, round);
  EXPECT_EQ(figures.attempted, 210);
  EXPECT_FALSE(std::isnan(figures.sent_per_s));
  EXPECT_EQ(figures.received, 400) << "what it said last";
  EXPECT_TRUE(figures.in_flight_is_bound());
  EXPECT_EQ(figures.in_flight, 20) << "at most: what was sent since is among it";
  for (const double value : {figures.received_per_s, figures.latency.p50_us, figures.latency_now.p50_us, figures.stages.in_queue_us,
                             figures.receivers.front().rate_per_s, figures.receivers.front().latency_p99_us}) {
    EXPECT_TRUE(std::isnan(value));
  }
  rounds.receivers_answer(420, of({900}));
  rounds.after(0.1);
  rounds.ask(), rounds.senders_answer(220), rounds.receivers_answer(440, of({90}));
  figures = rounds.after(0.1);
  EXPECT_FALSE(figures.receivers_silent);
  EXPECT_EQ(figures.latency.count, 22u) << "nothing that it said is forgotten";
}

TEST(live_accumulator, a_killed_group_is_silent_at_once_and_its_successor_tells_what_is_new) {
  Rounds rounds(2);
  for (int i = 1; i <= 20; ++i) rounds.ask(), rounds.senders_answer(i * 10), rounds.receivers_answer(i * 20, of({90})), rounds.after(0.1);
  rounds.accumulator.set_absent(Role::receivers, true);
  LiveFigures figures = rounds.after(0.1);
  EXPECT_TRUE(figures.receivers_silent);
  EXPECT_TRUE(std::isnan(figures.received_per_s));
  rounds.accumulator.restarted(Role::receivers);
  EXPECT_TRUE(rounds.after(0.1).receivers_silent) << "it was not asked yet";
  rounds.accumulator.set_absent(Role::receivers, false);
  // It has read its logs: the 20 samples of before, and a new one.
  std::vector<std::int64_t> all(20, 90);
  all.push_back(900'000);
  measure::Histogram known;
  for (const std::int64_t us : all) known.add(us * 1000);
  rounds.ask(), rounds.senders_answer(210), rounds.receivers_answer(420, known);
  figures = rounds.after(0.1);
  EXPECT_FALSE(figures.receivers_silent);
  EXPECT_EQ(figures.latency.count, 21u);
  EXPECT_EQ(figures.latency_now.count, 1u);
  EXPECT_NEAR(figures.latency_now.p50_us, 900'000, 900);
}

TEST(live_accumulator, a_group_that_has_ended_has_no_rate) {
  for (const bool receivers_lost : {false, true}) {
    Rounds rounds(2);
    for (int i = 1; i <= 20; ++i) rounds.ask(), rounds.senders_answer(i * 10), rounds.receivers_answer(i * 20, of({90})), rounds.after(0.1);
    rounds.accumulator.set_absent(Role::receivers, receivers_lost);
    LiveFigures figures;
    for (int i = 1; i <= 15; ++i) {
      if (!receivers_lost) {
        ++rounds.id;
        rounds.accumulator.asked_receivers(rounds.t_s);
        rounds.receivers_answer(400 + i * 20, of({90}));
      }
      figures = rounds.after(0.1);
      if (i == 10) {
        EXPECT_NEAR(figures.sent_copies_per_s, 200, 1) << "a bench that was held up has not asked yet";
        rounds.accumulator.set_over(Role::senders);
      }
      if (i > 10) {
        EXPECT_EQ(figures.in_flight_bound, 0) << "their counts hold still";
      }
    }
    const double row_per_s = figures.senders.front().rate_per_s;
    for (const double value : {figures.sent_per_s, figures.sent_copies_per_s, figures.sent_bytes_per_s, row_per_s}) {
      EXPECT_TRUE(std::isnan(value));
    }
    EXPECT_FALSE(figures.senders_silent) << "nobody asks them";
    EXPECT_EQ(figures.senders.front().delay_mean_ms, 5) << "it is of the whole run";
    EXPECT_EQ(std::isnan(figures.received_per_s), receivers_lost);
  }
}

TEST(live_accumulator, a_group_that_is_not_there_keeps_nobody_waiting) {
  LiveAccumulator accumulator(with_receivers(2));
  SendersStats stats;
  stats.id = 1, stats.attempted = stats.accepted = 5;
  accumulator.asked_senders(0);
  accumulator.add(stats, 0);
  const LiveFigures figures = accumulator.snapshot(0.1);
  EXPECT_EQ(figures.attempted, 5);
  EXPECT_EQ(figures.in_flight, 10) << "for each of two receivers, who are still to come";
  EXPECT_EQ(figures.in_flight_bound, 0);
}

TEST(count_rate, slow_counts_are_whole) {
  CountRate rate;
  EXPECT_TRUE(std::isnan(rate.per_s()));
  for (std::int64_t ms = 0; ms <= 30'000; ms += 100) {
    rate.look(1 + ms * ns_per_ms, (ms + 260) / 500);  // two a second
    if (ms > 6'000) {
      EXPECT_NEAR(rate.per_s(), 2.0, 0.05) << ms;
    }
  }
}

TEST(count_rate, sinks_when_nothing_comes_any_more) {
  CountRate rate;
  std::int64_t ms = 0;
  for (; ms <= 5'000; ms += 100) rate.look(1 + ms * ns_per_ms, ms);
  EXPECT_NEAR(rate.per_s(), 1000, 1);
  for (; ms <= 6'000; ms += 100) rate.look(1 + ms * ns_per_ms, 5'000);
  EXPECT_EQ(rate.per_s(), 0);
}

TEST(count_rate, of_a_slow_one_sinks_first_and_is_zero_ten_seconds_later) {
  CountRate rate;
  std::int64_t ms = 0;
  for (; ms <= 20'000; ms += 100) rate.look(1 + ms * ns_per_ms, ms / 400);
  double before = rate.per_s();
  EXPECT_NEAR(before, 2.5, 0.05);
  for (; ms <= 30'000; ms += 100) {
    rate.look(1 + ms * ns_per_ms, 50);
    EXPECT_LE(rate.per_s(), before) << ms;
    if (ms == 24'000) {
      EXPECT_GT(rate.per_s(), 0);
      EXPECT_LT(rate.per_s(), 2);
    }
    before = rate.per_s();
  }
  EXPECT_EQ(before, 0);
}

/// As those of the load balancer that chooses receivers at random.
TEST(count_rate, random_gaps_are_not_taken_for_an_end) {
  for (const double per_s : {1.0, 2.0, 5.0}) {
    std::uint32_t random = 7919;
    const auto next_gap_ms = [&] {
      random = random * 1'664'525u + 1'013'904'223u;
      return -1000 / per_s * std::log((random + 1.0) / 4'294'967'297.0);
    };
    CountRate rate;
    std::int64_t count = 0;
    double next_ms = next_gap_ms();
    for (std::int64_t ms = 100; ms <= 600'000; ms += 100) {
      for (; next_ms <= static_cast<double>(ms); next_ms += next_gap_ms()) ++count;
      rate.look(1 + ms * ns_per_ms, count);
      ASSERT_NE(rate.per_s(), 0) << per_s << " at " << ms << " ms";
    }
  }
}

TEST(count_rate, what_goes_on_after_a_standstill_is_not_spread_over_it) {
  constexpr std::int64_t second = 1'000'000'000, tenth = second / 10;
  CountRate rate;
  std::int64_t now_ns = 0, count = 0;
  const auto look = [&](int tenths, std::int64_t more) {
    for (int i = 0; i < tenths; ++i) rate.look(now_ns += tenth, count += more);
  };
  look(50, 100);
  EXPECT_NEAR(rate.per_s(), 1000, 1);
  look(600, 0);
  EXPECT_EQ(rate.per_s(), 0);
  for (int i = 0; i < 20; ++i) {
    look(1, 100);
    if (std::isnan(rate.per_s())) continue;
    EXPECT_NEAR(rate.per_s(), 1000, 1) << i;
  }
  EXPECT_NEAR(rate.per_s(), 1000, 1);
}

TEST(count_rate, what_comes_at_once_after_a_standstill_came_then) {
  constexpr std::int64_t tenth = 100'000'000;
  CountRate rate;
  std::int64_t now_ns = 0, count = 0;
  const auto look = [&](int tenths, std::int64_t more) {
    for (int i = 0; i < tenths; ++i) rate.look(now_ns += tenth, count += more);
  };
  look(50, 500);
  look(43, 0);
  EXPECT_EQ(rate.per_s(), 0);
  look(1, 22'000);
  double most_per_s = 0;
  for (int i = 0; i < 9; ++i) {
    look(1, 500);
    if (!std::isnan(rate.per_s())) most_per_s = std::max(most_per_s, rate.per_s());
  }
  EXPECT_NEAR(most_per_s, (22'000 + 4 * 500) / 0.5, 1) << "over the first half second, not over the 4.4 s since";
  EXPECT_NEAR(rate.per_s(), 22'000 + 9 * 500, 1);
  look(5, 500);
  EXPECT_NEAR(rate.per_s(), 5000, 1);
}

TEST(count_rate, of_bursts_that_fall_into_two_looks_is_known_between_them) {
  constexpr std::int64_t tenth = 100'000'000;
  CountRate rate;
  std::int64_t count = 0;
  for (int i = 1; i <= 200; ++i) {
    count += i % 30 == 10 ? 8000 : i % 30 == 11 ? 2000 : 0;
    rate.look(i * tenth, count);
    if (i <= 45) continue;
    EXPECT_GT(rate.per_s(), 500) << i << ": neither 0 nor unknown";
  }
}

TEST(count_rate, of_bursts_the_longer_gap_belongs_to_the_rate) {
  constexpr std::int64_t tenth = 100'000'000;
  CountRate rate;
  std::int64_t count = 0;
  for (int i = 1, next = 10; i <= 200; ++i) {
    count += i == next ? 8000 : i == next + 1 ? 2000 : 0;
    if (i == next + 1) next += i > 100 && i < 130 ? 40 : 30;  // once 4 s in place of 3
    rate.look(i * tenth, count);
    if (std::isnan(rate.per_s())) continue;
    EXPECT_LE(rate.per_s(), 4000) << i;
  }
}

TEST(count_rate, a_slow_one_that_goes_on_after_a_standstill_is_as_slow_at_once) {
  constexpr std::int64_t tenth = 100'000'000;
  CountRate rate;
  std::int64_t now_ns = 0, count = 0;
  const auto two_a_second = [&](int tenths) {
    for (int i = 1; i <= tenths; ++i) {
      rate.look(now_ns += tenth, count += i % 5 == 0 ? 1 : 0);
      if (now_ns <= 20 * tenth || std::isnan(rate.per_s())) continue;
      EXPECT_NEAR(rate.per_s(), 2, 0.01) << now_ns / tenth;
    }
  };
  two_a_second(100);
  for (int i = 0; i < 150; ++i) rate.look(now_ns += tenth, count);
  EXPECT_EQ(rate.per_s(), 0);
  rate.look(now_ns += tenth, ++count);
  two_a_second(100);
}

TEST(count_rate, the_wait_before_the_first_is_not_counted) {
  CountRate rate;
  for (std::int64_t ms = 0; ms <= 1'000; ms += 100) rate.look(1 + ms * ns_per_ms, 0);
  EXPECT_TRUE(std::isnan(rate.per_s()));
  for (std::int64_t ms = 1'100; ms <= 1'600; ms += 100) rate.look(1 + ms * ns_per_ms, ms - 1'000);
  EXPECT_NEAR(rate.per_s(), 1000, 1);
}

}  // namespace
}  // namespace n2nq::app
