// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cases/case_library.h"

#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>
#include <QStandardPaths>
#include <filesystem>
#include <system_error>

#include "app/cases/case_folder.h"
#include "app/settings/presets.h"
#include "app/settings/text_value.h"
#include "app/settings/whole_file.h"

// A static library's resources are only linked when somebody asks for them.
static void link_built_in_cases() {
  Q_INIT_RESOURCE(cases);
}

namespace n2nq::app {

namespace {

constexpr int copies_max = 1000;
const char* const suffix = ".yaml";
const QString deleted_folder = ".deleted";

/// A link as well, wherever it leads, which QFile refuses where it leads nowhere. Empty: done.
QString moved(const QString& from, const QString& to) {
  std::error_code error;
  std::filesystem::rename(from.toStdString(), to.toStdString(), error);
  return error ? QString::fromStdString(error.message()) : QString();
}

/// Also a link that leads nowhere.
bool is_there(const QString& path) {
  return QFileInfo::exists(path) || QFileInfo(path).isSymLink();
}

LibraryCase built_in(const QString& file_name) {
  QFile file(":/cases/" + file_name);
  const std::string name = QFileInfo(file_name).completeBaseName().toStdString();
  if (!file.open(QIODevice::ReadOnly)) return {name, true, {}, {{}, {{name, 0, "", "is missing from the program"}}}};
  return {name, true, {}, read_case_text(file.readAll().toStdString(), file_name.toStdString())};
}

LibraryCase own(const QString& path) {
  const QFileInfo file(path);
  const bool was_begun = file.fileName() == "case.yaml" && CaseFolder::is_one(file.absolutePath());
  return {file.completeBaseName().toStdString(), false, file.absoluteFilePath(),
          was_begun ? CaseFolder::read_case(file.absolutePath()) : read_case_file(path.toStdString())};
}

/// "delay" of "3-delay".
std::string without_number(const std::string& name) {
  const auto behind = name.find_first_not_of("0123456789");
  return behind != std::string::npos && behind > 0 && name[behind] == '-' ? name.substr(behind + 1) : name;
}

bool is_called(const std::string& name, const std::string& wanted) {
  return name == wanted || without_number(name) == wanted || (name.starts_with(wanted + '-') && wanted.find_first_not_of("0123456789") == std::string::npos);
}

/// Another title in place of the one at the beginning of a line; the same text where that is not written as it reads, on one line.
std::string retitled(const std::string& text, const std::string& title, const std::string& wanted) {
  const std::string key = "title:";
  const auto line = text.starts_with(key) ? 0 : text.find('\n' + key);
  if (line == std::string::npos) return text;
  auto at = text.find_first_not_of(" \t", text.find(':', line) + 1);
  if (at != std::string::npos && (text[at] == '"' || text[at] == '\'')) ++at;
  if (at == std::string::npos || text.compare(at, title.size(), title) != 0) return text;
  return std::string(text).replace(at, title.size(), wanted);
}

}  // namespace

CaseLibrary::CaseLibrary(QString folder) : folder_(std::move(folder)) {
  link_built_in_cases();
}

QString CaseLibrary::default_folder() {
  return QStandardPaths::writableLocation(QStandardPaths::GenericConfigLocation) + "/n2nq-bench/cases";
}

std::vector<LibraryCase> CaseLibrary::list(QString* remark) const {
  std::vector<LibraryCase> out;
  for (const QString& name : QDir(":/cases").entryList(QDir::Files, QDir::Name)) out.push_back(built_in(name));
  const auto files = QDir(folder_).entryInfoList({QString("*") + suffix}, QDir::Files, QDir::Name);
  for (const QFileInfo& file : files.mid(0, own_files_max)) out.push_back(own(file.absoluteFilePath()));
  if (remark && files.size() > own_files_max)
    *remark = QString("%1 holds more than %2 test cases: the others are not listed.").arg(folder_, QString::number(own_files_max));
  return out;
}

LibraryCase CaseLibrary::load(const std::string& name_or_path) const {
  if (names_a_file(name_or_path)) return own(QString::fromStdString(name_or_path));
  QString remark;
  auto all = list(&remark);
  // What a person made themselves counts before what came with the program.
  for (const bool built_in_ones : {false, true}) {
    for (LibraryCase& each : all) {
      if (each.built_in == built_in_ones && is_called(each.name, name_or_path)) return std::move(each);
    }
  }
  std::vector<std::string_view> names;
  for (const LibraryCase& each : all) names.push_back(each.name);
  LibraryCase none{name_or_path, false, {}, {}};
  none.read.errors.push_back({name_or_path, 0, "",
                              "is not a test case (nearest: " + std::string(nearest_word(name_or_path, names)) + "); there are " + one_of(names) +
                                  ", and files are named with .yaml or a slash" + (remark.isEmpty() ? "" : "; " + remark.toStdString())});
  return none;
}

/// Of a copy: "Delay (copy)", "Delay (copy 2)", of which no file of one's own says anything yet.
QString CaseLibrary::free_title(const std::string& of) const {
  static const QRegularExpression copied(QStringLiteral(" \\(copy( [0-9]+)?\\)$"));
  const QString title = QString::fromStdString(of).remove(copied);
  QByteArray all;
  for (const QFileInfo& each : QDir(folder_).entryInfoList({QString("*") + suffix}, QDir::Files | QDir::Readable).mid(0, own_files_max)) {
    std::string ignored;
    if (const auto text = settings_file_text(each.absoluteFilePath().toStdString(), ignored)) all += QByteArray::fromStdString(*text);
  }
  QString out = title + " (copy)";
  for (int i = 2; i <= copies_max && all.contains(out.toUtf8()); ++i) out = QString("%1 (copy %2)").arg(title, QString::number(i));
  return out;
}

QString CaseLibrary::copy(const LibraryCase& from, QString& error) const {
  std::string text = from.read.file ? from.read.file->text : std::string();
  if (text.empty()) {  // with mistakes: whoever wrote it may want to mend a copy
    std::string problem;
    text = settings_file_text(from.path.toStdString(), problem).value_or("");
    if (text.size() > settings_file_bytes_max)
      problem = "is larger than " + std::to_string(settings_file_bytes_max) + " B: not a test case's file";
    if (text.empty() && problem.empty()) problem = "is empty";
    if (!problem.empty()) {
      error = (from.path.isEmpty() ? QString::fromStdString(from.name) : from.path) + ' ' + QString::fromStdString(problem);
      return {};
    }
  }
  if (!QDir().mkpath(folder_)) return error = "Cannot make the folder " + folder_, QString();
  if (from.read.file) {
    const std::string wanted = free_title(from.read.file->title).toStdString();
    const std::string changed = retitled(text, from.read.file->title, wanted);
    // As anybody may have written it: what does not come to that title stays as it is.
    const QString folder = from.path.isEmpty() ? QString() : QFileInfo(from.path).absolutePath();
    const ReadCase read = read_case_text(changed, from.name, {.folder = folder.toStdString()});
    if (read.file && read.file->title == wanted) text = changed;
  }
  const QString name = QString::fromStdString(without_number(from.name));
  for (int i = 1; i <= copies_max; ++i) {
    const QString path = folder_ + '/' + (i == 1 ? name : QString("%1-%2").arg(name, QString::number(i))) + suffix;
    if (QFileInfo::exists(path)) continue;
    error = write_whole(path, QByteArray::fromStdString(text));
    return error.isEmpty() ? path : QString();
  }
  error = QString("There are %1 copies of %2 already").arg(copies_max).arg(name);
  return {};
}

// A file that is moved keeps its rights and times, and a link stays one: when it was deleted stands in the name that it is kept by.
std::optional<RemovedCase> CaseLibrary::remove(const QString& path, QString& error) {
  const QFileInfo file(path);
  const QString kept_in = file.dir().filePath(deleted_folder);
  if (!QDir().mkpath(kept_in)) return error = QString("Cannot delete %1: cannot make the folder %2").arg(path, kept_in), std::nullopt;
  qint64 deleted_ms = QDateTime::currentMSecsSinceEpoch();
  const auto kept = [&] { return QStringLiteral("%1/%2-%3").arg(kept_in, QString::number(deleted_ms), file.fileName()); };
  while (is_there(kept())) ++deleted_ms;
  const QString why = moved(path, kept());
  if (why.isEmpty()) return RemovedCase{path, kept()};
  return error = QString("Cannot delete %1, that is move it to %2: %3").arg(path, kept_in, why), std::nullopt;
}

QString CaseLibrary::restore(const RemovedCase& removed) {
  if (is_there(removed.path)) return QString("%1 is there again: what was deleted is not brought back").arg(removed.path);
  const QString why = moved(removed.kept, removed.path);
  return why.isEmpty() ? QString() : QString("Cannot bring back %1: %2").arg(removed.path, why);
}

bool CaseLibrary::can_be_restored(const RemovedCase& removed) {
  return is_there(removed.kept);
}

void CaseLibrary::forget_removed(std::chrono::seconds age) const {
  const qint64 before_ms = QDateTime::currentDateTime().addSecs(-age.count()).toMSecsSinceEpoch();
  const QDir kept_in(QDir(folder_).filePath(deleted_folder));
  for (const QString& name : kept_in.entryList(QDir::Files | QDir::System | QDir::Hidden)) {
    bool was_deleted = false;
    const qint64 deleted_ms = name.section(u'-', 0, 0).toLongLong(&was_deleted);
    if (was_deleted && deleted_ms <= before_ms) QFile::remove(kept_in.filePath(name));
  }
}

}  // namespace n2nq::app
