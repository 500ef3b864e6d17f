// SPDX-License-Identifier: GPL-3.0-or-later
// Logging in, in this order, as far as the host takes it: keys, keyboard-interactive, password. Nothing is asked of a person before the
// host has said that the answer could help.
#include "app/host/ssh_link.h"
#include "app/host/ssh_login_steps.h"
#include "app/host/ssh_turn.h"

namespace n2nq::app {

namespace {

using Outcome = LoginSteps::Outcome;

constexpr int prompt_rounds_max = 10;  // of one keyboard-interactive attempt
constexpr int prompts_max = 16;
constexpr qsizetype prompt_chars_max = 1000;
const QString other_way = "Try what it asks by hand with ssh; a key of yours in its authorized_keys lets you in without being asked";

/// What a host says is shown without what could move the cursor or hide something.
QString printable(const char* text) {
  QString out;
  for (const QChar c : QString::fromUtf8(text ? text : "").left(prompt_chars_max)) {
    if (c == '\n' || c.isPrint()) out += c;
  }
  return out.trimmed();
}

class Login {
 public:
  explicit Login(SshLink& link) : steps_(link), session_(link.session()) {}
  void run();

 private:
  Outcome by_prompts();
  struct Attempt {
    bool asked = false;  // the person, for something of it
    int answered = 0;    // by the person, or from memory
    bool changes_password = false;  // on the way: it has expired
    bool several() const { return answered > 1; }
  };
  Outcome prompts_once(const Attempt& before, Attempt& now);
  Outcome by_password();

  LoginSteps steps_;
  ssh_session session_;
};

void Login::run() {
  steps_.begin();
  if (steps_.exchange([&] { return ssh_userauth_none(session_, steps_.user()); }) == Outcome::in) return;
  bool keys = true, prompts = true, password = true;
  for (;;) {
    const int methods = ssh_userauth_list(session_, nullptr);
    Outcome outcome = Outcome::refused;
    if (keys && (methods & SSH_AUTH_METHOD_PUBLICKEY)) {
      keys = false;
      outcome = log_in_by_keys(steps_);
    } else if (prompts && (methods & SSH_AUTH_METHOD_INTERACTIVE)) {
      prompts = false;
      outcome = by_prompts();
    } else if (password && (methods & SSH_AUTH_METHOD_PASSWORD)) {
      password = false;
      outcome = by_password();
    } else {
      steps_.give_up();
    }
    if (outcome == Outcome::in) return;
  }
}

Outcome Login::by_prompts() {
  steps_.add_tried(LoginSteps::way_prompts);
  Attempt before;
  for (int attempt = 0, asked = 0; asked < login_attempts_max && attempt <= login_attempts_max; ++attempt) {
    Attempt now;
    const Outcome outcome = prompts_once(before, now);
    // A host that asks for nothing goes on to ask for nothing, and counts each time (MaxAuthTries).
    if (outcome != Outcome::refused || now.answered == 0) return outcome;
    if (!now.asked) continue;
    ++asked;
    before = now;
  }
  return Outcome::refused;
}

/// A single prompt without echo is answered from memory where the same was asked before: the second connection to a host asks nobody again.
Outcome Login::prompts_once(const Attempt& before, Attempt& now) {
  std::vector<LoginSteps::Given> given;
  std::optional<TurnToAsk> turn;  // until it is known whether the answer was right
  QString said;                   // with nothing to answer
  for (int round = 0; round < prompt_rounds_max; ++round) {
    steps_.begin();
    const int code = steps_.answer_to([this] { return ssh_userauth_kbdint(session_, steps_.user(), nullptr); });
    if (code != SSH_AUTH_INFO) {
      for (LoginSteps::Given& each : given) each.alone = !now.several();
      // Of several one is a code, as a rule, which would be tried in vain with the next connection.
      const bool is_right = code == SSH_AUTH_SUCCESS || code == SSH_AUTH_PARTIAL;
      if (now.changes_password) given.clear();  // the old one
      if (is_right && now.several()) {
        std::erase_if(given, [](const LoginSteps::Given& each) { return !is_for_the_password(each.question); });
      }
      const Outcome outcome = steps_.outcome_of(code, given);
      if (outcome != Outcome::refused) steps_.secrets().note_answered(steps_.account());
      return outcome;
    }
    const int amount = ssh_userauth_kbdint_getnprompts(session_);
    said += printable(ssh_userauth_kbdint_getname(session_)) + '\n' + printable(ssh_userauth_kbdint_getinstruction(session_)) + '\n';
    if (amount <= 0) continue;
    if (amount > prompts_max) {
      throw SshError(SshProblem::Kind::login, QString("%1 asks for %2 things at once, and not more than %3 are understood")
                                                  .arg(steps_.link().target().name)
                                                  .arg(amount)
                                                  .arg(prompts_max),
                     other_way);
    }
    SecretQuestion question = steps_.question(SecretQuestion::Kind::keyboard_interactive);
    question.instruction = std::exchange(said, {}).trimmed().left(prompt_chars_max);
    question.again = before.asked;
    question.several = before.several();
    question.once_more = !before.asked && steps_.secrets().has_answered(steps_.account());
    for (unsigned i = 0; i < static_cast<unsigned>(amount); ++i) {
      char echo = 0;
      const QString text = printable(ssh_userauth_kbdint_getprompt(session_, i, &echo));
      question.prompts.push_back({text, echo != 0});
    }
    now.changes_password = now.changes_password || is_for_a_new_password(question);
    std::vector<Secret> answers;
    const bool single = question.prompts.size() == 1 && !question.prompts[0].echo;
    const QString memory = single ? QString("prompt %1 %2").arg(steps_.account(), question.prompts[0].text) : QString();
    if (single && !turn) {
      turn.emplace(steps_.link(), memory);
      steps_.link().check_that_it_waited();
    }
    const bool may_be_kept = single && may_be_right_again(question);
    const auto known = may_be_kept ? steps_.secrets().find(memory) : std::nullopt;
    if (known) {
      answers = {*known};
    } else {
      answers = steps_.ask(question, memory);
      now.asked = true;
    }
    now.answered += amount;
    steps_.note_typed();
    if (may_be_kept) given.push_back({question, memory, answers[0], true, known.has_value()});
    for (unsigned i = 0; i < answers.size(); ++i) ssh_userauth_kbdint_setanswer(session_, i, answers[i].text());
  }
  throw SshError(SshProblem::Kind::login, QString("%1 keeps on asking").arg(steps_.link().target().name), other_way);
}

Outcome Login::by_password() {
  steps_.add_tried(LoginSteps::way_password);
  steps_.note_typed();
  const QString memory = "password " + steps_.account();
  const TurnToAsk turn(steps_.link(), memory);
  steps_.link().check_that_it_waited();
  for (int attempt = 0, asked = 0; asked < login_attempts_max && attempt <= login_attempts_max; ++attempt) {
    std::optional<Secret> password = steps_.secrets().find(memory);
    const bool known = password.has_value();
    SecretQuestion question = steps_.question(SecretQuestion::Kind::password);
    question.prompts = {{QString("Password of %1 on %2").arg(steps_.config().user, steps_.link().target().name), false}};
    question.again = asked > 0;
    if (!known) {
      password = steps_.ask(question, memory)[0];
      ++asked;
    }
    steps_.begin();
    const Outcome outcome = steps_.exchange([&] { return ssh_userauth_password(session_, steps_.user(), password->text()); },
                                            {{question, memory, *password, true, known}});
    if (outcome != Outcome::refused) return outcome;
  }
  return Outcome::refused;
}

}  // namespace

void log_in(SshLink& link) {
  ssh_set_blocking(link.session(), 0);
  Login(link).run();
}

}  // namespace n2nq::app
