// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/case_command.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QRegularExpression>
#include <algorithm>
#include <cmath>

#include "app/cases/case_figures.h"
#include "app/cases/case_hosts.h"
#include "app/cli/case_table.h"
#include "app/cli/hosts_command.h"
#include "app/cli/interrupts.h"
#include "app/cli/out_folder.h"
#include "app/cli/run_command.h"
#include "app/cli/run_patience.h"
#include "app/cli/terminal_questions.h"
#include "app/control/run_folder.h"
#include "app/host/host_launchers.h"
#include "app/host/host_pool.h"
#include "app/host/keyring.h"
#include "app/host/local_launcher.h"
#include "app/host/shell_quoted.h"
#include "app/results/is_denied.h"
#include "app/results/stored_run.h"
#include "app/settings/all_digits.h"
#include "app/settings/presets.h"
#include "app/settings/qt_text.h"

namespace n2nq::app {

namespace {

const char* const all_cases = "all";
constexpr int json_every_ms = 1000;
constexpr qsizetype time_chars = 19;  // in front of a folder's name: "2026-11-20T14-02-11"

QString present_build() {
  return build_of_programs(LocalLauncherFactory::folder_or_own({}));
}

/// In quotes where a shell needs them.
QString shell_word(const QString& text) {
  static const QRegularExpression plain(QStringLiteral("\\A[A-Za-z0-9@%+=:,./_-]+\\z"));
  return plain.match(text).hasMatch() ? text : shell_quoted(text);
}

}  // namespace

QString cases_page(const CaseLibrary& library) {
  QString remark;
  const auto all = library.list(&remark);
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
  return remark.isEmpty() ? page : page + remark + '\n';
}

CaseCommand::CaseCommand(Arguments arguments, Terminal& terminal) : arguments_(std::move(arguments)), terminal_(terminal) {}

int CaseCommand::execute() {
  if (!arguments_.out.empty()) {
    QString error;
    arguments_.out = absolute_out(qt_text(arguments_.out), error).toStdString();
    if (!error.isEmpty()) return say(error), exit_bad_input;
  }
  Interrupts interrupts;
  book_ = book_of(arguments_, terminal_, arguments_.on.has_value());
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
    const bool goes_on_in_out = arguments_.resume && !arguments_.out.empty();  // its folder has the case as it was
    if (goes_on_in_out && (!each.read.file || CaseFolder::is_one(folder_to_resume(each)))) continue;
    if (!is_readable(each)) return exit_bad_input;
    if (arguments_.resume && arguments_.what != all_cases) continue;
    const auto plan = plan_of(each);
    if (!plan) return exit_bad_input;
    seconds += plan->seconds_expected();
    runs += plan->runs_expected();
  }
  if (!arguments_.resume) say(QString("%1 runs, about %2").arg(runs).arg(duration_text(seconds)));
  for (const LibraryCase& each : cases) {
    auto opened = open(each);
    if (!opened) return unwritten_ ? exit_failed : exit_bad_input;
    if (begun_.isEmpty()) begun_ = QFileInfo(opened->folder.path()).fileName().left(time_chars);
    const bool goes_on = run(std::move(*opened));
    runner_.reset();  // before the hosts that it uses
    if (!goes_on) break;
  }
  return interrupted_ ? exit_interrupted : code_;
}

std::vector<LibraryCase> CaseCommand::asked() {
  const CaseLibrary library;
  if (arguments_.what != all_cases) {
    // One in there counts before one that came with the program.
    if (const QString own = CaseLibrary::default_folder(); !names_a_file(arguments_.what) && is_denied_folder(own)) say(denied_words(own));
    return {library.load(arguments_.what)};
  }
  auto cases = library.list();
  std::erase_if(cases, [](const LibraryCase& each) { return !each.built_in; });
  return cases;
}

bool CaseCommand::is_readable(const LibraryCase& asked) {
  for (const FileError& error : asked.read.errors) say(qt_text(error.text()));
  return asked.read.file.has_value();
}

bool CaseCommand::is_of(const CaseFolder& folder, const LibraryCase& asked) {
  if (asked.read.file && asked.read.file->text == folder.file().text) return true;
  const QString name = qt_text(asked.name), its_name = qt_text(folder.name());
  if (asked.name != folder.name()) {
    is_readable(asked);
    say(QString("%1 holds case %2, not %3: go on with it by n2nq-bench case %4 --resume --out %5, or begin %3 in another folder")
            .arg(folder.path(), its_name, name, shell_word(its_name), shell_word(folder.path())));
    return false;
  }
  const QString what = asked.path.isEmpty() ? "case " + name : asked.path;
  say(QString("goes on with %1/case.yaml as it was when it was begun; %2")
          .arg(folder.path(), asked.read.file ? what + " has changed since" : qt_text(asked.read.errors.front().text())));
  return true;
}

/// Every run has to meet them, so every point needs the figures that they name.
bool CaseCommand::can_be_asserted(const CasePlan& plan, const std::string& name) {
  for (const CasePoint& point : plan.points()) {
    if (!point.not_run.isEmpty()) continue;
    for (const Assertion& assertion : arguments_.assertions) {
      const auto problem = check_path_with(assertion, point.settings);
      if (problem) return say(QString("%1: %2: --assert %3").arg(qt_text(name), point.label, qt_text(*problem))), false;
    }
  }
  return true;
}

std::optional<CasePlan> CaseCommand::plan_of(const LibraryCase& asked) {
  CaseChoice choice{.scale = arguments_.scale.value_or(Scale::quick), .repeats = arguments_.repeats, .warm_up_s = arguments_.warm_up_s};
  const bool by_settings = !asked.read.file->has_places() && sets_hosts(*asked.read.file);
  if (arguments_.on || (!arguments_.hosts.empty() && !by_settings)) {
    QString problem;
    choice.hosts = hosts_for(*asked.read.file, arguments_.on, *book_, problem);
    if (!choice.hosts) return say(qt_text(asked.name) + ": " + problem), std::nullopt;
  }
  QStringList errors;
  auto plan = CasePlan::make(*asked.read.file, choice, errors);
  for (const QString& error : errors) say(qt_text(asked.name) + ": " + error);
  if (!plan || !can_be_asserted(*plan, asked.name)) return {};
  const auto launchers = launchers_();
  for (const CasePoint& point : plan->points()) {
    const QString problem = point.not_run.isEmpty() ? launchers->problem(point.settings) : QString();
    if (!problem.isEmpty()) return say(QString("%1: %2: %3").arg(qt_text(asked.name), point.label, problem)), std::nullopt;
  }
  return plan;
}

QString CaseCommand::folder_to_resume(const LibraryCase& asked, QStringList* denied) const {
  if (arguments_.out.empty()) return CaseFolder::newest(RunFolder::default_parent(), asked.name, arguments_.scale, denied);
  const QString folder = qt_text(arguments_.out);
  return arguments_.what == all_cases ? folder + '/' + qt_text(asked.name) : folder;
}

/// The newest that was begun as it would be now, and not before the first case's: an older one is of another time that all were begun.
QString CaseCommand::folder_of_all(const std::string& name, const CaseChoice& choice) {
  const QDir parent(RunFolder::default_parent());
  const QString own_names = QString("[0-9]*-case-%1-%2*").arg(qt_text(name), qt_text(scale_word(choice.scale)));
  for (const QFileInfo& info : parent.entryInfoList({own_names}, QDir::Dirs, QDir::Name | QDir::Reversed)) {
    if (info.fileName().left(time_chars) < begun_) break;
    QString ignored;
    if (is_denied(info.absoluteFilePath() + "/case.json", R_OK)) say(denied_words(info.absoluteFilePath()));
    const auto folder = CaseFolder::open(info.absoluteFilePath(), ignored);
    if (folder && folder->name() == name && folder->choice() == choice) return folder->path();
  }
  return {};
}

/// All cases as they were chosen, as some of them are not begun yet; one by its folder, which knows how it was begun.
QString CaseCommand::words_to_go_on(const CaseFolder& folder) const {
  const bool all = arguments_.what == all_cases;
  QString words = shell_word(qt_text(arguments_.what)) + " --resume";
  if (arguments_.again) words += " --again";
  if (all) {
    if (arguments_.scale) words += " --scale " + qt_text(scale_word(*arguments_.scale));
    if (arguments_.repeats) words += QString(" --repeats %1").arg(*arguments_.repeats);
    if (arguments_.warm_up_s) words += " --warm-up " + all_digits(*arguments_.warm_up_s);
    if (const auto& on = arguments_.on) words += " --on " + shell_word(qt_text(on->broker + ',' + on->senders + ',' + on->receivers));
  }
  if (!all) words += " --out " + shell_word(folder.path());
  if (all && !arguments_.out.empty()) words += " --out " + shell_word(qt_text(arguments_.out));
  if (!arguments_.hosts.empty()) words += " --hosts " + shell_word(qt_text(arguments_.hosts));
  for (const Assertion& assertion : arguments_.assertions) words += " --assert " + shell_word(qt_text(assertion.text));
  if (arguments_.strict) words += " --strict";
  if (arguments_.json) words += " --json";
  return words;
}

std::optional<CaseCommand::Opened> CaseCommand::open(const LibraryCase& asked) {
  const bool all = arguments_.what == all_cases;
  if (arguments_.resume && !all) {
    QStringList denied;
    const QString folder = folder_to_resume(asked, &denied);
    for (const QString& newer : denied) say(denied_words(newer));
    if (!denied.isEmpty()) {
      if (folder.isEmpty()) return {};
      say("goes on with the newest that can be read, " + folder);
    }
    if (!folder.isEmpty()) return resume(folder, asked);
    if (const QString parent = RunFolder::default_parent(); is_denied_folder(parent)) return say(denied_words(parent)), std::nullopt;
    return say(QString("there is no folder of case %1 to go on with").arg(qt_text(asked.name))), std::nullopt;
  }
  if (arguments_.resume && !arguments_.out.empty()) {
    const QString folder = folder_to_resume(asked);
    if (CaseFolder::is_one(folder)) return resume(folder, asked);
  }
  if (!is_readable(asked)) return {};
  auto plan = plan_of(asked);
  if (!plan) return {};
  if (arguments_.resume && arguments_.out.empty()) {
    const QString folder = folder_of_all(asked.name, plan->choice());
    if (!folder.isEmpty()) return resume(folder, asked);
  }
  QString error;
  const QString exact = arguments_.out.empty() ? QString() : folder_to_resume(asked);
  const bool is_wrong = !exact.isEmpty() && is_wrong_out(exact);
  auto folder =
      CaseFolder::make(RunFolder::default_parent(), exact, asked.name, *plan, present_build(), QDateTime::currentDateTime(), error);
  if (!folder && is_wrong) return say(error), std::nullopt;
  bool is_others = false;
  if (folder && error.isEmpty()) error = folder->lock(&is_others);
  if (is_others) return say(error), std::nullopt;
  if (!error.isEmpty()) return not_written(error);
  return Opened{std::make_shared<PlannedCase>(std::move(*plan)), std::move(*folder)};
}

std::optional<CaseCommand::Opened> CaseCommand::resume(const QString& path, const LibraryCase& asked) {
  QString error;
  auto folder = CaseFolder::open(path, error);
  if (!folder) return say(error), std::nullopt;
  if (!is_of(*folder, asked)) return {};
  if (arguments_.scale && *arguments_.scale != folder->choice().scale) {
    say(QString("%1 was begun at scale %2: it goes on at that scale").arg(path, qt_text(scale_word(folder->choice().scale))));
    return {};
  }
  QStringList errors;
  auto plan = CasePlan::make(folder->file(), folder->choice(), errors);
  for (const QString& each : errors) say(each);
  if (!plan || !can_be_asserted(*plan, folder->name())) return {};
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
  bool is_others = false;
  if (error.isEmpty()) error = folder->lock(&is_others);
  if (is_others) return say(error), std::nullopt;
  if (!error.isEmpty()) return not_written(error);
  return Opened{std::make_shared<PlannedCase>(std::move(*plan)), std::move(*folder)};
}

std::nullopt_t CaseCommand::not_written(const QString& error) {
  say(error);
  unwritten_ = true;
  return std::nullopt;
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
  connect(&runner, &CaseRunner::run_started, this, [&runner] { be_brief_while_it_runs(*runner.run()); });
  int made_again = 0;
  bool makes_again = false;
  connect(&runner, &CaseRunner::run_finished, this, [&](const QString& folder) {
    const auto all = runner.results().all();
    const bool counts = std::any_of(all.begin(), all.end(), [&](const CaseRunResult* run) { return run->folder == folder; });
    if (makes_again && counts) ++made_again;
  });
  connect(&runner, &CaseRunner::stood_still, this, [&, this] {
    if (!read) {
      read = true;
      if (arguments_.again) again_ = RunsAgain(runner.results());
      if (arguments_.resume) say(QString("%1 of %2 runs are there").arg(runner.runs_done()).arg(runner.runs_total()));
    }
    if (!interrupted_ && runner.problem().isEmpty()) {
      makes_again = again_.any_to_come();
      if (makes_again) return runner.run_again(again_.next());
      if (runner.state() == CaseRunner::State::idle) return runner.start();
    }
    QCoreApplication::quit();
  });
  QCoreApplication::exec();
  const bool whole = runner.state() == CaseRunner::State::done, through = whole && !interrupted_ && runner.problem().isEmpty();
  if (!through && !interrupted_) code_ = exit_failed;
  if (!report()) code_ = exit_failed;
  const int marked = again_.all() - made_again;
  if (!whole || marked > 0 || (!through && arguments_.what == all_cases)) {
    say(QString("%1 of %2 runs are there%3; go on with: n2nq-bench case %4")
            .arg(runner.runs_done())
            .arg(runner.runs_total())
            .arg(marked > 0 ? QString(", %1 of %2 marked ones are to be made again").arg(marked).arg(again_.all()) : QString(),
                 words_to_go_on(runner.folder())));
  }
  return through;
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
  const bool again = runner.makes_again();
  const int number = again ? again_.begun() : runner.runs_done() + 1, all = again ? again_.all() : runner.runs_total();
  QString text = QString("%1  %2 %3 of %4: %5")
                     .arg(qt_text(runner.folder().name()), again ? "again" : "run", QString::number(number), QString::number(all), run.label);
  if (run.repeat > 1) text += QString(", repeat %1").arg(run.repeat);
  if (done >= 0) text += QString("  %1 %").arg(done * 100, 0, 'f', 0);
  // What is missing follows those that are made again.
  const double seconds_left = runner.seconds_left() + again_.seconds_to_come();
  terminal_.progress(text + QString("  %1 left").arg(duration_text(seconds_left)));
  if (!arguments_.json || (since_progress_.isValid() && since_progress_.elapsed() < json_every_ms)) return;
  since_progress_.start();
  const nlohmann::ordered_json progress = {{"case", runner.folder().name()},
                                           {"run", number},
                                           {"runs", all},
                                           {"again", again},
                                           {"point", run.label.toStdString()},
                                           {"repeat", run.repeat},
                                           {"done", done >= 0 ? nlohmann::ordered_json(done) : nullptr},
                                           {"left_s", std::round(seconds_left)}};
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
    if (count.runs == 0) {
      say(QString("--assert %1: no run to look at").arg(qt_text(text)));
    } else if (count.unmet == 0) {
      say(QString("--assert %1: met by all %2 runs").arg(qt_text(text), QString::number(count.runs)));
    } else {
      say(QString("--assert %1: not met by %2 of %3 runs, first by %4")
              .arg(qt_text(text), QString::number(count.unmet), QString::number(count.runs), count.first));
    }
    if (count.unmet > 0 || count.runs == 0) code_ = std::max(code_, count.unknown > 0 ? exit_bad_input : exit_failed);
  }
}

}  // namespace n2nq::app
