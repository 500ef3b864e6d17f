// SPDX-License-Identifier: GPL-3.0-or-later
// The settings while they are being edited: the last good values, and beside them the texts that were refused and why.
//
// Every rule comes from app/settings; this only remembers which field it spoke about. Lives on the GUI thread.
#pragma once

#include <QHash>
#include <QObject>
#include <QString>
#include <QStringList>
#include <functional>

#include "app/settings/settings.h"

namespace n2nq::ui {

class SettingsForm : public QObject {
  Q_OBJECT
 public:
  explicit SettingsForm(QObject* parent = nullptr) : QObject(parent) {}

  /// The last accepted values; what a start would use.
  const app::Settings& settings() const { return settings_; }
  /// Replaces everything and forgets refused texts.
  void load(const app::Settings& settings);

  /// Sets a key from what was typed. False: refused, problem(key) says why, settings() keeps the value it had.
  bool set(const QString& key, const QString& text);
  /// As set(), for a key of which an empty text is a mistake rather than "not set".
  bool set_needed(const QString& key, const QString& text);
  /// An edit of this key begins or goes on / is over: what is refused in between takes the value back to what it was at its beginning, so
  /// that the accepted start of a refused text ("1000" of "100000") does not stay behind.
  void begin_edit(const QString& key);
  void end_edit();
  /// Drops the refused text of a key, if there is one.
  void forget(const QString& key);
  /// What a field shows: the refused text if there is one, else the value.
  QString text(const QString& key) const;
  /// Empty: nothing wrong with this key, alone and together with the others.
  QString problem(const QString& key) const;
  /// What was typed for the key is no value: text() is what was typed, and the setting keeps what it had.
  bool is_refused(const QString& key) const { return refused_.contains(key); }
  /// All keys with a problem, what a person should look at first before the others: the field that was edited last, then what was typed
  /// and refused, then what does not fit together; these in the order of the table. Empty: can be started.
  QStringList problem_keys() const;
  QString first_problem_key() const { return problem_keys().value(0); }
  /// Remarks worth reading before a start; not errors.
  QStringList remarks() const;

  /// Who says why a key cannot change now (empty: it can); asked anew by refresh_locks().
  void set_lock_rule(std::function<QString(const QString& key)> rule);
  void refresh_locks() { emit lock_changed(); }
  /// Empty: can be changed. Otherwise a sentence for the tooltip.
  QString locked(const QString& key) const;
  /// Empty: it counts. Otherwise why it does not with the present values, and what would make it count, for the tooltip; the value stays as
  /// it is. One with a problem is to be mended whether it counts or not.
  QString without_effect(const QString& key) const;
  /// Why a field of the key takes nothing now: either of both. Empty: it does.
  QString closed(const QString& key) const;

  static QString label(const QString& key);
  /// Meaning, unit and range, for a tooltip.
  static QString explanation(const QString& key);

 signals:
  void changed();  // values or problems
  void lock_changed();

 private:
  struct Refused {
    QString text, problem;
  };
  void refuse(const QString& key, const QString& text, const QString& problem);
  void check();

  app::Settings settings_;
  app::Settings before_edit_;
  QString edited_key_, last_edited_key_;
  QHash<QString, Refused> refused_;
  QHash<QString, QString> conflicts_;  // what validate() says, by key
  std::function<QString(const QString& key)> lock_rule_;
};

}  // namespace n2nq::ui
