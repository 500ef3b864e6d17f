// SPDX-License-Identifier: GPL-3.0-or-later
// The receivers of one worker process on one thread.
#pragma once

#include <deque>

#include "workers/group/group.h"
#include "workers/group/receiver.h"

namespace n2nq::worker {

class ReceiverGroup : public Group {
 public:
  ReceiverGroup(net::EventLoop& loop, WorkerSettings settings, Tell tell);

  void request(const RequestOrder& order) override;
  void make_fault(std::uint32_t number, Fault fault) override;
  void set_senders_clock(const ClockOrder& order) override;

 private:
  Service& service(std::size_t place) override { return receivers_[place]; }
  void begin(std::int64_t start_ns) override;
  void note_late(const ClockOrder& order, std::int64_t now_ns);
  void stop_services() override;
  std::uint64_t bytes() override;
  void put_counts(nlohmann::json& json, const Ranges& ranges, nlohmann::json& rows) override;
  nlohmann::json cut_intervals() override;
  void replay(const Record& record) override { receivers_[place_of(record.service)].replay(record); }
  void put_totals(nlohmann::json& bye) override;
  bool knows_clocks() const override { return clock_known() && shared_.clocks.is_on(); }
  void clock_changed(const measure::ClockLine& line, std::int64_t now_ns) override { shared_.clocks.set_own(line, now_ns); }

  bool is_broadcaster() const { return settings().queue_mode == wire::QueueMode::broadcaster; }

  SharedDelivered balanced_;  // load balancer only
  Receiver::Shared shared_;
  std::deque<Receiver> receivers_;  // never moved
  std::optional<std::int64_t> begun_ns_;
  std::optional<std::uint64_t> senders_jumps_;       // none: nothing was said of their clock yet
  std::int64_t after_jump_ns_ = INT64_MIN;           // of the senders' clock: what was sent before it is in the span of a jump
  std::optional<measure::ClockBound> senders_late_;  // of lines that came late: the largest, since traffic began
  DeliveryHistograms<measure::FineHistogram>& histograms_ = shared_.histograms;
  std::vector<std::pair<const char*, measure::IntervalCutter>> cutters_;
};

}  // namespace n2nq::worker
