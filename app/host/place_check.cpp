// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/place_check.h"

#include <QFileInfo>
#include <QTimer>
#include <algorithm>
#include <utility>

#include "app/control/control_message.h"
#include "app/host/check_cells.h"
#include "app/host/listen_advice.h"
#include "app/host/local_launcher.h"
#include "app/host/ssh_room.h"

namespace n2nq::app {

namespace {

using Json = nlohmann::json;

constexpr double gib = 1 << 30, mib = 1 << 20;
constexpr quint64 disk_warning_bytes = quint64{1} << 30, disk_bad_bytes = quint64{64} << 20, disk_ample_bytes = quint64{10} << 30;

CheckCell disk_cell(quint64 free_bytes) {
  const bool tenths_tell = free_bytes < disk_bad_bytes || (free_bytes >= disk_warning_bytes && free_bytes < disk_ample_bytes);
  const int decimals = tenths_tell ? 1 : 0;
  const QString text = free_bytes >= disk_warning_bytes ? QString("%1 GiB").arg(static_cast<double>(free_bytes) / gib, 0, 'f', decimals)
                                                        : QString("%1 MiB").arg(static_cast<double>(free_bytes) / mib, 0, 'f', decimals);
  if (free_bytes >= disk_warning_bytes) return good_cell(text, free_bytes);
  return not_good_cell(free_bytes < disk_bad_bytes ? CheckState::bad : CheckState::warning, text, "There is little room on the disk",
                       "Make room there: logs of a run may need it", free_bytes);
}

CheckCell load_cell(double load, double cores) {
  const QString text = QString::number(load, 'f', 2);
  if (load < 0) return not_known_cell("It does not say");
  if (load < std::max(1.0, cores / 2)) return good_cell(text, load);
  return not_good_cell(CheckState::warning, text, "Something else runs there, and disturbs what is measured",
                       "See with top what it is, or measure when it is over", load);
}

}  // namespace

PlaceCheck::PlaceCheck(HostPool& pool, const CheckTerms& terms, std::optional<Host> host, std::string name, std::size_t number)
    : pool_(pool), terms_(terms), host_(std::move(host)), name_(std::move(name)), number_(number) {
  for (CheckCell& each : report_.cells) each.state = CheckState::checking;
}

PlaceCheck::PlaceCheck(HostPool& pool, const CheckTerms& terms, const Host& host, std::size_t number)
    : PlaceCheck(pool, terms, host, host.name, number) {
  lab_ = pool.host(host);
  jumps_ = pool.way_of(lab_->config().jumps);
}

PlaceCheck::PlaceCheck(HostPool& pool, const CheckTerms& terms, const std::string& data_address, std::size_t number)
    : PlaceCheck(pool, terms, std::nullopt, "local", number) {
  address_ = data_address;
  const CheckCell not_asked{CheckState::not_checked, "–", "The bench runs here: nothing has to be reached or put there", {}, {}};
  for (const CheckItem item : {CheckItem::reach, CheckItem::login, CheckItem::disk, CheckItem::folder}) cell(item) = not_asked;
  cell(CheckItem::clock) = good_cell("reference", 0.0, "The other clocks are compared with this one");
  cell(CheckItem::clock).bound_us = 0;
  if (!data_address.empty()) return;
  unreachable_ = not_known_cell("Where lab machines reach this one is not known");
  unreachable_->what_to_do =
      "Give the data address of this machine (on the page Hosts, or local_data_address in the hosts file), if N2NQ is to run here and "
      "others on lab machines";
}

bool PlaceCheck::is_called(const SshHostConfig& jump) const {
  if (!lab_ || lab_->config().port != jump.port) return false;
  return jump.name == lab_->name() || jump.name == lab_->config().name || jump.host_name == lab_->config().host_name;
}

std::unique_ptr<Launcher> PlaceCheck::launcher() const {
  if (host_) {
    auto there = pool_.launcher(*host_, SshLauncher::Reached::from_itself);
    there->set_needs_no_room();
    return there;
  }
  return std::make_unique<LocalLauncher>(pool_.programs_folder(), QString::fromStdString(address_));
}

void PlaceCheck::begin() {
  report_.now.kind = host_ ? CheckActivity::Kind::connecting : CheckActivity::Kind::waiting;
  emit changed();
  if (!host_) return launch_broker();
  connect(lab_.get(), &LabHost::sending, this, &PlaceCheck::on_sending);
  // It is about to.
  connect(lab_.get(), &LabHost::asking, this, &PlaceCheck::asks, Qt::QueuedConnection);
  lab_->with_control(this, [this](const SshProblem& problem, SshSession* session) {
    if (!problem.none()) return on_problem(problem);
    on_connected(*session);
  });
}

/// Also of programs for the ways from there.
void PlaceCheck::on_sending(const QString& local_file, qint64 sent_bytes, qint64 all_bytes) {
  if (sent_bytes < all_bytes) report_.now = {CheckActivity::Kind::sending, QFileInfo(local_file).fileName(), sent_bytes, all_bytes};
  else note_idle();
  emit sending();
  emit changed();
}

void PlaceCheck::note_ways(bool tried) {
  tries_ways_ = tried;
  note_idle();
  emit changed();
}

/// Nothing is sent.
void PlaceCheck::note_idle() {
  using Kind = CheckActivity::Kind;
  const bool waits = !ready_ || (lab_ && lab_->control() && !disk_is_known_);
  report_.now = {tries_ways_ ? Kind::ways : waits ? Kind::waiting : Kind::none, {}, 0, 0};
}

void PlaceCheck::renew_lease() {
  if (broker_) broker_->renew_lease();
}

void PlaceCheck::on_connected(SshSession& session) {
  lets_in_ = true;
  report_.now.kind = CheckActivity::Kind::waiting;
  // Also once it is ready: the others still try the ways to it.
  connect(lab_.get(), &LabHost::trouble, this, [this](const SshProblem& why) {
    if (lab_->control() || !ready_) return;
    cell(CheckItem::reach) =
        not_good_cell(CheckState::bad, "lost", without_name(why.why), why.what_to_do.isEmpty() ? QString(still_there) : why.what_to_do);
    emit changed();
  });
  const QString address = session.address().isEmpty() ? lab_->config().host_name : session.address();
  cell(CheckItem::reach) = good_cell("yes", true, QString("SSH at %1 port %2").arg(address, QString::number(lab_->config().port)));
  cell(CheckItem::login) = good_cell(lab_->config().user, true, QString("Logged in as %1").arg(lab_->config().user));
  if (lab_->data_address().isEmpty()) {
    const SshProblem problem = lab_->no_data_address();
    // A group can run there as it is.
    unreachable_ = not_good_cell(CheckState::warning, "no address", problem.why, problem.what_to_do + ", if N2NQ is to run there");
  }
  emit changed();
  look_at_disk();
  start_broker();
}

/// What could not be looked at because of it is unknown.
void PlaceCheck::on_problem(const SshProblem& problem) {
  using Kind = SshProblem::Kind;
  const QString why = without_name(problem.why);
  const bool is_gone = problem.kind == Kind::lost && problem.what_to_do.isEmpty();
  const auto set = [&](CheckItem item, const QString& text) {
    cell(item) = not_good_cell(CheckState::bad, text, why, is_gone ? QString(still_there) : problem.what_to_do, false);
  };
  const bool is_of_log_in = problem.kind == Kind::login || problem.kind == Kind::host_key_unknown || problem.kind == Kind::host_key_changed;
  const bool let_in_nobody = problem.of_jump_host && is_of_log_in;
  // The second connection has a way of its own, on which it may fail where the first one stands: a code is good for once.
  const bool stands = lab_ && lab_->control();
  switch (problem.of_jump_host && stands ? Kind::files : let_in_nobody ? Kind::unreachable : problem.kind) {
    case Kind::login:
      cell(CheckItem::reach) = good_cell("yes", true);
      set(CheckItem::login, "refused");
      break;
    case Kind::no_shell:
      set(CheckItem::login, "no shell");
      // Then that is why there is no SFTP either, and no line of sshd_config.
      if (cell(CheckItem::disk).state == CheckState::not_known) cell(CheckItem::disk).what_to_do.clear();
      break;
    case Kind::files:
    case Kind::program:
    case Kind::no_sftp:
      set(CheckItem::folder, "no");
      break;
    case Kind::silent:
      set(CheckItem::folder, "no answer");
      break;
    case Kind::architecture:
      set(CheckItem::architecture, "no");
      break;
    case Kind::noexec:
      set(CheckItem::folder, "noexec");
      break;
    case Kind::host_key_unknown:
      set(CheckItem::reach, "key unknown");
      break;
    case Kind::host_key_changed:
      set(CheckItem::reach, problem.key_revoked ? "key revoked" : "key changed");
      break;
    default:
      set(CheckItem::reach, let_in_nobody ? "jump host" : problem.kind == Kind::lost ? "lost" : "no");
  }
  // The disk is looked at by itself, as long as there is a connection.
  const bool disk_comes = lab_ && lab_->control();
  for (CheckCell& each : report_.cells) {
    if (each.state != CheckState::checking || (disk_comes && &each == &cell(CheckItem::disk))) continue;
    each = not_known_cell("Not looked at: " + why);
  }
  emit changed();
  become_ready();
}

/// SFTP is asked for it, and no command of the host.
void PlaceCheck::look_at_disk() {
  auto task = std::make_shared<LookAtRoom>(lab_->folder());
  const auto told = [this, task](const SshProblem& problem) {
    disk_is_known_ = true;
    if (report_.now.kind == CheckActivity::Kind::waiting) note_idle();
    little_staging_ = task->little_staging;
    tell_folder(task->for_logs);
    CheckCell& disk = cell(CheckItem::disk);
    disk = !problem.none() ? not_known_cell(without_name(problem.why))
           : !task->space  ? not_known_cell("Its SFTP server, or the file system there, does not say")
                           : disk_cell(task->space->free_bytes);
    if (!problem.none() && cell(CheckItem::login).state != CheckState::bad) disk.what_to_do = problem.what_to_do;
    emit changed();
  };
  lab_->with_files(this, [this, task, told](const SshProblem& problem, SshFiles* files) {
    if (!problem.none()) return told(problem);
    files->run(task, this, told);
  });
}

void PlaceCheck::start_broker() {
  // Put there first by itself, because then a problem says what kind it is. Where programs run, but logs have no room, all else is found
  // out all the same.
  lab_->place(pool_.programs_folder() + "/n2nq-broker", PutProgram::Room::as_it_is, this,
              [this](const SshProblem& problem, const PlacedProgram&) {
                if (!problem.none()) return on_problem(problem);
                launch_broker();
              });
}

void PlaceCheck::launch_broker() {
  broker_started_ = false;
  const auto configure = [this](Launcher& there) {
    broker_started_ = true;
    address_ = unreachable_ ? "127.0.0.1" : there.data_address().toStdString();
    return Json{{"type", "configure"},
                {"control", control_version},
                {"run", "check"},
                {"role", "broker"},
                {"token", token()},
                {"listen", {{"address", address_}, {"port", unreachable_ ? 0 : terms_.port}}},
                {"expect", {{"senders", 1}, {"receivers", terms_.places}}}};
  };
  const auto said = [this](const Json& message) {
    const std::string type = message.value("type", "");
    if (type == "hello") on_broker_hello(message);
    if (type == "error") listen_error_ = text_in(message, "message");
  };
  broker_ = std::make_unique<CheckProcess>(launcher(), "n2nq-broker", configure, said, [this](const QString& why) { on_broker_over(why); });
}

std::string PlaceCheck::token() const {
  const std::string own = QString("%1").arg(number_, 4, 16, QChar('0')).toStdString();
  return terms_.token.substr(own.size()) + own;
}

void PlaceCheck::on_broker_over(const QString& why) {
  if (ready_) return;
  if (lab_ && !lab_->control()) return on_problem({SshProblem::Kind::lost, why, still_there});
  const QString trouble = "N2NQ does not run there: " + why;
  if (!broker_started_) return on_problem({SshProblem::Kind::files, trouble, mend_what_is_said});
  if (unreachable_ || listen_error_.isEmpty())
    return on_problem({SshProblem::Kind::files, trouble,
                       "Is there memory left on it, and may you run programs in the folder? Its system log (journalctl, dmesg) says who "
                       "ended the process"});
  if (listen_error_.contains("already in use")) taken_address_ = address_;
  unreachable_ = not_good_cell(CheckState::bad, "cannot listen", trouble, listen_advice(listen_error_, "the data address", terms_.port));
  // What led here is the process's own signal.
  QTimer::singleShot(0, this, &PlaceCheck::launch_broker);
}

void PlaceCheck::note_same_as(const PlaceCheck& other) {
  taken_address_.clear();
  const QString name = QString::fromStdString(other.name());
  unreachable_ = not_good_cell(
      CheckState::warning, "as " + name,
      QString("It is the machine %1: N2NQ listens there at %2 port %3 for this check already, and the ways to %1 are the ways to it")
          .arg(name, QString::fromStdString(other.address()))
          .arg(other.port()),
      "One of both names is enough");
}

void PlaceCheck::on_broker_hello(const Json& hello) {
  port_ = static_cast<int>(number_in(hello, "port", 0));
  runs_programs_ = true;
  const Json facts = hello.value("host", Json::object());
  const QString cpu = text_in(facts, "cpu"), kernel = text_in(facts, "kernel");
  const double cores = number_in(facts, "cores", 0);
  cell(CheckItem::architecture) = good_cell("x86-64", "x86-64", cpu);
  cell(CheckItem::kernel) = good_cell(kernel, kernel.toStdString());
  cell(CheckItem::cores) = cores > 0 ? good_cell(QString::number(cores), cores, cpu) : not_known_cell("It does not say");
  cell(CheckItem::load) = load_cell(number_in(facts, "load_1min", -1), cores);
  tell_folder({});
  emit changed();
  become_ready();
}

/// Good when programs run there and logs have room.
void PlaceCheck::tell_folder(const SshProblem& no_room) {
  CheckCell& folder = cell(CheckItem::folder);
  if (!lab_ || folder.state != CheckState::checking) return;
  if (!no_room.none()) {
    folder = not_good_cell(CheckState::bad, "no", without_name(no_room.why), no_room.what_to_do, false);
  } else if (runs_programs_ && disk_is_known_ && !little_staging_.none()) {
    folder = not_good_cell(CheckState::warning, "little memory", without_name(little_staging_.why), little_staging_.what_to_do, true);
  } else if (runs_programs_ && disk_is_known_) {
    folder = good_cell("yes", true, QString("Programs are put into %1/bin and run there").arg(lab_->folder()));
  }
}

/// The row names the machine.
QString PlaceCheck::without_name(const QString& why) const {
  const QString name = QString::fromStdString(name_) + ": ";
  return why.startsWith(name) ? why.mid(name.size()) : why;
}

void PlaceCheck::become_ready() {
  if (std::exchange(ready_, true)) return;
  note_idle();
  emit changed();
  emit ready();
}

}  // namespace n2nq::app
