// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/model/taint.h"

namespace n2nq::ui {

Taint taint_so_far(const app::LiveFigures& f) {
  if (f.unexpected > 0 || f.bad_checksum > 0 || f.unasked > 0 || f.lost > 0) return Taint::breaks;
  const bool degraded = f.expired > 0 || f.parked > 0 || f.parked_delivered > 0 || f.cut_off > 0 || f.duplicated_unflagged > 0 ||
                        f.out_of_order > 0 || f.negative > 0;
  return degraded ? Taint::degrades : Taint::none;
}

QString taint_sign(Taint taint) {
  if (taint == Taint::none) return {};
  return taint == Taint::breaks ? QStringLiteral("✕ ") : QStringLiteral("▲ ");
}

}  // namespace n2nq::ui
