// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/recorder/staging_ring.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

namespace n2nq::worker {

namespace {

constexpr char magic[8] = {'N', '2', 'N', 'Q', 'S', 'T', 'G', '1'};

[[noreturn]] void fail(const std::string& path, int error) {
  throw std::system_error(error, std::generic_category(), "staging file " + path);
}

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw std::runtime_error("staging file " + path + ": " + what);
}

void* map_whole(const std::string& path, int fd, std::size_t bytes) {
  void* map = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
  if (map == MAP_FAILED) fail(path, errno);
  return map;
}

bool lock(const net::Fd& fd) {
  return flock(fd.get(), LOCK_EX | LOCK_NB) == 0;
}

void lock_when_unused(const std::string& path, const net::Fd& fd, std::chrono::milliseconds wait_max) {
  constexpr std::chrono::milliseconds look_every{50};
  const auto give_up = std::chrono::steady_clock::now() + wait_max;
  while (!lock(fd)) {
    if (errno != EWOULDBLOCK && errno != EINTR) fail(path, errno);
    if (std::chrono::steady_clock::now() >= give_up) fail(path, "the process that it belongs to still runs");
    std::this_thread::sleep_for(look_every);
  }
}

}  // namespace

struct StagingRing::Head {
  char magic_bytes[8];
  std::uint32_t record_bytes;
  WorkerRole role;
  std::uint64_t capacity;
};

void StagingRing::remove_abandoned(const std::string& folder) {
  std::error_code error;
  const auto oldest = std::filesystem::file_time_type::clock::now() - abandoned_after;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with("n2nq-") || !name.ends_with(suffix)) continue;
    std::error_code gone;
    const auto touched = at->last_write_time(gone);
    if (gone || touched >= oldest) continue;
    // Another user's stays: it may not be opened. So does one whose process stands still, whatever the clock says.
    const net::Fd fd(::open(at->path().c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!fd.valid() || !lock(fd)) continue;
    std::uint64_t seen = 0;
    const bool is_known = pread(fd.get(), &seen, sizeof seen, seen_unused_at) == sizeof seen && seen != 0;
    seen = 1;
    if (is_known || pwrite(fd.get(), &seen, sizeof seen, seen_unused_at) != sizeof seen) {
      std::filesystem::remove(at->path(), gone);
    } else {
      futimens(fd.get(), nullptr);
    }
  }
}

void StagingRing::touch() {
  utimensat(AT_FDCWD, path_.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

StagingRing::StagingRing(std::string path, net::Fd locked, void* map, std::size_t bytes)
    : path_(std::move(path)),
      locked_(std::move(locked)),
      map_(map),
      bytes_(bytes),
      records_(reinterpret_cast<Record*>(static_cast<char*>(map) + head_bytes)),
      capacity_((bytes - head_bytes) / sizeof(Record)) {}

StagingRing StagingRing::create(const std::string& folder, const std::string& name, WorkerRole role, std::size_t bytes) {
  const std::string path = folder + "/" + name;
  // O_EXCL: two processes must never stage into one file, and a link planted in a shared folder must not be followed.
  net::Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd.valid()) fail(path, errno);
  if (!lock(fd)) {
    const int error = errno;
    unlink(path.c_str());
    fail(path, error);
  }
  int error = posix_fallocate(fd.get(), 0, static_cast<off_t>(bytes));
  while ((error == ENOSPC || error == EFBIG) && bytes / 2 >= bytes_min) {
    bytes /= 2;
    [[maybe_unused]] const int shrunk = ftruncate(fd.get(), 0);  // gives back what the failed attempt has taken
    error = posix_fallocate(fd.get(), 0, static_cast<off_t>(bytes));
  }
  if (error != 0) {
    unlink(path.c_str());
    fail(path, std::string(std::strerror(error)) + " (" + std::to_string(bytes >> 20) + " MiB are needed at least)");
  }
  void* const map = map_whole(path, fd.get(), bytes);
  StagingRing ring(path, std::move(fd), map, bytes);
  Head head{};
  std::memcpy(head.magic_bytes, magic, sizeof magic);
  head.record_bytes = sizeof(Record);
  head.role = role;
  head.capacity = ring.capacity_;
  std::memcpy(ring.map_, &head, sizeof head);
  return ring;
}

std::optional<StagingRing> StagingRing::open(const std::string& path, std::chrono::milliseconds wait_max) {
  net::Fd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!fd.valid() && errno == ENOENT) return std::nullopt;
  if (!fd.valid()) fail(path, errno);
  lock_when_unused(path, fd, wait_max);
  struct stat facts {};
  if (fstat(fd.get(), &facts) != 0) fail(path, errno);
  if (facts.st_nlink == 0) return std::nullopt;
  const auto bytes = static_cast<std::size_t>(facts.st_size);
  if (bytes < head_bytes + sizeof(Record)) fail(path, "too short for a staging file");
  void* const map = map_whole(path, fd.get(), bytes);
  StagingRing ring(path, std::move(fd), map, bytes);
  Head head;
  std::memcpy(&head, ring.map_, sizeof head);
  if (std::memcmp(head.magic_bytes, magic, sizeof magic) != 0 || head.record_bytes != sizeof(Record) || head.capacity != ring.capacity_ ||
      (head.role != WorkerRole::senders && head.role != WorkerRole::receivers)) {
    fail(path, "no staging file of this version");
  }
  ring.written_ = ring.counter(written_at).load(std::memory_order_acquire);
  ring.drained_seen_ = ring.counter(drained_at).load(std::memory_order_acquire);
  if (ring.drained_seen_ > ring.written_ || ring.written_ - ring.drained_seen_ > ring.capacity_) fail(path, "its counters make no sense");
  ring.place_ = ring.written_ % ring.capacity_;
  ring.counter(seen_unused_at).store(0, std::memory_order_relaxed);
  ring.touch();
  return ring;
}

StagingRing::StagingRing(StagingRing&& other) noexcept
    : path_(std::move(other.path_)),
      locked_(std::move(other.locked_)),
      map_(std::exchange(other.map_, nullptr)),
      bytes_(other.bytes_),
      records_(other.records_),
      capacity_(other.capacity_),
      written_(other.written_),
      drained_seen_(other.drained_seen_),
      place_(other.place_) {}

StagingRing::~StagingRing() {
  if (map_ != nullptr) munmap(map_, bytes_);
}

std::size_t StagingRing::fill() const {
  return static_cast<std::size_t>(counter(written_at).load(std::memory_order_acquire) -
                                  counter(drained_at).load(std::memory_order_relaxed));
}

std::span<const Record> StagingRing::waiting(std::size_t limit, std::size_t skip) const {
  const std::size_t first = (counter(drained_at).load(std::memory_order_relaxed) + skip) % capacity_;
  return {records_ + first, std::min({fill() - skip, capacity_ - first, limit})};
}

void StagingRing::drop(std::size_t count) {
  const auto drained = counter(drained_at);
  drained.store(drained.load(std::memory_order_relaxed) + count, std::memory_order_release);
}

WorkerRole StagingRing::role() const {
  Head head;
  std::memcpy(&head, map_, sizeof head);
  return head.role;
}

void StagingRing::remove_file() {
  unlink(path_.c_str());
}

}  // namespace n2nq::worker
