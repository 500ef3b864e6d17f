// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/control/message_reader.h"

#include <algorithm>
#include <optional>

#include "broker/net/parsed_json.h"

namespace n2nq::app {

namespace {

QString excerpt(const QByteArray& line) {
  constexpr qsizetype chars_max = 120;
  const QString text = QString::fromUtf8(line.left(chars_max));
  return line.size() > chars_max ? text + "…" : text;
}

QString too_long() {
  return QString("a line of more than %1 MiB").arg(MessageReader::line_bytes_max >> 20);
}

}  // namespace

void MessageReader::feed(const QByteArray& bytes) {
  if (refused_) return;
  qsizetype from = 0;
  for (qsizetype newline = bytes.indexOf('\n'); newline >= 0; newline = bytes.indexOf('\n', from)) {
    open_line_ += QByteArray::fromRawData(bytes.constData() + from, newline - from);
    from = newline + 1;
    QByteArray line;
    line.swap(open_line_);
    take_line(line);
    if (refused_) return;
  }
  open_line_ += bytes.mid(from);
  if (open_line_.size() > line_bytes_max) refuse(too_long());
}

void MessageReader::end() {
  // A last line without its newline was cut off in the middle: it is no message.
  open_line_.clear();
  emit drained();
}

void MessageReader::take_line(const QByteArray& line) {
  if (line.trimmed().isEmpty()) return;
  if (behind_login_ && !MessageParts::is_marked(line)) return take_noise(line);
  const std::optional<QByteArray> whole = behind_login_ ? parts_.take(line) : std::optional(line);
  if (std::max(parts_.bytes(), whole ? whole->size() : 0) > line_bytes_max) return refuse(too_long());
  if (whole) take_whole(*whole);
}

void MessageReader::take_noise(const QByteArray& line) {
  if (in_protocol_) return;
  noise_bytes_ += line.size();
  if (noise_bytes_ > noise_bytes_max) refuse(QString("more than %1 MiB before its hello").arg(noise_bytes_max >> 20));
}

void MessageReader::take_whole(const QByteArray& line) {
  nlohmann::json object = net::parsed_json(line);
  if (!object.is_object()) {
    const bool is_the_programs = behind_login_ || in_protocol_;
    return is_the_programs ? refuse("\"" + excerpt(line) + "\"") : take_noise(line);
  }
  in_protocol_ = true;
  if (held_->messages >= held_max || held_->bytes + line.size() > held_bytes_max) {
    end_reading();
    return emit too_much(QString("said more than this bench takes: %1 messages, or %2 MiB of them, wait").arg(held_max).arg(held_bytes_max >> 20));
  }
  try {
    const auto let_go = [held = held_, bytes = line.size()](const ControlMessage* told) {
      delete told;
      --held->messages;
      held->bytes -= bytes;
    };
    const SharedMessage told(new ControlMessage(decode_message(std::move(object))), let_go);
    ++held_->messages;
    held_->bytes += line.size();
    emit message(told);
  } catch (const std::exception& error) {
    refuse(told(line, error));
  }
}

QString MessageReader::told(const QByteArray& line, const std::exception& error) {
  return QString("\"%1\" (%2)").arg(excerpt(line), QString::fromUtf8(error.what()));
}

void MessageReader::refuse(const QString& what) {
  end_reading();
  emit nonsense(what);
}

void MessageReader::end_reading() {
  refused_ = true;
  open_line_.clear();
  parts_.clear();
}

}  // namespace n2nq::app
