// SPDX-License-Identifier: GPL-3.0-or-later
// The parts that a verification is made of, and the tally they all write into. For verify.cpp alone.
#pragma once

#include <cmath>

#include "app/control/role.h"
#include "app/results/service_logs.h"
#include "app/results/verify.h"

namespace n2nq::app {

inline QString json_text(const nlohmann::json& value) {
  return QString::fromStdString(value.dump());
}

class VerifyTally {
 public:
  void differ(const QString& what) {
    ++result.differing;
    if (result.differences.size() < Verification::differences_max) result.differences += what;
  }
  template <class A, class B>
  void equal(const QString& what, const A& mine, const B& theirs) {
    compare(what, mine, theirs, "%1: the logs say %2, the summary %3");
  }
  /// What no log tells has to fit to what else the summary says.
  template <class A, class B>
  void follows(const QString& what, const A& from_the_rest, const B& theirs) {
    compare(what, from_the_rest, theirs, "%1: the rest of the summary makes it %2, it says %3");
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
  void compare(const QString& what, const nlohmann::json& mine, const nlohmann::json& theirs, const char* text) {
    ++result.compared;
    if (mine != theirs) differ(QString(text).arg(what, json_text(mine), json_text(theirs)));
  }
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

/// Of one group's services, or of its part of the ledger. Null: there is none with this number.
inline const nlohmann::json* row_of(const nlohmann::json& rows, int number) {
  for (const nlohmann::json& row : rows) {
    if (row.at("number") == number) return &row;
  }
  return nullptr;
}

/// Heads, feet, and each line against its stamps and the sender's log.
void verify_lines(const StoredRun& run, const ServiceLogs& logs, VerifyTally& tally);
/// The ledger's total and that of the warm-up, from sets of messages and their flags, and its lines of each service; of what is N2NQ's word
/// alone, that it adds up. `some_unnoted`: a killed group had sent what stands in no log.
void verify_ledger(const StoredRun& run, const ServiceLogs& logs, bool some_unnoted, VerifyTally& tally);

}  // namespace n2nq::app
