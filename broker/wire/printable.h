// SPDX-License-Identifier: GPL-3.0-or-later
// What a peer says goes into logs, messages and terminals, which may obey what is in it.
#pragma once

#include <string>
#include <string_view>

namespace n2nq::wire {

/// `text` on one line of valid UTF-8: each byte of a control character (C0, DEL, C1, the line and paragraph separators, those that turn the
/// direction of writing) and each byte that is no UTF-8 becomes "\xNN"; all else stays as it is. At most four times as long.
std::string printable(std::string_view text);

}  // namespace n2nq::wire
