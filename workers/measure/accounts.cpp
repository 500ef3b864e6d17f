// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/measure/accounts.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "workers/measure/json_keys.h"
#include "workers/measure/whole_number.h"

namespace n2nq::measure {

namespace {

using Json = nlohmann::json;

/// False: it is not there, or null.
bool flag_at(const Json& object, const char* key) {
  const auto it = object.find(key);
  if (it == object.end() || it->is_null()) return false;
  if (!it->is_boolean()) refuse_value(key, *it, "true or false");
  return it->get<bool>();
}

/// What `read` makes of an object that need not be there.
template <typename Read>
auto if_object(const Json& object, const char* key, Read read) -> decltype(read(object)) {
  const auto it = object.find(key);
  return it == object.end() || it->is_null() ? decltype(read(object)){} : in_object(object, key, read);
}

wire::IndexSet index_set_from(const Json& text, const char* key) {
  auto set = text.is_string() ? wire::IndexSet::parse(text.get<std::string>()) : std::nullopt;
  if (!set) refuse_value(key, text, "a set of indexes such as \"0-49,51\"");
  return std::move(*set);
}

SenderSets sets_at(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it == object.end() ? SenderSets{} : sender_sets_from(*it);
}

SkippedCounts skipped_counts_from(const Json& object) {
  SkippedCounts counts;
  counts.expired = whole_or<std::uint64_t>(object, "expired", 0);
  counts.unrequested = whole_or<std::uint64_t>(object, "unrequested", 0);
  counts.parked = whole_or<std::uint64_t>(object, "parked", 0);
  counts.cut_off = whole_or<std::uint64_t>(object, "cut_off", 0);
  counts.still_queued = whole_or<std::uint64_t>(object, "still_queued", 0);
  return counts;
}

/// The receivers' form has the plain words as keys, the broker's appends "_sets".
SkippedSets skipped_sets_from(const Json& object, const std::string& suffix) {
  SkippedSets sets;
  sets.expired = sets_at(object, ("expired" + suffix).c_str());
  sets.unrequested = sets_at(object, ("unrequested" + suffix).c_str());
  sets.parked = sets_at(object, ("parked" + suffix).c_str());
  sets.cut_off = sets_at(object, ("cut_off" + suffix).c_str());
  sets.still_queued = sets_at(object, ("still_queued" + suffix).c_str());
  return sets;
}

ReceivedCounts received_counts_from(const Json& object) {
  ReceivedCounts counts;
  read_whole(object, "received", counts.received);
  read_whole(object, "duplicated", counts.duplicated);
  counts.duplicated_unflagged = whole_or<std::uint64_t>(object, "duplicated_unflagged", 0);
  read_whole(object, "redelivered", counts.redelivered);
  read_whole(object, "out_of_order", counts.out_of_order);
  read_whole(object, "unexpected", counts.unexpected);
  read_whole(object, "negative", counts.negative);
  read_whole(object, "bad_checksum", counts.bad_checksum);
  counts.unasked = whole_or<std::uint64_t>(object, "unasked", 0);
  return counts;
}

std::vector<std::string> faults_from(const Json& object) {
  const auto it = object.find("faults");
  if (it == object.end() || it->is_null()) return {};
  std::vector<std::string> faults;
  for (const Json& fault : list_at(object, "faults")) {
    if (!fault.is_string()) refuse_value("faults", fault, "text");
    faults.push_back(fault.get<std::string>());
  }
  return faults;
}

SentCounts sent_counts_from(const Json& object) {
  SentCounts counts;
  read_whole(object, "attempted", counts.attempted);
  read_whole(object, "accepted", counts.accepted);
  read_whole(object, "refused", counts.refused);
  return counts;
}

}  // namespace

SentCounts& SentCounts::operator+=(const SentCounts& other) {
  attempted += other.attempted;
  accepted += other.accepted;
  refused += other.refused;
  return *this;
}

ReceivedCounts& ReceivedCounts::operator+=(const ReceivedCounts& other) {
  received += other.received;
  duplicated += other.duplicated;
  duplicated_unflagged += other.duplicated_unflagged;
  redelivered += other.redelivered;
  out_of_order += other.out_of_order;
  unexpected += other.unexpected;
  negative += other.negative;
  bad_checksum += other.bad_checksum;
  unasked += other.unasked;
  return *this;
}

SkippedCounts& SkippedCounts::operator+=(const SkippedCounts& other) {
  expired += other.expired;
  unrequested += other.unrequested;
  parked += other.parked;
  cut_off += other.cut_off;
  still_queued += other.still_queued;
  return *this;
}

SkippedCounts counts_of(const SkippedSets& sets) {
  const auto count = [](const SenderSets& part) {
    std::uint64_t copies = 0;
    for (const SenderRun& run : part) copies += run.set.count() * (run.last - run.first + 1);
    return copies;
  };
  return {count(sets.expired), count(sets.unrequested), count(sets.parked), count(sets.cut_off), count(sets.still_queued)};
}

Json sender_sets_json(const SenderSets& sets) {
  Json result = Json::array();
  for (const SenderRun& run : sets) result.push_back({run.first, run.last, run.set.text()});
  return result;
}

SenderSets sender_sets_from(const Json& array) {
  SenderSets sets;
  if (!array.is_array()) refuse_value("sets", array, "a list");
  for (const Json& entry : array) {
    if (!entry.is_array() || entry.size() != 3) refuse_value("sets", entry, "lists of a first and a last sender and a set");
    SenderRun run{whole_number<std::uint32_t>(entry.at(0), "sets"), whole_number<std::uint32_t>(entry.at(1), "sets"),
                  index_set_from(entry.at(2), "sets")};
    if (run.first > run.last) throw std::invalid_argument("sets: first sender " + std::to_string(run.first) + " is above the last");
    sets.push_back(std::move(run));
  }
  return sets;
}

Json skipped_sets_json(const SkippedSets& sets) {
  Json result = Json::object();
  const auto put = [&](const char* key, const SenderSets& part) {
    if (!part.empty()) result[key] = sender_sets_json(part);
  };
  put("expired", sets.expired);
  put("unrequested", sets.unrequested);
  put("parked", sets.parked);
  put("cut_off", sets.cut_off);
  put("still_queued", sets.still_queued);
  return result;
}

void to_json(Json& object, const SentCounts& counts) {
  object = {{"attempted", counts.attempted}, {"accepted", counts.accepted}, {"refused", counts.refused}};
}

void to_json(Json& object, const ReceivedCounts& counts) {
  object = {
      {"received", counts.received},       {"duplicated", counts.duplicated},     {"duplicated_unflagged", counts.duplicated_unflagged},
      {"redelivered", counts.redelivered}, {"out_of_order", counts.out_of_order}, {"unexpected", counts.unexpected},
      {"negative", counts.negative},       {"bad_checksum", counts.bad_checksum}, {"unasked", counts.unasked}};
}

SendersAccount senders_account_from(const Json& bye) {
  SendersAccount account;
  each_object(bye, "services", [&account](const Json& service) {
    SenderAccount sender;
    read_whole(service, "number", sender.number);
    read_whole(service, "attempted", sender.attempted);
    read_whole(service, "accepted", sender.accepted);
    read_whole(service, "refused", sender.refused);
    read_whole(service, "lost_before_queue", sender.lost_before_queue);
    sender.accepted_set = index_set_from(value_at(service, "accepted_set", "text"), "accepted_set");
    sender.warm_up = if_object(service, "warmup", sent_counts_from);
    sender.unheard = flag_at(service, "unheard");
    account.services.push_back(std::move(sender));
  });
  account.last_lag_ns = whole_if_any<std::int64_t>(bye, "last_lag_ns");
  account.lag_growth_ns = whole_if_any<std::int64_t>(bye, "lag_growth_ns");
  account.faults = faults_from(bye);
  return account;
}

ReceiversAccount receivers_account_from(const Json& bye) {
  ReceiversAccount account;
  each_object(bye, "services", [&account](const Json& service) {
    ReceiverAccount receiver;
    read_whole(service, "number", receiver.number);
    receiver.counts = received_counts_from(service);
    receiver.confirmed = whole_or<std::uint64_t>(service, "confirmed", 0);
    receiver.answered_negatively = whole_or<std::uint64_t>(service, "answered_negatively", 0);
    receiver.warm_up = if_object(service, "warmup", [&receiver](const Json& warm_up) {
      receiver.confirmed += whole_or<std::uint64_t>(warm_up, "confirmed", 0);
      receiver.answered_negatively += whole_or<std::uint64_t>(warm_up, "answered_negatively", 0);
      return received_counts_from(warm_up);
    });
    receiver.delivered_sets = sets_at(service, "delivered_sets");
    receiver.skipped_sets = if_object(service, "skipped_sets", [](const Json& sets) { return skipped_sets_from(sets, ""); });
    receiver.ended_by_broker = flag_at(service, "ended_by_broker");
    receiver.skipped_at_end = if_object(service, "skipped_at_end", skipped_counts_from);
    receiver.connections = whole_or<std::uint64_t>(service, "connections", 0);
    receiver.received_on_last_connection = whole_if_any<std::uint64_t>(service, "received_on_last_connection");
    receiver.continued = flag_at(service, "continued");
    account.services.push_back(std::move(receiver));
  });
  account.delivered_sets = sets_at(bye, "delivered_sets");
  account.latency_samples = if_object(bye, "figures", [](const Json& figures) -> std::optional<std::uint64_t> {
    if (!figures.contains("latency")) return std::nullopt;
    return in_object(figures, "latency", [](const Json& latency) { return latency.get<Figures>().count; });
  });
  account.faults = faults_from(bye);
  return account;
}

BrokerAccount broker_account_from(const Json& bye) {
  BrokerAccount account;
  each_object(bye, "senders", [&account](const Json& entry) {
    BrokerAccount::Sender sender;
    read_whole(entry, "number", sender.number);
    read_whole(entry, "accepted", sender.accepted);
    if (whole_or<std::uint64_t>(entry, "refused", 0) == 0) sender.had_below = whole_or<std::uint64_t>(entry, "next_index", 0);
    account.senders.push_back(sender);
  });
  each_object(bye, "receivers", [&account](const Json& entry) {
    BrokerAccount::Receiver receiver;
    read_whole(entry, "number", receiver.number);
    read_whole(entry, "handed_over", receiver.handed_over);
    receiver.skipped = skipped_counts_from(entry);
    receiver.sets = skipped_sets_from(entry, "_sets");
    receiver.cut_off_reason = text_or_none(entry, "cut_off_reason");
    receiver.confirmed = whole_or<std::uint64_t>(entry, "confirmed", 0);
    receiver.handed_over_on_last_connection = whole_if_any<std::uint64_t>(entry, "handed_over_on_last_connection");
    receiver.answers_missing = whole_or<std::uint64_t>(entry, "answers_missing", 0);
    account.receivers.push_back(std::move(receiver));
  });
  if (bye.contains("total")) {
    in_object(bye, "total", [&account](const Json& total) {
      account.total = skipped_counts_from(total);
      account.total_sets = skipped_sets_from(total, "_sets");
    });
  }
  account.faults = faults_from(bye);
  return account;
}

}  // namespace n2nq::measure
