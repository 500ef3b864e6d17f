// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/ssh_config_databases.h"

#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pwd.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QFile>
#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "app/host/hosts_file.h"
#include "app/host/owned_fd.h"

namespace n2nq::app {

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::size_t entry_bytes_max = 16 << 10;
constexpr Clock::duration wait_for_newer_max = 40ms;  // where there is an answer already
constexpr Clock::duration new_for = 1s;               // one reading of a file has many names that ask the same
constexpr std::size_t threads_max = 32;               // that the system has not answered yet

using Question = std::pair<Database, QByteArray>;

struct Asked {
  std::optional<QByteArrayList> answer;  // the last one
  Clock::time_point answered, asked;
  bool under_way = false;
};

struct Questions {
  std::mutex mutex;
  std::condition_variable answered;
  std::map<Question, Asked> asked;
  std::size_t under_way = 0;
};

/// Never destroyed: who waits for the system may outlive everything else.
Questions& questions() {
  static auto* const all = new Questions;
  return *all;
}

struct Patience {
  Clock::duration most = database_patience_usual, left = database_patience_usual;
  Clock::time_point used;
};
thread_local Patience patience;

thread_local UnansweredQuestions* innermost = nullptr;

QByteArrayList look_up_user(const QByteArray* name) {
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, entry_bytes_max> room;
  if (name) {
    ::getpwnam_r(name->constData(), &entry, room.data(), room.size(), &found);
    return found ? QByteArrayList{found->pw_dir} : QByteArrayList();
  }
  ::getpwuid_r(::getuid(), &entry, room.data(), room.size(), &found);
  return found ? QByteArrayList{found->pw_name} : QByteArrayList();
}

/// One that there is no room for has more members than one's own.
QByteArrayList look_up_own_group() {
  group entry{};
  group* found = nullptr;
  std::array<char, entry_bytes_max> room;
  ::getgrgid_r(::getgid(), &entry, room.data(), room.size(), &found);
  if (!found) return {};
  QByteArrayList out = {found->gr_name};
  for (char** member = found->gr_mem; *member != nullptr; ++member) out += QByteArray(*member);
  return out;
}

QByteArrayList look_up_service(const QByteArray& name) {
  servent entry{};
  servent* found = nullptr;
  std::array<char, entry_bytes_max> room;
  ::getservbyname_r(name.constData(), "tcp", &entry, room.data(), room.size(), &found);
  return found ? QByteArrayList{QByteArray::number(ntohs(static_cast<std::uint16_t>(found->s_port)))} : QByteArrayList();
}

/// What is no regular file, or not to be read, says nothing, as one that is not there.
QByteArrayList look_up_file(const QByteArray& path) {
  struct stat there {};
  if (::stat(path.constData(), &there) != 0 || !S_ISREG(there.st_mode)) return {};  // a pipe would be waited for
  const OwnedFd file(::open(path.constData(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (file.get() < 0 || ::fstat(file.get(), &there) != 0) return {};
  QByteArray text;
  std::array<char, 64 << 10> piece;
  while (text.size() <= ssh_config_file_bytes_max) {
    const qsizetype wanted = std::min<qsizetype>(piece.size(), ssh_config_file_bytes_max + 1 - text.size());
    const ssize_t got = ::read(file.get(), piece.data(), static_cast<std::size_t>(wanted));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(piece.data(), got);
  }
  return {QByteArray::number(there.st_uid), QByteArray::number(there.st_gid), QByteArray::number(there.st_mode), text};
}

QByteArrayList look_up_files(const QByteArray& pattern) {
  QByteArrayList files;
  glob_t found{};
  if (::glob(pattern.constData(), GLOB_NOSORT, nullptr, &found) == 0) {
    for (std::size_t i = 0; i < found.gl_pathc; ++i) files += QByteArray(found.gl_pathv[i]);
  }
  ::globfree(&found);
  return files;
}

QByteArrayList look_up(const Question& question) {
  switch (question.first) {
    case Database::own_user:
      return look_up_user(nullptr);
    case Database::user:
      return look_up_user(&question.second);
    case Database::own_group:
      return look_up_own_group();
    case Database::service:
      return look_up_service(question.second);
    case Database::file:
      return look_up_file(question.second);
    case Database::files:
      return look_up_files(question.second);
    case Database::hosts_file:
      return find_hosts_file(QFile::decodeName(question.second));
  }
  return {};
}

bool is_of_files(const Question& question) {
  return question.first == Database::file || question.first == Database::files || question.first == Database::hosts_file;
}

/// Who runs this program does not change. A file may have been saved just now.
bool is_new(const Question& question, const Asked& asked, Clock::time_point now) {
  if (!asked.answer || is_of_files(question)) return false;
  return (question.first == Database::own_user && !asked.answer->isEmpty()) || now - asked.answered < new_for;
}

/// Not so where no thread was to be had, either.
bool is_answer_since(Clock::time_point then, const Asked& asked) {
  return !asked.under_way && asked.asked >= then && asked.answered >= asked.asked;
}

/// The caller has the lock.
void begin(const Question& question, Asked& asked) {
  Questions& all = questions();
  if (asked.under_way || all.under_way >= threads_max) return;
  // Signals are for the main thread.
  sigset_t every, before;
  ::sigfillset(&every);
  ::pthread_sigmask(SIG_BLOCK, &every, &before);
  try {
    std::thread([question, &all, &asked] {
      QByteArrayList answer = look_up(question);
      const std::lock_guard lock(all.mutex);
      asked.answer = std::move(answer);
      asked.answered = Clock::now();
      asked.under_way = false;
      --all.under_way;
      all.answered.notify_all();
    }).detach();
    asked.under_way = true;
    ++all.under_way;
  } catch (const std::system_error&) {  // no more threads: so it is not answered
  }
  asked.asked = Clock::now();
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void wait_for(const Question& question, const Asked& asked, Clock::time_point at_least_until, std::unique_lock<std::mutex>& lock) {
  const auto began = Clock::now();
  if (began - patience.used >= new_for) patience.left = patience.most;
  const bool has_old = asked.answer && !is_of_files(question);
  const auto most = has_old ? std::min(patience.left, wait_for_newer_max) : patience.left;
  questions().answered.wait_for(lock, std::max(most, at_least_until - began), [&asked] { return !asked.under_way; });
  patience.used = Clock::now();
  patience.left = std::max(Clock::duration::zero(), patience.left - (patience.used - began));
}

QString what_is_asked(const Question& question) {
  const QString name = QString::fromLocal8Bit(question.second);
  switch (question.first) {
    case Database::own_user:
      return "who you are";
    case Database::user:
      return "who ~" + name + " is";
    case Database::own_group:
      return "who is in your group";
    case Database::service:
      return "which port " + name + " has";
    case Database::file:
    case Database::files:
    case Database::hosts_file:
      return name;
  }
  return {};
}

QString sentence(const Question& question, const Asked& asked) {
  const auto since_s = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - asked.asked).count();
  const bool just_now = !asked.under_way || since_s < 1;
  if (is_of_files(question)) {
    return QString("%1 is not read yet: it was asked for %2. Is the file server that it lies on away? Try again when it answers")
        .arg(what_is_asked(question), just_now ? QString("just now") : QString("%1 s ago").arg(since_s));
  }
  return QString("the user database of this machine does not answer: it was asked %1 %2. Is a directory behind it (LDAP, sssd) away? "
                 "Try again when it answers")
      .arg(just_now ? QString("just now") : QString("%1 s ago").arg(since_s), what_is_asked(question));
}

}  // namespace

std::optional<QByteArrayList> ask_database_bytes(Database database, const QByteArray& name, std::chrono::milliseconds at_least) {
  const Question question(database, name);
  Questions& all = questions();
  std::unique_lock lock(all.mutex);
  Asked& asked = all.asked[question];
  const auto now = Clock::now();
  if (!is_new(question, asked, now)) {
    const bool is_of_before = asked.under_way && is_of_files(question);  // the file may have been saved since it was opened
    begin(question, asked);
    wait_for(question, asked, now + at_least, lock);
    if (is_of_before && !asked.under_way) {
      begin(question, asked);
      wait_for(question, asked, now + at_least, lock);
    }
  }
  if (!asked.answer || (database == Database::hosts_file && !is_answer_since(now, asked))) {
    UnansweredQuestions::note(sentence(question, asked));
    return {};
  }
  return asked.answer;
}

std::optional<QStringList> ask_database(Database database, const QString& name) {
  const auto answer = ask_database_bytes(database, name.toLocal8Bit());
  if (!answer) return {};
  QStringList words;
  for (const QByteArray& word : *answer) words += QString::fromLocal8Bit(word);
  return words;
}

void set_database_patience(std::chrono::milliseconds most) {
  patience = {most, most, {}};
}

UnansweredQuestions::UnansweredQuestions() : outer_(std::exchange(innermost, this)) {}

UnansweredQuestions::~UnansweredQuestions() {
  innermost = outer_;
}

void UnansweredQuestions::note(const QString& what) {
  if (innermost && !innermost->told_.contains(what)) innermost->told_ += what;
}

}  // namespace n2nq::app
