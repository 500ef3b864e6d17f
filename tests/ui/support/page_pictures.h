// SPDX-License-Identifier: GPL-3.0-or-later
// What the programs that draw pages for looking at have in common: themes and sizes, files' names, and how such a program begins and ends.
#pragma once

#include <QApplication>
#include <QDir>
#include <QString>
#include <QStringList>
#include <cstdio>
#include <functional>
#include <utility>

#include "tests/ui/support/bench_window.h"

namespace n2nq::ui_test {

/// Each page in one theme and size, and fewer runs: enough to see that it draws.
inline const bool draws_once = qEnvironmentVariableIsSet("N2NQ_DRAW_ONCE");
inline constexpr QSize picture_sizes[] = {{1280, 720}, {1920, 1080}};

/// Of one page of a bench.
class PagePictures {
 public:
  /// `folder` is made where it is not there yet. `name`: before what a picture shows, in its file's name. `settle`: waits until the page shows
  /// what it has to.
  PagePictures(BenchWindow& bench, QString folder, QString name, QString page, std::function<void()> settle)
      : bench_(bench), folder_(std::move(folder)), name_(std::move(name)), page_(std::move(page)), settle_(std::move(settle)) {
    QDir().mkpath(folder_);
  }

  void save(const QString& what, bool dark = false, const QSize& size = picture_sizes[0]) {
    bench_.window().theme().choose(dark ? ui::ThemeChoice::dark : ui::ThemeChoice::light);
    bench_.window().resize(size);
    bench_.window().show_page(page_);
    settle_();
    QApplication::processEvents();
    bench_.window().grab().save(
        QStringLiteral("%1/%2-%3-%4-%5.png").arg(folder_, name_, what, dark ? QStringLiteral("dark") : QStringLiteral("light")).arg(size.width()));
  }

  /// In both themes and sizes.
  void save_all(const QString& what) {
    if (draws_once) return save(what);
    for (const bool dark : {false, true}) {
      for (const QSize& size : picture_sizes) save(what, dark, size);
    }
  }

 private:
  BenchWindow& bench_;
  QString folder_, name_, page_;
  std::function<void()> settle_;
};

/// A whole program: `render` gets the folder, which is "rendered" beside the program where none is given, and what else was given. `usage`:
/// behind the program's name.
inline int draw_pages(int argc, char** argv, const char* usage, const std::function<bool(const QString&, const QStringList&)>& render) {
  if (qEnvironmentVariableIsEmpty("DISPLAY") && qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication application(argc, argv);
  const QStringList arguments = QApplication::arguments();
  if (arguments.value(1).startsWith(u'-')) {
    std::fprintf(stderr, "usage: %s %s\n", qPrintable(QApplication::applicationName()), usage);
    return 2;
  }
  const bool done = render(arguments.value(1, QApplication::applicationDirPath() + QStringLiteral("/rendered")), arguments.mid(2));
  if (!done) std::fprintf(stderr, "a page did not do what it should\n");
  return done ? 0 : 1;
}

}  // namespace n2nq::ui_test
