// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/ssh_questions.h"

namespace n2nq::app {

namespace {

QString told_by_host(const SecretQuestion& question) {
  return (question.instruction + ' ' + question.prompts[0].text).toLower();
}

}  // namespace

bool may_be_right_again(const SecretQuestion& question) {
  if (question.kind != SecretQuestion::Kind::keyboard_interactive) return true;
  if (question.prompts.size() != 1 || question.prompts[0].echo) return false;
  const QString text = told_by_host(question);
  for (const char* other : {"one-time", "one time", "otp", "new ", "retype", "again", "code", "token", "pin", "change", "expired"}) {
    if (text.contains(other)) return false;
  }
  return true;
}

bool is_for_a_new_password(const SecretQuestion& question) {
  const QString text = told_by_host(question);
  return question.kind == SecretQuestion::Kind::keyboard_interactive && text.contains("new ") && text.contains("password");
}

/// Most hosts that ask ask for nothing else. What could be good for once, or a new one, is not taken for it.
bool is_for_the_password(const SecretQuestion& question) {
  return question.prompts.size() == 1 && may_be_right_again(question) && told_by_host(question).contains("password");
}

QString again_words(const SecretQuestion& question) {
  return question.kept      ? "What the keyring has is not right"
         : question.several ? "One of these answers was not right: the host does not say which"
                            : "That was not right";
}

QString once_more_words(const SecretQuestion& question) {
  return QString("That was right. %1 asks once more, for another connection: what may be good for once is not kept.").arg(question.host);
}

}  // namespace n2nq::app
