// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <map>

#include "app/results/verify_parts.h"

namespace n2nq::app {

namespace {

using Json = nlohmann::json;
using measure::ReceivedLine;
using measure::SentLine;

/// A word of a head or foot: of a damaged one as much as is needed to find it.
QString word_text(const std::string& word) {
  constexpr std::size_t bytes_max = 120;
  const QString text = QString::fromStdString(word.substr(0, bytes_max));
  return word.size() > bytes_max ? text + QString::fromUtf8("…") : text;
}

class LineVerifier {
 public:
  LineVerifier(const StoredRun& run, const ServiceLogs& logs, VerifyTally& tally) : summary_(run.summary), logs_(logs), tally_(tally) {}

  // ---- heads, feet and single lines -----------------------------------------------------------------------------------------------------

  void check_frames() {
    for (const SenderLog& log : logs_.senders) check_frame(log);
    for (const ReceiverLog& log : logs_.receivers) check_frame(log);
  }

  template <class Log>
  void check_frame(const Log& log) {
    const QString name = name_of(log);
    tally_.compared(1);
    if (log.unreadable_count > 0) {
      tally_.differ(QString("%1.log: %2 line(s) that cannot be read (%3)").arg(name).arg(log.unreadable_count).arg(log.unreadable.front()));
    }
    tally_.compared(1);
    if (!log.named_columns) tally_.differ(QString("%1.log: the line with the columns' names is missing or wrong").arg(name));
    check_word(log, name, "format", "1");
    check_word(log, name, "service", name.toStdString());
    check_word(log, name, "run", summary_.at("run").template get<std::string>());
    // A killed process leaves no foot, or that of its salvaged log.
    if (log.words.contains("lines"))
      check_word(log, name, "lines", std::to_string(log.lines.size() + static_cast<std::size_t>(log.unreadable_count)));
    check_settings(log, name);
  }

  template <class Log>
  void check_word(const Log& log, const QString& name, const std::string& key, const std::string& wanted) {
    tally_.compared(1);
    const auto found = log.words.find(key);
    if (found != log.words.end() && found->second == wanted) return;
    tally_.differ(QString("%1.log: \"# %2\" says %3, it should say %4")
                      .arg(name, QString::fromStdString(key), found == log.words.end() ? "nothing" : word_text(found->second),
                           QString::fromStdString(wanted)));
  }

  /// "# senders.amount: 10", as the summary has it. Of what its group does not go by a head says what was set when the group was started:
  /// until the others were, that could still be changed.
  template <class Log>
  void check_settings(const Log& log, const QString& name) {
    for (const auto& [key, value] : log.words) {
      if (!is_used_by(role_of(log), key)) continue;
      std::string path = "/" + key;
      std::replace(path.begin(), path.end(), '.', '/');
      const Json::json_pointer pointer(path);
      if (!summary_.at("settings").contains(pointer)) continue;
      const Json& setting = summary_.at("settings").at(pointer);
      if (!setting.is_number() && !setting.is_boolean()) continue;
      tally_.compared(1);
      if (setting.dump() != value && !(setting.is_number() && std::to_string(setting.get<double>()) == value) &&
          !(setting.is_number() && Json::parse(value, nullptr, false) == setting)) {
        tally_.differ(QString("%1.log: \"# %2\" says %3, the summary %4")
                          .arg(name, QString::fromStdString(key), word_text(value), json_text(setting)));
      }
    }
  }

  void check_lines() {
    for (const SenderLog& log : logs_.senders) check_sent_lines(log);
    sent_by_index();
    for (const ReceiverLog& log : logs_.receivers) check_received_lines(log);
  }

  /// What is worked out within a line, or from the one before it.
  void check_sent_lines(const SenderLog& log) {
    const SentLine* before = nullptr;
    for (const SentLine& line : log.lines) {
      const QString where = QString("%1.log, message %2").arg(name_of(log)).arg(line.index);
      tally_.compared(4);
      if (line.lag_ns && *line.lag_ns != line.sent_ns - line.intended_ns) tally_.differ(where + ": lag_us is not sent_ns - intended_ns");
      const bool first = before == nullptr || is_warm_up(*before) != is_warm_up(line);
      // Behind lines that a killed process did not write there is nothing to compare with.
      const bool follows = !first && line.index == before->index + 1;
      if (first ? line.delay_ns.has_value() : follows && line.delay_ns != line.sent_ns - before->sent_ns)
        tally_.differ(where + ": delay_us is not the gap to the line before");
      if (is_warm_up(line) != (line.index < 0)) tally_.differ(where + ": its flag and its index say different things about the warm-up");
      if (line.attempt != 1) tally_.differ(where + ": a line is written at the first offer only, so its attempt is 1");
      before = &line;
    }
  }

  void sent_by_index() {
    for (const SenderLog& log : logs_.senders) {
      auto& lines = sent_[log.number];
      for (const SentLine& line : log.lines) lines.push_back(&line);
      std::sort(lines.begin(), lines.end(), [](const SentLine* a, const SentLine* b) { return a->index < b->index; });
    }
  }

  const SentLine* sent_line(int sender, std::int64_t index) const {
    const auto lines = sent_.find(sender);
    if (lines == sent_.end()) return nullptr;
    const auto found = std::lower_bound(lines->second.begin(), lines->second.end(), index,
                                        [](const SentLine* line, std::int64_t at) { return line->index < at; });
    return found != lines->second.end() && (*found)->index == index ? *found : nullptr;
  }

  void check_received_lines(const ReceiverLog& log) {
    for (std::size_t at = 0; at < log.lines.size(); ++at) {
      const ReceivedLine& line = log.lines[at];
      const QString where = QString("%1.log, message %2 of S%3").arg(name_of(log)).arg(line.index).arg(line.sender, 3, 10, QChar('0'));
      tally_.compared(2);
      if (line.latency_ns != line.to_broker_ns + line.in_queue_ns + line.to_receiver_ns) {
        tally_.differ(where + ": latency_us is not to_broker_us + in_queue_us + to_receiver_us");
      }
      if (line.latency_ns != line.received_ns - line.sent_ns + log.clocks.between(line.sent_ns, line.received_ns, at)) {
        tally_.differ(where + ": latency_us is not what its stamps and the lines between the clocks make");
      }
      if (line.flags & (measure::line_unexpected | measure::line_bad_checksum)) continue;
      tally_.compared(2);
      if (((line.flags & measure::line_negative) != 0) != (line.latency_ns < 0)) {
        tally_.differ(where + ": it is marked as negative and is not, or is and is not marked");
      }
      if (is_warm_up(line) != (line.index < 0)) tally_.differ(where + ": its flag and its index say different things about the warm-up");
      const SentLine* sent = sent_line(static_cast<int>(line.sender), line.index);
      if (sent == nullptr) continue;
      tally_.compared(1);
      if (sent->sent_ns != line.sent_ns || sent->intended_ns != line.intended_ns || sent->size != line.size) {
        tally_.differ(where + ": size or stamps are not those in the sender's log");
      }
    }
  }

 private:
  const Json& summary_;
  const ServiceLogs& logs_;
  VerifyTally& tally_;
  std::map<int, std::vector<const SentLine*>> sent_;
};

}  // namespace

void verify_lines(const StoredRun& run, const ServiceLogs& logs, VerifyTally& tally) {
  LineVerifier verifier(run, logs, tally);
  verifier.check_frames();
  verifier.check_lines();
}

}  // namespace n2nq::app
