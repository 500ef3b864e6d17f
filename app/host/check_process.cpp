// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/check_process.h"

#include <optional>

#include "app/control/message_reader.h"
#include "app/host/check_cells.h"
#include "broker/net/parsed_json.h"

namespace n2nq::app {

namespace {

using Json = nlohmann::json;

constexpr qsizetype line_bytes_max = 1 << 20;

/// `error`: what it said itself.
QString end_text(const ProcessExit& how, const QString& error) {
  if (!how.lost.isEmpty()) return how.lost;
  if (!error.isEmpty()) return error;
  return how.last_lines.isEmpty() ? QString("it ended with exit code %1").arg(how.code) : how.last_lines.back();
}

}  // namespace

CheckProcess::CheckProcess(std::unique_ptr<Launcher> launcher, const QString& program, std::function<Json(Launcher&)> configure, Said said,
                           Over over)
    : launcher_(std::move(launcher)), said_(std::move(said)), over_(std::move(over)) {
  Launcher* const here = launcher_.get();
  QObject::connect(here, &Launcher::file_put, here, [here, program] { here->start(program); });
  QObject::connect(here, &Launcher::started, here, [this, here, configure] { send(configure(*here)); });
  QObject::connect(here, &Launcher::output, here, [this](const QByteArray& bytes) { take(bytes); });
  QObject::connect(here, &Launcher::failed, here, [this](const QString& why) { over_(why); });
  QObject::connect(here, &Launcher::gone, here, [this](const ProcessExit& how) { over_(end_text(how, error_)); });
  here->put_file(program);
}

void CheckProcess::send(const Json& object) {
  launcher_->write(QByteArray::fromStdString(object.dump()) + '\n');
}

void CheckProcess::renew_lease() {
  launcher_->write("\n");
}

void CheckProcess::take(const QByteArray& bytes) {
  line_ += bytes;
  for (qsizetype end = line_.indexOf('\n'); end >= 0; end = line_.indexOf('\n')) {
    const bool behind_login = launcher_->is_behind_login();
    const QByteArray first = line_.left(end);
    line_.remove(0, end + 1);
    if (behind_login && !MessageParts::is_marked(first)) continue;
    const std::optional<QByteArray> whole = behind_login ? parts_.take(first) : std::optional(first);
    if (!whole) continue;
    const QByteArray& line = *whole;
    const Json object = net::parsed_json(line);
    if (!object.is_object()) continue;
    if (object.value("type", Json()) == "error") error_ = text_in(object, "message");
    try {
      said_(object);
    } catch (const Json::exception& error) {
      return give_up("it said something that is no control message: " + MessageReader::told(line, error));
    }
  }
  if (line_.size() > line_bytes_max) line_.clear();
  if (parts_.bytes() > line_bytes_max) parts_.clear();
}

void CheckProcess::give_up(const QString& why) {
  launcher_->disconnect();
  launcher_->kill();
  over_(why);
}

}  // namespace n2nq::app
