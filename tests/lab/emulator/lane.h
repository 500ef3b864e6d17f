// SPDX-License-Identifier: GPL-3.0-or-later
// One direction of an emulated link: what it makes of the frames that are put in, and when they come out. Pure: knows no clock, no descriptor.
//
// Frames keep their order, whatever their delays: one that is due later holds back those behind it, as a cable does. A frame first waits until
// those before it are transmitted (rate), then travels (delay, and jitter where it falls on it). Lost frames take their time of transmission.
// Only where reorder falls on a frame it is late by reorder_ns, and those that are put in meanwhile overtake it; and so do they one that jitter
// falls on, where that is said.
// Times are CLOCK_MONOTONIC nanoseconds. One thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>
#include <span>

namespace n2nq::lab {

inline constexpr std::size_t frame_bytes_max = 1600;   // 1500 of an Ethernet payload, its header, and room for tags
inline constexpr std::size_t frames_max = 20'000;      // under way in one direction; more are dropped
inline constexpr std::int64_t wait_ns_max = 200'000'000;  // for transmission; what would wait longer is dropped, as a full network card does

struct Shape {
  std::int64_t delay_ns = 0;
  std::int64_t jitter_ns = 0;  // up to so much more, evenly distributed
  double jitter_share = 1;     // of the frames that it falls on
  bool jitter_overtaken = false;  // by those behind them, on which it does not fall
  double loss = 0;             // share of the frames
  double reorder = 0;          // share of the frames that others may overtake
  std::int64_t reorder_ns = 1'000'000;  // how much later those come out
  std::int64_t rate_bps = 0;   // bits per second; 0: without limit
  bool blackhole = false;      // nothing gets through, and nobody is told
};

struct LaneCounts {
  std::uint64_t frames = 0, bytes = 0;  // that came out
  std::uint64_t lost = 0;               // by chance
  std::uint64_t held_up = 0;            // by chance, for others to overtake
  std::uint64_t dropped = 0;            // for want of room: too many under way, or waiting too long
  std::uint64_t swallowed = 0;          // by the blackhole
  std::uint64_t under_way_bytes_max = 0;  // at one time
};

class Lane {
 public:
  explicit Lane(std::uint32_t seed) : chance_(seed) {}

  const Shape& shape() const { return shape_; }
  /// For frames that are put in from now on. A blackhole swallows those under way, too.
  void set_shape(const Shape& shape);
  /// Frames above frame_bytes_max are dropped.
  void put(std::span<const std::uint8_t> frame, std::int64_t now_ns);

  bool empty() const { return under_way_.empty() && held_up_.empty(); }
  /// Of the frame that comes out next; there must be one.
  std::int64_t due_ns() const { return next().front().due_ns; }
  std::span<const std::uint8_t> front() const { return {next().front().bytes.data(), next().front().size}; }
  void pop();

  const LaneCounts& counts() const { return counts_; }

 private:
  struct Frame {
    std::int64_t due_ns;
    std::size_t size;
    std::array<std::uint8_t, frame_bytes_max> bytes;
  };

  using Frames = std::deque<Frame>;  // by when they are due

  /// Those whose first frame comes out next.
  const Frames& next() const;
  bool falls_on(double share);

  Shape shape_;
  LaneCounts counts_;
  std::uint64_t under_way_bytes_ = 0;
  Frames under_way_;
  Frames held_up_;
  std::int64_t transmitted_ns_ = 0;  // the last frame's end left the sender
  std::int64_t last_due_ns_ = 0;     // of those that keep their order
  std::minstd_rand chance_;
};

}  // namespace n2nq::lab
