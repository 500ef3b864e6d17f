// SPDX-License-Identifier: GPL-3.0-or-later
// A set of message indexes, with the text form of the control protocol. Small for what mostly happens (long runs, few holes: 24 bytes a
// run), and bounded for the rest: where runs are short, 4,096 indexes become a block of as many bits, so that a set never takes more than
// about two bits for each index up to its last.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace n2nq::wire {

class IndexSet {
  using Words = std::array<uint64_t, 64>;  // of a block: the lowest bit of the first word is its first index
  struct Piece {
    uint64_t from = 0, to = 0;     // inclusive; with words a whole block, aligned
    std::unique_ptr<Words> words;  // null: all of it, else as the bits say, at least one
    Piece(uint64_t first, uint64_t last, std::unique_ptr<Words> bits = nullptr) : from(first), to(last), words(std::move(bits)) {}
    Piece(const Piece& other) : from(other.from), to(other.to), words(other.words ? std::make_unique<Words>(*other.words) : nullptr) {}
    Piece& operator=(const Piece& other) { return *this = Piece(other); }
    Piece(Piece&&) noexcept = default;
    Piece& operator=(Piece&&) noexcept = default;
    ~Piece() = default;
  };

 public:
  struct Run {
    uint64_t from = 0;
    uint64_t to = 0;  // inclusive
    bool operator==(const Run&) const = default;
  };
  static constexpr uint64_t block_indexes = 4096;
  static constexpr size_t allocation_bytes = 16;  // what the allocator takes for itself, about

  /// Walks over the longest runs, rising, not touching each other. The set must not change meanwhile.
  class RunIterator {
   public:
    using difference_type = std::ptrdiff_t;
    using value_type = Run;
    explicit RunIterator(const std::vector<Piece>& pieces);
    const Run& operator*() const { return run_; }
    const Run* operator->() const { return &run_; }
    RunIterator& operator++();
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return over_; }

   private:
    bool take_next(Run& run);
    const std::vector<Piece>* pieces_;
    size_t piece_ = 0;
    uint64_t skip_ = 0;  // of the piece, if it has words
    Run run_;
    bool over_ = false;
  };
  struct Runs {
    const std::vector<Piece>& pieces;
    RunIterator begin() const { return RunIterator(pieces); }
    std::default_sentinel_t end() const { return {}; }
  };

  /// False when the index was in the set already. Appending in rising order costs O(1) and allocates only for a new run.
  bool add(uint64_t index);
  /// Both ends inclusive; from > to adds nothing. Returns how many indexes are new.
  uint64_t add_range(uint64_t from, uint64_t to);
  /// Takes one index out; false when it was not there.
  bool remove(uint64_t index);
  void clear();

  bool contains(uint64_t index) const;
  /// Number of indexes, not of runs.
  uint64_t count() const { return count_; }
  /// Of those from `from` to `to`, both inclusive.
  uint64_t count_in(uint64_t from, uint64_t to) const;
  bool empty() const { return count_ == 0; }
  /// The greatest; not of an empty set.
  uint64_t last() const;
  Runs runs() const { return {pieces_}; }

  /// What it takes in memory, with what it has in reserve.
  size_t bytes() const {
    const size_t list_bytes = pieces_.capacity() == 0 ? 0 : pieces_.capacity() * sizeof(Piece) + allocation_bytes;
    return list_bytes + blocks_ * (sizeof(Words) + allocation_bytes);
  }
  /// How long text() is, at most. O(1).
  size_t text_bytes() const {
    size_t digits = 1;
    for (uint64_t rest = pieces_.empty() ? 0 : pieces_.back().to; rest > 9; rest /= 10) ++digits;
    return blocks_ * (block_indexes / 4 + digits + 2) + (pieces_.size() - blocks_) * (2 * digits + 2);
  }
  /// Gives back of what it has in reserve what is beyond so many bytes in all. O(runs) where it does.
  void fit(size_t bytes_max);
  /// An index with about as much memory below it as above; not of an empty set.
  uint64_t middle() const { return pieces_[pieces_.size() / 2].from; }

  IndexSet& operator+=(const IndexSet& other);  // union
  IndexSet& operator-=(const IndexSet& other);  // what is in the other leaves
  bool operator==(const IndexSet& other) const;

  /// "0-49,51,60-70,4096:c5": runs, and where they are short the index of the first of a row of bits, in hexadecimal digits that each name
  /// four indexes, the lowest first (c: the first two of four); "" for the empty set.
  std::string text() const;
  /// The text form only: rising, inclusive ranges and rows that do not overlap; none for anything else.
  static std::optional<IndexSet> parse(std::string_view text);

 private:
  using Pieces = std::vector<Piece>;
  uint64_t insert_run(uint64_t from, uint64_t to);
  void add_piece(Piece piece);
  void add_block(Piece block);
  void remove_run(const Piece& run);
  bool take_bits(Piece& block, const Piece& run);
  static void clear_bits(Piece& block, const Piece& taken);
  void add_run_without(const Piece& run, Pieces::const_iterator taken, Pieces::const_iterator end);
  void condense(Pieces::iterator fresh);
  void make_block(Pieces::iterator first, Pieces::iterator last, uint64_t from);

  Pieces pieces_;  // rising, not overlapping; runs do not touch each other
  uint64_t count_ = 0;
  size_t blocks_ = 0;  // pieces with words
};

IndexSet operator+(IndexSet left, const IndexSet& right);
IndexSet operator-(IndexSet left, const IndexSet& right);

/// The indexes below `border`; and those from it on, counted from there.
IndexSet below(const IndexSet& set, uint64_t border);
IndexSet from_on(const IndexSet& set, uint64_t border);

}  // namespace n2nq::wire
