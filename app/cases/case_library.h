// SPDX-License-Identifier: GPL-3.0-or-later
// The test cases there are: those that come with the program, and a person's own files.
#pragma once

#include <QString>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "app/cases/case_file.h"

namespace n2nq::app {

struct LibraryCase {
  std::string name;  // the file's, without its end: "3-delay"
  bool built_in = true;
  QString path;  // of a file of one's own
  ReadCase read;
};

/// A file of one's own that was deleted.
struct RemovedCase {
  QString path;
  QString kept;  // where it is meanwhile
};

class CaseLibrary {
 public:
  static constexpr int own_files_max = 500;

  /// `folder`: where own files are; it need not exist.
  explicit CaseLibrary(QString folder = default_folder());
  /// $XDG_CONFIG_HOME/n2nq-bench/cases.
  static QString default_folder();

  /// Built-in ones first, then own ones by name; also those that cannot be read, with their mistakes. Where there are more files than are
  /// listed, `remark` says so.
  std::vector<LibraryCase> list(QString* remark = nullptr) const;
  /// A case's name, its number, its name without the number, or the path of a file (ends in .yaml or .yml, or holds a slash).
  LibraryCase load(const std::string& name_or_path) const;
  /// Puts the text of a case into a file of one's own, under a name that is free: "delay", "delay-2". Its title says so, "Delay (copy)",
  /// "Delay (copy 2)", where it is written as it reads and on one line; the rest is kept byte for byte. Empty result: `error` says why.
  QString copy(const LibraryCase& from, QString& error) const;
  /// Moves a file of one's own to .deleted beside it. Empty result: it is there still, `error` says why.
  static std::optional<RemovedCase> remove(const QString& path, QString& error);
  /// Moves it back; what has its place by now stays. Empty result: done.
  static QString restore(const RemovedCase& removed);
  /// It was not brought back, nor deleted for good.
  static bool can_be_restored(const RemovedCase& removed);
  /// Deletes for good what was deleted so long ago: another window may still bring back what was deleted later.
  void forget_removed(std::chrono::seconds age = std::chrono::hours(24)) const;

 private:
  QString free_title(const std::string& of) const;
  QString folder_;
};

}  // namespace n2nq::app
