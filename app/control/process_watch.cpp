// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/control/process_watch.h"

#include <signal.h>
#include <string.h>

#include <QThread>
#include <algorithm>
#include <utility>

#include "broker/wire/messages.h"

namespace n2nq::app {

namespace {

template <class... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <class... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

constexpr int look_again_ms = 500;
constexpr int exit_lease_lost = 3;  // of the programs (docs/control-protocol.md)

}  // namespace

ProcessWatch::ProcessWatch(QString name, std::unique_ptr<Launcher> launcher, QThread& reader_thread, ProcessDeadlines deadlines,
                           const SleepWatch& sleep_watch)
    : name_(std::move(name)), launcher_(std::move(launcher)), deadlines_(deadlines), sleep_watch_(sleep_watch) {
  auto reader = std::make_unique<MessageReader>(launcher_->is_behind_login());
  reader->moveToThread(&reader_thread);
  reader_ = reader.release();
  connect(&reader_thread, &QThread::finished, reader_, &QObject::deleteLater);
  connect(launcher_.get(), &Launcher::output, reader_, &MessageReader::feed);
  connect(reader_, &MessageReader::message, this, &ProcessWatch::on_message);
  connect(reader_, &MessageReader::nonsense, this,
          [this](const QString& what) { give_up("said something that is no control message: " + what); });
  connect(reader_, &MessageReader::too_much, this, &ProcessWatch::give_up);
  connect(reader_, &MessageReader::drained, this, &ProcessWatch::on_drained);
  connect(launcher_.get(), &Launcher::keeps_back, this, [this](bool keeps) {
    if (answered() || exited_ || phase_ != Phase::running) return;
    keeps ? hello_timer_.stop() : hello_timer_.start(launcher_->step_ms(deadlines_.hello));
  });
  connect(launcher_.get(), &Launcher::not_made, this, [this](const QString& why) {
    if (!answered()) give_up(why);
  });
  const auto on_pause_over = [this](void (ProcessWatch::*tell)(const QString&)) {
    return [this, tell](const QString& why) {
      if (!std::exchange(paused_, false)) return;
      if (asked_) answer_timer_.start(deadlines_.answer);
      emit(this->*tell)(why);
    };
  };
  connect(launcher_.get(), &Launcher::not_paused, this, on_pause_over(&ProcessWatch::not_paused));
  connect(launcher_.get(), &Launcher::went_on, this, on_pause_over(&ProcessWatch::went_on));
  connect(launcher_.get(), &Launcher::not_killed, this, &ProcessWatch::on_not_killed);
  connect(launcher_.get(), &Launcher::exited, this, &ProcessWatch::on_exited);
  connect(launcher_.get(), &Launcher::gone, this, &ProcessWatch::on_exit);
  connect(launcher_.get(), &Launcher::would_ask, this, [this] { finish(QString()); });
  connect(launcher_.get(), &Launcher::failed, this, [this](const QString& why) { finish(not_started(why)); });

  answer_timer_.setSingleShot(true);
  kill_timer_.setSingleShot(true);
  left_timer_.setSingleShot(true);
  connect(&hello_timer_, &QTimer::timeout, this,
          [this] { give_up(QString("no answer within %1 s").arg(hello_timer_.limit_ms() / 1000.0, 0, 'g', 2)); });
  connect(&answer_timer_, &QTimer::timeout, this, [this] { give_up(QString("no answer for %1 s").arg(deadlines_.answer / 1000.0)); });
  connect(&lease_timer_, &QTimer::timeout, this, &ProcessWatch::renew_lease);
  connect(&kill_timer_, &QTimer::timeout, this, &ProcessWatch::kill);
  connect(&left_timer_, &QTimer::timeout, this, &ProcessWatch::leave);
}

ProcessWatch::~ProcessWatch() {
  launcher_->disconnect();
  if (reader_) {
    reader_->disconnect();
    reader_->deleteLater();
  }
}

void ProcessWatch::start(const QString& program, std::function<nlohmann::json()> configure) {
  phase_ = Phase::placing;
  connect(launcher_.get(), &Launcher::file_put, this, [this, program] {
    if (phase_ != Phase::placing) return;
    if (only_placed_) return finish(QString());
    phase_ = Phase::launching;
    launcher_->start(program);
  });
  connect(launcher_.get(), &Launcher::started, this, [this, configure = std::move(configure)] {
    phase_ = Phase::running;
    ran_ = true;
    since_answered_question_.start();
    if (cancelled_) kill();
    if (!exited_) hello_timer_.start(launcher_->step_ms(deadlines_.hello));
    send(configure());
    launcher_->write(unsent_);
    unsent_.clear();
    lease_timer_.start(deadlines_.lease);
  });
  launcher_->put_file(program);
}

void ProcessWatch::only_place() {
  only_placed_ = true;
  launcher_->put_without_asking();
}

void ProcessWatch::give_up_placing() {
  if (!placing()) return;
  const QString why = launcher_->not_reached();
  finish(why.isEmpty() ? QString() : not_started(why));
}

QString ProcessWatch::not_started(const QString& why) const {
  return name_ + " could not be started: " + why;
}

void ProcessWatch::renew_lease() {
  launcher_->write("\n");
}

void ProcessWatch::send(const nlohmann::json& object) {
  const QByteArray line = QByteArray::fromStdString(object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)) + '\n';
  if (phase_ == Phase::placing || phase_ == Phase::launching) unsent_ += line;
  if (phase_ == Phase::running) launcher_->write(line);
}

bool ProcessWatch::ask_stats(const nlohmann::json& question) {
  if (asked_ || paused_) return false;
  asked_ = true;
  since_asked_.start();
  send(question);
  answer_timer_.start(deadlines_.answer);
  return true;
}

void ProcessWatch::pause() {
  if (phase_ != Phase::running) return;
  paused_ = true;
  answer_timer_.stop();
  launcher_->pause();
}

void ProcessWatch::resume() {
  if (!paused_) return;
  paused_ = false;
  launcher_->resume();
  if (asked_) answer_timer_.start(deadlines_.answer);
}

void ProcessWatch::answered_stats() {
  if (std::exchange(asked_, false)) {
    since_answered_question_ = since_asked_;
    if (round_trip_ns_ == 0) round_trip_ns_ = since_asked_.nsecsElapsed();
  }
  answer_timer_.stop();
}

void ProcessWatch::terminate() {
  if (placing()) return finish(QString());
  if (!alive() || exited_) return;
  cancelled_ = true;
  launcher_->terminate();
  if (!kill_timer_.isActive()) kill_timer_.start(deadlines_.term_to_kill);
}

void ProcessWatch::kill() {
  if (placing()) return finish(QString());
  if (!alive()) return;
  if (exited_) return launcher_->kill();
  cancelled_ = true;
  launcher_->kill();
  if (!left_timer_.isActive()) left_timer_.start(deadlines_.killed);
}

void ProcessWatch::try_to_kill() {
  if (!alive()) return;
  exited_ ? emit not_killed("the process had ended before") : launcher_->kill();
}

void ProcessWatch::on_not_killed(const QString& why) {
  if (!alive()) return;
  if (!cancelled_) {
    if (std::exchange(paused_, false) && asked_) answer_timer_.start(deadlines_.answer);
    return emit not_killed(why);
  }
  if (exited_) return;
  const bool is_first = not_ended_because_.isEmpty();
  not_ended_because_ = why;
  launcher_->end_input();
  // As long as the ladder takes: what does not hear the end of its input is not waited for.
  if (is_first) left_timer_.start(2 * deadlines_.term_to_kill);
}

/// Nobody is to wait for it any longer. Where this bench stood still its end may be there to be heard, though.
void ProcessWatch::leave() {
  if (!std::exchange(looked_again_, true)) return left_timer_.start(look_again_ms);
  QString why = not_ended_because_.isEmpty() ? QString("it has not ended within %1 s of being killed").arg(deadlines_.killed / 1000.0)
                                             : not_ended_because_;
  if (!given_up_.isEmpty()) why = given_up_ + "; " + why;
  if (not_ended_because_.isEmpty()) not_ended_because_ = why;
  finish(QString("%1 could not be ended and may run on: %2").arg(name_, why));
}

void ProcessWatch::on_message(const SharedMessage& message) {
  if (phase_ == Phase::gone) return;
  std::visit(Overloaded{
                 [this](const HelloMessage& hello) { on_hello(hello); },
                 [this](const StateMessage& state) { emit said_state(state); },
                 [this](const ClockMessage& clock) { emit said_clock(clock); },
                 [this](const SendersStats& stats) { answered_stats(), emit said_senders_stats(stats); },
                 [this](const ReceiversStats& stats) { answered_stats(), emit said_receivers_stats(stats); },
                 [this](const FaultMessage& fault) { emit said_fault(fault); },
                 [this](const ByeMessage& bye) {
                   answer_timer_.stop();
                   bye_ = bye.object;
                 },
                 [this](const ErrorMessage& error) {
                   last_error_ = QString::fromStdString(error.key.empty() ? error.message : error.key + ": " + error.message);
                   error_code_ = error.code;
                   emit said_error(error);
                 },
             },
             *message);
}

void ProcessWatch::on_hello(const HelloMessage& hello) {
  if (hello.control != control_version) {
    return give_up(QString("speaks control protocol %1, this bench speaks %2: build them together, or put those of one version side by side")
                       .arg(hello.control)
                       .arg(control_version));
  }
  if (hello.version != N2NQ_VERSION) {
    return give_up(QString("is of version %1, this bench of version " N2NQ_VERSION
                           ": build them together, or put those of one version side by side")
                       .arg(QString::fromStdString(hello.version).left(40)));
  }
  if (hello.wire != wire::version) {
    return give_up(QString("speaks N2NQ's wire protocol %1, this bench is of %2: build them together, or put those of one version side by side")
                       .arg(hello.wire)
                       .arg(wire::version));
  }
  hello_timer_.stop();
  launcher_->end_start();
  hello_ = hello;
  emit said_hello();
}

/// It owes no answer any more, and what it said last comes, or is given up, without another word to it.
void ProcessWatch::on_exited() {
  exited_ = true;
  hello_timer_.stop();
  for (QTimer* timer : {&answer_timer_, &kill_timer_, &left_timer_}) timer->stop();
}

void ProcessWatch::on_exit(const ProcessExit& how) {
  exit_ = how;
  last_lines_ = how.last_lines;
  left_timer_.stop();
  // What it said before its end may still be on its way through the reader.
  QMetaObject::invokeMethod(reader_.get(), &MessageReader::end);
}

void ProcessWatch::on_drained() {
  const bool seen_to_end = exited_ || exit_->lost.isEmpty();
  const bool in_order = bye_ && exit_->signal == 0 && exit_->code == 0 && seen_to_end && given_up_.isEmpty();
  finish(in_order ? QString() : exit_sentence());
}

void ProcessWatch::give_up(const QString& why) {
  if (!alive() || !given_up_.isEmpty()) return;
  given_up_ = why;
  hello_timer_.stop();
  answer_timer_.stop();
  kill();
}

void ProcessWatch::finish(const QString& trouble) {
  if (phase_ == Phase::gone) return;
  phase_ = Phase::gone;
  hello_timer_.stop();
  for (QTimer* timer : {&lease_timer_, &answer_timer_, &kill_timer_, &left_timer_}) timer->stop();
  launcher_->give_up_put();
  emit gone(trouble);
}

QString ProcessWatch::exit_sentence() const {
  const QString not_ended = not_ended_because_.isEmpty()
                                ? QString()
                                : QString("could not be told to end (its input was closed instead): %1").arg(not_ended_because_);
  if (!given_up_.isEmpty()) return QString("%1 died: %2%3").arg(name_, given_up_, not_ended.isEmpty() ? QString() : "; it " + not_ended);
  if (!not_ended.isEmpty()) return name_ + ' ' + not_ended;
  // Of one that ended well its account is lost.
  const bool is_told = exited_ && (exit_->signal != 0 || exit_->code != 0);
  if (!exit_->lost.isEmpty() && !is_told) return QString("%1 lost: %2").arg(name_, exit_->lost);
  if ((exit_->signal == 0 && exit_->code == exit_lease_lost) || exit_->signal == SIGALRM) {
    const QString slept = sleep_watch_.sentence();
    return QString("%1 died: heard nothing from this bench any more and ended by itself. %2")
        .arg(name_, slept.isEmpty() ? QString("Did the link stand still?") : slept);
  }
  if (exit_->signal == 0 && exit_->code == 0 && !last_error_.isEmpty()) return QString("%1 died: %2").arg(name_, last_error_);
  const QString cause = exit_->signal != 0 ? QString("signal %1 (%2)").arg(exit_->signal).arg(::strsignal(exit_->signal))
                                           : QString("exit code %1").arg(exit_->code);
  return QString("%1 died: %2%3").arg(name_, cause, last_error_.isEmpty() ? QString() : ": " + last_error_);
}

}  // namespace n2nq::app
