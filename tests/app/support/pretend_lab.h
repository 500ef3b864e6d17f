// SPDX-License-Identifier: GPL-3.0-or-later
// Pretend hosts (tests/lab) for C++ tests: real sshd, each on a machine of its own as far as it can tell. Shared by the tests of a program.
#pragma once

#include <QJsonObject>
#include <QProcess>
#include <QString>
#include <QStringList>
#include <memory>
#include <vector>

#include "app/host/host.h"
#include "app/host/ssh_config.h"
#include "app/host/ssh_questions.h"

namespace n2nq::app::testing {

class PretendLab {
 public:
  /// Under a number that nobody uses. Null where there can be none, for want of rights: `why_not` says why. Throws std::runtime_error with
  /// what was said where there could be one, so that a broken lab fails its tests and skips none.
  static std::unique_ptr<PretendLab> take_up(int hosts, const QStringList& options = {});
  static QString why_not;
  /// For main(): what a program ends with whose tests ended with this. Where nothing failed but there could be no lab that is 77, which ctest
  /// takes for skipped, and it says why.
  static int exit_code(int failed);
  ~PretendLab();

  QString folder() const { return facts_["folder"].toString(); }
  QString home() const { return folder() + "/home"; }
  QString bench_address() const { return facts_["bench_address"].toString(); }
  QString password() const { return facts_["password"].toString(); }
  QString key_file() const { return folder() + "/client_key"; }
  QString known_hosts() const { return folder() + "/known_hosts"; }
  QString address(int host) const { return host_facts(host)["address"].toString(); }
  /// As the hosts file has it; hosts count from 1.
  Host host(int host) const;
  /// What an ssh with the lab's config would know.
  SshConfig config() const;
  /// What a command says that root runs on that host, without any ssh.
  QString inside(int host, const QStringList& command, const QByteArray& input = {}) const;
  /// The same, while others go on. Killed when it is forgotten.
  std::unique_ptr<QProcess> start_inside(int host, const QStringList& command) const;
  /// Command lines of the bench's programs there.
  QStringList programs(int host) const;
  /// Of whatever runs there but for its sshd, so also of a shell that is left over, and of what it has started.
  QStringList processes(int host) const;
  /// Sends a signal to those of the host's sshd that serve sessions: they end, or stand still.
  void kill_sessions(int host, const QString& signal = "KILL") const;
  /// Its sshd_config as this sed command changes it; ready for connections again.
  void change_sshd(int host, const QString& sed) const;
  void set_plugged_in(int host, bool plugged_in) const;
  /// Whether its sshd says anything to new connections, which reach it.
  void set_answers(int host, bool answers) const;
  /// Its links, both ways, of a lab that was taken up with a delay: options of tests/lab/link.
  void shape_links(int host, const QStringList& options) const;
  /// The most bytes that have been on their way to it at one time.
  qint64 under_way_bytes_max(int host) const;

 private:
  explicit PretendLab(QJsonObject facts) : facts_(std::move(facts)) {}
  QJsonObject host_facts(int host) const;
  QStringList into(int host) const;
  QJsonObject facts_;
};

/// Answers as it is told to, and remembers what it was asked.
struct PretendPerson : SshQuestions {
  bool is_there = true;
  bool accepts_keys = false;
  bool says_nothing = false;  // sits before the question
  int answers_late_ms = 0;
  QString late_with;                // only what is asked for in these words; empty: all
  std::vector<QByteArray> secrets;  // one after the other, each time; none left: does not want to
  std::vector<HostKeyQuestion> key_questions;
  std::vector<std::function<void(bool)>> key_answers;  // of each, for who says nothing at first
  std::vector<SecretQuestion> secret_questions;
  std::vector<std::pair<SecretQuestion, bool>> judged;  // and whether what was said was right
  std::vector<bool> agent_asked;                        // each time it began, and was over

  bool reaches_person(const HostKeyQuestion&) override { return is_there; }
  bool reaches_person(const SecretQuestion&) override { return is_there; }
  void ask_host_key(const HostKeyQuestion& question, std::function<void(bool)> answer) override;
  void ask_secrets(const SecretQuestion& question, std::function<void(std::optional<std::vector<Secret>>)> answer) override;
  void answered(const SecretQuestion& question, bool right) override { judged.emplace_back(question, right); }
  void agent_asks(bool asks) override { agent_asked.push_back(asks); }
};

}  // namespace n2nq::app::testing
