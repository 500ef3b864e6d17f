// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cases/case_folder.h"

#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "app/results/is_denied.h"
#include "app/results/stored_run.h"
#include "app/settings/new_folder.h"
#include "app/settings/qt_text.h"
#include "app/settings/whole_file.h"
#include "broker/net/parsed_json.h"
#include "workers/measure/json_keys.h"
#include "workers/measure/whole_number.h"

namespace n2nq::app {

namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr int label_chars_max = 60;
constexpr qint64 state_bytes_max = 1 << 20;
const QString name_time_format = QStringLiteral("yyyy-MM-ddTHH-mm-ss");
const QString case_yaml = QStringLiteral("/case.yaml"), base_yaml = QStringLiteral("/base.yaml"), case_json = QStringLiteral("/case.json");

/// Letters, digits, points and dashes alone: "broadcaster-external-0.1-s-50".
QString slug(const QString& text) {
  QString out;
  for (const QChar letter : text) {
    const bool plain =
        (letter >= u'a' && letter <= u'z') || (letter >= u'A' && letter <= u'Z') || (letter >= u'0' && letter <= u'9') || letter == u'.';
    if (plain) {
      out += letter;
    } else if (!out.isEmpty() && !out.endsWith('-')) {
      out += '-';
    }
  }
  while (out.endsWith('-')) out.chop(1);
  return out.left(label_chars_max);
}

OrderedJson hosts_json(const std::optional<CaseHosts>& hosts) {
  if (!hosts) return nullptr;
  return {{"broker", hosts->broker}, {"senders", hosts->senders}, {"receivers", hosts->receivers}};
}

/// When make() gave a folder of this case this name; empty: it did not.
std::optional<QDateTime> begun_by_name(const QString& folder, const std::string& name, std::optional<Scale> scale) {
  constexpr qsizetype time_chars = 19;
  const QString of_case = "-case-" + slug(qt_text(name)) + '-', its_scale = folder.mid(time_chars + of_case.size()).section('-', 0, 0);
  const auto is_its = [&](Scale each) { return (!scale || *scale == each) && its_scale == qt_text(scale_word(each)); };
  if (folder.mid(time_chars, of_case.size()) != of_case || !std::ranges::any_of(all_scales, is_its)) return {};
  return QDateTime::fromString(folder.left(time_chars), name_time_format);
}

/// Empty: `problem` says what is wrong.
std::optional<OrderedJson> read_state(const QString& folder, QString& problem) {
  const QString path = folder + case_json;
  if (is_denied(path, R_OK)) return problem = denied_words(is_denied(path) ? folder : path), std::nullopt;
  if (!QFileInfo::exists(path)) return problem = folder + " has no case.json: it is not the folder of a test case", std::nullopt;
  const auto bytes = read_whole(path, state_bytes_max, problem);
  if (!bytes) return {};
  auto state = net::parsed_json<OrderedJson>(*bytes);
  if (state.is_discarded()) return problem = path + ' ' + qt_text(net::why_no_json(*bytes)), std::nullopt;
  if (!state.is_object() || !state.contains("format") || !state.at("format").is_number_integer()) {
    return problem = path + " is not what n2nq-bench writes", std::nullopt;
  }
  if (state.at("format") > case_format) {
    return problem = QString("%1 has format %2, which is newer than this program's %3: use a newer n2nq-bench")
                         .arg(path, qt_text(state.at("format").dump()), QString::number(case_format)),
           std::nullopt;
  }
  return state;
}

/// Absolute paths, in the order in which they were begun.
QStringList finished_runs(const QString& folder) {
  QStringList names = QDir(folder + "/runs").entryList(QDir::Dirs | QDir::NoDotAndDotDot), out;
  std::sort(names.begin(), names.end(), is_earlier_run);
  for (const QString& name : names) {
    const QString run_folder = QFileInfo(folder + "/runs/" + name).absoluteFilePath();
    if (QFileInfo::exists(run_folder + "/summary.json")) out += run_folder;  // else it was broken off
  }
  return out;
}

}  // namespace

QString build_of_programs(const QString& programs_folder) {
  QCryptographicHash hash(QCryptographicHash::Sha256);
  for (const char* program : {"n2nq-broker", "n2nq-senders", "n2nq-receivers"}) {
    QFile file(programs_folder + '/' + program);
    if (file.open(QIODevice::ReadOnly)) hash.addData(&file);
  }
  return QString("%1 %2").arg(N2NQ_VERSION, QString::fromLatin1(hash.result().toHex().left(16)));
}

std::optional<CaseFolder> CaseFolder::make(const QString& parent, const QString& exact, const std::string& name, const CasePlan& plan,
                                           const QString& build, const QDateTime& now, QString& error) {
  const QString own_name =
      QString("%1-case-%2-%3").arg(now.toString(name_time_format), slug(qt_text(name)), qt_text(scale_word(plan.choice().scale)));
  CaseFolder folder;
  folder.path_ = exact.isEmpty() ? make_own_folder(parent, own_name, error)
                                 : make_exact_folder(exact, "or go on with the case in it by --resume", error);
  if (folder.path_.isEmpty()) return {};
  folder.name_ = name;
  folder.file_ = plan.file();
  folder.choice_ = plan.choice();
  folder.build_ = build;
  folder.begun_ = now;
  // Where it ends by what is measured, nobody knows before.
  if (!plan.decides_by_what_it_measures()) folder.runs_planned_ = plan.runs_expected();
  if (!QDir().mkpath(folder.path_ + "/runs")) return error = "Cannot make the folder " + folder.path_ + "/runs", std::nullopt;
  error = write_whole(folder.path_ + case_yaml, QByteArray::fromStdString(plan.file().text));
  if (const auto& base = plan.file().named_base; base && error.isEmpty()) {
    error = write_whole(folder.path_ + base_yaml, QByteArray::fromStdString(settings_yaml(*base)));
  }
  // Last: a folder with a state is a whole one.
  if (error.isEmpty()) error = folder.write_state();
  return error.isEmpty() ? std::optional(std::move(folder)) : std::nullopt;
}

QString CaseFolder::write_state() const {
  const auto number = [](const auto& value) { return value ? OrderedJson(*value) : OrderedJson(); };
  const OrderedJson state = {{"format", case_format},
                             {"case", name_},
                             {"title", file_.title},
                             {"scale", std::string(scale_word(choice_.scale))},
                             {"repeats", number(choice_.repeats)},
                             {"warm_up_s", number(choice_.warm_up_s)},
                             {"hosts", hosts_json(choice_.hosts)},
                             {"runs", number(runs_planned_)},
                             {"begun", begun_.toUTC().toString(Qt::ISODate).toStdString()},
                             {"build", build_.toStdString()}};
  return write_whole(path_ + case_json, QByteArray::fromStdString(state.dump(2) + '\n'));
}

std::optional<CaseFolder> CaseFolder::open(const QString& folder, QString& error) {
  const auto state = read_state(folder, error);
  if (!state) return {};
  ReadCase read = read_case(folder);
  if (!read.file) return error = qt_text(read.errors.front().text()), std::nullopt;
  CaseFolder out;
  out.path_ = QFileInfo(folder).absoluteFilePath();
  out.file_ = std::move(*read.file);
  try {
    out.name_ = measure::text_at(*state, "case");
    out.build_ = qt_text(measure::text_at(*state, "build"));
    out.begun_ = QDateTime::fromString(qt_text(measure::text_at(*state, "begun")), Qt::ISODate);
    if (const auto runs = state->find("runs"); runs != state->end() && !runs->is_null()) {
      out.runs_planned_ = measure::whole_number<int>(*runs, "runs");
    }
    const auto scale = std::find(scale_words().begin(), scale_words().end(), measure::text_at(*state, "scale"));
    if (scale == scale_words().end()) return error = folder + case_json + " names a scale that there is not", std::nullopt;
    out.choice_.scale = static_cast<Scale>(scale - scale_words().begin());
    if (const OrderedJson& repeats = measure::value_at(*state, "repeats", "a number or null"); !repeats.is_null()) {
      out.choice_.repeats = std::clamp(measure::whole_number<int>(repeats, "repeats"), 1, case_repeats_max);
    }
    if (!measure::value_at(*state, "warm_up_s", "a number or null").is_null()) out.choice_.warm_up_s = measure::number_at(*state, "warm_up_s");
    if (!measure::value_at(*state, "hosts", "an object or null").is_null()) {
      out.choice_.hosts = measure::in_object(*state, "hosts", [](const OrderedJson& hosts) {
        return CaseHosts{measure::text_at(hosts, "broker"), measure::text_at(hosts, "senders"), measure::text_at(hosts, "receivers")};
      });
    }
  } catch (const std::exception& problem) {  // a key that is missing or of another kind, a number that does not fit
    return error = folder + case_json + " is not what n2nq-bench writes: " + QString::fromUtf8(problem.what()), std::nullopt;
  }
  return out;
}

QString CaseFolder::newest(const QString& parent, const std::string& name, std::optional<Scale> scale, QStringList* denied) {
  QString found;
  QDateTime begun;
  std::vector<std::pair<QDateTime, QString>> unread;
  for (const QFileInfo& info : QDir(parent).entryInfoList(QDir::Dirs | QDir::NoDotAndDotDot)) {
    if (is_denied(info.filePath() + case_json, R_OK)) {
      if (const auto at = begun_by_name(info.fileName(), name, scale)) unread.emplace_back(*at, info.absoluteFilePath());
      continue;
    }
    if (!is_one(info.filePath())) continue;
    QString ignored;
    const auto state = read_state(info.filePath(), ignored);
    if (!state || measure::text_or_none(*state, "case") != name) continue;
    if (scale && measure::text_or_none(*state, "scale") != scale_word(*scale)) continue;
    const QDateTime at = QDateTime::fromString(qt_text(measure::text_or_none(*state, "begun")), Qt::ISODate);
    if (found.isEmpty() || at >= begun) found = info.absoluteFilePath(), begun = at;
  }
  for (const auto& [at, path] : unread) {
    if (denied && (found.isEmpty() || at > begun)) *denied += path;
  }
  return found;
}

ReadCase CaseFolder::read_case(const QString& folder) {
  // Folders of an earlier version have no base of their own: theirs is where it was for them.
  const QString base = folder + base_yaml;
  return read_case_file((folder + case_yaml).toStdString(), {.kept = QFileInfo::exists(base) ? base.toStdString() : std::string()},
                        CaseText::begun);
}

bool CaseFolder::is_one(const QString& folder) {
  return QFileInfo::exists(folder + case_json) && QFileInfo::exists(folder + case_yaml);
}

QString CaseFolder::accept_build(const QString& build) {
  build_ = build;
  return write_state();
}

QString CaseFolder::note_runs(int runs) {
  if (runs_planned_ == runs) return {};
  runs_planned_ = runs;
  return write_state();
}

QString CaseFolder::lock(bool* by_others) {
  if (by_others) *by_others = false;
  if (lock_) return {};
  const QString file = path_ + "/case.lock";
  for (int attempt = 0; attempt < 2; ++attempt) {  // whoever had it may be about to go
    if (auto lock = FolderLock::take(file)) return lock_ = std::make_unique<FolderLock>(std::move(*lock)), QString();
    if (const qint64 pid = FolderLock::holder(file)) {
      if (by_others) *by_others = true;
      return QString("Another bench works on %1 (process %2)").arg(path_, QString::number(pid));
    }
  }
  return QString("Cannot make %1/case.lock: is the folder writable?").arg(path_);
}

QString CaseFolder::next_run_folder(const ScheduledRun& run) const {
  int number = 0;
  for (const QString& name : QDir(path_ + "/runs").entryList(QDir::Dirs | QDir::NoDotAndDotDot)) {
    number = std::max(number, number_of_run(name));
  }
  return path_ + QString("/runs/%1-%2-r%3").arg(number + 1, 4, 10, QLatin1Char('0')).arg(slug(run.label)).arg(run.repeat);
}

int CaseFolder::runs_that_count(const QString& folder, const std::atomic<bool>* cancelled) {
  std::set<std::string> counted;
  for (const QString& run_folder : finished_runs(folder)) {
    if (cancelled && *cancelled) break;
    QString ignored;
    const auto run = read_run(run_folder, ignored);
    if (!run || !run->counts_in_case()) continue;
    const ReadSettings settings = read_settings_file((run_folder + "/settings.yaml").toStdString());
    if (settings.settings) counted.insert(settings_sha256(*settings.settings));
  }
  return static_cast<int>(counted.size());
}

CaseResults CaseFolder::read_results(const QString& folder, const CasePlan& plan, QStringList* unreadable,
                                     const std::atomic<bool>* cancelled) {
  CaseResults out;
  for (const QString& run_folder : finished_runs(folder)) {
    if (cancelled && *cancelled) break;
    QString problem;
    auto result = read_case_run(run_folder, plan, problem, cancelled);
    if (result) {
      out.add(std::move(*result));
    } else if (unreadable) {
      *unreadable += problem;
    }
  }
  return out;
}

}  // namespace n2nq::app
