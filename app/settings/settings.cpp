// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/settings/settings.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "app/settings/key_table.h"
#include "app/settings/text_value.h"
#include "broker/wire/record.h"

namespace n2nq::app {

namespace {

__extension__ using Wide = __int128;
constexpr std::int64_t ns_per_s = 1'000'000'000;
using limits::bytes_per_mib;
constexpr std::int64_t queued_overhead_bytes = 48 + 80;  // a record's header, and roughly what the broker keeps beside it
constexpr std::int64_t log_line_bytes = 70;              // about one line of messages.tsv
constexpr int probe_sessions = 2;                        // each worker group keeps one clock probe connected

double mean_size_bytes(const Settings& s) {
  return static_cast<double>(s.senders.size_min_bytes + s.senders.size_max_bytes) / 2;
}

/// The value set again through the table: whoever filled the struct by hand is held to the same rules.
void check_each_key(const Settings& settings, std::vector<SettingsError>& errors) {
  Settings copy = settings;
  for (const Key& key : key_table()) {
    if (auto problem = key.set(copy, key.text(settings))) errors.push_back({std::string(key.info.key), *problem});
  }
}

void check_requests(const Settings& s, std::vector<SettingsError>& errors) {
  const auto check = [&](const std::optional<NumberRanges>& ranges, char letter, int amount, const char* what) {
    if (!ranges || ranges->empty() || ranges->back().second <= amount) return;
    errors.push_back({"queue.requests", std::string("names ") + letter + std::to_string(ranges->back().second) + ", but there are " +
                                            std::to_string(amount) + " " + what});
  };
  for (const ReceiverRequest& request : s.queue.requests.value_or(Requests{})) {
    check(request.receivers, 'R', s.receivers.amount, "receivers");
    check(request.senders, 'S', s.senders.amount, "senders");
  }
}

std::string rounded_text(double value) {
  return decimal_text(std::floor(value));
}

/// Three digits of it, rounded down, and groups of thousands: "301 000".
std::string rough_text(double value) {
  const double digit = std::pow(10, std::max(0.0, std::floor(std::log10(std::max(value, 1.0))) - 2));
  std::string text = rounded_text(std::floor(value / digit) * digit);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, "\u202f");
  return text;
}

}  // namespace

Interval Settings::interval() const {
  if (senders.rate_per_s) {
    constexpr std::int64_t micro = 1'000'000;  // rates carry at most six decimal places
    const std::int64_t rate_micro = std::llround(*senders.rate_per_s * static_cast<double>(micro));
    const std::int64_t num = ns_per_s * micro;
    if (rate_micro <= 0) return {0, 1};
    const std::int64_t common = std::gcd(num, rate_micro);
    return {num / common, rate_micro / common};
  }
  return {std::llround(senders.delay_ms.value_or(0) * 1e6), 1};
}

std::optional<std::int64_t> Settings::planned_messages() const {
  if (senders.messages) return *senders.messages * senders.amount;
  const Interval period = interval();
  if (!senders.duration_s || period.num_ns == 0) return {};
  // Message i of a sender is due at phase + i × period, and is sent if that lies within the duration: as the senders' pacer counts.
  const auto duration_ns = static_cast<Wide>(std::llround(*senders.duration_s * 1e9));
  std::int64_t all = 0;
  for (int place = 0; place < senders.amount; ++place) {
    const Wide phase_ns = senders.start == StartPhase::spread ? Wide{place} * period.num_ns / (Wide{period.den} * senders.amount) : 0;
    if (phase_ns >= duration_ns) continue;
    all += static_cast<std::int64_t>(((duration_ns - phase_ns) * period.den + period.num_ns - 1) / period.num_ns);
  }
  return all;
}

std::optional<double> Settings::planned_rate_per_s() const {
  const Interval period = interval();
  if (period.num_ns == 0) return {};
  return static_cast<double>(senders.amount) * static_cast<double>(ns_per_s) * static_cast<double>(period.den) /
         static_cast<double>(period.num_ns);
}

std::int64_t Settings::pending_mib() const {
  if (limits.pending_mib > 0) return limits.pending_mib;
  // Who reads may have one on the way, and the next two wait before the senders are held back for it.
  const std::int64_t three_messages_mib = (3 * (limits.message_max_bytes + wire::record_header_bytes) + bytes_per_mib - 1) / bytes_per_mib;
  return std::min(limits.memory_mib, std::max(limits.memory_mib / 4, three_messages_mib));
}

std::int64_t Settings::planned_warmup() const {
  return senders.warmup_messages * senders.amount;
}

std::int64_t Settings::warmup_ns() const {
  const Interval period = interval();
  return static_cast<std::int64_t>((Wide{senders.warmup_messages} * period.num_ns + period.den - 1) / period.den);
}

int Settings::copies() const {
  return queue.mode == QueueMode::broadcaster ? receivers.amount : 1;
}

std::optional<double> Settings::planned_duration_s() const {
  if (senders.duration_s) return senders.duration_s;
  const Interval period = interval();
  if (!senders.messages || period.num_ns == 0) return {};
  const double period_s = static_cast<double>(period.num_ns) / static_cast<double>(period.den) / 1e9;
  // Spread over one period, the last sender starts (amount − 1) / amount of a period behind the first.
  const double phase = senders.start == StartPhase::spread ? static_cast<double>(senders.amount - 1) / senders.amount : 0;
  return (static_cast<double>(*senders.messages - 1) + phase) * period_s;
}

const std::vector<KeyInfo>& keys() {
  static const std::vector<KeyInfo> infos = [] {
    std::vector<KeyInfo> out;
    for (const Key& key : key_table()) out.push_back(key.info);
    return out;
  }();
  return infos;
}

const KeyInfo* find_key(std::string_view key) {
  const Key* found = find_table_key(key);
  return found ? &found->info : nullptr;
}

std::string_view nearest_key(std::string_view key) {
  // "amount" is as near to "senders.amount" as a slip of one letter: people leave the section out.
  const auto distance = [&](std::string_view candidate) {
    const std::size_t whole = edit_distance(candidate, key);
    const auto dot = candidate.rfind('.');
    return dot == std::string_view::npos ? whole : std::min(whole, edit_distance(candidate.substr(dot + 1), key) + 1);
  };
  const auto& all = keys();
  return std::min_element(all.begin(), all.end(), [&](const KeyInfo& a, const KeyInfo& b) { return distance(a.key) < distance(b.key); })
      ->key;
}

std::optional<SettingsError> set_value(Settings& settings, std::string_view key, std::string_view text) {
  const Key* found = find_table_key(key);
  if (!found) {
    return SettingsError{std::string(key), "is not a setting; the nearest one is " + std::string(nearest_key(key))};
  }
  if (auto problem = found->set(settings, trimmed(text))) return SettingsError{std::string(key), *problem};
  return {};
}

std::string value_text(const Settings& settings, std::string_view key) {
  const Key* found = find_table_key(key);
  return found ? found->text(settings) : std::string();
}

std::vector<SettingsError> validate(const Settings& s) {
  std::vector<SettingsError> errors;
  check_each_key(s, errors);
  if (s.senders.messages && s.senders.duration_s) {
    errors.push_back({"senders.duration_s", "excludes senders.messages: give one of them, or none of both to go on until stopped"});
  }
  if (s.senders.delay_ms && s.senders.rate_per_s) {
    errors.push_back({"senders.rate_per_s", "excludes senders.delay_ms: give one of them"});
  }
  if (!s.senders.delay_ms && !s.senders.rate_per_s) {
    errors.push_back({"senders.delay_ms", "is missing: give delay_ms or rate_per_s"});
  }
  if (s.transport == Transport::unix_domain && (s.senders.host != s.broker.host || s.receivers.host != s.broker.host)) {
    errors.push_back({"transport", "must be tcp where services run on another host than N2NQ: unix reaches no other host"});
  }
  if (s.senders.size_min_bytes > s.senders.size_max_bytes) {
    errors.push_back({"senders.size_bytes", "must be a range that rises, such as [20, 100]"});
  }
  if (s.senders.size_max_bytes > s.limits.message_max_bytes) {
    errors.push_back({"senders.size_bytes", "must be at most limits.message_max_bytes (" + std::to_string(s.limits.message_max_bytes) +
                                                "), not " + std::to_string(s.senders.size_max_bytes)});
  }
  if (s.limits.pending_mib > s.limits.memory_mib) {
    errors.push_back({"limits.pending_mib", "must be at most limits.memory_mib (" + std::to_string(s.limits.memory_mib) + "), not " +
                                                std::to_string(s.limits.pending_mib)});
  }
  const std::int64_t memory_bytes_min = limits::memory_bytes_min_for(s.limits.message_max_bytes);
  if (s.limits.memory_mib * bytes_per_mib < memory_bytes_min) {
    errors.push_back({"limits.memory_mib", "must be at least " + std::to_string((memory_bytes_min + bytes_per_mib - 1) / bytes_per_mib) +
                                               " for messages of " + std::to_string(s.limits.message_max_bytes) +
                                               " B (limits.message_max_bytes), not " + std::to_string(s.limits.memory_mib)});
  }
  if (s.limits.message_max_bytes > s.pending_mib() * bytes_per_mib) {
    errors.push_back({"limits.message_max_bytes", "must be at most limits.pending_mib (" +
                                                      std::to_string(s.pending_mib() * bytes_per_mib) +
                                                      " B), so that one message alone cuts nobody off"});
  }
  if (s.limits.heartbeat_s > 0 && s.limits.heartbeat_s < 1) {
    errors.push_back({"limits.heartbeat_s", "must be 0 or at least 1, not " + decimal_text(s.limits.heartbeat_s) +
                                                ": services look four times a second whether one is due"});
  }
  check_requests(s, errors);
  const int sessions = s.senders.amount + s.receivers.amount + probe_sessions;
  if (sessions > s.limits.sessions_max) {
    errors.push_back({"limits.sessions_max", "must be at least " + std::to_string(sessions) + " for " + std::to_string(s.senders.amount) +
                                                 " senders, " + std::to_string(s.receivers.amount) + " receivers and 2 clock probes, not " +
                                                 std::to_string(s.limits.sessions_max)});
  }
  return errors;
}

std::vector<std::string> remarks(const Settings& s) {
  std::vector<std::string> out;
  const auto planned_rate = s.planned_rate_per_s();
  if (s.queue.mode == QueueMode::broadcaster && s.queue.remove == RemoveRule::after_time) {
    const double held_bytes = mean_size_bytes(s) + static_cast<double>(queued_overhead_bytes);
    const double cap = static_cast<double>(s.limits.memory_mib * bytes_per_mib) / held_bytes / s.queue.retention_s;
    std::string text = "Removed after a set time, every message is kept for " + decimal_text(s.queue.retention_s) +
                       " s: at most about " + rough_text(cap) +
                       " messages/s fit in " + std::to_string(s.limits.memory_mib) + " MiB";
    if (planned_rate && *planned_rate > cap) {
      text += "; the plan asks for " + rough_text(*planned_rate) + "/s, so N2NQ will hold the senders back";
    }
    out.push_back(text + ".");
  }
  if (!s.senders.messages && !s.senders.duration_s) out.push_back("The run goes on until it is stopped.");
  if (!planned_rate) out.push_back("With delay 0 there is no plan: lag and latency from plan are absent.");
  if (s.limits.heartbeat_s > 0 && s.limits.heartbeat_s < 5) {
    out.push_back("A heartbeat under 5 s may take a service for gone whose host is only busy.");
  }
  // What is noted about each message may take as much as the message.
  if (2 * s.pending_mib() > s.limits.memory_mib) {
    const std::string reckoned = s.limits.pending_mib > 0 ? "" : " (reckoned: " + std::to_string(s.pending_mib()) + " MiB)";
    out.push_back(
        "limits.pending_mib" + reckoned + " is more than half of limits.memory_mib: a receiver that stands still may use the budget up before it is "
        "cut off, and hold all others up for up to limits.write_deadline_s.");
  }
  constexpr double long_warmup_s = 60;
  if (const double warmup_s = static_cast<double>(s.warmup_ns()) / static_cast<double>(ns_per_s); warmup_s > long_warmup_s) {
    out.push_back("The warm-up alone takes " + rounded_text(warmup_s) + " s.");
  }
  const auto messages = s.planned_messages();
  if (messages && s.log == LogMode::all && s.messages_tsv_max_mib > 0) {
    const double mib =
        static_cast<double>(*messages + s.planned_warmup()) * s.copies() * log_line_bytes / static_cast<double>(bytes_per_mib);
    if (mib > static_cast<double>(s.messages_tsv_max_mib)) {
      out.push_back("messages.tsv will be cut at " + std::to_string(s.messages_tsv_max_mib) + " MiB (all lines: about " +
                    rounded_text(mib) + " MiB).");
    }
  }
  if (s.senders.amount > 0 && s.start_when == StartWhen::senders_connected && s.queue.mode == QueueMode::broadcaster) {
    out.push_back("Receivers that connect later get only what the queue still holds.");
  }
  return out;
}

std::string why_without_effect(const Settings& settings, std::string_view key) {
  if (key.starts_with("responses.") && !settings.queue.responses)
    return "Receiver responses are off, and nothing is confirmed. It counts once they are on.";
  if (key == "log_sample_every" && settings.log != LogMode::sampled)
    return std::string("Log has ") + (settings.log == LogMode::all ? "every message" : "none") + ". It counts once Log is a sample.";
  if (key == "senders.start" && settings.interval().num_ns == 0)
    return "With delay 0 all senders send at once, as fast as the socket takes it. It counts with a delay or a rate.";
  return {};
}

}  // namespace n2nq::app
