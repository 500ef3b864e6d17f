// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/group/settings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "broker/net/clock.h"
#include "broker/net/section.h"

namespace n2nq::worker {
namespace {

using nlohmann::json;

json senders() {
  return json::parse(R"({"type":"configure","control":1,"run":"r","role":"senders","token":"","system":"n2nq",
    "services":{"first":3,"last":5,"total":10},
    "load":{"messages":50,"duration_ms":null,"size_bytes":[20,100],"interval_ns":{"num":1000000000,"den":3000},"start":"in-phase"},
    "seed":9,"log":{"mode":"sampled","sample_every":7,"folder":"/tmp/x","header":{"queue.mode":"broadcaster","seed":1}},"staging_folder":"/dev/shm"})");
}

json receivers() {
  return json::parse(R"({"type":"configure","control":1,"run":"r","role":"receivers","token":"","system":"n2nq",
    "services":{"first":1,"last":2,"total":2},"senders_total":4,"queue_mode":"load-balancer","log":{"mode":"off"}})");
}

/// The key and the sentence of the refusal.
std::pair<std::string, std::string> refusal(const json& configure, WorkerRole role = WorkerRole::senders) {
  try {
    parse_worker_settings(configure, role);
  } catch (const net::SectionError& error) {
    return {error.key(), error.what()};
  }
  return {"nothing was refused", ""};
}

TEST(WorkerSettings, OfSenders) {
  const WorkerSettings settings = parse_worker_settings(senders(), WorkerRole::senders);
  EXPECT_EQ(settings.first, 3u);
  EXPECT_EQ(settings.last, 5u);
  EXPECT_EQ(settings.plan.total, 10u);
  EXPECT_EQ(settings.plan.messages, 50u);
  EXPECT_FALSE(settings.plan.duration_ns);
  EXPECT_EQ(settings.size_min, 20u);
  EXPECT_EQ(settings.plan.size_max, 100u);
  EXPECT_EQ(settings.plan.interval.den, 3000);
  EXPECT_EQ(settings.plan.start, StartPhase::in_phase);
  EXPECT_EQ(settings.log.mode, LogMode::sampled);
  EXPECT_EQ(settings.log.sample_every, 7u);
  EXPECT_EQ(settings.log.head, (HeadLines{{"queue.mode", "broadcaster"}, {"seed", "1"}}));
  EXPECT_EQ(settings.seed, 9u);
}

TEST(WorkerSettings, ServicesTryToGetBackAsLongAsTheyAreWaitedForAndTenSecondsAtLeast) {
  json configure = senders();
  EXPECT_EQ(parse_worker_settings(configure, WorkerRole::senders).reconnect_deadline_ns, 10 * net::ns_per_s);
  configure["reconnect_deadline_ms"] = 60'000;
  EXPECT_EQ(parse_worker_settings(configure, WorkerRole::senders).reconnect_deadline_ns, 60 * net::ns_per_s);
  configure["reconnect_deadline_ms"] = 10;
  EXPECT_EQ(parse_worker_settings(configure, WorkerRole::senders).reconnect_deadline_ns, 10 * net::ns_per_s);
  configure["reconnect_deadline_ms"] = 9;
  EXPECT_EQ(refusal(configure).first, "reconnect_deadline_ms");
}

TEST(WorkerSettings, OfReceivers) {
  const WorkerSettings settings = parse_worker_settings(receivers(), WorkerRole::receivers);
  EXPECT_EQ(settings.senders_total, 4u);
  EXPECT_EQ(settings.queue_mode, wire::QueueMode::load_balancer);
  EXPECT_EQ(settings.log.mode, LogMode::off);
}

TEST(WorkerSettings, WarmUp) {
  json configure = senders();
  EXPECT_EQ(parse_worker_settings(configure, WorkerRole::senders).plan.warmup_messages, 0u);
  configure["load"]["warmup_messages"] = 20;
  EXPECT_EQ(parse_worker_settings(configure, WorkerRole::senders).plan.warmup_messages, 20u);
  configure["load"]["warmup_messages"] = -1;
  EXPECT_EQ(refusal(configure).first, "load.warmup_messages");
  configure = receivers();
  configure["warmup_messages"] = 20;
  EXPECT_EQ(parse_worker_settings(configure, WorkerRole::receivers).warmup_messages, 20u);
}

TEST(WorkerSettings, ADurationInPlaceOfMessages) {
  json configure = senders();
  configure["load"]["messages"] = nullptr;
  configure["load"]["duration_ms"] = 1500;
  EXPECT_EQ(parse_worker_settings(configure, WorkerRole::senders).plan.duration_ns, 1'500'000'000);
  configure["load"]["messages"] = 3;
  EXPECT_EQ(refusal(configure).first, "load.duration_ms");
}

TEST(WorkerSettings, RefuseByNameAndSayWhatWouldBeRight) {
  struct Case {
    const char* pointer;
    json value;
    const char* key;
    const char* words;
  };
  const Case cases[] = {
      {"/control", 2, "control", "speaks version 2"},
      {"/role", "broker", "role", "this process runs \"senders\""},
      {"/system", "kafka", "system", "it has to be \"n2nq\""},
      {"/token", "abc", "token", "64 hex digits"},
      {"/services/last", 11, "services.last", "from 3 to 10"},
      {"/services/first", 0, "services.first", "from 1 to 10"},
      {"/services/frist", 1, "services.frist", "not known"},
      {"/load/size_bytes", json::array({100, 20}), "load.size_bytes[1]", "from 100"},
      {"/load/size_bytes", 50, "load.size_bytes", "[smallest, largest]"},
      {"/load/interval_ns/den", 0, "load.interval_ns.den", "from 1"},
      {"/load/interval_ns/num", 1'000'000'000'000'000'000, "load.interval_ns.num", "longer than a day"},
      {"/load/start", "later", "load.start", "one of: spread, in-phase"},
      {"/load/messages", -1, "load.messages", "from 0"},
      {"/log/mode", "some", "log.mode", "one of: all, sampled, off"},
      {"/log/folder", "", "log.folder", "need a folder"},
      {"/log/header/a\tb", "x", "log.header.a\tb", "must not hold"},
      {"/staging_folder", "", "staging_folder", "/dev/shm"},
      {"/surprise", 1, "surprise", "not known"},
  };
  for (const Case& c : cases) {
    json configure = senders();
    configure[json::json_pointer(c.pointer)] = c.value;
    const auto [key, words] = refusal(configure);
    EXPECT_EQ(key, c.key);
    EXPECT_NE(words.find(c.words), std::string::npos) << words;
  }
}

TEST(WorkerSettings, AWrongTextIsShownWholeOrCutBetweenItsLetters) {
  for (const auto& [text, shown] : {std::pair<std::string, std::string>{std::string(40, 'a'), '"' + std::string(40, 'a') + '"'},
                                    {std::string(41, 'a'), '"' + std::string(40, 'a') + "…\""},
                                    {"ääääääää", R"("\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4…")"},
                                    {"€€€€€€€€€€€€€€", R"("\u20ac\u20ac\u20ac\u20ac\u20ac\u20ac…")"},
                                    {"", "\"\""}}) {
    json configure = senders();
    configure["system"] = text;
    EXPECT_EQ(refusal(configure).second.find("system is " + shown + ", it has to be"), 0u) << refusal(configure).second;
  }
  json configure = senders();
  configure["load"][""] = 1;
  EXPECT_EQ(refusal(configure).second, "load.\"\" is not known");
}

TEST(WorkerSettings, ARefusalIsShortAndPrintableWhateverItIsOf) {
  const std::string longest(10'000, 'x');
  for (const auto& [pointer, value] : {std::pair<std::string, json>{"/load/start", longest + '\n'},
                                       {"/load/interval_ns/den", longest},
                                       {"/load/size_bytes", json::array({longest})},
                                       {"/" + longest, 1},
                                       {"/load/a\nb", 1}}) {
    json configure = senders();
    configure[json::json_pointer(pointer)] = value;
    const std::string words = refusal(configure).second;
    EXPECT_LT(words.size(), 200u);
    EXPECT_TRUE(std::none_of(words.begin(), words.end(), [](char letter) { return letter == '\n'; })) << words;
    EXPECT_NE(words.find(pointer == "/load/a\nb" ? "load.\"a\\nb\" is not known" : " is "), std::string::npos) << words;
  }
}

TEST(WorkerSettings, AHeadLineCannotForgeALogLine) {
  json configure = senders();
  configure["log"]["header"]["title"] = "one\n1\t2\t3";
  EXPECT_EQ(parse_worker_settings(configure, WorkerRole::senders).log.head.back().second, "one 1 2 3");
}

}  // namespace
}  // namespace n2nq::worker
