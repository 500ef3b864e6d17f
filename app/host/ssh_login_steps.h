// SPDX-License-Identifier: GPL-3.0-or-later
// What all ways to log in have in common: one exchange with the host after the other, each with its deadline; what was tried so far; and
// questions to the person. Used by one thread; throws SshError.
#pragma once

#include <QElapsedTimer>
#include <QStringList>
#include <functional>
#include <set>
#include <vector>

#include "app/host/ssh_link.h"

namespace n2nq::app {

inline constexpr int login_attempts_max = 3;  // of a person, at each secret

class LoginSteps {
 public:
  enum class Outcome { in, partly, refused };
  /// An answer that can be right a second time.
  struct Given {
    SecretQuestion question;
    QString memory;  // its name among the secrets
    Secret secret;
    bool alone = true;  // nothing else was answered with it: when the host refuses, it was this
    bool known = false;  // from before: nobody was asked for it now
  };
  /// For add_tried().
  static inline const QString way_password = "password", way_prompts = "keyboard-interactive";

  explicit LoginSteps(SshLink& link) : link_(link), user_(link.target().config.user.toUtf8()) {}

  SshLink& link() const { return link_; }
  ssh_session session() const { return link_.session(); }
  const SshHostConfig& config() const { return link_.target().config; }
  /// For libssh, whose session has another name.
  const char* user() const { return user_.constData(); }
  QString address() const;
  /// What was typed for one is for no other: neither for a machine that has its name by now, nor for one that has its address elsewhere.
  QString account() const;
  SshSecrets& secrets() const { return *link_.target().secrets; }

  /// What follows is answered by the host within what reaching it may still take, or the session is closed.
  void begin();
  /// What follows is up to the person's agent; the time it takes does not count, nor that in which it answers others: it asks the person
  /// one thing at a time. False: the session was closed meanwhile, also because the agent gave another one no answer, or because the host
  /// did not wait. Throws nothing: from any thread, never from two at once.
  bool begin_agent();
  /// A host that did not wait for it has its session closed, to be tried again.
  void end_agent();
  /// libssh's answer to `call`, which is called until it does not say any more that it has to wait.
  int answer_to(const std::function<int()>& call);
  /// `given`: what it is the answer to. Kept when it was right, and forgotten when it was not: a host that hangs up over it did not take
  /// it.
  /// A patient session is over instead where it was right before.
  Outcome outcome_of(int code, const std::vector<Given>& given = {});
  Outcome exchange(const std::function<int()>& call, const std::vector<Given>& given = {}) { return outcome_of(answer_to(call), given); }
  void settle(const Given& given, bool right);

  /// One of the person who logs in here.
  SecretQuestion question(SecretQuestion::Kind kind) const;
  /// As many as there are prompts. When the host has hung up meanwhile, a single answer is kept as `memory`, for another attempt,
  /// if it may be right then.
  std::vector<Secret> ask(const SecretQuestion& question, const QString& memory);
  /// Whether the person did not want to say it since this connection was begun, whoever asked.
  bool was_declined(const QString& memory) const { return secrets().declined(memory) > link_.target().declines_before; }
  [[noreturn]] void none_given(const SecretQuestion& question) const;
  /// Of ways and keys, for sentences.
  void add_tried(const QString& what) { tried_ += what; }
  /// What a person types is the answer to the last one: said now, or known from before.
  void note_typed() { typed_.insert(tried_.last()); }
  void add_to_last_tried(const QString& text) { tried_.last() += text; }
  /// What would help, if nothing lets in: in place of bringing a key.
  void advise(const QString& sentence) { advice_ = sentence; }
  bool has_advised() const { return !advice_.isEmpty(); }
  [[noreturn]] void give_up() const;

 private:
  void begin_step();
  void spare(const Given& given) const;
  void close_unless_it_waited();
  QString turn_at_agent() const;
  QString how_to_bring_a_key() const;

  SshLink& link_;
  const QByteArray user_;
  QStringList tried_;
  std::set<QString> typed_;  // of these
  QString advice_;
  int left_for_host_ms_ = 0;  // while the agent is asked
  QElapsedTimer agent_asked_;
};

/// Key files, certificates, the agent. (ssh_login_keys.cpp)
LoginSteps::Outcome log_in_by_keys(LoginSteps& steps);

}  // namespace n2nq::app
