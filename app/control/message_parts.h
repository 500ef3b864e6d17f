// SPDX-License-Identifier: GPL-3.0-or-later
// Long messages of a program behind a login come in parts (broker/net/control_channel.h), between which lines of others may stand.
#pragma once

#include <QByteArray>
#include <optional>

#include "broker/net/control_channel.h"

namespace n2nq::app {

class MessageParts {
 public:
  /// A line that is no part, as it is; with the last part of a message all of it. None: there is more to come.
  std::optional<QByteArray> take(const QByteArray& line) {
    const qsizetype begin = line.indexOf(net::part_begin);
    if (begin < 0) return line;
    QByteArray text = line.mid(begin + 1);
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
