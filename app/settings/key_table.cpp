// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/settings/key_table.h"

#include <algorithm>
#include <limits>

#include "app/settings/host_name.h"

namespace n2nq::app {

namespace {

constexpr std::size_t title_bytes_max = 100;
constexpr std::size_t description_bytes_max = 1000;
constexpr double second_min = 0.001;  // the control protocol counts these in whole milliseconds
constexpr int millisecond_decimals = 3;
constexpr int fraction_decimals = 6;  // delay_ms to the nanosecond; rate_per_s as a decimal fraction that fits an exact interval
constexpr std::string_view cleared = "none";
constexpr std::int64_t payload_bytes_max = limits::message_bytes_max.max;

template <class Field>
Key integer(KeyInfo info, Field field) {
  using Value = std::remove_cvref_t<decltype(field(std::declval<Settings&>()))>;
  const auto min = static_cast<std::int64_t>(info.min), max = static_cast<std::int64_t>(info.max);
  return {std::move(info), KeyKind::number,
          [=](Settings& settings, std::string_view text) -> Problem {
            std::int64_t value = 0;
            if (auto problem = parse_integer(text, min, max, value)) return problem;
            field(settings) = static_cast<Value>(value);
            return {};
          },
          [=](const Settings& settings) { return std::to_string(field(settings)); }};
}

template <class Field>
Key decimal(KeyInfo info, int decimals, Field field) {
  const double min = info.min, max = info.max;
  return {std::move(info), KeyKind::number,
          [=](Settings& settings, std::string_view text) { return parse_decimal(text, min, max, decimals, field(settings)); },
          [=](const Settings& settings) { return decimal_text(field(settings)); }};
}

/// One of a pair that excludes each other: giving it a value clears `other`.
template <class Field, class Other>
Key optional_decimal(KeyInfo info, int decimals, Field field, Other other) {
  const double min = info.min, max = info.max;
  return {std::move(info), KeyKind::number,
          [=](Settings& settings, std::string_view text) -> Problem {
            if (text.empty() || text == cleared) return field(settings).reset(), std::nullopt;
            double value = 0;
            if (auto problem = parse_decimal(text, min, max, decimals, value)) return problem;
            field(settings) = value;
            other(settings).reset();
            return {};
          },
          [=](const Settings& settings) { return field(settings) ? decimal_text(*field(settings)) : std::string(); }};
}

template <class Field>
Key words(KeyInfo info, Field field) {
  using Value = std::remove_cvref_t<decltype(field(std::declval<Settings&>()))>;
  const auto accepted = info.words;
  return {std::move(info), KeyKind::word,
          [=](Settings& settings, std::string_view text) -> Problem {
            std::size_t position = 0;
            if (auto problem = parse_word(text, accepted, position)) return problem;
            field(settings) = static_cast<Value>(position);
            return {};
          },
          [=](const Settings& settings) { return std::string(accepted.at(static_cast<std::size_t>(field(settings)))); }};
}

template <class Field>
Key line(KeyInfo info, std::size_t bytes_max, Field field) {
  return {std::move(info), KeyKind::text,
          [=](Settings& settings, std::string_view text) { return parse_line(text, bytes_max, field(settings)); },
          [=](const Settings& settings) { return field(settings); }};
}

template <class Field>
Key host(std::string_view key, std::string_view meaning, Field field) {
  return {{key, "Source", "", meaning, 0, 0, {}},
          KeyKind::text,
          [=](Settings& settings, std::string_view text) -> Problem {
            if (text != local_host) return parse_host_name(text, field(settings));
            field(settings) = text;
            return {};
          },
          [=](const Settings& settings) { return field(settings); }};
}

template <class Field>
Key flag(KeyInfo info, Field field) {
  info.words = {"false", "true"};
  return {std::move(info), KeyKind::flag,
          [=](Settings& settings, std::string_view text) -> Problem {
            if (text != "true" && text != "false") return "must be true or false, not " + in_quotes(text);
            field(settings) = text == "true";
            return {};
          },
          [=](const Settings& settings) { return std::string(field(settings) ? "true" : "false"); }};
}

Problem set_size(Settings& settings, std::string_view text) {
  std::int64_t min = 0, max = 0;
  if (text.starts_with('[') && text.ends_with(']')) {
    const std::string_view inner = text.substr(1, text.size() - 2);
    const auto comma = inner.find(',');
    if (comma == std::string_view::npos) return "must be one size or a range such as [20, 100], not " + in_quotes(text);
    if (auto problem = parse_integer(trimmed(inner.substr(0, comma)), 1, payload_bytes_max, min)) return problem;
    if (auto problem = parse_integer(trimmed(inner.substr(comma + 1)), 1, payload_bytes_max, max)) return problem;
    if (min > max) return "must be a range that rises, such as [20, 100], not " + in_quotes(text);
  } else {
    if (parse_integer(text, 1, payload_bytes_max, min)) {
      return "must be a whole number from 1 to " + std::to_string(payload_bytes_max) + " or a range such as [20, 100], not " +
             in_quotes(text);
    }
    max = min;
  }
  settings.senders.size_min_bytes = min;
  settings.senders.size_max_bytes = max;
  return {};
}

std::string size_text(const Settings& settings) {
  const auto& senders = settings.senders;
  if (senders.size_min_bytes == senders.size_max_bytes) return std::to_string(senders.size_min_bytes);
  return "[" + std::to_string(senders.size_min_bytes) + ", " + std::to_string(senders.size_max_bytes) + "]";
}

Problem set_messages(Settings& settings, std::string_view text) {
  if (text.empty() || text == cleared) return settings.senders.messages.reset(), std::nullopt;
  std::int64_t value = 0;
  if (auto problem = parse_integer(text, 1, 1'000'000'000, value)) return problem;
  settings.senders.messages = value;
  settings.senders.duration_s.reset();
  return {};
}

// A generic lambda serves reading (const Settings&) and writing (Settings&) alike.
#define N2NQ_FIELD(path) \
  [](auto& s) -> auto& { \
    return s.path;       \
  }

void add_queue_keys(std::vector<Key>& table) {
  table.push_back(words({"queue.mode",
                         "Queue mode",
                         "",
                         "Broadcaster: every receiver gets every message. Load balancer: each message goes to exactly one receiver.",
                         0,
                         0,
                         {"broadcaster", "load-balancer"}},
                        N2NQ_FIELD(queue.mode)));
  table.push_back(words({"queue.remove",
                         "Remove message",
                         "",
                         "Broadcaster: a message leaves the queue when every expected receiver has it, or only after the retention.",
                         0,
                         0,
                         {"when-all-have-it", "after-time"}},
                        N2NQ_FIELD(queue.remove)));
  table.push_back(decimal({"queue.retention_s",
                           "Retention",
                           "s",
                           "Longest time a message stays in the queue, so that who never takes it does not fill the memory; what a receiver did not get by "
                           "then is counted as expired.",
                           in_seconds(limits::retention_ms.min),
                           in_seconds(limits::retention_ms.max),
                           {}},
                          millisecond_decimals, N2NQ_FIELD(queue.retention_s)));
  table.push_back(words({"queue.dispatch",
                         "Dispatch",
                         "",
                         "Load balancer: which receiver gets the next message.",
                         0,
                         0,
                         {"random", "round-robin", "next-free"}},
                        N2NQ_FIELD(queue.dispatch)));
  table.push_back(
      flag({"queue.responses",
            "Receiver responses",
            "",
            "Each delivery is confirmed by its receiver: it has arrived whole. What is not confirmed is sent again while N2NQ lives.",
            0,
            0,
            {}},
           N2NQ_FIELD(queue.responses)));
  table.push_back(
      {{"queue.requests",
        "Receiver requests",
        "",
        "Receivers get only what they ask for: false, true (anything, one at a time), or a list of who asks for what. Entries that "
        "name the same receiver are united: it gets what any of them asks for.",
        0,
        0,
        {}},
       KeyKind::requests,
       [](Settings& settings, std::string_view text) { return parse_requests(text, settings.queue.requests); },
       [](const Settings& settings) { return requests_text(settings.queue.requests); }});
  table.push_back(
      integer({"responses.window",
               "Response window",
               "",
               "Deliveries a receiver may leave unconfirmed: so many come twice at most when it dies, and no more waits for it. 16 at most "
               "while those of all receivers take a quarter of limits.memory_mib (some 50 B each).",
               limits::responses_window.min,
               limits::responses_window.max,
               {}},
              N2NQ_FIELD(responses.window)));
  table.push_back(decimal({"responses.deadline_s",
                           "Response deadline",
                           "s",
                           "Time after which an unconfirmed delivery is sent again: longer than any healthy receiver takes.",
                           in_seconds(limits::responses_deadline_ms.min),
                           in_seconds(limits::responses_deadline_ms.max),
                           {}},
                          millisecond_decimals, N2NQ_FIELD(responses.deadline_s)));
  table.push_back(
      integer({"responses.attempts_max",
               "Most attempts",
               "",
               "Deliveries of a message that may be answered negatively, or not in time, before it is parked (put aside and counted), so that "
               "what nobody can take does not go round for ever.",
               limits::responses_attempts_max.min,
               limits::responses_attempts_max.max,
               {}},
              N2NQ_FIELD(responses.attempts_max)));
}

void add_service_keys(std::vector<Key>& table) {
  const auto duration = N2NQ_FIELD(senders.duration_s);
  const auto messages = N2NQ_FIELD(senders.messages);
  const auto delay = N2NQ_FIELD(senders.delay_ms);
  const auto rate = N2NQ_FIELD(senders.rate_per_s);
  table.push_back(
      host("senders.host", "Where the senders run: local, which is this machine, or the name of a lab machine.", N2NQ_FIELD(senders.host)));
  table.push_back(integer({"senders.amount", "Sender amount", "", "How many sending services connect to the queue.", 1, 2000, {}},
                          N2NQ_FIELD(senders.amount)));
  table.push_back({{"senders.messages",
                    "Messages each",
                    "",
                    "How many messages each sender sends; none: see duration_s, or until stopped.",
                    1,
                    1e9,
                    {}},
                   KeyKind::number,
                   set_messages,
                   [](const Settings& s) { return s.senders.messages ? std::to_string(*s.senders.messages) : std::string(); }});
  table.push_back(optional_decimal(
      {"senders.duration_s", "Duration", "s", "How long each sender sends; takes the place of messages.", second_min, 604'800, {}},
      millisecond_decimals, duration, messages));
  table.push_back({{"senders.size_bytes",
                    "Message size",
                    "B",
                    "Payload letters of a message: one size, or a range such as [20, 100] from which each size is drawn.",
                    1,
                    static_cast<double>(payload_bytes_max),
                    {}},
                   KeyKind::range,
                   set_size,
                   size_text});
  table.push_back(optional_decimal({"senders.delay_ms",
                                    "Delay",
                                    "ms",
                                    "Time between two messages of one sender; 0: as fast as the socket takes them.",
                                    0,
                                    3'600'000,
                                    {}},
                                   fraction_decimals, delay, rate));
  table.push_back(optional_decimal(
      {"senders.rate_per_s", "Rate", "/s", "Messages per second of one sender; takes the place of delay_ms.", 0.001, 1'000'000, {}},
      fraction_decimals, rate, delay));
  table.push_back(
      words({"senders.start",
             "Start",
             "",
             "Spread: the senders' first messages are spread evenly over one delay. In phase: all senders send at the same instants.",
             0,
             0,
             {"spread", "in-phase"}},
            N2NQ_FIELD(senders.start)));
  table.push_back(integer({"senders.warmup_messages",
                           "Warm-up messages",
                           "",
                           "Messages each sender sends at the same pace before its first one that counts; in no figure, counted apart.",
                           0,
                           1'000'000,
                           {}},
                          N2NQ_FIELD(senders.warmup_messages)));
  table.push_back(host("receivers.host", "Where the receivers run: local, which is this machine, or the name of a lab machine.",
                       N2NQ_FIELD(receivers.host)));
  table.push_back(integer({"receivers.amount", "Receiver amount", "", "How many receiving services connect to the queue.", 1, 2000, {}},
                          N2NQ_FIELD(receivers.amount)));
}

void add_limit_keys(std::vector<Key>& table) {
  table.push_back(integer(
      {"limits.memory_mib",
       "Memory budget",
       "MiB",
       "Memory for queued messages and what is noted of each: two of the largest (limits.message_max_bytes) and 1 MiB at least. When it is "
       "used up N2NQ stops reading from senders: they wait, and no memory runs out on the host.",
       in_mib(limits::memory_bytes.min),
       in_mib(limits::memory_bytes.max),
       {}},
      N2NQ_FIELD(limits.memory_mib)));
  table.push_back(
      integer({"limits.pending_mib",
               "Pending limit",
               "MiB",
               "Backlog at which a slow receiver is cut off: a part of the budget, so that one receiver cannot hold up all "
               "others. 0: a quarter of limits.memory_mib, and room for three of the largest messages where that has it. With requests on, "
               "what a receiver has asked for is no backlog, nor is with responses in the load balancer what goes to others when it goes: there "
               "the write deadline alone tells who is slow.",
               0,
               in_mib(limits::pending_bytes.max),
               {}},
              N2NQ_FIELD(limits.pending_mib)));
  table.push_back(integer(
      {"limits.books_mib",
       "Limit of the books",
       "MiB",
       "Memory for the books of what receivers do not get, beside the budget. They have each message and receiver by name, so that what is lost "
       "is found by comparing, and grow with the run: at the limit N2NQ ends it, in order.",
       in_mib(limits::books_bytes.min),
       in_mib(limits::books_bytes.max),
       {}},
      N2NQ_FIELD(limits.books_mib)));
  table.push_back(decimal(
      {"limits.write_deadline_s",
       "Write deadline",
       "s",
       "Time after which a receiver that takes neither a batch nor 64 KiB of a longer one is cut off: one that stands still must not wait for "
       "its backlog to grow. "
       "With requests or responses also one that asks for and answers nothing for so long, where others need the memory (without responses "
       "neither in the load balancer nor with after-time: it would free nothing there; with after-time only where responses.deadline_s is "
       "longer, which frees it, too).",
       in_seconds(limits::write_deadline_ms.min),
       in_seconds(limits::write_deadline_ms.max),
       {}},
      millisecond_decimals, N2NQ_FIELD(limits.write_deadline_s)));
  table.push_back(
      integer({"limits.message_max_bytes",
               "Largest message",
               "B",
               "Largest payload N2NQ accepts. A larger one is refused by name, so that no length that somebody makes up costs memory.",
               limits::message_bytes_max.min,
               limits::message_bytes_max.max,
               {}},
              N2NQ_FIELD(limits.message_max_bytes)));
  table.push_back(decimal(
      {"limits.handshake_deadline_s",
       "Handshake deadline",
       "s",
       "Time in which a new connection must have introduced itself, in total: whoever says nothing must not keep a place from a service.",
       in_seconds(limits::handshake_deadline_ms.min),
       in_seconds(limits::handshake_deadline_ms.max),
       {}},
      millisecond_decimals, N2NQ_FIELD(limits.handshake_deadline_s)));
  table.push_back(
      decimal({"limits.heartbeat_s",
               "Heartbeat",
               "s",
               "Silence after which a connection counts as gone, so that a dead link is noticed when nobody closes it; 0: never, else at least 1.",
               in_seconds(limits::heartbeat_ms.min),
               in_seconds(limits::heartbeat_ms.max),
               {}},
              millisecond_decimals, N2NQ_FIELD(limits.heartbeat_s)));
  table.push_back(integer({"limits.sessions_max",
                           "Most sessions",
                           "",
                           "Most connections N2NQ takes at once: each costs a file and memory. Where all are taken, who comes has half a "
                           "second to say that it comes back for its own; others are refused by name.",
                           limits::sessions_max.min,
                           limits::sessions_max.max,
                           {}},
                          N2NQ_FIELD(limits.sessions_max)));
  table.push_back(decimal(
      {"limits.drain_s",
       "Drain",
       "s",
       "After a stop: longest time N2NQ goes on forwarding what is queued, so that a stop ends also when somebody does not read (where senders "
       "were held back at least 1 s, in which they hear what became of their last messages). Without a "
       "stop: how long a run waits for receivers, or N2NQ, that are dead for good, and, where it is longer than the retention, for what else "
       "has not ended.",
       in_seconds(limits::drain_ms.min),
       in_seconds(limits::drain_ms.max),
       {}},
      millisecond_decimals, N2NQ_FIELD(limits.drain_s)));
  table.push_back(decimal({"limits.reconnect_deadline_s",
                           "Reconnect deadline",
                           "s",
                           "Time after which a sender that is gone counts as ended, once traffic has begun: otherwise a run would wait for it for ever. Services try for as long to "
                           "get back to N2NQ, and for 10 s at least.",
                           in_seconds(limits::reconnect_deadline_ms.min),
                           in_seconds(limits::reconnect_deadline_ms.max),
                           {}},
                          millisecond_decimals, N2NQ_FIELD(limits.reconnect_deadline_s)));
  table.push_back(decimal({"limits.connect_deadline_s",
                           "Connect deadline",
                           "s",
                           "Without a window: time in which a group must be connected once it runs, so that a script ends when it cannot.",
                           0.1,
                           3600,
                           {}},
                          millisecond_decimals, N2NQ_FIELD(limits.connect_deadline_s)));
}

std::vector<Key> make_table() {
  std::vector<Key> table;
  table.push_back(line({"title", "Title", "", "What a person calls these settings.", 0, 0, {}}, title_bytes_max, N2NQ_FIELD(title)));
  table.push_back(line({"description", "Description", "", "What they are for, in a sentence or two.", 0, 0, {}}, description_bytes_max,
                       N2NQ_FIELD(description)));
  table.push_back(
      host("broker.host", "Where N2NQ runs: local, which is this machine, or the name of a lab machine.", N2NQ_FIELD(broker.host)));
  table.push_back(
      integer({"broker.port", "Port", "", "TCP port of N2NQ; 0: a free one is taken.", 0, 65'535, {}}, N2NQ_FIELD(broker.port)));
  table.push_back(words(
      {"broker.io",
       "I/O",
       "",
       "How N2NQ writes to receivers: each write a call of its own (epoll), or those of one wake-up to three receivers or more together in one "
       "call (io_uring, where the kernel has it; a batch of more than 16 KiB is always a call of its own).",
       0,
       0,
       {"epoll", "io_uring"}},
      N2NQ_FIELD(broker.io)));
  table.push_back(
      integer({"broker.spin_us",
               "Spin",
               "µs",
               "How long N2NQ goes on looking for work before it sleeps: it saves the time of waking up and takes a core. 0: not at all.",
               limits::spin_us.min,
               limits::spin_us.max,
               {}},
              N2NQ_FIELD(broker.spin_us)));
  table.push_back(flag({"broker.keep_core",
                        "Keep core",
                        "",
                        "Where N2NQ writes at most 8 messages to 16 receivers of its own host and more in one go, it keeps the kernel from running them "
                        "on its core, where they would wait until it is through.",
                        0,
                        0,
                        {}},
                       N2NQ_FIELD(broker.keep_core)));
  table.push_back(words({"transport",
                         "Transport",
                         "",
                         "How services reach N2NQ: TCP, or Unix-domain sockets, which are faster and only for services on N2NQ's own host.",
                         0,
                         0,
                         {"tcp", "unix"}},
                        N2NQ_FIELD(transport)));
  add_queue_keys(table);
  add_service_keys(table);
  add_limit_keys(table);
  table.push_back(words({"start_when",
                         "Start when",
                         "",
                         "Traffic starts when all services are connected, or already when the senders are (to study late joiners).",
                         0,
                         0,
                         {"all-connected", "senders-connected"}},
                        N2NQ_FIELD(start_when)));
  table.push_back(
      words({"log", "Log", "", "Service logs: every message, a sample, or none.", 0, 0, {"all", "sampled", "off"}}, N2NQ_FIELD(log)));
  table.push_back(
      integer({"log_sample_every", "Sample every", "", "With log: sampled, one message in so many is written.", 1, 1'000'000, {}},
              N2NQ_FIELD(log_sample_every)));
  table.push_back(integer({"messages_tsv_max_mib",
                           "Master file limit",
                           "MiB",
                           "Largest messages.tsv, the file with all receivers' lines; 0: none is written.",
                           0,
                           1'048'576,
                           {}},
                          N2NQ_FIELD(messages_tsv_max_mib)));
  table.push_back({{"seed", "Seed", "", "Start of all random choices, so that a run can be repeated.", 0, 9'223'372'036'854'775'807.0, {}},
                   KeyKind::number,
                   [](Settings& s, std::string_view text) -> Problem {
                     std::int64_t value = 0;
                     if (auto problem = parse_integer(text, 0, std::numeric_limits<std::int64_t>::max(), value)) return problem;
                     s.seed = static_cast<std::uint64_t>(value);
                     return {};
                   },
                   [](const Settings& s) { return std::to_string(s.seed); }});
  return table;
}

#undef N2NQ_FIELD

}  // namespace

const std::vector<Key>& key_table() {
  static const std::vector<Key> table = make_table();
  return table;
}

const Key* find_table_key(std::string_view key) {
  const auto& table = key_table();
  const auto found = std::find_if(table.begin(), table.end(), [&](const Key& candidate) { return candidate.info.key == key; });
  return found == table.end() ? nullptr : &*found;
}

}  // namespace n2nq::app
