// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/results/result_index.h"

#include <QCryptographicHash>
#include <QDir>
#include <QFileInfo>
#include <QHash>
#include <QSet>
#include <QSqlDatabase>
#include <QSqlError>
#include <QSqlQuery>
#include <QUuid>
#include <QVariant>
#include <algorithm>
#include <climits>
#include <cmath>

#include "app/control/role.h"
#include "app/figure/number_text.h"
#include "app/results/case_verdict.h"
#include "app/results/folder_lock.h"
#include "app/results/result_note.h"
#include "app/results/stored_run.h"
#include "app/settings/settings_file.h"
#include "app/settings/whole_file.h"
#include "broker/net/parsed_json.h"
#include "workers/measure/json_keys.h"

namespace n2nq::app {

namespace {

constexpr int index_format = 8;
const char* const result_columns =
    "folder, stamp, test_case, title, started, mode, senders, receivers, verdict, reason, p50_us, p99_us, mean_us, deliveries, note, tags, "
    "build, is_case, scale, runs_planned, settings, clock_bound_us, disturbed, floor_us, machines, samples";
constexpr int column_count = 26;
constexpr qint64 case_bytes_max = 1 << 20;
const char* const both_modes = "broadcaster, load-balancer";
const char* const between_machines = ", ";

/// What tells that an entry is still true.
qint64 stamp_of(const QString& folder) {
  const auto at = [&folder](const char* name) {
    const QFileInfo info(folder + '/' + name);
    return info.exists() ? info.lastModified().toMSecsSinceEpoch() * 31 + info.size() : 0;
  };
  return at("summary.json") * 17 + at("case.json") * 13 + at("note.json") * 7 + (QFileInfo::exists(folder + "/settings.yaml") ? 1 : 0);
}

/// A connection of this thread alone, closed at the end.
class Database {
 public:
  explicit Database(const QString& path) : name_(QUuid::createUuid().toString()) {
    QSqlDatabase database = QSqlDatabase::addDatabase("QSQLITE", name_);
    database.setDatabaseName(path);
    database.setConnectOptions("QSQLITE_BUSY_TIMEOUT=2000");
    if (!database.open()) error_ = database.lastError().text();
  }
  ~Database() {
    QSqlDatabase::database(name_, false).close();
    QSqlDatabase::removeDatabase(name_);
  }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  QSqlQuery query() const { return QSqlQuery(QSqlDatabase::database(name_, false)); }
  QSqlDatabase handle() const { return QSqlDatabase::database(name_, false); }
  const QString& error() const { return error_; }

  /// The table as this program knows it; one of another format is dropped.
  bool prepare() {
    QSqlQuery of = query();
    of.exec("PRAGMA user_version");
    if (!of.next() || of.value(0).toInt() != index_format) {
      of.exec("DROP TABLE IF EXISTS results");
      of.exec(QString("PRAGMA user_version = %1").arg(index_format));
    }
    of.exec("PRAGMA synchronous = OFF");  // it can be made anew at any time
    const bool made = of.exec(QString("CREATE TABLE IF NOT EXISTS results (%1, PRIMARY KEY (folder))").arg(result_columns));
    if (!made || !of.exec("SELECT count(*) FROM results")) error_ = of.lastError().text();
    return error_.isEmpty();
  }

 private:
  QString name_, error_;
};

struct Found {
  QString folder, test_case;
  bool is_case = false;
};

void find_runs(const QString& parent, const QString& test_case, std::vector<Found>& out) {
  for (const QFileInfo& info : QDir(parent).entryInfoList(QDir::Dirs | QDir::NoDotAndDotDot, QDir::NoSort)) {
    if (out.size() >= ResultIndex::results_max) return;
    const QString folder = info.filePath();
    if (test_case.isEmpty() && QFileInfo::exists(folder + "/case.yaml")) {
      out.push_back({folder, {}, true});
      find_runs(folder + "/runs", info.fileName(), out);
    } else {
      out.push_back({folder, test_case, false});
    }
  }
}

double number_or_nan(const QVariant& value) {
  return value.isNull() ? std::nan("") : value.toDouble();
}

QVariant variant(double value) {
  return std::isnan(value) ? QVariant() : QVariant(value);
}

/// Of what `machine_of` tells for each role, in the order of all_roles; one where all ran on the same.
template <class MachineOf>
QString machines_text(MachineOf&& machine_of) {
  QStringList machines;
  for (const Role role : all_roles) machines += machine_of(role);
  return machines.count(machines.front()) == machines.size() ? machines.front() : machines.join(between_machines);
}

/// A run that has settings and no summary: under way, killed with its bench, or its disk was full.
std::optional<ResultEntry> unfinished(const QString& folder) {
  const ReadSettings read = read_settings_file((folder + "/settings.yaml").toStdString());
  if (!read.settings) return {};
  ResultEntry entry;
  entry.title = QString::fromStdString(read.settings->title);
  entry.mode = QString::fromStdString(value_text(*read.settings, "queue.mode"));
  entry.senders = read.settings->senders.amount;
  entry.receivers = read.settings->receivers.amount;
  entry.machines = machines_text([&read](Role role) { return QString::fromStdString(host_of(role, *read.settings)); });
  entry.started = QFileInfo(folder + "/settings.yaml").lastModified();
  entry.verdict = "unfinished";
  entry.p50_us = entry.p99_us = entry.mean_lowest_95_us = entry.clock_bound_us = std::nan("");
  return entry;
}

/// What case.json says; what its runs came to is added to it each time.
std::optional<ResultEntry> read_case_entry(const QString& folder) {
  QString ignored;
  const auto bytes = read_whole(folder + "/case.json", case_bytes_max, ignored);
  if (!bytes) return {};
  const auto state = net::parsed_json(*bytes);
  if (!state.is_object()) return {};
  const auto text = [&state](const char* key) { return QString::fromStdString(measure::text_or_none(state, key)); };
  ResultEntry entry;
  entry.is_case = true;
  entry.title = text("title");
  entry.scale = text("scale");
  entry.started = QDateTime::fromString(text("begun"), Qt::ISODate).toLocalTime();
  entry.build = text("build").section(' ', 0, 0);
  const auto runs = state.find("runs");
  if (runs != state.end() && runs->is_number_unsigned())
    entry.runs_planned = static_cast<int>(std::min<std::uint64_t>(runs->get<std::uint64_t>(), INT_MAX));
  entry.p50_us = entry.p99_us = entry.mean_lowest_95_us = std::nan("");
  return entry;
}

/// Runs with the same one differ in nothing that was asked for.
QString settings_hash(nlohmann::json settings) {
  for (const char* words : {"title", "description"}) settings.erase(words);
  const std::string text = settings.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return QString::fromLatin1(QCryptographicHash::hash(QByteArray::fromStdString(text), QCryptographicHash::Sha256).toHex().left(16));
}

/// `lasts`: as long as its files stay as they are.
std::optional<ResultEntry> read_entry(const Found& found, bool& lasts) {
  QString error;
  std::optional<ResultEntry> entry;
  if (found.is_case) {
    entry = read_case_entry(found.folder);
  } else if (const auto run = read_run(found.folder, error)) {
    const nlohmann::json& summary = run->summary;
    const auto number = [&summary](const char* path) { return figure_at(summary, path).value_or(std::nan("")); };
    // A file says what it likes: nothing that is no number, or too large a one, becomes another one.
    const auto count = [&number]<typename Int>(const char* path, Int max) {
      const double value = number(path);
      return value > 0 ? static_cast<Int>(std::min(value, static_cast<double>(max))) : Int{0};
    };
    const auto text = [&summary](const char* pointer) {
      const auto value = summary.value(nlohmann::json::json_pointer(pointer), nlohmann::json());
      return value.is_string() ? QString::fromStdString(value.get<std::string>()) : QString();
    };
    entry.emplace();
    entry->title = text("/settings/title");
    entry->mode = text("/settings/queue/mode");
    entry->started = QDateTime::fromString(text("/started"), Qt::ISODateWithMs).toLocalTime();
    entry->senders = count("settings.senders.amount", INT_MAX);
    entry->receivers = count("settings.receivers.amount", INT_MAX);
    entry->machines = machines_text([&summary](Role role) { return machine_name_at(summary, role_key(role)); });
    entry->verdict = text("/verdict");
    entry->reason = text("/reasons/0");
    entry->disturbed = text("/environment/disturbed/0");
    entry->build = text("/environment/versions/bench");
    entry->p50_us = number("latency_us.p50");
    entry->p99_us = number("latency_us.p99");
    entry->clock_bound_us = clock_limit_at(summary, "latency_us.p50");
    entry->mean_lowest_95_us = number("latency_us.mean_lowest_95");
    entry->floor_us = floor_us_at(summary, "latency_us.p50");
    constexpr qint64 exact_max = qint64{1} << 53;
    entry->deliveries = count("ledger.total.delivered", exact_max);
    entry->samples = count("latency_us.count", exact_max);
    if (number("plan.attempted_messages") != 0) entry->settings = settings_hash(summary.at("settings"));
  } else {
    entry = unfinished(found.folder);
    // Of what is there and cannot be read it is told why. That may pass, and its files be as before.
    lasts = !QFileInfo::exists(found.folder + "/summary.json");
    if (entry && !lasts) entry->reason = error;
  }
  if (!entry) return {};
  const ResultNote note = read_note(found.folder);
  entry->note = note.note;
  entry->tags = note.tags;
  entry->test_case = found.test_case;
  return entry;
}

void store(QSqlQuery& insert, const QString& folder, qint64 stamp, const ResultEntry& entry) {
  for (const QVariant& value : {QVariant(folder),
                                QVariant(stamp),
                                QVariant(entry.test_case),
                                QVariant(entry.title),
                                QVariant(entry.started.toMSecsSinceEpoch()),
                                QVariant(entry.mode),
                                QVariant(entry.senders),
                                QVariant(entry.receivers),
                                QVariant(entry.verdict),
                                QVariant(entry.reason),
                                variant(entry.p50_us),
                                variant(entry.p99_us),
                                variant(entry.mean_lowest_95_us),
                                QVariant(entry.deliveries),
                                QVariant(entry.note),
                                QVariant(entry.tags.join(',')),
                                QVariant(entry.build),
                                QVariant(entry.is_case),
                                QVariant(entry.scale),
                                QVariant(entry.runs_planned),
                                QVariant(entry.settings),
                                variant(entry.clock_bound_us),
                                QVariant(entry.disturbed),
                                variant(entry.floor_us),
                                QVariant(entry.machines),
                                QVariant(entry.samples)}) {
    insert.addBindValue(value);
  }
  insert.exec();
}

ResultEntry entry_of(const QSqlQuery& row) {
  ResultEntry entry;
  entry.test_case = row.value(2).toString();
  entry.title = row.value(3).toString();
  entry.started = QDateTime::fromMSecsSinceEpoch(row.value(4).toLongLong());
  entry.mode = row.value(5).toString();
  entry.senders = row.value(6).toInt();
  entry.receivers = row.value(7).toInt();
  entry.verdict = row.value(8).toString();
  entry.reason = row.value(9).toString();
  entry.p50_us = number_or_nan(row.value(10));
  entry.p99_us = number_or_nan(row.value(11));
  entry.mean_lowest_95_us = number_or_nan(row.value(12));
  entry.deliveries = row.value(13).toLongLong();
  entry.note = row.value(14).toString();
  entry.tags = row.value(15).toString().split(',', Qt::SkipEmptyParts);
  entry.build = row.value(16).toString();
  entry.is_case = row.value(17).toBool();
  entry.scale = row.value(18).toString();
  entry.runs_planned = row.value(19).toInt();
  entry.settings = row.value(20).toString();
  entry.clock_bound_us = number_or_nan(row.value(21));
  entry.disturbed = row.value(22).toString();
  entry.floor_us = number_or_nan(row.value(23));
  entry.machines = row.value(24).toString();
  entry.samples = row.value(25).toLongLong();
  return entry;
}

struct Known {
  qint64 stamp;
  ResultEntry entry;
};

QHash<QString, Known> known_results(const Database& database) {
  QHash<QString, Known> out;
  QSqlQuery rows = database.query();
  rows.setForwardOnly(true);
  rows.exec(QString("SELECT %1 FROM results").arg(result_columns));
  while (rows.next()) out.insert(rows.value(0).toString(), {rows.value(1).toLongLong(), entry_of(rows)});
  return out;
}

/// Each once, in the order in which the runs were made.
QString machines_of(std::vector<const ResultEntry*> runs) {
  std::sort(runs.begin(), runs.end(), [](const ResultEntry* a, const ResultEntry* b) { return is_earlier_run(a->name, b->name); });
  QStringList machines;
  for (const ResultEntry* run : runs) machines += run->machines.split(between_machines);
  machines.removeDuplicates();
  return machines.join(between_machines);
}

/// What a case's finished runs came to. Of runs made again, which have the same settings, the last one counts.
void add_up(ResultEntry& entry, const QHash<QString, std::vector<const ResultEntry*>>& runs_of) {
  QHash<QString, const ResultEntry*> latest;
  for (const ResultEntry* run : runs_of.value(entry.name)) {
    entry.newest = std::max(entry.newest, run->started);
    // Somebody's stop, or that nothing was sent, makes it one to be run again.
    if (!run->finished() || run->verdict == "stopped" || run->settings.isEmpty()) continue;
    const ResultEntry*& known = latest[run->settings];
    if (known == nullptr || is_earlier_run(known->name, run->name)) known = run;
  }
  QStringList verdicts;
  int disturbed = 0;
  for (const ResultEntry* run : latest) {
    disturbed += run->disturbed.isEmpty() ? 0 : 1;
    verdicts += run->verdict;
    entry.mode = entry.mode.isEmpty() || entry.mode == run->mode ? run->mode : QString(both_modes);
    entry.senders = std::max(entry.senders, run->senders);
    entry.receivers = std::max(entry.receivers, run->receivers);
    entry.deliveries += run->deliveries;
  }
  if (!latest.isEmpty()) entry.machines = machines_of({latest.cbegin(), latest.cend()});
  entry.runs_done = static_cast<int>(latest.size());
  const bool decided = entry.runs_planned > 0;
  const int to_come = decided ? std::max(0, entry.runs_planned - entry.runs_done) : 1;
  entry.verdict = case_verdict(verdicts, to_come);
  QStringList told;
  for (const char* verdict : {"broken", "degraded", "clean"}) {
    if (const auto count = verdicts.count(QLatin1String(verdict)); count > 0) told += QString("%1 %2").arg(count).arg(verdict);
  }
  if (to_come > 0) told += decided ? QString("%1 to come").arg(to_come) : QString("more to come");
  entry.reason = entry.runs_done == 0 ? QString("no run finished") : "runs: " + told.join(", ");
  if (disturbed > 0) entry.disturbed = QString("others disturbed %1 of them").arg(disturbed);
}

void add_up_cases(std::vector<ResultEntry>& entries) {
  QHash<QString, std::vector<const ResultEntry*>> runs_of;
  for (const ResultEntry& entry : entries) {
    if (!entry.test_case.isEmpty()) runs_of[entry.test_case].push_back(&entry);
  }
  for (ResultEntry& entry : entries) {
    if (entry.is_case) add_up(entry, runs_of);
  }
}

QString lock_name(const ResultEntry& entry) {
  return entry.is_case ? "/case.lock" : "/run.lock";
}

}  // namespace

bool holds_a_result(const QString& folder) {
  return stamp_of(folder) != 0;
}

bool ResultFilter::matches(const ResultEntry& entry) const {
  if (kind == Kind::cases && !entry.is_case) return false;
  if (kind == Kind::runs_of_cases && entry.test_case.isEmpty()) return false;
  if (kind == Kind::single_runs && (entry.is_case || !entry.test_case.isEmpty())) return false;
  if (!mode.isEmpty() && !entry.mode.split(", ").contains(mode)) return false;
  if (!verdict.isEmpty() && entry.verdict != verdict) return false;
  if (!tag.isEmpty() && !entry.tags.contains(tag, Qt::CaseInsensitive)) return false;
  if (from.isValid() && entry.started.date() < from) return false;
  if (to.isValid() && entry.started.date() > to) return false;
  for (const QString& word : text.split(' ', Qt::SkipEmptyParts)) {
    bool found = false;
    for (const QString& in : {entry.name, entry.title, entry.scale, entry.test_case, entry.machines, entry.note, entry.tags.join(' ')}) {
      found = found || in.contains(word, Qt::CaseInsensitive);
    }
    if (!found) return false;
  }
  return true;
}

std::vector<ResultEntry> ResultIndex::list(QString& remark, const std::atomic<bool>* cancelled) {
  std::vector<ResultEntry> out;
  if (!QFileInfo(folder_).isDir()) return out;
  const QString path = folder_ + "/.index.sqlite";
  auto database = std::make_unique<Database>(path);
  if (!database->error().isEmpty() || !database->prepare()) {
    // A damaged one is thrown away; where none can be written the list is made without.
    database.reset();
    QFile::remove(path);
    database = std::make_unique<Database>(path);
    if (!database->error().isEmpty() || !database->prepare()) {
      remark = QString("The index %1 cannot be written (%2): every list takes as long as the first.").arg(path, database->error());
      database = std::make_unique<Database>(":memory:");
      database->prepare();
    }
  }
  std::vector<Found> found;
  find_runs(folder_, {}, found);
  if (found.size() >= results_max && remark.isEmpty())
    remark = QString("%1 holds more than %2 results: the others are not listed.").arg(folder_, grouped_digits(QString::number(results_max)));
  const QHash<QString, Known> known = known_results(*database);
  database->handle().transaction();
  QSqlQuery insert = database->query();
  insert.prepare(QString("INSERT OR REPLACE INTO results (%1) VALUES (%2)").arg(result_columns, QStringList(column_count, "?").join(',')));
  QHash<QString, bool> seen;
  for (const Found& run : found) {
    if (cancelled != nullptr && *cancelled) break;
    const QString relative = run.folder.mid(folder_.size() + 1);
    const qint64 stamp = stamp_of(run.folder);
    if (stamp == 0) continue;  // no folder of a run, as holds_a_result() tells
    seen.insert(relative, true);
    const auto before = known.constFind(relative);
    std::optional<ResultEntry> entry;
    bool lasts = true;
    if (before != known.constEnd() && before->stamp == stamp) {
      entry = before->entry;
    } else if ((entry = read_entry(run, lasts)) && lasts) {
      store(insert, relative, stamp, *entry);
    }
    if (!entry) continue;
    entry->folder = run.folder;
    entry->newest = entry->started;
    entry->name = run.folder.section('/', -1);
    out.push_back(std::move(*entry));
  }
  QSqlQuery gone = database->query();
  gone.prepare("DELETE FROM results WHERE folder = ?");
  for (auto it = known.constBegin(); it != known.constEnd(); ++it) {
    if (seen.contains(it.key()) || (cancelled != nullptr && *cancelled)) continue;
    gone.addBindValue(it.key());
    gone.exec();
  }
  database->handle().commit();
  add_up_cases(out);
  for (ResultEntry& entry : out) {
    if (entry.is_case || !entry.finished()) entry.is_being_made = FolderLock::holder(entry.folder + lock_name(entry)) != 0;
  }
  std::sort(out.begin(), out.end(), [](const ResultEntry& a, const ResultEntry& b) {
    if (a.newest != b.newest) return a.newest > b.newest;
    return a.is_case != b.is_case ? a.is_case : a.name > b.name;
  });
  return out;
}

}  // namespace n2nq::app
