// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/support/lab_truth.h"

#include <algorithm>
#include <vector>

#include "app/results/service_logs.h"

namespace n2nq::ui_test {

namespace {

double middle_of(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

bool is_of(const QByteArray& line, const QString& address) {
  return line.contains(',' + address.toLatin1() + ' ');
}

QByteArray key_of(const QByteArray& known, const QString& address) {
  for (const QByteArray& line : known.split('\n')) {
    if (is_of(line, address)) return line.mid(line.indexOf(' ') + 1);
  }
  return {};
}

}  // namespace

std::optional<LabTruth> lab_truth_of(const QString& folder, std::int64_t apart_ns, QString& problem) {
  const auto logs = app::read_logs(folder, problem);
  if (!logs) return {};
  std::vector<double> took_us, off_us;
  for (const app::ReceiverLog& receiver : logs->receivers) {
    for (const measure::ReceivedLine& line : receiver.lines) {
      took_us.push_back(static_cast<double>(line.received_ns - line.sent_ns + apart_ns) / 1e3);
      off_us.push_back(static_cast<double>(line.latency_ns) / 1e3 - took_us.back());
    }
  }
  if (took_us.empty()) return problem = QStringLiteral("no deliveries in ") + folder, std::nullopt;
  return LabTruth{middle_of(std::move(took_us)), middle_of(std::move(off_us))};
}

QByteArray with_key_of_another(const QByteArray& known, const QString& address, const QString& other) {
  QByteArray changed;
  for (const QByteArray& line : known.split('\n')) {
    changed += is_of(line, address) ? address.toLatin1() + ' ' + key_of(known, other) : line;
    changed += '\n';
  }
  return changed;
}

}  // namespace n2nq::ui_test
