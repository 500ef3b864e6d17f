// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/net/control_channel.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <condition_variable>
#include <csignal>

#include "broker/net/clock.h"

namespace n2nq::net {
namespace {

/// The bench's ends of the pipes; the channel's loop runs on a thread of its own.
class Control : public ::testing::Test {
 protected:
  Control() { std::signal(SIGPIPE, SIG_IGN); }
  ~Control() override {
    from_channel_.reset();  // what is unread must not be waited for
    shut_down();
  }

  void start(ControlChannel::Options options = {}, std::function<bool(const nlohmann::json&)> handle_here = {}) {
    int in[2], out[2];
    ASSERT_EQ(pipe2(in, O_CLOEXEC), 0);
    ASSERT_EQ(pipe2(out, O_CLOEXEC), 0);
    channel_in_.reset(in[0]);
    to_channel_.reset(in[1]);
    from_channel_.reset(out[0]);
    channel_out_.reset(out[1]);
    options.in_fd = in[0];
    options.out_fd = out[1];
    ControlChannel::Handlers handlers;
    handlers.on_object = [this](const nlohmann::json& object) { note(object.dump()); };
    handlers.handle_here = std::move(handle_here);
    handlers.on_lease_lost = [this](const std::string& reason) { note("lease: " + reason); };
    channel_ = std::make_unique<ControlChannel>(loop_, options, handlers);
    loop_thread_ = std::thread([this] { loop_.run(); });
  }
  void shut_down() {
    channel_.reset();
    if (loop_thread_.joinable()) {
      loop_.stop();
      loop_thread_.join();
    }
  }

  void say(const std::string& text) { ASSERT_EQ(::write(to_channel_.get(), text.data(), text.size()), static_cast<ssize_t>(text.size())); }
  std::string hear() {
    std::string line;
    char letter = 0;
    while (::read(from_channel_.get(), &letter, 1) == 1 && letter != '\n') line += letter;
    return line;
  }
  void note(const std::string& event) {
    const std::lock_guard lock(mutex_);
    events_.push_back(event);
    changed_.notify_all();
  }
  std::string next_event() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, std::chrono::seconds(60), [this] { return !events_.empty(); })) return "nothing happened";
    const std::string event = events_.front();
    events_.pop_front();
    return event;
  }

  EventLoop loop_;
  Fd channel_in_, to_channel_, from_channel_, channel_out_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> events_;
  std::unique_ptr<ControlChannel> channel_;
  std::thread loop_thread_;
};

TEST_F(Control, ObjectsComeInOrderHoweverTheLinesAreCut) {
  start();
  for (const char letter : std::string("{\"type\":\"a\"}\n\n  \n{\"type\":\"b\",\"text\":\"größer\"}\n")) say(std::string(1, letter));
  EXPECT_EQ(next_event(), R"({"type":"a"})");
  EXPECT_EQ(next_event(), R"({"text":"größer","type":"b"})");
  say("{\"type\":\"c\"}\n{\"type\":\"d\"}\n");
  EXPECT_EQ(next_event(), R"({"type":"c"})");
  EXPECT_EQ(next_event(), R"({"type":"d"})");
}

TEST_F(Control, AHandlerMayAnswerOnTheControlThread) {
  start({}, [this](const nlohmann::json& object) {
    if (object["type"] != "stats") return false;
    channel_->write_line({{"type", "stats"}, {"id", object["id"]}});
    return true;
  });
  say("{\"type\":\"stats\",\"id\":7}\n{\"type\":\"stop\"}\n");
  EXPECT_EQ(hear(), R"({"id":7,"type":"stats"})");
  EXPECT_EQ(next_event(), R"({"type":"stop"})");
}

TEST_F(Control, WhatIsNoObjectIsAnsweredByName) {
  start();
  say("nonsense\n");
  EXPECT_EQ(nlohmann::json::parse(hear())["type"], "error");
  say("{\"no\":\"type\"}\n");
  EXPECT_EQ(nlohmann::json::parse(hear())["code"], "type");
  say("{\"type\":\"a\"}\n");
  EXPECT_EQ(next_event(), R"({"type":"a"})");
}

TEST_F(Control, ALineThatIsTooLongIsSkippedAndTheNextOneIsNot) {
  start({.line_bytes_max = 1000});
  say(std::string(3000, 'x') + "\n{\"type\":\"a\"}\n");
  EXPECT_NE(hear().find("1000"), std::string::npos);
  EXPECT_EQ(next_event(), R"({"type":"a"})");
}

TEST_F(Control, LongAnswersArriveWhole) {
  start();
  const std::string text(3'000'000, 'x');
  channel_->write_line({{"type", "long"}, {"text", text}});
  channel_->write_line({{"type", "short"}});
  EXPECT_EQ(nlohmann::json::parse(hear())["text"], text);
  EXPECT_EQ(hear(), R"({"type":"short"})");
  EXPECT_TRUE(channel_->flush(60 * ns_per_s));
}

TEST_F(Control, InPlaceOfALineThatIsLongerThanWhatMayWaitAnErrorSaysSo) {
  start({.unsent_bytes_max = 1000});
  channel_->write_line({{"type", "bye"}, {"text", std::string(1000, 'x')}});
  const nlohmann::json told = nlohmann::json::parse(hear());
  EXPECT_EQ(told["type"], "error");
  EXPECT_EQ(told["message"], "the line \"bye\" would be 1025 bytes long; at most 1000 can be told, so it is left out");
  channel_->leave_out("bye", "at least " + std::to_string(channel_->written_line_bytes_max() + 1));  // who knows it before has not built it
  EXPECT_EQ(nlohmann::json::parse(hear())["message"],
            "the line \"bye\" would be at least 1001 bytes long; at most 1000 can be told, so it is left out");
  channel_->write_line({{"type", "short"}});
  EXPECT_EQ(hear(), R"({"type":"short"})");
}

TEST_F(Control, WhoSharesStdoutGetsLinesThatAreMarkedAndLongOnesInPartsThatTheKernelTakesInOnePiece) {
  start({.marked = true});
  for (const size_t length : {0u, 4082u, 4083u, 8000u, 100'000u}) {  // with {"text":""}, the marks and the line's end 14, 4,096, 4,097, ...
    SCOPED_TRACE(length);
    const nlohmann::json object{{"text", std::string(length, 'x')}};
    const std::string text = object.dump();
    channel_->write_line(object);
    std::string whole;
    size_t parts = 0;
    for (bool is_last = false; !is_last; ++parts) {
      const std::string part = hear();
      ASSERT_LE(part.size() + 1, 4096u);
      ASSERT_EQ(part[0], part_begin);
      is_last = part.back() == last_part_end;
      whole += part.substr(1, part.size() - (is_last ? 2 : 1));
    }
    EXPECT_EQ(whole, text);
    EXPECT_EQ(parts, (text.size() + 4092) / 4093);
  }
  EXPECT_TRUE(channel_->flush(60 * ns_per_s));
}

TEST_F(Control, LastWordsAreWrittenBeforeItEnds) {
  start();
  channel_->write_line({{"type", "bye"}});
  channel_.reset();
  EXPECT_EQ(hear(), R"({"type":"bye"})");
}

TEST_F(Control, ABenchThatReadsSlowlyGetsTheLastWordsWhole) {
  start();
  const std::string text(1'500'000, 'x');
  channel_->write_line({{"text", text}});
  // A reading every 20 ms frees the pipe of a page: all of it takes more than 7 s, longer than nothing may be taken for.
  std::string heard;
  std::thread reader([&] {
    std::array<char, 4096> bytes;
    while (!heard.ends_with('\n')) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      const ssize_t count = ::read(from_channel_.get(), bytes.data(), bytes.size());
      if (count <= 0) break;
      heard.append(bytes.data(), static_cast<size_t>(count));
    }
  });
  EXPECT_TRUE(channel_->flush(5 * ns_per_s));
  reader.join();
  EXPECT_EQ(nlohmann::json::parse(heard)["text"], text);
}

TEST_F(Control, ABenchThatReadsNothingIsWaitedForNoLongerThanSaid) {
  start();
  channel_->write_line({{"text", std::string(300'000, 'x')}});
  EXPECT_FALSE(channel_->flush(ns_per_s / 20));
  channel_.reset();  // does not wait once more
}

TEST_F(Control, TheLeaseIsKeptByAnythingThatIsSaid) {
  const int64_t lease_ns = 500 * ns_per_ms;
  start({.lease_ns = lease_ns}, [this](const nlohmann::json& object) {
    channel_->write_line(object);
    return true;
  });
  // Round trips for three leases' time. On a machine so loaded that one takes near a lease, losing it proves nothing.
  const int64_t begin = now_ns();
  int64_t last = begin;
  bool fast_enough = true;
  while (last - begin < 3 * lease_ns && fast_enough) {
    say("\n{\"type\":\"a\"}\n");
    hear();
    fast_enough = now_ns() - last < lease_ns / 2;
    last = now_ns();
  }
  if (!fast_enough) GTEST_SKIP() << "the machine is too loaded for this test";
  const std::lock_guard lock(mutex_);
  EXPECT_TRUE(events_.empty()) << events_.front();
}

TEST_F(Control, SilenceLosesTheLeaseOnce) {
  start({.lease_ns = 50 * ns_per_ms});
  EXPECT_EQ(next_event().find("lease: nothing was heard"), 0u);
}

TEST_F(Control, TheEndOfInputLosesTheLease) {
  start();
  to_channel_.reset();
  EXPECT_EQ(next_event(), "lease: end of stdin");
}

TEST_F(Control, ABenchThatDoesNotReadLosesItTooBeforeMemoryIsGone) {
  start({.unsent_bytes_max = 1'000'000});
  for (int i = 0; i < 20; ++i) channel_->write_line({{"type", "x"}, {"text", std::string(100'000, 'x')}});
  EXPECT_EQ(next_event(), "lease: the bench does not read stdout");
}

TEST_F(Control, ABenchThatIsGoneLosesIt) {
  start();
  from_channel_.reset();
  channel_->write_line({{"type", "x"}});
  EXPECT_EQ(next_event(), "lease: stdout is gone");
}

}  // namespace
}  // namespace n2nq::net
