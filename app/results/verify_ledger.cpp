// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include "app/results/verify_parts.h"

namespace n2nq::app {

namespace {

using Json = nlohmann::json;
using measure::ReceivedLine;
using measure::SentLine;

/// A message as one number, for sets.
std::uint64_t key_of(std::uint64_t sender, std::int64_t index) {
  constexpr std::int64_t warm_up_room = std::int64_t{1} << 40;
  return sender << 44 | static_cast<std::uint64_t>(index + warm_up_room);
}

using Keys = std::vector<std::uint64_t>;  // rising, each once

Keys unique(Keys keys) {
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}
Keys without(const Keys& from, const Keys& what) {
  Keys out;
  std::set_difference(from.begin(), from.end(), what.begin(), what.end(), std::back_inserter(out));
  return out;
}
Keys joined(const Keys& a, const Keys& b) {
  Keys out;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}
std::int64_t size_of(const Keys& keys) {
  return static_cast<std::int64_t>(keys.size());
}

class LedgerVerifier {
 public:
  LedgerVerifier(const StoredRun& run, const ServiceLogs& logs, bool some_unnoted, VerifyTally& tally)
      : run_(run), summary_(run.summary), logs_(logs), some_unnoted_(some_unnoted), tally_(tally) {}

  // ---- ledger ---------------------------------------------------------------------------------------------------------------------------

  void check_ledger() {
    const Json& ledger = summary_.at("ledger");
    check_part("", false, ledger.at("total"));
    const bool asked = summary_.at("settings").at("senders").at("warmup_messages") > 0;
    tally_.equal("warm-up has an account", asked, ledger.contains("warmup"));
    if (asked && ledger.contains("warmup")) check_part("warm-up: ", true, ledger.at("warmup"));
  }

  void check_part(const QString& name, bool warm_up, const Json& total) {
    const auto count = [&total](const char* key) { return total.at(key).get<std::int64_t>(); };
    Keys sent;
    for (const SenderLog& log : logs_.senders) {
      Keys own;
      for (const SentLine& line : log.lines) {
        if (is_warm_up(line) == warm_up) own.push_back(key_of(static_cast<std::uint64_t>(log.number), line.index));
      }
      const std::int64_t lines = size_of(own);
      own = unique(std::move(own));
      tally_.equal(QString("%1messages that %2.log holds twice").arg(name, name_of(log)), lines - size_of(own), 0);
      sent.insert(sent.end(), own.begin(), own.end());
    }
    sent = unique(std::move(sent));
    std::vector<Keys> copies;
    Keys all_copies;
    std::int64_t rows = 0, unexpected = 0;
    for (const ReceiverLog& log : logs_.receivers) {
      Keys own;
      for (const ReceivedLine& line : log.lines) {
        if (line.flags & (measure::line_unexpected | measure::line_bad_checksum)) {
          unexpected += !warm_up && (line.flags & measure::line_unexpected);
          continue;
        }
        if (is_warm_up(line) == warm_up) own.push_back(key_of(line.sender, line.index)), ++rows;
      }
      copies.push_back(unique(std::move(own)));
      all_copies.insert(all_copies.end(), copies.back().begin(), copies.back().end());
    }
    all_copies = unique(std::move(all_copies));

    // What a killed group of senders had sent and not noted yet stands in no log of its own; the receivers may know it.
    const std::int64_t unnoted = some_unnoted_ ? count("attempted") - size_of(sent) : 0;
    std::int64_t known = 0;
    if (unnoted > 0) {
      const Keys more = without(all_copies, sent);
      known = size_of(more);
      if (known <= unnoted) sent = joined(sent, more);
    }
    const std::int64_t unseen = unnoted - known;
    tally_.equal(name + "attempted", size_of(sent) + unseen, total.at("attempted"));
    const Keys strange = without(all_copies, sent);  // of a sender of this run that never sent it
    tally_.equal(name + "delivered + duplicated", rows - lines_of(strange), count("delivered") + count("duplicated"));
    std::int64_t delivered = 0, missing = 0;
    for (const Keys& got : copies) {
      const std::int64_t never_sent = size_of(without(got, sent));
      unexpected += never_sent;
      delivered += size_of(got) - never_sent;
      missing += size_of(without(sent, got)) + unseen;
    }
    if (!run_.broadcaster()) {
      delivered = size_of(all_copies) - size_of(strange);
      missing = size_of(without(sent, all_copies)) + unseen;
    }
    tally_.equal(name + "unexpected", unexpected, total.at("unexpected"));
    tally_.equal(name + "delivered", delivered, total.at("delivered"));
    std::int64_t explained = 0;
    for (const char* key : {"expired", "unrequested", "parked", "cut_off", "still_queued", "lost"}) explained += count(key);
    const std::int64_t receivers = run_.broadcaster() ? static_cast<std::int64_t>(copies.size()) : 1;
    tally_.equal(name + "copies that no receiver logged", missing, explained + (count("attempted") - count("accepted")) * receivers);
    tally_.equal(name + "unexplained", 0, total.at("unexplained"));
  }

 private:
  /// How many lines the receivers have of these.
  std::int64_t lines_of(const Keys& keys) const {
    std::int64_t count = 0;
    if (keys.empty()) return count;
    for (const ReceiverLog& log : logs_.receivers) {
      for (const ReceivedLine& line : log.lines) {
        if (line.flags & (measure::line_unexpected | measure::line_bad_checksum)) continue;
        count += std::binary_search(keys.begin(), keys.end(), key_of(line.sender, line.index));
      }
    }
    return count;
  }

  const StoredRun& run_;
  const Json& summary_;
  const ServiceLogs& logs_;
  const bool some_unnoted_;
  VerifyTally& tally_;
};

}  // namespace

void verify_ledger(const StoredRun& run, const ServiceLogs& logs, bool some_unnoted, VerifyTally& tally) {
  LedgerVerifier(run, logs, some_unnoted, tally).check_ledger();
}

}  // namespace n2nq::app
