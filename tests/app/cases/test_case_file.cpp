// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cases/case_file.h"

#include <gtest/gtest.h>

#include <QFile>
#include <QTemporaryDir>

#include "app/cases/case_plan.h"
#include "app/settings/whole_file.h"

namespace n2nq::app {
namespace {

const char* const small_case = R"(format: 1
title: Message size
base: quick
settings: { senders: { messages: 20 }, log: off }
axes:
  size:
    title: Message size
    key: senders.size_bytes
    unit: kB
    divide: 1000
    values: { quick: [100, 1000], thesis: [100, {from: 1000, to: 4000, step: 1000}] }
  services:
    keys: [senders.amount, receivers.amount]
    values: [1, 10]
  mode:
    values:
      - { name: broadcaster, set: { queue.mode: broadcaster } }
      - { name: load balancer, set: { queue: { mode: load-balancer, dispatch: next-free } } }
scales:
  quick: { settings: { senders.duration_s: 2 } }
  thesis: { repeats: 3 }
figures:
  - id: fig-14
    title: Impact of message size
    x: size
    y: latency_us.mean_lowest_95
    series: services
    where: { mode: broadcaster }
    known:
      - { text: "p. 43: rises with the size", x: 4, y: 120.5, series: "10" }
)";

std::string all_errors(std::string_view text) {
  std::string out;
  for (const auto& error : read_case_text(text, "c.yaml").errors) out += error.text() + "\n";
  return out;
}

TEST(case_file, says_a_sweep_in_words_of_settings) {
  const ReadCase read = read_case_text(small_case, "c.yaml");
  ASSERT_TRUE(read.file) << all_errors(small_case);
  const CaseFile& file = *read.file;
  EXPECT_EQ(file.base.senders.messages, 20);
  EXPECT_EQ(file.base.receivers.amount, 10) << "from the preset";
  ASSERT_EQ(file.axes.size(), 3u);
  const CaseAxis& size = file.axes[0];
  EXPECT_EQ(size.at(Scale::quick).size(), 2u);
  ASSERT_EQ(size.at(Scale::thesis).size(), 5u);
  EXPECT_EQ(size.at(Scale::stress).size(), 5u) << "as thesis, for want of its own";
  EXPECT_EQ(size.at(Scale::thesis)[0].name, "0.1 kB");
  EXPECT_EQ(size.at(Scale::thesis)[4].number, 4);
  EXPECT_EQ(size.at(Scale::thesis)[4].settings, (std::vector<CaseSetting>{{"senders.size_bytes", "4000"}}));
  EXPECT_EQ(file.axes[1].at(Scale::quick)[1].settings.size(), 2u) << "two settings move together";
  EXPECT_EQ(file.axes[2].at(Scale::quick)[1].settings, (std::vector<CaseSetting>{{"queue.mode", "load-balancer"}, {"queue.dispatch", "next-free"}}));
  EXPECT_EQ(file.at(Scale::thesis).repeats, 3);
  EXPECT_EQ(file.at(Scale::quick).settings.size(), 1u);
  EXPECT_EQ(file.figures[0].known[0].y, 120.5);
}

TEST(case_file, each_of_many_mistakes_is_told_by_line_and_key) {
  const std::string text = R"(format: 1
title: [a, b]
base: quik
repeat: 3
settings: { senders: { amout: 20 } }
axes:
  size:
    key: senders.sise_bytes
    values: [100, 1000]
  services:
    keys: [senders.amount, receivers.amount]
    values: [1, ten]
  mode:
    values:
      - { name: broadcaster, sett: { queue.mode: broadcaster } }
      - { name: fanout, set: { queue.mode: fanout } }
  delay: { key: senders.delay_ms, values: {from: 10, to: 5} }
  slow: { key: senders.delay_ms, divide: 1000, values: [100, 500] }
warm_up_s: long
scales:
  fast: { repeats: 1 }
figures:
  - id: fig-14
    title: Impact of message size
    x: sizes
    y: latency_us.mean_lowest_59
    where: { mode: broadcast }
)";
  EXPECT_EQ(all_errors(text),
            "c.yaml:2: title must be a text, not a list\n"
            "c.yaml:3: base is not a preset (nearest: quick); there are quick, thesis-baseline, many-services, placement-internal, "
            "placement-senders-external, placement-receivers-external or placement-external, and files are named with .yaml or a slash\n"
            "c.yaml:4: repeat is not a key here; the nearest one is repeats\n"
            "c.yaml:5: settings.senders.amout is not a setting; the nearest one is senders.amount\n"
            "c.yaml:8: axes.size.key \"senders.sise_bytes\" is not a setting; the nearest one is senders.size_bytes\n"
            "c.yaml:12: axes.services.values of senders.amount must be a whole number from 1 to 2000, not \"ten\"\n"
            "c.yaml:15: axes.mode.values.sett is not a key here; the nearest one is set\n"
            "c.yaml:16: axes.mode.values.set.queue.mode must be broadcaster or load-balancer, not \"fanout\"\n"
            "c.yaml:17: axes.delay.values must be a range that rises by a step, such as {from: 10, to: 100, step: 10}, of at most 200 values\n"
            "c.yaml:18: axes.slow.unit is missing: its values are shown over 1000; say as what, such as unit: kB\n"
            "c.yaml:19: warm_up_s must be a number from 0 to 3600, not \"long\"\n"
            "c.yaml:21: scales.fast is not a key here; the nearest one is quick\n"
            "c.yaml:25: figures[1].x \"sizes\" is not an axis of this case; there are size, services, mode, delay or slow\n"
            "c.yaml:26: figures[1].y \"latency_us.mean_lowest_59\" is no figure of a run (nearest: latency_us.mean_lowest_95)\n"
            "c.yaml:27: figures[1].where.mode \"broadcast\" is not a value of mode; the nearest one is \"broadcaster\"\n");
}

TEST(case_file, a_figure_holds_every_axis_that_it_does_not_show) {
  std::string text = small_case;
  text.replace(text.find("    where: { mode: broadcaster }\n"), 33, "");
  EXPECT_EQ(all_errors(text), "c.yaml:23: figures[1].where must hold axis mode at one value, or it must be x or one of the series\n");
}

TEST(case_file, what_would_not_be_heeded_is_a_mistake) {
  const auto with = [&](const std::string& part, const std::string& other) {
    std::string text = small_case;
    return all_errors(text.replace(text.find(part), part.size(), other));
  };
  EXPECT_EQ(with("thesis: [100, {from: 1000, to: 4000, step: 1000}]", "thesis: [{name: mixed, value: [20, 100]}, {name: none, value: }]"),
            "c.yaml:11: axes.size.values.thesis.value must be one value, such as 50 or \"[20, 100]\"\n"
            "c.yaml:11: axes.size.values.thesis.value must be one value, such as 50 or \"[20, 100]\"\n");
  EXPECT_EQ(with("thesis: [100, {from: 1000, to: 4000, step: 1000}]", "thesis: [[20, 100]]"),
            "c.yaml:11: axes.size.values.thesis has an entry that is neither a value, nor a range, nor {name: …, set: …}; a range of sizes "
            "stands in quotes: \"[20, 100]\"\n");
  EXPECT_EQ(with("{from: 1000, to: 4000, step: 1000}", "\"[20, 100]\""), "");
  EXPECT_EQ(with("{ messages: 20 }", "{ messages: 20, delay_ms: 5, duration_s: 5 }"),
            "c.yaml:4: settings.senders.duration_s excludes senders.messages (line 4): keep one of them\n");
  EXPECT_EQ(with("{ messages: 20 }", "{ messages: 20, duration_s: none }"), "");
  EXPECT_EQ(with("log: off", "senders.messages: 5"),
            "c.yaml:4: settings.senders.messages stands twice, first in line 4; keep one of them\n");
  EXPECT_EQ(with("    y: latency_us.mean_lowest_95\n", "    kind: percentiles\n    y: latency_us.p50\n"),
            "c.yaml:23: figures[1].x has no place in a figure of percentiles: they lie along it\n"
            "c.yaml:23: figures[1].y has no place in a figure of percentiles: it draws the latency's\n");
  for (const std::string id : {"runs", "latency-us-p50"}) {
    const std::string said = with("id: fig-14", "id: " + id);
    const std::string wanted = ": figures[1].id \"" + id + "\" is what reports call a table or figure of their own: choose another word, such as fig-14\n";
    EXPECT_TRUE(said.ends_with(wanted)) << said;
  }
}

TEST(case_file, what_an_earlier_version_passed_over_is_no_mistake_in_a_folder_that_was_begun) {
  std::string text = small_case;
  const auto replace = [&text](const std::string& part, const std::string& other) { text.replace(text.find(part), part.size(), other); };
  replace("id: fig-14", "id: runs");
  replace("{ messages: 20 }", "{ messages: 20, duration_s: 5, delay_ms: 0 }");
  EXPECT_FALSE(read_case_text(text, "c.yaml").file);
  const ReadCase read = read_case_text(text, "c.yaml", {}, CaseText::begun);
  ASSERT_TRUE(read.file) << read.errors.front().text();
  QStringList errors;
  EXPECT_TRUE(CasePlan::make(*read.file, {.scale = Scale::quick, .warm_up_s = 1}, errors)) << errors.join('\n').toStdString();
}

TEST(case_file, an_axis_has_200_values_at_most) {
  const auto with = [](const char* range) {
    std::string text = small_case;
    return all_errors(text.replace(text.find("[1, 10]"), 7, range));
  };
  EXPECT_EQ(with("{ from: 1, to: 200, step: 1 }"), "");
  EXPECT_EQ(with("{ from: 1, to: 201, step: 1 }"),
            "c.yaml:14: axes.services.values must be a range that rises by a step, such as {from: 10, to: 100, step: 10}, of at most 200 "
            "values\n");
}

TEST(case_file, finds_its_base_beside_itself_and_tells_its_mistakes_by_line) {
  const QTemporaryDir folder;
  const QString base = folder.filePath("lab.yaml"), path = folder.filePath("c.yaml");
  std::string text = small_case;
  text.replace(text.find("base: quick"), 11, "base: lab.yaml");
  ASSERT_EQ(write_whole(path, QByteArray::fromStdString(text)), "");
  ASSERT_EQ(write_whole(base, "format: 1\nreceivers: { amount: 7 }\n"), "");
  const ReadCase read = read_case_file(path.toStdString());
  ASSERT_TRUE(read.file);
  EXPECT_EQ(read.file->base.receivers.amount, 7);
  EXPECT_EQ(read.file->named_base->senders.messages, Settings().senders.messages) << "without the case's own settings";

  ASSERT_EQ(write_whole(base, "format: 1\nreceivers: { amount: none }\nloog: off\n"), "");
  std::string errors;
  for (const FileError& error : read_case_file(path.toStdString()).errors) errors += error.text() + "\n";
  const std::string in_base = path.toStdString() + ":3: base is wrong: " + base.toStdString();
  EXPECT_EQ(errors, in_base + ":2: receivers.amount must be a whole number from 1 to 2000, not \"none\"\n" + in_base +
                        ":3: loog is not a setting; the nearest one is log\n");

  ASSERT_TRUE(QFile::remove(base));
  const ReadCase gone = read_case_file(path.toStdString());
  ASSERT_EQ(gone.errors.size(), 1u);
  EXPECT_EQ(gone.errors[0].text(), in_base + ": cannot be read: No such file or directory");
}

TEST(case_file, newer_formats_are_refused) {
  EXPECT_EQ(all_errors("format: 2\n"), "c.yaml:1: format is 2, but this version reads up to format 1: the file is for a newer n2nq-bench\n");
  EXPECT_EQ(all_errors("title: x\n"), "c.yaml: format is missing: the file must say \"format: 1\"\n");
  EXPECT_EQ(all_errors("format: 1\n"), "c.yaml: title is missing\nc.yaml: axes is missing\nc.yaml: figures is missing\n");
  EXPECT_EQ(all_errors("format: 1\ntitle: {\n").substr(0, 23), "c.yaml:3: is not YAML: ");
  EXPECT_TRUE(all_errors("format: 1\n---\ntitle: x\n").starts_with("c.yaml:3: begins another document"));
}

}  // namespace
}  // namespace n2nq::app
