// SPDX-License-Identifier: GPL-3.0-or-later
// The real n2nq-bench with the real processes, without a display: what it prints, leaves and returns. Takes the program's path as argument.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <QDir>
#include <QFile>
#include <QProcess>
#include <QProcessEnvironment>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>

#include "app/cli/result_table.h"
#include "app/control/role.h"
#include "app/control/run_control.h"
#include "app/control/verdict.h"
#include "app/host/local_launcher.h"
#include "app/settings/settings_file.h"
#include "tests/app/support/event_loop.h"
#include "tests/app/support/soundness.h"

namespace n2nq::app {
namespace {

using Json = nlohmann::json;

QString bench_path;

struct CliTest : testing::WithEventLoop {
  QTemporaryDir folder;
  QProcess bench;
  QString out = folder.filePath("run");

  /// A run of a few hundred milliseconds, with more arguments behind it.
  static QStringList short_run(const QStringList& more = {}) {
    return QStringList{"run", "quick", "--set", "senders.messages=5", "--set", "senders.delay_ms=20"} + more;
  }
  void start(const QStringList& arguments, const QString& program = bench_path) {
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    for (const char* display : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"}) environment.remove(display);
    environment.insert("XDG_DATA_HOME", folder.filePath("data"));
    bench.setProcessEnvironment(environment);
    bench.setWorkingDirectory(folder.path());
    bench.start(program, arguments);
    ASSERT_TRUE(bench.waitForStarted());
  }
  int finish() {
    if (!bench.waitForFinished(testing::deadline_ms)) return -1;
    return bench.exitStatus() == QProcess::NormalExit ? bench.exitCode() : -2;
  }
  int run(const QStringList& arguments, const QString& program = bench_path) {
    start(arguments, program);
    return finish();
  }
  static QStringList reasons_of(const Json& summary) {
    QStringList reasons;
    for (const Json& reason : summary["reasons"]) reasons += QString::fromStdString(reason);
    return reasons;
  }
  static Verdict verdict_of(const Json& summary) {
    for (const Verdict verdict : {Verdict::clean, Verdict::degraded, Verdict::stopped}) {
      if (summary["verdict"] == verdict_word(verdict)) return verdict;
    }
    return Verdict::broken;
  }
  static bool is_sound(const Json& summary) { return testing::is_sound(verdict_of(summary), reasons_of(summary)); }
  std::string errors() { return bench.readAllStandardError().toStdString(); }
  Json summary() const {
    QFile file(out + "/summary.json");
    EXPECT_TRUE(file.open(QIODevice::ReadOnly)) << file.fileName().toStdString();
    return Json::parse(file.readAll().toStdString(), nullptr, false);
  }
  bool wait_for_traffic() {
    return wait_until([this] {
      QFile log(out + "/receivers/R001.log");
      return log.open(QIODevice::ReadOnly) && log.readAll().contains("\n0\t");
    });
  }
};

TEST_F(CliTest, what_is_planned_behind_the_end_is_named_before_the_start_and_in_the_result) {
  ASSERT_EQ(run(short_run({"--set", "queue.requests=true", "--request", "{receivers: R1, senders: S1}@60", "--out", out})), 0);
  const std::string said = errors();
  EXPECT_NE(said.find("n2nq-bench: R001 asks for S001: planned for 60 s, but the last message is due at 0.1 s; it is done only if"),
            std::string::npos)
      << said;
  EXPECT_EQ(summary()["verdict"], "degraded");
  EXPECT_EQ(summary()["reasons"][0], "planned, but not done: R001 asks for S001 at 60 s (the run was over)");
}

TEST_F(CliTest, what_is_mended_behind_the_last_message_is_mended_and_nothing_stays_in_the_queue) {
  ASSERT_EQ(run(short_run({"--set", "senders.messages=100", "--set", "queue.responses=true", "--set", "queue.retention_s=60", "--set",
                           "limits.drain_s=0", "--fault", "kill:receivers@0.3", "--fault", "restart:receivers@3", "--out", out})),
            0);
  const Json result = summary();
  EXPECT_EQ(result["ledger"]["total"]["delivered"], 10'000) << result["reasons"];
  EXPECT_EQ(result["ledger"]["total"]["still_queued"], 0);
  EXPECT_EQ(result["events"].size(), 2u);
  EXPECT_TRUE(std::regex_match(result["reasons"][0].get<std::string>(), std::regex("done on purpose at [0-9.]+ s: Receivers killed")))
      << result["reasons"];
}

TEST_F(CliTest, a_run_whose_receivers_are_dead_for_good_gives_up_and_says_so) {
  ASSERT_EQ(run(short_run({"--set", "senders.messages=100", "--set", "queue.responses=true", "--set", "queue.retention_s=3600", "--set",
                           "limits.drain_s=0.5", "--fault", "kill:receivers@0.3", "--fault", "restart:receivers@5000", "--out", out})),
            0);
  const Json result = summary();
  EXPECT_EQ(result["verdict"], "degraded");
  EXPECT_GT(result["ledger"]["total"]["still_queued"], 0);
  EXPECT_NE(result["reasons"].dump().find(" copies still queued at the end"), std::string::npos) << result["reasons"];
  EXPECT_NE(result["reasons"].dump().find("nothing planned started them again: given up after 0.5 s (limits.drain_s)"), std::string::npos)
      << result["reasons"];
}

TEST_F(CliTest, of_two_settings_of_the_same_key_the_last_one_counts) {
  ASSERT_EQ(run(short_run({"--set", "seed=7", "--set", "seed=8", "--out", out})), 0) << errors();
  EXPECT_EQ(summary()["settings"]["seed"], 8);
}

TEST_F(CliTest, a_short_run_is_clean_and_leaves_its_folder) {
  EXPECT_EQ(run(short_run({"--out", out})), 0) << errors();
  const QString page = QString::fromUtf8(bench.readAllStandardOutput());
  EXPECT_TRUE(page.contains("verdict")) << page.toStdString();
  EXPECT_TRUE(page.contains(out));
  const Json result = summary();
  EXPECT_TRUE(is_sound(result)) << result["verdict"] << result["reasons"];
  EXPECT_EQ(result["ledger"]["total"]["attempted"], 50);
  EXPECT_EQ(result["ledger"]["total"]["delivered"], 500);
  EXPECT_EQ(result["latency_us"]["count"], 500);
  for (const char* name : {"settings.yaml", "messages.tsv", "latency.hgrm", "broker.log", "senders/S010.log", "receivers/R010.log"}) {
    EXPECT_TRUE(QFile::exists(out + '/' + name)) << name;
  }
}

TEST_F(CliTest, stages_are_known_of_what_a_killed_group_received) {
  EXPECT_EQ(run({"run", "quick", "--set", "senders.duration_s=3", "--set", "senders.rate_per_s=50", "--set", "queue.responses=true",
                 "--fault", "restart:receivers@1", "--out", out}),
            0)
      << errors();
  const Json result = summary();
  for (const char* stage : {"lag_us", "to_broker_us", "in_queue_us", "to_receiver_us"}) {
    EXPECT_EQ(result["stages"][stage]["count"], result["latency_us"]["count"]) << stage;
  }
}

TEST_F(CliTest, the_load_balancer_delivers_each_message_once) {
  EXPECT_EQ(run(short_run({"--set", "queue.mode=load-balancer", "--out", out})), 0) << errors();
  const Json result = summary();
  EXPECT_TRUE(is_sound(result)) << result["verdict"] << result["reasons"];
  EXPECT_EQ(result["ledger"]["total"]["delivered"], 50);
}

TEST_F(CliTest, json_is_an_object_per_line_and_the_summary_is_the_last) {
  EXPECT_EQ(run(short_run({"--json", "--out", out})), 0) << errors();
  const QByteArrayList lines = bench.readAllStandardOutput().trimmed().split('\n');
  ASSERT_GE(lines.size(), 2);
  for (const QByteArray& line : lines.first(lines.size() - 1)) {
    const Json object = Json::parse(line.toStdString(), nullptr, false);
    ASSERT_TRUE(object.is_object()) << line.toStdString();
    EXPECT_TRUE(object["progress"]["sent"].is_number()) << line.toStdString();
  }
  const Json printed = Json::parse(lines.last().toStdString(), nullptr, false);
  ASSERT_TRUE(printed.is_object());
  EXPECT_TRUE(is_sound(printed)) << printed["verdict"] << printed["reasons"];
  EXPECT_EQ(printed["ledger"]["total"]["delivered"], 500);
  EXPECT_EQ(printed["folder"], out.toStdString());
}

TEST_F(CliTest, what_is_in_flight_is_not_told_while_the_receivers_are_silent) {
  EXPECT_EQ(run({"run", "quick", "--set", "senders.duration_s=4", "--set", "log=off", "--fault", "pause:receivers@1", "--fault",
                 "resume:receivers@3.5", "--json", "--out", out}),
            0)
      << errors();
  const QByteArrayList lines = bench.readAllStandardOutput().trimmed().split('\n');
  const auto told = [](const QByteArray& line) { return Json::parse(line.toStdString())["progress"]; };
  EXPECT_TRUE(told(lines.first())["in_flight"].is_number()) << lines.join('\n').toStdString();
  bool was_silent = false;
  for (const QByteArray& line : lines.first(lines.size() - 1)) {
    const Json progress = told(line);
    was_silent = was_silent || progress["in_flight"].is_null();
    EXPECT_EQ(progress["in_flight_at_most"], false) << line.toStdString();
  }
  EXPECT_TRUE(was_silent) << lines.join('\n').toStdString();
}

TEST_F(CliTest, an_assertion_that_is_not_met_says_by_how_much_and_fails) {
  EXPECT_EQ(run(short_run({"--assert", "ledger.total.delivered == 500", "--assert", "latency_us.count <= 400", "--out", out})), 1);
  const std::string said = errors();
  EXPECT_NE(said.find("ledger.total.delivered == 500: met: 500"), std::string::npos) << said;
  EXPECT_NE(said.find("latency_us.count <= 400: not met: 500, 100 (25 %) too much"), std::string::npos) << said;
}

TEST_F(CliTest, an_assertion_about_a_bound_is_not_met_where_there_is_one_clock) {
  EXPECT_EQ(run(short_run({"--assert", "latency_us.bound_us < 500", "--assert",
                           "services.receivers.R001.stages.to_broker_us.bound_us < 500", "--out", out})),
            1);
  const std::string said = errors();
  EXPECT_NE(said.find("latency_us.bound_us < 500: not met: the run gave no such figure"), std::string::npos) << said;
  EXPECT_NE(said.find("stages.to_broker_us.bound_us < 500: not met: the run gave no such figure"), std::string::npos) << said;
}

TEST_F(CliTest, assertions_that_are_met_do_not_fail) {
  EXPECT_EQ(run(short_run({"--assert", "services.receivers.R001.latency_us.count == 50", "--assert", "ledger.total.lost<1", "--out", out})),
            0)
      << errors();
}

TEST_F(CliTest, an_assertion_about_no_figure_is_bad_input_and_nothing_is_run) {
  EXPECT_EQ(run(short_run({"--assert", "latency_us.p98 < 500", "--out", out})), 2);
  const std::string said = errors();
  EXPECT_NE(said.find("\"latency_us.p98\" is no figure of a run (nearest: latency_us.p9"), std::string::npos) << said;
  EXPECT_FALSE(QFile::exists(out));
  for (const char* boundless :
       {"latency_us.p50.bound_us < 5", "stages.in_queue_us.bound_us < 5", "services.senders.S001.lag_us.bound_us < 5"}) {
    EXPECT_EQ(run(short_run({"--assert", boundless, "--out", out})), 2) << boundless;
  }
  EXPECT_EQ(run(short_run({"--assert", "services.receivers.R001.receivd > 1", "--out", out})), 2);
  EXPECT_NE(errors().find("(nearest: services.receivers.R001.received)"), std::string::npos);
  for (const char* other :
       {"services.receivers.S001.received > 1", "services.senders.R001.attempted > 1", "services.receivers.1.received > 1"}) {
    EXPECT_EQ(run(short_run({"--assert", other, "--out", out})), 2) << other;
    EXPECT_NE(errors().find("they are called services.senders.S001 and services.receivers.R001"), std::string::npos) << other;
  }
  EXPECT_EQ(run(short_run({"--assert", "ledger.warmup.expird == 0", "--out", out})), 2);
  EXPECT_NE(errors().find("(nearest: ledger.warmup.expired)"), std::string::npos);
  EXPECT_EQ(run(short_run({"--assert", "ledger.warmup.expired == 0", "--out", out})), 2);
  EXPECT_NE(errors().find("is of a warm-up, which this run does not have"), std::string::npos);
  EXPECT_EQ(run(short_run({"--assert", "services.receivers.R99.received > 1", "--out", out})), 2);
  EXPECT_NE(errors().find("is of a service that this run does not have: it has R001 to R010"), std::string::npos);
  EXPECT_FALSE(QFile::exists(out));
  EXPECT_EQ(run(short_run({"--assert", "latency_us.p99 under 500", "--out", out})), 2);
  EXPECT_NE(errors().find("such as \"latency_us.p99 < 500\""), std::string::npos);
}

TEST_F(CliTest, a_run_can_be_repeated_from_its_folder) {
  ASSERT_EQ(run(short_run({"--set", "senders.size_bytes=[20, 100]", "--set", "seed=7", "--out", out})), 0) << errors();
  const QString again = folder.filePath("again");
  ASSERT_EQ(run({"run", out + "/settings.yaml", "--out", again}), 0) << errors();
  EXPECT_EQ(read_settings_file((again + "/settings.yaml").toStdString()).settings,
            read_settings_file((out + "/settings.yaml").toStdString()).settings);
}

TEST_F(CliTest, without_out_the_folder_is_in_the_users_data) {
  EXPECT_EQ(run(short_run()), 0) << errors();
  const auto runs = QDir(folder.filePath("data/n2nq/runs")).entryList(QDir::Dirs | QDir::NoDotAndDotDot);
  ASSERT_EQ(runs.size(), 1);
  EXPECT_TRUE(runs[0].endsWith("-broadcaster-10x10")) << runs[0].toStdString();
}

TEST_F(CliTest, a_relative_folder_is_below_the_working_folder) {
  EXPECT_EQ(run(short_run({"--out", "here"})), 0) << errors();
  EXPECT_TRUE(QFile::exists(folder.filePath("here/summary.json")));
}

TEST_F(CliTest, bad_input_names_the_place_and_returns_2) {
  QFile file(folder.filePath("bad.yaml"));
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write("format: 1\nsenders:\n  amont: 7\n");
  file.close();
  ASSERT_TRUE(QDir(folder.path()).mkdir("full") && QFile::copy(file.fileName(), folder.filePath("full/file")));
  const std::pair<QStringList, std::string> cases[] = {
      {{"run", "bad.yaml"}, "bad.yaml:3: senders.amont is not a setting; the nearest one is senders.amount"},
      {{"run", "missing.yaml"}, "missing.yaml: cannot be read"},
      {{"run", "quik"}, "quik: is not a preset (nearest: quick)"},
      {{"run", "quick", "--set", "senders.amount=ten"},
       "--set senders.amount=ten: senders.amount must be a whole number from 1 to 2000, not \"ten\""},
      {{"run", "quick", "--set", "limits.sessions_max=10"}, "limits.sessions_max must be at least 22"},
      {{"run", "quick", "--set", "queue.responses=on"}, "queue.responses must be true or false"},
      {{"run", "quick", "--set", "broker.host=lab-1"}, "broker.host is lab-1, which is no host of "},
      {{"run", "quick", "--set", "broker.host=lab-1", "--hosts", "no/such/hosts.yaml"}, "no/such/hosts.yaml"},
      {{"run", "quick", "--out", "full"}, "is not empty"},
      {{"run", "quick", "--out", "bad.yaml"}, "is a file"},
      {{"run", "quick", "--out", ""}, "--out needs a folder"},
      {{"run"}, "run needs a preset"},
      {{"fly"}, "\"fly\" is not a command"},
  };
  for (const auto& [arguments, wanted] : cases) {
    EXPECT_EQ(run(arguments), 2) << arguments.join(' ').toStdString();
    const std::string said = errors();
    EXPECT_NE(said.find(wanted), std::string::npos) << said;
    EXPECT_TRUE(bench.readAllStandardOutput().isEmpty());
  }
  EXPECT_FALSE(QDir(folder.filePath("data/n2nq/runs")).exists()) << "bad input starts nothing";
}

TEST_F(CliTest, a_relative_folder_is_refused_where_the_working_folder_is_gone) {
  const QString name = QFileInfo(folder.path()).fileName() + "-out";
  const QStringList in_one{"-c", "mkdir gone && cd gone && rmdir ../gone && exec \"$@\"", "sh", bench_path};
  for (const QStringList& words : {short_run(), QStringList{"case", "1"}, QStringList{"report", folder.path()}}) {
    EXPECT_EQ(run(in_one + words + QStringList{"--out", name}, "/bin/sh"), 2) << words.first().toStdString();
    const std::string said = errors();
    EXPECT_NE(said.find(name.toStdString() + ": the working folder is gone: give an absolute path"), std::string::npos) << said;
  }
  EXPECT_FALSE(QFileInfo::exists('/' + name));
  EXPECT_EQ(run(in_one + short_run({"--out", out}), "/bin/sh"), 0) << errors();
}

TEST_F(CliTest, a_folder_that_cannot_be_made_is_no_bad_input_and_one_below_a_file_is) {
  EXPECT_EQ(run(short_run({"--out", "/proc/no/run"})), 1);
  EXPECT_NE(errors().find("Cannot make the folder /proc/no/run"), std::string::npos);
  EXPECT_EQ(run({"case", "1", "--out", "/proc/no/case"}), 1);
  EXPECT_NE(errors().find("Cannot make the folder /proc/no/case"), std::string::npos);
  QFile file(folder.filePath("file"));
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  for (const char* wrong : {"file", "file/run"}) {
    EXPECT_EQ(run(short_run({"--out", wrong})), 2) << wrong;
    EXPECT_EQ(run({"case", "1", "--out", wrong}), 2) << wrong;
  }
}

TEST_F(CliTest, without_a_display_the_window_is_not_opened) {
  EXPECT_EQ(run({}), 2);
  EXPECT_NE(errors().find("n2nq-bench run quick"), std::string::npos);
  QFile hosts(folder.filePath("hosts.yaml"));
  ASSERT_TRUE(hosts.open(QIODevice::WriteOnly));
  hosts.write("format: 1\nhosts: []\n");
  hosts.close();
  EXPECT_EQ(run({"--hosts", hosts.fileName()}), 2);
#ifdef N2NQ_HAVE_UI
  const char* wanted = "there is no display for the window";
#else
  const char* wanted = "this program was built without the window";
#endif
  EXPECT_NE(errors().find(wanted), std::string::npos) << "a file of lab machines is no display: " << errors();
  EXPECT_EQ(run({"--hosts", folder.filePath("nothing.yaml"), "-platform", "offscreen"}), 2);
  EXPECT_NE(errors().find("nothing.yaml"), std::string::npos);
}

TEST_F(CliTest, pages) {
  EXPECT_EQ(run({"presets"}), 0);
  const QByteArray presets = bench.readAllStandardOutput();
  for (const char* name : {"quick", "thesis-baseline", "many-services", "placement-external"}) EXPECT_TRUE(presets.contains(name));
  EXPECT_EQ(run({"--version"}), 0);
  EXPECT_EQ(bench.readAllStandardOutput(), "n2nq-bench " N2NQ_VERSION "\n");
  EXPECT_EQ(run({"--help"}), 0);
  EXPECT_TRUE(bench.readAllStandardOutput().contains("--strict"));
}

TEST_F(CliTest, ctrl_c_stops_in_order_and_keeps_what_was_measured) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    out = folder.filePath(QString("run-%1").arg(signal));
    start({"run", "quick", "--set", "senders.messages=none", "--out", out});
    ASSERT_TRUE(wait_for_traffic());
    ::kill(static_cast<pid_t>(bench.processId()), signal);
    EXPECT_EQ(finish(), 130) << errors();
    const Json result = summary();
    EXPECT_TRUE(testing::was_stopped(verdict_of(result), reasons_of(result))) << result["reasons"];
    EXPECT_GT(result["ledger"]["total"]["delivered"], 0);
  }
}

TEST_F(CliTest, a_taken_port_is_named) {
  start({"run", "quick", "--set", "senders.messages=none", "--out", out});
  ASSERT_TRUE(wait_for_traffic());
  QFile log(out + "/broker.log");
  ASSERT_TRUE(log.open(QIODevice::ReadOnly));
  const auto found = QRegularExpression("127\\.0\\.0\\.1[: ](?:port )?(\\d+)").match(QString::fromUtf8(log.readAll()));
  ASSERT_TRUE(found.hasMatch());
  QProcess second;
  second.start(bench_path, short_run({"--set", "broker.port=" + found.captured(1), "--out", folder.filePath("second")}));
  ASSERT_TRUE(second.waitForFinished(testing::deadline_ms));
  EXPECT_EQ(second.exitCode(), 1);
  const QString said = QString::fromUtf8(second.readAllStandardError());
  EXPECT_TRUE(said.contains("N2NQ") && said.contains(found.captured(1))) << said.toStdString();
  ::kill(static_cast<pid_t>(bench.processId()), SIGINT);
  EXPECT_EQ(finish(), 130);
}

/// What a person at the window can do, and no command.
TEST_F(CliTest, verify_knows_that_an_earlier_start_of_the_receivers_had_more_services) {
  Settings settings;
  settings.senders.amount = 3;
  settings.senders.messages = 5;
  settings.senders.delay_ms = 20;
  settings.receivers.amount = 4;
  RunControl::Options options;
  options.runs_folder = folder.filePath("runs");
  RunControl control(options, std::make_unique<LocalLauncherFactory>(QFileInfo(bench_path).absolutePath()));
  const auto wait_state = [&control](Role role, ProcessState state) {
    return wait_until([&control, role, state] { return control.process(role).state == state; });
  };
  control.set_settings(settings);
  for (const Role role : {Role::senders, Role::receivers}) {
    control.start(role);
    ASSERT_TRUE(wait_state(role, ProcessState::waiting));
  }
  control.stop(Role::receivers);
  ASSERT_TRUE(wait_state(Role::receivers, ProcessState::ended));
  settings.receivers.amount = 2;
  control.set_settings(settings);
  control.start(Role::receivers);
  control.start(Role::broker);
  ASSERT_TRUE(wait_until([&control] { return control.state() == RunState::finished; }));
  EXPECT_EQ(control.figures().received, 30) << control.outcome().reasons.join('\n').toStdString();
  ASSERT_TRUE(QFileInfo::exists(control.log_path(Role::receivers, 4))) << "the earlier start left it";
  EXPECT_EQ(run({"verify", control.folder()}), 0) << bench.readAllStandardOutput().toStdString();
}

TEST_F(CliTest, verify_tells_what_cannot_be_read_or_written_from_what_differs) {
  ASSERT_EQ(run(short_run({"--out", out})), 0) << errors();
  const auto said = [this] { return QString::fromUtf8(bench.readAllStandardOutput()); };
  EXPECT_EQ(run({"verify", out}), 0);
  EXPECT_TRUE(said().endsWith("values compared, all agree\n"));

  // No place for messages.tsv to be made again.
  const QString none = folder.filePath("none");
  EXPECT_EQ(run({"-c", "TMPDIR=\"$2\" exec \"$0\" verify \"$1\"", bench_path, out, none}, "/bin/sh"), 1);
  QString text = said();
  EXPECT_TRUE(text.endsWith("values compared, all agree; not compared: messages.tsv cannot be made again: no folder can be made in " + none +
                            ": No such file or directory\n"))
      << text.toStdString();
  EXPECT_EQ(run({"-c", "ulimit -f 0; exec \"$0\" verify --json \"$1\"", bench_path, out}, "/bin/sh"), 1);
  const Json found = Json::parse(said().toStdString(), nullptr, false);
  EXPECT_EQ(found.value("differing", -1), 0) << found;
  EXPECT_TRUE(std::regex_search(found.value("not_possible", ""), std::regex("Cannot write /.*/messages.tsv: File too large"))) << found;

  const QString hgrm = out + "/latency.hgrm";
  ASSERT_TRUE(QFile::remove(hgrm));
  EXPECT_EQ(run({"verify", out}), 1);
  text = said();
  EXPECT_TRUE(text.startsWith("latency.hgrm is missing\n") && text.endsWith(", 1 differ\n")) << text.toStdString();
  ASSERT_EQ(::mkfifo(QFile::encodeName(hgrm).constData(), 0600), 0);
  EXPECT_EQ(run({"verify", out}), 1);
  text = said();
  EXPECT_TRUE(text.endsWith("all agree; not compared: Cannot read " + hgrm + ": it is a pipe, and no file\n")) << text.toStdString();

  // Of the same size, and not the same.
  QFile master(out + "/messages.tsv");
  ASSERT_TRUE(master.open(QIODevice::ReadWrite) && master.seek(master.size() - 2) && master.write("x") == 1);
  master.close();
  EXPECT_EQ(run({"verify", out}), 1);
  text = said();
  EXPECT_TRUE(text.startsWith("messages.tsv does not hold the lines of the receivers' logs in the order of receiving\n"));
  EXPECT_TRUE(text.contains(", 1 differ; not compared: Cannot read ")) << text.toStdString();

  // A link that never ends in place of the summary.
  ASSERT_TRUE(QFile::remove(out + "/summary.json") && QFile::link("/dev/zero", out + "/summary.json"));
  for (const char* command : {"verify", "report", "compare"}) {
    EXPECT_EQ(run({command, out, out}), 2) << command;
    EXPECT_NE(errors().find("Cannot read " + out.toStdString() + "/summary.json: it is a device, and no file"), std::string::npos) << command;
  }
}

}  // namespace
}  // namespace n2nq::app

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (argc != 2) {
    fputs("usage: test_cli PATH-OF-n2nq-bench\n", stderr);
    return 2;
  }
  n2nq::app::bench_path = QString::fromLocal8Bit(argv[1]);
  return RUN_ALL_TESTS();
}
