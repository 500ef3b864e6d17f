// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/text/tooltip.h"

#include <QTextDocument>

namespace n2nq::ui {

QString tooltip_of(const QString& text) {
  return Qt::mightBeRichText(text) ? Qt::convertFromPlainText(text, Qt::WhiteSpaceNormal) : text;
}

}  // namespace n2nq::ui
