// SPDX-License-Identifier: GPL-3.0-or-later
// The settings of one run, as a value, and every rule about them.
//
// Window, settings file and command line all go through the same table of keys (design: each rule one place). A key is the dotted path
// used in files and with --set, e.g. "senders.delay_ms". Nothing here knows a file format, a widget or a process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/settings/requests.h"
#include "broker/wire/limits.h"

namespace n2nq::app {

enum class QueueMode { broadcaster, load_balancer };
enum class RemoveRule { when_all_have_it, after_time };
enum class Dispatch { random, round_robin, next_free };
enum class StartPhase { spread, in_phase };
enum class StartWhen { all_connected, senders_connected };
enum class BrokerIo { epoll, io_uring };
enum class Transport { tcp, unix_domain };
enum class LogMode { all, sampled, off };

/// Exact positive fraction; 0/1 stands for "as fast as the socket takes".
struct Interval {
  std::int64_t num_ns = 500'000'000;
  std::int64_t den = 1;
  bool operator==(const Interval&) const = default;
};

/// What N2NQ is told in milliseconds.
constexpr double in_seconds(std::int64_t ms) {
  return static_cast<double>(ms) / limits::ms_per_s;
}

/// And in bytes; the smallest whole number that is not less.
constexpr std::int64_t in_mib(std::int64_t bytes) {
  return (bytes + limits::bytes_per_mib - 1) / limits::bytes_per_mib;
}

struct Settings {
  std::string title;        // what a person calls it; presets carry one
  std::string description;  // one or two sentences

  struct Broker {
    std::string host = "local";
    int port = 0;     // 0: the broker binds a free one
    BrokerIo io = BrokerIo::epoll;
    int spin_us = limits::spin_us.standard;  // 0: it sleeps when nothing is to be done
    bool keep_core = true;                   // receivers of its host are kept off its core
    bool operator==(const Broker&) const = default;
  } broker;

  struct Queue {
    QueueMode mode = QueueMode::broadcaster;
    RemoveRule remove = RemoveRule::when_all_have_it;
    double retention_s = in_seconds(limits::retention_ms.standard);
    Dispatch dispatch = Dispatch::random;
    bool responses = false;
    std::optional<Requests> requests;  // none: off
    bool operator==(const Queue&) const = default;
  } queue;

  struct Responses {  // with queue.responses
    int window = limits::responses_window.standard;
    double deadline_s = in_seconds(limits::responses_deadline_ms.standard);
    int attempts_max = limits::responses_attempts_max.standard;
    bool operator==(const Responses&) const = default;
  } responses;

  struct Senders {
    std::string host = "local";
    int amount = 50;
    std::optional<std::int64_t> messages = 50;  // each; at most one of messages and duration_s; neither: until stopped
    std::optional<double> duration_s;
    std::int64_t size_min_bytes = 50;  // payload letters; equal to size_max_bytes: fixed
    std::int64_t size_max_bytes = 50;
    std::optional<double> delay_ms = 500;  // exactly one of delay_ms and rate_per_s (per sender)
    std::optional<double> rate_per_s;
    StartPhase start = StartPhase::spread;
    std::int64_t warmup_messages = 0;  // each, before message 0, in no figure
    bool operator==(const Senders&) const = default;
  } senders;

  struct Receivers {
    std::string host = "local";
    int amount = 50;
    bool operator==(const Receivers&) const = default;
  } receivers;

  struct Limits {
    std::int64_t memory_mib = in_mib(limits::memory_bytes.standard);
    std::int64_t books_mib = in_mib(limits::books_bytes.standard);
    std::int64_t pending_mib = 0;  // 0: see Settings::pending_mib()
    double write_deadline_s = in_seconds(limits::write_deadline_ms.standard);
    std::int64_t message_max_bytes = limits::message_bytes_max.standard;
    double handshake_deadline_s = in_seconds(limits::handshake_deadline_ms.standard);
    double heartbeat_s = in_seconds(limits::heartbeat_ms.standard);
    int sessions_max = limits::sessions_max.standard;
    double drain_s = in_seconds(limits::drain_ms.standard);
    double reconnect_deadline_s = in_seconds(limits::reconnect_deadline_ms.standard);
    double connect_deadline_s = 8;  // headless only; the window waits for ever
    bool operator==(const Limits&) const = default;
  } limits;

  Transport transport = Transport::tcp;
  StartWhen start_when = StartWhen::all_connected;
  LogMode log = LogMode::all;
  int log_sample_every = 100;
  std::int64_t messages_tsv_max_mib = 256;
  std::uint64_t seed = 1;

  bool operator==(const Settings&) const = default;

  /// Period between two sends of one sender, exact (delay_ms and rate_per_s are taken to the nanosecond resp. as decimal fraction).
  Interval interval() const;
  /// Messages the plan asks of all senders together; empty when the run goes on until stopped.
  std::optional<std::int64_t> planned_messages() const;
  /// Messages per second of all senders together; empty where they go as fast as the socket takes.
  std::optional<double> planned_rate_per_s() const;
  /// Deliveries of one message: receivers.amount for the broadcaster, 1 for the load balancer.
  int copies() const;
  /// limits.pending_mib, and where that is 0 a quarter of the memory budget; room for three of the largest messages at least, where that has it.
  std::int64_t pending_mib() const;
  /// Warm-up messages of all senders together, beside planned_messages().
  std::int64_t planned_warmup() const;
  /// How long before the common start the warm-up begins; 0 without warm-up, and as fast as it goes (there it begins with the start).
  std::int64_t warmup_ns() const;
  /// Planned time from common start to the last send; empty when unknown (until stopped, or as fast as it goes by count).
  std::optional<double> planned_duration_s() const;
};

/// What a key is and which values it takes; the source of tooltips, docs and error texts.
struct KeyInfo {
  std::string_view key;                 // "senders.delay_ms"
  std::string_view label;               // "Delay", as the window writes it
  std::string_view unit;                // "ms", "B", "s", "/s", ""
  std::string_view meaning;             // one sentence for tooltip and docs
  double min = 0, max = 0;              // inclusive; both 0 where the key is not a number
  std::vector<std::string_view> words;  // the accepted words, where the key takes words
};

/// All keys in the order of a settings file.
const std::vector<KeyInfo>& keys();
const KeyInfo* find_key(std::string_view key);
/// The known key nearest to a mistyped one (edit distance), for "did you mean".
std::string_view nearest_key(std::string_view key);

struct SettingsError {
  std::string key;
  std::string message;  // says what is wrong and what would be right
};

/// Sets one key from text, as --set and the window do ("[20, 100]" for a range, "none" clears an optional). Empty result: done.
/// Setting one of a pair that excludes each other (messages/duration_s, delay_ms/rate_per_s) clears the other one.
std::optional<SettingsError> set_value(Settings& settings, std::string_view key, std::string_view text);
/// The text form of a key's present value; set_value() takes it back unchanged. Empty for an optional that is not set.
std::string value_text(const Settings& settings, std::string_view key);
/// Rules between keys (pending below memory, size within message_max_bytes, …). Empty: can be run.
std::vector<SettingsError> validate(const Settings& settings);
/// Things that are allowed but should be known before the start ("after-time caps the rate at budget / retention: …").
std::vector<std::string> remarks(const Settings& settings);
/// Of a key that changes nothing in a run with these settings: why, and what would make it count, in a sentence or two. Empty: it counts.
std::string why_without_effect(const Settings& settings, std::string_view key);

}  // namespace n2nq::app
