// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/lab/emulator/control.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>

namespace n2nq::lab {

namespace {

using nlohmann::json;

constexpr std::int64_t time_ns_max = 60'000'000'000;
constexpr std::int64_t rate_bps_max = 1'000'000'000'000;

std::int64_t whole(const json& value, const std::string& key, std::int64_t max) {
  const auto number = value.get<std::int64_t>();
  if (number < 0 || number > max) throw std::invalid_argument(key + ": from 0 to " + std::to_string(max));
  return number;
}

double share(const json& value, const std::string& key) {
  const auto number = value.get<double>();
  if (!(number >= 0 && number <= 1)) throw std::invalid_argument(key + ": from 0 to 1");
  return number;
}

Shape changed(Shape shape, const json& changes) {
  for (const auto& [key, value] : changes.items()) {
    if (key == "delay_ns") shape.delay_ns = whole(value, key, time_ns_max);
    else if (key == "jitter_ns") shape.jitter_ns = whole(value, key, time_ns_max);
    else if (key == "jitter_share") shape.jitter_share = share(value, key);
    else if (key == "jitter_overtaken") shape.jitter_overtaken = value.get<bool>();
    else if (key == "loss") shape.loss = share(value, key);
    else if (key == "reorder") shape.reorder = share(value, key);
    else if (key == "reorder_ns") shape.reorder_ns = whole(value, key, time_ns_max);
    else if (key == "rate_bps") shape.rate_bps = whole(value, key, rate_bps_max);
    else if (key == "blackhole") shape.blackhole = value.get<bool>();
    else throw std::invalid_argument("unknown key " + key);
  }
  return shape;
}

/// The conveyors that an order is about.
std::vector<Conveyor*> meant(const json& order, Links& links) {
  const auto names = order.value("links", std::vector<std::string>{});
  const auto directions = order.value("directions", std::vector<std::string>{"up", "down"});
  const auto named = [&](const Link& link) { return names.empty() || std::ranges::find(names, link.name()) != names.end(); };
  for (const std::string& name : names) {
    if (std::ranges::none_of(links, [&](const auto& link) { return link->name() == name; })) throw std::invalid_argument("no link " + name);
  }
  std::vector<Conveyor*> found;
  for (const auto& link : links) {
    if (!named(*link)) continue;
    for (const std::string& direction : directions) {
      if (direction != "up" && direction != "down") throw std::invalid_argument("no direction " + direction + ": up (from the host) or down");
      found.push_back(direction == "up" ? &link->up() : &link->down());
    }
  }
  return found;
}

json late_json(const measure::Histogram& late) {
  if (late.empty()) return nullptr;
  return {{"count", late.count()}, {"mean_ns", late.mean_ns()},           {"min_ns", late.min_ns()},
          {"p50_ns", late.percentile(1, 2)}, {"p99_ns", late.percentile(99, 100)}, {"max_ns", late.max_ns()}};
}

json stats(Conveyor& conveyor) {
  const Shape& shape = conveyor.lane().shape();
  const LaneCounts& counts = conveyor.lane().counts();
  return {{"shape",
           {{"delay_ns", shape.delay_ns},
            {"jitter_ns", shape.jitter_ns},
            {"jitter_share", shape.jitter_share},
            {"jitter_overtaken", shape.jitter_overtaken},
            {"loss", shape.loss},
            {"reorder", shape.reorder},
            {"reorder_ns", shape.reorder_ns},
            {"rate_bps", shape.rate_bps},
            {"blackhole", shape.blackhole}}},
          {"frames", counts.frames},
          {"bytes", counts.bytes},
          {"lost", counts.lost},
          {"held_up", counts.held_up},
          {"dropped", counts.dropped},
          {"swallowed", counts.swallowed},
          {"under_way_bytes_max", counts.under_way_bytes_max},
          {"refused", conveyor.refused()},
          {"late", late_json(conveyor.late())}};
}

}  // namespace

json obey(const json& order, Links& links) {
  const auto what = order.at("do").get<std::string>();
  if (what == "shape") {
    std::vector<std::pair<Conveyor*, Shape>> changes;
    for (Conveyor* conveyor : meant(order, links)) changes.emplace_back(conveyor, changed(conveyor->lane().shape(), order.at("shape")));
    for (const auto& [conveyor, shape] : changes) conveyor->set_shape(shape);
    return json::object();
  }
  if (what == "stats") {
    json answer = json::object();
    for (const auto& link : links) answer[link->name()] = {{"up", stats(link->up())}, {"down", stats(link->down())}};
    if (order.value("forget", false)) {
      for (const auto& link : links) link->up().forget_late(), link->down().forget_late();
    }
    return answer;
  }
  throw std::invalid_argument("do: shape or stats, not " + what);
}

Control::Control(net::EventLoop& loop, const std::string& path, Links& links)
    : loop_(loop), links_(links), socket_(socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) throw std::system_error(ENAMETOOLONG, std::generic_category(), path);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  if (bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0)
    throw std::system_error(errno, std::generic_category(), path);
  loop_.watch(socket_.get(), EPOLLIN, *this);
}

Control::~Control() { loop_.unwatch(socket_.get(), *this); }

void Control::on_events(std::uint32_t) {
  const std::span<std::uint8_t> room = loop_.read_room();
  sockaddr_un from{};
  socklen_t from_size = sizeof from;
  const ssize_t bytes = recvfrom(socket_.get(), room.data(), room.size(), 0, reinterpret_cast<sockaddr*>(&from), &from_size);
  if (bytes < 0) return;
  json answer;
  try {
    answer = obey(json::parse(room.begin(), room.begin() + bytes), links_);
  } catch (const std::exception& error) {
    answer = {{"error", error.what()}};
  }
  const std::string text = answer.dump();
  // Who does not listen for an answer gets none.
  sendto(socket_.get(), text.data(), text.size(), MSG_DONTWAIT, reinterpret_cast<const sockaddr*>(&from), from_size);
}

}  // namespace n2nq::lab
