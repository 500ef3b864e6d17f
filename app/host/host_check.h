// SPDX-License-Identifier: GPL-3.0-or-later
// The check of lab machines: each is connected to, N2NQ is put and started there, and then a receiver on each connects to N2NQ on each
// other. So what is found out is what a run will find: the same programs, the same ports, the same clocks. Nothing of it stays.
//
//   every host, side by side:    reach ─► log in ─► put ─► N2NQ says hello (kernel, cores, load) ─► free disk
//   when all are through:        from each host, one after the other, a receiver to N2NQ on each other (round trip, clock, floor);
//                                what is silent does not keep the next waiting
//
// Through is for that time, too, who waits for the person to answer a question: its ways come when it is answered.
#pragma once

#include <QElapsedTimer>
#include <QTimer>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/host/clock_ways.h"
#include "app/host/host_pool.h"
#include "app/host/host_report.h"
#include "app/host/path_check.h"
#include "app/host/place_check.h"

namespace n2nq::app {

class HostCheck : public HostChecker {
  Q_OBJECT
 public:
  /// `pool` lives longer. `limit_ms`: what is not found out by then is unknown; begins anew when the person has answered what was asked.
  /// While programs come over it stands still, for `sending_ms` in all.
  explicit HostCheck(HostPool& pool, QObject* parent = nullptr, int limit_ms = check_ms_max - 5'000,
                     int sending_ms = check_sending_ms_max);
  ~HostCheck() override;

  void check(const Hosts& hosts, int port) override;
  void cancel() override;
  void leave_out(const std::string& name) override;
  void forget_ways_to(const std::string& name) override;
  bool is_checking() const override { return checking_; }
  const HostReports& hosts() const override { return reports_; }
  const PathReports& paths() const override { return paths_; }

 private:
  void add(std::unique_ptr<PlaceCheck> place);
  void on_place_changed(const PlaceCheck& place);
  void on_sending();
  void begin_limit();
  void give_up();
  bool is_jump(const PlaceCheck& place) const;
  CheckCell eased(const PlaceCheck& place, CheckCell cell) const;
  void go_on();
  void tell_same();
  void begin_ways();
  std::vector<const PlaceCheck*> to_try_from(const PlaceCheck& from);
  void add_ways(PlaceCheck& from, std::vector<const PlaceCheck*> to);
  void add_clock_way(const ClockWay& way);
  void tell_clocks();
  void finish();
  void fill_rest(CheckState state, const QString& why);
  void forget();
  void drop_left_out();

  HostPool& pool_;
  const int limit_ms_, sending_ms_;
  bool checking_ = false;
  int round_ = 0;  // which check it is
  CheckTerms terms_;
  std::set<std::string> left_out_, readdressed_;
  HostReports reports_;
  PathReports paths_;
  std::map<std::pair<std::string, std::string>, ClockWay> clock_ways_;  // the newest, by both ends
  std::vector<std::unique_ptr<PlaceCheck>> places_;
  std::vector<std::unique_ptr<PathCheck>> ways_;  // from each place; gone before the places
  std::size_t ways_left_ = 0;
  QElapsedTimer since_begun_, since_sent_;
  qint64 sending_left_ms_ = 0;
  QTimer deadline_, lease_;
  QTimer clocks_timer_;  // one look at all ways for all that come at a time
};

}  // namespace n2nq::app
