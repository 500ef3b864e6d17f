// SPDX-License-Identifier: GPL-3.0-or-later
// What a SmallRun came to, and waiting for a count in the middle of it.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tests/workers/support/small_run.h"
#include "workers/measure/accounts.h"
#include "workers/measure/ledger.h"

namespace n2nq::worker::testing {

/// Asks for figures until they are as wanted.
inline nlohmann::json stats_until(Child& child, const Child::Wanted& wanted) {
  for (int id = 1;; ++id) {
    child.send(SmallRun::stats_message(id));
    nlohmann::json stats = child.wait_for_type("stats");
    if (wanted(stats)) return stats;
  }
}

/// Of a run that is finished.
inline measure::Ledger ledger_of(const SmallRun& run) {
  measure::LedgerInput input;
  input.mode = run.shape.mode == "broadcaster" ? wire::QueueMode::broadcaster : wire::QueueMode::load_balancer;
  input.senders_total = static_cast<std::uint32_t>(run.shape.senders);
  input.receivers_total = static_cast<std::uint32_t>(run.shape.receivers);
  input.warmup_messages = run.shape.load.value("warmup_messages", std::uint64_t{0});
  if (!run.senders_bye.is_null()) input.senders.push_back(measure::senders_account_from(run.senders_bye));
  if (!run.receivers_bye.is_null()) input.receivers.push_back(measure::receivers_account_from(run.receivers_bye));
  if (!run.broker_bye.is_null()) input.broker = measure::broker_account_from(run.broker_bye);
  return measure::make_ledger(input);
}

inline std::string reasons(const measure::Ledger& ledger) {
  std::string text;
  for (const measure::Finding& finding : ledger.findings) text += finding.reason + "\n";
  return text;
}

/// Nothing that says that messages were treated wrongly. How late a busy machine was is not these tests' question.
inline void expect_sound(const measure::Ledger& ledger) {
  EXPECT_TRUE(ledger.balanced);
  for (const measure::Finding& finding : ledger.findings) {
    if (finding.reason.find("plan not kept") == std::string::npos) ADD_FAILURE() << finding.reason;
  }
}

}  // namespace n2nq::worker::testing
