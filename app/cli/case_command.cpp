// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/case_command.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <algorithm>
#include <cmath>

#include "app/cases/case_figures.h"
#include "app/cases/case_hosts.h"
#include "app/cli/case_table.h"
#include "app/cli/hosts_command.h"
#include "app/cli/interrupts.h"
#include "app/cli/run_command.h"
#include "app/cli/terminal_questions.h"
#include "app/control/run_folder.h"
#include "app/host/host_launchers.h"
#include "app/host/host_pool.h"
#include "app/host/keyring.h"
#include "app/host/local_launcher.h"
#include "app/results/stored_run.h"
#include "app/settings/qt_text.h"
#include "app/settings/text_value.h"

namespace n2nq::app {

namespace {

const char* const all_cases = "all";
constexpr int json_every_ms = 1000;

QString present_build() {
  return build_of_programs(LocalLauncherFactory::folder_or_own({}));
}

}  // namespace

QString cases_page(const CaseLibrary& library) {
  const auto all = library.list();
  int width = 0;
  for (const LibraryCase& each : all) width = std::max(width, static_cast<int>(each.name.size()) + 2);
  QString page;
  for (const LibraryCase& each : all) {
    if (!each.read.file) {
      for (const FileError& error : each.read.errors) page += left_aligned(qt_text(each.name), width) + qt_text(error.text()) + '\n';
      continue;
    }
    page += left_aligned(qt_text(each.name), width) + qt_text(each.read.file->title) + '\n';
    if (!each.read.file->about.empty()) page += left_aligned("", width) + qt_text(each.read.file->about) + '\n';
    QStringList scales;
    for (const Scale scale : all_scales) {
      QStringList ignored;
      const auto plan = CasePlan::make(*each.read.file, {.scale = scale}, ignored);
      if (plan)
        scales += QString("%1 %2 runs, %3")
                      .arg(qt_text(scale_word(scale)))
                      .arg(plan->runs_expected())
                      .arg(duration_text(plan->seconds_expected()));
    }
    page += left_aligned("", width) + scales.join("; ") + '\n';
  }
  return page;
}

CaseCommand::CaseCommand(Arguments arguments, Terminal& terminal) : arguments_(std::move(arguments)), terminal_(terminal) {}

int CaseCommand::execute() {
  Interrupts interrupts;
  book_ = book_of(arguments_, terminal_);
  if (!book_) return exit_bad_input;
  TerminalQuestions questions(terminal_);
  Keyring keyring;
  KeyringQuestions known(keyring, questions);
  HostPool pool(known);
  launchers_ = [this, &pool] { return std::make_unique<HostLaunchers>(*book_, [&pool](const Host& host) { return pool.launcher(host); }); };
  connect(&interrupts, &Interrupts::interrupted, this, &CaseCommand::interrupt);
  connect(&questions, &TerminalQuestions::asking, this, [this](bool asked) { asking_ = asked; });

  // All are looked at before the first is begun: a mistake in the last one would be found hours later.
  std::vector<LibraryCase> cases = asked();
  double seconds = 0;
  int runs = 0;
  for (const LibraryCase& each : cases) {
    if (!is_readable(each)) return exit_bad_input;
    if (arguments_.resume) continue;
    const auto plan = plan_of(each);
    if (!plan) return exit_bad_input;
    seconds += plan->seconds_expected();
    runs += plan->runs_expected();
  }
  if (!arguments_.resume) say(QString("%1 runs, about %2").arg(runs).arg(duration_text(seconds)));
  for (const LibraryCase& each : cases) {
    auto opened = open(each);
    if (!opened) return exit_bad_input;
    const bool goes_on = run(std::move(*opened));
    runner_.reset();  // before the hosts that it uses
    if (!goes_on) break;
  }
  return interrupted_ ? exit_interrupted : code_;
}

std::vector<LibraryCase> CaseCommand::asked() const {
  const CaseLibrary library;
  if (arguments_.what != all_cases) return {library.load(arguments_.what)};
  auto cases = library.list();
  std::erase_if(cases, [](const LibraryCase& each) { return !each.built_in; });
  return cases;
}

bool CaseCommand::is_readable(const LibraryCase& asked) {
  for (const FileError& error : asked.read.errors) say(qt_text(error.text()));
  return asked.read.file.has_value();
}

std::optional<CasePlan> CaseCommand::plan_of(const LibraryCase& asked) {
  CaseChoice choice{.scale = arguments_.scale.value_or(Scale::quick), .repeats = arguments_.repeats, .warm_up_s = arguments_.warm_up_s};
  if (!arguments_.hosts.empty() || arguments_.on) {
    QString problem;
    choice.hosts = hosts_for(*asked.read.file, arguments_.on, *book_, problem);
    if (!choice.hosts) return say(qt_text(asked.name) + ": " + problem), std::nullopt;
  }
  QStringList errors;
  auto plan = CasePlan::make(*asked.read.file, choice, errors);
  for (const QString& error : errors) say(qt_text(asked.name) + ": " + error);
  return plan;
}

QString CaseCommand::folder_to_resume(const std::string& name) const {
  if (arguments_.out.empty()) return CaseFolder::newest(RunFolder::default_parent(), name, arguments_.scale);
  const QString folder = QDir::current().absoluteFilePath(qt_text(arguments_.out));
  return arguments_.what == all_cases ? folder + '/' + qt_text(name) : folder;
}

/// All cases as they were chosen, as some of them are not begun yet; one by its folder, which knows how it was begun.
QString CaseCommand::words_to_go_on(const CaseFolder& folder) const {
  const bool all = arguments_.what == all_cases;
  QString words = qt_text(arguments_.what) + " --resume";
  if (all) {
    if (arguments_.scale) words += " --scale " + qt_text(scale_word(*arguments_.scale));
    if (arguments_.repeats) words += QString(" --repeats %1").arg(*arguments_.repeats);
    if (arguments_.warm_up_s) words += " --warm-up " + qt_text(decimal_text(*arguments_.warm_up_s));
    if (const auto& on = arguments_.on) words += " --on " + qt_text(on->broker + ',' + on->senders + ',' + on->receivers);
  }
  if (!all) words += " --out " + folder.path();
  if (all && !arguments_.out.empty()) words += " --out " + QDir::current().absoluteFilePath(qt_text(arguments_.out));
  return arguments_.hosts.empty() ? words : words + " --hosts " + qt_text(arguments_.hosts);
}

std::optional<CaseCommand::Opened> CaseCommand::open(const LibraryCase& asked) {
  if (arguments_.resume) {
    const QString folder = folder_to_resume(asked.name);
    if (!folder.isEmpty() && (CaseFolder::is_one(folder) || arguments_.what != all_cases)) return resume(folder);
    if (arguments_.what != all_cases)
      return say(QString("there is no folder of case %1 to go on with").arg(qt_text(asked.name))), std::nullopt;
  }
  auto plan = plan_of(asked);
  if (!plan) return {};
  QString exact, error;
  if (!arguments_.out.empty())
    exact = arguments_.what == all_cases ? folder_to_resume(asked.name) : QDir::current().absoluteFilePath(qt_text(arguments_.out));
  auto folder =
      CaseFolder::make(RunFolder::default_parent(), exact, asked.name, *plan, present_build(), QDateTime::currentDateTime(), error);
  if (folder && error.isEmpty()) error = folder->lock();
  if (!error.isEmpty()) return say(error), std::nullopt;
  return Opened{std::make_shared<PlannedCase>(std::move(*plan)), std::move(*folder)};
}

std::optional<CaseCommand::Opened> CaseCommand::resume(const QString& path) {
  QString error;
  auto folder = CaseFolder::open(path, error);
  if (!folder) return say(error), std::nullopt;
  if (arguments_.scale && *arguments_.scale != folder->choice().scale) {
    say(QString("%1 was begun at scale %2: it goes on at that scale").arg(path, qt_text(scale_word(folder->choice().scale))));
    return {};
  }
  const QString build = present_build();
  if (folder->build() != build) {
    if (!arguments_.accept_build) {
      say(QString("%1 was begun with another build (%2; this is %3), and results of two builds are not to be mixed unasked: begin the case "
                  "anew without "
                  "--resume, or go on all the same with --accept-build")
              .arg(path, folder->build(), build));
      return {};
    }
    error = folder->accept_build(build);
  }
  if (error.isEmpty()) error = folder->lock();
  if (!error.isEmpty()) return say(error), std::nullopt;
  QStringList errors;
  auto plan = CasePlan::make(folder->file(), folder->choice(), errors);
  for (const QString& each : errors) say(each);
  if (!plan) return {};
  return Opened{std::make_shared<PlannedCase>(std::move(*plan)), std::move(*folder)};
}

bool CaseCommand::run(Opened opened) {
  runner_ = std::make_unique<CaseRunner>(std::move(opened.planned), std::move(opened.folder), launchers_);
  CaseRunner& runner = *runner_;
  bool read = false;
  // Many runs have the same remark.
  connect(&runner, &CaseRunner::message, this, [this, said = QStringList()](const QString& text) mutable {
    if (!said.contains(text)) say(text), said += text;
  });
  connect(&runner, &CaseRunner::progressed, this, &CaseCommand::show_progress);
  connect(&runner, &CaseRunner::run_started, this, &CaseCommand::show_progress);
  connect(&runner, &CaseRunner::stood_still, this, [&, this] {
    if (!read) {
      read = true;
      if (arguments_.again) {
        for (const CaseRunResult* each : runner.results().all()) {
          if (!runner.results().why(*each).isEmpty()) again_ += each->folder;
        }
      }
      if (arguments_.resume) say(QString("%1 of %2 runs are there").arg(runner.runs_done()).arg(runner.runs_total()));
    }
    if (!interrupted_ && runner.problem().isEmpty()) {
      if (!again_.isEmpty()) return runner.run_again(again_.takeFirst());
      if (runner.state() == CaseRunner::State::idle) return runner.start();
    }
    QCoreApplication::quit();
  });
  QCoreApplication::exec();
  const bool whole = runner.state() == CaseRunner::State::done;
  if (!whole && !interrupted_) code_ = exit_failed;
  if (!report()) code_ = exit_failed;
  if (!whole) {
    say(QString("%1 of %2 runs are there; go on with: n2nq-bench case %3")
            .arg(runner.runs_done())
            .arg(runner.runs_total())
            .arg(words_to_go_on(runner.folder())));
  }
  return whole;
}

void CaseCommand::interrupt() {
  say(words_of_interrupt(++interrupted_));
  if (!runner_) return;
  runner_->stop_now();
  if (runner_->state() == CaseRunner::State::idle || runner_->state() == CaseRunner::State::done) QCoreApplication::quit();
}

void CaseCommand::show_progress() {
  if (!runner_->scheduled() || asking_) return;
  const CaseRunner& runner = *runner_;
  const ScheduledRun& run = *runner.scheduled();
  const double done = runner.run() ? runner.run()->progress() : -1;
  QString text = QString("%1  run %2 of %3: %4")
                     .arg(qt_text(runner.folder().name()))
                     .arg(runner.runs_done() + 1)
                     .arg(runner.runs_total())
                     .arg(run.label);
  if (run.repeat > 1) text += QString(", repeat %1").arg(run.repeat);
  if (done >= 0) text += QString("  %1 %").arg(done * 100, 0, 'f', 0);
  terminal_.progress(text + QString("  %1 left").arg(duration_text(runner.seconds_left())));
  if (!arguments_.json || (since_progress_.isValid() && since_progress_.elapsed() < json_every_ms)) return;
  since_progress_.start();
  const nlohmann::ordered_json progress = {{"case", runner.folder().name()},
                                           {"run", runner.runs_done() + 1},
                                           {"runs", runner.runs_total()},
                                           {"point", run.label.toStdString()},
                                           {"repeat", run.repeat},
                                           {"done", done >= 0 ? nlohmann::ordered_json(done) : nullptr},
                                           {"left_s", std::round(runner.seconds_left())}};
  terminal_.print_json(nlohmann::ordered_json{{"progress", progress}}.dump());
}

bool CaseCommand::report() {
  const CaseRunner& runner = *runner_;
  const auto figures = case_figures(runner.plan(), runner.schedule(), runner.results());
  const int marked = runner.results().marked();
  nlohmann::ordered_json out = {{"case", runner.folder().name()},
                                {"folder", runner.folder().path().toStdString()},
                                {"scale", std::string(scale_word(runner.plan().choice().scale))},
                                {"runs", {{"done", runner.runs_done()}, {"all", runner.runs_total()}, {"marked", marked}}},
                                {"figures", nlohmann::ordered_json::array()}};
  QString page;
  for (const Figure& figure : figures) {
    page += figure_page(figure) + '\n';
    out["figures"].push_back(figure_json(figure));
  }
  page += QString("runs     %1 of %2, %3 marked\nfolder   %4\n")
              .arg(runner.runs_done())
              .arg(runner.runs_total())
              .arg(marked)
              .arg(runner.folder().path());
  for (const CaseRunResult* each : runner.results().all()) {
    const bool bad = each->verdict == "broken" || (arguments_.strict && each->verdict == "degraded");
    if (bad) code_ = std::max(code_, exit_failed);
  }
  check_assertions(out);
  return arguments_.json ? terminal_.print_json(out.dump()) : terminal_.print(page);
}

void CaseCommand::check_assertions(nlohmann::ordered_json& out) {
  if (arguments_.assertions.empty()) return;
  struct Counted {
    int runs = 0, unmet = 0, unknown = 0;
    QString first;
  };
  std::vector<Counted> counted(arguments_.assertions.size());
  for (const CaseRunResult* each : runner_->results().all()) {
    QString problem;
    const auto run = read_run(each->folder, problem);
    if (!run) continue;
    for (std::size_t i = 0; i < counted.size(); ++i) {
      const AssertionResult result = check_assertion(arguments_.assertions[i], run->summary);
      ++counted[i].runs;
      counted[i].unknown += !result.known;
      if (result.met) continue;
      if (counted[i].unmet++ == 0) counted[i].first = QFileInfo(each->folder).fileName() + ": " + result.sentence();
    }
  }
  out["assertions"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < counted.size(); ++i) {
    const Counted& count = counted[i];
    const std::string& text = arguments_.assertions[i].text;
    out["assertions"].push_back(
        {{"text", text}, {"runs", count.runs}, {"unmet", count.unmet}, {"met", count.runs > 0 && count.unmet == 0}});
    if (count.unmet == 0) {
      say(QString("--assert %1: met by all %2 runs").arg(qt_text(text)).arg(count.runs));
    } else {
      say(QString("--assert %1: not met by %2 of %3 runs, first by %4")
              .arg(qt_text(text))
              .arg(count.unmet)
              .arg(count.runs)
              .arg(count.first));
    }
    if (count.unmet > 0 || count.runs == 0) code_ = std::max(code_, count.unknown > 0 ? exit_bad_input : exit_failed);
  }
}

}  // namespace n2nq::app
