// SPDX-License-Identifier: GPL-3.0-or-later
// A text that is cut with … where room ends, or at the beginning of a path in it, whose end says what it is of; the whole of it in the
// tooltip. Asks for the room of its lines and never for more; where a layout gives it more height, it shows as many lines as fit.
#pragma once

#include <QLabel>

class QAction;

namespace n2nq::ui {

class ElidedLabel : public QLabel {
  Q_OBJECT
 public:
  /// `role` as in make_label(); empty: plain text. `lines`: how many it asks for.
  explicit ElidedLabel(const char* role = "", int lines = 1, QWidget* parent = nullptr);
  void set_text(const QString& text);
  const QString& full_text() const { return full_; }
  /// A way to copy what is cut off, which selecting it would not be: an entry `words` by the right mouse button, and Ctrl+C behind a click.
  /// It copies `what`, or without that the whole text.
  void offer_copy(const QString& words = QStringLiteral("Copy"), const QString& what = {});
  /// Takes more height than its lines where there is some, and shows what stands behind the first line of its text, too.
  void set_grows();
  /// Asks for as many lines as the text needs at its width, up to so many.
  void set_lines_max(int lines);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void elide();
  bool grows() const;
  int lines_shown() const;
  QStringList lines_of(const QString& source, qsizetype lines_most) const;
  QString cut(const QString& line, int room) const;
  QString with_end_of_path(const QString& line, int room) const;
  int lines_;
  int lines_max_ = 0;  // 0: it asks for lines_, whatever its text needs
  QString full_;
  QAction* copy_ = nullptr;
};

}  // namespace n2nq::ui
