// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/app/support/pretend_lab.h"

#include <QCoreApplication>
#include <QDeadlineTimer>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QThread>
#include <QTimer>
#include <cstdio>
#include <stdexcept>

#ifdef __SANITIZE_ADDRESS__
/// libssh forgets a few bytes of its own when a connection breaks in the middle of an SFTP call.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libssh.so";
}
#endif

namespace n2nq::app::testing {

namespace {

constexpr int impossible = 77;
// Labs of the scripts' tests have the numbers below, those that people make the ones below those.
constexpr int first_number = 40, last_number = 60;
constexpr int script_ms = 60'000;

struct Ran {
  int code;
  QString out, err;
};

Ran run(const QString& program, const QStringList& arguments, const QByteArray& input = {}) {
  QProcess process;
  process.start(program, arguments);
  process.write(input);
  process.closeWriteChannel();
  if (!process.waitForFinished(script_ms)) return {-1, {}, program + " does not end"};
  return {process.exitCode(), QString::fromUtf8(process.readAllStandardOutput()), QString::fromUtf8(process.readAllStandardError())};
}

}  // namespace

QString PretendLab::why_not;

std::unique_ptr<PretendLab> PretendLab::take_up(int hosts, const QStringList& options) {
  // Where this program comes to no end of its own, the next that wants the number takes the lab down.
  const QString owner = QString::number(QCoreApplication::applicationPid());
  for (int number = first_number; number <= last_number; ++number) {
    const QStringList fixed = {QString::number(hosts), "--number", QString::number(number), "--owner", owner};
    const Ran ran = run(N2NQ_LAB "/up", fixed + options);
    const QString said = ran.err.trimmed();
    if (ran.code == impossible) {
      why_not = said;
      return nullptr;
    }
    if (ran.code != 0 && said.contains("stands already")) continue;
    if (ran.code != 0) throw std::runtime_error("no lab, though there could be one: " + said.toStdString());
    const QString folder = ran.out.section(", in ", 1).section(';', 0, 0);
    QFile file(folder + "/lab.json");
    if (!file.open(QIODevice::ReadOnly)) throw std::runtime_error("a lab without its facts: " + file.fileName().toStdString());
    return std::unique_ptr<PretendLab>(new PretendLab(QJsonDocument::fromJson(file.readAll()).object()));
  }
  throw std::runtime_error("all numbers of labs are taken");
}

int PretendLab::exit_code(int failed) {
  if (failed != 0) return 1;  // Qt's number of failures may be any
  if (why_not.isEmpty()) return 0;
  std::printf("skipped: %s\n", qPrintable(why_not));
  return impossible;
}

PretendLab::~PretendLab() {
  run(N2NQ_LAB "/down", {"--number", QString::number(facts_["number"].toInt())});
}

QJsonObject PretendLab::host_facts(int host) const {
  return facts_["hosts"].toArray()[host - 1].toObject();
}

Host PretendLab::host(int number) const {
  Host out;
  out.name = host_facts(number)["name"].toString().toStdString();
  out.address = address(number).toStdString();
  out.user = facts_["user"].toString().toStdString();
  out.identity_file = key_file().toStdString();
  out.data_address = out.address;
  return out;
}

SshConfig PretendLab::config() const {
  return SshConfig::read(home(), home() + "/.ssh/config", {});
}

QStringList PretendLab::into(int host) const {
  return {"--target", QString::number(host_facts(host)["pid"].toInt()), "--all"};
}

std::unique_ptr<QProcess> PretendLab::start_inside(int host, const QStringList& command) const {
  auto process = std::make_unique<QProcess>();
  process->setProcessChannelMode(QProcess::ForwardedErrorChannel);
  process->start("nsenter", into(host) + command);
  return process;
}

QString PretendLab::inside(int host, const QStringList& command, const QByteArray& input) const {
  const Ran ran = run("nsenter", into(host) + command, input);
  return ran.code == 0 ? ran.out : QString("exit code %1: %2").arg(ran.code).arg(ran.err);
}

QStringList PretendLab::programs(int host) const {
  QStringList out;
  for (const QString& line : inside(host, {"ps", "-e", "-o", "args="}).split('\n')) {
    if (line.contains("n2nq-") && !line.startsWith("sshd:")) out += line.trimmed();
  }
  return out;
}

QStringList PretendLab::processes(int host) const {
  QStringList out;
  for (const QString& line : inside(host, {"ps", "-e", "-o", "args="}).split('\n', Qt::SkipEmptyParts)) {
    if (!line.startsWith("sshd: ") && !line.startsWith("ps -e ")) out += line.trimmed();
  }
  return out;
}

void PretendLab::kill_sessions(int host, const QString& signal) const {
  for (const QString& line : inside(host, {"ps", "-e", "-o", "pid=,args="}).split('\n')) {
    const QString pid = line.trimmed().section(' ', 0, 0);
    if (line.contains(" sshd: ") && pid != "1") inside(host, {"kill", "-s", signal, pid});
  }
}

void PretendLab::change_sshd(int host, const QString& sed) const {
  // It ignores a SIGHUP from one until it listens anew and has said so: only then is the next one, or a connection, not lost.
  const auto content = [](const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
  };
  const auto log = [&] { return content(host_facts(host)["sshd_log"].toString()); };
  const auto takes_hup = [&] {
    const QByteArray status = content(QString("/proc/%1/status").arg(host_facts(host)["pid"].toInt()));
    return status.mid(status.indexOf("SigCgt:") + 7).trimmed().left(16).toULongLong(nullptr, 16) % 2 == 1;
  };
  const auto is_up = [&](const QByteArray& said) { return said.contains("Server listening") && takes_hup(); };
  const QDeadlineTimer deadline(script_ms);
  while (!is_up(log()) && !deadline.hasExpired()) QThread::msleep(5);
  inside(host, {"sed", "-i", sed, "/etc/ssh/sshd_config"});
  const qsizetype said_before = log().size();
  inside(host, {"kill", "-s", "HUP", "1"});
  while (!is_up(log().mid(said_before)) && !deadline.hasExpired()) QThread::msleep(5);
}

void PretendLab::set_plugged_in(int host, bool plugged_in) const {
  run("ip", {"link", "set", host_facts(host)["device"].toString(), plugged_in ? "up" : "down"});
}

void PretendLab::set_answers(int host, bool answers) const {
  run("kill", {"-s", answers ? "CONT" : "STOP", QString::number(host_facts(host)["pid"].toInt())});
}

void PretendLab::shape_links(int host, const QStringList& options) const {
  run(N2NQ_LAB "/link", QStringList{"--number", QString::number(facts_["number"].toInt()), host_facts(host)["name"].toString()} + options);
}

qint64 PretendLab::under_way_bytes_max(int host) const {
  const QString number = QString::number(facts_["number"].toInt());
  const Ran ran = run(N2NQ_LAB "/link", {"--number", number, host_facts(host)["name"].toString(), "--direction", "down"});
  return ran.out.section(" bytes under way", 0, 0).section(' ', -1).toLongLong();
}

void PretendPerson::ask_host_key(const HostKeyQuestion& question, std::function<void(bool)> answer) {
  key_questions.push_back(question);
  key_answers.push_back(answer);
  if (!says_nothing) QTimer::singleShot(answers_late_ms, [answer = std::move(answer), yes = accepts_keys] { answer(yes); });
}

void PretendPerson::ask_secrets(const SecretQuestion& question, std::function<void(std::optional<std::vector<Secret>>)> answer) {
  secret_questions.push_back(question);
  if (says_nothing) return;
  if (secrets.empty()) return answer(std::nullopt);
  const QByteArray next = secrets.front();
  secrets.erase(secrets.begin());
  const bool is_late = question.prompts[0].text.contains(late_with);
  QTimer::singleShot(is_late ? answers_late_ms : 0,
                     [answer = std::move(answer), given = std::vector<Secret>(question.prompts.size(), Secret(next))] { answer(given); });
}

}  // namespace n2nq::app::testing
