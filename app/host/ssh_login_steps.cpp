// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/ssh_login_steps.h"

#include <poll.h>

#include <QFile>
#include <QRegularExpression>
#include <algorithm>
#include <utility>

#include "app/host/shell_quoted.h"

namespace n2nq::app {

namespace {

constexpr int answer_look_ms = 500;
constexpr std::chrono::milliseconds agent_look_every{500};  // whether the session was closed while it answers others

}  // namespace

void LoginSteps::begin() {
  link_.shared().check();
  begin_step();
}

void LoginSteps::begin_step() {
  const int limit_ms = link_.shared().reach_step_ms();
  link_.shared().begin_step(
      limit_ms,
      {SshProblem::Kind::lost,
       QString("%1 did not answer for %2 s while logging in").arg(link_.target().name).arg(limit_ms / 1000.0, 0, 'g', 2),
       "Does sshd there wait for something: a home folder or a name service that is away? " + link_.shared().time_words(limit_ms)});
}

bool LoginSteps::begin_agent() {
  const SshProblem silent{SshProblem::Kind::login,
                          QString("%1: the SSH agent did not answer for %2 s").arg(link_.target().name).arg(ssh_agent_ms_max / 1000),
                          "Does it ask for something, in another window? What ssh-add -l says shows whether it answers"};
  link_.shared().end_step();
  left_for_host_ms_ = link_.shared().reach_left_ms();
  link_.target().agent_waits(true);
  const int unanswered = secrets().unanswered(turn_at_agent());
  bool has_turn = false;
  while (!has_turn && !link_.shared().closed()) {
    has_turn = secrets().begin_asking(turn_at_agent(), &link_.shared(), agent_look_every);
    // It still hangs on what another machine asked, and minute after minute would pass.
    if (secrets().unanswered(turn_at_agent()) != unanswered) link_.shared().close(silent);
  }
  if (has_turn) close_unless_it_waited();
  if (link_.shared().closed()) {
    if (has_turn) secrets().end_asking(turn_at_agent(), &link_.shared());
    link_.target().agent_waits(false);
    return false;
  }
  agent_asked_.start();
  link_.shared().begin_step(ssh_agent_ms_max, silent);
  return true;
}

void LoginSteps::end_agent() {
  secrets().end_asking(turn_at_agent(), &link_.shared(), !link_.shared().closed() || agent_asked_.elapsed() < ssh_agent_ms_max);
  link_.target().agent_waits(false);
  close_unless_it_waited();
  link_.shared().begin_reach(left_for_host_ms_);
  begin_step();
}

void LoginSteps::close_unless_it_waited() {
  if (link_.has_hung_up()) link_.shared().close(link_.did_not_wait());
}

QString LoginSteps::turn_at_agent() const {
  return "agent " + config().identity_agent;
}

/// libssh would wait for ever for an answer that a host which has hung up cannot give. So it is asked without blocking, and waited for
/// here.
int LoginSteps::answer_to(const std::function<int()>& call) {
  for (;;) {
    const int code = call();
    if (code != SSH_AUTH_AGAIN) return code;
    if (!ssh_is_connected(session())) return SSH_AUTH_ERROR;
    const bool writes = (ssh_get_poll_flags(session()) & SSH_WRITE_PENDING) != 0;
    pollfd waits[] = {{ssh_get_fd(session()), static_cast<short>(writes ? POLLIN | POLLOUT : POLLIN), 0},
                      {link_.shared().wake_fd(), POLLIN, 0}};
    ::poll(waits, 2, answer_look_ms);
    if (waits[1].revents != 0) link_.shared().clear_wake();
    link_.shared().check();
  }
}

LoginSteps::Outcome LoginSteps::outcome_of(int code, const std::vector<Given>& given) {
  const Outcome outcome = code == SSH_AUTH_SUCCESS ? Outcome::in : code == SSH_AUTH_PARTIAL ? Outcome::partly : Outcome::refused;
  link_.shared().check();  // what was cut off from here says nothing about the answer
  if (outcome == Outcome::refused) std::for_each(given.begin(), given.end(), [this](const Given& each) { spare(each); });
  for (const Given& each : given) settle(each, outcome != Outcome::refused);
  if (code == SSH_AUTH_ERROR && !ssh_is_connected(session())) {
    const QString refused = link_.error();
    const QString tried = tried_.isEmpty() ? QString() : "; tried " + tried_.join(", ");
    const bool too_many = refused.contains("Too many authentication failures");
    const auto is_typed = [this](const QString& way) { return typed_.contains(way); };
    const bool typed = !tried_.isEmpty() && is_typed(tried_.back());
    throw SshError(SshProblem::Kind::login,
                   QString("%1 ended the connection while logging in as %2 (%3)%4").arg(link_.target().name, config().user, refused, tried),
                   !too_many ? "Its sshd says why, in its log"
                   : typed && std::all_of(tried_.begin(), tried_.end(), is_typed)
                       ? "What was typed was wrong as often as its sshd allows (MaxAuthTries); nothing of it is kept, nor in the keyring. "
                         "Try again. Is the user right?"
                   : typed
                       ? "What was typed was wrong, and what was tried before counts, too (MaxAuthTries in its sshd_config)"
                       : "Say which key is the right one, so that it is shown first: as the key file of this host, or in ~/.ssh/config by "
                         "IdentityFile and IdentitiesOnly yes");
  }
  return outcome;
}

/// A system that boots refuses who is not root behind the right answer (pam_nologin).
void LoginSteps::spare(const Given& given) const {
  if (!link_.target().patient || !given.known || !given.alone || !secrets().was_right(given.memory)) return;
  const QString what = is_for_the_password(given.question) ? "the password" : "the answer";
  throw SshError(SshProblem::Kind::login,
                 QString("%1 refuses %2 of %3 that it took before").arg(link_.target().name, what, config().user),
                 "Is it still booting, or has that been changed there?");
}

void LoginSteps::settle(const Given& given, bool right) {
  right ? secrets().keep(given.memory, given.secret) : secrets().forget(given.memory);
  if (right) secrets().note_right(given.memory);
  // A host that has hung up over it is not tried again with anything that may be it.
  SecretQuestion question = given.question;
  question.several = !right && !given.alone && !link_.has_hung_up();
  link_.shared().post([questions = link_.target().questions, question, right] { questions->answered(question, right); });
}

SecretQuestion LoginSteps::question(SecretQuestion::Kind kind) const {
  SecretQuestion out;
  out.kind = kind;
  out.host = link_.target().name;
  out.user = config().user;
  out.address = address();
  return out;
}

std::vector<Secret> LoginSteps::ask(const SecretQuestion& question, const QString& memory) {
  const std::size_t wanted = question.prompts.size();
  auto answers = link_.shared().ask_secrets(
      [questions = link_.target().questions, question](const auto& answered) { questions->ask_secrets(question, answered); });
  if (!answers || answers->size() != wanted) {
    link_.shared().check();  // nobody has heard a question that was withdrawn
    if (!memory.isEmpty()) secrets().decline(memory);
    none_given(question);
  }
  if (link_.has_hung_up() && wanted == 1 && !memory.isEmpty() && may_be_right_again(question)) secrets().keep(memory, answers->front());
  link_.check_that_it_waited();
  return std::move(*answers);
}

void LoginSteps::none_given(const SecretQuestion& question) const {
  const QString what = question.kind == SecretQuestion::Kind::passphrase ? "the passphrase of " + question.key_file
                       : question.kind == SecretQuestion::Kind::password ? QString("a password")
                                                                         : QString("an answer to \"%1\"").arg(question.prompts[0].text);
  // The last is what it is needed for.
  const QStringList before = tried_.mid(0, tried_.size() - 1);
  const QString tried = before.isEmpty() ? QString() : QString(" (tried before: %1)").arg(before.join(", "));
  throw SshError(SshProblem::Kind::login,
                 QString("%1 needs %2 to log in as %3, and none was given%4").arg(link_.target().name, what, config().user, tried),
                 !advice_.isEmpty() ? advice_
                 : question.kind == SecretQuestion::Kind::passphrase
                     ? QString("Without being asked: ssh-add %1").arg(shell_quoted(question.key_file))
                     : QString("Is the user right? Without being asked, with a key there: %1").arg(how_to_bring_a_key()));
}

QString LoginSteps::address() const {
  return QString("%1 port %2").arg(config().host_name, QString::number(config().port));
}

QString LoginSteps::account() const {
  return QString("%1@%2 (%3)").arg(config().user, config().name, address());
}

/// User and port may stand in the hosts file only, which ssh does not know.
QString LoginSteps::how_to_bring_a_key() const {
  constexpr int usual_port = 22;
  const QString port = config().port == usual_port ? QString() : QString("-p %1 ").arg(config().port);
  // Only a key with a usual name does it find by itself.
  const QStringList& files = config().identity_files;
  link_.begin_files(files);
  const auto key = std::find_if(files.begin(), files.end(), [](const QString& file) { return QFile::exists(file + ".pub"); });
  const QString with_key = key == files.end() ? QString() : QString("-i %1 ").arg(shell_quoted(*key));
  // Most users need no quotes, and are read more easily without.
  const QString to = config().user + '@' + config().name;
  static const QRegularExpression plain("\\A[A-Za-z0-9._:%@+-]+\\z");
  return QString("ssh-copy-id %1%2%3").arg(with_key, port, plain.match(to).hasMatch() ? to : shell_quoted(to));
}

void LoginSteps::give_up() const {
  const int methods = ssh_userauth_list(session(), nullptr);
  QStringList taken;
  if (methods & SSH_AUTH_METHOD_PUBLICKEY) taken += "keys";
  if (methods & SSH_AUTH_METHOD_INTERACTIVE) taken += way_prompts;
  if (methods & SSH_AUTH_METHOD_PASSWORD) taken += way_password;
  const QString tried = tried_.isEmpty() ? QString("there is nothing to log in with: no key file, no agent") : "tried " + tried_.join(", ");
  throw SshError(
      SshProblem::Kind::login,
      QString("%1 does not let %2 in: %3; it takes %4")
          .arg(link_.target().name, config().user, tried, taken.isEmpty() ? QString("nothing that is known here") : taken.join(", ")),
      !advice_.isEmpty() ? advice_ : QString("Is the user right? A key is brought there with: %1").arg(how_to_bring_a_key()));
}

}  // namespace n2nq::app
