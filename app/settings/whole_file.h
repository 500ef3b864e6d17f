// SPDX-License-Identifier: GPL-3.0-or-later
// Files that are read whole, where somebody else may have put anything in their place. Any thread.
#pragma once

#include <QByteArray>
#include <QFile>
#include <QString>
#include <optional>

namespace n2nq::app {

/// Opens it for reading: a regular file, or a link to one, and nothing else. A pipe would be waited for for ever, a device may never end.
/// Empty result: it is open; otherwise why not, without the path.
QString open_regular(QFile& file);
/// All of it, where that is at most so many bytes; no more than that is read. Empty result: `error` says why, with the path.
std::optional<QByteArray> read_whole(const QString& path, qint64 bytes_max, QString& error);

}  // namespace n2nq::app
