// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/path_check.h"

#include <QTimer>
#include <algorithm>
#include <utility>

#include "app/control/control_message.h"
#include "app/host/check_cells.h"

namespace n2nq::app {

namespace {

using Json = nlohmann::json;

constexpr int way_ms = 5'000;     // from a receiver's hello to N2NQ's first answer to it
constexpr int clocks_ms = 20'000;  // from there to the round trip: it connects once more, and asks several times
constexpr int silent_ms = 500;     // from the hello to the connection; beyond it the next one is tried beside it
// With N2NQ itself 9 processes over one connection, of 10 that an sshd allows as a rule (MaxSessions).
constexpr std::size_t trials_most = 8;

QString place_text(const PlaceCheck& place) {
  return QString("%1 port %2").arg(QString::fromStdString(place.address()), QString::number(place.port()));
}

}  // namespace

struct PathCheck::Trial {
  explicit Trial(const PlaceCheck& place) : to(place) {
    deadline.setSingleShot(true);
    patience.setSingleShot(true);
  }
  const PlaceCheck& to;
  std::unique_ptr<CheckProcess> receiver;
  QTimer deadline, patience;
  double round_trip_us = -1;  // not known yet
  bool started = false, said_hello = false, answered = false, connected = false;
  bool silent = false;  // the next one does not wait for it
  bool ended = false;   // and about to be destroyed
};

PathCheck::PathCheck(const CheckTerms& terms, const PlaceCheck& from, std::vector<const PlaceCheck*> to)
    : terms_(terms), from_(from), to_(std::move(to)), trials_max_(trials_most), tried_itself_(to_ == std::vector{&from}) {}

PathCheck::~PathCheck() = default;

void PathCheck::renew_lease() {
  for (const auto& trial : trials_) trial->receiver->renew_lease();
}

void PathCheck::next() {
  if (trials_.empty()) {
    // Where all ways have failed it connects to itself: that tells the floor.
    if (to_.empty() && !floor_known_ && !std::exchange(tried_itself_, true)) to_.push_back(&from_);
    if (to_.empty()) return emit over();
  }
  const bool waits = std::any_of(trials_.begin(), trials_.end(), [](const auto& trial) { return !trial->silent; });
  if (to_.empty() || waits || trials_.size() >= trials_max_) return;
  const PlaceCheck& to = *to_.back();
  to_.pop_back();
  begin_trial(to);
}

void PathCheck::begin_trial(const PlaceCheck& to) {
  Trial& trial = *trials_.emplace_back(std::make_unique<Trial>(to));
  connect(&trial.deadline, &QTimer::timeout, this, [this, &trial] {
    const QString name = QString::fromStdString(trial.to.name());
    if (trial.answered) {
      return end_way(trial, not_good_cell(CheckState::bad, "too slow",
                                          QString("%1 reaches %2 (%3), but their clocks could not be compared within %4 s")
                                              .arg(QString::fromStdString(from_.name()), name, place_text(trial.to))
                                              .arg(clocks_ms / 1000),
                                          "See with ping what that way takes, and how much of it is lost"));
    }
    end_way(trial, not_good_cell(CheckState::bad, "no answer",
                                 QString("No connection from %1 to %2 (%3) within %4 s")
                                     .arg(QString::fromStdString(from_.name()), name, place_text(trial.to))
                                     .arg(way_ms / 1000),
                                 QString("Is the data address of %1 right, and does a firewall let the port through?").arg(name)));
  });
  connect(&trial.patience, &QTimer::timeout, this, [this, &trial] {
    trial.silent = true;
    next();
  });
  const auto configure = [this, &trial](Launcher&) {
    trial.started = true;
    return Json{{"type", "configure"},
                {"control", control_version},
                {"run", "check"},
                {"role", "receivers"},
                {"token", trial.to.token()},
                {"system", "n2nq"},
                {"services", {{"first", from_.number()}, {"last", from_.number()}, {"total", terms_.places}}},
                {"senders_total", 1},
                {"warmup_messages", 0},
                {"queue_mode", "broadcaster"},
                {"log", {{"mode", "off"}, {"sample_every", 1}, {"folder", ""}, {"header", Json::object()}}},
                {"staging_folder", "/dev/shm"}};
  };
  trial.receiver = std::make_unique<CheckProcess>(
      from_.launcher(), "n2nq-receivers", configure, [this, &trial](const Json& message) { on_message(trial, message); },
      [this, &trial](const QString& why) { on_receiver_over(trial, why); });
}

void PathCheck::on_message(Trial& trial, const Json& message) {
  if (trial.ended) return;
  const std::string type = message.value("type", ""), state = message.value("state", "");
  if (type == "hello") return on_hello(trial);
  if (type == "clock") on_clock(trial, message);
  if (type == "state" && state == "waiting" && message.contains("broker_now_ns") && message["broker_now_ns"].is_number()) on_answered(trial);
  if (type == "state" && state == "connected") on_connected(trial, message);
  if (type == "state" && state == "failed") {
    return end_way(trial, not_good_cell(CheckState::bad, "refused", text_in(message, "message"),
                                        QString("Does something else answer at %1, or a firewall in its place? Let the port through, or "
                                                "choose another one")
                                            .arg(place_text(trial.to))));
  }
  if (!trial.connected || trial.round_trip_us < 0) return;
  end_way(trial, good_cell(text_of_us(trial.round_trip_us), trial.round_trip_us, "The smallest round trip to " + place_text(trial.to)));
}

void PathCheck::on_hello(Trial& trial) {
  trial.said_hello = true;
  // From here on: the program may have had to come over a slow link.
  trial.deadline.start(way_ms);
  trial.patience.start(silent_ms);
  trial.receiver->send(
      {{"type", "connect"}, {"address", trial.to.address()}, {"port", trial.to.port()}, {"transport", "tcp"}, {"clock", "probed"}});
}

void PathCheck::on_answered(Trial& trial) {
  if (!std::exchange(trial.answered, true)) trial.deadline.start(clocks_ms);
}

void PathCheck::on_clock(Trial& trial, const Json& message) {
  trial.round_trip_us = number_in(message, "round_trip_min_ns", -1) / 1000;
  // The line leads from the clock of the receiver's machine to that of N2NQ's.
  const Json line = message.value("line", Json::object()), bound = message.value("bound", Json::object());
  emit clock_found(trial.to, number_in(line, "offset_ns", 0) / 1000,
                   (number_in(bound, "asymmetry_ns", 0) + number_in(bound, "estimation_ns", 0)) / 1000);
}

void PathCheck::on_connected(Trial& trial, const Json& message) {
  trial.connected = true;
  const auto floor = message.find("floor");
  if (floor_known_ || floor == message.end() || !floor->is_object()) return;
  floor_known_ = true;
  emit floor_found(floor_cell(*floor));
}

void PathCheck::on_receiver_over(Trial& trial, const QString& why) {
  if (trial.ended) return;
  const auto under_way = static_cast<std::size_t>(std::count_if(trials_.begin(), trials_.end(), [](const auto& each) { return !each->ended; }));
  if (!trial.said_hello && under_way > 1) {
    // Perhaps its sshd allows no more processes at a time.
    trials_max_ = under_way - 1;
    to_.push_back(&trial.to);
    return end_trial(trial);
  }
  if (!trial.started)
    return end_way(trial, not_good_cell(CheckState::bad, "failed", "The receiver there could not be started: " + why, mend_what_is_said));
  end_way(trial, not_good_cell(CheckState::bad, "failed", "The receiver there failed: " + why,
                               "Look at that machine for what ends processes there (memory, limits, an administrator), and check again"));
}

void PathCheck::end_way(Trial& trial, const CheckCell& cell) {
  if (trial.ended) return;
  emit found(trial.to, cell);
  end_trial(trial);
}

void PathCheck::end_trial(Trial& trial) {
  trial.ended = true;
  trial.deadline.stop();
  trial.patience.stop();
  // What led here may be the receiver's own signal.
  QTimer::singleShot(0, this, [this, &trial] {
    std::erase_if(trials_, [&](const auto& each) { return each.get() == &trial; });
    next();
  });
}

}  // namespace n2nq::app
