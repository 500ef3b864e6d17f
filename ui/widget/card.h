// SPDX-License-Identifier: GPL-3.0-or-later
// One subject in a framed area: a title row with room for controls at its right, and a body below.
#pragma once

#include <QFrame>

class QHBoxLayout;
class QLabel;
class QVBoxLayout;

namespace n2nq::ui {

class Card : public QFrame {
  Q_OBJECT
 public:
  explicit Card(const QString& title, QWidget* parent = nullptr);

  /// Controls are added here, behind the title and a stretch.
  QHBoxLayout* title_row() const { return title_row_; }
  QVBoxLayout* body() const { return body_; }
  /// A caption under the title, and a control right of both.
  void set_subtitle(QLabel* caption, QWidget* control);

 private:
  QVBoxLayout* title_;
  QHBoxLayout* title_row_;
  QVBoxLayout* body_;
};

/// A label of a role that the style sheet knows: "title", "strong", "secondary", "caption", "problem".
QLabel* make_label(const QString& text, const char* role, QWidget* parent = nullptr);

/// Where it is said why something was refused: empty so far, and of as many lines as that takes.
QLabel* make_problem_label(const QString& object_name);

/// For a label with an accessible name: a screen reader tells that in place of the text, so the text is its description as well.
void set_label_text(QLabel* label, const QString& text);

/// Gives a control its object name, accessible name and tooltip in one line, so that none is forgotten.
template <class Widget>
Widget* described(Widget* widget, const char* object_name, const QString& accessible_name, const QString& tooltip) {
  widget->setObjectName(QString::fromLatin1(object_name));
  widget->setAccessibleName(accessible_name);
  widget->setToolTip(tooltip);
  return widget;
}

/// Sets a property that the style sheet selects by, and lets it act.
void set_style_property(QWidget* widget, const char* name, const QVariant& value);

}  // namespace n2nq::ui
