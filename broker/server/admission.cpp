// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/server/admission.h"

#include <algorithm>

#include "broker/net/clock.h"

namespace n2nq {

using wire::ErrorCode;
using wire::Role;

namespace {

/// Probes that may be there however few sessions there may be: one of each group of workers.
constexpr size_t probes_min = 2;
/// Smallest frame_bytes_max, so that small limits leave room for what senders join.
constexpr uint32_t frame_bytes_min = 256 * 1024;

}  // namespace

std::optional<Admission::Refusal> Admission::refusal(wire::ByteView body, Doors doors) const {
  if (auto found = flaw(body)) return found;
  const wire::Hello hello = *wire::Hello::decode(body);
  if (doors == Doors::closed) return Refusal{ErrorCode::ending, "the run is over: nobody is let in any more"};
  if (doors == Doors::for_receivers && hello.role != Role::receiver)
    return Refusal{ErrorCode::ending, "N2NQ is ending: it drains, and lets in receivers only"};
  if (hello.role == Role::receiver) {
    const std::string reason = receivers_.refusal(hello.number);
    if (!reason.empty()) return Refusal{ErrorCode::too_slow, reason};
  }
  if (hello.role == Role::probe && places_.probes() >= probes_max()) {
    return Refusal{ErrorCode::too_many, std::to_string(places_.probes()) +
                                            " probes are connected; the other sessions are kept for this run's services"};
  }
  if (places_.is_full() && !has_place(hello)) return Refusal{ErrorCode::too_many, places_.limit_text()};
  return std::nullopt;
}

/// What is wrong with it whatever the run has come to.
std::optional<Admission::Refusal> Admission::flaw(wire::ByteView body) const {
  const auto opening = wire::Hello::decode_opening(body);
  if (!opening || opening->magic != wire::magic) return Refusal{ErrorCode::not_n2nq, "HELLO does not begin with \"N2NQ\""};
  if (opening->version != wire::version) {
    return Refusal{ErrorCode::other_version, "the client speaks version " + std::to_string(opening->version) +
                                                 " of the protocol, this broker version " + std::to_string(wire::version)};
  }
  const auto hello = wire::Hello::decode(body);
  if (!hello) {
    return Refusal{ErrorCode::frame, "HELLO has " + std::to_string(body.size()) + " bytes; version " + std::to_string(wire::version) +
                                         " of it has " + std::to_string(wire::Hello::body_bytes)};
  }
  if (hello->reserved_read != 0) return Refusal{ErrorCode::frame, "byte 7 of HELLO has to be 0"};
  if (!token_matches(hello->token)) return Refusal{ErrorCode::token, "the token is not this run's"};
  const bool is_service = hello->role == Role::sender || hello->role == Role::receiver;
  if (!is_service && hello->role != Role::probe) {
    return Refusal{ErrorCode::number, "role " + std::to_string(static_cast<int>(hello->role)) + " does not exist (1 to 3 do)"};
  }
  const uint32_t numbers = hello->role == Role::sender ? options_.queue.senders : options_.queue.receivers;
  if (is_service && (hello->number < 1 || hello->number > numbers)) {
    return Refusal{ErrorCode::number, std::string(wire::name_of(hello->role)) + " " + std::to_string(hello->number) +
                                          " is not in this run; they are numbered 1 to " + std::to_string(numbers)};
  }
  if (hello->role == Role::sender && hello->next_index > wire::index_max + 1) {
    return Refusal{ErrorCode::frame,
                   "HELLO says next_index " + std::to_string(hello->next_index) + "; indexes end at " + std::to_string(wire::index_max)};
  }
  if (hello->role != Role::sender && hello->next_index != 0) {
    return Refusal{ErrorCode::frame, "HELLO says next_index " + std::to_string(hello->next_index) + "; of a " +
                                         std::string(wire::name_of(hello->role)) + " it has to be 0"};
  }
  return std::nullopt;
}

/// It has been welcomed before: that connection is served still, though it may be dead, or is told its last words.
bool Admission::has_place(const wire::Hello& hello) const {
  if (hello.role == Role::probe) return false;
  const Session* served = hello.role == Role::sender ? senders_.account(hello.number).session : receivers_.session(hello.number);
  return served != nullptr || places_.lingers(hello.role, hello.number);
}

/// However many there are, each service finds a place.
size_t Admission::probes_max() const {
  const size_t services = size_t{options_.queue.senders} + options_.queue.receivers;
  return std::max(options_.limits.sessions_max, services + probes_min) - services;
}

bool Admission::token_matches(const wire::Token& token) const {
  if (!options_.token_required) return true;
  // Every byte is looked at, whichever is wrong: the time taken tells nothing.
  unsigned difference = 0;
  for (size_t i = 0; i < token.size(); ++i) difference |= static_cast<unsigned>(token[i] ^ options_.token[i]);
  return difference == 0;
}

wire::Welcome Admission::welcome(uint64_t next_index) const {
  wire::Welcome welcome;
  welcome.queue_mode = options_.queue.mode;
  if (options_.queue.responses) welcome.features |= wire::feature_responses;
  if (options_.queue.requests) welcome.features |= wire::feature_requests;
  if (options_.queue.responses) welcome.responses_window = options_.queue.responses_window;
  welcome.heartbeat_ms = options_.limits.heartbeat_ms;
  welcome.message_bytes_max = options_.limits.message_bytes_max;
  welcome.frame_bytes_max = std::max(options_.limits.message_bytes_max + wire::frame_bytes_beside_payload, frame_bytes_min);
  welcome.epoch = epoch_;
  welcome.next_index = next_index;
  welcome.senders_expected = options_.queue.senders;
  welcome.now_ns = net::now_ns();
  return welcome;
}

}  // namespace n2nq
