// SPDX-License-Identifier: GPL-3.0-or-later
// Strict reading and exact writing of single values: numbers, words, texts. No key, no file, no widget.
//
// What a reader gets wrong is answered in half a sentence that follows a key's name: 'must be a whole number from 1 to 2000, not "ten"'.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace n2nq::app {

/// Empty: the value was taken. Otherwise what would be right, and what was given.
using Problem = std::optional<std::string>;

std::string_view trimmed(std::string_view text);
/// The text in double quotes, cut to 60 characters, for use in a message.
std::string in_quotes(std::string_view text);

/// Digits with an optional sign; nothing before or behind them.
Problem parse_integer(std::string_view text, std::int64_t min, std::int64_t max, std::int64_t& out);
/// Decimal digits with at most `decimals` places behind the point; no exponent, no hex, no "inf".
Problem parse_decimal(std::string_view text, double min, double max, int decimals, double& out);
/// One of `words`, exactly; `out` is its position.
Problem parse_word(std::string_view text, const std::vector<std::string_view>& words, std::size_t& out);
/// One line of text without control characters.
Problem parse_line(std::string_view text, std::size_t bytes_max, std::string& out);

/// Shortest decimal text that reads back as the same double; never with an exponent.
std::string decimal_text(double value);
/// "a, b or c".
std::string one_of(const std::vector<std::string_view>& words);

/// Single-character edits (insert, delete, replace) between two texts.
std::size_t edit_distance(std::string_view a, std::string_view b);
/// The word nearest to `text`; empty if there are no words.
std::string_view nearest_word(std::string_view text, const std::vector<std::string_view>& words);

}  // namespace n2nq::app
