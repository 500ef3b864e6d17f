// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/run_command.h"

#include <QCoreApplication>
#include <QFile>
#include <algorithm>
#include <cmath>

#include "app/cli/hosts_command.h"
#include "app/cli/interrupts.h"
#include "app/cli/out_folder.h"
#include "app/cli/progress_parts.h"
#include "app/cli/result_table.h"
#include "app/cli/run_patience.h"
#include "app/cli/terminal_questions.h"
#include "app/control/result.h"
#include "app/host/host_launchers.h"
#include "app/host/host_pool.h"
#include "app/host/keyring.h"
#include "app/settings/presets.h"
#include "app/settings/qt_text.h"

namespace n2nq::app {

namespace {

constexpr int json_every_ms = 1000;

/// What is planned for a time that the run is not expected to reach. It is made if the run takes longer than planned.
QStringList steps_too_late(const Arguments& arguments, const Settings& settings) {
  const auto duration_s = settings.planned_duration_s();
  QStringList told;
  for (const PlannedStep& step : arguments.steps) {
    if (!duration_s || step.at_s <= *duration_s) continue;
    told += QString(
                "%1: planned for %2 s, but the last message is due at %3 s; it is done only if the run "
                "takes longer, as it does while N2NQ still has messages for receivers")
                .arg(step_sentence(step))
                .arg(step.at_s)
                .arg(*duration_s, 0, 'f', 1);
  }
  return told;
}

}  // namespace

std::optional<Settings> settings_of(const Arguments& arguments, QStringList& errors) {
  const ReadSettings read = Presets().load(arguments.what);
  for (const FileError& error : read.errors) errors += qt_text(error.text());
  if (!read.settings) return {};
  Settings settings = *read.settings;
  for (const auto& [key, value] : arguments.settings) {
    if (const auto error = set_value(settings, key, value)) {
      errors += qt_text("--set " + key + "=" + value + ": " + error->key + " " + error->message);
    }
  }
  if (!errors.isEmpty()) return {};
  for (FileError& error : validate_read(settings, read, arguments.what)) {
    const auto is_given = [&error](const auto& setting) { return setting.first == error.key; };
    if (std::any_of(arguments.settings.begin(), arguments.settings.end(), is_given)) error.file = "--set", error.line = 0;
    errors += qt_text(error.text());
  }
  for (const PlannedStep& step : arguments.steps) {
    const char* option = std::holds_alternative<Fault>(step.what) ? "--fault: " : "--request: ";
    if (const auto problem = check_step(step, settings)) errors += option + qt_text(*problem);
  }
  for (const Assertion& assertion : arguments.assertions) {
    if (const auto problem = check_path_with(assertion, settings)) errors += "--assert " + qt_text(*problem);
  }
  return errors.isEmpty() ? std::optional(named_as_modified(settings, *read.settings)) : std::nullopt;
}

RunCommand::RunCommand(Arguments arguments, Terminal& terminal) : arguments_(std::move(arguments)), terminal_(terminal) {}

int RunCommand::execute() {
  QStringList errors;
  const auto settings = settings_of(arguments_, errors);
  if (!settings) {
    for (const QString& error : errors) terminal_.say("n2nq-bench: " + error);
    return exit_bad_input;
  }
  RunControl::Options options;
  options.unattended = true;
  if (!arguments_.out.empty()) {
    QString error;
    options.exact_folder = absolute_out(qt_text(arguments_.out), error);
    if (!error.isEmpty()) return terminal_.say("n2nq-bench: " + error), exit_bad_input;
  }
  Interrupts interrupts;
  TerminalQuestions questions(terminal_);
  Keyring keyring;
  KeyringQuestions known(keyring, questions);
  HostPool pool(known);
  const auto book = book_of(arguments_, terminal_, false);
  if (!book) return exit_bad_input;
  const auto over_ssh = [&pool](const Host& host) { return pool.launcher(host); };
  control_ = std::make_unique<RunControl>(options, std::make_unique<HostLaunchers>(*book, over_ssh));
  connect(&interrupts, &Interrupts::interrupted, this, &RunCommand::interrupt);
  be_brief_while_it_runs(*control_);
  connect(control_.get(), &RunControl::message, this, [this](const QString& text) { terminal_.say("n2nq-bench: " + text); });
  connect(control_.get(), &RunControl::fetching_waits, this, [this](Role, const QString& why) {
    if (!why.isEmpty()) terminal_.say("n2nq-bench: " + why);
  });
  connect(&questions, &TerminalQuestions::asking, this, [this](bool asked) { asking_ = asked; });
  connect(control_.get(), &RunControl::figures_changed, this, &RunCommand::show_progress);
  connect(control_.get(), &RunControl::bringing_back_changed, this, &RunCommand::show_progress);
  connect(control_.get(), &RunControl::process_changed, this, [this](Role role) {
    if (control_->process(role).copied_percent >= 0) show_progress();
  });
  connect(
      control_.get(), &RunControl::finished, this, [] { QCoreApplication::quit(); }, Qt::QueuedConnection);

  for (const QString& told : steps_too_late(arguments_, *settings)) terminal_.say("n2nq-bench: " + told);
  control_->set_settings(*settings);
  control_->plan(arguments_.steps);
  const bool is_wrong = !options.exact_folder.isEmpty() && is_wrong_out(options.exact_folder);
  control_->start_all();
  int code = exit_bad_input;
  if (control_->state() != RunState::idle) {
    QCoreApplication::exec();
    code = report();
  } else if (!is_wrong && control_->refusal().isEmpty()) {  // it has said what cannot be written
    code = exit_failed;
  }
  control_.reset();  // before the hosts that it uses
  return code;
}

void RunCommand::interrupt() {
  terminal_.say(QString("n2nq-bench: %1").arg(words_of_interrupt(++interrupted_)));
  control_->stop_all();
}

void RunCommand::show_progress() {
  if (!asking_) terminal_.progress(progress_text());  // it would be written over the question
  if (!arguments_.json || (since_progress_.isValid() && since_progress_.elapsed() < json_every_ms)) return;
  since_progress_.start();
  terminal_.print_json(progress_json());
}

std::string RunCommand::progress_json() const {
  const LiveFigures& figures = control_->figures();
  // What is not known is null, as in the summary.
  const auto number = [](double value) { return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(); };
  const double done = control_->progress(), left_s = control_->seconds_left();
  const char* doing = control_->brought_back() >= 0              ? "fetching logs"
                      : control_->state() == RunState::preparing ? "starting"
                      : control_->state() == RunState::ending    ? "ending"
                      : control_->draining()                     ? "draining"
                      : control_->warming_up()                   ? "warming up"
                                                                 : "running";
  const bool in_flight_known = knows_in_flight(figures);
  nlohmann::ordered_json progress = {
      {"doing", doing},
      {"at_s", number(figures.t_s)},
      {"done", done >= 0 ? number(done) : nullptr},
      {"left_s", left_s >= 0 ? number(left_s) : nullptr},
      {"planned", figures.planned >= 0 ? nlohmann::ordered_json(figures.planned) : nullptr},
      {"sent", figures.attempted},
      {"received", figures.received},
      {"in_flight", in_flight_known ? nlohmann::ordered_json(figures.in_flight) : nullptr},
      {"in_flight_at_most", in_flight_known && figures.in_flight_at_most},
      {"sent_per_s", number(figures.sent_per_s)},
      {"received_per_s", number(figures.received_per_s)},
      {"latency_us",
       {{"p50", number(figures.latency.p50_us)}, {"p99", number(figures.latency.p99_us)}, {"max", number(figures.latency.max_us)}}}};
  if (control_->state() == RunState::preparing) {
    for (const Role role : all_roles) {
      const int percent = control_->process(role).copied_percent;
      progress["copied_percent"][role_key(role)] = percent >= 0 ? nlohmann::ordered_json(percent) : nlohmann::ordered_json();
    }
  }
  if (control_->brought_back() >= 0) progress["fetched"] = control_->brought_back();
  if (in_flight_known && figures.in_flight_bound != 0) progress["in_flight_bound"] = number(figures.in_flight_bound);
  if (figures.clocks.latency.apart) progress["latency_us"]["bound_us"] = number(figures.clocks.latency.total_us());
  return nlohmann::ordered_json{{"progress", progress}}.dump();
}

QString RunCommand::progress_text() const {
  const LiveFigures& figures = control_->figures();
  QString text = qt_text(arguments_.what);
  const double progress = control_->progress(), left = control_->seconds_left();
  if (control_->state() == RunState::preparing) {
    QStringList copied;
    for (const Role role : all_roles) {
      const int percent = control_->process(role).copied_percent;
      if (percent >= 0) copied += QString("%1 %2 %").arg(role_name(role)).arg(percent);
    }
    return text + (copied.isEmpty() ? QString("  starting") : "  copying programs: " + copied.join(", "));
  }
  if (control_->brought_back() >= 0) {
    text += QString("  fetching logs, %1 %").arg(control_->brought_back() * 100, 0, 'f', 0);
  } else if (control_->state() == RunState::ending) {
    text += "  ending";
  } else if (control_->draining()) {
    text += QString("  draining, at most %1 s").arg(left, 0, 'f', 0);
  } else if (progress >= 0) {
    text += QString("  %1 %").arg(progress * 100, 0, 'f', 0);
    if (control_->process(Role::senders).may_be_back) {
      text += ", the senders are dead and may be back";
    } else if (left >= 0) {
      text += QString(", %1 s left").arg(left, 0, 'f', 0);
    }
  }
  if (control_->warming_up())
    return text + QString("  warming up: sent %1/%2").arg(grouped(figures.warm_up.sent), grouped(figures.warm_up.planned));
  std::vector<LinePart> parts = live_parts(figures);
  parts.insert(parts.begin(), {text, 0});
  return fitted(parts, terminal_.progress_columns());
}

int RunCommand::report() {
  const RunOutcome& outcome = control_->outcome();
  auto summary = nlohmann::ordered_json::parse(outcome.summary);
  std::vector<AssertionResult> checked;
  for (const Assertion& assertion : arguments_.assertions) checked.push_back(check_assertion(assertion, summary));
  bool printed = false;
  if (arguments_.json) {
    summary["folder"] = outcome.folder.toStdString();
    if (!checked.empty()) summary["assertions"] = assertions_json(checked);
    printed = terminal_.print_json(summary.dump());
  } else {
    printed = terminal_.print(result_table(summary, outcome.folder));
  }
  bool met = true, known = true;
  for (const AssertionResult& result : checked) {
    terminal_.say("n2nq-bench: --assert " + result.sentence());
    met = met && result.met;
    known = known && result.known;
  }
  if (interrupted_) return exit_interrupted;
  if (!printed) return exit_failed;  // whoever reads it has no result
  if (!known) return exit_bad_input;
  const bool bad = !met || outcome.verdict == Verdict::broken || (arguments_.strict && outcome.verdict == Verdict::degraded);
  return bad ? exit_failed : exit_good;
}

}  // namespace n2nq::app
