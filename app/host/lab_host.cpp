// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/lab_host.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <QFileInfo>
#include <QPointer>
#include <QRegularExpression>
#include <algorithm>
#include <chrono>

#include "app/settings/qt_text.h"
#include "broker/net/control_channel.h"

namespace n2nq::app {

namespace {

/// Such an address means something together with an interface of who connects.
bool is_link_local(const QString& address) {
  in6_addr six{};
  return ::inet_pton(AF_INET6, address.section('%', 0, 0).toLatin1().constData(), &six) == 1 && IN6_IS_ADDR_LINKLOCAL(&six);
}

constexpr const char* default_folder = ".cache/n2nq-bench";

/// Who waits may be gone, and may wait again for the same.
template <class Waiters, class... Values>
void answer_all(Waiters& waiters, const Values&... values) {
  for (const auto& waiting : std::exchange(waiters, {})) {
    if (waiting.context) waiting.then(values...);
  }
}

template <class Session>
void drop_later(std::unique_ptr<Session>& session) {
  if (!session) return;
  session->disconnect();
  session.release()->deleteLater();
}

}  // namespace

LabHost::LabHost(Host host, SshHostConfig config, OpenQuestions& questions, std::shared_ptr<SshSecrets> secrets,
                 std::shared_ptr<NeededThere> needed, GiveHop hop)
    : host_(std::move(host)),
      name_(qt_text(host_.name)),
      folder_(host_.folder.empty() ? QString(default_folder) : qt_text(host_.folder)),
      config_(std::move(config)),
      questions_(questions),
      secrets_(std::move(secrets)),
      needed_(std::move(needed)),
      hop_(std::move(hop)) {
  sweep_timer_.setSingleShot(true);
  sweep_timer_.setInterval(std::chrono::seconds(SweepVersions::just_put_s + 2));
  connect(&sweep_timer_, &QTimer::timeout, this, &LabHost::sweep_versions);
  starts_->stand_still(questions_.any());
  connect(&questions_, &OpenQuestions::asking, this, [this](bool asked) { starts_->stand_still(asked); });
}

LabHost::~LabHost() = default;

QString LabHost::data_address() const {
  if (!host_.data_address.empty()) return qt_text(host_.data_address);
  return is_link_local(address_) ? QString() : address_;
}

SshProblem LabHost::no_data_address() const {
  const QString how = address_.isEmpty() ? QString("through a jump host or a ProxyCommand")
                                         : QString("at %1, which leads there on one link alone").arg(address_);
  return {SshProblem::Kind::settings, QString("%1 is reached %2, so it is not known where the other hosts reach it").arg(name_, how),
          "Set its data address (Edit on the page Hosts, or data_address in the hosts file)"};
}

SshSession* LabHost::control() const {
  return control_ && control_->state() == SshSession::State::ready ? control_.get() : nullptr;
}

std::unique_ptr<SshSession> LabHost::make_session(SshUse use) {
  const bool patient = patience_.use_count() > 1;
  auto session = std::make_unique<SshSession>(name_, config_, use, questions_, secrets_,
                                              config_.jumps.isEmpty() ? nullptr : hop_(config_.jumps, use, patient));
  asked_for_.erase(use);
  connect(session.get(), &SshSession::asking, this, [this, use] {
    asked_for_.insert(use);
    emit asking();
  });
  if (patient) session->be_patient();
  session->hurry_by(starts_);
  session->prefer(address_);  // who was reached there is not looked for elsewhere again
  return session;
}

void LabHost::with_control(QObject* context, std::function<void(const SshProblem&, SshSession*)> then) {
  if (SshSession* session = control()) return then({}, session);
  wait_for_control_.push_back({context, std::move(then)});
  notice_end_of(context);
  if (control_) return;
  control_ = make_session(SshUse::control);
  connect(control_.get(), &SshSession::ready, this, [this] {
    address_ = control_->address();
    answer_all(wait_for_control_, SshProblem(), control_.get());
  });
  connect(control_.get(), &SshSession::ended, this, &LabHost::on_control_over);
  control_->open();
}

void LabHost::notice_end_of(QObject* context) {
  if (context == this) return;
  // Several may be gone at once, and others come in their place.
  connect(context, &QObject::destroyed, this, [this] { QTimer::singleShot(0, this, &LabHost::let_go_unwanted); });
}

bool LabHost::is_waited_for() const {
  // Its own waiting is for those who wait for a program or for files.
  const auto waits = [this](const auto& waiting) { return waiting.context && waiting.context != this; };
  return std::any_of(wait_for_control_.begin(), wait_for_control_.end(), waits) ||
         std::any_of(wait_for_files_.begin(), wait_for_files_.end(), waits) ||
         std::any_of(placing_.begin(), placing_.end(), [this](const auto& placing) { return is_wanted(placing.first); });
}

bool LabHost::is_wanted(const QString& local_file) const {
  const auto placing = placing_.find(local_file);
  return placing != placing_.end() &&
         std::any_of(placing->second.begin(), placing->second.end(), [](const Placing& waiting) { return !waiting.context.isNull(); });
}

void LabHost::let_go_unwanted() {
  // Whoever wants one of these again has it sent anew.
  std::erase_if(uploads_, [this](const auto& upload) {
    if (is_wanted(upload.first)) return false;
    upload.second->give_up();
    placing_.erase(upload.first);
    return true;
  });
  if (is_waited_for()) return;
  const SshProblem unwanted{SshProblem::Kind::closed, QString("the connection to %1 is not needed any more").arg(name_), {}};
  const auto is_being_made = [](const auto& session) { return session && session->state() == SshSession::State::connecting; };
  if (is_being_made(files_session_)) on_files_over(unwanted);
  if (is_being_made(control_)) on_control_over(unwanted);
}

void LabHost::log_in_anew(const SshProblem& why) {
  const bool is_log_in = why.kind == SshProblem::Kind::no_shell || why.kind == SshProblem::Kind::no_sftp;
  if (!is_log_in && why.kind != SshProblem::Kind::missing) return;
  if (files_use_.use_count() > 1 || (is_log_in && control_use_.use_count() > 1) || is_waited_for()) return;
  if (files_ && !asked_for_.contains(SshUse::files)) {
    SshFiles* const files = files_.release();
    files->setParent(this);  // first: it goes before its session
    connect(files_session_.get(), &SshSession::ended, files, &QObject::deleteLater);
    leave(files_session_);
    files_use_ = std::make_shared<char>();
  }
  if (is_log_in && control() && !asked_for_.contains(SshUse::control)) {
    leave(control_);
    control_use_ = std::make_shared<char>();
    placed_.clear();
  }
}

/// Who asks from now on gets another one. Whatever is under way over it is answered by its end, which comes later.
void LabHost::leave(std::unique_ptr<SshSession>& session) {
  SshSession* const left = session.release();
  left->setParent(this);
  left->disconnect(this);
  connect(left, &SshSession::ended, left, &QObject::deleteLater);
  left->close();
}

void LabHost::on_control_over(const SshProblem& why) {
  drop_later(control_);
  control_use_ = std::make_shared<char>();
  placed_.clear();  // the host may have been switched off: what is on its disk is looked at again
  answer_all(wait_for_control_, why, static_cast<SshSession*>(nullptr));
  emit trouble(why);
}

void LabHost::with_files(QObject* context, std::function<void(const SshProblem&, SshFiles*)> then) {
  if (files_) return then({}, files_.get());
  wait_for_files_.push_back({context, std::move(then)});
  notice_end_of(context);
  if (wait_for_files_.size() > 1 || files_session_) return;
  // One after the other: what a person is asked for the first one is known for the second.
  with_control(this, [this](const SshProblem& problem, SshSession*) {
    if (!problem.none()) return answer_all(wait_for_files_, problem, static_cast<SshFiles*>(nullptr));
    open_files();
  });
}

void LabHost::open_files() {
  if (files_session_) return;
  files_session_ = make_session(SshUse::files);
  connect(files_session_.get(), &SshSession::ready, this, [this] {
    files_ = std::make_unique<SshFiles>(*files_session_);
    answer_all(wait_for_files_, SshProblem(), files_.get());
    // What cannot be swept is in nobody's way.
    if (files_) files_->run(std::make_shared<SweepRunFolders>(folder_, *needed_), this, [](const SshProblem&) {});
    sweep_versions();
  });
  connect(files_session_.get(), &SshSession::ended, this, &LabHost::on_files_over);
  files_session_->open();
}

void LabHost::sweep_versions() {
  if (!files_) return;
  QStringList in_use;
  for (const auto& [local_file, placed] : placed_) in_use.push_back(placed.path);
  files_->run(std::make_shared<SweepVersions>(folder_, in_use), this, [](const SshProblem&) {});
}

void LabHost::on_files_over(const SshProblem& why) {
  // Its tasks hear of the end by the same signal, later.
  if (files_) files_.release()->deleteLater();
  auto session = std::exchange(files_session_, nullptr);
  session->disconnect(this);
  session.release()->deleteLater();
  files_use_ = std::make_shared<char>();
  answer_all(wait_for_files_, why, static_cast<SshFiles*>(nullptr));
  emit trouble(why);
}

QByteArray LabHost::command_for(const QString& path) const {
  static const QRegularExpression safe("\\A[A-Za-z0-9._/-]+\\z");
  if (!safe.match(path).hasMatch()) return "exit 127";
  const QByteArray there = path.startsWith('/') ? path.toLatin1() : "./" + path.toLatin1();
  // The first echo ends what login scripts may have said without a newline. sh, because who logs in may have any shell; the quotes mean the
  // same in all of them.
  return "exec /bin/sh -c 'echo; echo n2nq-pid $$; " + ProgramTrial::into_home_for(path) + "exec " + there + ' ' + net::marked_argument +
         "'";
}

void LabHost::send_signal(int pid, const char* name, QObject* context, std::function<void(const QString&)> then) {
  if (pid <= 0 || !control()) return;
  new SshCommand(*control(), "exec /bin/sh -c 'kill -s " + QByteArray(name) + ' ' + QByteArray::number(pid) + "'", this,
                 [asked = QPointer<QObject>(context), then = std::move(then)](const SshCommand::Result& result) {
                   if (asked) then(result.problem());
                 });
}

void LabHost::place(const QString& local_file, PutProgram::Room room, QObject* context,
                    std::function<void(const SshProblem&, const PlacedProgram&)> then) {
  auto& waiting = placing_[local_file];
  waiting.push_back({context, std::move(then)});
  notice_end_of(context);
  if (waiting.size() == 1) put(local_file, PutProgram::If::not_there, room);
}

void LabHost::put(const QString& local_file, PutProgram::If when, PutProgram::Room room) {
  with_files(this, [this, local_file, when, room](const SshProblem& problem, SshFiles* files) {
    if (!problem.none() || !is_wanted(local_file)) return answer_placing(local_file, problem, {});
    const QPointer<LabHost> self(this);
    const auto progress = [self, shared = files->shared(), local_file](qint64 done, qint64 all) {
      shared->post([self, local_file, done, all] {
        if (!self) return;
        self->starts_->note_sent(done == 0);
        emit self->sending(local_file, done, all);
      });
    };
    auto task = std::make_shared<PutProgram>(local_file, folder_, when, room, progress);
    uploads_[local_file] = task;
    files->run(task, this, [this, local_file, task](const SshProblem& why) {
      if (task->is_given_up()) return;
      uploads_.erase(local_file);
      if (why.kind == SshProblem::Kind::no_sftp) return look_for_shell(local_file, why);
      if (!why.none()) return answer_placing(local_file, why, {});
      if (task->sent()) {
        sweep_versions();
        sweep_timer_.start();  // what is spared now because it was just put is looked at again
      }
      const auto known = placed_.find(local_file);
      if (known != placed_.end() && known->second.path == task->path() && known->second.changed_s == task->changed_s()) {
        known->second.changed_s = task->touched_s();
        return answer_placing(local_file, {}, known->second);
      }
      try_out(local_file, task, task->sha256());
    });
  });
}

/// A command that is forced on an account stands in for SFTP, too: then that is what is wrong.
void LabHost::look_for_shell(const QString& local_file, const SshProblem& no_sftp) {
  with_control(this, [this, local_file, no_sftp](const SshProblem& problem, SshSession* session) {
    if (!problem.none()) return answer_placing(local_file, problem, {});
    const auto over = [=, this](const SshCommand::Result& result) {
      const ProgramTrial trial(result.out, result.error_out, result.how.code, !result.how.signal.isEmpty());
      const bool ended = result.failed.isEmpty() && result.how.lost.none();
      answer_placing(local_file, ended && !trial.has_shell() ? trial.problem(name_, config_.user, folder_, {}) : no_sftp, {});
    };
    new SshCommand(*session, ProgramTrial::shell_command(), this, over, step_ms(SshCommand::limit_ms));
  });
}

void LabHost::try_out(const QString& local_file, const std::shared_ptr<PutProgram>& put, const QByteArray& sha256) {
  with_control(this, [this, local_file, put, sha256](const SshProblem& problem, SshSession* session) {
    if (!problem.none()) return answer_placing(local_file, problem, {});
    new SshCommand(*session, ProgramTrial::command(put->path(), sha256), this,
                   [=, this](const SshCommand::Result& result) { on_tried(local_file, put, result, sha256.isEmpty()); },
                   step_ms(SshCommand::limit_ms));
  });
}

void LabHost::on_tried(const QString& local_file, const std::shared_ptr<PutProgram>& put, const SshCommand::Result& result, bool compared) {
  if (result.let_go) return on_let_go(local_file, result);
  if (!result.failed.isEmpty()) {
    const SshProblem lost{SshProblem::Kind::lost, result.failed, {}};
    const SshProblem refused{SshProblem::Kind::program, result.failed, "Its system log (journalctl) says why its sshd refused that"};
    return answer_placing(local_file, control() ? refused : lost, {});
  }
  if (!result.how.lost.none()) return answer_placing(local_file, result.how.lost, {});
  note_answer(result.took_ms);
  const ProgramTrial trial(result.out, result.error_out, result.how.code, !result.how.signal.isEmpty());
  if (!trial.has_shell() || compared) return judge(local_file, put, trial);
  if (!trial.sha256().isEmpty()) {
    return trial.sha256() == put->sha256() ? judge(local_file, put, trial) : send_anew(local_file, put);
  }
  // That host cannot say it: nothing was run, and the file is read back.
  with_files(this, [this, local_file, put](const SshProblem& why, SshFiles* files) {
    if (!why.none()) return answer_placing(local_file, why, {});
    auto hash = std::make_shared<HashFile>(put->path(), put->size());
    files->run(hash, this, [this, local_file, put, hash](const SshProblem& trouble) {
      if (!trouble.none()) return answer_placing(local_file, trouble, {});
      hash->sha256() == put->sha256() ? try_out(local_file, put, {}) : send_anew(local_file, put);
    });
  });
}

/// What hangs in it is killed, with what it has started, so that nothing is left there: sshd gives each command a group of its own.
void LabHost::on_let_go(const QString& local_file, const SshCommand::Result& result) {
  const int pid = ProgramTrial::pid(result.out);
  if (pid > 0 && control()) {
    const QByteArray number = QByteArray::number(pid);
    new SshCommand(*control(), "exec /bin/sh -c 'kill -s KILL -- -" + number + " || kill -s KILL " + number + "'", this,
                   [](const SshCommand::Result&) {});
  }
  const QString program = QFileInfo(local_file).fileName();
  const QString what = QString("%1: %2 was tried there with --version; %3").arg(name_, program, result.failed);
  const QString advice = pid > 0 ? QString("Try by hand what it does there, in the folder %1/bin").arg(folder_)
                                 : QString("Does something that is read at each login there (.bashrc) wait, or say too much? "
                                           "Let it do so in interactive shells only");
  answer_placing(local_file, {SshProblem::Kind::program, what, advice_in_hurry(advice, result.had_ms, SshCommand::limit_ms)}, {});
}

/// What is not what its name says is sent again, once.
void LabHost::send_anew(const QString& local_file, const std::shared_ptr<PutProgram>& put) {
  if (!put->sent()) return this->put(local_file, PutProgram::If::damaged, PutProgram::Room::as_it_is);
  answer_placing(
      local_file,
      {SshProblem::Kind::files, QString("%1: %2 does not stay there as it was sent").arg(name_, QFileInfo(local_file).fileName()),
       other_folder("Look at the disk there")},
      {});
}

void LabHost::judge(const QString& local_file, const std::shared_ptr<PutProgram>& put, const ProgramTrial& trial) {
  const QString program = QFileInfo(local_file).fileName();
  if (!trial.ran(program)) return answer_placing(local_file, trial.problem(name_, config_.user, folder_, program), {});
  if (trial.version() != N2NQ_VERSION) {
    return answer_placing(
        local_file,
        {SshProblem::Kind::program, QString("%1 is of version %2, n2nq-bench of version %3").arg(local_file, trial.version(), N2NQ_VERSION),
         "Build them together, or put those of one version side by side; the next start sends them there by itself"},
        {});
  }
  const PlacedProgram placed{put->path(), trial.version(), put->touched_s()};
  placed_[local_file] = placed;
  answer_placing(local_file, {}, placed);
}

void LabHost::answer_placing(const QString& local_file, const SshProblem& problem, const PlacedProgram& placed) {
  auto waiting = std::exchange(placing_[local_file], {});
  answer_all(waiting, problem, placed);
}

}  // namespace n2nq::app
