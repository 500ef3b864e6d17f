// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/ssh_questions.h"

namespace n2nq::app {

/// Most hosts that ask ask for nothing else. What could be good for once, or a new one, is not taken for it.
bool is_for_the_password(const SecretQuestion& question) {
  if (question.prompts.size() != 1 || question.prompts[0].echo) return false;
  const QString text = (question.instruction + ' ' + question.prompts[0].text).toLower();
  for (const char* other : {"one-time", "one time", "otp", "new ", "retype", "again", "code", "token", "pin", "change", "expired"}) {
    if (text.contains(other)) return false;
  }
  return text.contains("password");
}

QString once_more_words(const SecretQuestion& question) {
  return QString("That was right. %1 asks once more, for another connection: what may be good for once is not kept.").arg(question.host);
}

}  // namespace n2nq::app
