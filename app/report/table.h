// SPDX-License-Identifier: GPL-3.0-or-later
// A table as values, and as the texts it is written as. Every form of a report is made from the same tables, so that all say the same
// numbers: a number is written as the shortest decimal that reads back as itself, and where people read it rounded.
#pragma once

#include <QByteArray>
#include <QString>
#include <QStringList>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <variant>
#include <vector>

#include "app/figure/figure.h"

namespace n2nq::app {

/// Nothing: not known.
using Cell = std::variant<std::monostate, double, QString>;

struct Table {
  QString id;  // fit for a file's or a sheet's name
  QString title;
  QStringList columns;  // with units: "p99 (µs)"; files have them as they are
  std::vector<std::vector<Cell>> rows;
  std::map<QString, QString> words{};            // what people read in place of keys: of columns, and where has_keys()
  std::vector<std::vector<QStringList>> doubts;  // why a cell, which is grey then, tells little; empty: it tells what it says
  QString remark{};                              // a sentence about its numbers, which people read below it; empty: none
  bool has_keys_in_all = false;                  // texts of all of its columns may be keys
  /// Words and numbers in one column, each behind what it is called.
  bool is_of_keys() const { return columns.size() == 2 && columns.first() == QLatin1String("key"); }
  /// Whether a column's texts may be keys: names, and what stands beside a name.
  bool has_keys(std::size_t column) const { return column == 0 || has_keys_in_all || is_of_keys(); }
  /// Whether a column is read as one of numbers: all of it stands at its right edge then, its title, its words and its gaps, too.
  bool has_numbers(std::size_t column) const;
  /// A column's key, or a cell's, in words; as it is where it is no key.
  QString read(const QString& key) const {
    const auto found = words.find(key);
    return found == words.end() ? key : found->second;
  }
  /// All that makes a cell grey, in words; empty: it is not.
  QString doubt(std::size_t row, std::size_t column) const {
    return row < doubts.size() && column < doubts[row].size() ? doubts[row][column].join("; ") : QString();
  }
};

/// A sentence: why some of their cells are grey. Empty: none is.
QString grey_words(std::span<const Table> tables);

/// Why a time is no finer than what clocks leave open of it: `limit` is their ±; infinite: nobody knows it; NaN: it is of one clock. In the
/// unit of `value`. Empty: it is finer.
QString clock_doubt(double value, double limit);
/// The ± itself: empty where there is none, "?" where nobody knows it.
Cell clock_cell(double limit);

/// As files have it, where no mouse asks a grey cell why: with a last column "remarks", which says of each row what makes which of its
/// columns tell little. The same table where no cell is grey.
Table with_remarks(Table table);

/// With all digits; "" for nothing.
QString cell_text(const Cell& cell);
/// As it is read on screen and in print: rounded to about three digits, a dash for nothing.
QString cell_short(const Cell& cell);
/// Both with remarks.
QByteArray csv(const Table& table);
nlohmann::ordered_json table_json(const Table& table);
/// Words for keys, which stand in the cell's title; numbers rounded, with all their digits there.
QString html(const Table& table);

/// A row for each x: per series its y, interval and bound as far as there are any, and why it is marked.
Table figure_table(const Figure& figure);

}  // namespace n2nq::app
