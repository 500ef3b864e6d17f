// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/model/busy.h"

namespace n2nq::ui {

namespace {

// By who wants to begin, then by what is on; each says where that is, and how it ends.
const char* const sentences[3][3] = {
    {"", "Test cases run (page Test cases): pause or stop them first",
     "The lab machines are being checked (page Hosts): a run would share them with that. Wait, or cancel it there"},
    {"A run is on, on the page Bench: stop it first (Shift+F5)", "",
     "The lab machines are being checked, on the page Hosts: wait, or cancel it there"},
    {"A run is on, which a check would disturb: stop it first (Shift+F5)", "Test cases run (page Test cases): pause or stop them first", ""}};

}  // namespace

QString why_not_now(Busy wanted, std::optional<Busy> on) {
  return on ? QString::fromUtf8(sentences[static_cast<int>(wanted)][static_cast<int>(*on)]) : QString();
}

}  // namespace n2nq::ui
