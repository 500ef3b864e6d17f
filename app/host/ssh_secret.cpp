// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/ssh_secret.h"

#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "app/host/owned_fd.h"

namespace n2nq::app {

namespace {

// Of 0 the kernel says nothing to a program that it pipes cores to (core_pattern), which may keep them; for this one it begins none.
constexpr rlim_t no_core_bytes = 1;
std::atomic<rlim_t> core_bytes_before = no_core_bytes;

/// To a program, and not into files. Where that cannot be read, they may be.
bool cores_are_piped() {
  const OwnedFd pattern(::open("/proc/sys/kernel/core_pattern", O_RDONLY | O_CLOEXEC));
  char first = 0;
  return ::read(pattern.get(), &first, 1) != 1 || first == '|';
}

void leave_no_core() {
  rlimit now{};
  if (::getrlimit(RLIMIT_CORE, &now) != 0 || now.rlim_cur == no_core_bytes) return;
  core_bytes_before = now.rlim_cur;
  now.rlim_cur = std::min(no_core_bytes, now.rlim_max);
  ::setrlimit(RLIMIT_CORE, &now);
  // Only here, since no debugger of this user gets at the process then. What it starts is another program, and may be dumped as before.
  if (now.rlim_cur != no_core_bytes && cores_are_piped()) ::prctl(PR_SET_DUMPABLE, 0);
}

}  // namespace

struct Secret::Buffer {
  explicit Buffer(const QByteArray& utf8) : bytes(utf8.begin(), utf8.end()) {
    leave_no_core();
    bytes.push_back('\0');
  }
  ~Buffer() { ::explicit_bzero(bytes.data(), bytes.size()); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  std::vector<char> bytes;
};

void wipe_shared(const QByteArray& bytes) {
  ::explicit_bzero(const_cast<char*>(bytes.constData()), static_cast<std::size_t>(bytes.size()));
}

void let_child_leave_core() {
  rlimit now{};
  if (::getrlimit(RLIMIT_CORE, &now) != 0 || now.rlim_cur != no_core_bytes) return;
  now.rlim_cur = core_bytes_before;
  ::setrlimit(RLIMIT_CORE, &now);
}

Secret::Secret(const QByteArray& utf8) : buffer_(std::make_shared<const Buffer>(utf8)) {}

const char* Secret::text() const {
  return buffer_ ? buffer_->bytes.data() : "";
}

bool Secret::empty() const {
  return !buffer_ || buffer_->bytes.size() <= 1;
}

std::optional<Secret> SshSecrets::find(const QString& what) const {
  const std::lock_guard lock(mutex_);
  const auto found = kept_.find(what);
  return found == kept_.end() ? std::nullopt : std::optional(found->second.secret);
}

void SshSecrets::keep(const QString& what, const Secret& secret) {
  const std::lock_guard lock(mutex_);
  kept_[what] = {secret};
}

void SshSecrets::note_right(const QString& what) {
  const std::lock_guard lock(mutex_);
  if (const auto found = kept_.find(what); found != kept_.end()) found->second.was_right = true;
}

bool SshSecrets::was_right(const QString& what) const {
  const std::lock_guard lock(mutex_);
  const auto found = kept_.find(what);
  return found != kept_.end() && found->second.was_right;
}

void SshSecrets::forget(const QString& what) {
  const std::lock_guard lock(mutex_);
  kept_.erase(what);
}

void SshSecrets::accept_key(const QString& key) {
  const std::lock_guard lock(mutex_);
  accepted_keys_.insert(key);
}

bool SshSecrets::has_accepted_key(const QString& key) const {
  const std::lock_guard lock(mutex_);
  return accepted_keys_.contains(key);
}

void SshSecrets::note_answered(const QString& account) {
  const std::lock_guard lock(mutex_);
  answered_.insert(account);
}

bool SshSecrets::has_answered(const QString& account) const {
  const std::lock_guard lock(mutex_);
  return answered_.contains(account);
}

bool SshSecrets::begin_asking(const QString& what, const void* who, std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, patience, [&] { return !asked_.contains(what); })) return false;
  asked_[what] = who;
  return true;
}

void SshSecrets::end_asking(const QString& what, const void* who, bool answered) {
  const std::lock_guard lock(mutex_);
  if (!answered) ++unanswered_[what];
  // Where it was given up meanwhile, another one may have it.
  if (const auto found = asked_.find(what); found != asked_.end() && found->second == who) asked_.erase(found);
  changed_.notify_all();
}

void SshSecrets::give_up_asking(const void* who) {
  const std::lock_guard lock(mutex_);
  std::erase_if(asked_, [who](const auto& asked) { return asked.second == who; });
  changed_.notify_all();
}

int SshSecrets::unanswered(const QString& what) const {
  const std::lock_guard lock(mutex_);
  const auto found = unanswered_.find(what);
  return found == unanswered_.end() ? 0 : found->second;
}

void SshSecrets::decline(const QString& what) {
  const std::lock_guard lock(mutex_);
  declined_[what] = ++declines_;
}

int SshSecrets::declines() const {
  const std::lock_guard lock(mutex_);
  return declines_;
}

int SshSecrets::declined(const QString& what) const {
  const std::lock_guard lock(mutex_);
  const auto found = declined_.find(what);
  return found == declined_.end() ? 0 : found->second;
}

}  // namespace n2nq::app
