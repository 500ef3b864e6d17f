// SPDX-License-Identifier: GPL-3.0-or-later
// What a worker process is told by `configure`, checked.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "broker/wire/messages.h"
#include "workers/group/sender.h"
#include "workers/recorder/recorder.h"

namespace n2nq::worker {

struct WorkerSettings {
  std::string run;
  WorkerRole role = WorkerRole::senders;
  wire::Token token{};
  std::string system;  // the system under test: "n2nq"
  std::uint32_t first = 1, last = 1, total = 1;
  std::uint64_t seed = 0;
  LogOptions log;
  std::string staging_folder;
  std::string salvage;  // path of the staging file of a killed group of the same settings; empty: this is a group that runs

  SenderPlan plan;  // senders only, like size_min
  std::uint32_t size_min = 0;
  std::uint32_t senders_total = 0;  // receivers only, like queue_mode
  wire::QueueMode queue_mode = wire::QueueMode::broadcaster;
};

/// `role`: the role of this program. Throws net::SectionError.
WorkerSettings parse_worker_settings(const nlohmann::json& configure, WorkerRole role);

}  // namespace n2nq::worker
