// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/path_check.h"

#include <utility>

#include "app/control/control_message.h"
#include "app/host/check_cells.h"

namespace n2nq::app {

namespace {

using Json = nlohmann::json;

constexpr int way_ms = 5'000;  // from a receiver's hello to its connection

QString place_text(const PlaceCheck& place) {
  return QString("%1 port %2").arg(QString::fromStdString(place.address())).arg(place.port());
}

}  // namespace

PathCheck::PathCheck(const CheckTerms& terms, const PlaceCheck& from, std::vector<const PlaceCheck*> to)
    : terms_(terms), from_(from), to_(std::move(to)), tried_itself_(to_ == std::vector{&from}) {
  deadline_.setSingleShot(true);
  connect(&deadline_, &QTimer::timeout, this, [this] {
    const QString name = QString::fromStdString(this->to().name());
    end_way(not_good_cell(CheckState::bad, "no answer",
                          QString("No connection from %1 to %2 (%3) within %4 s")
                              .arg(QString::fromStdString(from_.name()), name, place_text(this->to()))
                              .arg(way_ms / 1000),
                          QString("Is the data address of %1 right, and does a firewall let the port through?").arg(name)));
  });
}

void PathCheck::renew_lease() {
  if (receiver_) receiver_->renew_lease();
}

void PathCheck::next() {
  // Where all ways have failed it connects to itself: that tells the floor.
  if (to_.empty() && !floor_known_ && !std::exchange(tried_itself_, true)) to_.push_back(&from_);
  if (to_.empty()) return emit over();
  connected_ = ended_ = false;
  round_trip_us_ = -1;
  const auto configure = [this](Launcher&) {
    return Json{{"type", "configure"},
                {"control", control_version},
                {"run", "check"},
                {"role", "receivers"},
                {"token", terms_.token},
                {"system", "n2nq"},
                {"services", {{"first", from_.number()}, {"last", from_.number()}, {"total", terms_.places}}},
                {"senders_total", 1},
                {"warmup_messages", 0},
                {"queue_mode", "broadcaster"},
                {"log", {{"mode", "off"}, {"sample_every", 1}, {"folder", ""}, {"header", Json::object()}}},
                {"staging_folder", "/dev/shm"}};
  };
  receiver_ = std::make_unique<CheckProcess>(
      from_.launcher(), "n2nq-receivers", configure, [this](const Json& message) { on_message(message); },
      [this](const QString& why) {
        end_way(not_good_cell(CheckState::bad, "failed", "The receiver there failed: " + why,
                              "Look at that machine for what ends processes there (memory, limits, an administrator), and check again"));
      });
}

void PathCheck::send_connect() {
  receiver_->send({{"type", "connect"}, {"address", to().address()}, {"port", to().port()}, {"transport", "tcp"}, {"clock", "probed"}});
}

void PathCheck::on_message(const Json& message) {
  if (ended_) return;
  const std::string type = message.value("type", ""), state = message.value("state", "");
  if (type == "hello") {
    deadline_.start(way_ms);  // from here on: the program may have had to come over a slow link
    return send_connect();
  }
  if (type == "clock") on_clock(message);
  if (type == "state" && state == "connected") on_connected(message);
  if (type == "state" && state == "failed") {
    return end_way(not_good_cell(CheckState::bad, "refused", text_in(message, "message"),
                                 QString("Does something else answer at %1, or a firewall in its place? Let the port through, or choose another one")
                                     .arg(place_text(to()))));
  }
  if (!connected_ || round_trip_us_ < 0) return;
  end_way(good_cell(text_of_us(round_trip_us_), round_trip_us_, "The smallest round trip to " + place_text(to())));
}

void PathCheck::on_clock(const Json& message) {
  round_trip_us_ = number_in(message, "round_trip_min_ns", -1) / 1000;
  // The line leads from the clock of the receiver's machine to that of N2NQ's.
  const Json line = message.value("line", Json::object()), bound = message.value("bound", Json::object());
  emit clock_found(to(), number_in(line, "offset_ns", 0) / 1000,
                   (number_in(bound, "asymmetry_ns", 0) + number_in(bound, "estimation_ns", 0)) / 1000);
}

void PathCheck::on_connected(const Json& message) {
  connected_ = true;
  const auto floor = message.find("floor");
  if (floor_known_ || floor == message.end() || !floor->is_object()) return;
  floor_known_ = true;
  const double floor_us = number_in(*floor, "loopback_echo_p50_ns", -1) / 1000;
  emit floor_found(floor_us < 0 ? not_known_cell("It does not say")
                                : good_cell(text_of_us(floor_us), floor_us, "The round trip of a loopback connection there, p50"));
}

void PathCheck::end_way(const CheckCell& cell) {
  if (std::exchange(ended_, true)) return;
  deadline_.stop();
  emit found(to(), cell);
  // What led here may be the receiver's own signal.
  QTimer::singleShot(0, this, [this] {
    receiver_.reset();
    to_.pop_back();
    next();
  });
}

}  // namespace n2nq::app
