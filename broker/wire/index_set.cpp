// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/wire/index_set.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <utility>

namespace n2nq::wire {

namespace {

constexpr uint64_t word_bits = 64;
constexpr uint64_t all_ones = ~uint64_t{0};
/// Runs in one block from which on bits are smaller.
constexpr std::ptrdiff_t runs_per_block_max = 24;

/// The first piece that ends at or behind `index`.
template <typename Pieces>
auto first_ending_from(Pieces& pieces, uint64_t index) {
  return std::lower_bound(pieces.begin(), pieces.end(), index, [](const auto& piece, uint64_t value) { return piece.to < value; });
}

/// Bits `from` to `to` of a word.
uint64_t mask(uint64_t from, uint64_t to) {
  return (all_ones << from) & (all_ones >> (word_bits - 1 - to));
}

/// Calls `visit(word, mask)` for each word that has some of the bits from `from` to `to`.
template <typename Words, typename Visit>
void each_word(Words& words, uint64_t from, uint64_t to, Visit visit) {
  for (uint64_t word = from / word_bits; word <= to / word_bits; ++word) {
    visit(words[word], mask(word == from / word_bits ? from % word_bits : 0, word == to / word_bits ? to % word_bits : word_bits - 1));
  }
}

template <typename Words>
uint64_t set_bits(Words& words, uint64_t from, uint64_t to) {
  uint64_t fresh = 0;
  each_word(words, from, to, [&](uint64_t& word, uint64_t bits) {
    fresh += static_cast<uint64_t>(std::popcount(bits & ~word));
    word |= bits;
  });
  return fresh;
}

/// The first one (or zero, with `flip` all ones) from `from` on; the number of bits when there is none.
template <typename Words>
uint64_t next_bit(const Words& words, uint64_t from, uint64_t flip) {
  for (uint64_t word = from / word_bits; word < words.size(); ++word) {
    uint64_t bits = words[word] ^ flip;
    if (word == from / word_bits) bits &= all_ones << (from % word_bits);
    if (bits != 0) return word * word_bits + static_cast<uint64_t>(std::countr_zero(bits));
  }
  return words.size() * word_bits;
}

template <typename Words>
uint64_t ones(const Words& words) {
  uint64_t count = 0;
  for (const uint64_t word : words) count += static_cast<uint64_t>(std::popcount(word));
  return count;
}

bool take_number(std::string_view& text, uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

bool take_letter(std::string_view& text, char letter) {
  if (text.empty() || text.front() != letter) return false;
  text.remove_prefix(1);
  return true;
}

void append_digits(std::string& out, const auto& words) {
  static constexpr char digits[] = "0123456789abcdef";
  static constexpr uint64_t turned[] = {0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15};  // the lowest bit is the first index
  for (const uint64_t word : words) {
    for (uint64_t shift = 0; shift < word_bits; shift += 4) out += digits[turned[word >> shift & 15]];
  }
  out.erase(out.find_last_not_of('0') + 1);
}

/// A row of bits from `from` on, all behind what `set` has; false when it is none.
bool take_row(std::string_view& text, uint64_t from, IndexSet& set) {
  const size_t digits = std::min(text.find(','), text.size());
  if (digits == 0 || from > UINT64_MAX - 4 * digits) return false;
  for (size_t at = 0; at < digits; ++at) {
    const char letter = text[at];
    const bool is_digit = letter >= '0' && letter <= '9';
    if (!is_digit && (letter < 'a' || letter > 'f')) return false;
    const int bits = is_digit ? letter - '0' : letter - 'a' + 10;
    for (int bit = 0; bit < 4; ++bit) {
      if ((bits & (8 >> bit)) != 0) set.add(from + 4 * at + static_cast<uint64_t>(bit));
    }
  }
  text.remove_prefix(digits);
  return true;
}

}  // namespace

IndexSet::RunIterator::RunIterator(const std::vector<Piece>& pieces) : pieces_(&pieces) {
  ++*this;
}

IndexSet::RunIterator& IndexSet::RunIterator::operator++() {
  over_ = !take_next(run_);
  const auto goes_on = [this] {  // in the piece behind
    if (over_ || skip_ != 0 || piece_ == pieces_->size() || run_.to == UINT64_MAX) return false;
    const Piece& piece = (*pieces_)[piece_];
    return piece.from == run_.to + 1 && (!piece.words || (piece.words->front() & 1) != 0);
  };
  for (Run more; goes_on(); run_.to = more.to) take_next(more);
  return *this;
}

/// The next run within one piece; false when there is none.
bool IndexSet::RunIterator::take_next(Run& run) {
  for (; piece_ < pieces_->size(); ++piece_, skip_ = 0) {
    const Piece& piece = (*pieces_)[piece_];
    if (!piece.words) {
      run = {piece.from, piece.to};
      ++piece_;
      return true;
    }
    const uint64_t first = next_bit(*piece.words, skip_, 0);
    if (first == block_indexes) continue;
    skip_ = next_bit(*piece.words, first, all_ones);
    run = {piece.from + first, piece.from + skip_ - 1};
    if (skip_ == block_indexes) ++piece_, skip_ = 0;
    return true;
  }
  return false;
}

bool IndexSet::add(uint64_t index) {
  if (!pieces_.empty() && pieces_.back().words && index >= pieces_.back().from && index <= pieces_.back().to) {
    const uint64_t fresh = set_bits(*pieces_.back().words, index % block_indexes, index % block_indexes);
    count_ += fresh;
    return fresh == 1;
  }
  return add_range(index, index) == 1;
}

uint64_t IndexSet::add_range(uint64_t from, uint64_t to) {
  if (from > to) return 0;
  // By far the most frequent: the next one.
  if (!pieces_.empty() && !pieces_.back().words && from == pieces_.back().to + 1 && from != 0) {
    pieces_.back().to = to;
    count_ += to - from + 1;
    return to - from + 1;
  }
  uint64_t added = 0;
  for (uint64_t end = to;; from = end + 1, end = to) {
    auto piece = first_ending_from(pieces_, from);
    if (piece != pieces_.end() && piece->words && piece->from <= from) {
      end = std::min(to, piece->to);
      added += set_bits(*piece->words, from - piece->from, end - piece->from);
    } else {
      while (piece != pieces_.end() && piece->from <= to && !piece->words) ++piece;
      if (piece != pieces_.end() && piece->from <= to) end = piece->from - 1;
      added += insert_run(from, end);
    }
    if (end == to) break;
  }
  count_ += added;
  return added;
}

/// Where no block is. The runs that overlap or touch it become one with it.
uint64_t IndexSet::insert_run(uint64_t from, uint64_t to) {
  auto first = first_ending_from(pieces_, from == 0 ? 0 : from - 1);
  if (first != pieces_.end() && first->words && first->to < from) ++first;
  auto last = first;
  uint64_t joined_from = from, joined_to = to, held = 0;
  for (; last != pieces_.end() && !last->words && (last->from <= to || last->from - 1 <= to); ++last) {
    joined_from = std::min(joined_from, last->from);
    joined_to = std::max(joined_to, last->to);
    held += last->to - last->from + 1;
  }
  if (first == last) {
    condense(pieces_.emplace(first, joined_from, joined_to));
  } else {
    first->from = joined_from;
    first->to = joined_to;
    pieces_.erase(first + 1, last);
  }
  return joined_to - joined_from + 1 - held;
}

/// Makes bits of the runs around a new one, where they are many.
void IndexSet::condense(Pieces::iterator fresh) {
  const uint64_t from = fresh->from / block_indexes * block_indexes, to = from + (block_indexes - 1);
  const auto is_here = [&](const Piece& piece) { return !piece.words && piece.from <= to && piece.to >= from; };
  if (fresh + 1 == pieces_.end() && (fresh - pieces_.begin() < runs_per_block_max || !is_here(*(fresh - runs_per_block_max)))) return;
  auto first = fresh, last = fresh + 1;
  while (first != pieces_.begin() && is_here(*(first - 1))) --first;
  while (last != pieces_.end() && is_here(*last)) ++last;
  if (last - first > runs_per_block_max) make_block(first, last, from);
}

/// Of the pieces from `first` to before `last`, which are runs that lie in the block at `from`, if only in part.
void IndexSet::make_block(Pieces::iterator first, Pieces::iterator last, uint64_t from) {
  const uint64_t to = from + (block_indexes - 1);
  Piece block(from, to, std::make_unique<Words>());
  for (auto piece = first; piece != last; ++piece) {
    set_bits(*block.words, std::max(piece->from, from) - from, std::min(piece->to, to) - from);
  }
  const Piece front = *first, back = *(last - 1);
  // What sticks out stays a run. There are always more pieces than these three.
  if (front.from < from) *first++ = Piece(front.from, from - 1);
  if (back.to > to) *--last = Piece(to + 1, back.to);
  *first++ = std::move(block);
  pieces_.erase(first, last);
  ++blocks_;
}

bool IndexSet::remove(uint64_t index) {
  const auto piece = first_ending_from(pieces_, index);
  if (!contains(index)) return false;
  --count_;
  if (piece->words) {
    (*piece->words)[(index - piece->from) / word_bits] &= ~(uint64_t{1} << (index % word_bits));
    if (next_bit(*piece->words, 0, 0) == block_indexes) {
      pieces_.erase(piece);
      --blocks_;
    }
  } else if (piece->from == piece->to) {
    pieces_.erase(piece);
  } else if (piece->from == index) {
    ++piece->from;
  } else if (piece->to == index) {
    --piece->to;
  } else {
    const uint64_t to = piece->to;
    piece->to = index - 1;
    condense(pieces_.emplace(piece + 1, index + 1, to));
  }
  return true;
}

void IndexSet::clear() {
  *this = {};
}

void IndexSet::fit(size_t bytes_max) {
  const size_t fixed_bytes = blocks_ * (sizeof(Words) + allocation_bytes) + allocation_bytes;
  const size_t pieces_max = std::max(pieces_.size(), (bytes_max - std::min(bytes_max, fixed_bytes)) / sizeof(Piece));
  if (pieces_.capacity() <= pieces_max) return;
  Pieces fitted;
  fitted.reserve(pieces_max);
  std::ranges::move(pieces_, std::back_inserter(fitted));
  pieces_ = std::move(fitted);
}

bool IndexSet::contains(uint64_t index) const {
  const auto piece = first_ending_from(pieces_, index);
  if (piece == pieces_.end() || piece->from > index) return false;
  return !piece->words || ((*piece->words)[(index - piece->from) / word_bits] >> (index % word_bits) & 1) != 0;
}

uint64_t IndexSet::count_in(uint64_t from, uint64_t to) const {
  uint64_t count = 0;
  for (auto piece = first_ending_from(pieces_, from); piece != pieces_.end() && piece->from <= to; ++piece) {
    const uint64_t first = std::max(piece->from, from), end = std::min(piece->to, to);
    if (piece->words) {
      each_word(*piece->words, first - piece->from, end - piece->from,
                [&](uint64_t word, uint64_t bits) { count += static_cast<uint64_t>(std::popcount(word & bits)); });
    } else {
      count += end - first + 1;
    }
  }
  return count;
}

uint64_t IndexSet::last() const {
  const Piece& piece = pieces_.back();
  if (!piece.words) return piece.to;
  uint64_t word = piece.words->size() - 1;
  while ((*piece.words)[word] == 0) --word;
  return piece.from + word * word_bits + (word_bits - 1) - static_cast<uint64_t>(std::countl_zero((*piece.words)[word]));
}

void IndexSet::add_piece(Piece piece) {
  if (piece.words) {
    add_block(std::move(piece));
  } else {
    add_range(piece.from, piece.to);
  }
}

/// As a whole, where nothing of this set, a block, or a run that has all of it lies there; else run by run.
void IndexSet::add_block(Piece block) {
  const auto own = first_ending_from(pieces_, block.from);
  if (own == pieces_.end() || own->from > block.to) {
    count_ += ones(*block.words);
    pieces_.insert(own, std::move(block));
    ++blocks_;
  } else if (own->words) {
    uint64_t held_by_all = all_ones;
    for (size_t i = 0; i < block.words->size(); ++i) {
      uint64_t& word = (*own->words)[i];
      if (const uint64_t fresh = (*block.words)[i] & ~word; fresh != 0) {
        count_ += static_cast<uint64_t>(std::popcount(fresh));
        word |= fresh;
      }
      held_by_all &= word;
    }
    if (held_by_all != all_ones) return;
    pieces_.erase(own);
    --blocks_;
    count_ -= block_indexes;
    add_range(block.from, block.to);
  } else if (own->from > block.from || own->to < block.to) {
    std::vector<Piece> alone;
    alone.push_back(std::move(block));
    for (const Run& run : Runs{alone}) add_range(run.from, run.to);
  }
}

IndexSet& IndexSet::operator+=(const IndexSet& other) {
  if (&other == this || other.empty()) return *this;
  if (empty()) return *this = other;
  const bool is_little = other.pieces_.size() * 8 < pieces_.size();
  if (is_little || other.pieces_.front().from > pieces_.back().to) {
    for (const Piece& piece : other.pieces_) add_piece(piece);
    return *this;
  }
  IndexSet all;  // both in rising order, so that each piece goes to the end
  auto left = pieces_.begin();
  auto right = other.pieces_.begin();
  while (left != pieces_.end() || right != other.pieces_.end()) {
    if (right == other.pieces_.end() || (left != pieces_.end() && left->from <= right->from)) {
      all.add_piece(std::move(*left++));
    } else {
      all.add_piece(*right++);
    }
  }
  return *this = std::move(all);
}

IndexSet& IndexSet::operator-=(const IndexSet& other) {
  if (empty() || other.empty()) return *this;
  if (&other == this) return *this = {};
  const bool is_little = other.pieces_.size() * 8 < pieces_.size();
  if (is_little && std::ranges::none_of(other.pieces_, [](const Piece& piece) { return piece.words != nullptr; })) {
    for (const Piece& run : other.pieces_) remove_run(run);
    return *this;
  }
  IndexSet left;
  auto taken = other.pieces_.begin();
  for (Piece& piece : pieces_) {
    while (taken != other.pieces_.end() && taken->to < piece.from) ++taken;
    if (taken == other.pieces_.end() || taken->from > piece.to) {
      left.add_piece(std::move(piece));
    } else if (piece.words) {
      for (auto one = taken; one != other.pieces_.end() && one->from <= piece.to; ++one) clear_bits(piece, *one);
      if (next_bit(*piece.words, 0, 0) != block_indexes) left.add_piece(std::move(piece));
    } else {
      left.add_run_without(piece, taken, other.pieces_.end());
    }
  }
  return *this = std::move(left);
}

/// In place.
void IndexSet::remove_run(const Piece& run) {
  auto piece = first_ending_from(pieces_, run.from);
  if (piece != pieces_.end() && piece->from < run.from) {
    if (piece->words) {
      piece = take_bits(*piece, run) ? piece + 1 : pieces_.erase(piece);
    } else if (const uint64_t to = std::exchange(piece->to, run.from - 1); to > run.to) {
      count_ -= run.to - run.from + 1;
      condense(pieces_.emplace(piece + 1, run.to + 1, to));
      return;
    } else {
      count_ -= to - run.from + 1;
      ++piece;
    }
  }
  auto behind = piece;
  for (; behind != pieces_.end() && behind->to <= run.to; ++behind) {
    count_ -= behind->words ? ones(*behind->words) : behind->to - behind->from + 1;
    blocks_ -= behind->words != nullptr;
  }
  if (behind != pieces_.end() && behind->from <= run.to) {
    if (behind->words) {
      if (!take_bits(*behind, run)) ++behind;
    } else {
      count_ -= run.to - behind->from + 1;
      behind->from = run.to + 1;
    }
  }
  pieces_.erase(piece, behind);
}

/// What the run has leaves the block. False: that was all, and the block is to be erased.
bool IndexSet::take_bits(Piece& block, const Piece& run) {
  count_ -= ones(*block.words);
  clear_bits(block, run);
  const uint64_t left = ones(*block.words);
  count_ += left;
  blocks_ -= left == 0;
  return left > 0;
}

/// What the other piece has leaves the block.
void IndexSet::clear_bits(Piece& block, const Piece& taken) {
  if (taken.words) {  // of the same indexes
    for (size_t i = 0; i < block.words->size(); ++i) (*block.words)[i] &= ~(*taken.words)[i];
  } else {
    each_word(*block.words, std::max(taken.from, block.from) - block.from, std::min(taken.to, block.to) - block.from,
              [](uint64_t& word, uint64_t bits) { word &= ~bits; });
  }
}

/// The run but for what the pieces from `taken` on have.
void IndexSet::add_run_without(const Piece& run, Pieces::const_iterator taken, Pieces::const_iterator end) {
  uint64_t from = run.from;
  bool used_up = false;
  const auto leave_out = [&](uint64_t first, uint64_t last) {
    if (used_up || last < from || first > run.to) return;
    if (first > from) add_range(from, first - 1);
    used_up = last >= run.to;
    from = last + 1;
  };
  for (; taken != end && taken->from <= run.to && !used_up; ++taken) {
    if (!taken->words) {
      leave_out(taken->from, taken->to);
      continue;
    }
    for (uint64_t first = next_bit(*taken->words, 0, 0); first != block_indexes;) {
      const uint64_t behind = next_bit(*taken->words, first, all_ones);
      leave_out(taken->from + first, taken->from + behind - 1);
      first = behind == block_indexes ? behind : next_bit(*taken->words, behind, 0);
    }
  }
  if (!used_up) add_range(from, run.to);
}

bool IndexSet::operator==(const IndexSet& other) const {
  if (count_ != other.count_) return false;
  auto own = runs().begin();
  for (const Run& run : other.runs()) {
    if (!(run == *own)) return false;  // as many indexes: neither ends before the other without a difference
    ++own;
  }
  return true;
}

std::string IndexSet::text() const {
  std::string out;
  for (const Piece& piece : pieces_) {
    if (!out.empty()) out += ',';
    out += std::to_string(piece.from);
    if (piece.words) {
      out += ':';
      append_digits(out, *piece.words);
    } else if (piece.to != piece.from) {
      out += '-' + std::to_string(piece.to);
    }
  }
  return out;
}

std::optional<IndexSet> IndexSet::parse(std::string_view text) {
  IndexSet set;
  while (!text.empty()) {
    Run run;
    if (!take_number(text, run.from)) return std::nullopt;
    if (!set.empty() && run.from <= set.last()) return std::nullopt;
    if (take_letter(text, ':')) {
      if (!take_row(text, run.from, set)) return std::nullopt;
    } else {
      run.to = run.from;
      if ((take_letter(text, '-') && !take_number(text, run.to)) || run.from > run.to) return std::nullopt;
      set.add_range(run.from, run.to);
    }
    if (!text.empty() && (!take_letter(text, ',') || text.empty())) return std::nullopt;
  }
  return set;
}

IndexSet operator+(IndexSet left, const IndexSet& right) {
  left += right;
  return left;
}

IndexSet operator-(IndexSet left, const IndexSet& right) {
  left -= right;
  return left;
}

IndexSet below(const IndexSet& set, uint64_t border) {
  IndexSet found;
  for (const IndexSet::Run& run : set.runs()) {
    if (run.from >= border) break;
    found.add_range(run.from, std::min(run.to, border - 1));
  }
  return found;
}

IndexSet from_on(const IndexSet& set, uint64_t border) {
  IndexSet found;
  for (const IndexSet::Run& run : set.runs()) {
    if (run.to >= border) found.add_range(std::max(run.from, border) - border, run.to - border);
  }
  return found;
}

}  // namespace n2nq::wire
