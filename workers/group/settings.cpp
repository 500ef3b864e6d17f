// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/group/settings.h"

#include <nlohmann/json.hpp>

#include "broker/net/clock.h"
#include "broker/net/section.h"

namespace n2nq::worker {

namespace {

using net::Section;
using net::SectionError;
using nlohmann::json;

constexpr std::int64_t services_max = 100'000;
constexpr std::int64_t letters_max = std::int64_t{1} << 30;
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
    const json* value = section.find(name);
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
  const json& sizes = section.get("size_bytes");
  if (!sizes.is_array() || sizes.size() != 2) {
    throw SectionError(section.key("size_bytes"), "load.size_bytes is " + sizes.dump() + ", it has to be [smallest, largest]");
  }
  settings.size_min = static_cast<std::uint32_t>(Section::in_range("load.size_bytes[0]", sizes[0], 0, letters_max));
  plan.size_max = static_cast<std::uint32_t>(Section::in_range("load.size_bytes[1]", sizes[1], settings.size_min, letters_max));
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
  if (const json* head = section.find("header")) {
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

}  // namespace

WorkerSettings parse_worker_settings(const json& configure, WorkerRole role) {
  Section top(configure, "");
  top.find("type");
  const json* control = top.find("control");
  if (control == nullptr || *control != 1) {
    throw SectionError("control", "the bench speaks version " + (control == nullptr ? std::string("none") : control->dump()) +
                                      " of the control protocol, this n2nq-" + name_of(role) + " (" N2NQ_VERSION ") speaks version 1");
  }
  WorkerSettings settings;
  settings.role = role;
  if (top.text("role") != name_of(role)) {
    throw SectionError("role", "role is \"" + top.text("role") + "\", this process runs \"" + name_of(role) + "\"");
  }
  settings.run = top.text("run");
  const auto token = wire::token_from_hex(top.text("token"));
  if (!token) throw SectionError("token", "the token has to be 64 hex digits, or empty for none");
  settings.token = *token;
  settings.system = top.text("system");
  if (!queue_system_exists(settings.system)) throw SectionError("system", "system is \"" + settings.system + "\", it has to be \"n2nq\"");
  read_services(top.section("services"), settings);
  if (role == WorkerRole::senders) {
    read_load(top.section("load"), settings);
  } else {
    top.required_number("senders_total", settings.senders_total, 1, services_max);
    settings.queue_mode = top.choice("queue_mode", wire::QueueMode::broadcaster,
                                     {{"broadcaster", wire::QueueMode::broadcaster}, {"load-balancer", wire::QueueMode::load_balancer}});
  }
  top.whole_number("seed", settings.seed, 0, INT64_MAX);
  settings.log = read_log(top.section("log"));
  settings.staging_folder = top.text("staging_folder");
  settings.salvage = top.text("salvage");
  if (settings.staging_folder.empty() && settings.log.mode != LogMode::off) {
    throw SectionError("staging_folder", "staging_folder is missing: logs are staged in a folder in memory, such as /dev/shm");
  }
  top.refuse_unknown();
  return settings;
}

}  // namespace n2nq::worker
