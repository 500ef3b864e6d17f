// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/settings/settings.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "app/settings/settings_json.h"
#include "app/settings/text_value.h"

namespace n2nq::app {
namespace {

/// For every key a value that is not its default.
const std::map<std::string, std::string>& other_values() {
  static const std::map<std::string, std::string> values = {
      {"title", "A title: with \"quotes\" # and more"},
      {"description", "Two sentences. Ümläute."},
      {"broker.host", "local"},
      {"broker.port", "40001"},
      {"broker.io", "io_uring"},
      {"broker.spin_us", "50"},
      {"broker.keep_core", "false"},
      {"transport", "unix"},
      {"queue.mode", "load-balancer"},
      {"queue.remove", "after-time"},
      {"queue.retention_s", "2.5"},
      {"queue.dispatch", "next-free"},
      {"queue.responses", "true"},
      {"queue.requests", "[{receivers: [R1-R4, R7], senders: [S1-S10], sizes: 20-100, prefetch: 3}]"},
      {"responses.window", "16"},
      {"responses.deadline_s", "0.5"},
      {"responses.attempts_max", "9"},
      {"senders.host", "local"},
      {"senders.amount", "7"},
      {"senders.messages", "123"},
      {"senders.duration_s", "12.5"},
      {"senders.size_bytes", "[20, 100]"},
      {"senders.delay_ms", "0.333333"},
      {"senders.rate_per_s", "3000"},
      {"senders.start", "in-phase"},
      {"senders.warmup_messages", "20"},
      {"receivers.host", "local"},
      {"receivers.amount", "9"},
      {"limits.memory_mib", "512"},
      {"limits.books_mib", "2048"},
      {"limits.pending_mib", "32"},
      {"limits.write_deadline_s", "0.01"},
      {"limits.message_max_bytes", "2048"},
      {"limits.handshake_deadline_s", "3"},
      {"limits.heartbeat_s", "0"},
      {"limits.sessions_max", "100"},
      {"limits.drain_s", "1.25"},
      {"limits.reconnect_deadline_s", "20"},
      {"limits.connect_deadline_s", "5"},
      {"start_when", "senders-connected"},
      {"log", "sampled"},
      {"log_sample_every", "10"},
      {"messages_tsv_max_mib", "0"},
      {"seed", "9223372036854775807"}};
  return values;
}

std::string problem(std::string_view key, std::string_view text) {
  Settings settings;
  const auto error = set_value(settings, key, text);
  EXPECT_EQ(settings, Settings()) << "a refused value must leave the settings alone";
  return error ? error->message : "";
}

std::string only_error(const Settings& settings) {
  const auto errors = validate(settings);
  return errors.size() == 1 ? errors.front().key + " " + errors.front().message : std::to_string(errors.size()) + " errors";
}

TEST(settings, defaults_can_be_run) {
  EXPECT_TRUE(validate(Settings()).empty());
}

TEST(settings, every_key_is_described_once) {
  std::set<std::string_view> seen;
  for (const KeyInfo& info : keys()) {
    EXPECT_TRUE(seen.insert(info.key).second) << info.key;
    EXPECT_FALSE(info.label.empty()) << info.key;
    EXPECT_TRUE(info.meaning.ends_with('.')) << info.key;
    EXPECT_EQ(find_key(info.key)->key, info.key);
    EXPECT_TRUE(other_values().contains(std::string(info.key))) << info.key << " is not tested";
  }
  EXPECT_EQ(find_key("nonsense"), nullptr);
}

TEST(settings, every_key_takes_a_value_and_its_own_text_back) {
  for (const auto& [key, text] : other_values()) {
    Settings settings;
    ASSERT_FALSE(set_value(settings, key, text)) << key;
    EXPECT_EQ(value_text(settings, key), text);
    Settings again;
    for (const KeyInfo& info : keys()) ASSERT_FALSE(set_value(again, info.key, value_text(settings, info.key))) << info.key;
    EXPECT_EQ(again, settings) << key;
  }
}

TEST(settings, numbers_stop_at_their_bounds) {
  for (const KeyInfo& info : keys()) {
    if (info.max == 0 || info.key == "seed" || info.key == "senders.size_bytes") continue;
    Settings settings;
    EXPECT_FALSE(set_value(settings, info.key, decimal_text(info.min))) << info.key;
    EXPECT_FALSE(set_value(settings, info.key, decimal_text(info.max))) << info.key;
    EXPECT_TRUE(set_value(settings, info.key, decimal_text(info.max + 1))) << info.key;
    EXPECT_TRUE(set_value(settings, info.key, decimal_text(info.min - 1))) << info.key;
  }
}

TEST(settings, refused_values_say_what_would_be_right) {
  EXPECT_EQ(problem("senders.amount", "ten"), "must be a whole number from 1 to 2000, not \"ten\"");
  EXPECT_EQ(problem("senders.amount", "0"), "must be a whole number from 1 to 2000, not \"0\"");
  EXPECT_EQ(problem("senders.amount", "5x"), "must be a whole number from 1 to 2000, not \"5x\"");
  EXPECT_EQ(problem("senders.amount", "5.5"), "must be a whole number from 1 to 2000, not \"5.5\"");
  EXPECT_EQ(problem("senders.amount", ""), "must be a whole number from 1 to 2000, not \"\"");
  for (const char* text : {"1e3", "1.5E+3", "-1e3", "1e999"}) {
    const std::string wanted = "must be a number from 0 to 3600000 written without an exponent, not ";
    EXPECT_EQ(problem("senders.delay_ms", text), wanted + '"' + text + '"');
  }
  EXPECT_EQ(problem("senders.delay_ms", "1e"), "must be a number from 0 to 3600000, not \"1e\"");
  EXPECT_EQ(problem("senders.amount", "1e2"), "must be a whole number from 1 to 2000, not \"1e2\"");
  EXPECT_EQ(problem("senders.delay_ms", "inf"), "must be a number from 0 to 3600000, not \"inf\"");
  EXPECT_EQ(problem("senders.delay_ms", "-1"), "must be a number from 0 to 3600000, not \"-1\"");
  EXPECT_EQ(problem("senders.delay_ms", "0.0000001"),
            "must be a number from 0 to 3600000 with at most 6 decimal places, not \"0.0000001\"");
  EXPECT_EQ(problem("queue.mode", "broadcast"), "must be broadcaster or load-balancer, not \"broadcast\"");
  EXPECT_EQ(problem("queue.dispatch", "Random"), "must be random, round-robin or next-free, not \"Random\"");
  EXPECT_EQ(problem("queue.responses", "yes"), "must be true or false, not \"yes\"");
  EXPECT_EQ(problem("queue.requests", "yes"),
            "must be false, true, or a list such as [{receivers: R1-R25, senders: S1-S10, sizes: 20-100, prefetch: 1}], not \"yes\"");
  EXPECT_EQ(problem("broker.host", "lab 1"),
            "must be 1 to 64 of the characters A–Z a–z 0–9 . _ -, beginning with a letter or digit, not \"lab 1\"");
  EXPECT_EQ(problem("senders.size_bytes", "[100, 20]"), "must be a range that rises, such as [20, 100], not \"[100, 20]\"");
  EXPECT_EQ(problem("senders.size_bytes", "[100]"), "must be one size or a range such as [20, 100], not \"[100]\"");
  EXPECT_EQ(problem("senders.size_bytes", "big"), "must be a whole number from 1 to 16777216 or a range such as [20, 100], not \"big\"");
  EXPECT_EQ(problem("seed", "-1"), "must be a whole number from 0 to 9223372036854775807, not \"-1\"");
  EXPECT_EQ(problem("title", "two\nlines"), "must be one line without control characters");
  EXPECT_EQ(problem("title", std::string(101, 'x')), "must be at most 100 bytes long, not 101");
  EXPECT_EQ(problem("amount", "5"), "is not a setting; the nearest one is senders.amount");
}

TEST(settings, mistyped_keys_find_their_neighbour) {
  EXPECT_EQ(nearest_key("senders.amont"), "senders.amount");
  EXPECT_EQ(nearest_key("queue.retention"), "queue.retention_s");
  EXPECT_EQ(nearest_key("delay_ms"), "senders.delay_ms");
  EXPECT_EQ(nearest_key("sede"), "seed");
  EXPECT_EQ(nearest_key("mode"), "queue.mode");
}

TEST(settings, setting_one_of_a_pair_clears_the_other) {
  Settings settings;
  ASSERT_FALSE(set_value(settings, "senders.duration_s", "3"));
  EXPECT_FALSE(settings.senders.messages);
  ASSERT_FALSE(set_value(settings, "senders.messages", "3"));
  EXPECT_FALSE(settings.senders.duration_s);
  ASSERT_FALSE(set_value(settings, "senders.rate_per_s", "3"));
  EXPECT_FALSE(settings.senders.delay_ms);
  ASSERT_FALSE(set_value(settings, "senders.delay_ms", "3"));
  EXPECT_FALSE(settings.senders.rate_per_s);
  ASSERT_FALSE(set_value(settings, "senders.messages", "none"));
  EXPECT_FALSE(settings.senders.messages);
  EXPECT_FALSE(settings.planned_messages());
  EXPECT_TRUE(validate(settings).empty()) << "neither messages nor duration: until stopped";
}

TEST(settings, intervals_are_exact_fractions) {
  Settings settings;
  EXPECT_EQ(settings.interval(), (Interval{500'000'000, 1}));
  ASSERT_FALSE(set_value(settings, "senders.delay_ms", "0.333333"));
  EXPECT_EQ(settings.interval(), (Interval{333'333, 1}));
  ASSERT_FALSE(set_value(settings, "senders.delay_ms", "0"));
  EXPECT_EQ(settings.interval(), (Interval{0, 1}));
  ASSERT_FALSE(set_value(settings, "senders.rate_per_s", "3000"));
  EXPECT_EQ(settings.interval(), (Interval{1'000'000, 3}));
  ASSERT_FALSE(set_value(settings, "senders.rate_per_s", "0.7"));
  EXPECT_EQ(settings.interval(), (Interval{10'000'000'000, 7}));
  ASSERT_FALSE(set_value(settings, "senders.rate_per_s", "0.001"));
  EXPECT_EQ(settings.interval(), (Interval{1'000'000'000'000, 1}));
  ASSERT_FALSE(set_value(settings, "senders.rate_per_s", "333333.333333"));
  EXPECT_EQ(settings.interval(), (Interval{1'000'000'000'000'000, 333'333'333'333}));
}

TEST(settings, the_plan_is_counted_ahead) {
  Settings settings;
  EXPECT_EQ(settings.planned_messages(), 2500);
  EXPECT_EQ(settings.copies(), 50);
  EXPECT_NEAR(*settings.planned_duration_s(), 24.99, 1e-9);
  ASSERT_FALSE(set_value(settings, "senders.start", "in-phase"));
  EXPECT_NEAR(*settings.planned_duration_s(), 24.5, 1e-9);
  ASSERT_FALSE(set_value(settings, "senders.duration_s", "60"));
  ASSERT_FALSE(set_value(settings, "senders.rate_per_s", "3000"));
  ASSERT_FALSE(set_value(settings, "senders.amount", "1"));
  EXPECT_EQ(settings.planned_messages(), 180'000);
  Settings spread;  // ten senders a tenth of a second apart: half of them have time for a second message
  spread.senders.amount = 10, spread.senders.messages.reset(), spread.senders.duration_s = 1.5, spread.senders.delay_ms = 1000;
  EXPECT_EQ(spread.planned_messages(), 15);
  spread.senders.duration_s = 0.05;
  EXPECT_EQ(spread.planned_messages(), 1);
  EXPECT_EQ(settings.planned_duration_s(), 60);
  ASSERT_FALSE(set_value(settings, "queue.mode", "load-balancer"));
  EXPECT_EQ(settings.copies(), 1);
  ASSERT_FALSE(set_value(settings, "senders.delay_ms", "0"));
  EXPECT_FALSE(settings.planned_messages());
}

TEST(settings, warm_up_is_counted_beside_the_plan) {
  Settings s;
  s.senders.amount = 4;
  s.senders.messages = 10;
  EXPECT_EQ(s.warmup_ns(), 0);
  s.senders.warmup_messages = 3;
  EXPECT_EQ(s.planned_messages(), 40);
  EXPECT_EQ(s.planned_warmup(), 12);
  EXPECT_EQ(s.warmup_ns(), 1'500'000'000);
  set_value(s, "senders.rate_per_s", "3000");
  EXPECT_EQ(s.warmup_ns(), 1'000'000);
  s.senders.warmup_messages = 1;
  EXPECT_EQ(s.warmup_ns(), 333'334) << "not a nanosecond too short";
  set_value(s, "senders.delay_ms", "0");
  EXPECT_EQ(s.warmup_ns(), 0) << "as fast as it goes";
  s.senders.warmup_messages = 1'000'000;
  set_value(s, "senders.delay_ms", "3600000");
  EXPECT_EQ(s.warmup_ns(), 3'600'000'000'000'000'000);
  EXPECT_FALSE(remarks(s).empty());
}

TEST(settings, rules_between_keys) {
  Settings s;
  s.senders.messages = 5, s.senders.duration_s = 5;
  EXPECT_EQ(only_error(s), "senders.duration_s excludes senders.messages: give one of them, or none of both to go on until stopped");
  s = {};
  s.senders.rate_per_s = 5;
  EXPECT_EQ(only_error(s), "senders.rate_per_s excludes senders.delay_ms: give one of them");
  s = {};
  s.senders.delay_ms.reset();
  EXPECT_EQ(only_error(s), "senders.delay_ms is missing: give delay_ms or rate_per_s");
  s = {};
  s.senders.size_max_bytes = 4096, s.limits.message_max_bytes = 2048;
  EXPECT_EQ(only_error(s), "senders.size_bytes must be at most limits.message_max_bytes (2048), not 4096");
  s = {};
  s.limits.memory_mib = 32, s.limits.pending_mib = 64;
  EXPECT_EQ(only_error(s), "limits.pending_mib must be at most limits.memory_mib (32), not 64");
  s = {};
  s.limits.memory_mib = 2, s.limits.pending_mib = 1;
  EXPECT_EQ(only_error(s), "limits.memory_mib must be at least 3 for messages of 1048576 B (limits.message_max_bytes), not 2");
  s.limits.memory_mib = 32;
  s.limits.pending_mib = 1, s.limits.message_max_bytes = 2 << 20;
  EXPECT_EQ(only_error(s),
            "limits.message_max_bytes must be at most limits.pending_mib (1048576 B), so that one message alone cuts nobody off");
  s = {};
  s.limits.sessions_max = 101;
  EXPECT_EQ(only_error(s), "limits.sessions_max must be at least 102 for 50 senders, 50 receivers and 2 clock probes, not 101");
}

TEST(settings, values_written_into_the_struct_are_held_to_the_same_rules) {
  Settings s;
  s.senders.amount = 0;
  EXPECT_EQ(only_error(s), "senders.amount must be a whole number from 1 to 2000, not \"0\"");
  s = {};
  s.queue.retention_s = 1e9;
  EXPECT_EQ(only_error(s), "queue.retention_s must be a number from 0.001 to 86400, not \"1000000000\"");
  s = {};
  s.receivers.host = "-lab";
  EXPECT_EQ(only_error(s),
            "receivers.host must be 1 to 64 of the characters A–Z a–z 0–9 . _ -, beginning with a letter or digit, not \"-lab\"");
  s.receivers.host = "lab-1";
  EXPECT_TRUE(validate(s).empty());
  s.transport = Transport::unix_domain;
  EXPECT_EQ(only_error(s), "transport must be tcp where services run on another host than N2NQ: unix reaches no other host");
}

TEST(settings, a_title_is_one_line_of_text) {
  Settings s;
  EXPECT_FALSE(set_value(s, "title", "größer €, 50 × 50 \U0001F600"));
  for (const char* text : {"\x80", "\xC3", "\xC0\xAF", "\xED\xA0\x80", "\xF5\x80\x80\x80"}) {
    EXPECT_EQ(set_value(s, "title", text).value().message, "must be UTF-8 text") << text;
  }
  for (const char* text : {"a\nb", "\xC2\x85", "\xE2\x80\xA8", "\xEF\xBF\xBF"}) {
    EXPECT_EQ(set_value(s, "title", text).value().message, "must be one line without control characters");
  }
}

TEST(settings, a_receiver_may_have_a_quarter_of_the_budget_waiting_and_three_messages) {
  Settings s;
  EXPECT_EQ(s.pending_mib(), 64);
  s.limits.memory_mib = 1000;
  EXPECT_EQ(s.pending_mib(), 250);
  s.limits.memory_mib = 32;
  EXPECT_EQ(s.pending_mib(), 8);
  s.limits.message_max_bytes = (5 << 20) + 1;
  EXPECT_EQ(s.pending_mib(), 16);
  s.limits.message_max_bytes = (12 << 20) + 1;
  EXPECT_EQ(s.pending_mib(), 32) << "no more than the budget";
  EXPECT_TRUE(validate(s).empty());
  s.limits.pending_mib = 20;
  EXPECT_EQ(s.pending_mib(), 20);
}

TEST(settings, remarks_say_when_one_receiver_can_use_the_whole_budget_up) {
  Settings s;
  s.limits.pending_mib = 64;
  s.limits.memory_mib = 2 * s.limits.pending_mib;
  EXPECT_TRUE(remarks(s).empty());
  --s.limits.memory_mib;
  ASSERT_EQ(remarks(s).size(), 1u);
  EXPECT_EQ(remarks(s)[0].substr(0, 60), "limits.pending_mib is more than half of limits.memory_mib: a");
  s.limits.pending_mib = 0;
  s.limits.memory_mib = 4;
  ASSERT_EQ(remarks(s).size(), 1u);
  EXPECT_EQ(remarks(s)[0].substr(0, 62), "limits.pending_mib (reckoned: 4 MiB) is more than half of limi");
}

TEST(settings, remarks_say_what_should_be_known_before_the_start) {
  EXPECT_TRUE(remarks(Settings()).empty());
  Settings s;
  s.queue.remove = RemoveRule::after_time;
  ASSERT_EQ(remarks(s).size(), 1u);
  EXPECT_EQ(remarks(s)[0], "Removed after a set time, every message is kept for 5 s: at most about 301\u202f000 messages/s fit in 256 MiB.");
  EXPECT_EQ(remarks(s)[0].find("hold the senders back"), std::string::npos);
  s.senders.delay_ms = 0.001;
  EXPECT_NE(remarks(s)[0].find("hold the senders back"), std::string::npos);
  s = {};
  s.senders.messages.reset();
  EXPECT_EQ(remarks(s), std::vector<std::string>{"The run goes on until it is stopped."});
  s = {};
  s.senders.delay_ms = 0;
  EXPECT_EQ(remarks(s), std::vector<std::string>{"With delay 0 there is no plan: lag and latency from plan are absent."});
  for (const double heartbeat_s : {0.0, 5.0}) {
    s = {};
    s.limits.heartbeat_s = heartbeat_s;
    EXPECT_TRUE(remarks(s).empty());
  }
  for (const double heartbeat_s : {0.001, 0.999}) {
    s.limits.heartbeat_s = heartbeat_s;
    ASSERT_EQ(validate(s).size(), 1u);
    EXPECT_EQ(validate(s)[0].key, "limits.heartbeat_s");
  }
  s.limits.heartbeat_s = 1;
  EXPECT_TRUE(validate(s).empty());
  s.limits.heartbeat_s = 4.9;
  EXPECT_EQ(remarks(s), std::vector<std::string>{"A heartbeat under 5 s may take a service for gone whose host is only busy."});
  s = {};
  s.messages_tsv_max_mib = 1;
  ASSERT_EQ(remarks(s).size(), 1u);
  EXPECT_TRUE(remarks(s)[0].starts_with("messages.tsv will be cut at 1 MiB"));
}

TEST(settings, a_key_without_effect_says_what_makes_it_count) {
  const auto idle = [](std::initializer_list<std::pair<const char*, const char*>> values) {
    Settings s;
    for (const auto& [key, text] : values) EXPECT_FALSE(set_value(s, key, text)) << key;
    std::set<std::string> out;
    for (const KeyInfo& info : keys()) {
      const std::string why = why_without_effect(s, info.key);
      if (why.empty()) continue;
      EXPECT_NE(why.find(". It counts "), std::string::npos) << why;
      out.insert(std::string(info.key));
    }
    return out;
  };
  using Keys = std::set<std::string>;
  const Keys responses{"responses.window", "responses.deadline_s", "responses.attempts_max"};
  Keys all = responses;
  all.insert("log_sample_every");
  EXPECT_EQ(idle({}), all);
  EXPECT_EQ(idle({{"log", "off"}}), all);
  EXPECT_EQ(idle({{"log", "sampled"}}), responses);
  EXPECT_EQ(idle({{"queue.responses", "true"}, {"log", "sampled"}}), Keys{});
  EXPECT_EQ(idle({{"queue.responses", "true"}, {"queue.mode", "load-balancer"}, {"log", "sampled"}}), Keys{});
  EXPECT_EQ(idle({{"queue.responses", "true"}, {"log", "sampled"}, {"senders.delay_ms", "0"}}), Keys{"senders.start"});
  EXPECT_EQ(idle({{"queue.responses", "true"}, {"log", "sampled"}, {"senders.rate_per_s", "20"}}), Keys{});
}

TEST(settings, json_has_types) {
  Settings s;
  s.senders.size_max_bytes = 100;
  s.seed = 9223372036854775807u;
  const auto json = settings_json(s);
  EXPECT_EQ(json["queue"]["mode"], "broadcaster");
  EXPECT_EQ(json["queue"]["responses"], false);
  EXPECT_EQ(json["senders"]["size_bytes"], nlohmann::ordered_json::parse("[50, 100]"));
  EXPECT_TRUE(json["senders"]["duration_s"].is_null());
  EXPECT_EQ(json["senders"]["delay_ms"], 500);
  EXPECT_EQ(json["seed"], 9223372036854775807u);
  EXPECT_EQ(json["title"], "");
}

}  // namespace
}  // namespace n2nq::app
