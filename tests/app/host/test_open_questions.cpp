// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/open_questions.h"

#include <gtest/gtest.h>

#include <utility>

namespace n2nq::app {
namespace {

/// Keeps the answers until the test gives them.
struct Asker : SshQuestions {
  bool is_there = true;
  std::vector<std::function<void(bool)>> keys;
  std::vector<std::function<void(std::optional<std::vector<Secret>>)>> secrets;

  bool reaches_person(const HostKeyQuestion&) override { return is_there; }
  bool reaches_person(const SecretQuestion&) override { return is_there; }
  void ask_host_key(const HostKeyQuestion&, std::function<void(bool)> answer) override { keys.push_back(std::move(answer)); }
  void ask_secrets(const SecretQuestion&, std::function<void(std::optional<std::vector<Secret>>)> answer) override {
    secrets.push_back(std::move(answer));
  }
};

struct OpenQuestionsTest : ::testing::Test {
  Asker asker;
  OpenQuestions questions{asker};
  std::vector<bool> asked;
  int answers = 0;

  OpenQuestionsTest() {
    QObject::connect(&questions, &OpenQuestions::asking, [this](bool begins) { asked.push_back(begins); });
  }
  void ask_both() {
    questions.ask_host_key({}, [this](bool) { ++answers; });
    questions.ask_secrets({}, [this](const auto&) { ++answers; });
  }
};

TEST_F(OpenQuestionsTest, several_are_one_time_in_which_a_person_is_asked) {
  EXPECT_EQ(questions.since_answer_ms(), std::nullopt);
  ask_both();
  EXPECT_EQ(asked, std::vector{true});
  asker.keys[0](true);
  EXPECT_TRUE(questions.any());
  EXPECT_EQ(questions.since_answer_ms(), 0);
  asker.secrets[0](std::nullopt);
  EXPECT_EQ(asked, (std::vector{true, false}));
  EXPECT_FALSE(questions.any());
  EXPECT_TRUE(questions.since_answer_ms().has_value());
  EXPECT_EQ(answers, 2);
}

/// The answer is known without anybody, or is no: the time that it takes is nobody's.
TEST_F(OpenQuestionsTest, one_that_reaches_nobody_is_passed_on_and_is_no_time_of_a_person) {
  asker.is_there = false;
  ask_both();
  EXPECT_FALSE(questions.any());
  ASSERT_TRUE(asker.keys.size() == 1 && asker.secrets.size() == 1);
  asker.keys[0](false);
  asker.secrets[0](std::nullopt);
  EXPECT_EQ(answers, 2);
  EXPECT_TRUE(asked.empty());
  EXPECT_EQ(questions.since_answer_ms(), std::nullopt);
}

}  // namespace
}  // namespace n2nq::app
