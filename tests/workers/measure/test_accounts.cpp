// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/measure/accounts.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace n2nq::measure {
namespace {

using nlohmann::json;

TEST(Accounts, ReadASendersBye) {
  const auto account = senders_account_from(json::parse(R"({"type":"bye","role":"senders","attempted":51,"started_ns":5,"ended_ns":9,
    "last_lag_ns":null,"services":[{"number":1,"port":51234,"attempted":51,"accepted":50,"refused":1,"lost_before_queue":0,"bytes":2500,
    "accepted_set":"0-48,50","figures":{}}],"faults":["S001: slow"],"log":{"lines":51,"dropped":0,"error":""}})"));
  ASSERT_EQ(account.services.size(), 1u);
  EXPECT_EQ(account.services[0].accepted_set.count(), 50u);
  EXPECT_EQ(account.services[0].refused, 1u);
  EXPECT_FALSE(account.last_lag_ns);
  EXPECT_EQ(account.faults, std::vector<std::string>{"S001: slow"});
}

TEST(Accounts, ReadAReceiversBye) {
  const auto account = receivers_account_from(json::parse(R"({"type":"bye","role":"receivers","figures":{"latency":{"count":0}},
    "services":[{"number":2,"port":51300,"received":9,"duplicated":1,"redelivered":2,"out_of_order":3,"unexpected":4,"negative":5,"bad_checksum":6,
    "bytes":1,"delivered_sets":[[1,50,"0-49"],[51,51,"3"]],"skipped_sets":{"expired":[[3,3,"7-9"]]},"handed_over":8,"ended_by_broker":true}],
    "delivered_sets":[],"faults":[],"log":{}})"));
  const ReceiverAccount& receiver = account.services.at(0);
  EXPECT_EQ(receiver.counts.received, 9u);
  EXPECT_EQ(receiver.counts.bad_checksum, 6u);
  EXPECT_TRUE(receiver.ended_by_broker);
  ASSERT_EQ(receiver.delivered_sets.size(), 2u);
  EXPECT_EQ(receiver.delivered_sets[1].first, 51u);
  EXPECT_EQ(receiver.skipped_sets.expired.at(0).set.text(), "7-9");
  EXPECT_EQ(account.latency_samples, 0u);
}

TEST(Accounts, ReadABrokersBye) {
  const auto account = broker_account_from(json::parse(R"({"type":"bye","role":"broker","senders":[{"number":1,"accepted":50,"ended":true}],
    "receivers":[{"number":1,"handed_over":40,"expired":5,"unrequested":0,"parked":0,"cut_off":5,"still_queued":0,"redelivered":0,"ended":true,
    "cut_off_reason":"too slow: R001","cut_off_sets":[[1,1,"40-44"]],"expired_sets":[[1,1,"45-49"]],"still_queued_sets":[]}],
    "total":{"expired":5,"unrequested":0,"parked":0,"cut_off":5,"still_queued":0,"expired_sets":[]},"faults":[]})"));
  EXPECT_EQ(account.senders.at(0).accepted, 50u);
  EXPECT_EQ(account.receivers.at(0).skipped.cut_off, 5u);
  EXPECT_EQ(account.receivers.at(0).sets.cut_off.at(0).set.text(), "40-44");
  EXPECT_EQ(account.total.expired, 5u);
}

TEST(Accounts, SetsKeepTheirForm) {
  const json form = json::parse(R"([[1,50,"0-49"],[51,52,"1,3-5"],[60,60,""]])");
  EXPECT_EQ(sender_sets_json(sender_sets_from(form)), form);
  SkippedSets sets;
  sets.expired = sender_sets_from(form);
  EXPECT_EQ(skipped_sets_json(sets), (json{{"expired", form}}));
}

TEST(Accounts, RefuseWhatIsNoAccount) {
  const auto why = [](auto read, const char* text) -> std::string {
    try {
      read(json::parse(text));
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "nothing";
  };
  EXPECT_EQ(why(senders_account_from, "{}"), "services is missing, it has to be a list");
  EXPECT_EQ(why(senders_account_from, R"({"services":[{"number":1,"attempted":1,"accepted":1,"refused":0,"lost_before_queue":0,
                                          "accepted_set":7}]})"),
            "services[0].accepted_set is 7, it has to be a set of indexes such as \"0-49,51\"");
  EXPECT_EQ(why(senders_account_from, R"({"services":[],"faults":["told",7]})"), "faults is 7, it has to be text");
  EXPECT_EQ(why(receivers_account_from, R"({"services":[],"figures":{"latency":{"count":-1}}})"),
            "figures.latency.count is -1, it has to be a whole number from 0 to 18446744073709551615");
  EXPECT_EQ(why(broker_account_from, R"({"senders":[],"receivers":[],"total":7})"), "total is 7, it has to be an object");
  EXPECT_EQ(why(sender_sets_from, R"([[1,2,"9-3"]])"), "sets is \"9-3\", it has to be a set of indexes such as \"0-49,51\"");
  EXPECT_EQ(why(sender_sets_from, R"([[1,2]])"), "sets is a list, it has to be lists of a first and a last sender and a set");
  EXPECT_EQ(why(sender_sets_from, R"([[3,2,"1"]])"), "sets: first sender 3 is above the last");
}

}  // namespace
}  // namespace n2nq::measure
