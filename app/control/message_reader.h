// SPDX-License-Identifier: GPL-3.0-or-later
// Bytes of a process's stdout to control messages, on a thread of its own: a line may be tens of MiB, and no event loop may stand still for
// it.
//
// Lines before the first JSON object are the noise of a login shell and are skipped. Where there was one, the program marks its lines
// (broker/net/control_channel.h): whatever is not marked was said by what a login script left in the background, and is skipped at any time.
// Whatever else is not a message is nonsense, said once; nothing is read after that.
#pragma once

#include <QByteArray>
#include <QObject>
#include <QString>
#include <atomic>
#include <exception>
#include <memory>

#include "app/control/control_message.h"
#include "app/control/message_parts.h"

namespace n2nq::app {

using SharedMessage = std::shared_ptr<const ControlMessage>;

class MessageReader : public QObject {
  Q_OBJECT
 public:
  static constexpr qsizetype line_bytes_max = 256 << 20;  // as much as a process keeps for a bench that does not read
  static constexpr qsizetype noise_bytes_max = 4 << 20;
  /// Messages that somebody holds, or that wait for their taker's thread, and the lines that they were: a process says a few a second.
  static constexpr int held_max = 10'000;
  static constexpr qsizetype held_bytes_max = 2 * line_bytes_max;
  explicit MessageReader(bool behind_login = false) : behind_login_(behind_login) {}
  /// How a line is told that is no message, because of `error`.
  static QString told(const QByteArray& line, const std::exception& error);

 public slots:
  void feed(const QByteArray& bytes);
  /// The stream has ended: answered with drained behind all messages.
  void end();

 signals:
  void message(const n2nq::app::SharedMessage& message);
  void nonsense(const QString& what);
  /// It says more than anybody takes. Nothing is read after that either.
  void too_much(const QString& what);
  void drained();

 private:
  void take_line(const QByteArray& line);
  void take_noise(const QByteArray& line);
  void take_whole(const QByteArray& line);
  void refuse(const QString& what);
  void end_reading();

  QByteArray open_line_;
  MessageParts parts_;
  const bool behind_login_;
  qsizetype noise_bytes_ = 0;
  struct Held {
    std::atomic<int> messages = 0;
    std::atomic<qsizetype> bytes = 0;
  };
  const std::shared_ptr<Held> held_ = std::make_shared<Held>();  // as long as any of them
  bool in_protocol_ = false;
  bool refused_ = false;
};

}  // namespace n2nq::app
