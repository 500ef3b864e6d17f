// SPDX-License-Identifier: GPL-3.0-or-later
// What a worker process is told by `configure`, checked.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "broker/net/clock.h"
#include "broker/net/section.h"
#include "broker/wire/limits.h"
#include "broker/wire/messages.h"
#include "workers/group/sender.h"
#include "workers/recorder/recorder.h"

namespace n2nq::worker {

using Ranges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;  // of service numbers, both ends inclusive

/// What some receivers are to ask for.
struct RequestOrder {
  Ranges receivers;
  Request request;
};

struct WorkerSettings {
  std::string run;
  WorkerRole role = WorkerRole::senders;
  wire::Token token{};
  std::string system;  // the system under test: "n2nq"
  std::uint32_t first = 1, last = 1, total = 1;
  std::uint64_t seed = 0;
  std::int64_t reconnect_deadline_ns = limits::reconnect_deadline_ms.standard * net::ns_per_ms;  // never less
  LogOptions log;
  std::string staging_folder;
  std::string salvage;      // path of the staging file of a killed group of the same settings; empty: this is a group that runs
  std::string continue_of;  // the same, to go on where that group was; empty: this is a new one

  SenderPlan plan;  // senders only, like size_min
  std::uint32_t size_min = 0;
  std::uint32_t senders_total = 0;  // receivers only, like queue_mode
  wire::QueueMode queue_mode = wire::QueueMode::broadcaster;
  std::uint64_t warmup_messages = 0;                  // the same; of each sender
  std::optional<std::vector<RequestOrder>> requests;  // none: requests are off
};

/// [[1,50],[60,60]]; `name` as it is to be called. Throws net::SectionError.
Ranges parse_ranges(const nlohmann::json& json, const std::string& name);
/// {"receivers":[[1,25]],"rules":[{"senders":[1,10],"sizes":[20,100]}],"prefetch":1}. Throws net::SectionError.
RequestOrder parse_request_order(net::Section& section);

/// `role`: the role of this program. Throws net::SectionError.
WorkerSettings parse_worker_settings(const nlohmann::json& configure, WorkerRole role);

}  // namespace n2nq::worker
