// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/queue/sabotage.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "broker/queue/queue.h"
#include "broker/wire/record.h"

namespace n2nq::sabotage {

namespace {

constexpr std::array<std::pair<const char*, Way>, 15> names{{
    {"not-queued", Way::not_queued},
    {"drop-one", Way::drop_one},
    {"deliver-twice", Way::deliver_twice},
    {"swap-two", Way::swap_two},
    {"flip-byte", Way::flip_byte},
    {"invent", Way::invent},
    {"skip-confirmation", Way::skip_confirmation},
    {"confirm-by-itself", Way::confirm_by_itself},
    {"count-one-more", Way::count_one_more},
    {"forget-expired", Way::forget_expired},
    {"lose-expired", Way::lose_expired},
    {"unasked", Way::unasked},
    {"unflagged", Way::unflagged},
    {"unmarked", Way::unmarked},
    {"accepted-ahead", Way::accepted_ahead},
}};

struct Order {
  Way way = Way::none;
  uint64_t occasions_left = 3;
};

Order order_from_environment() {
  Order order;
  const char* text = std::getenv("N2NQ_SABOTAGE");
  if (text == nullptr) return order;
  const std::string_view whole = text;
  const std::string_view wanted = whole.substr(0, whole.find('@'));
  if (wanted.size() < whole.size()) order.occasions_left = std::strtoull(text + wanted.size() + 1, nullptr, 10);
  for (const auto& [name, way] : names) {
    if (name == wanted) order.way = way;
  }
  if (order.way == Way::none || order.occasions_left == 0) {
    std::fprintf(stderr, "n2nq-broker-broken: N2NQ_SABOTAGE=%s is no WAY[@NTH]; the ways are", text);
    for (const auto& [name, way] : names) std::fprintf(stderr, " %s", name);
    std::fputc('\n', stderr);
    std::exit(2);
  }
  return order;
}

/// The one message that has to wait for the next one of its sender.
struct HeldBack {
  wire::Bytes record;
  int64_t taken_in_ns = 0;
};

/// Read at the start of the program, so that a wrong one is found at once.
Order order = order_from_environment();

}  // namespace

bool now(Way way) {
  return order.way == way && order.occasions_left > 0 && --order.occasions_left == 0;
}

bool takes_in(Queue& queue, wire::ByteView record, int64_t taken_in_ns) {
  static std::optional<HeldBack> held_back;
  wire::Bytes copy(record.begin(), record.end());
  if (held_back && wire::record_sender(held_back->record.data()) == wire::record_sender(record.data())) {
    queue.take_in(record, 1, taken_in_ns);
    queue.take_in(held_back->record, 1, held_back->taken_in_ns);
    held_back.reset();
    return true;
  }
  if (now(Way::not_queued)) return true;
  if (now(Way::deliver_twice)) queue.take_in(record, 1, taken_in_ns);
  if (now(Way::swap_two)) {
    held_back = HeldBack{std::move(copy), taken_in_ns};
    return true;
  }
  if (now(Way::flip_byte)) {
    copy.back() ^= 1;
    queue.take_in(copy, 1, taken_in_ns);
    return true;
  }
  if (now(Way::invent)) {
    wire::RecordHeader header = wire::read_record_header(record.data());
    header.index += 1'000'000;
    wire::write_record_header(copy.data(), header);
    wire::set_record_checksum(copy.data(), wire::compute_record_checksum(copy.data()));
    queue.take_in(copy, 1, taken_in_ns);
  }
  return false;
}

}  // namespace n2nq::sabotage
