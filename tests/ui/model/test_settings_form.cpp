// SPDX-License-Identifier: GPL-3.0-or-later
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include "ui/model/preset_choice.h"
#include "ui/model/settings_form.h"
#include "ui/text/figures.h"
#include "ui/window_memory.h"

namespace {

using namespace n2nq;

class TestSettingsForm : public QObject {
  Q_OBJECT
 private slots:
  void a_refused_text_keeps_the_last_good_value();
  void an_empty_text_is_refused_where_a_value_is_needed();
  void rules_between_keys_stand_beside_their_key();
  void what_has_no_effect_keeps_its_value_and_is_mended_all_the_same();
  void a_changed_preset_is_modified_until_it_is_saved();
  void a_name_that_presets_refuse_is_refused();
  void settings_of_a_run_that_are_changed_are_not_called_as_that_run();
  void settings_of_a_run_are_taken_up_as_the_preset_that_has_them();
  void nothing_is_saved_in_place_of_a_text_that_was_refused();
  void memory_gives_back_what_it_was_given();
  void figures_are_written_as_the_look_asks();
};

void TestSettingsForm::a_refused_text_keeps_the_last_good_value() {
  ui::SettingsForm form;
  QVERIFY(form.set(QStringLiteral("senders.amount"), QStringLiteral("7")));
  QVERIFY(!form.set(QStringLiteral("senders.amount"), QStringLiteral("many")));
  QCOMPARE(form.settings().senders.amount, 7);
  QCOMPARE(form.text(QStringLiteral("senders.amount")), QStringLiteral("many"));
  app::Settings scratch;
  const auto error = app::set_value(scratch, "senders.amount", "many");
  QCOMPARE(form.problem(QStringLiteral("senders.amount")), QString::fromStdString(error->message));
  QCOMPARE(form.first_problem_key(), QStringLiteral("senders.amount"));
  QVERIFY(form.set(QStringLiteral("senders.amount"), QStringLiteral("8")));
  QVERIFY(form.first_problem_key().isEmpty());
}

void TestSettingsForm::an_empty_text_is_refused_where_a_value_is_needed() {
  ui::SettingsForm form;
  QVERIFY(!form.set_needed(QStringLiteral("senders.messages"), QStringLiteral(" ")));
  QVERIFY(form.settings().senders.messages.has_value());
  QVERIFY(form.set(QStringLiteral("senders.messages"), QStringLiteral("none")));
  QVERIFY(!form.settings().senders.messages.has_value());
}

void TestSettingsForm::rules_between_keys_stand_beside_their_key() {
  ui::SettingsForm form;
  QVERIFY(form.set(QStringLiteral("limits.memory_mib"), QStringLiteral("8")));
  QVERIFY(form.first_problem_key().isEmpty());
  QVERIFY(form.set(QStringLiteral("limits.pending_mib"), QStringLiteral("9")));
  QVERIFY(!form.problem(QStringLiteral("limits.pending_mib")).isEmpty());
  QVERIFY(form.set(QStringLiteral("limits.pending_mib"), QStringLiteral("4")));
  QVERIFY(form.first_problem_key().isEmpty());
}

void TestSettingsForm::what_has_no_effect_keeps_its_value_and_is_mended_all_the_same() {
  ui::SettingsForm form;
  const QString window = QStringLiteral("responses.window"), responses = QStringLiteral("queue.responses");
  QVERIFY(form.without_effect(window).contains(QStringLiteral("Receiver responses are off")));
  QVERIFY(form.set(window, QStringLiteral("16")));
  QVERIFY(form.set(responses, QStringLiteral("true")));
  QCOMPARE(form.without_effect(window), QString());
  QCOMPARE(form.settings().responses.window, 16);
  QVERIFY(!form.set(window, QStringLiteral("wide")));
  QVERIFY(form.set(responses, QStringLiteral("false")));
  QCOMPARE(form.without_effect(window), QString());  // nothing starts until it is mended
  QVERIFY(form.set(window, QStringLiteral("17")));
  QVERIFY(!form.without_effect(window).isEmpty());
  form.set_lock_rule([](const QString&) { return QStringLiteral("the run goes on"); });
  QVERIFY2(form.closed(window).startsWith(QStringLiteral("Locked: the run goes on")), qPrintable(form.closed(window)));
}

void TestSettingsForm::a_changed_preset_is_modified_until_it_is_saved() {
  const QTemporaryDir folder;
  ui::SettingsForm form;
  ui::PresetChoice presets(form, app::Presets(folder.path()));
  QCOMPARE(presets.choose(QStringLiteral("quick")), QString());
  QVERIFY(!presets.is_modified());
  form.set(QStringLiteral("senders.amount"), QStringLiteral("3"));
  QVERIFY(presets.is_modified());
  form.set(QStringLiteral("senders.amount"), QStringLiteral("10"));
  QVERIFY(!presets.is_modified());
  form.set(QStringLiteral("senders.amount"), QStringLiteral("3"));
  QCOMPARE(presets.save_as(QStringLiteral("mine")), QString());
  QVERIFY(!presets.is_modified());
  QCOMPARE(presets.name(), QStringLiteral("mine"));

  ui::SettingsForm other;
  ui::PresetChoice again(other, app::Presets(folder.path()));
  QCOMPARE(again.choose(QStringLiteral("mine")), QString());
  QVERIFY(other.settings() == form.settings());
}

void TestSettingsForm::a_name_that_presets_refuse_is_refused() {
  const QTemporaryDir folder;
  ui::SettingsForm form;
  ui::PresetChoice presets(form, app::Presets(folder.path()));
  QVERIFY(presets.save_as(QStringLiteral("quick")).contains(QStringLiteral("another name")));
  QVERIFY(!presets.save_as(QStringLiteral("../out")).isEmpty());
  QVERIFY(!presets.choose(QStringLiteral("no-such")).isEmpty());
}

void TestSettingsForm::settings_of_a_run_that_are_changed_are_not_called_as_that_run() {
  const QTemporaryDir folder;
  ui::SettingsForm form;
  ui::PresetChoice presets(form, app::Presets(folder.path()));
  app::Settings of_run;
  of_run.title = "Quick look", of_run.description = "5 seconds";
  form.load(of_run);
  presets.restore(QString());
  QVERIFY(presets.settings_to_run() == of_run);
  QVERIFY(form.set(QStringLiteral("senders.amount"), QStringLiteral("7")));
  QCOMPARE(presets.settings_to_run().title, std::string("Quick look (modified)"));
  QCOMPARE(presets.settings_to_run().description, std::string());
}

void TestSettingsForm::settings_of_a_run_are_taken_up_as_the_preset_that_has_them() {
  const QTemporaryDir folder;
  ui::SettingsForm form;
  ui::PresetChoice presets(form, app::Presets(folder.path()));
  QCOMPARE(presets.choose(QStringLiteral("quick")), QString());
  app::Settings of_run = form.settings();
  QCOMPARE(presets.save_as(QStringLiteral("a twin")), QString());
  const app::Settings of_twin = form.settings();
  // Of two that are alike the one that the run was called after, else the first.
  presets.take_up(of_run);
  QCOMPARE(presets.name(), QStringLiteral("quick"));
  presets.take_up(of_twin);
  QCOMPARE(presets.name(), QStringLiteral("a twin"));
  of_run.title = "Somebody's own", of_run.description.clear();
  presets.take_up(of_run);
  QCOMPARE(presets.name(), QStringLiteral("quick"));
  QVERIFY(!presets.is_modified());
  QVERIFY(presets.settings_to_run() == form.settings());
  of_run.senders.amount = 3;
  presets.take_up(of_run);
  QCOMPARE(presets.name(), QString());
  QVERIFY(presets.settings_to_run() == of_run);
}

void TestSettingsForm::nothing_is_saved_in_place_of_a_text_that_was_refused() {
  const QTemporaryDir folder;
  ui::SettingsForm form;
  ui::PresetChoice presets(form, app::Presets(folder.path()));
  QCOMPARE(presets.choose(QStringLiteral("quick")), QString());
  const QString key = QStringLiteral("senders.amount");
  QVERIFY(!form.set(key, QStringLiteral("ten")));
  QCOMPARE(presets.save_as(QStringLiteral("mine")), ui::SettingsForm::label(key) + u' ' + form.problem(key));
  QCOMPARE(presets.name(), QStringLiteral("quick"));
  QVERIFY(!presets.choose(QStringLiteral("mine")).isEmpty());  // no file of that name was written
  QCOMPARE(form.text(key), QStringLiteral("ten"));
  QVERIFY(form.is_refused(key));
  QVERIFY(form.set(key, QStringLiteral("7")));
  QCOMPARE(presets.save_as(QStringLiteral("mine")), QString());
}

void TestSettingsForm::memory_gives_back_what_it_was_given() {
  const QTemporaryDir folder;
  const QString file = folder.filePath(QStringLiteral("memory.ini"));
  ui::SettingsForm form;
  const std::pair<const char*, const char*> values[] = {{"senders.messages", "none"},   {"senders.size_bytes", "[20, 100]"},
                                                        {"senders.rate_per_s", "12.5"}, {"queue.mode", "load-balancer"},
                                                        {"title", "A title"},           {"limits.drain_s", "2.5"}};
  for (const auto& [key, value] : values) QVERIFY(form.set(QString::fromLatin1(key), QString::fromLatin1(value)));
  {
    ui::WindowMemory memory(std::make_unique<QSettings>(file, QSettings::IniFormat));
    QVERIFY(memory.is_first_start());
    memory.set_settings(form.settings(), QStringLiteral("quick"));
    memory.set_theme(ui::ThemeChoice::dark);
  }
  ui::WindowMemory memory(std::make_unique<QSettings>(file, QSettings::IniFormat));
  QVERIFY(!memory.is_first_start());
  QVERIFY(memory.settings() == form.settings());
  QCOMPARE(memory.preset(), QStringLiteral("quick"));
  QVERIFY(memory.theme() == ui::ThemeChoice::dark);
}

void TestSettingsForm::figures_are_written_as_the_look_asks() {
  const QChar thin(0x202F);
  QCOMPARE(ui::count_text(125000), QStringLiteral("125") + thin + QStringLiteral("000"));
  QCOMPARE(ui::count_text(-1234567), QStringLiteral("-1") + thin + QStringLiteral("234") + thin + QStringLiteral("567"));
  QCOMPARE(ui::count_text(999), QStringLiteral("999"));
  QCOMPARE(ui::count_short(1'250'000), QStringLiteral("1.25") + thin + u'M');
  QCOMPARE(ui::fixed_text(app::unknown, 2), ui::dash());
  QCOMPARE(ui::time_figure(94.81).text(), QStringLiteral("94.8") + thin + QStringLiteral("µs"));
  QCOMPARE(ui::time_figure(2100).text(), QStringLiteral("2.10") + thin + QStringLiteral("ms"));
  QCOMPARE(ui::time_figure(0.5).text(), QStringLiteral("500") + thin + QStringLiteral("ns"));
  QCOMPARE(ui::time_figure(3'000'000).unit, QStringLiteral("s"));
  QCOMPARE(ui::time_figure(app::unknown).text(), ui::dash());
  QCOMPARE(ui::bytes_rate_text(250'000), QStringLiteral("250") + thin + QStringLiteral("kB/s"));
  QCOMPARE(ui::span_text(8.2), QStringLiteral("9 s"));
  QCOMPARE(ui::span_text(125), QStringLiteral("2 min 05 s"));
  QCOMPARE(ui::span_text(4320), QStringLiteral("1 h 12 min"));
}

}  // namespace

QTEST_GUILESS_MAIN(TestSettingsForm)
#include "test_settings_form.moc"
