// SPDX-License-Identifier: GPL-3.0-or-later
// The ways from one machine to the others: for each a receiver is started there and connects to N2NQ on the other one. One after the other,
// so that none disturbs what another measures; only what is silent for a while does not keep the next one waiting.
#pragma once

#include <memory>
#include <vector>

#include "app/host/place_check.h"

namespace n2nq::app {

/// Lives on one thread, never blocks it.
class PathCheck : public QObject {
  Q_OBJECT
 public:
  /// `from` runs programs, and N2NQ listens at each of `to`; all of them live longer.
  PathCheck(const CheckTerms& terms, const PlaceCheck& from, std::vector<const PlaceCheck*> to);
  ~PathCheck() override;

  /// found() follows for each way, then over().
  void begin() { next(); }
  void renew_lease();

 signals:
  void found(const n2nq::app::PlaceCheck& to, const n2nq::app::CheckCell& cell);
  /// How far the clock there is ahead of the one where the ways begin; the last one of a way is the best.
  void clock_found(const n2nq::app::PlaceCheck& to, double offset_us, double bound_us);
  /// Of the machine where the ways begin, once.
  void floor_found(const n2nq::app::CheckCell& cell);
  void over();

 private:
  /// A way that is being tried.
  struct Trial;
  void next();
  void begin_trial(const PlaceCheck& to);
  void on_message(Trial& trial, const nlohmann::json& message);
  void on_hello(Trial& trial);
  void on_answered(Trial& trial);
  void on_clock(Trial& trial, const nlohmann::json& message);
  void on_connected(Trial& trial, const nlohmann::json& message);
  void on_receiver_over(Trial& trial, const QString& why);
  void end_way(Trial& trial, const CheckCell& cell);
  void end_trial(Trial& trial);

  const CheckTerms terms_;
  const PlaceCheck& from_;
  std::vector<const PlaceCheck*> to_;  // still to be tried, the last one first
  std::vector<std::unique_ptr<Trial>> trials_;
  std::size_t trials_max_;
  bool floor_known_ = false, tried_itself_;
};

}  // namespace n2nq::app
