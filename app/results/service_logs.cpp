// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/results/service_logs.h"

#include <QDir>
#include <QFile>
#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "app/settings/qt_text.h"
#include "app/settings/whole_file.h"

namespace n2nq::app {

namespace {

constexpr std::size_t unreadable_told_max = 10;
constexpr std::string_view skipped_begins = "# skipped:";

/// "key=123" among the words of a line.
std::optional<std::int64_t> number_in(std::string_view line, std::string_view key) {
  const auto at = line.find(std::string(" ") + std::string(key) + "=");
  if (at == std::string_view::npos) return {};
  const std::string_view text = line.substr(at + key.size() + 2);
  std::int64_t value = 0;
  const auto [end, result] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = end == text.data() + text.size() || *end == ' ';
  return result == std::errc{} && whole ? std::optional(value) : std::nullopt;
}

void tell_unreadable(LogFrame& log, std::int64_t line, const std::string& what) {
  ++log.unreadable_count;
  if (log.unreadable.size() < unreadable_told_max)
    log.unreadable.push_back(QString("line %1: %2").arg(line).arg(QString::fromStdString(what)));
}

template <class Log>
void take_remark(Log& log, std::string_view line, std::int64_t number, std::string_view columns) {
  if (line.starts_with("# clock:")) {
    if (!log.clocks.take(line, log.lines.size()))
      tell_unreadable(log, number, "not a line between clocks: " + std::string(line.substr(0, 60)));
    return;
  }
  if constexpr (requires { log.skipped; }) {
    if (line.starts_with(skipped_begins)) {
      const auto skipped = measure::parse_skipped_line(line);
      if (skipped) return log.skipped.push_back(*skipped);
      return tell_unreadable(log, number, "not a line of what will not come: " + std::string(line.substr(0, 60)));
    }
  }
  if (line.find('\t') != std::string_view::npos) {
    log.named_columns = line.substr(std::min<std::size_t>(2, line.size())) == columns;
    return;
  }
  const auto colon = line.find(": ");
  if (line.size() > 2 && colon != std::string_view::npos) {
    log.words.emplace(line.substr(2, colon - 2), line.substr(colon + 2));
  }
}

template <class Log, class Parse>
bool read_log(Log& log, std::string_view columns, Parse&& parse, std::int64_t& room, QString& error, const std::atomic<bool>* cancelled) {
  QFile file(log.path);
  if (const QString why = open_regular(file); !why.isEmpty()) return error = QString("Cannot read %1: %2").arg(log.path, why), false;
  if (file.size() == 0) return true;
  const uchar* memory = file.map(0, file.size());
  if (memory == nullptr) return error = QString("Cannot read %1: %2").arg(log.path, file.errorString()), false;
  std::string_view rest(reinterpret_cast<const char*>(memory), static_cast<std::size_t>(file.size()));
  bool has_foot = false;
  for (std::int64_t number = 1; !rest.empty(); ++number) {
    const auto newline = rest.find('\n');
    const std::string_view line = rest.substr(0, newline);
    rest.remove_prefix(newline == std::string_view::npos ? rest.size() : newline + 1);
    if (line.empty()) continue;
    const bool is_remark = line.front() == '#';
    // Of remarks some are held like a message's line: what was skipped, and lines between clocks.
    if (--room < 0) {
      error = QString("the logs hold more than %1 lines, which is more than can be looked at together").arg(ServiceLogs::lines_max);
      return false;
    }
    if (is_remark) {
      take_remark(log, line, number, columns);
      has_foot = has_foot || line.starts_with("# lines: ");
      continue;
    }
    // A process may go on with a log of which the one before had written the foot: that is none, then.
    if (std::exchange(has_foot, false)) {
      for (const char* key : {"lines", "dropped", "complete"}) log.words.erase(key);
    }
    std::string problem;
    if (auto parsed = parse(line, &problem)) {
      log.lines.push_back(*parsed);
    } else {
      tell_unreadable(log, number, problem.empty() ? "is no message's line" : problem);
    }
    if (cancelled && *cancelled) return error = "cancelled", false;
  }
  return true;
}

template <class Log, class Parse>
bool read_all(const QString& folder, const QString& letter, std::vector<Log>& out, std::string_view columns, Parse&& parse,
              std::int64_t& room, QString& error, const std::atomic<bool>* cancelled) {
  for (const QFileInfo& info : QDir(folder).entryInfoList({letter + "*.log"}, QDir::Files, QDir::Name)) {
    bool is_number = false;
    Log log;
    log.number = info.completeBaseName().mid(1).toInt(&is_number);
    if (!is_number) continue;
    log.path = info.filePath();
    if (!read_log(log, columns, parse, room, error, cancelled)) return false;
    out.push_back(std::move(log));
  }
  std::sort(out.begin(), out.end(), [](const Log& a, const Log& b) { return a.number < b.number; });
  return true;
}

/// What says anything else than that stays, and is found to be too much.
template <class Log>
void leave_out_earlier_starts(std::vector<Log>& logs, char letter, const StoredRun& run) {
  const std::string group = letter == 'S' ? "senders" : "receivers", amount_key = group + ".amount";
  const double last_amount = figure_at(run.summary, "settings." + amount_key).value_or(std::numeric_limits<double>::infinity());
  const auto run_name = run.summary.find("run");
  std::erase_if(logs, [&](const Log& log) {
    const auto of_run = log.words.find("run"), amount = log.words.find(amount_key);
    if (!log.lines.empty() || log.unreadable_count > 0 || of_run == log.words.end() || amount == log.words.end()) return false;
    const bool is_of_this_run = run_name != run.summary.end() && *run_name == of_run->second;
    const std::string row = "services." + group + '.' + measure::service_name(letter, static_cast<std::uint32_t>(log.number));
    const bool last_start_has_it = !(log.number > last_amount) || figure_at(run.summary, row + ".number");
    return is_of_this_run && !last_start_has_it && log.number <= qt_text(amount->second).toInt();
  });
}

}  // namespace

bool LogClocks::take(std::string_view line, std::size_t messages_before) {
  const bool own = line.starts_with("# clock: own "), senders = line.starts_with("# clock: senders ");
  if (!own && !senders) return false;
  const auto from = number_in(line, "from_ns");
  if (!from || !measure::is_stamp(*from)) return false;
  if (senders && line.ends_with("same as own")) {
    senders_.push_back({messages_before, *from, std::nullopt});
    return true;
  }
  const auto at = number_in(line, "at_ns"), offset_ns = number_in(line, "offset_ns"),
             drift = number_in(line, "drift_ppt");
  if (!at || !offset_ns || !drift || !measure::ClockLine{*at, *offset_ns, *drift}.is_sane()) return false;
  (own ? own_ : senders_).push_back({messages_before, *from, measure::ClockLine{*at, *offset_ns, *drift}});
  return true;
}

/// As its receiver did: of the lines that it had by then, the last one that counted already when the message was read.
const LogClocks::Entry* LogClocks::in_force(const std::vector<Entry>& entries, std::int64_t received_ns, std::size_t messages_before) {
  const auto is_there = [messages_before](const Entry& entry) { return entry.messages_before <= messages_before; };
  for (auto entry = std::partition_point(entries.begin(), entries.end(), is_there); entry != entries.begin();) {
    if ((--entry)->from_ns <= received_ns) return &*entry;
  }
  return entries.empty() ? nullptr : &entries.front();
}

std::int64_t LogClocks::between(std::int64_t sent_ns, std::int64_t received_ns, std::size_t messages_before) const {
  const Entry *own = in_force(own_, received_ns, messages_before), *senders = in_force(senders_, received_ns, messages_before);
  if (senders && !senders->line) return 0;
  return (own ? own->line->offset_at(received_ns) : 0) - (senders ? senders->line->offset_at(sent_ns) : 0);
}

std::optional<ServiceLogs> read_logs(const QString& run_folder, QString& error, const std::atomic<bool>* cancelled) {
  ServiceLogs out;
  std::int64_t room = ServiceLogs::lines_max;
  const bool good =
      read_all(run_folder + "/senders", "S", out.senders, measure::sent_columns, measure::parse_sent_line, room, error, cancelled) &&
      read_all(run_folder + "/receivers", "R", out.receivers, measure::received_columns, measure::parse_received_line, room, error,
               cancelled);
  return good ? std::optional(std::move(out)) : std::nullopt;
}

std::optional<ServiceLogs> read_logs(const StoredRun& run, QString& error, const std::atomic<bool>* cancelled) {
  auto out = read_logs(run.folder, error, cancelled);
  if (!out) return {};
  leave_out_earlier_starts(out->senders, 'S', run);
  leave_out_earlier_starts(out->receivers, 'R', run);
  return out;
}

}  // namespace n2nq::app
