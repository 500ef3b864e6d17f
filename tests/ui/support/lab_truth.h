// SPDX-License-Identifier: GPL-3.0-or-later
// What a lab of pretend hosts knows of a run and of its machines better than the bench can.
#pragma once

#include <QByteArray>
#include <QString>
#include <cstdint>
#include <optional>

namespace n2nq::ui_test {

/// The lab has set the clocks, and so knows from the raw stamps what each delivery took.
struct LabTruth {
  double took_p50_us = 0;
  double clocks_off_us = 0;  // the middle of what the latencies in the logs are more than that
};
/// Of the logs in a run's folder; `apart_ns`: the senders' clocks before the receivers'. Empty: `problem` says why.
std::optional<LabTruth> lab_truth_of(const QString& folder, std::int64_t apart_ns, QString& problem);

/// A known_hosts file ("h3,10.77.0.13 ssh-ed25519 …" a line) in which the machine at one address has the key of that at another.
QByteArray with_key_of_another(const QByteArray& known, const QString& address, const QString& other);

}  // namespace n2nq::ui_test
