// SPDX-License-Identifier: GPL-3.0-or-later
// The senders of one worker process on one thread: whoever is due takes a turn, one batch each, so that nobody starves.
#pragma once

#include <deque>

#include "workers/group/group.h"
#include "workers/group/sender.h"
#include "workers/load/wake_lead.h"

namespace n2nq::worker {

class SenderGroup : public Group, private Sender::Scheduler {
 public:
  SenderGroup(net::EventLoop& loop, WorkerSettings settings, Tell tell);

 private:
  Service& service(std::size_t place) override { return senders_[place]; }
  void begin(std::int64_t start_ns) override;
  void stop_services() override;
  std::uint64_t bytes() override;
  void put_counts(nlohmann::json& json, const Ranges& ranges, nlohmann::json& rows) override;
  nlohmann::json cut_intervals() override;
  void replay(const Record& record) override { senders_[place_of(record.service)].replay(record); }
  void replayed_all() override;
  void put_totals(nlohmann::json& bye) override;

  void sender_ready(Sender& sender) override;
  void wake_for_turns();
  void take_turns(std::int64_t now_ns);
  void arm_turn_timer();
  void take_turn(std::size_t place, std::int64_t now_ns);

  struct Due {
    std::int64_t at_ns;
    std::size_t place;
    bool operator>(const Due& other) const { return at_ns > other.at_ns; }
  };

  const PayloadSource payload_;
  SendHistograms<measure::FineHistogram> histograms_;
  std::deque<Sender> senders_;  // never moved
  measure::IntervalCutter delay_cutter_, lag_cutter_;

  std::vector<Due> heap_;           // soonest first; a sender is in it at most once, never later than it is due
  std::vector<std::size_t> ready_;  // senders that get a turn at the next look; at most once each
  std::vector<std::size_t> turns_;  // of this look
  struct Listed {
    bool in_heap = false, in_ready = false;
  };
  std::vector<Listed> listed_;  // by place
  WakeLead lead_;
  std::int64_t wake_due_ns_ = 0;  // what the timer was set for, with the lead it had; 0: at once
  std::int64_t wake_at_ns_ = 0;
  net::Timer turn_timer_;
};

}  // namespace n2nq::worker
