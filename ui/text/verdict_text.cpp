// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/text/verdict_text.h"

namespace n2nq::ui {

QString verdict_sign(const QString& verdict) {
  const QString sign = verdict == QLatin1String("clean")      ? QStringLiteral("✓ ")
                       : verdict == QLatin1String("stopped")  ? QStringLiteral("■ ")
                       : verdict == QLatin1String("degraded") ? QStringLiteral("▲ ")
                       : verdict == QLatin1String("broken")   ? QStringLiteral("✕ ")
                                                              : QStringLiteral("◌ ");
  return sign + verdict;
}

QString disturbed_sign(bool disturbed) {
  return disturbed ? QStringLiteral(" · disturbed") : QString();
}

QColor verdict_color(const QString& verdict, const Tokens& tokens) {
  if (verdict == QLatin1String("clean")) return tokens.good;
  if (verdict == QLatin1String("stopped")) return tokens.text;
  if (verdict == QLatin1String("degraded")) return tokens.warning;
  return verdict == QLatin1String("broken") ? tokens.bad : tokens.secondary;
}

}  // namespace n2nq::ui
