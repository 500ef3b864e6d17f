// SPDX-License-Identifier: GPL-3.0-or-later
// A long list each of whose elements is to be looked at now and then, in parts.
//
//     [ . . . . . . . . . . . . . . . . ]      each time a sixteenth of it, then from the beginning again
//       1st 2nd ...
//
#pragma once

#include <algorithm>
#include <cstddef>

namespace n2nq {

class Round {
 public:
  /// All of a list of so many.
  static constexpr size_t least = 1024;

  /// `look(index)` of the next ones of a list that is `size` long, which may be longer or shorter than the last time.
  template <typename Look>
  void go_on(size_t size, Look look) {
    for (size_t some = std::min(size, std::max(least, (size + 15) / 16)); some > 0; --some) {
      if (next_ >= size) next_ = 0;
      look(next_++);
    }
  }

 private:
  size_t next_ = 0;
};

}  // namespace n2nq
