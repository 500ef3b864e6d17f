// SPDX-License-Identifier: GPL-3.0-or-later
// Work beside the window's thread, of which only the newest matters: a stale answer never arrives. Lives on the window's thread.
#pragma once

#include <QObject>
#include <QThreadPool>
#include <atomic>
#include <functional>
#include <memory>

namespace n2nq::ui {

class BackgroundJob : public QObject {
  Q_OBJECT
 public:
  using Cancelled = std::atomic<bool>;

  explicit BackgroundJob(QObject* parent = nullptr) : QObject(parent) { pool_.setMaxThreadCount(1); }
  ~BackgroundJob() override {
    cancel();
    pool_.waitForDone();
  }

  bool is_on() const { return on_; }
  /// `work` runs on a thread of its own; `done` is given its result on this one, unless another job was started, or it was cancelled.
  template <class Work, class Done>
  void start(Work work, Done done) {
    cancel();
    on_ = true;
    cancelled_ = std::make_shared<Cancelled>(false);
    pool_.start([this, work = std::move(work), done = std::move(done), cancelled = cancelled_]() mutable {
      auto result = std::make_shared<decltype(work(*cancelled))>(work(*cancelled));
      QMetaObject::invokeMethod(
          this,
          [this, result, done = std::move(done), cancelled] {
            if (*cancelled) return;
            on_ = false;
            done(std::move(*result));
          },
          Qt::QueuedConnection);
    });
  }
  void cancel() {
    if (cancelled_) *cancelled_ = true;
    on_ = false;
  }

 private:
  QThreadPool pool_;
  std::shared_ptr<Cancelled> cancelled_;
  bool on_ = false;
};

}  // namespace n2nq::ui
