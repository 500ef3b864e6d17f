// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers as a person reads them, on screen and in print: thousands apart, about three digits, a dash for what is not known. Files keep all
// digits.
#pragma once

#include <QString>
#include <cstdint>

namespace n2nq::app {

inline constexpr QChar narrow_space(0x202F);  // thin, and no line is broken at it

/// The digits before the point in threes: "1 234.5" of "1234.5". A sign may stand before them.
QString grouped_digits(QString digits, QChar apart = narrow_space);
/// The same for the numbers of a sentence. What is no quantity stays as it is: addresses, ports, dates, paths, names, parts of words.
QString grouped_in(QString sentence, QChar apart = narrow_space);
/// What stands for "not known yet".
QString dash();
/// "125 000", all digits.
QString count_text(std::int64_t count);
/// "4 998.2"; a dash for NaN.
QString fixed_text(double value, int decimals);
/// Decimals that leave about three digits: 9.12, 94.8, 402.
int decimals_for(double value);
/// The same of what three_digits() shows, which has more where there are zeros before them: 0.0123.
int three_digit_decimals(double value);
/// About three digits, thousands not apart: 1402, 94.8, 0.512, 0.0123; below 0.00001 with an exponent: 1.23e-07.
QString three_digits(double value);
/// Whole numbers with all digits, others with about three: 9.12, 94.8, 0.0123, 1.23e-07.
QString short_number(double value);

/// A ± of clocks is a limit, so what is shown of it is never less: the smallest number with so many decimals that is not below it. 0, NaN
/// and what is infinite stay.
double rounded_up(double limit, int decimals);
/// The same for texts whose decimals go by the size of what they show. `value`: what the ± stands directly behind, shown by the same rule;
/// what its rounding took is added, so that value ± bound as shown holds all that it may be.
double shown_bound(double bound, int (*decimals_of)(double), double value = 0);

/// A time and its ±, both of them with their unit: the time to a tenth of the ±, however large it is, and the ± rounded up by what that
/// leaves out.
struct BoundedText {
  QString value;  // without a sign
  QString bound;
  bool negative = false;  // what is shown
};
BoundedText bounded_time_text(double value_us, double bound_us, QChar apart = narrow_space);
/// How far apart two clocks are, where there is little room: "+250 ms ± 2.1 ms"; from 1 s on, as between machines that were started on
/// different days, "≈ +3 d, ± 130 µs".
QString offset_text(double offset_us, double bound_us, QChar apart = narrow_space);

}  // namespace n2nq::app
