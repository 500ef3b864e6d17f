// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/control/clocks.h"
#include "app/control/run_life.h"

namespace n2nq::app {

/// What a killed worker had sent or received is still in its logs and its staging file: its own program reads them back.
bool RunControl::Private::start_salvage(Role role) {
  Member& member = of(role);
  if (role == Role::broker || !member.record.hello || member.record.hello->staging_file.empty()) return false;
  ProcessDeadlines deadlines = options.deadlines.process;
  deadlines.hello = options.deadlines.salvage;
  member.drop_salvager();
  member.salvager = make_watch(role, deadlines);
  member.salvager->launcher().set_needs_no_room();
  // Without logs there may never have been a folder, and nobody needs it.
  if (run.settings.log != LogMode::off) member.salvager->launcher().set_reads_back(run.folder->part(role));
  member.salvager->launcher().set_puts_again();  // the process may have died with its connection, which others are still on
  QObject::connect(member.salvager.get(), &ProcessWatch::gone, q, [this, role](const QString& trouble) { on_salvaged(role, trouble); });
  const auto configure = [this, role, salvager = member.salvager.get(), staging_file = member.record.hello->staging_file] {
    nlohmann::json out = configure_of(role, salvager->launcher());
    out["salvage"] = staging_file;
    return out;
  };
  member.salvager->start(program_of(role), configure);
  member.salvager->send({{"type", "bye"}});
  // It says hello when all is read back; behind that its account may have a slow link before it.
  ProcessWatch* const salvager = member.salvager.get();
  QObject::connect(salvager, &ProcessWatch::said_hello, q, [salvager, salvage = options.deadlines.salvage] {
    QTimer::singleShot(salvage, salvager,
                       [salvager, salvage] { salvager->give_up(QString("it did not end within %1 s of reading back").arg(salvage / 1000.0)); });
  });
  return true;
}

void RunControl::Private::on_salvaged(Role role, const QString& trouble) {
  Member& member = of(role);
  const auto read_back = member.salvager->bye();
  if (run.settings.log == LogMode::all) {
    member.record.bye = read_back;
  } else if (read_back) {
    member.record.sampled_log = read_back->value("log", nlohmann::json());
  }
  member.record.salvaged = true;
  member.not_read_back.clear();
  if (trouble.isEmpty() && !read_back) {
    tell_not_read_back("it was given up");
  } else if (!trouble.isEmpty() && !read_back) {  // else it was lost behind its last word
    const QString no_reader = role_name(role) + " could not be started: ";  // it is their own program
    QString why = trouble.startsWith(no_reader) ? trouble.mid(no_reader.size()) : trouble;
    if (why.startsWith(role_name(role) + ' ')) why.insert(role_name(role).size(), on_host(role));
    const std::string& code = member.salvager->error_code();
    const bool may_pass = member.salvager->launcher().was_away() || code == "read-only";  // as while a host boots
    // Behind a reboot nothing is in memory any more: there is nothing that its logs would have to wait for.
    if (code != "gone") stand_by(role);
    if (may_pass) {
      member.not_read_back = why;
    } else {
      tell_not_read_back(why, member.salvager->answered());
      if (code != "gone") member.watch->launcher().leave_all_there();
    }
  }
  if (!member.bringing_back) return advance();
  Launcher& launcher = member.watch->launcher();
  if (member.not_read_back.isEmpty()) {
    fetching_goes_on(role);
  } else {
    fetching_waits(role, member.not_read_back);
    launcher.hold_when_reached();
  }
  launcher.go_on_bringing();
}

void RunControl::Private::tell_not_read_back(const QString& why, bool in_its_logs) {
  const char* const what = in_its_logs ? "was read back into its logs, but not told" : "could not be read back";
  run.troubles += QString("what the dead process had noted %1: %2").arg(what, why);
  emit q->message(run.troubles.back());
}

/// The logs of processes on other hosts; where they were written here, this is over at once.
void RunControl::Private::bring_back() {
  step = Step::bring_back;
  step_timer.stop();
  pull_timer.stop();
  brought_share = 0;
  take_last_figures();
  rates_timer.start(options.deadlines.rates_hold);
  for (Member& member : members) member.bringing_back = member.watch && member.ran();
  for (const Role role : all_roles) {
    Member& member = of(role);
    if (!member.bringing_back) continue;
    Launcher& launcher = member.watch->launcher();
    QObject::connect(&launcher, &Launcher::bringing_back, q, [this, role](qint64 done_bytes, qint64 all_bytes) {
      of(role).brought_bytes = done_bytes;
      of(role).to_bring_bytes = all_bytes;
      fetching_goes_on(role);
      emit q->bringing_back_changed();
    });
    QObject::connect(&launcher, &Launcher::bring_back_waits, q, [this, role](const QString& why) { fetching_waits(role, why); });
    // Its host is there again, and its logs are not fetched, nor removed there, before that.
    QObject::connect(&launcher, &Launcher::reached, q, [this, role] { start_salvage(role); });
    if (!member.not_read_back.isEmpty()) launcher.hold_when_reached();
    QObject::connect(&launcher, &Launcher::brought_back, q, [this, role](const QString& error, bool all_here) { on_brought_back(role, error, all_here); });
    launcher.bring_back(run.folder->part(role));
  }
  if (!any_bringing_back()) finish();
}

void RunControl::Private::fetching_waits(Role role, const QString& why) {
  Member& member = of(role);
  const QString goes_on = member.not_read_back.isEmpty()
                              ? QString("It goes on where it was when there is a way again")
                              : QString("When there is a way again, what the %1 had noted is read back first").arg(role_key(role));
  const bool all_here = member.watch->launcher().all_here();
  const QString what = all_here ? "All logs are here, and clearing away there waits" : "Fetching logs waits";
  const QString told = QString("%1: %2%3 %4").arg(what, why, why.endsWith('?') ? "" : ".", goes_on);
  if (std::exchange(member.told_waiting, told) != told) emit q->fetching_waits(role, told);
}

void RunControl::Private::fetching_goes_on(Role role) {
  if (!std::exchange(of(role).told_waiting, QString()).isEmpty()) emit q->fetching_waits(role, QString());
}

/// Nobody answers any more: what is shown while logs are fetched is all there is.
void RunControl::Private::take_last_figures() {
  if (!accumulator) return;
  note_records();
  figures = accumulator->last(t_s());
  figures.clocks = clock_bounds(run);
  figures.floor_us = floor_us(run);
  emit q->figures_changed();
}

void RunControl::Private::on_brought_back(Role role, const QString& error, bool all_here) {
  Member& member = of(role);
  if (!member.bringing_back) return;
  member.bringing_back = false;
  fetching_goes_on(role);
  if (!member.not_read_back.isEmpty()) tell_not_read_back(member.not_read_back);
  (all_here ? member.record.folder_left : member.record.files_left) = error;
  if (!error.isEmpty()) emit q->message(error);
  if (!any_bringing_back()) finish();
}

/// A person does not want to wait for them any longer.
void RunControl::Private::leave_files() {
  for (const Role role : all_roles) {
    if (!of(role).bringing_back) continue;
    if (of(role).salvaging()) of(role).not_read_back = "stopped";
    of(role).drop_salvager();
    const QString rest = of(role).watch->launcher().leave_files();
    const bool all_here = of(role).watch->launcher().all_here();
    const QString what = all_here ? "the files of %1 were brought back, but not cleared away there: stopped%2"
                                  : "the files of %1 were not all brought back: stopped%2";
    on_brought_back(role, what.arg(role_name(role), rest.isEmpty() ? QString() : (all_here ? "; they are " : "; the rest is ") + rest),
                    all_here);
  }
}

}  // namespace n2nq::app
