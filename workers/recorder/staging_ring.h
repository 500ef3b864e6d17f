// SPDX-License-Identifier: GPL-3.0-or-later
// A bounded ring of records in a memory-mapped file: written by the data thread, drained by the log writer, and still there when the
// process is killed. The file belongs in memory (tmpfs): on a disk, writing dirty pages back would make the data thread wait.
//
//   file:  | head page: what it is, written, drained, dropped, unwritten, seen unused | record 0 | record 1 | … | record capacity - 1 |
//
// Who uses it holds a lock on it, which the kernel lets go with the process, however that ends.
//
// 0 <= drained <= written <= drained + capacity; record number n lies at place n mod capacity. One writing and one draining thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "broker/net/fd.h"
#include "workers/recorder/record.h"

namespace n2nq::worker {

class StagingRing {
 public:
  static constexpr std::size_t bytes_wanted = std::size_t{32}
                                              << 20;  // 465,976 records; at 1 million a second almost 0.5 s without the writer
  static constexpr std::size_t bytes_min = std::size_t{1} << 20;
  /// How the files' names end; they begin with "n2nq-".
  static constexpr std::string_view suffix = ".staging";
  /// A file that nobody uses and nobody touched for so long may belong to nobody. One whose process stood still for longer, and was killed
  /// just now, looks alike: only when it was seen so once, and is so again that much later, it does. A bench that lives salvages within
  /// seconds, or touches it as long as the process may be started again.
  static constexpr std::chrono::minutes abandoned_after{10};
  /// So long a process may live on behind a cut link, and write its logs then.
  static constexpr std::chrono::milliseconds in_use_max{20'000};

  /// Creates `folder`/`name` and takes the largest of bytes_wanted, its half, its quarter, … down to bytes_min that the folder has room
  /// for; all of it is reserved and mapped at once, so that no record can fault. Throws std::runtime_error naming the file and the reason.
  static StagingRing create(const std::string& folder, const std::string& name, WorkerRole role, std::size_t bytes = bytes_wanted);
  /// Opens what a killed process has left behind; one that may live yet is waited for. None: there is no such file, or none any more,
  /// because that process has ended in order. Throws std::runtime_error when it is another file, or in use for longer than `wait_max`.
  static std::optional<StagingRing> open(const std::string& path, std::chrono::milliseconds wait_max = in_use_max);
  /// Removes what was left behind by processes that were killed together with their bench, as far as it is ours to remove: what was seen so
  /// before, by another call. What is seen so the first time is marked and touched.
  static void remove_abandoned(const std::string& folder);

  StagingRing(StagingRing&& other) noexcept;
  StagingRing& operator=(StagingRing&&) = delete;
  StagingRing(const StagingRing&) = delete;
  ~StagingRing();  // unmaps and unlocks; the file stays

  /// The writing thread. False when the ring is full: the record is not kept, but counted.
  bool push(const Record& record) {
    if (try_push(record)) [[likely]]
      return true;
    count_dropped();
    return false;
  }
  /// The writing thread. False when the ring is full; the record is not counted: it is to come again.
  bool try_push(const Record& record) {
    if (written_ - drained_seen_ == capacity_) {
      drained_seen_ = counter(drained_at).load(std::memory_order_acquire);
      if (written_ - drained_seen_ == capacity_) return false;
    }
    records_[place_] = record;
    if (++place_ == capacity_) place_ = 0;
    counter(written_at).store(++written_, std::memory_order_release);
    return true;
  }

  /// The writing thread: one record more that there was no room for.
  void count_dropped() { counter(dropped_at).store(dropped() + 1, std::memory_order_relaxed); }

  /// The draining thread: what is there behind the first `skip` of them (at most fill()), as far as it lies in one piece, at most `limit`
  /// records.
  std::span<const Record> waiting(std::size_t limit, std::size_t skip = 0) const;
  /// The draining thread is done with the first `count` of waiting().
  void drop(std::size_t count);
  /// The draining thread: how many records wait.
  std::size_t fill() const;

  std::size_t capacity() const { return capacity_; }
  /// Any thread: records that push() had no room for.
  std::uint64_t dropped() const { return counter(dropped_at).load(std::memory_order_relaxed); }
  /// Any thread: so many records more stand in no log, though they were in the ring (or a process before this one had noted them).
  void add_unwritten(std::uint64_t count) { counter(unwritten_at).fetch_add(count, std::memory_order_relaxed); }
  /// Any thread.
  std::uint64_t unwritten() const { return counter(unwritten_at).load(std::memory_order_relaxed); }
  WorkerRole role() const;
  const std::string& path() const { return path_; }
  /// Marks the file as in use, to be called every minute or so.
  void touch();
  /// Removes the file (the mapping stays usable).
  void remove_file();

 private:
  struct Head;
  static constexpr std::size_t head_bytes = 4096;
  static constexpr std::size_t written_at = 128, drained_at = 256, dropped_at = 384, unwritten_at = 512;  // on cache lines of their own
  static constexpr std::size_t seen_unused_at = 640;  // 1: by remove_abandoned()

  StagingRing(std::string path, net::Fd locked, void* map, std::size_t bytes);
  std::atomic_ref<std::uint64_t> counter(std::size_t at) const {
    return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(static_cast<char*>(map_) + at));
  }

  std::string path_;
  net::Fd locked_;
  void* map_;
  std::size_t bytes_;
  Record* records_;
  std::size_t capacity_;
  std::uint64_t written_ = 0;       // the writing thread's own copy
  std::uint64_t drained_seen_ = 0;  // the same
  std::size_t place_ = 0;           // the same: written_ mod capacity
};

}  // namespace n2nq::worker
