// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/results/requests_words.h"

#include <QStringList>
#include <optional>

#include "app/figure/number_text.h"
#include "app/settings/qt_text.h"
#include "app/settings/requests.h"

namespace n2nq::app {

QString requests_words(const QString& text, qsizetype told_max) {
  std::optional<Requests> requests;
  if (parse_requests(text.toStdString(), requests) || !requests || requests->empty()) return text;
  QStringList parts;
  for (const ReceiverRequest& request : *requests) {
    if (parts.size() == told_max) {
      parts += QString("%1 more").arg(static_cast<qsizetype>(requests->size()) - told_max);
      break;
    }
    const QString who = !request.receivers           ? QString("all receivers")
                        : request.receivers->empty() ? QString("nobody")
                                                     : qt_text(services_text(*request.receivers, 'R'));
    const QString what = qt_text(rules_of(request).text()).replace(" B", narrow_space + QString("B"));
    parts += who + ": " + what + ", prefetch " + count_text(request.prefetch);
  }
  return parts.join(" and ");
}

}  // namespace n2nq::app
