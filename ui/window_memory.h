// SPDX-License-Identifier: GPL-3.0-or-later
// What the window remembers from one session to the next: settings, preset, theme, layout.
#pragma once

#include <QByteArray>
#include <QSettings>
#include <QString>
#include <memory>

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

 private:
  std::unique_ptr<QSettings> store_;
};

}  // namespace n2nq::ui
