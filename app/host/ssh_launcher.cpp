// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/ssh_launcher.h"

#include <signal.h>

#include <QCryptographicHash>
#include <QDir>
#include <QFileInfo>
#include <QRandomGenerator>
#include <QTimer>
#include <algorithm>
#include <utility>

#include "app/host/ssh_standby.h"

namespace n2nq::app {

namespace {

constexpr int bring_back_pause_ms = 2'000;
constexpr int bring_back_refused_pause_ms = 5'000;  // a host may shut out who is refused often
constexpr qint64 bring_back_silent_ms = 60'000;    // a network that comes back takes as long after a laptop has slept
constexpr qint64 bring_back_stuck_ms = 3'600'000;  // over a link that is lost again and again before it comes to anything new
constexpr qsizetype run_name_chars_max = 80;
constexpr int no_timeout = 91, no_stop = 92;  // exit codes of what holds a process still
constexpr qsizetype pause_said_bytes_max = 4 << 10;
const QByteArray pid_mark = "n2nq-pid ";

/// With a number behind it: a login script may say the command that it begins, which has the mark, too. -1: not yet.
qsizetype pid_at(const QByteArray& said) {
  for (qsizetype at = said.indexOf(pid_mark); at >= 0; at = said.indexOf(pid_mark, at + 1)) {
    if (said.mid(at + pid_mark.size(), 1).toInt() > 0) return at;
  }
  return -1;
}

int signal_number(const QString& name) {
  static const std::pair<const char*, int> known[] = {
      {"ABRT", SIGABRT}, {"ALRM", SIGALRM}, {"FPE", SIGFPE},   {"HUP", SIGHUP},   {"ILL", SIGILL},   {"INT", SIGINT},  {"KILL", SIGKILL},
      {"PIPE", SIGPIPE}, {"QUIT", SIGQUIT}, {"SEGV", SIGSEGV}, {"TERM", SIGTERM}, {"USR1", SIGUSR1}, {"USR2", SIGUSR2}};
  for (const auto& [word, number] : known) {
    if (name == word) return number;
  }
  return SIGKILL;  // one that sshd has no word for, such as SIGBUS
}

/// Of the way to the host.
bool may_pass(const SshProblem& why) {
  return why.kind == SshProblem::Kind::lost || why.kind == SshProblem::Kind::silent || why.kind == SshProblem::Kind::unreachable ||
         why.kind == SshProblem::Kind::name;
}

/// A host that was there before may refuse for a while what it took then: one that is booting lets nobody in, and has not mounted all yet.
/// What a person was asked, and declined or answered in vain, is not asked again and again.
bool may_pass_behind_a_cut(const SshProblem& why) {
  switch (why.kind) {
    case SshProblem::Kind::settings:
      return why.own_files_away;
    case SshProblem::Kind::files:
    case SshProblem::Kind::host_key_changed:
      return false;
    case SshProblem::Kind::login:
    case SshProblem::Kind::host_key_unknown:
      return !why.person_asked;
    default:
      return true;
  }
}

}  // namespace

SshLauncher::SshLauncher(std::shared_ptr<LabHost> host, QString programs_folder, Reached reached)
    : host_(std::move(host)), programs_folder_(std::move(programs_folder)), reached_(reached) {
  constexpr int still_every_ms = 2000;
  pause_timer_.setInterval(still_every_ms);
  connect(&pause_timer_, &QTimer::timeout, this, [this] {
    if (pause_) pause_->write("\n");
  });
  constexpr int follow_again_ms = 2000;
  follow_timer_.setSingleShot(true);
  follow_timer_.setInterval(follow_again_ms);
  connect(&follow_timer_, &QTimer::timeout, this, &SshLauncher::follow_again);
  connect(host_.get(), &LabHost::trouble, this, [this](const SshProblem& why) {
    if (may_pass(why) && !followed_.isEmpty() && !follow_timer_.isActive()) follow_timer_.start();
  });
  connect(&start_timer_, &QTimer::timeout, this, [this] {
    const int had_ms = start_timer_.limit_ms();
    give_up_start(QString("does not begin to run a program within %1 s. ").arg(had_ms / 1000.0, 0, 'g', 2) +
                  advice_in_hurry("Does something that is read at each login there (.bashrc) wait?", had_ms, SshCommand::limit_ms));
  });
}

SshLauncher::~SshLauncher() {
  for (const QString& local : std::exchange(followed_, {})) unfollow(local);
  SshLauncher::leave_files();
  if (!exec_) return;
  exec_->disconnect(this);
  if (!exited_) host_->send_signal(pid_, "KILL");
}

QString SshLauncher::data_address() const {
  return host_->data_address();
}

QString SshLauncher::folder_there(const QString& local_folder) const {
  const QString folder = folder_for(local_folder);
  if (exec_) folders_wanted_.insert(folder);
  return folder;
}

/// Two benches, of this machine or another, never share a folder, nor does a run with one before it in the same local folder: it carries what
/// is only this bench's. (Machine and path would not do: containers of one machine have both alike, and what a killed run left is there still.)
QString SshLauncher::folder_for(const QString& local_folder) const {
  static const quint64 only_this_bench = QRandomGenerator::system()->generate64();
  const QString absolute = QDir::cleanPath(QFileInfo(local_folder).absoluteFilePath());
  QString name;
  for (const QChar c : absolute.section('/', -2).replace('/', '.').left(run_name_chars_max)) {
    name += (c.unicode() < 128 && c.isLetterOrNumber()) || c == '-' || c == '.' || c == '_' ? c : QChar('_');
  }
  const QByteArray own =
      QCryptographicHash::hash(QByteArray::number(only_this_bench) + absolute.toUtf8(), QCryptographicHash::Sha256).toHex().left(12);
  return host_->folder() + "/runs/" + name + '-' + QString::fromLatin1(own);
}

void SshLauncher::put_file(const QString& program) {
  placed_file_ = programs_folder_ + '/' + program;
  if (is_start()) starting_ = host_->begin_start();
  // Groups connect to others, nobody to them.
  const bool listens = program == "n2nq-broker" && reached_ == Reached::by_other_hosts;
  putting_ = std::make_unique<QObject>();
  if (!reads_back().isEmpty()) {
    patience_ = host_->patience();
    return find_folder();
  }
  connect(host_.get(), &LabHost::sending, putting_.get(), [this](const QString& file, qint64 done_bytes, qint64 all_bytes) {
    if (file == placed_file_) emit putting(done_bytes, all_bytes);
  });
  put_over(listens);
}

/// Before anything is put: where the folder is not there yet, its disk is not, and neither is that of the programs, perhaps.
void SshLauncher::find_folder() {
  const auto fail = [this](const SshProblem& problem) {
    if (problem.kind == SshProblem::Kind::lost && take_puts_again()) return find_folder();
    away_ = may_pass_behind_a_cut(problem);
    host_->log_in_anew(problem);
    emit failed(problem.text());
  };
  host_->with_files(putting_.get(), [this, fail](const SshProblem& problem, SshFiles* files) {
    if (!problem.none()) return fail(problem);
    const QString folder = folder_for(reads_back());
    files->run(std::make_shared<FindRunFolder>(folder, *host_->needed().is_made(folder)), putting_.get(),
               [this, fail, use = host_->use_of_files()](const SshProblem& why) mutable {
                 use.reset();
                 why.none() ? put_over(false) : fail(why);
               });
  });
}

void SshLauncher::put_over(bool listens) {
  const auto room = needs_no_room() ? PutProgram::Room::as_it_is : PutProgram::Room::for_logs;
  host_->place(placed_file_, room, putting_.get(), [this, listens](const SshProblem& problem, const PlacedProgram& placed) {
    if (problem.kind == SshProblem::Kind::lost && take_puts_again()) return put_over(listens);
    away_ = !problem.none() && (reads_back().isEmpty() ? may_pass(problem) : may_pass_behind_a_cut(problem));
    if (!problem.none() && !reads_back().isEmpty()) host_->log_in_anew(problem);
    if (!problem.none()) return emit failed(problem.text());
    if (listens && host_->data_address().isEmpty()) {
      return emit failed(host_->no_data_address().text());
    }
    path_ = placed.path;
    emit file_put();
  });
}

void SshLauncher::put_without_asking() {
  if (!putting_) return;
  const auto give_up = [this] {
    give_up_put();
    emit would_ask();
  };
  if (host_->asks()) return give_up();
  connect(host_.get(), &LabHost::asking, putting_.get(), give_up);
}

void SshLauncher::give_up_put() {
  putting_.reset();
  end_start();
}

QString SshLauncher::not_reached() const {
  if (host_->control() || host_->files()) return {};  // one of both may be made anew at the moment
  return QString("%1: it could not be reached, or not logged in to, before the start was given up").arg(host_->name());
}

void SshLauncher::start(const QString& program) {
  SshSession* session = host_->control();
  if (!session) {
    away_ = true;
    QTimer::singleShot(0, this, [this, program] {
      emit failed(QString("%1 cannot be started: the connection to %2 was lost").arg(program, host_->name()));
    });
    return;
  }
  exec_ = std::make_unique<SshExec>(*session, host_->command_for(path_), SshExec::late_of_program);
  control_use_ = host_->use_of_control();
  start_timer_.start(step_ms(SshCommand::limit_ms));
  connect(exec_.get(), &SshExec::output, this, &SshLauncher::on_output);
  connect(exec_.get(), &SshExec::error_output, this, [this](const QByteArray& bytes) { stderr_tail_.add(bytes); });
  connect(exec_.get(), &SshExec::failed, this, [this, program](const QString& why) {
    start_timer_.stop();
    drop_exec();
    away_ = !host_->control();
    emit failed(QString("%1 cannot be started: %2").arg(program, why));
  });
  connect(exec_.get(), &SshExec::exited, this, [this] {
    exited_ = true;
    start_timer_.stop();
    drop_pause();  // before another process has its number
    emit exited();
  });
  connect(exec_.get(), &SshExec::ended, this, &SshLauncher::on_ended);
}

/// What it is telling of may lead here.
void SshLauncher::drop_exec() {
  exec_.release()->deleteLater();
  control_use_.reset();
}

void SshLauncher::on_output(const QByteArray& bytes) {
  if (pid_ != 0) return emit output(bytes);
  before_pid_ += bytes;
  const qsizetype at = pid_at(before_pid_);
  const qsizetype end = before_pid_.indexOf('\n', at);
  if (at < 0 || end < 0) {
    if (before_pid_.size() > ssh_said_bytes_max)
      give_up_start(QString("says more than %1 MiB before it runs a program").arg(ssh_said_bytes_max >> 20));
    return;
  }
  host_->note_answer(start_timer_.taken_ms());
  start_timer_.stop();
  pid_ = before_pid_.mid(at + pid_mark.size(), end - at - pid_mark.size()).trimmed().toInt();
  const QByteArray rest = before_pid_.mid(end + 1);
  before_pid_.clear();
  patience_ = host_->patience();
  for (const QByteArray& name : std::exchange(signals_, {})) send_signal(name.constData());
  if (!followed_.isEmpty()) follow_again();  // since before there was anything to follow
  emit started();
  if (!rest.isEmpty()) emit output(rest);
}

/// There is nothing to speak with, nor anything to signal to. What begins after all ends with its stdin.
void SshLauncher::give_up_start(const QString& why) {
  start_timer_.stop();
  before_pid_.clear();
  exec_->disconnect(this);
  drop_exec();
  away_ = !host_->control();
  emit failed(QString("%1: a login there %2").arg(host_->name(), why));
}

void SshLauncher::on_ended(const SshExit& how) {
  start_timer_.stop();
  drop_exec();
  drop_pause();
  away_ = !how.lost.none();
  if (pid_ == 0) {
    stderr_tail_.add(before_pid_);
    const QStringList said = stderr_tail_.lines();
    return emit failed(QString("%1: the program did not start%2")
                           .arg(host_->name(), !how.lost.none() ? ": " + how.lost.why
                                               : said.isEmpty() ? QString()
                                                                : ": " + said.last()));
  }
  constexpr int cannot_execute = 126, not_found = 127;
  if (how.code == cannot_execute || how.code == not_found) host_->forget_placed(placed_file_);
  ProcessExit out{how.code, how.signal.isEmpty() ? 0 : signal_number(how.signal), stderr_tail_.lines(), {}};
  if (!how.lost.none()) {
    out.lost = how.lost.why;
    out.last_heard = how.lost.last_heard;
  }
  emit gone(out);
}

void SshLauncher::write(const QByteArray& bytes) {
  if (!exec_) return;
  if (!folders_wanted_.empty() && !making_folders_) make_folders();
  const bool is_lease = bytes == "\n";  // may come before anything else, and a host may take longer for a folder than it lasts
  if (making_folders_ && !is_lease) {
    unwritten_ += bytes;
  } else {
    exec_->write(bytes);
  }
}

void SshLauncher::touch(const QString& path) {
  if (SshFiles* files = host_->files()) files->run(std::make_shared<TouchFile>(path, host_->folder()), this, [](const SshProblem&) {});
}

std::unique_ptr<QObject> SshLauncher::stand_by(const QString& file, const QString& local_folder) {
  if (!host_->control()) return nullptr;
  return std::make_unique<SshStandby>(*host_->control(), file, folder_for(local_folder));
}

/// The process is told of a folder only when it is there: what it then makes of it is its own business.
void SshLauncher::make_folders() {
  making_folders_ = true;
  for (const QString& folder : folders_wanted_) host_->needed().add(folder, pid_);
  emit keeps_back(true);
  host_->with_files(this, [this](const SshProblem& problem, SshFiles* files) {
    const auto go_on = [this](const SshProblem& why) {
      if (!why.none()) stderr_tail_.add(why.why.toUtf8() + '\n');
      // Who needs no room may have it of the process before, with its logs.
      made_no_folder_ = made_no_folder_ || (!why.none() && !needs_no_room());
      if (!why.none() && !needs_no_room()) emit not_made(why.text());
      making_folders_ = false;
      write(std::exchange(unwritten_, {}));
      if (!making_folders_) emit keeps_back(false);
    };
    const auto wanted = std::exchange(folders_wanted_, {});
    if (!problem.none() || wanted.empty()) return go_on(problem);
    struct Answers {
      std::size_t left;
      SshProblem first_problem;
    };
    const auto answers = std::make_shared<Answers>(wanted.size());
    for (const QString& folder : wanted) {
      files->run(std::make_shared<MakeRunFolder>(folder, pid_, host_->host().keep_files), this,
                 [this, folder, answers, go_on](const SshProblem& why) {
                   if (why.none()) *host_->needed().is_made(folder) = true;
                   if (answers->first_problem.none()) answers->first_problem = why;
                   if (--answers->left == 0) go_on(answers->first_problem);
                 });
    }
  });
}

/// Not behind its end: another process may have its number by now.
void SshLauncher::send_signal(const char* name) {
  if (!exec_ || exited_) return;
  if (pid_ == 0) return signals_.push_back(name);
  host_->send_signal(pid_, name, this, [this](const QString& why) {
    // What is gone with its connection is told as that.
    if (!why.isEmpty() && exec_ && host_->control()) emit not_killed(why);
  });
}

void SshLauncher::terminate() {
  resume();  // what stands still does not hear it
  send_signal("TERM");
}

void SshLauncher::kill() {
  drop_pause();
  if (exec_ && exited_) exec_->wait_no_longer();
  send_signal("KILL");
}

void SshLauncher::end_input() {
  if (exec_) exec_->end_stdin();
}

/// It goes on when this command ends: with the connection, and when nothing was heard for 8 s, for the host may not notice that the
/// connection is cut. Nothing is left standing still for ever. Commands on one connection keep no order among each other: who was let go
/// is held again only when it has gone on.
///
/// While it stands still its lease goes on in its stdin, unread: it would take that for new when it goes on, and run for 12.5 s more. So when
/// nothing is heard for another 5 s it is told to end, and killed a second later: N2NQ would wait for answers that cannot come. So it is gone
/// 14 s after the last word at the latest; what a group has not written yet lies in its staging file.
void SshLauncher::pause() {
  if (pid_ == 0 || exited_ || !host_->control()) return;
  if (letting_go_) pause_again_ = true;
  if (letting_go_ || pause_) return;
  const QByteArray pid = QByteArray::number(pid_);
  pause_ = std::make_unique<SshExec>(
      *host_->control(), "exec /bin/sh -c 'timeout 8 /bin/sh -c : || exit " + QByteArray::number(no_timeout) + "; kill -s STOP " + pid +
                             " || exit " + QByteArray::number(no_stop) +
                             "; silent=0; while [ $silent = 0 ]; do timeout 8 /bin/sh -c \"read still\"; silent=$?; done; kill -s CONT " +
                             pid + "; case $silent in 124|143) timeout 5 /bin/sh -c \"read still\"; case $? in 124|143) kill -s TERM " +
                             pid + "; sleep 1; kill -s KILL " + pid + ";; esac;; esac; exit 0'");
  pause_said_.clear();
  connect(pause_.get(), &SshExec::error_output, this,
          [this](const QByteArray& bytes) { pause_said_ += bytes.left(pause_said_bytes_max - pause_said_.size()); });
  connect(pause_.get(), &SshExec::failed, this, [this](const QString& why) {
    end_pause();
    letting_go_ ? has_let_go() : emit not_paused(why);
  });
  connect(pause_.get(), &SshExec::ended, this, &SshLauncher::on_pause_over);
  pause_timer_.start();
}

void SshLauncher::on_pause_over(const SshExit& how) {
  end_pause();
  const bool has_gone_on = how.signal.isEmpty() && (how.code == 0 || how.code == no_timeout || how.code == no_stop);
  if (letting_go_) return has_gone_on ? has_let_go() : go_on_by_command();
  if (!how.lost.none()) return;  // with the connection the process is lost as well
  const QString host = host_->name();
  SshCommand::Result result;
  result.host = host;
  result.how = how;
  result.error_out = pause_said_;
  if (how.signal.isEmpty() && how.code == 0) return emit went_on(host + " let it go on, because nothing was heard for 8 s");
  if (how.code == no_timeout)
    return emit not_paused(host + " has no timeout command of the kind that pauses need (of GNU coreutils, or of a newer BusyBox)");
  if (how.code == no_stop) return emit not_paused(result.problem());
  go_on_by_command();
  emit went_on(QString("%1 ended what held it still (%2)").arg(host, result.problem()));
}

/// What holds it still lets it go on, and ends.
void SshLauncher::drop_pause() {
  pause_.reset();
  letting_go_ = pause_again_ = false;
}

void SshLauncher::end_pause() {
  pause_timer_.stop();
  pause_.release()->deleteLater();
}

/// What held it still is gone, and may have left it so for ever.
void SshLauncher::go_on_by_command() {
  letting_go_ = true;
  host_->send_signal(pid_, "CONT", this, [this](const QString&) { has_let_go(); });
}

void SshLauncher::has_let_go() {
  letting_go_ = false;
  if (std::exchange(pause_again_, false)) pause();
}

void SshLauncher::resume() {
  pause_timer_.stop();
  pause_again_ = false;
  if (!pause_ || letting_go_) return;
  letting_go_ = true;
  pause_->end_stdin();  // then it lets it go on, and ends
}

void SshLauncher::bring_back(const QString& local_folder) {
  for (const QString& local : std::exchange(followed_, {})) unfollow(local);
  told_waiting_.clear();
  brought_some_.start();
  brought_more_.start();
  brought_bytes_ = 0;
  bringing_ = folder_for(local_folder);
  bringing_to_ = local_folder;
  all_here_ = false;
  patience_ = host_->patience();
  bring_back_again();
}

/// What was done meanwhile is no silence of the host, but for what it failed by: with that it is as long away as without. Then what is
/// there is fetched, and stays there.
void SshLauncher::go_on_bringing() {
  if (!holds_when_reached()) {
    brought_some_.start();
    return bring_back_again();
  }
  if (!brought_some_.hasExpired(bring_back_silent_ms)) {
    QTimer::singleShot(bring_back_pause_ms, this, &SshLauncher::bring_back_again);
    return;
  }
  take_holds_when_reached();
  leave_all_there();
  brought_some_.start();
  bring_back_again();
}

void SshLauncher::bring_back_again() {
  if (bringing_.isEmpty()) return;
  // Before this attempt, too: where the bench itself stood still, that time is over with the first look at it.
  const auto is_late = [this] { return brought_some_.hasExpired(bring_back_silent_ms) || brought_more_.hasExpired(bring_back_stuck_ms); };
  const auto again = [this, is_late, was_late = is_late()](const SshProblem& why) {
    if (bringing_.isEmpty()) return;
    // Nothing of use lies where no folder could be made.
    if (!may_pass_behind_a_cut(why) || made_no_folder_ || (was_late && is_late())) {
      if (!all_here()) return on_brought_back(why.text(), why.kind == SshProblem::Kind::missing ? Left::told : Left::rest);
      return on_brought_back(QString("all logs were brought, but not cleared away there: %1; they are %2").arg(why.text(), on_host(bringing_)),
                             Left::nothing);
    }
    host_->log_in_anew(why);
    if (std::exchange(told_waiting_, why.why) != why.why) emit bring_back_waits(why.why);
    const bool refused = why.kind == SshProblem::Kind::login;
    QTimer::singleShot(refused ? bring_back_refused_pause_ms : bring_back_pause_ms, this, &SshLauncher::bring_back_again);
  };
  asking_ = std::make_unique<QObject>();
  host_->with_files(asking_.get(), [this, again](const SshProblem& why, SshFiles* files) {
    if (bringing_.isEmpty()) return;
    if (!why.none()) return again(why);
    if (take_holds_when_reached()) {
      told_waiting_.clear();
      return emit reached();
    }
    const QPointer<SshLauncher> self(this);
    const auto progress = [shared = files->shared(), self](qint64 done, qint64 all) {
      shared->post([self, done, all] {
        if (!self) return;
        self->told_waiting_.clear();
        self->brought_some_.start();  // also by what is here already: the host answers for each log of that
        if (done > self->brought_bytes_) self->brought_more_.start();
        self->brought_bytes_ = std::max(done, self->brought_bytes_);
        emit self->bringing_back(done, all);
      });
    };
    const auto task = std::make_shared<BringFolder>(bringing_, bringing_to_, progress, host_->host().keep_files,
                                                    host_->needed().is_made(bringing_), !leaves_all_there());
    bringing_folder_ = task;
    bring_task_ = files->run(task, this, [this, again, task, use = host_->use_of_files()](const SshProblem& trouble) mutable {
      use.reset();
      bring_task_.reset();
      all_here_ = all_here();
      bringing_folder_.reset();
      const bool is_over = trouble.none() || (task->all_here() && trouble.kind == SshProblem::Kind::files);
      if (trouble.none() && leaves_all_there()) return on_brought_back({}, Left::told);
      is_over ? on_brought_back(trouble.text(), Left::nothing) : again(trouble);
    });
  });
}

void SshLauncher::on_brought_back(const QString& error, Left left) {
  const QString folder = std::exchange(bringing_, {});
  const bool any_there = left != Left::nothing && !made_no_folder_;
  patience_.reset();
  // Where this bench slept what is left is older than a day already: while it lives it spares that, also where it cannot be touched now.
  any_there ? touch(folder) : host_->needed().remove(folder);
  QStringList told;
  if (any_there && leaves_all_there() && (error.isEmpty() || left == Left::rest))
    told += QString("what a dead group had in memory could not be read back, and stays with its logs: they are %1").arg(on_host(folder));
  if (!error.isEmpty()) told += error;
  if (any_there && left == Left::rest && !leaves_all_there()) told += "the rest is " + on_host(folder);
  emit brought_back(told.join("; "), left == Left::nothing);
}

/// Whoever connects after that sweeps it.
QString SshLauncher::on_host(const QString& folder) const {
  return QString("on %1 in %2%3").arg(host_->name(), folder, host_->host().keep_files ? QString() : ", for a day");
}

bool SshLauncher::all_here() const {
  return all_here_ || (bringing_folder_ && bringing_folder_->all_here());
}

QString SshLauncher::leave_files() {
  if (bringing_.isEmpty()) return {};
  patience_.reset();
  // A connection that ends answers its tasks, so this one is of the present one.
  if (SshFiles* files = host_->files(); files && bring_task_) files->give_up(*bring_task_);
  bring_task_.reset();
  asking_.reset();
  all_here_ = SshLauncher::all_here();
  bringing_folder_.reset();
  SshLauncher::touch(bringing_);  // the destructor comes here, too
  return on_host(std::exchange(bringing_, {}));
}

QString SshLauncher::remote_of(const QString& local_file) const {
  const QFileInfo info(local_file);
  return folder_for(info.path()) + '/' + info.fileName();
}

void SshLauncher::follow(const QString& local_file) {
  if (followed_.contains(local_file)) return;
  followed_ += local_file;
  follow_again();
}

/// As long as the process lives: with the connection for control it is lost, too.
void SshLauncher::follow_again() {
  if (!exec_ || !host_->control()) return;
  host_->with_files(this, [this](const SshProblem& problem, SshFiles* files) {
    if (!problem.none()) return;
    for (const QString& local : followed_) files->follow(remote_of(local), local);
  });
}

void SshLauncher::unfollow(const QString& local_file) {
  followed_.removeAll(local_file);
  if (SshFiles* files = host_->files()) files->unfollow(local_file);
}

}  // namespace n2nq::app
