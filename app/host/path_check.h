// SPDX-License-Identifier: GPL-3.0-or-later
// The ways from one machine to the others, one after the other: a receiver is started there and connects to N2NQ on each of them.
#pragma once

#include <QTimer>
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
  const PlaceCheck& to() const { return *to_.back(); }
  void next();
  void send_connect();
  void on_message(const nlohmann::json& message);
  void on_clock(const nlohmann::json& message);
  void on_connected(const nlohmann::json& message);
  void end_way(const CheckCell& cell);

  const CheckTerms terms_;
  const PlaceCheck& from_;
  std::vector<const PlaceCheck*> to_;  // the last one is being tried
  std::unique_ptr<CheckProcess> receiver_;
  QTimer deadline_;
  double round_trip_us_ = -1;  // not known yet
  bool connected_ = false, ended_ = false;
  bool floor_known_ = false, tried_itself_;
};

}  // namespace n2nq::app
