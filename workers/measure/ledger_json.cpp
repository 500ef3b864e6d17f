// SPDX-License-Identifier: GPL-3.0-or-later
// A ledger as the summary holds it.
#include "workers/measure/ledger.h"

#include <nlohmann/json.hpp>

namespace n2nq::measure {

namespace {

void put_copies(nlohmann::json& json, const CopyLedger& line) {
  json["delivered"] = line.delivered;
  json["expired"] = line.skipped.expired;
  json["unrequested"] = line.skipped.unrequested;
  json["parked"] = line.skipped.parked;
  json["cut_off"] = line.skipped.cut_off;
  json["still_queued"] = line.skipped.still_queued;
  json["lost"] = line.lost;
  json["unexplained"] = line.unexplained;
  json["parked_delivered"] = line.parked_delivered;
}

void put_tags(nlohmann::json& json, const ReceivedCounts& tags) {
  nlohmann::json counts = tags;
  json.update(counts);
}

}  // namespace

void to_json(nlohmann::json& json, const Ledger& ledger) {
  nlohmann::json total = {{"attempted", ledger.attempted},
                          {"accepted", ledger.accepted},
                          {"refused", ledger.refused},
                          {"lost_before_queue", ledger.lost_before_queue},
                          {"accepted_copies", ledger.total.accepted}};
  put_copies(total, ledger.total);
  put_tags(total, ledger.total.tags);
  nlohmann::json senders = nlohmann::json::array();
  for (const SenderLedger& line : ledger.senders) {
    senders.push_back({{"number", line.number},
                       {"attempted", line.attempted},
                       {"accepted", line.accepted},
                       {"refused", line.refused},
                       {"lost_before_queue", line.lost_before_queue},
                       {"unexplained", line.unexplained}});
  }
  nlohmann::json receivers = nlohmann::json::array();
  for (const ReceiverLedger& line : ledger.receivers) {
    nlohmann::json entry = {{"number", line.number}, {"accepted", line.copies.accepted}};
    put_copies(entry, line.copies);
    put_tags(entry, line.copies.tags);
    entry["handed_over"] = line.handed_over ? nlohmann::json(*line.handed_over) : nlohmann::json(nullptr);
    entry["not_received"] = line.not_received;
    if (line.cut_connection) {
      const auto& received = line.cut_connection->received;
      entry["cut_connection"] = {{"handed_over", line.cut_connection->handed_over},
                                 {"received", received ? nlohmann::json(*received) : nlohmann::json(nullptr)}};
    }
    receivers.push_back(std::move(entry));
  }
  json = {{"expected", ledger.expected},   {"planned", ledger.planned ? nlohmann::json(*ledger.planned) : nlohmann::json(nullptr)},
          {"balanced", ledger.balanced},   {"total", std::move(total)},
          {"senders", std::move(senders)}, {"receivers", std::move(receivers)}};
  if (!ledger.warm_up) return;
  const WarmUpLedger& warm_up = *ledger.warm_up;
  nlohmann::json counts = {{"planned", warm_up.planned},
                           {"attempted", warm_up.attempted},
                           {"accepted", warm_up.accepted},
                           {"refused", warm_up.refused},
                           {"lost_before_queue", warm_up.lost_before_queue},
                           {"expected", warm_up.expected},
                           {"accepted_copies", warm_up.total.accepted}};
  put_copies(counts, warm_up.total);
  put_tags(counts, warm_up.total.tags);
  json["warmup"] = std::move(counts);
}

}  // namespace n2nq::measure
