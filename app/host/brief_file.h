// SPDX-License-Identifier: GPL-3.0-or-later
// Names of files that a bench makes on a host for a moment. A link that is cut leaves such a file there; its name says which bench made
// it, so that one that nobody needs any more is told from one that another bench is at.
#pragma once

#include <QString>

namespace n2nq::app {

/// Needed for as long as this lives. On any thread.
class BriefFile {
 public:
  enum class Kind { part, time_probe };  // of a program that is written; what tells the time there

  explicit BriefFile(Kind kind, const QString& suffix = {});
  ~BriefFile();
  BriefFile(const BriefFile&) = delete;
  BriefFile& operator=(const BriefFile&) = delete;

  const QString& name() const { return name_; }
  /// Whether a file of this name is one, of whichever bench.
  static bool is_one(const QString& name);
  /// Whether this process needs it, however old it is.
  static bool is_in_use(const QString& name);
  /// Whether nobody needs it: this process, or one of this machine that is gone, has made it. Of others it is not known, nor of those in
  /// another container of this machine, whose processes have other numbers.
  static bool is_left_over(const QString& name);

 private:
  const QString name_;
};

/// Whoever made one that is older does not need it either: who does touches it in time, or writes to it.
inline constexpr qint64 brief_file_s_max = 600;

}  // namespace n2nq::app
