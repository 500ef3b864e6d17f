// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace n2nq::ui {

/// For a text of more than some words: Qt breaks no line of a plain one. And for one that has what others say in it, such as a host: Qt
/// would take what looks like HTML for HTML.
QString tooltip_of(const QString& text);

}  // namespace n2nq::ui
