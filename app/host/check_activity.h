// SPDX-License-Identifier: GPL-3.0-or-later
// What is still going on at a machine while it is checked, for who waits, and for what is said where there was no time for the rest.
// Values only.
#pragma once

#include <QString>
#include <string>

namespace n2nq::app {

struct CheckActivity {
  enum class Kind {
    none,        // of its own; it may wait for the others
    connecting,  // and logging in
    sending,     // a program, over a link that takes its time
    waiting,     // for what the machine says
    ways,        // from there to the others are being tried
  };
  Kind kind = Kind::none;
  QString program;  // that is sent
  qint64 sent_bytes = 0, all_bytes = 0;

  bool operator==(const CheckActivity&) const = default;
};

/// "sending n2nq-broker to h1, 512 of 3530 KiB"; empty: none. `name`: of the machine, "local" for this one.
QString activity_text(const std::string& name, const CheckActivity& activity);
/// What a person can do about one that took too long.
QString activity_advice(const CheckActivity& activity);

}  // namespace n2nq::app
