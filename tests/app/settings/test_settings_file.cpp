// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/settings/settings_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QTemporaryDir>
#include <random>

namespace n2nq::app {
namespace {

std::string all_errors(std::string_view text) {
  std::string out;
  for (const auto& error : read_settings_text(text, "f.yaml").errors) out += error.text() + "\n";
  return out;
}

TEST(settings_file, says_only_what_differs) {
  const auto read =
      read_settings_text("format: 1\nsenders: { amount: 7, size_bytes: [20, 100] }\nqueue:\n  mode: load-balancer\nseed: 9\n", "f.yaml");
  ASSERT_TRUE(read.settings) << read.errors.front().text();
  Settings expected;
  expected.senders.amount = 7;
  expected.senders.size_min_bytes = 20, expected.senders.size_max_bytes = 100;
  expected.queue.mode = QueueMode::load_balancer;
  expected.seed = 9;
  EXPECT_EQ(*read.settings, expected);
  EXPECT_EQ(read.lines.at("queue.mode"), 4);
}

TEST(settings_file, a_given_value_beats_the_default_it_excludes) {
  const auto read = read_settings_text("format: 1\nsenders: { duration_s: 5, rate_per_s: 3000 }\n", "f.yaml");
  ASSERT_TRUE(read.settings);
  EXPECT_FALSE(read.settings->senders.messages);
  EXPECT_FALSE(read.settings->senders.delay_ms);
  EXPECT_EQ(read.settings->senders.rate_per_s, 3000);
}

TEST(settings_file, until_stopped_can_be_written) {
  for (const char* none : {"none", "null", "~", ""}) {
    const auto read = read_settings_text(std::string("format: 1\nsenders:\n  messages: ") + none + "\n", "f.yaml");
    ASSERT_TRUE(read.settings) << none;
    EXPECT_FALSE(read.settings->senders.messages);
  }
}

TEST(settings_file, a_value_left_out_is_an_empty_text_or_missing) {
  const auto read = read_settings_text("format: 1\ntitle:\ndescription: ~\nsenders: { messages: , duration_s: 5 }\n", "f.yaml");
  ASSERT_TRUE(read.settings) << read.errors.front().text();
  EXPECT_EQ(read.settings->title + read.settings->description, "");
  EXPECT_EQ(read.settings->senders.duration_s, 5);
  EXPECT_EQ(all_errors("format: 1\nbroker: {host: }\nsenders:\n  amount:\nlog: ~\n"),
            "f.yaml:2: broker.host has no value: give one, or leave the key out\n"
            "f.yaml:4: senders.amount has no value: give one, or leave the key out\n"
            "f.yaml:5: log has no value: give one, or leave the key out\n");
  EXPECT_EQ(read_settings_text("format: 1\ntitle: none\n", "f.yaml").settings->title, "none") << "a title like any other";
}

TEST(settings_file, each_mistake_is_named_with_line_and_key) {
  EXPECT_EQ(all_errors("format: 1\nsenders:\n  amont: 7\n"),
            "f.yaml:3: senders.amont is not a setting; the nearest one is senders.amount\n");
  EXPECT_EQ(all_errors("format: 1\nsenders:\n  amount: many\n"),
            "f.yaml:3: senders.amount must be a whole number from 1 to 2000, not \"many\"\n");
  EXPECT_EQ(all_errors("format: 1\nqueue:\n  mode: fanout\n"),
            "f.yaml:3: queue.mode must be broadcaster or load-balancer, not \"fanout\"\n");
  EXPECT_EQ(all_errors("format: 1\nsender: { amount: 7 }\n"), "f.yaml:2: sender is not a section; the nearest one is senders\n");
  EXPECT_EQ(all_errors("format: 1\nsenders: 50\n"), "f.yaml:2: senders is a section: it needs keys below it, such as senders.host\n");
  EXPECT_EQ(all_errors("format: 1\nsed: 5\n"), "f.yaml:2: sed is not a setting; the nearest one is seed\n");
  EXPECT_EQ(all_errors("format: 1\nseed: 5\nlog: off\nseed: 6\n"), "f.yaml:4: seed stands twice; keep one of them\n");
  EXPECT_EQ(all_errors("format: 1\nsenders.amount: 5\nsenders: { amount: 6 }\n"),
            "f.yaml:3: senders.amount stands here and in line 2: keep one of them\n");
  EXPECT_EQ(all_errors("format: 1\nsenders:\n  messages: 5\n  duration_s: 5\n"),
            "f.yaml:4: senders.duration_s excludes senders.messages (line 3): keep one of them\n");
  EXPECT_EQ(all_errors("format: 1\nsenders: { rate_per_s: 3, delay_ms: 5 }\n"),
            "f.yaml:2: senders.delay_ms excludes senders.rate_per_s (line 2): keep one of them\n");
  EXPECT_EQ(all_errors("format: 1\nsenders: { size_bytes: [1, 2, 3] }\n"),
            "f.yaml:2: senders.size_bytes must be one size or a range such as [20, 100]\n");
  EXPECT_EQ(all_errors("format: 1\nqueue:\n  requests: [{receiver: R1}]\n"),
            "f.yaml:3: queue.requests has the unknown field \"receiver\"; the nearest one is receivers\n");
  EXPECT_EQ(all_errors("format: 1\nqueue:\n  requests:\n    - receivers: R1\n    - receivers: R2\n      sizes: 9-3\n"),
            "f.yaml:5: queue.requests sizes must be any, one size such as 50, or a range such as 20-100, not \"9-3\"\n");
  EXPECT_EQ(all_errors("format: 1\nqueue: { responses: maybe }\n"), "f.yaml:2: queue.responses must be true or false, not \"maybe\"\n");
  EXPECT_EQ(all_errors("format: 1\nlog: [all]\n"), "f.yaml:2: log must be one value, not a list\n");
  EXPECT_EQ(all_errors("format: 1\nlog: { all: 1 }\n"), "f.yaml:2: log must be one value, not a section\n");
  EXPECT_EQ(all_errors("senders: { amount: 7 }\n"), "f.yaml: format is missing: the file must say \"format: 1\"\n");
  EXPECT_EQ(all_errors("format: 2\n"), "f.yaml:1: format is 2, but this version reads up to format 1: a newer n2nq-bench wrote it\n");
  EXPECT_EQ(all_errors("format: zero\n"), "f.yaml:1: format must be a whole number from 1; this version writes \"format: 1\"\n");
  EXPECT_EQ(all_errors("- 1\n- 2\n"), "f.yaml:1: must be a list of keys with values, such as \"format: 1\"\n");
  EXPECT_EQ(all_errors("format: 1\n---\nseed: 5\n"),
            "f.yaml:3: begins another document (behind ---), which would not be read: one is all a file has\n");
  EXPECT_EQ(all_errors("---\nformat: 1\n...\n---\n"), "") << "an empty one holds nothing";
  EXPECT_TRUE(all_errors("format: 1\nsenders: { amount: 7\nseed: 5\n").starts_with("f.yaml:3: is not YAML: "))
      << all_errors("format: 1\nsenders: { amount: 7\nseed: 5\n");
  EXPECT_FALSE(all_errors("").empty());
  EXPECT_FALSE(all_errors(std::string(settings_file_bytes_max + 1, ' ')).empty());
  EXPECT_FALSE(all_errors(std::string(100'000, '[')).empty()) << "deep nesting is an error, not a crash";
}

TEST(settings_file, all_mistakes_are_told_at_once_in_the_order_of_the_file) {
  const auto read = read_settings_text("format: 1\nsenders:\n  amont: 7\nqueue: { mode: x }\nlog: maybe\n", "f.yaml");
  EXPECT_FALSE(read.settings);
  ASSERT_EQ(read.errors.size(), 3u);
  EXPECT_EQ(read.errors[0].line, 3);
  EXPECT_EQ(read.errors[2].line, 5);
}

TEST(settings_file, a_missing_file_is_an_error_that_names_it) {
  const auto read = read_settings_file("/nonexistent/f.yaml");
  ASSERT_EQ(read.errors.size(), 1u);
  EXPECT_EQ(read.errors[0].text(), "/nonexistent/f.yaml: cannot be read: No such file or directory");
}

TEST(settings_file, a_pipe_is_read_where_the_shell_hands_it_over_and_nowhere_else) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const std::string text = "format: 1\nseed: 7\n";
  ASSERT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  ::close(ends[1]);
  const auto read = read_settings_file("/dev/fd/" + std::to_string(ends[0]));
  ::close(ends[0]);
  ASSERT_TRUE(read.settings);
  EXPECT_EQ(read.settings->seed, 7u);
  const QTemporaryDir folder;
  const std::string elsewhere = folder.filePath("f.yaml").toStdString();
  ASSERT_EQ(::mkfifo(elsewhere.c_str(), 0600), 0);
  const auto refused = read_settings_file(elsewhere);
  ASSERT_EQ(refused.errors.size(), 1u);
  EXPECT_EQ(refused.errors[0].text(), elsewhere + ": cannot be read: it is a pipe, and no file");
}

TEST(settings_file, rules_between_keys_are_told_with_their_line) {
  const auto read = read_settings_text("format: 1\nlimits:\n  memory_mib: 32\n  pending_mib: 33\n", "f.yaml");
  ASSERT_TRUE(read.settings);
  const auto errors = validate_read(*read.settings, read, "f.yaml");
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].text(), "f.yaml:4: limits.pending_mib must be at most limits.memory_mib (32), not 33");
}

TEST(settings_file, what_is_written_reads_back) {
  Settings s;
  s.title = "Quotes \" and: colons # and \\ and ümläute";
  s.senders.size_min_bytes = 20, s.senders.size_max_bytes = 100;
  s.senders.messages.reset(), s.senders.duration_s = 2.5;
  s.senders.delay_ms.reset(), s.senders.rate_per_s = 0.25;
  s.queue.mode = QueueMode::load_balancer;
  s.limits.heartbeat_s = 0;
  s.log = LogMode::off;
  s.seed = 9223372036854775807u;
  for (const Settings& settings : {Settings(), s}) {
    for (const std::string& text : {settings_yaml(settings), settings_yaml_short(settings)}) {
      const auto read = read_settings_text(text, "written");
      ASSERT_TRUE(read.settings) << read.errors.front().text() << "\n" << text;
      EXPECT_EQ(*read.settings, settings) << text;
    }
  }
  EXPECT_EQ(settings_yaml_short(Settings()), "format: 1\n");
  EXPECT_LT(settings_yaml_short(s).size(), settings_yaml(s).size());
}

TEST(settings_file, mutilated_files_are_refused_not_crashed_on) {
  const std::string whole = settings_yaml(Settings()) + "more: [a, {b: c}, \"d\"]\n";
  std::mt19937_64 random(1);
  const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random() % limit); };
  constexpr std::string_view bytes = "{}[]\"':,-&*!|>%@#?\n\t 0159ae\xff";
  for (int round = 0; round < 2'000; ++round) {
    std::string text = whole;
    for (std::size_t i = 0, changes = 1 + below(6); i < changes; ++i)
      text.insert(below(text.size()), 1 + below(3), bytes[below(bytes.size())]);
    const auto read = read_settings_text(text, "f.yaml");
    EXPECT_EQ(read.settings.has_value(), read.errors.empty()) << text;
  }
}

TEST(settings_file, the_full_form_names_every_key) {
  const auto read = read_settings_text(settings_yaml(Settings()), "written");
  EXPECT_EQ(read.lines.size(), keys().size());
}

}  // namespace
}  // namespace n2nq::app
