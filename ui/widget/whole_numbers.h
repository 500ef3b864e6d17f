// SPDX-License-Identifier: GPL-3.0-or-later
// A table that is wider than its room: what is left of a number at its edge reads as another number, "32" of "32 402".
#pragma once

class QTableView;

namespace n2nq::ui {

/// From now on a number of this table (what is aligned at the right) is there as a whole or is "…", and so is a head at its edge; other
/// texts end in "…". Takes the place of the delegate and the horizontal header that a table has at first.
void show_whole_numbers(QTableView* table);

}  // namespace n2nq::ui
