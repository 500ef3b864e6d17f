// SPDX-License-Identifier: GPL-3.0-or-later
// A RunControl over pretend processes, and what its tests ask of it.
#pragma once

#include <gtest/gtest.h>

#include <QFile>
#include <QTemporaryDir>

#include "app/control/role.h"
#include "app/control/run_control.h"
#include "tests/app/support/event_loop.h"
#include "tests/app/support/pretend_launcher.h"

namespace n2nq::app::testing {

struct RunControlTest : WithEventLoop {
  QTemporaryDir runs;
  PretendHost host;
  std::unique_ptr<RunControl> control;
  QStringList messages;
  int finished = 0;

  static Settings small() {
    Settings settings;
    settings.senders.amount = 3;
    settings.senders.messages = 4;
    settings.senders.delay_ms = 1;
    settings.receivers.amount = 2;
    settings.limits.reconnect_deadline_s = 0.1;  // a run in which nothing moves goes on for as long
    return settings;
  }

  /// Deadlines that a test waits for are short, all others far beyond the test.
  RunControl::Options options() const {
    RunControl::Options out;
    out.runs_folder = runs.path();
    out.deadlines.start_lead = 0;
    out.deadlines.other_starts = 200;
    out.deadlines.other_starts_min = 50;
    return out;
  }
  /// For those who do not end when they are told to.
  RunControl::Options options_with_short_ends() const {
    RunControl::Options given = options();
    given.deadlines.senders_stop = 20;
    given.deadlines.stop_margin = 60;
    given.deadlines.process.term_to_kill = 20;
    return given;
  }

  void make(RunControl::Options given, const Settings& settings = small(), std::unique_ptr<LauncherFactory> launchers = {}) {
    if (!launchers) launchers = std::make_unique<PretendFactory>(host);
    control = std::make_unique<RunControl>(given, std::move(launchers));
    control->set_settings(settings);
    QObject::connect(control.get(), &RunControl::message, [this](const QString& text) { messages += text; });
    QObject::connect(control.get(), &RunControl::finished, [this] { ++finished; });
  }
  void make() { make(options()); }

  bool wait_finished() {
    return wait_until([this] { return control->state() == RunState::finished; });
  }
  bool wait_state(Role role, ProcessState state) {
    return wait_until([=, this] { return control->process(role).state == state; });
  }
  bool wait_running() {
    return wait_until([this] { return control->process(Role::senders).state == ProcessState::running; });
  }
  nlohmann::json summary() const {
    QFile file(control->outcome().folder + "/summary.json");
    EXPECT_TRUE(file.open(QIODevice::ReadOnly)) << file.fileName().toStdString();
    return nlohmann::json::parse(file.readAll().toStdString());
  }
  std::string reasons() const { return control->outcome().reasons.join("\n").toStdString(); }
  void expect_over(Verdict verdict) {
    EXPECT_EQ(control->outcome().verdict, verdict) << reasons();
    EXPECT_EQ(host.alive, 0);
    EXPECT_EQ(finished, 1);
    EXPECT_FALSE(summary()["verdict"].get<std::string>().empty());
  }
};

}  // namespace n2nq::app::testing
