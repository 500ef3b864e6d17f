// SPDX-License-Identifier: GPL-3.0-or-later
// Questions of SSH without a window: a host key that is not known is refused (the connection's problem then says which command adds it),
// and secrets are asked for on the terminal, without echo, one question after the other. Where there is no terminal, or this program is in
// its background, nobody can be asked, and a login that needs a secret is refused. A question that nobody wants an answer to any more ends.
#pragma once

#include <termios.h>

#include <QObject>
#include <QSocketNotifier>
#include <QTimer>
#include <deque>
#include <memory>
#include <optional>

#include "app/cli/terminal.h"
#include "app/host/owned_fd.h"
#include "app/host/ssh_questions.h"

namespace n2nq::app {

class TerminalQuestions : public QObject, public SshQuestions {
  Q_OBJECT
 public:
  explicit TerminalQuestions(Terminal& terminal, QObject* parent = nullptr);
  /// Leaves the terminal as it was.
  ~TerminalQuestions() override;

  /// Keys are added with a command, which is said.
  bool reaches_person(const HostKeyQuestion&) override { return false; }
  bool reaches_person(const SecretQuestion&) override { return open_terminal(); }
  void ask_host_key(const HostKeyQuestion& question, std::function<void(bool)> answer) override;
  void ask_secrets(const SecretQuestion& question, std::function<void(std::optional<std::vector<Secret>>)> answer) override;

 signals:
  /// The first question is asked, the last one is answered.
  void asking(bool asked);

 private:
  struct Asked {
    QPointer<QObject> by;
    bool may_be_withdrawn = false;
    QString head;                       // lines above the first prompt
    std::vector<SecretPrompt> prompts;  // each with all that is to be shown
    std::function<void(std::optional<std::vector<Secret>>)> answer;
    std::vector<Secret> given;
  };
  void ask(Asked asked);
  void drop_withdrawn();
  bool is_shown() const { return typed_ && typed_->isEnabled(); }
  void step_aside();
  void begin();
  bool open_terminal();
  void show(const QString& text);
  void prompt();
  void on_typed();
  void finish(bool answered);
  void set_echo(bool on);

  std::deque<Asked> waiting_;  // the first one is being asked
  OwnedFd terminal_;
  std::optional<termios> before_;
  std::unique_ptr<QSocketNotifier> typed_;
  QByteArray line_;
  QTimer again_;  // until what stands aside comes again
  Terminal& said_;
};

}  // namespace n2nq::app
