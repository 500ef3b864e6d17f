// SPDX-License-Identifier: GPL-3.0-or-later
// What the window remembers from one session to the next: settings, preset, theme, layout, ticked test cases.
#pragma once

#include <QByteArray>
#include <QSettings>
#include <QString>
#include <QStringList>
#include <memory>
#include <optional>

#include "app/cases/case_file.h"
#include "app/settings/settings.h"
#include "ui/theme/theme.h"

namespace n2nq::ui {

class WindowMemory {
 public:
  explicit WindowMemory(std::unique_ptr<QSettings> store) : store_(std::move(store)) {}

  struct Layout {
    QByteArray geometry, cards, rows;
  };

  ThemeChoice theme() const;
  void set_theme(ThemeChoice choice);
  /// The last session's settings; what a newer or older version wrote and this one does not take is left at its default.
  app::Settings settings() const;
  /// Empty on the very first start.
  QString preset() const;
  void set_settings(const app::Settings& settings, const QString& preset);
  Layout layout() const;
  void set_layout(const Layout& layout);
  bool is_first_start() const;
  /// Of the page Test cases.
  struct Cases {
    QStringList ticked;  // as CasesDesk names them
    std::optional<app::Scale> scale;
  };
  /// Nothing: no box was ever touched.
  std::optional<Cases> cases() const;
  void set_cases(const QStringList& ticked, app::Scale scale);

 private:
  std::unique_ptr<QSettings> store_;
};

}  // namespace n2nq::ui
