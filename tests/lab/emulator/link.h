// SPDX-License-Identifier: GPL-3.0-or-later
// An emulated link between a host and the lab's bridge: a lane up to the bridge and one down to the host, each from one cable to the other.
// Belongs to the loop's thread.
#pragma once

#include <cstdint>
#include <string>

#include "broker/net/event_loop.h"
#include "broker/net/fd.h"
#include "tests/lab/emulator/lane.h"
#include "workers/load/wake_lead.h"
#include "workers/measure/histogram.h"

namespace n2nq::lab {

/// Frames of one cable, through a lane, into another.
class Conveyor : public net::Watcher {
 public:
  /// The cables must outlive it.
  Conveyor(net::EventLoop& loop, int from, int to, std::uint32_t seed);
  ~Conveyor() override;

  const Lane& lane() const { return lane_; }
  void set_shape(const Shape& shape);
  /// How long after they were due the frames came out that had to wait; negative: before.
  const measure::Histogram& late() const { return late_; }
  void forget_late() { late_ = measure::Histogram(); }
  /// Frames that the receiving device did not take: it was down.
  std::uint64_t refused() const { return refused_; }

  void on_events(std::uint32_t events) override;

 private:
  void wake_up();
  void send_due(std::int64_t until_ns);

  net::EventLoop& loop_;
  int from_, to_;
  bool watching_ = true;
  Lane lane_;
  net::Timer timer_;
  worker::WakeLead lead_;
  measure::Histogram late_;
  std::uint64_t refused_ = 0;
};

class Link {
 public:
  /// Makes host_device in that network namespace, and bridge_device here. Throws std::system_error.
  Link(net::EventLoop& loop, std::string name, const std::string& network, const std::string& host_device, const std::string& bridge_device,
       std::uint32_t seed);

  const std::string& name() const { return name_; }
  Conveyor& up() { return up_; }      // from the host
  Conveyor& down() { return down_; }  // to the host

 private:
  std::string name_;
  net::Fd host_cable_, bridge_cable_;
  Conveyor up_, down_;
};

}  // namespace n2nq::lab
