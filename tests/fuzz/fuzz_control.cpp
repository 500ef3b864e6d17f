// SPDX-License-Identifier: GPL-3.0-or-later
// Control messages, as whoever gets them reads them: what is wrong ends in an error that says so.
//   byte 0  who reads the rest: 0 the broker, 1 senders, 2 receivers, 3 the bench, 4 a worker that runs
#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

#include "app/control/control_message.h"
#include "broker/net/section.h"
#include "broker/server/options.h"
#include "tests/fuzz/fuzz.h"
#include "workers/group/clock_correction.h"
#include "workers/group/orders.h"
#include "workers/group/settings.h"

namespace {

using namespace n2nq;

/// Whether it begins with a key, and the way to it, as "interval.lag.count is 1.5, …" or "services[3].number is missing, …".
bool begins_with_key(std::string_view text) {
  constexpr std::string_view of_keys = "abcdefghijklmnopqrstuvwxyz0123456789_.[]";
  const std::string_view rest = text.substr(std::min(text.find_first_not_of(of_keys), text.size()));
  return rest.size() < text.size() && (rest.starts_with(" is ") || rest.starts_with(" holds "));
}

/// One line of its own, whatever the message holds.
bool is_short_and_printable(std::string_view text) {
  constexpr std::size_t chars_max = 300;
  return text.size() < chars_max && std::ranges::none_of(text, [](unsigned char letter) { return letter < ' ' || letter == 0x7F; });
}

/// What passes is carried out as far as that takes no group.
void take_order(const nlohmann::json& object) {
  net::Section section(object, "");
  const std::string type = section.text("type");
  if (type == "connect") {
    worker::parse_connect_order(section);
  } else if (type == "start") {
    const worker::StartOrder order = worker::parse_start_order(section);
    const measure::ClockLine own{order.lead_ns, -order.at_broker_ns, measure::ClockLine::drift_ppt_max / 10};
    const std::int64_t begin_ns = own.when(order.at_broker_ns) - order.lead_ns;
    fuzz::require(begin_ns >= -4 * measure::stamp_ns_max && begin_ns <= 4 * measure::stamp_ns_max, "a start stays within what can be told");
  } else if (type == "clock") {
    const worker::ClockOrder order = worker::parse_clock_order(section);
    worker::ClockCorrection clocks;
    clocks.set_own({}, 0);
    order.line ? clocks.set_senders(*order.line, 1, {order.bound, order.past}) : clocks.set_senders_same(1);
    for (const std::int64_t ns : {-measure::stamp_ns_max, std::int64_t{0}, measure::stamp_ns_max}) {
      const auto [sender_ns, receiver_ns] = clocks.offsets(ns, -ns);
      fuzz::require(receiver_ns == 0, "a line of zeros corrects nothing");
      fuzz::require(order.line || sender_ns == 0, "likewise");
      clocks.measured(ns, -ns);
      fuzz::require(!clocks.worst_before() || clocks.worst_before()->total_ns() >= order.bound.total_ns(), "the past is known no better");
    }
    fuzz::require(order.bound.total_ns() >= 0, "a bound is no less than nothing");
  } else if (type == "fault") {
    worker::WorkerSettings settings;
    settings.last = settings.total = 50;
    const worker::FaultOrder order = worker::parse_fault_order(section, settings);
    fuzz::require(order.service >= 1 && order.service <= 50, "a fault is of a service of the group");
  } else if (type == "request") {
    worker::parse_request_order(section);
    section.refuse_unknown();
  } else if (type == "stats") {
    worker::parse_stats_order(section);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const nlohmann::json object = nlohmann::json::parse(fuzz::text_of({data + 1, size - 1}), nullptr, /*allow_exceptions=*/false);
  if (object.is_discarded()) return 0;
  try {
    switch (data[0] % 5) {
      case 0:
        parse_options(object);
        break;
      case 1:
        worker::parse_worker_settings(object, worker::WorkerRole::senders);
        break;
      case 2:
        worker::parse_worker_settings(object, worker::WorkerRole::receivers);
        break;
      case 3:
        app::decode_message(object);
        break;
      case 4:
        take_order(object);
        break;
    }
  } catch (const net::SectionError& error) {
    fuzz::require(error.what()[0] != '\0', "an error says what is wrong");
    fuzz::require(!error.key().empty() || !object.is_object() || object.contains(""), "and under which key, if that has a name");
    fuzz::require(is_short_and_printable(error.what()), error.what());
  } catch (const nlohmann::json::exception& error) {
    fuzz::require(false, error.what());  // names no key
  } catch (const std::invalid_argument& error) {
    fuzz::require(!object.is_object() || begins_with_key(error.what()), error.what());
    fuzz::require(is_short_and_printable(error.what()), error.what());
  }
  return 0;
}
