// SPDX-License-Identifier: GPL-3.0-or-later
// The lines of a program behind a login are marked, and long ones come in parts (broker/net/control_channel.h), between which lines of others may
// stand: of what a login script left in the background, which has the same stream.
#pragma once

#include <QByteArray>
#include <optional>

#include "broker/net/control_channel.h"

namespace n2nq::app {

class MessageParts {
 public:
  /// Whether the program said it, and not somebody else.
  static bool is_marked(const QByteArray& line) { return line.contains(net::part_begin); }
  /// Of a marked line; with the last part of a message all of it. None: there is more to come. Before the mark may stand what somebody else
  /// wrote without the end of a line.
  std::optional<QByteArray> take(const QByteArray& line) {
    QByteArray text = line.mid(line.lastIndexOf(net::part_begin) + 1);
    const bool is_last = text.endsWith(net::last_part_end);
    if (is_last) text.chop(1);
    parts_ += text;
    if (!is_last) return {};
    QByteArray whole;
    whole.swap(parts_);
    return whole;
  }
  /// Of the parts that wait for their last one.
  qsizetype bytes() const { return parts_.size(); }
  void clear() { parts_.clear(); }

 private:
  QByteArray parts_;
};

}  // namespace n2nq::app
