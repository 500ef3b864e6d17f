// SPDX-License-Identifier: GPL-3.0-or-later
// For tests in a lab that run the bench's programs.
#pragma once

#include <QString>

namespace n2nq::app::testing {

inline QString programs_folder;  // set by lab_programs_main.cpp
/// What an n2nq-broker is told first, which says hello then.
inline constexpr const char* configure_broker =
    R"({"type":"configure","control":1,"run":"test","role":"broker","token":"","listen":{"address":"127.0.0.1","port":0},"expect":{"senders":1,"receivers":1}})"
    "\n";

}  // namespace n2nq::app::testing
