// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/host_check.h"

#include <QRandomGenerator>
#include <algorithm>

#include "app/host/check_cells.h"

namespace n2nq::app {

namespace {

constexpr int lease_ms = 2'000;

std::string random_token() {
  quint32 words[8];
  QRandomGenerator::system()->fillRange(words);
  return QByteArray(reinterpret_cast<const char*>(words), sizeof words).toHex().toStdString();
}

}  // namespace

HostCheck::HostCheck(HostPool& pool, QObject* parent, int limit_ms, int sending_ms)
    : HostChecker(parent), pool_(pool), limit_ms_(limit_ms), sending_ms_(sending_ms) {
  deadline_.setSingleShot(true);
  connect(&deadline_, &QTimer::timeout, this, &HostCheck::give_up);
  connect(&pool_.questions(), &OpenQuestions::asking, this, [this](bool asked) {
    if (asked) {
      deadline_.stop();
    } else if (checking_) {
      begin_limit();
    }
  });
  clocks_timer_.setSingleShot(true);
  connect(&clocks_timer_, &QTimer::timeout, this, &HostCheck::tell_clocks);
  connect(&lease_, &QTimer::timeout, this, [this] {
    for (const auto& place : places_) place->renew_lease();
    for (const auto& way : ways_) way->renew_lease();
  });
}

HostCheck::~HostCheck() {
  forget();
}

void HostCheck::check(const Hosts& hosts, int port) {
  checking_ = true;
  ++round_;
  forget();
  reports_.clear();
  paths_.clear();
  clock_ways_.clear();
  since_begun_.start();
  left_out_.clear();
  readdressed_.clear();
  terms_ = {random_token(), port, hosts.hosts.size() + 1};
  pool_.connect_anew();  // whether one is reached and let in shows by that alone
  add(std::make_unique<PlaceCheck>(pool_, terms_, hosts.local_data_address, 1));
  for (const Host& host : hosts.hosts) add(std::make_unique<PlaceCheck>(pool_, terms_, host, places_.size() + 1));
  for (const auto& from : places_) {
    reports_[from->name()] = from->report();
    for (const auto& to : places_) {
      if (from != to) paths_[{from->name(), to->name()}].state = CheckState::checking;
    }
  }
  sending_left_ms_ = sending_ms_;
  if (!pool_.questions().any()) begin_limit();
  lease_.start(lease_ms);
  emit changed();
  for (const auto& place : places_) place->begin();
}

void HostCheck::add(std::unique_ptr<PlaceCheck> place) {
  connect(place.get(), &PlaceCheck::changed, this, [this, it = place.get()] { on_place_changed(*it); });
  connect(place.get(), &PlaceCheck::sending, this, &HostCheck::on_sending);
  connect(place.get(), &PlaceCheck::ready, this, &HostCheck::go_on);
  connect(place.get(), &PlaceCheck::asks, this, &HostCheck::go_on);
  places_.push_back(std::move(place));
}

void HostCheck::on_place_changed(const PlaceCheck& place) {
  if (!checking_) return;
  HostReport& report = reports_[place.name()];
  report.now = place.report().now;
  report.lets_through = place.lets_in() && is_jump(place);
  for (std::size_t i = 0; i < check_items_count; ++i) {
    // What is still being looked at there may have been found out from elsewhere.
    const CheckCell& cell = place.report().cells[i];
    const bool is_reach = static_cast<CheckItem>(i) == CheckItem::reach;  // that others need, too
    if (cell.state != CheckState::checking) report.cells[i] = is_reach ? cell : eased(place, cell);
  }
  emit changed();
}

void HostCheck::begin_limit() {
  deadline_.start(limit_ms_);
  since_sent_.start();
}

/// What gets on gives back the time since the last sign of it, at most what a call to a host may take: longer it gets on nowhere.
void HostCheck::on_sending() {
  if (!checking_ || !deadline_.isActive()) return;
  const qint64 given_ms = std::min({since_sent_.restart(), qint64{sftp_call_ms_max}, sending_left_ms_});
  sending_left_ms_ -= given_ms;
  deadline_.start(deadline_.remainingTime() + static_cast<int>(given_ms));
}

void HostCheck::give_up() {
  for (auto& [name, report] : reports_) {
    for (CheckCell& each : report.cells) {
      if (each.state == CheckState::checking) each = too_long_cell({name}, reports_);
    }
  }
  for (auto& [ends, path] : paths_) {
    if (path.state == CheckState::checking) path = too_long_cell({ends.first, ends.second}, reports_);
  }
  finish();
}

bool HostCheck::is_jump(const PlaceCheck& place) const {
  return std::any_of(places_.begin(), places_.end(), [&](const auto& other) {
    const auto& jumps = other->jumps();
    return std::any_of(jumps.begin(), jumps.end(), [&](const SshHostConfig& jump) { return place.is_called(jump); });
  });
}

/// Who lets others through does that also where nothing can be run.
CheckCell HostCheck::eased(const PlaceCheck& place, CheckCell cell) const {
  if (cell.state != CheckState::bad || !place.lets_in() || !is_jump(place)) return cell;
  cell.state = CheckState::warning;
  cell.what_to_do.prepend("Others are reached through it, which needs none of this. If something is to run there: ");
  return cell;
}

/// The ways among those that are through, unless some are being tried.
void HostCheck::go_on() {
  if (!checking_ || ways_left_ > 0) return;
  const auto all = [this](auto is_so) { return std::all_of(places_.begin(), places_.end(), [&](const auto& each) { return is_so(*each); }); };
  if (!all([](const PlaceCheck& place) { return place.is_ready() || place.waits_for_person(); })) return;
  begin_ways();
  if (ways_left_ == 0 && all([](const PlaceCheck& place) { return place.is_ready(); })) finish();
}

/// One machine under two names has its port once.
void HostCheck::tell_same() {
  for (const auto& place : places_) {
    if (place->taken_address().empty()) continue;
    const auto same = std::find_if(places_.begin(), places_.end(), [&](const auto& other) {
      return other != place && !other->unreachable() && other->port() == terms_.port && other->address() == place->taken_address();
    });
    if (same != places_.end()) place->note_same_as(**same);
  }
}

void HostCheck::begin_ways() {
  tell_same();
  const std::size_t tried = ways_.size();
  for (const auto& from : places_) {
    if (!from->is_ready()) continue;
    CheckCell& clock = reports_[from->name()].of(CheckItem::clock);
    if (from->unreachable() && clock.state == CheckState::checking)
      clock = not_known_cell("No way there from this machine: " + from->unreachable()->detail);
    auto to = to_try_from(*from);
    if (!to.empty()) add_ways(*from, std::move(to));
  }
  emit changed();
  ways_left_ = ways_.size() - tried;
  for (std::size_t i = tried; i < ways_.size(); ++i) ways_[i]->begin();
}

/// What cannot be tried is said at once; what was tried is not tried again.
std::vector<const PlaceCheck*> HostCheck::to_try_from(const PlaceCheck& from) {
  std::vector<const PlaceCheck*> out;
  bool others_come = false;
  for (const auto& to : places_) {
    if (to.get() == &from) continue;
    CheckCell& path = paths_[{from.name(), to->name()}];
    others_come |= !to->is_ready();
    if (path.state != CheckState::checking || !to->is_ready()) continue;
    if (!from.runs_programs() || !to->runs_programs()) {
      const std::string& name = from.runs_programs() ? to->name() : from.name();
      path = not_known_cell(QString("Not looked at: %1 is not ready").arg(QString::fromStdString(name)));
    } else if (to->unreachable()) {
      path = eased(*to, *to->unreachable());
    } else {
      out.push_back(to.get());
    }
  }
  // Who connects to nobody else tells the floor by itself.
  const bool floor_comes = others_come || reports_[from.name()].of(CheckItem::floor).state != CheckState::checking;
  if (out.empty() && from.runs_programs() && !floor_comes) out.push_back(&from);
  return out;
}

void HostCheck::add_ways(PlaceCheck& from, std::vector<const PlaceCheck*> to) {
  ways_.push_back(std::make_unique<PathCheck>(terms_, from, std::move(to)));
  const PathCheck* way = ways_.back().get();
  connect(way, &PathCheck::found, this, [this, &from](const PlaceCheck& there, const CheckCell& cell) {
    if (!checking_) return;
    const bool well = cell.state == CheckState::good;
    const auto explain = [&](const PlaceCheck& place, CheckItem item, const QString& why) {
      CheckCell& left = reports_[place.name()].of(item);
      if (!well && left.state == CheckState::checking) left = not_known_cell(why + cell.detail);
    };
    if (&from == &there) return explain(from, CheckItem::floor, {});
    paths_[{from.name(), there.name()}] = eased(from, eased(there, cell));
    if (from.is_local()) explain(there, CheckItem::clock, "No way there from this machine: ");
    emit changed();
  });
  connect(way, &PathCheck::clock_found, this, [this, &from](const PlaceCheck& there, double offset_us, double bound_us) {
    if (checking_ && &from != &there) add_clock_way({from.name(), there.name(), offset_us, bound_us, since_begun_.elapsed()});
  });
  connect(way, &PathCheck::floor_found, this, [this, &from](const CheckCell& cell) {
    if (checking_) reports_[from.name()].of(CheckItem::floor) = cell;
  });
  from.note_ways(true);
  connect(way, &PathCheck::over, this, [this, &from] {
    from.note_ways(false);
    if (checking_ && --ways_left_ == 0) go_on();
  });
}

/// Where this machine reaches nobody, behind a jump host perhaps, others that it reaches do.
void HostCheck::add_clock_way(const ClockWay& way) {
  clock_ways_[{way.from, way.to}] = way;
  if (!clocks_timer_.isActive()) clocks_timer_.start(0);
}

void HostCheck::tell_clocks() {
  if (!checking_) return;
  const auto local = std::find_if(places_.begin(), places_.end(), [](const auto& place) { return place->is_local(); });
  std::vector<ClockWay> ways;
  for (const auto& [ends, way] : clock_ways_) ways.push_back(way);
  for (const auto& [name, clock] : clock_offsets((*local)->name(), ways)) {
    if (name != (*local)->name()) reports_[name].of(CheckItem::clock) = clock_cell(clock);
  }
  emit changed();
}

void HostCheck::fill_rest(CheckState state, const QString& why) {
  const auto fill = [&](CheckCell& each) {
    if (each.state == CheckState::checking)
      each = {state, state == CheckState::not_known ? QString("unknown") : QString(), why, {}, {}};
  };
  for (auto& [name, report] : reports_) std::for_each(report.cells.begin(), report.cells.end(), fill);
  for (auto& [pair, path] : paths_) fill(path);
}

void HostCheck::cancel() {
  if (!checking_) return;
  fill_rest(CheckState::not_checked, {});
  finish();
}

void HostCheck::leave_out(const std::string& name) {
  left_out_.insert(name);
  if (!checking_) {
    drop_left_out();
    return emit changed();
  }
  // As long as one is not through nobody else has to do with it. What the others still find out about one that is goes at the end.
  const auto place =
      std::find_if(places_.begin(), places_.end(), [&](const auto& each) { return each->name() == name && !each->is_ready(); });
  if (place == places_.end()) return;
  places_.erase(place);
  drop_left_out();
  emit changed();
  go_on();
}

void HostCheck::forget_ways_to(const std::string& name) {
  readdressed_.insert(name);
  if (checking_) return;
  drop_left_out();
  emit changed();
}

void HostCheck::drop_left_out() {
  std::erase_if(reports_, [this](const auto& report) { return left_out_.contains(report.first); });
  std::erase_if(paths_, [this](const auto& path) {
    const auto& [from, to] = path.first;
    return left_out_.contains(from) || left_out_.contains(to) || readdressed_.contains(to);
  });
}

void HostCheck::finish() {
  if (!checking_) return;
  tell_clocks();
  checking_ = false;
  deadline_.stop();
  lease_.stop();
  for (auto& [name, report] : reports_) report.now = {};
  fill_rest(CheckState::not_known, "Nothing said it");
  for (auto& [ends, path] : paths_) {
    for (const std::string& end : {ends.first, ends.second}) {
      // Lost while the others tried it: no address and no firewall is to blame.
      const auto report = reports_.find(end);
      if (report == reports_.end() || path.state != CheckState::bad || report->second.of(CheckItem::reach).state != CheckState::bad)
        continue;
      path = not_known_cell("Not looked at: " + report->second.of(CheckItem::reach).detail);
    }
  }
  drop_left_out();
  emit changed();
  // Their processes end with their stdin; what led here may be one's signal.
  QTimer::singleShot(0, this, [this, round = round_] {
    if (round != round_) return;
    forget();
    emit checked();
  });
}

void HostCheck::forget() {
  ways_.clear();
  ways_left_ = 0;
  places_.clear();
}

}  // namespace n2nq::app
