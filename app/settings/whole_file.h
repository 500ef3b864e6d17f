// SPDX-License-Identifier: GPL-3.0-or-later
// Files that are read whole, where somebody else may have put anything in their place, and written whole. Any thread.
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

/// Writes beside, syncs, renames. A link stays, and what it leads to is written so. Without permissions it has those of the file that was
/// there, or of a new one. Empty result: done; otherwise what went wrong, with the path.
QString write_whole(const QString& path, const QByteArray& bytes, std::optional<QFileDevice::Permissions> permissions = std::nullopt);
/// To a file that is open unbuffered. A disk that becomes full takes a part, and says why not the rest when that is offered: then false, with
/// the reason in the file's errorString().
bool write_all(QFileDevice& file, const QByteArray& bytes);

}  // namespace n2nq::app
