// SPDX-License-Identifier: GPL-3.0-or-later
// What only the person knows: a password, a passphrase, a code. It is wiped when nobody holds it any more, and there is no way to print it.
#pragma once

#include <QByteArray>
#include <QString>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>

namespace n2nq::app {

class Secret {
 public:
  Secret() = default;
  /// Takes a copy; the caller wipes or forgets its own.
  explicit Secret(const QByteArray& utf8);
  /// Zero-terminated. Valid as long as this or a copy of it lives.
  const char* text() const;
  bool empty() const;

 private:
  struct Buffer;
  std::shared_ptr<const Buffer> buffer_;  // copies share it, so that there is one place to wipe
};

/// In place, and so for all who share these bytes: fill() would wipe a copy that it makes for that.
void wipe_shared(const QByteArray& bytes);

/// From the first secret on this process leaves no core behind when it crashes, which could have it inside; where its limit is 0 for good
/// and cores go to a program, nobody may trace it either. This gives a child its right to one back, as it was before. Between fork and
/// exec, where it is safe.
void let_child_leave_core();

/// What was answered already, so that the second connection to a host does not ask again. In memory, until it is destroyed.
/// Any thread.
class SshSecrets {
 public:
  std::optional<Secret> find(const QString& what) const;
  void keep(const QString& what, const Secret& secret);
  /// It was taken. Until it is forgotten, or another one kept in its place.
  void note_right(const QString& what);
  bool was_right(const QString& what) const;
  void forget(const QString& what);
  /// Keys of hosts that the person took for right, where no file remembers them.
  void accept_key(const QString& key);
  bool has_accepted_key(const QString& key) const;
  /// Accounts that have taken answers to their prompts.
  void note_answered(const QString& account);
  bool has_answered(const QString& account) const;
  /// Who asks the person for it does so between these two; the others wait, and then find what came of it. False: somebody else still asks.
  /// `who`: something of its own, which lives as long.
  bool begin_asking(const QString& what, const void* who, std::chrono::milliseconds patience);
  /// `answered`: false where nobody did, as long as there was time. Then who waits for the same need not try.
  void end_asking(const QString& what, const void* who, bool answered = true);
  /// Whatever it asks for: it may hang, and nobody waits for it any more.
  void give_up_asking(const void* who);
  /// How often nobody did.
  int unanswered(const QString& what) const;
  /// The person does not want to say it. Who had begun before need not ask for it either: these are of the same check or start.
  void decline(const QString& what);
  /// How many of these there were, of everything; of one thing, which of them was the last. 0: none.
  int declines() const;
  int declined(const QString& what) const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<QString, const void*> asked_;  // by whom
  std::set<QString> accepted_keys_, answered_;
  struct Kept {
    Secret secret;
    bool was_right = false;
  };
  std::map<QString, Kept> kept_;
  std::map<QString, int> unanswered_, declined_;
  int declines_ = 0;
};

}  // namespace n2nq::app
