// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/results/result_note.h"

#include <QFile>
#include <nlohmann/json.hpp>

#include "app/settings/whole_file.h"
#include "broker/net/parsed_json.h"

namespace n2nq::app {

namespace {

constexpr qint64 note_bytes_max = 1 << 16;

QString path_in(const QString& folder) {
  return folder + "/note.json";
}

}  // namespace

ResultNote read_note(const QString& folder) {
  QString ignored;
  const auto bytes = read_whole(path_in(folder), note_bytes_max, ignored);
  if (!bytes) return {};
  const auto json = net::parsed_json(*bytes);
  ResultNote out;
  if (!json.is_object()) return out;
  if (const auto note = json.find("note"); note != json.end() && note->is_string()) {
    out.note = QString::fromStdString(note->get<std::string>()).left(ResultNote::note_letters_max);
  }
  QStringList tags;
  if (const auto list = json.find("tags"); list != json.end() && list->is_array()) {
    for (const auto& tag : *list) {
      if (tag.is_string()) tags += QString::fromStdString(tag.get<std::string>());
    }
  }
  out.tags = tags_from(tags.join(','));
  return out;
}

QString write_note(const QString& folder, const ResultNote& note) {
  const QString path = path_in(folder);
  if (note == ResultNote()) {
    if (!QFile::exists(path) || QFile::remove(path)) return {};
    return "Cannot remove " + path;
  }
  nlohmann::ordered_json json = {{"format", 1}, {"note", note.note.left(ResultNote::note_letters_max).toStdString()}};
  json["tags"] = nlohmann::ordered_json::array();
  for (const QString& tag : tags_from(note.tags.join(','))) json["tags"].push_back(tag.toStdString());
  return write_whole(path, QByteArray::fromStdString(json.dump(1)) + '\n');
}

QStringList tags_from(const QString& text) {
  QStringList out;
  for (const QString& part : text.split(',', Qt::SkipEmptyParts)) {
    const QString tag = part.simplified().left(ResultNote::tag_letters_max);
    if (!tag.isEmpty() && !out.contains(tag, Qt::CaseInsensitive) && out.size() < ResultNote::tags_max) out += tag;
  }
  return out;
}

}  // namespace n2nq::app
