// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/arguments.h"

#include <gtest/gtest.h>

#include <QRegularExpression>
#include <QTemporaryDir>
#include <fstream>

#include "app/cli/compare_command.h"
#include "app/cli/hosts_command.h"
#include "app/cli/result_table.h"
#include "app/cli/run_command.h"
#include "app/host/check_advice.h"
#include "app/host/check_cells.h"

namespace n2nq::app {
namespace {

Arguments parsed(const std::vector<std::string>& words) {
  const auto result = parse_arguments(words);
  if (const auto* problem = std::get_if<std::string>(&result)) ADD_FAILURE() << *problem;
  return std::holds_alternative<Arguments>(result) ? std::get<Arguments>(result) : Arguments();
}

std::string problem(const std::vector<std::string>& words) {
  const auto result = parse_arguments(words);
  return std::holds_alternative<std::string>(result) ? std::get<std::string>(result) : "none";
}

QStringList setting_errors(const std::string& what, const std::vector<std::pair<std::string, std::string>>& settings) {
  Arguments arguments;
  arguments.what = what;
  arguments.settings = settings;
  QStringList errors;
  const bool has_settings = settings_of(arguments, errors).has_value();
  EXPECT_EQ(has_settings, errors.isEmpty());
  return errors;
}

TEST(arguments, nothing_opens_the_window) {
  EXPECT_EQ(parsed({}).command, Command::window);
  EXPECT_EQ(parsed({"-platform", "offscreen"}).command, Command::window);
}

TEST(arguments, the_window_takes_a_file_of_lab_machines_as_the_commands_do) {
  for (const auto& words : {std::vector<std::string>{"--hosts", "lab.yaml"},
                            {"--hosts=lab.yaml", "-platform", "offscreen"},
                            {"-platform", "offscreen", "--hosts", "lab.yaml"}}) {
    EXPECT_EQ(parsed(words).command, Command::window);
    EXPECT_EQ(parsed(words).hosts, "lab.yaml");
  }
  EXPECT_EQ(problem({"--hosts"}), "--hosts needs a file, such as: --hosts lab/hosts.yaml");
}

TEST(arguments, run_takes_its_options_in_any_order) {
  const Arguments arguments =
      parsed({"run", "--set", "a=1", "quick", "--json", "--set=b=2=3", "--out", "dir", "--hosts=lab.yaml", "--strict"});
  EXPECT_EQ(arguments.hosts, "lab.yaml");
  EXPECT_EQ(arguments.command, Command::run);
  EXPECT_EQ(arguments.what, "quick");
  EXPECT_EQ(arguments.settings, (std::vector<std::pair<std::string, std::string>>{{"a", "1"}, {"b", "2=3"}}));
  EXPECT_EQ(arguments.out, "dir");
  EXPECT_TRUE(arguments.strict && arguments.json);
  EXPECT_EQ(parsed({"run", "--out=x", "f.yaml"}).out, "x");
}

TEST(arguments, other_commands) {
  EXPECT_EQ(parsed({"presets"}).command, Command::presets);
  EXPECT_EQ(parsed({"--help"}).command, Command::help);
  for (const char* command : {"run", "case", "cases", "verify", "compare", "report", "presets", "settings"})
    EXPECT_EQ(parsed({command, "--help"}).command, Command::help) << command;
  for (const char* help : {"--help", "-h"}) {
    EXPECT_EQ(parsed({"hosts", help}).command, Command::help);
    EXPECT_EQ(parsed({"hosts", "check", help}).command, Command::help);
    EXPECT_EQ(parsed({"hosts", "list", "--json", help}).command, Command::help);
  }
  EXPECT_EQ(parsed({"--version"}).command, Command::version);
  EXPECT_NE(help_text().find("Exit code"), std::string::npos);
}

TEST(arguments, mistakes_are_named_with_what_would_be_right) {
  EXPECT_EQ(problem({"run"}), "run needs a preset or a settings file, such as: n2nq-bench run quick");
  EXPECT_EQ(problem({"run", "quick", "--strikt"}), "--strikt is not an option of run (nearest: --strict)");
  EXPECT_EQ(problem({"run", "quick", "slow"}), "run takes one preset or settings file; there are two: quick and slow");
  EXPECT_EQ(problem({"run", "quick", "--set"}), "--set needs a setting, such as: --set senders.amount=20");
  EXPECT_EQ(problem({"run", "quick", "--set", "amount"}), "--set amount: must be key=value, such as senders.amount=20");
  EXPECT_EQ(problem({"run", "quick", "--hosts"}), "--hosts needs a file, such as: --hosts lab/hosts.yaml");
  EXPECT_EQ(problem({"run", "quick", "--out"}), "--out needs a folder, such as: --out results/first");
  EXPECT_TRUE(problem({"rum"}).starts_with("\"rum\" is not a command (nearest: run)")) << problem({"rum"});
  EXPECT_EQ(problem({"presets", "x"}), "presets takes nothing behind it, not \"x\"");
  const std::string repeats = problem({"case", "1", "--repeats", "2", "--scale", "stress"});
  EXPECT_TRUE(repeats.starts_with("--repeats does not go with --scale stress, ")) << repeats;
  EXPECT_EQ(parsed({"case", "1", "--repeats", "2", "--scale", "thesis"}).repeats, 2);
}

TEST(arguments, settings_are_checked_together) {
  EXPECT_TRUE(setting_errors("quick", {{"senders.amount", "3"}}).isEmpty());
  EXPECT_EQ(setting_errors("quick", {{"senders.amount", "x"}, {"amount", "3"}}).size(), 2);
  const auto between = setting_errors("quick", {{"limits.memory_mib", "32"}, {"limits.pending_mib", "64"}});
  ASSERT_EQ(between.size(), 1);
  EXPECT_EQ(between[0].toStdString(), "--set: limits.pending_mib must be at most limits.memory_mib (32), not 64");
  EXPECT_EQ(setting_errors("nothing", {}).size(), 1);
  const QTemporaryDir folder;
  const std::string file = folder.filePath("own.yaml").toStdString();
  std::ofstream(file) << "format: 1\nlimits:\n  memory_mib: 256\n  pending_mib: 100\n";
  EXPECT_EQ(setting_errors(file, {{"limits.pending_mib", "600"}}).join('\n').toStdString(),
            "--set: limits.pending_mib must be at most limits.memory_mib (256), not 600");
  EXPECT_EQ(setting_errors(file, {{"limits.memory_mib", "64"}}).join('\n').toStdString(),
            file + ":4: limits.pending_mib must be at most limits.memory_mib (64), not 100")
      << "a value of the file";
}

TEST(arguments, hosts_are_listed_and_checked) {
  const auto read = [](std::vector<std::string> words) { return parse_arguments(words); };
  const auto problem = [&](std::vector<std::string> words) { return std::get<std::string>(read(std::move(words))); };
  const auto check = std::get<Arguments>(read({"hosts", "check", "--hosts=lab.yaml", "--port", "4711", "--json"}));
  EXPECT_EQ(check.command, Command::hosts_check);
  EXPECT_EQ(check.hosts, "lab.yaml");
  EXPECT_EQ(check.port, 4711);
  EXPECT_TRUE(check.json);
  EXPECT_EQ(std::get<Arguments>(read({"hosts", "list"})).command, Command::hosts_list);
  EXPECT_EQ(std::get<Arguments>(read({"run", "quick", "--hosts", "lab.yaml"})).hosts, "lab.yaml");
  EXPECT_EQ(problem({"hosts"}), "hosts needs to know what to do: n2nq-bench hosts list, or n2nq-bench hosts check");
  EXPECT_EQ(problem({"hosts", "show"}), "hosts takes list or check, not \"show\"");
  EXPECT_EQ(problem({"hosts", "list", "--port", "1"}), "\"--port\" is not an option of hosts list: there are --hosts FILE and --json");
  EXPECT_EQ(problem({"hosts", "check", "--port", "70000"}), "--port must be a whole number from 0 to 65535, not \"70000\"");
  EXPECT_EQ(problem({"hosts", "check", "--hosts"}), "--hosts needs a file, such as: --hosts lab/hosts.yaml");
  EXPECT_EQ(problem({"run", "quick", "--hosts="}), "--hosts needs a file, such as: --hosts lab/hosts.yaml; the name given is empty");
}

TEST(hosts_command, a_check_says_what_to_do_about_everything_that_is_not_good) {
  HostReports hosts;
  PathReports paths;
  for (CheckCell& cell : hosts["a"].cells) cell = {CheckState::good, "yes", {}, {}, true};
  hosts["b"] = hosts["a"];
  hosts["b"].of(CheckItem::folder) = {CheckState::bad, "noexec", "Programs cannot be run there", "Choose another folder", {}};
  hosts["a"].of(CheckItem::clock) = {CheckState::good, "+2 ms ± 0.1 ms", {}, {}, 2000.5, 100.25};
  paths[{"a", "b"}] = {CheckState::good, "0.4 ms", {}, {}, 400};
  paths[{"b", "a"}] = {CheckState::warning, "9 ms", "It takes long", "Look at the way", 9000};
  const std::vector<std::string> names = {"a", "b"};
  const QString page = check_page(names, hosts, paths);
  EXPECT_TRUE(
      page.endsWith("BAD b, folder: Programs cannot be run there\n    Choose another folder\n"
                    "! b, way to a: It takes long\n    Look at the way\n"))
      << page.toStdString();
  EXPECT_TRUE(page.contains("BAD noexec"));
  const auto json = report_json(names, hosts, paths);
  EXPECT_EQ(json["state"], "bad");
  EXPECT_EQ(json["hosts"][1]["name"], "b");
  EXPECT_EQ(json["hosts"][1]["folder"]["what_to_do"], "Choose another folder");
  EXPECT_EQ(json["hosts"][0]["clock_offset_us"]["value"], 2000.5);
  EXPECT_EQ(json["hosts"][0]["clock_offset_us"]["bound_us"], 100.25);
  EXPECT_FALSE(json["hosts"][0]["folder"].contains("bound_us"));
  EXPECT_EQ(json["paths"][0]["round_trip_us"]["value"], 400);
}

void add_good_host(Hosts& book, HostReports& hosts, const char* name) {
  book.hosts.emplace_back().name = name;
  for (CheckCell& cell : hosts[name].cells) cell = {CheckState::good, "yes", {}, {}, true};
}

TEST(hosts_command, what_is_bad_comes_first_and_what_many_share_is_said_once) {
  Hosts book;
  HostReports hosts;
  for (const char* name : {"h1", "h2", "h10"}) {
    add_good_host(book, hosts, name);
    hosts[name].of(CheckItem::load) = {CheckState::warning, "9", "Something else runs there", "See with top", 9};
  }
  hosts["h10"].of(CheckItem::folder) = {CheckState::bad, "no", "h10: the disk is full", "Make room", {}};
  const QString page = check_page(names_in_order(book, hosts), hosts, {});
  EXPECT_TRUE(
      page.endsWith("\nBAD h10, folder: h10: the disk is full\n    Make room\n"
                    "! h1 h2 h10, load: Something else runs there\n    See with top\n"))
      << page.toStdString();
  EXPECT_LT(page.indexOf("\nh2 "), page.indexOf("\nh10 ")) << page.toStdString();
}

TEST(hosts_command, whom_a_check_waits_for_is_named) {
  HostReports hosts;
  const std::vector<std::string> names = {"local", "h1", "h2", "h3"};
  for (const std::string& name : names)
    for (CheckCell& cell : hosts[name].cells) cell.state = CheckState::checking;
  EXPECT_EQ(check_progress(names, hosts), "checking 3 lab machines; not logged in yet: h1, h2, h3");
  hosts["h1"].of(CheckItem::login).state = CheckState::good;
  hosts["h1"].now = {CheckActivity::Kind::sending, "n2nq-broker", 512 << 10, (3000 << 10) + 1};
  EXPECT_EQ(check_progress(names, hosts),
            "checking 3 lab machines; sending n2nq-broker to h1, 512 of 3001 KiB; not logged in yet: h2, h3");
  hosts["h1"].now = {};
  EXPECT_EQ(check_progress(names, hosts), "checking 3 lab machines; not logged in yet: h2, h3");
  hosts["h2"].of(CheckItem::login).state = hosts["h3"].of(CheckItem::login).state = CheckState::bad;
  EXPECT_EQ(check_progress(names, hosts), "checking 3 lab machines");
}

TEST(hosts_command, ways_that_stay_unknown_until_somebody_says_something_come_last) {
  Hosts book;
  HostReports hosts;
  PathReports paths;
  for (const char* name : {"h1", "h2"}) {
    add_good_host(book, hosts, name);
    paths[{name, "local"}] = {CheckState::not_known, {}, "Where lab machines reach this one is not known", "Give its address", {}};
  }
  hosts["h2"].of(CheckItem::load) = {CheckState::warning, "9", "Something else runs there", "See with top", 9};
  paths[{"h1", "h2"}] = {CheckState::not_known, {}, "Not looked at: h2 is not ready", {}, {}};
  const QString page = check_page(names_in_order(book, hosts), hosts, paths);
  EXPECT_TRUE(
      page.endsWith("\n\n! h2, load: Something else runs there\n    See with top\n"
                    "? h1 h2, way to this machine: Where lab machines reach this one is not known\n    Give its address\n"))
      << page.toStdString();
}

TEST(hosts_command, one_reason_for_many_cells_is_told_once_with_what_was_still_going_on) {
  Hosts book;
  HostReports hosts;
  PathReports paths;
  for (const char* name : {"h1", "h2"}) {
    add_good_host(book, hosts, name);
  }
  hosts["h1"].now = {CheckActivity::Kind::sending, "n2nq-broker", 512 << 10, 3000 << 10};
  hosts["h2"].now = {CheckActivity::Kind::ways, {}, 0, 0};
  for (const CheckItem item : {CheckItem::kernel, CheckItem::cores}) hosts["h1"].of(item) = too_long_cell({"h1"}, hosts);
  hosts["h2"].of(CheckItem::floor) = too_long_cell({"h2"}, hosts);
  paths[{"h2", "h1"}] = too_long_cell({"h2", "h1"}, hosts);
  const QString page = check_page(names_in_order(book, hosts), hosts, paths);
  const QString why = "the check took too long, still sending n2nq-broker to h1, 512 of 3000 KiB\n"
                      "    The link there is slow: check again, by another link perhaps. A program that has come over whole is not sent again\n";
  EXPECT_TRUE(page.endsWith("\n\n? h1, kernel, cores: " + why + "? h2, floor, way to h1: " + why)) << page.toStdString();
  EXPECT_FALSE(page.contains("firewall"));

  hosts["h1"].now = {};
  EXPECT_EQ(too_long_cell({"h1"}, hosts).detail, "the check took too long, still trying the ways from h2");
  EXPECT_TRUE(too_long_cell({"h1"}, hosts).what_to_do.contains("firewall"));
  hosts["h2"].now.kind = CheckActivity::Kind::connecting;
  EXPECT_EQ(too_long_cell({"h1"}, hosts).detail, "the check took too long, still connecting to h2");
}

TEST(result_table, what_a_host_has_said_is_one_line_that_nobody_obeys) {
  const std::string said = "h2: the folder has a file \x1b]0;pwned\a\nverdict clean",
                    shown = "h2: the folder has a file \\x1B]0;pwned\\x07\\x0Averdict clean";
  const nlohmann::json summary = {
      {"traffic_started", false}, {"verdict", "broken"}, {"reasons", {said}}, {"environment", {{"disturbed", {said}}}}};
  const QString table = result_table(summary, "/runs/1");
  EXPECT_EQ(table.count(QString::fromStdString(shown) + '\n'), 2) << table.toStdString();
  EXPECT_EQ(table.count('\n'), 5) << table.toStdString();

  HostReports hosts;
  for (CheckCell& cell : hosts["a"].cells) cell = {CheckState::bad, QString::fromStdString(said), QString::fromStdString(said), "Look", {}};
  const QString page = check_page({"a"}, hosts, {});
  EXPECT_FALSE(page.contains('\x1b')) << page.toStdString();
  EXPECT_TRUE(page.contains("BAD a, login: " + QString::fromStdString(shown) + '\n')) << page.toStdString();
}

/// With all that the table of a run that came to its end needs, each figure 100 µs.
nlohmann::json whole_summary() {
  nlohmann::json summary = {{"verdict", "clean"}, {"reasons", nlohmann::json::array()}};
  nlohmann::json figures = {{"count", 1000}, {"left_out", 50}};
  for (const char* column : {"mean", "mean_lowest_95", "p50", "p90", "p95", "p99", "p99_9", "max"}) figures[column] = 100.5;
  for (const char* row : {"latency_us", "latency_from_plan_us", "delay_ms", "lag_us"}) summary[row] = figures;
  for (const char* stage : {"lag_us", "to_broker_us", "in_queue_us", "to_receiver_us"}) summary["stages"][stage]["mean"] = 25;
  summary["rates"] = {{"sent_per_s", 1}, {"sent_bytes_per_s", 1}, {"received_per_s", 1}, {"received_bytes_per_s", 1}};
  nlohmann::json& ledger = summary["ledger"] = {{"expected", 1000}, {"planned", 1000}};
  for (const char* count : {"attempted",       "accepted",    "delivered",  "refused",    "lost_before_queue", "expired",  "unrequested",
                            "parked",          "cut_off",     "lost",       "duplicated", "parked_delivered",  "negative", "still_queued",
                            "unexplained",     "redelivered", "unexpected", "unasked",    "out_of_order",      "bad_checksum"})
    ledger["total"][count] = 0;
  summary["settings"] = {{"broker", {{"io", "epoll"}, {"spin_us", 0}}}, {"transport", "tcp"}};
  summary["environment"]["floor"] = {{"senders", {{"loopback_echo_p50_ns", 30'000}}}, {"receivers", {{"loopback_echo_p50_ns", 40'000}}}};
  return summary;
}

TEST(result_table, every_latency_near_the_floor_is_named_behind_its_row) {
  nlohmann::json summary = whole_summary();
  const auto row = [&summary](const QString& name) {
    for (const QString& line : result_table(summary, "/runs/1").split('\n')) {
      if (line.left(18).trimmed() == name) return line.section("  ", -1).trimmed();
    }
    return QString("no such row");
  };
  const QString below = QString::fromUtf8("below twice the floor, an echo over loopback (40.0 µs): ");
  EXPECT_EQ(row("latency"), "101") << "none is";
  summary["latency_us"]["mean_lowest_95"] = summary["latency_from_plan_us"]["p50"] = 79.9;
  summary["latency_from_plan_us"]["p90"] = 80;
  summary["lag_us"]["p50"] = summary["delay_ms"]["p50"] = summary["latency_us"]["left_out"] = 2;
  EXPECT_EQ(row("latency"), below + "lowest 95%") << "without the median";
  EXPECT_EQ(row("latency from plan"), below + "p50");
  summary["latency_us"]["p50"] = 60, summary["latency_us"]["bound_us"] = 70;
  EXPECT_EQ(row("latency"), below + "lowest 95%, p50");
  EXPECT_FALSE(row("lag").contains("floor")) << "a timer's is another";
  EXPECT_FALSE(row("delay").contains("floor"));
  summary["environment"].erase("floor");
  EXPECT_FALSE(result_table(summary, "/runs/1").contains("floor"));
}

TEST(result_table, what_is_less_than_what_the_clocks_leave_open_is_named_behind_its_row) {
  nlohmann::json summary = whole_summary();
  summary["environment"].erase("floor");
  summary["latency_us"].update({{"p99", 250}, {"p99_9", 300}, {"max", 400}, {"bound_us", 150}});
  summary["latency_from_plan_us"]["bound_us"] = 100;
  summary["stages"]["to_broker_us"]["bound_us"] = 30;
  summary["stages"]["to_receiver_us"]["bound_us"] = 20;
  QStringList lines = result_table(summary, "/runs/1").split('\n');
  const auto behind = [&lines](const char* name) {
    const QStringList rows = lines.filter(QRegularExpression("^" + QString(name)));
    return rows.size() == 1 ? rows[0].mid(rows[0].indexOf(QChar(0xB1))) : QString("no such row");
  };
  EXPECT_EQ(behind("latency +µs"), QString::fromUtf8("± 150, which is more than mean, lowest 95%, p50, p90, p95"));
  EXPECT_EQ(behind("latency from plan"), QString::fromUtf8("± 100")) << "none is";
  EXPECT_EQ(behind("stages, means"), QString::fromUtf8("± 30.0 (more than itself) + in queue 25.0 + to receiver 25.0 ± 20.0 µs"));

  // The same in a comparison: a line for each side that has such figures.
  std::vector<ComparedSide> sides;
  for (const char* folder : {"/runs/a", "/runs/b"}) {
    StoredRun run{.folder = folder, .summary = summary};
    if (sides.empty()) run.summary["latency_us"]["bound_us"] = run.summary["stages"]["to_broker_us"]["bound_us"] = 20;
    sides.push_back({.name = {}, .folder = folder, .runs = {run}, .left_out = {}});
  }
  lines = comparison_text(compare(sides)).split('\n').filter(QString::fromUtf8("less than its ±:"));
  EXPECT_EQ(lines, QStringList(QString::fromUtf8("  b, less than its ±: latency_us.mean_lowest_95, latency_us.mean, latency_us.p50, "
                                                 "latency_us.p90, stages.to_broker_us.mean")))
      << lines.join('\n').toStdString();

  // Nobody knows how much: nothing is said to be less.
  summary["latency_us"]["bound_us"] = summary["stages"]["to_broker_us"]["bound_us"] = nullptr;
  lines = result_table(summary, "/runs/1").split('\n');
  EXPECT_EQ(behind("latency +µs"), QString::fromUtf8("± ?"));
  EXPECT_EQ(behind("stages, means"), QString::fromUtf8("± ? + in queue 25.0 + to receiver 25.0 ± 20.0 µs"));
}

TEST(result_table, what_the_clocks_leave_open_is_never_shown_less_than_it_is) {
  nlohmann::json summary = whole_summary();
  summary["environment"].erase("floor");
  summary["latency_us"]["bound_us"] = 12.44;
  summary["stages"]["to_broker_us"] = {{"mean", 38.449}, {"bound_us", 12.48}};
  const QString table = result_table(summary, "/runs/1");
  EXPECT_TRUE(table.contains(QString::fromUtf8("  ± 12.5\n"))) << table.toStdString();
  EXPECT_TRUE(table.contains(QString::fromUtf8("to N2NQ 38.4 ± 12.6 +"))) << "with what 38.4 leaves out: " << table.toStdString();

  std::vector<ComparedSide> sides;
  for (const char* folder : {"/runs/a", "/runs/b"}) {
    sides.push_back({.name = {}, .folder = folder, .runs = {{.folder = folder, .summary = summary}}, .left_out = {}});
    summary["stages"]["to_broker_us"]["mean"] = 48.449;
  }
  const QString text = comparison_text(compare(sides));
  for (const char* cell : {"38.4 ± 12.6", "48.4 ± 12.6", "+10.0 ± 25.0"})
    EXPECT_TRUE(text.contains(QString::fromUtf8(cell))) << cell << ": " << text.toStdString();
}

TEST(result_table, small_figures_stand_apart_from_each_other) {
  nlohmann::json summary = whole_summary();
  for (const double delay_ms : {-0.0000123, -0.00000123, -1.23e-9}) {
    summary["delay_ms"]["count"] = 100;
    for (const char* column : {"mean", "mean_lowest_95", "p50", "p90", "p95", "p99", "p99_9", "max"})
      summary["delay_ms"][column] = delay_ms;
    const QStringList rows = result_table(summary, "/runs/1").split('\n').filter(QRegularExpression("^delay "));
    ASSERT_EQ(rows.size(), 1);
    EXPECT_EQ(rows[0].simplified().split(' ').size(), 12) << "name, unit, count and nine columns: " << rows[0].toStdString();
  }
}

TEST(result_table, numbers_are_written_for_people) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(125000), "125 000");
  EXPECT_EQ(grouped(-1234567), "-1 234 567");
  EXPECT_EQ(figure_text(0), "0.000");
  EXPECT_EQ(figure_text(0.5124), "0.512");
  EXPECT_EQ(figure_text(0.0124), "0.0124");
  EXPECT_EQ(figure_text(-0.000321), "-0.000321") << "a delay of 321 ns, in ms";
  EXPECT_EQ(figure_text(-0.0000321), "-0.0000321");
  EXPECT_EQ(figure_text(0.00000321), "3.21e-06");
  EXPECT_EQ(figure_text(-1.234e-12), "-1.23e-12");
  EXPECT_EQ(figure_text(0.9996), "1.00");
  EXPECT_EQ(figure_text(94.84), "94.8");
  EXPECT_EQ(figure_text(171.4), "171");
  EXPECT_EQ(figure_text(1402.4), "1 402");
  EXPECT_EQ(figure_text(std::nan("")), "–");
}

}  // namespace
}  // namespace n2nq::app
