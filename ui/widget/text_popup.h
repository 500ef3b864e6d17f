// SPDX-License-Identifier: GPL-3.0-or-later
// Lines that fold out below a button, to be read, selected and copied; goes away by itself and moves nothing.
#pragma once

#include <QFrame>
#include <QStringList>

namespace n2nq::ui {

class TextPopup : public QFrame {
  Q_OBJECT
 public:
  enum class Form {
    lines,  // one below the other, as in a log
    points  // sentences: a paragraph each, with a point before it and room between them
  };
  /// `object_name` "reasons" makes "reasons_popup", "reasons_text" and "reasons_copy".
  TextPopup(const QString& object_name, const QString& accessible_name, const QStringList& lines, QWidget* parent,
            Form form = Form::lines);
  void open_below(QWidget* anchor);
};

}  // namespace n2nq::ui
