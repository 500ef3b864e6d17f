// SPDX-License-Identifier: GPL-3.0-or-later
// The parts that a verification is made of, and the tally they all write into. For verify.cpp alone.
#pragma once

#include <cmath>

#include "app/control/role.h"
#include "app/results/service_logs.h"
#include "app/results/verify.h"

namespace n2nq::app {

class VerifyTally {
 public:
  void differ(const QString& what) {
    ++result.differing;
    if (result.differences.size() < Verification::differences_max) result.differences += what;
  }
  template <class A, class B>
  void equal(const QString& what, const A& mine, const B& theirs) {
    ++result.compared;
    if (nlohmann::json(mine) != nlohmann::json(theirs)) differ(QString("%1: the logs say %2, the summary %3").arg(what, json_text(mine), json_text(theirs)));
  }
  void near(const QString& what, double mine, const nlohmann::json& theirs, double relative) {
    ++result.compared;
    if (!theirs.is_number() || std::abs(mine - theirs.get<double>()) > std::abs(mine) * relative + 1e-9) {
      differ(QString("%1: the logs say %2, the summary %3").arg(what, json_text(mine), json_text(theirs)));
    }
  }

  void compared(int values) { result.compared += values; }
  Verification result;

 private:
  static QString json_text(const nlohmann::json& value) { return QString::fromStdString(value.dump()); }
};

inline QString name_of(const SenderLog& log) {
  return QString::fromStdString(measure::service_name('S', static_cast<std::uint32_t>(log.number)));
}
inline QString name_of(const ReceiverLog& log) {
  return QString::fromStdString(measure::service_name('R', static_cast<std::uint32_t>(log.number)));
}
inline Role role_of(const SenderLog& /*log*/) {
  return Role::senders;
}
inline Role role_of(const ReceiverLog& /*log*/) {
  return Role::receivers;
}

/// Heads, feet, and each line against its stamps and the sender's log.
void verify_lines(const StoredRun& run, const ServiceLogs& logs, VerifyTally& tally);
/// The ledger's total and that of the warm-up, from sets of messages. `some_unnoted`: a killed group had sent what stands in no log.
void verify_ledger(const StoredRun& run, const ServiceLogs& logs, bool some_unnoted, VerifyTally& tally);

}  // namespace n2nq::app
