// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/lab/emulator/link.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "broker/net/clock.h"
#include "tests/lab/emulator/tap.h"

namespace n2nq::lab {

namespace {

constexpr int frames_per_turn_max = 64;  // then the others have their turn

}  // namespace

Conveyor::Conveyor(net::EventLoop& loop, int from, int to, std::uint32_t seed)
    : loop_(loop), from_(from), to_(to), lane_(seed), timer_(loop, [this] { wake_up(); }) {
  loop_.watch(from_, EPOLLIN, *this);
}

Conveyor::~Conveyor() {
  if (watching_) loop_.unwatch(from_, *this);
}

void Conveyor::set_shape(const Shape& shape) {
  lane_.set_shape(shape);
  if (lane_.empty()) timer_.disarm();
}

void Conveyor::on_events(std::uint32_t) {
  for (int i = 0; i < frames_per_turn_max; ++i) {
    const std::span<std::uint8_t> room = loop_.read_room();
    const ssize_t bytes = ::read(from_, room.data(), room.size());
    if (bytes < 0 && errno != EAGAIN && errno != EINTR) {  // the device went with its host
      loop_.unwatch(from_, *this);
      watching_ = false;
    }
    if (bytes <= 0) break;
    lane_.put(room.first(static_cast<std::size_t>(bytes)), net::now_ns());
  }
  send_due(net::now_ns());
}

void Conveyor::wake_up() {
  const std::int64_t now_ns = net::now_ns();
  lead_.woke(now_ns - timer_.at_ns());
  // A sleeping thread wakes late. What is due before it could be woken again leaves now, rather than later than it should.
  send_due(now_ns + lead_.lead_ns());
}

void Conveyor::send_due(std::int64_t until_ns) {
  const Shape& shape = lane_.shape();
  const bool waited = shape.delay_ns > 0 || shape.jitter_ns > 0 || shape.rate_bps > 0 || shape.reorder > 0;
  while (!lane_.empty() && lane_.due_ns() <= until_ns) {
    if (waited) late_.add(net::now_ns() - lane_.due_ns());
    const auto frame = lane_.front();
    if (::write(to_, frame.data(), frame.size()) < 0) ++refused_;
    lane_.pop();
  }
  if (!lane_.empty()) timer_.arm(lane_.due_ns() - lead_.lead_ns());
}

Link::Link(net::EventLoop& loop, std::string name, const std::string& network, const std::string& host_device,
           const std::string& bridge_device, std::uint32_t seed)
    : name_(std::move(name)),
      host_cable_(make_tap(host_device, network)),
      bridge_cable_(make_tap(bridge_device, "")),
      up_(loop, host_cable_.get(), bridge_cable_.get(), 2 * seed + 1),
      down_(loop, bridge_cable_.get(), host_cable_.get(), 2 * seed + 2) {}

}  // namespace n2nq::lab
