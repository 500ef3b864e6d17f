// SPDX-License-Identifier: GPL-3.0-or-later
// What a person wrote beside a result: note.json in its folder, {"format": 1, "note": "…", "tags": ["…"]}. The result itself is not
// touched.
#pragma once

#include <QString>
#include <QStringList>

namespace n2nq::app {

struct ResultNote {
  static constexpr int note_letters_max = 2000, tags_max = 20, tag_letters_max = 40;
  QString note;
  QStringList tags;  // each once, in the order of typing
  bool operator==(const ResultNote&) const = default;
};

/// Nothing written, or not readable: an empty one.
ResultNote read_note(const QString& folder);
/// An empty note removes the file. Empty result: done; otherwise what went wrong, with the path.
QString write_note(const QString& folder, const ResultNote& note);
/// "slow disk, before" → {"slow disk", "before"}, cut to what is allowed.
QStringList tags_from(const QString& text);

}  // namespace n2nq::app
