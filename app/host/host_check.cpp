// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/host_check.h"

#include <QRandomGenerator>
#include <algorithm>

#include "app/control/control_message.h"
#include "app/host/local_launcher.h"

namespace n2nq::app {

namespace {

using Json = nlohmann::json;

constexpr int deadline_ms = check_ms_max - 5'000;
constexpr int lease_ms = 5'000;
constexpr int path_ms = 5'000;  // from the start of a receiver to its end
constexpr qsizetype line_bytes_max = 1 << 20;
constexpr double gib = 1 << 30;
constexpr quint64 disk_warning_bytes = quint64{1} << 30, disk_bad_bytes = quint64{64} << 20;
const char* const local_name = "local";

CheckCell good(const QString& text, const Json& value, const QString& detail = {}) {
  return {CheckState::good, text, detail, {}, value};
}
CheckCell not_good(CheckState state, const QString& text, const QString& detail, const QString& what_to_do, const Json& value = {}) {
  return {state, text, detail, what_to_do.isEmpty() ? QString("See the sentence above, mend it there, and check again") : what_to_do,
          value};
}
CheckCell not_known(const QString& why) {
  return {CheckState::not_known, "unknown", why, {}, {}};
}

QString word(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? QString::fromStdString(found->get<std::string>()) : QString("unknown");
}

double number(const Json& object, const char* key, double otherwise) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : otherwise;
}

QString micro(double us) {
  return us >= 1000 ? QString("%1 ms").arg(us / 1000, 0, 'f', us >= 100'000 ? 0 : 1) : QString("%1 µs").arg(us, 0, 'f', 0);
}

std::string random_token() {
  quint32 words[8];
  QRandomGenerator::system()->fillRange(words);
  return QByteArray(reinterpret_cast<const char*>(words), sizeof words).toHex().toStdString();
}

/// Free space, for which SFTP is asked and no command of the host.
class LookAtDisk : public SshTask {
 public:
  explicit LookAtDisk(QString folder) : folder_(std::move(folder)) {}
  bool go_on(SshLink& link) override {
    space = Sftp(link).space(folder_);
    return false;
  }
  std::optional<SftpSpace> space;

 private:
  const QString folder_;
};

}  // namespace

/// One process for the check: what it says, line by line, and its end.
class HostCheck::Helper {
 public:
  Helper(std::unique_ptr<Launcher> launcher, QString program, std::function<Json(Launcher&)> configure,
         std::function<void(const Json&)> said, std::function<void(const QString&)> over)
      : launcher_(std::move(launcher)), said_(std::move(said)), over_(std::move(over)) {
    QObject::connect(launcher_.get(), &Launcher::file_put, launcher_.get(), [this, program] { launcher_->start(program); });
    QObject::connect(launcher_.get(), &Launcher::started, launcher_.get(), [this, configure] { send(configure(*launcher_)); });
    QObject::connect(launcher_.get(), &Launcher::output, launcher_.get(), [this](const QByteArray& bytes) { take(bytes); });
    QObject::connect(launcher_.get(), &Launcher::failed, launcher_.get(), [this](const QString& why) { over_(why); });
    QObject::connect(launcher_.get(), &Launcher::gone, launcher_.get(), [this](const ProcessExit& how) {
      over_(!how.lost.isEmpty()        ? how.lost
            : how.last_lines.isEmpty() ? QString("it ended with exit code %1").arg(how.code)
                                       : how.last_lines.back());
    });
    launcher_->put_file(program);
  }
  void send(const Json& object) { launcher_->write(QByteArray::fromStdString(object.dump()) + '\n'); }
  void renew_lease() { launcher_->write("\n"); }
  Launcher& launcher() { return *launcher_; }

 private:
  void take(const QByteArray& bytes) {
    line_ += bytes;
    for (qsizetype end = line_.indexOf('\n'); end >= 0; end = line_.indexOf('\n')) {
      const Json object = Json::parse(line_.constData(), line_.constData() + end, nullptr, false);
      line_.remove(0, end + 1);
      if (object.is_object()) said_(object);
    }
    if (line_.size() > line_bytes_max) line_.clear();
  }
  std::unique_ptr<Launcher> launcher_;
  std::function<void(const Json&)> said_;
  std::function<void(const QString&)> over_;
  QByteArray line_;
};

struct HostCheck::Place {
  std::string name;
  std::optional<Host> host;  // none: this machine
  std::string local_data_address;
  std::size_t number = 0;
  std::shared_ptr<LabHost> lab;
  std::unique_ptr<Helper> broker;
  std::string address;  // of N2NQ there
  int port = 0;
  bool is_ready = false, runs_programs = false;
  std::vector<Place*> to_try;        // paths from here
  std::unique_ptr<Helper> receiver;  // on its way to to_try.back()
  bool unprobed = false;             // the receiver does not know how to look at clocks
  QTimer path_deadline;
  double round_trip_us = -1;
  bool connected = false;
};

HostCheck::HostCheck(HostPool& pool, QObject* parent) : HostChecker(parent), pool_(pool) {
  deadline_.setSingleShot(true);
  connect(&deadline_, &QTimer::timeout, this, [this] {
    fill_rest(CheckState::not_known, "the check took too long");
    finish();
  });
  connect(&lease_, &QTimer::timeout, this, [this] {
    for (const auto& place : places_) {
      if (place->broker) place->broker->renew_lease();
      if (place->receiver) place->receiver->renew_lease();
    }
  });
}

HostCheck::~HostCheck() = default;

/// For what is answered later: is it still this check that goes on?
std::function<bool()> HostCheck::is_now() const {
  return [this, round = round_] { return checking_ && round == round_; };
}

HostReport& HostCheck::report(const Place& place) {
  return reports_[place.name];
}

CheckCell& HostCheck::cell(const Place& place, CheckItem item) {
  return report(place).of(item);
}

void HostCheck::check(const Hosts& hosts, int port) {
  checking_ = true;
  ++round_;
  port_ = port;
  token_ = random_token();
  reports_.clear();
  paths_.clear();
  places_.clear();
  const auto add = [this](const std::string& name, const std::optional<Host>& host) {
    auto place = std::make_unique<Place>();
    place->name = name;
    place->host = host;
    place->number = places_.size() + 1;
    places_.push_back(std::move(place));
  };
  add(local_name, std::nullopt);
  places_[0]->local_data_address = hosts.local_data_address;
  for (const Host& host : hosts.hosts) add(host.name, host);
  for (const auto& from : places_) {
    if (from->host) {
      for (CheckCell& each : report(*from).cells) each.state = CheckState::checking;
    }
    for (const auto& to : places_) {
      if (from != to) paths_[{from->name, to->name}].state = CheckState::checking;
    }
  }
  deadline_.start(deadline_ms);
  lease_.start(lease_ms);
  emit changed();
  for (const auto& place : places_) begin(*place);
}

void HostCheck::begin(Place& place) {
  if (!place.host) {
    place.runs_programs = true;
    place.address = place.local_data_address;
    if (place.address.empty()) {
      QTimer::singleShot(0, this, [this, now = is_now()] {
        if (now()) place_is_ready(*places_[0]);
      });
    } else {
      start_broker(place);
    }
    return;
  }
  place.lab = pool_.host(*place.host);
  place.lab->with_control(this, [this, &place, lab = place.lab, now = is_now()](const SshProblem& problem, SshSession* session) {
    if (!now()) return;
    if (!problem.none()) return on_host_problem(place, problem);
    cell(place, CheckItem::reach) = good("yes", true,
                                         QString("SSH at %1 port %2")
                                             .arg(session->address().isEmpty() ? lab->config().host_name : session->address())
                                             .arg(lab->config().port));
    cell(place, CheckItem::login) = good(lab->config().user, true, QString("Logged in as %1").arg(lab->config().user));
    emit changed();
    look_at_disk(place);
    start_broker(place);
  });
}

/// What could not be looked at because of it is unknown.
void HostCheck::on_host_problem(Place& place, const SshProblem& problem) {
  const auto set = [&](CheckItem item, const QString& text) {
    cell(place, item) = not_good(CheckState::bad, text, problem.why, problem.what_to_do, false);
  };
  switch (problem.kind) {
    case SshProblem::Kind::login:
      cell(place, CheckItem::reach) = good("yes", true);
      set(CheckItem::login, "refused");
      break;
    case SshProblem::Kind::files:
      set(CheckItem::folder, "no");
      break;
    case SshProblem::Kind::program:
      set(problem.why.contains("architecture") ? CheckItem::architecture : CheckItem::folder,
          problem.why.contains("noexec") ? "noexec" : "no");
      break;
    case SshProblem::Kind::host_key_unknown:
      set(CheckItem::reach, "key unknown");
      break;
    case SshProblem::Kind::host_key_changed:
      set(CheckItem::reach, "key changed");
      break;
    default:
      set(CheckItem::reach, problem.kind == SshProblem::Kind::lost ? "lost" : "no");
  }
  for (CheckCell& each : report(place).cells) {
    if (each.state == CheckState::checking && &each != &cell(place, CheckItem::disk)) each = not_known("Not looked at: " + problem.why);
  }
  if (!place.lab->control() && cell(place, CheckItem::disk).state == CheckState::checking)
    cell(place, CheckItem::disk) = not_known(problem.why);
  emit changed();
  place_is_ready(place);
}

void HostCheck::look_at_disk(Place& place) {
  auto task = std::make_shared<LookAtDisk>(".");
  const auto told = [this, &place, task, now = is_now()](const SshProblem& problem) {
    if (!now()) return;
    CheckCell& disk = cell(place, CheckItem::disk);
    if (!problem.none() || !task->space) {
      disk = not_known(problem.none() ? "Its SFTP server does not say" : problem.why);
    } else {
      const quint64 free = task->space->free_bytes;
      const QString text = free >= disk_warning_bytes ? QString("%1 GiB").arg(static_cast<double>(free) / gib, 0, 'f', 1)
                                                      : QString("%1 MiB").arg(free >> 20);
      disk = good(text, free);
      if (free < disk_warning_bytes)
        disk = not_good(free < disk_bad_bytes ? CheckState::bad : CheckState::warning, text, "There is little room on the disk",
                        "Make room there: logs of a run may need it", free);
    }
    emit changed();
  };
  place.lab->with_files(this, [this, task, told](const SshProblem& problem, SshFiles* files) {
    if (!problem.none()) return told(problem);
    files->run(task, this, told);
  });
}

void HostCheck::start_broker(Place& place) {
  const auto over = [this, &place](const QString& why) {
    if (!checking_ || place.is_ready) return;
    on_host_problem(place, {SshProblem::Kind::files, QString::fromStdString(place.name) + ": N2NQ does not run there: " + why,
                            "Is the data address one of that machine, and the port free there?"});
  };
  const auto said = [this, &place](const Json& message) {
    if (!checking_) return;
    if (message.value("type", "") == "hello") on_broker_hello(place, message);
  };
  const auto configure = [this, &place](Launcher& launcher) {
    place.address = launcher.data_address().toStdString();
    return Json{{"type", "configure"},
                {"control", control_version},
                {"run", "check"},
                {"role", "broker"},
                {"token", token_},
                {"listen", {{"address", place.address}, {"port", port_}}},
                {"expect", {{"senders", 1}, {"receivers", places_.size()}}}};
  };
  const auto launch = [this, &place, said, over, configure](std::unique_ptr<Launcher> launcher) {
    place.broker = std::make_unique<Helper>(std::move(launcher), "n2nq-broker", configure, said, over);
  };
  if (!place.host)
    return launch(std::make_unique<LocalLauncher>(pool_.programs_folder(), QString::fromStdString(place.local_data_address)));
  // Put there first by itself, because then a problem says what kind it is.
  place.lab->place(pool_.programs_folder() + "/n2nq-broker", this,
                   [this, &place, launch, now = is_now()](const SshProblem& problem, const PlacedProgram&) {
                     if (!now()) return;
                     if (!problem.none()) return on_host_problem(place, problem);
                     launch(pool_.launcher(*place.host));
                   });
}

void HostCheck::on_broker_hello(Place& place, const Json& hello) {
  place.port = static_cast<int>(number(hello, "port", 0));
  place.runs_programs = true;
  if (place.host) {
    const Json facts = hello.value("host", Json::object());
    cell(place, CheckItem::architecture) = good("x86-64", "x86-64", word(facts, "cpu"));
    const QString kernel = word(facts, "kernel");
    cell(place, CheckItem::kernel) = good(kernel, kernel.toStdString());
    const double cores = number(facts, "cores", 0), load = number(facts, "load_1min", -1);
    cell(place, CheckItem::cores) = cores > 0 ? good(QString::number(cores), cores, word(facts, "cpu")) : not_known("It does not say");
    cell(place, CheckItem::load) = load < 0 ? not_known("It does not say") : good(QString::number(load, 'f', 2), load);
    if (load >= std::max(1.0, cores / 2)) {
      cell(place, CheckItem::load) =
          not_good(CheckState::warning, QString::number(load, 'f', 2), "Something else runs there, and disturbs what is measured",
                   "See with top what it is, or measure when it is over", load);
    }
    cell(place, CheckItem::folder) = good("yes", true, QString("Programs are put into %1/bin and run there").arg(place.lab->folder()));
    emit changed();
  }
  place_is_ready(place);
}

void HostCheck::place_is_ready(Place& place) {
  if (place.is_ready) return;
  place.is_ready = true;
  if (std::all_of(places_.begin(), places_.end(), [](const auto& each) { return each->is_ready; })) begin_paths();
}

void HostCheck::begin_paths() {
  for (const auto& from : places_) {
    for (const auto& to : places_) {
      if (from == to) continue;
      CheckCell& path = paths_[{from->name, to->name}];
      if (!from->runs_programs || (!to->runs_programs && to->host)) {
        path =
            not_known(QString("Not looked at: %1 is not ready").arg(QString::fromStdString(from->runs_programs ? to->name : from->name)));
      } else if (to->port == 0) {
        path = not_known("Where lab machines reach this one is not known: set local_data_address");
      } else {
        from->to_try.push_back(to.get());
      }
    }
  }
  emit changed();
  for (const auto& from : places_) {
    from->path_deadline.setSingleShot(true);
    connect(&from->path_deadline, &QTimer::timeout, this, [this, place = from.get()] {
      const QString to = QString::fromStdString(place->to_try.back()->name);
      end_path(*place, not_good(CheckState::bad, "no answer",
                                QString("No connection from %1 to %2 (%3 port %4) within %5 s")
                                    .arg(QString::fromStdString(place->name), to, QString::fromStdString(place->to_try.back()->address))
                                    .arg(place->to_try.back()->port)
                                    .arg(path_ms / 1000),
                                QString("Is the data address of %1 right, and does a firewall let the port through?").arg(to)));
    });
    next_path(*from);
  }
}

void HostCheck::next_path(Place& from) {
  if (from.to_try.empty()) {
    if (std::all_of(places_.begin(), places_.end(), [](const auto& each) { return each->to_try.empty(); })) finish();
    return;
  }
  Place& to = *from.to_try.back();
  from.connected = false;
  from.round_trip_us = -1;
  const auto configure = [this, &from](Launcher&) {
    return Json{{"type", "configure"},
                {"control", control_version},
                {"run", "check"},
                {"role", "receivers"},
                {"token", token_},
                {"system", "n2nq"},
                {"services", {{"first", from.number}, {"last", from.number}, {"total", places_.size()}}},
                {"senders_total", 1},
                {"warmup_messages", 0},
                {"queue_mode", "broadcaster"},
                {"log", {{"mode", "off"}, {"sample_every", 1}, {"folder", ""}, {"header", Json::object()}}},
                {"staging_folder", "/dev/shm"}};
  };
  const auto launcher = [&]() -> std::unique_ptr<Launcher> {
    if (from.host) return pool_.launcher(*from.host);
    return std::make_unique<LocalLauncher>(pool_.programs_folder());
  };
  from.path_deadline.start(path_ms);
  from.receiver = std::make_unique<Helper>(
      launcher(), "n2nq-receivers", configure, [this, &from, &to](const Json& message) { on_path_message(from, to, message); },
      [this, &from](const QString& why) {
        if (checking_) end_path(from, not_good(CheckState::bad, "failed", "The receiver there failed: " + why, {}));
      });
}

void HostCheck::on_path_message(Place& from, Place& to, const Json& message) {
  if (!checking_) return;
  const std::string type = message.value("type", ""), state = message.value("state", "");
  const auto connect = [&] {
    Json object = {{"type", "connect"}, {"address", to.address}, {"port", to.port}, {"transport", "tcp"}};
    if (!from.unprobed) object["clock"] = "probed";
    from.receiver->send(object);
  };
  if (type == "hello") return connect();
  if (type == "error" && !from.unprobed) {
    from.unprobed = true;
    return connect();
  }
  if (type == "clock") {
    from.round_trip_us = number(message, "round_trip_min_ns", -1) / 1000;
    const Json line = message.value("line", Json::object()), bound = message.value("bound", Json::object());
    // The line leads from this machine's clock to that of the host.
    if (!from.host && to.host) {
      const double offset_us = number(line, "offset_ns", 0) / 1000,
                   bound_us = (number(bound, "asymmetry_ns", 0) + number(bound, "estimation_ns", 0)) / 1000;
      cell(to, CheckItem::clock) =
          good(QString("%1%2 ± %3").arg(offset_us < 0 ? "−" : "+", micro(std::abs(offset_us)), micro(bound_us)), offset_us,
               QString("Its clock is %1 %2 this machine's, to within %3")
                   .arg(micro(std::abs(offset_us)), offset_us < 0 ? "behind" : "ahead of", micro(bound_us)));
    }
  }
  if (type == "state" && state == "failed") {
    return end_path(from, not_good(CheckState::bad, "refused", QString::fromStdString(message.value("message", "")), {}));
  }
  if (type == "state" && state == "connected") {
    from.connected = true;
    const auto floor = message.find("floor");
    if (from.host && floor != message.end() && floor->is_object() && cell(from, CheckItem::floor).state == CheckState::checking) {
      const double floor_us = number(*floor, "loopback_echo_p50_ns", -1) / 1000;
      cell(from, CheckItem::floor) = floor_us < 0 ? not_known("It does not say")
                                                  : good(micro(floor_us), floor_us, "The round trip of a loopback connection there, p50");
    }
  }
  if (!from.connected || (from.round_trip_us < 0 && !from.unprobed)) return;
  const QString way = QString("%1 port %2").arg(QString::fromStdString(to.address)).arg(to.port);
  end_path(from, from.round_trip_us < 0 ? good("yes", nullptr, "Connected to " + way)
                                        : good(micro(from.round_trip_us), from.round_trip_us, "The smallest round trip to " + way));
}

void HostCheck::end_path(Place& from, const CheckCell& cell) {
  from.path_deadline.stop();
  paths_[{from.name, from.to_try.back()->name}] = cell;
  from.to_try.pop_back();
  emit changed();
  // What led here may be the receiver's own signal.
  QTimer::singleShot(0, this, [this, &from, now = is_now()] {
    if (!now()) return;
    from.receiver.reset();
    next_path(from);
  });
}

void HostCheck::fill_rest(CheckState state, const QString& why) {
  const auto fill = [&](CheckCell& each) {
    if (each.state == CheckState::checking) each = {state, state == CheckState::not_known ? QString("unknown") : QString(), why, {}, {}};
  };
  for (auto& [name, report] : reports_) std::for_each(report.cells.begin(), report.cells.end(), fill);
  for (auto& [pair, path] : paths_) fill(path);
}

void HostCheck::cancel() {
  if (!checking_) return;
  fill_rest(CheckState::not_checked, {});
  finish();
}

void HostCheck::finish() {
  if (!checking_) return;
  checking_ = false;
  deadline_.stop();
  lease_.stop();
  fill_rest(CheckState::not_known, "Nothing said it");
  emit changed();
  // Their processes end with their stdin; what led here may be one's signal.
  QTimer::singleShot(0, this, [this, round = round_] {
    if (round != round_) return;
    places_.clear();
    emit checked();
  });
}

}  // namespace n2nq::app
