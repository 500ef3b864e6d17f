// SPDX-License-Identifier: GPL-3.0-or-later
// Fields that edit one key of the settings each, and the line beside them that says why a value was refused.
//
// They hold no rule and no value of their own: the SettingsForm does. Each takes its tooltip from the key's meaning, shows its unit inside,
// and is locked with the form's reason while nothing can be changed, or nothing would come of it.
#pragma once

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QStringList>

#include "ui/model/settings_form.h"
#include "ui/theme/theme.h"
#include "ui/widget/elided_label.h"

namespace n2nq::ui {

/// A line edit with a unit at its right end.
class UnitEdit : public QLineEdit {
  Q_OBJECT
 public:
  explicit UnitEdit(const QString& unit, QWidget* parent = nullptr);
  void set_unit(const QString& unit);
  /// Grey and read-only, still focusable, so that its value can be read and copied.
  void set_locked(const QString& reason, const QString& tooltip);
  void set_refused(bool refused);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QString unit_;
};

/// Edits one key as text, at every keystroke.
class TextField : public UnitEdit {
  Q_OBJECT
 public:
  TextField(SettingsForm& form, const QString& key, QWidget* parent = nullptr);

 protected:
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  void show_value();
  void show_lock();

  SettingsForm& form_;
  QString key_;
};

/// A choice box drawn flat, with the theme's chevron.
class ChoiceBox : public QComboBox {
  Q_OBJECT
 public:
  explicit ChoiceBox(const Theme& theme, QWidget* parent = nullptr);
  void set_locked(const QString& reason, const QString& tooltip);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return sizeHint(); }
  void showPopup() override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  /// Drawn as a word that can be changed, without a frame.
  bool is_plain() const;

  const Theme& theme_;
  bool locked_ = false;
};

/// Chooses one of a key's accepted words.
class WordField : public ChoiceBox {
  Q_OBJECT
 public:
  /// `shown`: how each word is written in the window, in the key's order of words.
  WordField(SettingsForm& form, const QString& key, const QStringList& shown, const Theme& theme, QWidget* parent = nullptr);

 private:
  void show_value();

  SettingsForm& form_;
  QString key_;
};

/// Says what is wrong with any of the given keys; has its room whether anything is or not, so that nothing moves.
class ProblemLine : public ElidedLabel {
  Q_OBJECT
 public:
  ProblemLine(SettingsForm& form, const QStringList& keys, QWidget* parent = nullptr);

 private:
  void refresh();

  SettingsForm& form_;
  QStringList keys_;
};

/// Tooltip of a field: what it means, and while it is locked, why.
QString field_tooltip(const SettingsForm& form, const QString& key);

/// The object name of a field: "field_" and the key with its dots replaced.
QString field_object_name(const QString& key);

}  // namespace n2nq::ui
