// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cases/case_file.h"

#include <gtest/gtest.h>

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
            "c.yaml:19: scales.fast is not a key here; the nearest one is quick\n"
            "c.yaml:23: figures[1].x \"sizes\" is not an axis of this case; there are size, services, mode or delay\n"
            "c.yaml:24: figures[1].y \"latency_us.mean_lowest_59\" is no figure of a run (nearest: latency_us.mean_lowest_95)\n"
            "c.yaml:25: figures[1].where.mode \"broadcast\" is not a value of mode; the nearest one is \"broadcaster\"\n");
}

TEST(case_file, a_figure_holds_every_axis_that_it_does_not_show) {
  std::string text = small_case;
  text.replace(text.find("    where: { mode: broadcaster }\n"), 33, "");
  EXPECT_EQ(all_errors(text), "c.yaml:23: figures[1].where must hold axis mode at one value, or it must be x or one of the series\n");
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
