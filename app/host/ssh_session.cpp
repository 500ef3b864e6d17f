// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/ssh_session.h"

#include <sys/socket.h>

#include <QHostAddress>
#include <QPointer>
#include <QRegularExpression>

#include "app/host/ssh_threads.h"

namespace n2nq::app {

namespace {

constexpr int deadline_look_ms = 200;
constexpr int looks_behind_end_max = 4;  // a thread that is given a core, and hangs on nothing, is over by then
constexpr int addresses_max = 4;
constexpr int agent_answers_ms = 1'000;  // one that need not ask
constexpr int attempts_max = 3;          // of a host that hangs up while the person is asked
// A host that is there answers when it is asked, after 3 s; one behind it that is lost by its silence knows so 6 s after the last word of
// both at the earliest.
constexpr int jump_silent_ms = 5'000;
constexpr int jump_ends_ms = 200;  // within which the end of a jump host is known when a connection through it has ended

}  // namespace

SshSession::SshSession(QString name, SshHostConfig config, SshUse use, SshQuestions& questions, std::shared_ptr<SshSecrets> secrets,
                       std::shared_ptr<SshSession> via)
    : name_(std::move(name)),
      config_(std::move(config)),
      use_(use),
      questions_(questions, [this] { emit asking(); }),
      secrets_(std::move(secrets)),
      via_(std::move(via)),
      shared_(std::make_shared<SshShared>(this)) {
  connect(this, &SshSession::asking, this, [this] { person_asked_ = true; });
  deadline_timer_.setInterval(deadline_look_ms);
  connect(&deadline_timer_, &QTimer::timeout, this, [this] {
    shared_->look_at_deadline();
    end_unheard();
  });
  connect(&reach_timer_, &QTimer::timeout, this, [this] {
    waits_for_jump_ = true;  // it has
    on_ended(reach_problem_);
  });
  agent_timer_.setSingleShot(true);
  agent_timer_.setInterval(agent_answers_ms);
  connect(&agent_timer_, &QTimer::timeout, this, [this] {
    agent_asks_ = true;
    questions_.agent_asks(true);
  });
}

SshSession::~SshSession() {
  leave_via();
  for (const auto& [id, exec] : execs_) exec->session_ = nullptr;
  leave_shared();
  on_agent_waits(false);
}

void SshSession::hurry_by(std::shared_ptr<StartDeadline> starts, OnTheWay on_the_way) {
  starts_ = std::move(starts);
  on_the_way_ = on_the_way;
  shared_->hurry_by(starts_, on_the_way_);
}

void SshSession::open() {
  if (state_ != State::idle) return;
  state_ = State::connecting;
  declines_before_ = secrets_->declines();
  attempts_left_ = attempts_max;
  connect_now();
}

void SshSession::connect_now() {
  --attempts_left_;
  waits_for_jump_ = false;
  questions_.begin();
  if (!config_.problems.isEmpty()) {
    end_later({SshProblem::Kind::settings, QString("%1: %2").arg(name_, config_.problems.front()), "Mend that: ssh does not connect so, either"});
  } else if (!config_.proxy_command.isEmpty()) {
    run_proxy();
  } else if (via_) {
    go_via();
  } else if (!config_.jumps.isEmpty()) {
    end_later({SshProblem::Kind::settings,
               QString("%1: its jump hosts lead back to one another (ProxyJump %2)").arg(name_, config_.jumps.join(',')),
               "Name a jump host in ~/.ssh/config that is reached without them"});
  } else {
    look_up();
  }
}

void SshSession::close() {
  const SshProblem closed{SshProblem::Kind::closed, QString("the connection to %1 was closed").arg(name_), {}};
  if (state_ == State::idle || state_ == State::connecting) end_later(closed);
  shared_->close(closed);
}

void SshSession::look_up() {
  if (!QHostAddress(config_.host_name).isNull()) return start({config_.host_name}, nullptr);
  shared_->begin_reach();
  const int limit_ms = shared_->reach_step_ms();
  end_unless_started(limit_ms,
                     {SshProblem::Kind::name,
                      QString("%1: no answer about the name %2 within %3 s")
                          .arg(name_, config_.host_name, QString::number(limit_ms / 1000.0, 'g', 2)),
                      shared_->reach_advice("Does the name service answer? With the address itself nobody is asked", limit_ms)});
  // Of its own: where a few are shared, names without an answer keep others from being asked for.
  const auto asks = [self = this, shared = shared_, name = config_.host_name] {
    shared->post([self, answer = NameAnswer::of(name)] { self->on_looked_up(answer); });
  };
  if (!SshThreads::start(asks, SshThreads::AtEnd::leaves_it)) end_without_thread();
}

void SshSession::on_looked_up(const NameAnswer& answer) {
  QStringList addresses = answer.addresses;
  if (addresses.removeOne(preferred_)) addresses.prepend(preferred_);
  addresses = addresses.mid(0, addresses_max);
  if (addresses.isEmpty()) {
    return on_ended({SshProblem::Kind::name,
                     QString("%1: there is no address for the name %2 (%3)").arg(name_, config_.host_name, answer.why_none),
                     "Write the address itself, or a name that ~/.ssh/config or the network knows"});
  }
  start(addresses, nullptr);
}

void SshSession::run_proxy() {
  // Where they stand in the command, a shell reads them.
  for (const QString& text : {config_.user, config_.host_name, config_.name}) {
    static const QRegularExpression harmless("\\A[A-Za-z0-9._:%@+-]*\\z");
    if (harmless.match(text).hasMatch() || !config_.proxy_command.contains(text)) continue;
    return end_later({SshProblem::Kind::settings,
                      QString("%1: its ProxyCommand cannot be given \"%2\", which a shell may understand").arg(name_, text),
                      "A user and a name of letters, digits and . _ : @ + - can be"});
  }
  proxy_ = std::make_unique<SshProxy>(config_.proxy_command);
  if (auto socket = proxy_->take_socket()) return start({}, std::move(socket));
  end_later(
      {SshProblem::Kind::unreachable, QString("%1: its ProxyCommand could not be started: %2").arg(name_, config_.proxy_command), {}});
}

/// Which asks the person for nothing when nobody needs it any more.
void SshSession::leave_via() {
  if (!via_) return;
  via_->behind_.erase(this);
  if (via_->behind_.empty() && via_->state_ == State::connecting) via_->close();
}

/// What is behind a jump host is lost with it, and is not to be blamed.
SshProblem SshSession::blame_jump(const SshProblem& given) const {
  if (!via_ || (given.kind != SshProblem::Kind::lost && given.kind != SshProblem::Kind::unreachable)) return given;
  const QString what = state_ == State::ready ? QString("the connection to %1 was lost").arg(name_) : name_;
  if (via_->state() == State::ended) {
    SshProblem told = jump_failed(what);
    if (state_ == State::ready) told.kind = given.kind, told.of_jump_host = false;
    return told;
  }
  const int silence_ms = via_->shared()->silence_ms();
  if (silence_ms < jump_silent_ms) return given;
  return {given.kind, QString("%1: its jump host %2 has not answered for %3 s").arg(what, via_->name()).arg(silence_ms / 1000),
          QString("Is %1 still switched on, and is the network in order?").arg(via_->name())};
}

SshProblem SshSession::jump_failed(const QString& what) const {
  const SshProblem& why = via_->problem();
  SshProblem told{why.kind, QString("%1: its jump host failed: %2").arg(what, why.why), why.what_to_do};
  told.of_jump_host = true;
  told.own_files_away = why.own_files_away;
  return told;
}

void SshSession::go_via() {
  via_->behind_.insert(this);
  connect(via_.get(), &SshSession::asking, this, &SshSession::asking, Qt::UniqueConnection);
  // What was asked for one that stands was asked for others.
  if (via_->state() != State::ready) person_asked_ = person_asked_ || via_->person_asked_;
  if (patient_) via_->patient_ = true;
  via_->hurry_by(starts_, OnTheWay::yes);
  const auto dial = [this](int reach_ms) {
    reach_ms_ = reach_ms;
    shared_->begin_reach(reach_ms);
    const int limit_ms = shared_->reach_step_ms();
    const QString advice = "Is it switched on, is its address right, as the jump host sees it, and does sshd listen on that port?";
    end_unless_started(limit_ms, {SshProblem::Kind::unreachable,
                                  QString("%1 cannot be reached from the jump host %2: no answer from %3 port %4 within %5 s")
                                      .arg(name_, via_->name(), config_.host_name, QString::number(config_.port),
                                           QString::number(limit_ms / 1000.0, 'g', 2)),
                                  shared_->reach_advice(advice, limit_ms)});
    via_->dial(config_.host_name, config_.port, this, [this](const SshProblem& problem, std::shared_ptr<OwnedFd> socket) {
      if (problem.none()) return start({}, std::move(socket));
      SshProblem told = problem;
      if (!told.why.startsWith(name_)) told.why = name_ + ": " + told.why;
      on_ended(told);
    });
  };
  const auto over = [this] { on_ended(jump_failed(name_)); };
  connect(via_.get(), &SshSession::ended, this, [this, over] {
    if (shared_ && state_ == State::connecting) over();
  });
  if (via_->state() == State::ready) return dial(ssh_reach_ms_max);
  // What the way there has taken is not there any more for what is behind it.
  connect(via_.get(), &SshSession::ready, this, [this, dial] { dial(via_->shared()->reach_left_ms()); });
  if (via_->state() == State::ended) {
    QTimer::singleShot(0, this, over);
  } else {
    via_->open();
  }
}

void SshSession::start(const QStringList& addresses, std::shared_ptr<OwnedFd> socket) {
  if (state_ != State::connecting) return;
  const int taken_ms = reach_timer_.isActive() ? reach_timer_.taken_ms() : 0;
  reach_timer_.stop();
  shared_->begin_reach(reach_ms_ - taken_ms);
  deadline_timer_.start();
  // The session may be gone when the thread comes to say something: post() knows.
  const auto agent_waits = [self = this, shared = std::weak_ptr(shared_)](bool waits) {
    if (const auto there = shared.lock()) there->post([self, waits] { self->on_agent_waits(waits); });
  };
  SshTarget target{config_, name_, addresses, std::move(socket), &questions_, secrets_, agent_waits, declines_before_, patient_};
  const bool begun = SshThreads::start([self = this, shared = shared_, use = use_, target = std::move(target)]() mutable {
    SshProblem problem;
    try {
      SshWorker worker(std::move(target), use, shared);
      problem =
          worker.run([self, &shared](SshLink& link) { shared->post([self, address = link.address()] { self->on_connected(address); }); });
    } catch (const SshError& error) {
      problem = error.problem;
    }
    shared->post([self, problem] { self->on_ended(problem); });
  });
  if (!begun) end_without_thread();
}

void SshSession::on_connected(const QString& address) {
  if (state_ != State::connecting) return;
  address_ = address;
  state_ = State::ready;
  emit ready();
}

void SshSession::end_unless_started(int limit_ms, const SshProblem& why) {
  reach_problem_ = why;
  reach_timer_.start(limit_ms);
}

void SshSession::on_agent_waits(bool waits) {
  if (waits && state_ == State::connecting) return agent_timer_.start();
  agent_timer_.stop();
  if (std::exchange(agent_asks_, false)) questions_.agent_asks(false);
}

void SshSession::end_later(const SshProblem& why) {
  QTimer::singleShot(0, this, [this, why] { on_ended(why); });
}

/// Its thread may hang, and is not to keep others from asking the person.
void SshSession::leave_shared() {
  shared_->leave();
  secrets_->give_up_asking(shared_.get());
}

void SshSession::end_without_thread() {
  end_later({SshProblem::Kind::lost, QString("%1: no thread could be begun for the connection").arg(name_),
             "Are there too many processes or threads on this machine (ulimit -u)?"});
}

/// A thread that hangs on a file of this machine, whose file server is away, cannot be ended: it is left. Not behind the log-in, where one that
/// writes what was fetched could meet the next one at the same file.
void SshSession::end_unheard() {
  looks_behind_end_ = state_ == State::connecting && shared_->closed() ? looks_behind_end_ + 1 : 0;
  if (looks_behind_end_ > looks_behind_end_max) on_ended(shared_->why_closed());
}

void SshSession::on_ended(const SshProblem& given) {
  if (state_ == State::ended) return;
  // What ends because its jump host does may hear of it first.
  const bool may_be_the_jump = given.kind == SshProblem::Kind::lost || given.kind == SshProblem::Kind::unreachable;
  if (via_ && via_->state_ == State::ready && may_be_the_jump && !std::exchange(waits_for_jump_, true)) {
    QTimer::singleShot(jump_ends_ms, this, [this, given] { on_ended(given); });
    return;
  }
  on_agent_waits(false);
  if (given.again && state_ == State::connecting && attempts_left_ > 0) {
    leave_shared();
    shared_ = std::make_shared<SshShared>(this);
    shared_->hurry_by(starts_, on_the_way_);
    return connect_now();
  }
  SshProblem why = blame_jump(given);
  why.last_heard = given.last_heard;
  why.person_asked = person_asked_;
  leave_via();
  if (proxy_ && state_ == State::connecting && why.kind == SshProblem::Kind::unreachable) {
    const QString said = proxy_->said();
    if (!said.isEmpty()) why.why += QString("; its ProxyCommand said: %1").arg(said);
    why.what_to_do = QString("Try the ProxyCommand of ~/.ssh/config by hand: %1").arg(config_.proxy_command);
  }
  state_ = State::ended;
  problem_ = why;
  deadline_timer_.stop();
  reach_timer_.stop();
  shared_->close(why);
  secrets_->give_up_asking(shared_.get());  // behind that: who comes to its turn only now finds it closed
  questions_.withdraw();  // behind that: what they are answered with now is no word of the person
  proxy_.reset();
  // Who hears of the end may destroy this.
  const QPointer<SshSession> still_here(this);
  for (const auto& [id, exec] : std::exchange(execs_, {})) {
    QPointer<SshExec> told(exec);
    QTimer::singleShot(0, exec, [told, why] {
      if (told) told->on_lost(why);
    });
    exec->session_ = nullptr;
  }
  if (still_here) emit ended(why);
}

void SshSession::run(SshShared::Job job) {
  if (state_ == State::ready) shared_->give(std::move(job));
}

void SshSession::dial(const QString& host, int port, QObject* context, Dialled answer) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return answer({SshProblem::Kind::lost, QString("%1: no socket could be made for the jump").arg(name_), {}}, nullptr);
  }
  auto near = std::make_shared<OwnedFd>(ends[0]);
  auto far = std::make_shared<OwnedFd>(ends[1]);
  const QPointer<QObject> asked(context);
  const auto told = [self = this, shared = shared_, asked, near, answer](const SshProblem& problem) {
    shared->post([self, asked, near, answer, problem] {
      if (problem.lets_nobody_through) self->lets_through_ = false;
      if (asked) answer(problem, problem.none() ? near : nullptr);
    });
  };
  run([host, port, far, told](SshWorker& worker) {
    worker.add(std::make_unique<SshForward>(worker.link(), std::move(*far), host.toUtf8(), port, told));
  });
}

quint64 SshSession::begin_exec(SshExec* exec, const QByteArray& command, SshExec::Late late) {
  const quint64 id = next_exec_++;
  execs_[id] = exec;
  // Events find their way by number: an exec that was destroyed meanwhile hears nothing.
  const auto to_exec = [self = this, shared = shared_, id](auto&& call) {
    shared->post([self, id, call] {
      const auto found = self->execs_.find(id);
      if (found != self->execs_.end()) call(*found->second);
    });
  };
  SshChannelEvents events;
  events.started = [to_exec] { to_exec([](SshExec& told) { emit told.started(); }); };
  events.failed = [to_exec](const QString& why) { to_exec([why](SshExec& told) { told.on_failed(why); }); };
  events.exited = [to_exec](const SshExit& how) { to_exec([how](SshExec& told) { told.on_exited(how); }); };
  events.ended = [to_exec](const SshExit& how) { to_exec([how](SshExec& told) { told.on_ended(how); }); };
  events.output = [self = this, shared = shared_, id, unread = unread_](const QByteArray& bytes, bool is_stderr) {
    shared->post([self, id, bytes, is_stderr, unread] {
      unread->fetch_sub(bytes.size());
      const auto found = self->execs_.find(id);
      if (found == self->execs_.end()) return;
      is_stderr ? emit found->second->error_output(bytes) : emit found->second->output(bytes);
    });
  };
  run([id, command, late, events, unread = unread_](SshWorker& worker) {
    worker.add(std::make_unique<SshChannel>(worker.link(), id, command, late, events, unread));
  });
  return id;
}

void SshSession::forget_exec(quint64 id) {
  execs_.erase(id);
  run([id](SshWorker& worker) {
    if (SshChannel* channel = worker.channel(id)) channel->close();
  });
}

}  // namespace n2nq::app
