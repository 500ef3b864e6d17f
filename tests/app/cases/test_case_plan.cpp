// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cases/case_plan.h"

#include <gtest/gtest.h>

#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QTemporaryDir>
#include <algorithm>
#include <random>
#include <set>

#include "app/cases/case_hosts.h"
#include "app/cases/case_library.h"
#include "app/settings/settings_file.h"

namespace n2nq::app {
namespace {

CaseFile built_in(const std::string& name) {
  const LibraryCase found = CaseLibrary("/nowhere").load(name);
  EXPECT_TRUE(found.read.file) << (found.read.errors.empty() ? "" : found.read.errors.front().text());
  return found.read.file.value_or(CaseFile());
}

CasePlan plan_of(const CaseFile& file, const CaseChoice& choice) {
  QStringList errors;
  auto plan = CasePlan::make(file, choice, errors);
  EXPECT_TRUE(plan) << errors.join('\n').toStdString();
  return *plan;
}

const CaseHosts lab = {"n2nq-vm", "senders-vm", "receivers-vm"};

std::vector<const CasePoint*> points_with(const CasePlan& plan, const std::string& value) {
  std::vector<const CasePoint*> out;
  for (const CasePoint& point : plan.points()) {
    if (std::any_of(point.values.begin(), point.values.end(), [&](const CaseValue& each) { return each.name == value; }))
      out.push_back(&point);
  }
  return out;
}

TEST(case_library, has_the_seven_cases_and_every_figure_of_the_source) {
  const auto all = CaseLibrary("/nowhere").list();
  ASSERT_EQ(all.size(), 7u);
  std::set<std::string> figures;
  for (const LibraryCase& each : all) {
    ASSERT_TRUE(each.read.file) << each.name << ": " << each.read.errors.front().text();
    for (const CaseFigure& figure : each.read.file->figures) figures.insert(figure.id);
  }
  for (int figure = 13; figure <= 30; ++figure) EXPECT_TRUE(figures.contains("fig-" + std::to_string(figure))) << figure;
}

TEST(case_library, finds_a_case_by_number_name_and_both) {
  const CaseLibrary library("/nowhere");
  for (const char* name : {"3", "delay", "3-delay"}) EXPECT_EQ(library.load(name).name, "3-delay") << name;
  const LibraryCase none = library.load("dely");
  ASSERT_EQ(none.read.errors.size(), 1u);
  EXPECT_NE(none.read.errors.front().message.find("is not a test case (nearest: "), std::string::npos);
}

TEST(case_library, copies_nothing_that_is_no_case_files_text) {
  const QTemporaryDir place;
  const QString folder = place.filePath("cases"), large = folder + "/large.yaml";
  ASSERT_TRUE(QDir().mkpath(folder));
  QFile file(large);
  ASSERT_TRUE(file.open(QIODevice::WriteOnly) && file.resize(settings_file_bytes_max + 1));
  ASSERT_TRUE(QFile::link("/dev/zero", folder + "/zero.yaml"));
  const CaseLibrary library(folder);
  QString error;
  for (const auto& [name, why] : {std::pair("large", " is larger than 1048576 B: not a test case's file"),
                                  std::pair("zero", " cannot be read: it is a device, and no file")}) {
    const LibraryCase found = library.load(name);
    EXPECT_FALSE(found.read.file);
    EXPECT_EQ(library.copy(found, error), "");
    EXPECT_EQ(error, found.path + why);
  }
  EXPECT_EQ(QDir(folder).entryList(QDir::Files).size(), 2) << "no copy was begun";
  EXPECT_EQ(QFileInfo(library.copy(library.load("3-delay"), error)).fileName(), "delay.yaml") << error.toStdString();
}

TEST(case_library, puts_back_what_it_deleted_as_it_was_and_nothing_else) {
  const QTemporaryDir folder, elsewhere;
  const QString path = folder.filePath("mine.yaml"), linked = elsewhere.filePath("linked.yaml");
  const QByteArray text = "title: mine\n# as it was", other = "title: another one\n";
  const auto write = [](const QString& to, const QByteArray& bytes) {
    QFile file(to);
    return file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size();
  };
  const auto read = [&path] {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
  };
  // As of a file that nobody has changed for longer than deleted ones are kept.
  const auto make_old = [](const QString& of) {
    QFile file(of);
    return file.open(QIODevice::ReadWrite) && file.setFileTime(QDateTime::currentDateTime().addDays(-2), QFileDevice::FileModificationTime);
  };
  QString error;
  EXPECT_FALSE(CaseLibrary::remove(path, error));
  EXPECT_TRUE(error.contains(path)) << error.toStdString();
  ASSERT_TRUE(write(linked, text) && make_old(linked) && QFile::link(linked, path));
  const auto removed = CaseLibrary::remove(path, error);
  ASSERT_TRUE(removed) << error.toStdString();
  EXPECT_FALSE(QFile::exists(path));
  EXPECT_TRUE(CaseLibrary(folder.path()).list().back().built_in) << "what was deleted is in no list";
  ASSERT_TRUE(write(path, other) && make_old(path));
  const auto second = CaseLibrary::remove(path, error);
  ASSERT_TRUE(second) << error.toStdString();
  ASSERT_TRUE(write(path, other));
  EXPECT_TRUE(CaseLibrary::restore(*removed).contains("is there again"));
  EXPECT_EQ(read(), other);
  ASSERT_TRUE(QFile::remove(path));
  EXPECT_EQ(CaseLibrary::restore(*removed), "");
  EXPECT_EQ(read(), text);
  EXPECT_EQ(QFile::symLinkTarget(path), linked);
  ASSERT_TRUE(QFile::remove(path) && QFile::link("../" + QFileInfo(elsewhere.path()).fileName() + "/linked.yaml", path));
  const auto relative = CaseLibrary::remove(path, error);
  ASSERT_TRUE(relative) << error.toStdString();
  EXPECT_TRUE(CaseLibrary::can_be_restored(*relative));
  EXPECT_EQ(CaseLibrary::restore(*relative), "") << "though in the meantime it leads nowhere";
  EXPECT_EQ(read(), text);
  EXPECT_FALSE(CaseLibrary::can_be_restored(*relative));
  ASSERT_TRUE(QFile::remove(path) && QFile::link(linked, path));
  const auto link = CaseLibrary::remove(path, error);
  ASSERT_TRUE(link) << error.toStdString();
  const QFileInfo kept(link->kept);
  const QString long_ago = QString::number(QDateTime::currentDateTime().addDays(-2).toMSecsSinceEpoch());
  const QString old_one = kept.dir().filePath(long_ago + "-old.yaml"), no_case = kept.dir().filePath("what-a-person-put-there");
  ASSERT_TRUE(write(old_one, text) && write(no_case, text));
  CaseLibrary(folder.path()).forget_removed();
  EXPECT_FALSE(QFile::exists(old_one));
  EXPECT_TRUE(QFile::exists(no_case));
  EXPECT_EQ(CaseLibrary::restore(*link), "") << "a second window has begun";
  EXPECT_EQ(QFile::symLinkTarget(path), linked);
  ASSERT_TRUE(QFile::remove(path));
  EXPECT_EQ(CaseLibrary::restore(*second), "");
  const auto third = CaseLibrary::remove(path, error);
  ASSERT_TRUE(third) << error.toStdString();
  CaseLibrary(folder.path()).forget_removed(std::chrono::seconds(-1));
  EXPECT_NE(CaseLibrary::restore(*third), "");
  EXPECT_FALSE(CaseLibrary::can_be_restored(*third));
  EXPECT_TRUE(QFile::exists(linked));
}

TEST(case_library, deletes_from_a_folder_of_any_name_and_says_where_it_cannot) {
  const QTemporaryDir place;
  const QString folder = place.filePath("with%2Fand%3"), path = folder + "/mine.yaml", kept_in = folder + "/.deleted";
  ASSERT_TRUE(QDir().mkpath(folder));
  const auto make = [](const QString& file) { return QFile(file).open(QIODevice::WriteOnly); };
  ASSERT_TRUE(make(path) && make(kept_in));
  QString error;
  EXPECT_FALSE(CaseLibrary::remove(path, error));
  EXPECT_EQ(error, QString("Cannot delete %1: cannot make the folder %2").arg(path, kept_in));
  ASSERT_TRUE(QFile::remove(kept_in));
  const auto removed = CaseLibrary::remove(path, error);
  ASSERT_TRUE(removed) << error.toStdString();
  EXPECT_EQ(QFileInfo(removed->kept).path(), kept_in);
  EXPECT_EQ(CaseLibrary::restore(*removed), "");
}

TEST(case_library, says_where_it_does_not_list_all) {
  const QTemporaryDir folder;
  const auto make = [&folder](int number) {
    return QFile(folder.filePath(QString("c%1.yaml").arg(number, 4, 10, QChar('0')))).open(QIODevice::WriteOnly);
  };
  for (int i = 0; i < CaseLibrary::own_files_max; ++i) ASSERT_TRUE(make(i));
  const CaseLibrary library(folder.path());
  QString remark;
  const std::size_t all = library.list(&remark).size();
  EXPECT_EQ(remark, "");
  ASSERT_TRUE(make(CaseLibrary::own_files_max));
  EXPECT_EQ(library.list(&remark).size(), all);
  EXPECT_EQ(remark, folder.path() + " holds more than 500 test cases: the others are not listed.");
  EXPECT_TRUE(library.load("c0500").read.errors.front().message.ends_with(remark.toStdString())) << "it is among those";
}

TEST(case_plan, of_the_seven_can_be_run_at_every_scale_with_and_without_hosts) {
  double thesis_s = 0;
  for (const LibraryCase& each : CaseLibrary("/nowhere").list()) {
    for (const Scale scale : all_scales) {
      for (const bool hosts : {false, true}) {
        const CasePlan plan = plan_of(*each.read.file, {.scale = scale, .repeats = 1, .hosts = hosts ? std::optional(lab) : std::nullopt});
        EXPECT_GT(plan.runs_expected(), 0) << each.name;
        if (scale == Scale::quick) {
          EXPECT_LE(plan.seconds_expected(), 120) << each.name;
        }
        if (scale == Scale::thesis && hosts) thesis_s += plan.seconds_expected();
      }
    }
  }
  EXPECT_NEAR(thesis_s / 3600, 5, 0.3) << "about 5 hours at one repeat for all seven";
}

TEST(case_plan, later_axes_overrule_earlier_ones) {
  const CasePlan plan = plan_of(built_in("4"), {.scale = Scale::thesis});
  EXPECT_EQ(plan.points().size(), 66u);
  for (const CasePoint* point : points_with(plan, "senders")) EXPECT_EQ(point->settings.receivers.amount, 1);
  for (const CasePoint* point : points_with(plan, "receivers")) EXPECT_EQ(point->settings.senders.amount, 1);
  for (const CasePoint* point : points_with(plan, "both")) EXPECT_EQ(point->settings.senders.amount, point->settings.receivers.amount);
  EXPECT_EQ(plan.distinct_points().size(), 62u) << "one sender and one receiver is the same in all three sets: run once in each mode";
}

TEST(case_plan, places_services_on_the_hosts_given_for_the_case) {
  const CasePlan plan = plan_of(built_in("5"), {.scale = Scale::quick, .hosts = lab});
  for (const CasePoint* point : points_with(plan, "senders external")) {
    EXPECT_EQ(point->settings.broker.host, "n2nq-vm");
    EXPECT_EQ(point->settings.senders.host, "senders-vm");
    EXPECT_EQ(point->settings.receivers.host, "n2nq-vm");
    EXPECT_EQ(point->not_run, "");
  }
}

TEST(case_plan, without_hosts_runs_here_or_not_at_all) {
  const CasePlan delay = plan_of(built_in("3"), {.scale = Scale::quick});
  for (const CasePoint* point : points_with(delay, "external")) {
    EXPECT_TRUE(point->runs_here);
    EXPECT_EQ(point->settings.senders.host, "local");
    EXPECT_TRUE(point->label.contains(", external (here), ")) << point->label.toStdString();
    EXPECT_NE(point->settings.title.find("external (here)"), std::string::npos) << point->settings.title;
  }
  for (const CasePoint* point : points_with(delay, "internal")) EXPECT_FALSE(point->label.contains("here")) << point->label.toStdString();
  EXPECT_EQ(delay.distinct_points().size() * 2, delay.points().size()) << "internal and external are the same here: run once";

  const CasePlan location = plan_of(built_in("5"), {.scale = Scale::quick});
  for (const CasePoint* point : points_with(location, "both external")) {
    EXPECT_NE(point->not_run, "");
    EXPECT_FALSE(point->label.contains("here")) << point->label.toStdString();
  }
  for (const CasePoint* point : points_with(location, "both internal")) EXPECT_EQ(point->not_run, "");
  EXPECT_EQ(location.distinct_points().size(), 6u);
}

TEST(case_plan, asks_each_sender_by_one_receiver) {
  const CasePlan plan = plan_of(built_in("7"), {.scale = Scale::quick});
  for (const CasePoint* point : points_with(plan, "broadcaster, requests")) {
    ASSERT_TRUE(point->settings.queue.requests);
    const auto rules = rules_of(*point->settings.queue.requests, point->settings.receivers.amount);
    for (std::size_t i = 0; i < rules.size(); ++i) {
      ASSERT_EQ(rules[i].rules.size(), 1u);
      const int number = static_cast<int>(i) + 1;
      EXPECT_EQ(rules[i].rules[0].senders, (std::pair{number, number}));
    }
  }
}

/// Of all runs `settings`, on one axis `values` of senders and of receivers.
CaseFile small(const std::string& settings, const std::string& rest = "") {
  const ReadCase read = read_case_text("format: 1\ntitle: Small\nsettings: " + settings + R"(
axes:
  senders: { key: senders.amount, values: [1, 2, 5, 6] }
  receivers: { key: receivers.amount, values: [1, 2, 3, 8] }
figures:
  - { id: a, title: A, x: senders, y: latency_us.p50, series: receivers }
)" + rest,
                                       "small.yaml");
  EXPECT_TRUE(read.file) << (read.errors.empty() ? "" : read.errors.front().text());
  return read.file.value_or(CaseFile());
}

TEST(case_plan, of_pairs_is_read_back_from_its_runs_as_it_was_planned) {
  const CasePlan plan = plan_of(small("{ senders.messages: 4, queue.requests: pairs }"), {.scale = Scale::quick});
  ASSERT_EQ(plan.points().size(), 16u);
  for (const CasePoint& point : plan.points()) {
    ASSERT_TRUE(point.settings.queue.requests) << point.label.toStdString();
    EXPECT_EQ(point.settings.queue.requests->size(), static_cast<std::size_t>(point.settings.receivers.amount));
    const ReadSettings read = read_settings_text(settings_yaml(point.settings), "settings.yaml");
    ASSERT_TRUE(read.settings);
    EXPECT_EQ(settings_sha256(*read.settings), point.key) << point.label.toStdString();
  }
  const CaseFile off =
      small("{ senders.messages: 4, queue.requests: pairs }", "scales: { quick: { settings: { queue.requests: false } } }\n");
  const CasePlan without = plan_of(off, {.scale = Scale::quick});
  for (const CasePoint& point : without.points()) EXPECT_FALSE(point.settings.queue.requests);
}

TEST(case_plan, without_external_sets_has_no_use_for_hosts) {
  const CaseFile file = small("{ senders.messages: 4 }");
  EXPECT_FALSE(plan_of(file, {.scale = Scale::quick, .hosts = lab}).choice().hosts);
  EXPECT_EQ(plan_of(built_in("1"), {.scale = Scale::quick, .hosts = lab}).choice().hosts, lab);

  const QTemporaryDir folder;
  const HostBook book(folder.filePath("hosts.yaml"));
  const CaseHosts here = {"local", "local", "local"};
  QString problem;
  EXPECT_FALSE(hosts_for(file, here, book, problem));
  EXPECT_TRUE(problem.startsWith("the case has no external sets, ")) << problem.toStdString();
  EXPECT_EQ(hosts_for(built_in("1"), here, book, problem), here);
  EXPECT_FALSE(sets_hosts(file));
  const CaseFile by_settings = small("{ senders: { messages: 4, host: senders-vm } }");
  EXPECT_TRUE(sets_hosts(by_settings));
  EXPECT_FALSE(hosts_for(by_settings, here, book, problem)) << "they would be passed over";
}

TEST(case_plan, cuts_a_title_as_its_bytes_want_it) {
  CaseFile file = small("{ senders.messages: 4 }");
  file.title.clear();
  for (int letter = 0; letter < 51; ++letter) file.title += "\u0436";
  const CasePlan cyrillic = plan_of(file, {.scale = Scale::quick});
  EXPECT_EQ(cyrillic.points().front().settings.title, file.title.substr(0, 100));
  file.title = "a";
  for (int letter = 0; letter < 40; ++letter) file.title += "\U0001F680";
  const CasePlan rockets = plan_of(file, {.scale = Scale::quick});
  EXPECT_EQ(rockets.points().front().settings.title, file.title.substr(0, 97)) << "no letter is halved";
}

TEST(case_plan, shuffles_within_blocks_of_repeats_and_always_alike) {
  const CasePlan plan = plan_of(built_in("4"), {.scale = Scale::thesis, .repeats = 3});
  const auto runs = plan.runs(3);
  const std::size_t block = plan.distinct_points().size();
  ASSERT_EQ(runs.size(), 3 * block);
  std::vector<std::vector<std::size_t>> orders;
  std::set<std::string> identities;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    EXPECT_EQ(runs[i].repeat, static_cast<int>(i / block) + 1);
    identities.insert(runs[i].sha256);
    if (i % block == 0) orders.emplace_back();
    orders.back().push_back(runs[i].point);
  }
  EXPECT_EQ(identities.size(), runs.size()) << "each repeat has a seed of its own";
  EXPECT_NE(orders[0], plan.distinct_points());
  EXPECT_NE(orders[0], orders[1]);
  for (auto& order : orders) {
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, plan.distinct_points()) << "every point once in each block";
  }
  const auto again = plan.runs(3);
  for (std::size_t i = 0; i < runs.size(); ++i) EXPECT_EQ(runs[i].sha256, again[i].sha256);
}

TEST(case_plan, does_not_take_a_name_for_a_setting) {
  Settings settings;
  const std::string before = settings_sha256(settings);
  settings.title = "another";
  EXPECT_EQ(settings_sha256(settings), before);
  settings.senders.amount += 1;
  EXPECT_NE(settings_sha256(settings), before);
}

TEST(case_plan, warms_up_for_the_time_asked) {
  const CasePlan plan = plan_of(built_in("4"), {.scale = Scale::thesis, .repeats = 1, .warm_up_s = 1.2});
  EXPECT_EQ(plan.points().front().settings.senders.warmup_messages, 3) << "every 0.5 s";
}

TEST(case_plan, warms_up_for_a_time_only_where_there_is_a_plan) {
  QStringList errors;
  const CaseFile file = small("{ senders: { messages: 4, delay_ms: 0 } }");
  EXPECT_FALSE(CasePlan::make(file, {.scale = Scale::quick, .warm_up_s = 1}, errors));
  EXPECT_EQ(errors.value(0), "1, 1: warm_up_s needs a delay: without a plan seconds are not known; give senders.warmup_messages");
  const CaseFile counted = small("{ senders: { messages: 4, delay_ms: 0, warmup_messages: 3 } }");
  const CasePlan plan = plan_of(counted, {.scale = Scale::quick, .warm_up_s = 1});
  EXPECT_EQ(plan.points().front().settings.senders.warmup_messages, 3);
}

/// As slips of a hand and worse: letters changed, lines lost or doubled.
std::string spoilt(std::string text, std::mt19937& random) {
  const std::string_view letters = "abz09:-[]{},.#'\"\n \t&*!|>%@~";
  for (auto changes = random() % 4 + 1; changes > 0; --changes) {
    const std::size_t at = random() % text.size(), end = std::min(text.find('\n', at), text.size());
    switch (random() % 4) {
      case 0:
        text[at] = letters[random() % letters.size()];
        break;
      case 1:
        text.insert(at, 1, letters[random() % letters.size()]);
        break;
      case 2:
        text.erase(at, end - at);
        break;
      default:
        text.insert(end, text.substr(at, end - at));
    }
  }
  return text;
}

TEST(case_file, that_is_spoilt_anyhow_is_read_or_refused_with_a_reason) {
  std::mt19937 random(11);
  int read_ones = 0;
  for (const LibraryCase& each : CaseLibrary("/nowhere").list()) {
    for (int i = 0; i < 300; ++i) {
      const ReadCase read = read_case_text(spoilt(each.read.file->text, random), "spoilt.yaml");
      ASSERT_EQ(read.file.has_value(), read.errors.empty());
      for (const FileError& error : read.errors) ASSERT_FALSE(error.message.empty());
      if (!read.file || i % 3 != 0) continue;
      ++read_ones;
      QStringList errors;
      const auto plan = CasePlan::make(*read.file, {.scale = Scale::quick}, errors);
      ASSERT_EQ(plan.has_value(), errors.isEmpty());
    }
  }
  EXPECT_GT(read_ones, 20);
}

TEST(case_plan, has_no_axis_over_what_repeats_differ_in_and_no_knee_without_a_plan) {
  const auto errors_of = [](const std::string& text, Scale scale) {
    const ReadCase read = read_case_text("format: 1\ntitle: Small\n" + text, "small.yaml");
    EXPECT_TRUE(read.file) << read.errors.front().text();
    QStringList errors;
    EXPECT_FALSE(CasePlan::make(*read.file, {.scale = scale}, errors));
    return errors.value(0);
  };
  const std::string figures = "figures:\n  - { id: fig-1, title: Latency, x: a, y: latency_us.p50 }\n";
  EXPECT_EQ(errors_of("settings: { senders: { messages: 4 } }\naxes:\n  a: { key: seed, values: [1, 2] }\n" + figures, Scale::thesis),
            "1: seed is what repeats differ in: points that differ in it alone would share runs");
  EXPECT_EQ(errors_of("settings: { senders: { messages: 4, delay_ms: 0 } }\naxes:\n  a: { key: senders.amount, values: [1, 2] }\n"
                      "knee: { axis: a, from: 1, to: 4 }\n" + figures, Scale::stress),
            "1: a knee needs a delay: without a plan there is no latency from plan to find it by");
}

TEST(case_plan, says_which_point_cannot_be_run) {
  CaseFile file = built_in("1");
  file.base.limits.message_max_bytes = 2000;
  QStringList errors;
  EXPECT_FALSE(CasePlan::make(file, {.scale = Scale::quick}, errors));
  EXPECT_TRUE(errors.value(0).startsWith("external (here), 4 kB, 1: senders.size_bytes must be at most limits.message_max_bytes"))
      << errors.value(0).toStdString();
}

}  // namespace
}  // namespace n2nq::app
