// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/group/settings.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "broker/net/clock.h"
#include "broker/net/section.h"
#include "broker/net/test_clock.h"

namespace n2nq::worker {

namespace {

using net::Section;
using net::SectionError;
using Json = nlohmann::json;

constexpr std::int64_t services_max = 100'000;
constexpr std::int64_t letters_max = std::int64_t{1} << 30;
constexpr std::int64_t warmup_messages_max = 1'000'000;
constexpr std::int64_t duration_ms_max = std::int64_t{30} * 24 * 3600 * 1000;

void read_services(Section section, WorkerSettings& settings) {
  section.required_number("total", settings.total, 1, services_max);
  section.required_number("first", settings.first, 1, settings.total);
  section.required_number("last", settings.last, settings.first, settings.total);
  section.refuse_unknown();
}

Interval read_interval(Section section) {
  Interval interval;
  section.required_number("num", interval.num_ns, 0, Pacer::term_max);
  section.required_number("den", interval.den, 1, Pacer::term_max);
  if (interval.num_ns / interval.den > Pacer::interval_ns_max)
    throw SectionError(section.key("num"), "load.interval_ns is longer than a day");
  section.refuse_unknown();
  return interval;
}

void read_load(Section section, WorkerSettings& settings) {
  SenderPlan& plan = settings.plan;
  const auto is_given = [&](const char* name) {
    const Json* value = section.find(name);
    return value != nullptr && !value->is_null();
  };
  if (is_given("messages")) section.required_number("messages", plan.messages.emplace(), 0, static_cast<std::int64_t>(Pacer::messages_max));
  if (is_given("duration_ms")) {
    section.required_number("duration_ms", plan.duration_ns.emplace(), 0, duration_ms_max);
    *plan.duration_ns *= net::ns_per_ms;
  }
  if (plan.messages && plan.duration_ns) {
    throw SectionError(section.key("duration_ms"),
                       "load.messages and load.duration_ms exclude each other: give one, or neither for \"until stopped\"");
  }
  const Json& sizes = section.get("size_bytes");
  if (!sizes.is_array() || sizes.size() != 2) {
    throw SectionError(section.key("size_bytes"), "load.size_bytes is " + net::shown(sizes) + ", it has to be [smallest, largest]");
  }
  settings.size_min = static_cast<std::uint32_t>(Section::in_range("load.size_bytes[0]", sizes[0], 0, letters_max));
  plan.size_max = static_cast<std::uint32_t>(Section::in_range("load.size_bytes[1]", sizes[1], settings.size_min, letters_max));
  section.whole_number("warmup_messages", plan.warmup_messages, 0, warmup_messages_max);
  plan.interval = read_interval(section.section("interval_ns"));
  plan.start = section.choice("start", StartPhase::spread, {{"spread", StartPhase::spread}, {"in-phase", StartPhase::in_phase}});
  plan.total = settings.total;
  section.refuse_unknown();
}

LogOptions read_log(Section section) {
  LogOptions log;
  log.mode = section.choice("mode", LogMode::all, {{"all", LogMode::all}, {"sampled", LogMode::sampled}, {"off", LogMode::off}});
  section.whole_number("sample_every", log.sample_every, 1, 1'000'000'000);
  log.folder = section.text("folder");
  if (log.folder.empty() && log.mode != LogMode::off)
    throw SectionError(section.key("folder"), "log.folder is missing: the logs need a folder");
  if (const Json* head = section.find("header")) {
    Section lines(*head, section.key("header"));
    for (const auto& item : head->items()) {
      // A line break would forge a head line, or a line of the log itself.
      std::string value = item.value().is_string() ? item.value().get<std::string>() : item.value().dump();
      for (char& letter : value) {
        if (static_cast<unsigned char>(letter) < ' ') letter = ' ';
      }
      if (item.key().find_first_of("\t\r\n:") != std::string::npos) {
        throw SectionError(lines.key(item.key()), "a key of log.header must not hold a tab, a line break or a colon");
      }
      log.head.emplace_back(item.key(), std::move(value));
    }
  }
  section.refuse_unknown();
  return log;
}

constexpr std::size_t rules_max = 1024;  // of one receiver's list

/// A pair of numbers, such as [20,100]; absent: `whole`.
std::pair<std::uint32_t, std::uint32_t> read_pair(Section& section, const std::string& name,
                                                  std::pair<std::uint32_t, std::uint32_t> whole) {
  const Json* found = section.find(name);
  if (found == nullptr) return whole;
  const Ranges ranges = parse_ranges(Json::array({*found}), section.key(name));
  return ranges.front();
}

}  // namespace

Ranges parse_ranges(const Json& array, const std::string& name) {
  Ranges ranges;
  if (!array.is_array()) throw SectionError(name, name + " is " + net::shown(array) + ", it has to be a list such as [[1,50]]");
  for (const Json& range : array) {
    if (!range.is_array() || range.size() != 2) throw SectionError(name, name + " holds " + net::shown(range) + ", a range is [first, last]");
    const auto first = Section::in_range(name, range[0], 0, UINT32_MAX);
    ranges.emplace_back(static_cast<std::uint32_t>(first),
                        static_cast<std::uint32_t>(Section::in_range(name, range[1], first, UINT32_MAX)));
  }
  return ranges;
}

RequestOrder parse_request_order(Section& section) {
  RequestOrder order;
  order.receivers = parse_ranges(section.get("receivers"), section.key("receivers"));
  const Json& rules = section.get("rules");
  if (!rules.is_array() || rules.size() > rules_max) {
    throw SectionError(section.key("rules"), section.key("rules") + " has to be a list of at most " + std::to_string(rules_max) + " rules");
  }
  order.request.rules.clear();
  for (const Json& rule : rules) {
    Section entry(rule, section.key("rules"));
    const wire::Rule any;
    const auto [sender_first, sender_last] = read_pair(entry, "senders", {any.sender_first, any.sender_last});
    const auto [size_min, size_max] = read_pair(entry, "sizes", {any.size_min, any.size_max});
    entry.refuse_unknown();
    order.request.rules.push_back({sender_first, sender_last, size_min, size_max});
  }
  section.whole_number("prefetch", order.request.prefetch, 1, 1'000'000);
  return order;
}

WorkerSettings parse_worker_settings(const Json& configure, WorkerRole role) {
  Section top(configure, "");
  top.find("type");
  const Json* control = top.find("control");
  if (control == nullptr || *control != 1) {
    throw SectionError("control", "the bench speaks version " + (control == nullptr ? std::string("none") : net::shown(*control)) +
                                      " of the control protocol, this n2nq-" + name_of(role) + " (" N2NQ_VERSION ") speaks version 1");
  }
  WorkerSettings settings;
  settings.role = role;
  if (top.text("role") != name_of(role)) {
    throw SectionError("role", "role is " + net::shown(Json(top.text("role"))) + ", this process runs \"" + name_of(role) + "\"");
  }
  settings.run = top.text("run");
  const auto token = wire::token_from_hex(top.text("token"));
  if (!token) throw SectionError("token", "the token has to be 64 hex digits, or empty for none");
  settings.token = *token;
  settings.system = top.text("system");
  if (!queue_system_exists(settings.system))
    throw SectionError("system", "system is " + net::shown(Json(settings.system)) + ", it has to be \"n2nq\", or \"floor\" in a benchmark");
  read_services(top.section("services"), settings);
  if (role == WorkerRole::senders) {
    read_load(top.section("load"), settings);
  } else {
    top.required_number("senders_total", settings.senders_total, 1, services_max);
    if (const Json* requests = top.find("requests"); requests != nullptr && !requests->is_null()) {
      if (!requests->is_array())
        throw SectionError("requests", "requests is " + net::shown(*requests) + ", it has to be a list, or null for off");
      settings.requests.emplace();
      for (const Json& order : *requests) {
        Section section(order, "requests");
        settings.requests->push_back(parse_request_order(section));
        section.refuse_unknown();
      }
    }
    top.whole_number("warmup_messages", settings.warmup_messages, 0, warmup_messages_max);
    settings.queue_mode = top.choice("queue_mode", wire::QueueMode::broadcaster,
                                     {{"broadcaster", wire::QueueMode::broadcaster}, {"load-balancer", wire::QueueMode::load_balancer}});
  }
  top.whole_number("seed", settings.seed, 0, INT64_MAX);
  std::int64_t reconnect_ms = limits::reconnect_deadline_ms.standard;
  top.whole_number("reconnect_deadline_ms", reconnect_ms, limits::reconnect_deadline_ms.min, limits::reconnect_deadline_ms.max);
  // How soon N2NQ takes somebody for gone is no reason to give up: one that is started again may need its time.
  settings.reconnect_deadline_ns = std::max(reconnect_ms * net::ns_per_ms, settings.reconnect_deadline_ns);
  settings.log = read_log(top.section("log"));
  settings.staging_folder = top.text("staging_folder");
  net::take_test_clock(top);
  settings.salvage = top.text("salvage");
  settings.continue_of = top.text("continue");
  if (!settings.continue_of.empty() && (settings.log.mode != LogMode::all || !settings.salvage.empty())) {
    throw SectionError("continue",
                       "a killed group can be continued only with log.mode all (its logs are what it knew), and not salvaged too");
  }
  if (settings.staging_folder.empty() && settings.log.mode != LogMode::off) {
    throw SectionError("staging_folder", "staging_folder is missing: logs are staged in a folder in memory, such as /dev/shm");
  }
  top.refuse_unknown();
  return settings;
}

}  // namespace n2nq::worker
