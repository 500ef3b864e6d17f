// SPDX-License-Identifier: GPL-3.0-or-later
// A process's stdout as the bench reads it: bytes to lines to control messages, in whatever pieces they come.
//   byte 0  how long the pieces are, and by its highest bit whether a shell on the way may say something in between; the rest is the stream
#include <algorithm>
#include <string>
#include <vector>

#include "app/control/message_reader.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace n2nq;

struct Read {
  std::vector<size_t> messages;  // which kind each is
  std::string nonsense;
  bool operator==(const Read&) const = default;
};

Read read(const QByteArray& stream, bool behind_login, qsizetype piece_bytes) {
  app::MessageReader reader(behind_login);
  Read seen;
  bool drained = false;
  QObject::connect(&reader, &app::MessageReader::message, [&](const app::SharedMessage& message) {
    fuzz::require(seen.nonsense.empty(), "nothing is read behind nonsense");
    seen.messages.push_back(message->index());
  });
  QObject::connect(&reader, &app::MessageReader::nonsense, [&](const QString& what) {
    fuzz::require(seen.nonsense.empty() && !what.isEmpty(), "nonsense is said once, and what it is");
    seen.nonsense = what.toStdString();
  });
  QObject::connect(&reader, &app::MessageReader::drained, [&] { drained = true; });
  for (qsizetype at = 0; at < stream.size(); at += piece_bytes) reader.feed(stream.mid(at, piece_bytes));
  reader.end();
  fuzz::require(drained, "the end is answered");
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const QByteArray stream(reinterpret_cast<const char*>(data + 1), static_cast<qsizetype>(size - 1));
  const bool behind_login = (data[0] & 0x80) != 0;
  fuzz::require(read(stream, behind_login, 1 + (data[0] & 0x7f)) == read(stream, behind_login, std::max<qsizetype>(1, stream.size())),
                "pieces make no difference");
  return 0;
}
