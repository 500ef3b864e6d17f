// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <span>

#include "app/results/verify_parts.h"
#include "workers/measure/accounts.h"

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

/// What became of a copy that its receiver does not have. Which of them is N2NQ's word.
constexpr const char* not_delivered[] = {"expired", "unrequested", "parked", "cut_off", "still_queued", "lost"};
constexpr const char* parts_of_accepted[] = {"delivered", "expired",      "unrequested", "parked",
                                             "cut_off",   "still_queued", "lost",        "unexplained"};
constexpr const char* counts_of_senders[] = {"attempted", "accepted", "refused", "lost_before_queue"};

std::int64_t count_in(const Json& row, const char* key) {
  return row.at(key).get<std::int64_t>();
}

/// Without a sign inside: what somebody wrote into a summary may be any number, and too large together.
std::int64_t sum(std::int64_t one, std::int64_t other) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(one) + static_cast<std::uint64_t>(other));
}
std::int64_t product(std::int64_t one, std::int64_t other) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(one) * static_cast<std::uint64_t>(other));
}

std::int64_t sum_in(const Json& row, std::span<const char* const> keys) {
  std::int64_t all = 0;
  for (const char* key : keys) all = sum(all, count_in(row, key));
  return all;
}
std::int64_t sum_over(const Json& rows, const char* key) {
  std::int64_t all = 0;
  for (const Json& row : rows) all = sum(all, count_in(row, key));
  return all;
}

bool is_damaged(const ReceivedLine& line) {
  return line.flags & (measure::line_unexpected | measure::line_bad_checksum);
}
bool is_of(const ReceivedLine& line, bool warm_up) {
  return !is_damaged(line) && is_warm_up(line) == warm_up;
}

/// What a receiver counts of its deliveries, as the flags of their lines tell it. What came damaged counts beside the warm-up, whatever its
/// own flag says.
measure::ReceivedCounts counted_in(const ReceiverLog& log, bool warm_up) {
  measure::ReceivedCounts counts;
  for (const ReceivedLine& line : log.lines) {
    const auto has = [&line](int flags) { return (line.flags & flags) != 0; };
    if (!warm_up && is_damaged(line)) {
      counts.unexpected += has(measure::line_unexpected);
      counts.bad_checksum += has(measure::line_bad_checksum);
    }
    if (!is_of(line, warm_up)) continue;
    ++counts.received;
    counts.duplicated += has(measure::line_duplicate);
    counts.duplicated_unflagged += has(measure::line_duplicate) && !has(measure::line_redelivered | measure::line_overtaken);
    counts.redelivered += has(measure::line_redelivered);
    counts.out_of_order += has(measure::line_out_of_order);
    counts.negative += has(measure::line_negative);
    counts.unasked += has(measure::line_unasked);
  }
  return counts;
}

class LedgerVerifier {
 public:
  LedgerVerifier(const StoredRun& run, const ServiceLogs& logs, bool some_unnoted, VerifyTally& tally)
      : run_(run), summary_(run.summary), logs_(logs), some_unnoted_(some_unnoted), tally_(tally) {}

  // ---- ledger ---------------------------------------------------------------------------------------------------------------------------

  void check_ledger() {
    const Json& ledger = summary_.at("ledger");
    const Json& total = ledger.at("total");
    const std::vector<Arrived> arrived = check_part("", false, total);
    const std::int64_t wanted = ledger.at("planned").is_null() ? count_in(total, "attempted") : count_in(ledger, "planned");
    tally_.follows("expected", copies_of(wanted), ledger.at("expected"));
    check_senders(ledger);
    check_receivers(ledger, arrived);
    const Json& asked = summary_.at("settings").at("senders");
    const bool has_warm_up = asked.at("warmup_messages") > 0;
    tally_.equal("warm-up has an account", has_warm_up, ledger.contains("warmup"));
    if (has_warm_up && ledger.contains("warmup"))
      check_warm_up(ledger, product(count_in(asked, "warmup_messages"), count_in(asked, "amount")));
  }

 private:
  /// Of a receiver's copies, each counted once.
  struct Arrived {
    std::int64_t sent = 0, never_sent = 0;
  };

  void check_warm_up(const Json& ledger, std::int64_t planned) {
    const Json& total = ledger.at("warmup");
    check_part("warm-up: ", true, total);
    tally_.follows("warm-up: planned", planned, total.at("planned"));
    tally_.follows("warm-up: expected", copies_of(planned), total.at("expected"));
    // It has no lines of its senders, which would tell what of theirs is unexplained.
    if (ledger.at("balanced") == true)
      tally_.follows("warm-up: attempted", sum_in(total, std::span(counts_of_senders).subspan(1)), total.at("attempted"));
  }

  std::vector<Arrived> check_part(const QString& name, bool warm_up, const Json& total) {
    const auto count = [&total](const char* key) { return count_in(total, key); };
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
    measure::ReceivedCounts counts;
    for (const ReceiverLog& log : logs_.receivers) {
      Keys own;
      for (const ReceivedLine& line : log.lines) {
        if (is_of(line, warm_up)) own.push_back(key_of(line.sender, line.index));
      }
      counts += counted_in(log, warm_up);
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
    tally_.equal(name + "delivered + duplicated", static_cast<std::int64_t>(counts.received) - lines_of(strange),
                 count("delivered") + count("duplicated"));
    std::vector<Arrived> arrived;
    std::int64_t delivered = 0, missing = 0;
    for (const Keys& got : copies) {
      const std::int64_t never_sent = size_of(without(got, sent));
      arrived.push_back({size_of(got) - never_sent, never_sent});
      counts.unexpected += static_cast<std::uint64_t>(never_sent);
      delivered += arrived.back().sent;
      missing += size_of(without(sent, got)) + unseen;
    }
    if (!run_.broadcaster()) {
      delivered = size_of(all_copies) - size_of(strange);
      missing = size_of(without(sent, all_copies)) + unseen;
    }
    check_counts(name, counts, total);
    tally_.equal(name + "delivered", delivered, total.at("delivered"));
    tally_.equal(name + "copies that no receiver logged", missing,
                 sum_in(total, not_delivered) + copies_of(count("attempted") - count("accepted")));
    tally_.follows(name + "accepted_copies", copies_of(count("accepted")), total.at("accepted_copies"));
    tally_.equal(name + "unexplained", 0, total.at("unexplained"));
    return arrived;
  }

  void check_counts(const QString& name, const measure::ReceivedCounts& counts, const Json& theirs) {
    const Json mine = counts;
    for (const auto& [key, value] : mine.items()) tally_.equal(name + QString::fromStdString(key), value, theirs.at(key));
  }

  // ---- lines of each service ------------------------------------------------------------------------------------------------------------

  void check_column(const Json& rows, const char* key, const Json& total) {
    tally_.follows(QString("%1, added up").arg(key), sum_over(rows, key), total.at(key));
  }

  void check_senders(const Json& ledger) {
    const Json& rows = ledger.at("senders");
    tally_.follows("senders in the ledger", summary_.at("settings").at("senders").at("amount"), rows.size());
    for (const SenderLog& log : logs_.senders) {
      const Json* row = row_of(rows, log.number);
      if (row == nullptr) {
        tally_.differ(QString("%1.log: the ledger knows no such service").arg(name_of(log)));
        continue;
      }
      check_sender(log, *row, row_of(summary_.at("services").at("senders"), log.number));
    }
    for (const char* key : counts_of_senders) check_column(rows, key, ledger.at("total"));
  }

  void check_sender(const SenderLog& log, const Json& row, const Json* service) {
    const QString name = "ledger " + name_of(log) + ' ';
    const std::int64_t lines = std::ranges::count_if(log.lines, [](const SentLine& line) { return !is_warm_up(line); });
    const std::int64_t attempted = count_in(row, "attempted");
    // Of what a killed process had not noted some may be of the warm-up.
    const std::int64_t unnoted_max = service != nullptr && service->contains("unnoted") ? count_in(*service, "unnoted") : 0;
    const bool fits = attempted >= lines && attempted - lines <= unnoted_max;
    tally_.equal(name + "attempted", fits ? attempted : lines, attempted);
    constexpr const char* columns[] = {"accepted", "refused", "lost_before_queue", "unexplained"};
    tally_.follows(name + "attempted, added up", sum_in(row, columns), attempted);
    if (service == nullptr) return;
    for (const char* key : counts_of_senders) tally_.follows(name_of(log) + ' ' + key, row.at(key), service->at(key));
  }

  void check_receivers(const Json& ledger, const std::vector<Arrived>& arrived) {
    const Json& rows = ledger.at("receivers");
    tally_.follows("receivers in the ledger", summary_.at("settings").at("receivers").at("amount"), rows.size());
    for (std::size_t at = 0; at < logs_.receivers.size(); ++at) {
      const ReceiverLog& log = logs_.receivers[at];
      const Json* row = row_of(rows, log.number);
      if (row == nullptr) {
        tally_.differ(QString("%1.log: the ledger knows no such service").arg(name_of(log)));
        continue;
      }
      check_receiver(log, arrived[at], *row);
    }
    if (!run_.broadcaster()) return;
    const Json& total = ledger.at("total");
    for (const char* key : not_delivered) check_column(rows, key, total);
    for (const char* key : {"parked_delivered", "unexplained"}) check_column(rows, key, total);
  }

  void check_receiver(const ReceiverLog& log, const Arrived& arrived, const Json& row) {
    const QString name = "ledger " + name_of(log) + ' ';
    measure::ReceivedCounts counts = counted_in(log, false);
    check_handed_over(log, static_cast<std::int64_t>(counts.received + counts.unexpected + counts.bad_checksum), row);
    if (run_.broadcaster()) {
      counts.unexpected += static_cast<std::uint64_t>(arrived.never_sent);
      tally_.equal(name + "delivered", arrived.sent, row.at("delivered"));
      tally_.follows(name + "accepted", summary_.at("ledger").at("total").at("accepted"), row.at("accepted"));
      tally_.follows(name + "accepted, added up", sum_in(row, parts_of_accepted), row.at("accepted"));
    } else {
      // What was meant for nobody yet stands in the total alone.
      tally_.equal(name + "delivered", counts.received - counts.duplicated, row.at("delivered"));
      for (const char* key : {"accepted", "still_queued", "lost", "unexplained"}) tally_.follows(name + key, 0, row.at(key));
    }
    check_counts(name, counts, row);
  }

  /// Handed over = what came + not received there. Null: N2NQ gave no account of it, or that of its last life alone.
  void check_handed_over(const ReceiverLog& log, std::int64_t came, const Json& row) {
    const QString name = "ledger " + name_of(log) + ' ';
    if (row.at("handed_over").is_null()) return tally_.follows(name + "not_received", 0, row.at("not_received"));
    const std::int64_t handed_over = count_in(row, "handed_over");
    // 0 where N2NQ counted fewer than came of the warm-up alone.
    if (handed_over > 0) tally_.follows(name + "handed_over", sum(came, count_in(row, "not_received")), handed_over);
    const Json* service = row_of(summary_.at("services").at("receivers"), log.number);
    if (service != nullptr) tally_.follows(name_of(log) + " handed_over", handed_over, service->at("handed_over"));
  }

  std::int64_t copies_of(std::int64_t messages) const {
    const Json& settings = summary_.at("settings");
    return run_.broadcaster() ? product(messages, count_in(settings.at("receivers"), "amount")) : messages;
  }

  /// How many lines the receivers have of these.
  std::int64_t lines_of(const Keys& keys) const {
    std::int64_t count = 0;
    if (keys.empty()) return count;
    for (const ReceiverLog& log : logs_.receivers) {
      for (const ReceivedLine& line : log.lines) {
        if (is_damaged(line)) continue;
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
