// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/settings/presets.h"

#include <gtest/gtest.h>

#include <QFile>
#include <QFileInfo>
#include <QTemporaryDir>
#include <algorithm>

namespace n2nq::app {
namespace {

struct PresetsTest : testing::Test {
  QTemporaryDir folder;
  Presets presets{folder.filePath("presets")};

  bool listed(const std::string& name) const {
    const auto all = presets.list();
    return std::any_of(all.begin(), all.end(), [&](const Preset& preset) { return preset.name == name; });
  }
};

TEST_F(PresetsTest, built_in_ones_can_all_be_run) {
  const auto all = presets.list();
  ASSERT_EQ(all.size(), 7u);
  for (const Preset& preset : all) {
    EXPECT_TRUE(preset.built_in);
    const auto read = presets.load(preset.name);
    ASSERT_TRUE(read.settings) << preset.description;
    EXPECT_TRUE(validate(*read.settings).empty()) << preset.name;
    EXPECT_FALSE(preset.title.empty());
    EXPECT_FALSE(preset.description.empty());
  }
}

TEST_F(PresetsTest, built_in_ones_are_what_their_names_say) {
  const auto quick = *presets.load("quick").settings;
  EXPECT_EQ(quick.senders.amount, 10);
  EXPECT_EQ(quick.receivers.amount, 10);
  EXPECT_NEAR(*quick.planned_duration_s(), 5, 0.5);
  const auto thesis = *presets.load("thesis-baseline").settings;
  EXPECT_EQ(thesis.planned_messages(), 2500);
  EXPECT_EQ(thesis.copies(), 50);
  EXPECT_EQ(thesis.queue.remove, RemoveRule::after_time);
  EXPECT_EQ(thesis.queue.retention_s, 5);
  EXPECT_EQ(thesis.interval(), (Interval{500'000'000, 1}));
  EXPECT_EQ(thesis.senders.size_max_bytes, 50);
  const auto many = *presets.load("many-services").settings;
  EXPECT_EQ(many.senders.amount, 200);
  EXPECT_EQ(many.receivers.amount, 200);
}

TEST_F(PresetsTest, placements_differ_in_nothing_but_where_things_run) {
  Settings baseline = *presets.load("thesis-baseline").settings;
  const auto check = [&](const char* name, const char* senders, const char* receivers) {
    Settings placed = *presets.load(name).settings;
    EXPECT_EQ(placed.broker.host, "n2nq-vm") << name;
    EXPECT_EQ(placed.senders.host, senders) << name;
    EXPECT_EQ(placed.receivers.host, receivers) << name;
    placed.title = baseline.title;
    placed.description = baseline.description;
    placed.broker.host = placed.senders.host = placed.receivers.host = "local";
    EXPECT_EQ(placed, baseline) << name;
  };
  check("placement-internal", "n2nq-vm", "n2nq-vm");
  check("placement-senders-external", "senders-vm", "n2nq-vm");
  check("placement-receivers-external", "n2nq-vm", "receivers-vm");
  check("placement-external", "senders-vm", "receivers-vm");
}

TEST_F(PresetsTest, the_thesis_preset_is_not_held_back_by_the_memory_budget) {
  for (const auto& remark : remarks(*presets.load("thesis-baseline").settings))
    EXPECT_EQ(remark.find("hold the senders back"), std::string::npos);
}

TEST_F(PresetsTest, a_run_of_other_settings_says_that_and_nothing_that_is_true_of_the_preset_alone) {
  const Settings preset = *presets.load("quick").settings;
  EXPECT_EQ(named_as_modified(preset, preset), preset);
  Settings longer = preset;
  longer.senders.messages = 600;
  const Settings named = named_as_modified(longer, preset);
  EXPECT_EQ(named.title, "Quick look (modified)");
  EXPECT_EQ(named.description, "");
  EXPECT_EQ(named.senders.messages, 600);
  Settings again = named;
  again.senders.amount = 3;
  EXPECT_EQ(named_as_modified(again, named).title, "Quick look (modified)") << "what such a run left, changed once more";
  longer.title = "Mine";
  longer.description = "What I want to know.";
  EXPECT_EQ(named_as_modified(longer, preset), longer) << "somebody's own words";
  Settings renamed = preset;
  renamed.title = "Mine";
  EXPECT_EQ(named_as_modified(renamed, preset), renamed) << "what it says of the settings is true";
  Settings unnamed = preset;
  unnamed.title.clear();
  Settings changed = unnamed;
  changed.senders.amount = 3;
  EXPECT_EQ(named_as_modified(changed, unnamed).title, "");
}

TEST_F(PresetsTest, a_title_that_is_as_long_as_may_be_keeps_whole_letters_before_what_is_added) {
  Settings preset, changed;
  for (int i = 0; i < 50; ++i) preset.title += "ö";
  changed = preset;
  changed.senders.amount = 3;
  EXPECT_EQ(named_as_modified(changed, preset).title, preset.title.substr(0, 88) + " (modified)");
}

TEST_F(PresetsTest, a_saved_one_is_listed_loaded_and_removed) {
  Settings settings;
  settings.title = "Mine";
  settings.senders.amount = 3;
  ASSERT_FALSE(presets.save("mine", settings));
  EXPECT_TRUE(listed("mine"));
  EXPECT_EQ(presets.load("mine").settings, settings);
  settings.senders.amount = 4;
  ASSERT_FALSE(presets.save("mine", settings)) << "saving again replaces it";
  EXPECT_EQ(presets.load("mine").settings, settings);
  ASSERT_FALSE(presets.remove("mine"));
  EXPECT_FALSE(listed("mine"));
  EXPECT_TRUE(presets.remove("mine"));
}

TEST_F(PresetsTest, settings_have_the_name_of_the_preset_that_they_equal) {
  Settings settings = *presets.load("quick").settings;
  EXPECT_EQ(presets.name_of(settings), "quick");
  settings.title = "Mine";
  settings.description.clear();
  EXPECT_EQ(presets.name_of(settings), "quick");
  ASSERT_FALSE(presets.save("mine", settings));
  EXPECT_EQ(presets.name_of(settings), "mine") << "is called so";
  settings.title = "Theirs";
  EXPECT_EQ(presets.name_of(settings), "quick") << "the first";
  settings.senders.amount = 3;
  EXPECT_EQ(presets.name_of(settings), "");
}

TEST_F(PresetsTest, one_that_is_a_link_stays_one_and_what_it_leads_to_is_saved) {
  ASSERT_FALSE(presets.save("mine", {}));
  const QString link = folder.filePath("presets/mine.yaml"), kept = folder.filePath("kept.yaml");
  ASSERT_TRUE(QFile::rename(link, kept) && QFile::link("../kept.yaml", link));
  Settings settings;
  settings.seed = 4711;
  ASSERT_FALSE(presets.save("mine", settings));
  EXPECT_TRUE(QFileInfo(link).isSymLink());
  EXPECT_FALSE(QFileInfo(kept).isSymLink());
  EXPECT_EQ(presets.load(kept.toStdString()).settings->seed, 4711u);
}

TEST_F(PresetsTest, bad_names_are_refused) {
  for (const char* name : {"", ".hidden", "a/b", "../up", " space before", "space behind ", "tab\there", "quick"})
    EXPECT_TRUE(presets.save(name, {})) << name;
  EXPECT_TRUE(presets.remove("thesis-baseline"));
}

TEST_F(PresetsTest, an_unknown_name_is_answered_with_the_nearest) {
  const auto read = presets.load("quik");
  ASSERT_EQ(read.errors.size(), 1u);
  EXPECT_EQ(read.errors[0].text(),
            "quik: is not a preset (nearest: quick); there are quick, thesis-baseline, many-services, placement-internal, "
            "placement-senders-external, placement-receivers-external or placement-external, and files are named with .yaml or a slash");
}

TEST_F(PresetsTest, a_path_is_read_as_a_file) {
  QFile file(folder.filePath("some.yaml"));
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write("format: 1\nseed: 77\n");
  file.close();
  EXPECT_EQ(presets.load(file.fileName().toStdString()).settings->seed, 77u);
}

TEST_F(PresetsTest, a_saved_file_that_cannot_be_read_is_listed_with_its_error) {
  ASSERT_FALSE(presets.save("broken", {}));
  QFile file(folder.filePath("presets/broken.yaml"));
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write("format: 1\nsed: 77\n");
  file.close();
  EXPECT_NE(presets.list().back().description.find("broken.yaml:2: sed is not a setting"), std::string::npos);
}

}  // namespace
}  // namespace n2nq::app
