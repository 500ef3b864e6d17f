// SPDX-License-Identifier: GPL-3.0-or-later
// What a person must answer before a connection stands: whether a host key is the right one, and what only they know.
//
// An asker is told a question on the thread that made the session and answers later, on the same thread, by calling `answer` once. A
// session that is closed meanwhile does not hear the answer; that is no error, but nobody should be bothered with the question any longer:
// `asked_by` is gone then. Two questions of different hosts may be open at the same time.
#pragma once

#include <QPointer>
#include <QString>
#include <functional>
#include <optional>
#include <vector>

#include "app/host/ssh_secret.h"

namespace n2nq::app {

/// A host whose key stands in no known_hosts file. (A host whose key has changed is never asked about: it is refused.)
struct HostKeyQuestion {
  QString host;                     // as the person calls it
  QString address;                  // "10.77.0.11 port 22"
  QString key_type;                 // "ED25519"
  QString fingerprint;              // "SHA256:…", as ssh-keygen -l prints it
  QString known_hosts_file;         // where it is added when the answer is yes; empty: nowhere, it counts until the bench ends
  QString beside = {};              // why the key is not known though the person may expect it: sentences; empty: nothing is to be said
  QPointer<QObject> asked_by = {};  // destroyed when nobody wants the answer any more; null from the beginning: somebody always does
};

struct SecretPrompt {
  QString text;       // "Passphrase for …", "Password:", what the host asks
  bool echo = false;  // what is typed may be seen
};

struct SecretQuestion {
  enum class Kind { passphrase, password, keyboard_interactive };
  Kind kind = Kind::password;
  QString host;                       // as the person calls it
  QString user;                       // who logs in there
  QString address;                    // "10.77.0.11 port 22", as the settings have it
  QString key_file;                   // passphrase: of this file
  QString instruction;                // keyboard-interactive: what the host says above its prompts; control characters are taken out
  std::vector<SecretPrompt> prompts;  // one, except with keyboard-interactive
  bool again = false;                 // the answer before was wrong
  bool several = false;               // and was one of several: which of them was wrong the host does not say
  bool once_more = false;             // such answers were right before: what may be good for once is not kept for another connection
  bool kept = false;                  // and that one had been kept: nobody typed it now
  QPointer<QObject> asked_by = {};    // as above
};

/// Whether a host asks for the password that is to come in the place of the one that was typed before.
bool is_for_a_new_password(const SecretQuestion& question);
/// Whether a prompt of a host (keyboard-interactive) asks for the password, which is right a second time, too.
bool is_for_the_password(const SecretQuestion& question);

/// Whether the answer to a single prompt may be right a second time. One to what looks like a code is for once.
bool may_be_right_again(const SecretQuestion& question);

/// With again: what was wrong, without a full stop.
QString again_words(const SecretQuestion& question);

/// With once_more: why a person is asked that again.
QString once_more_words(const SecretQuestion& question);

class SshQuestions {
 public:
  virtual ~SshQuestions() = default;
  /// Whether somebody is there to be asked. False: the answer comes at once and is no, unless it is known without anybody.
  virtual bool reaches_person(const HostKeyQuestion& /*question*/) { return true; }
  virtual bool reaches_person(const SecretQuestion& /*question*/) { return true; }
  /// true: it is the right key; it is added to the file and the connection goes on.
  virtual void ask_host_key(const HostKeyQuestion& question, std::function<void(bool)> answer) = 0;
  /// As many answers as there are prompts; none: the person does not want to, and the connection fails.
  virtual void ask_secrets(const SecretQuestion& question, std::function<void(std::optional<std::vector<Secret>>)> answer) = 0;
  /// What came of the answer, also of one that was known from before. A host that hangs up over it did not take it: else it would be given
  /// a wrong one for ever. Not said where this side ended the connection. With `several` and not right it was one of several answers.
  virtual void answered(const SecretQuestion& /*question*/, bool /*right*/) {}
  /// True: the person's SSH agent takes so long that it seems to ask them something itself. False: it is over.
  virtual void agent_asks(bool /*asks*/) {}
};

}  // namespace n2nq::app
