// SPDX-License-Identifier: GPL-3.0-or-later
// Renders every page of the window in both themes and two sizes to PNG files: idle, with a run going on, finished; and the page that shows
// it in trouble, with a ledger, with requests.
//
//   render_pages [FOLDER [PRESET]]     the folder is made; default: rendered, beside the program
#include <signal.h>

#include <QAbstractButton>
#include <QApplication>
#include <QCheckBox>
#include <QDir>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QScreen>
#include <QTest>
#include <cstdio>

#include "app/control/fault.h"
#include "tests/ui/support/bench_window.h"
#include "tests/ui/support/page_pictures.h"
#include "ui/card/charts_card.h"
#include "ui/card/ledger_panel.h"
#include "ui/dialog/host_dialog.h"
#include "ui/dialog/host_key_dialog.h"
#include "ui/dialog/import_dialog.h"
#include "ui/dialog/secrets_dialog.h"
#include "ui/page/bench_page.h"
#include "ui/widget/save_as_dialog.h"
#include "ui/widget/service_table.h"

namespace {

using n2nq::ui_test::BenchWindow;

constexpr auto& sizes = n2nq::ui_test::picture_sizes;
constexpr QSize middle_sizes[] = {{1440, 900}, {1280, 800}};

class Renderer {
 public:
  explicit Renderer(QString folder) : folder_(std::move(folder)) { QDir().mkpath(folder_); }

  bool failed() const { return failed_; }

  void save(QWidget& widget, const QString& name) {
    QApplication::processEvents();
    const QString path = QStringLiteral("%1/%2.png").arg(folder_, name);
    if (!widget.grab().save(path)) {
      std::fprintf(stderr, "cannot write %s\n", qPrintable(path));
      failed_ = true;
    }
  }

  /// The window with what is open above it; only where the display can be read back.
  void save_screen(BenchWindow& bench, QWidget& above, const QString& name) {
    if (!QTest::qWaitForWindowExposed(&above, n2nq::ui_test::deadline_ms)) return;
    QApplication::processEvents();
    const QPixmap all = bench.window().screen()->grabWindow(0);
    if (!all.isNull()) all.copy(bench.window().geometry()).save(QStringLiteral("%1/%2.png").arg(folder_, name));
  }

  /// Every page, both themes, all sizes; `what`: idle, running, finished.
  void save_all(BenchWindow& bench, const QString& what) { save_pages(bench, what, {}); }

  /// Of what the other pages do not show.
  void save_bench_page(BenchWindow& bench, const QString& what) { save_pages(bench, what, {QStringLiteral("Bench")}); }

  /// Of no `pages`: of all that there are at each size, since a low window has one more.
  void save_pages(BenchWindow& bench, const QString& what, const QStringList& pages) {
    for (const bool dark : {false, true}) {
      bench.window().theme().choose(dark ? n2nq::ui::ThemeChoice::dark : n2nq::ui::ThemeChoice::light);
      for (const QSize& size : sizes) {
        bench.window().resize(size);
        for (const QString& page : pages.isEmpty() ? bench.window().page_names() : pages) {
          bench.window().show_page(page);
          settle(bench);
          save(bench.window(), name_of(page, what, dark, size));
        }
        bench.window().show_page(QStringLiteral("Bench"));
      }
    }
    bench.window().theme().choose(n2nq::ui::ThemeChoice::light);
  }

  void save_bench(BenchWindow& bench, const QString& what, const QSize& size, const QString& page = QStringLiteral("Bench")) {
    bench.window().resize(size);
    settle(bench);
    save(bench.window(), name_of(page, what, bench.window().theme().is_dark(), size));
  }

 private:
  /// Lets what came into sight be asked for and be answered.
  static void settle(BenchWindow& bench) {
    constexpr std::uint64_t rounds = 3;
    constexpr int patience_ms = 1000;
    const std::uint64_t until = bench.run().figures().round + rounds;
    if (bench.run().state() != n2nq::app::RunState::running) return;
    BenchWindow::wait_for([&] { return bench.run().figures().round >= until || bench.run().state() != n2nq::app::RunState::running; },
                          patience_ms);
  }

  static QString name_of(const QString& page, const QString& what, bool dark, const QSize& size) {
    return QStringLiteral("%1-%2-%3-%4x%5")
        .arg(page.toLower(), what, dark ? QStringLiteral("dark") : QStringLiteral("light"))
        .arg(size.width())
        .arg(size.height());
  }

  QString folder_;
  bool failed_ = false;
};

bool render_run(Renderer& renderer, const QString& preset) {
  BenchWindow bench;
  bench.window().presets().choose(preset);
  renderer.save_all(bench, QStringLiteral("idle"));
  if (!bench.click(QStringLiteral("button_start_all"))) return false;
  constexpr double seconds_shown = 10;
  const bool ran = BenchWindow::wait_for([&] {
    return bench.run().state() == n2nq::app::RunState::finished ||
           (bench.run().state() == n2nq::app::RunState::running && bench.run().figures().t_s > seconds_shown);
  });
  if (!ran) return false;
  for (const QSize& size : middle_sizes) renderer.save_bench(bench, QStringLiteral("running"), size);
  renderer.save_all(bench, QStringLiteral("running"));
  bench.window().resize(sizes[1]);
  if (auto* log = bench.window().run_logs().open(n2nq::app::Role::receivers, 7)) {
    BenchWindow::wait_for([&] { return !log->text().isEmpty(); });
    renderer.save(*log, QStringLiteral("log-running-light"));
    log->close();
  }
  if (!bench.wait_for_state(n2nq::app::RunState::finished)) return false;
  for (const QSize& size : middle_sizes) renderer.save_bench(bench, QStringLiteral("finished"), size);
  renderer.save_all(bench, QStringLiteral("finished"));
  return true;
}

/// Processes that wait, a run without an end, a chart that is read and one with a logarithmic axis.
bool render_waiting(Renderer& renderer) {
  BenchWindow bench;
  bench.window().theme().choose(n2nq::ui::ThemeChoice::light);
  bench.window().presets().choose(QStringLiteral("quick"));
  bench.set({{"senders.messages", "none"}, {"senders.delay_ms", "20"}});
  bench.window().resize(sizes[0]);
  if (!bench.click(QStringLiteral("button_senders"))) return false;
  const auto waits = [&] { return bench.run().process(n2nq::app::Role::senders).state == n2nq::app::ProcessState::waiting; };
  if (!BenchWindow::wait_for(waits)) return false;
  renderer.save_bench(bench, QStringLiteral("waiting"), sizes[0]);
  if (!bench.click(QStringLiteral("button_start_all"))) return false;
  constexpr double seconds_shown = 8;
  if (!BenchWindow::wait_for([&] { return bench.run().figures().t_s > seconds_shown; })) return false;
  bench.window().resize(middle_sizes[1]);
  bench.click(QStringLiteral("button_log_axis"));
  auto* charts = bench.window().bench_page()->charts();
  charts->latency_chart()->set_reading(seconds_shown / 2);
  charts->rate_chart()->set_reading(seconds_shown / 2);
  renderer.save_bench(bench, QStringLiteral("reading"), middle_sizes[1]);
  bench.window().theme().choose(n2nq::ui::ThemeChoice::dark);
  renderer.save_bench(bench, QStringLiteral("reading"), middle_sizes[1]);
  bench.click(QStringLiteral("button_stop_all"));
  if (!bench.wait_for_state(n2nq::app::RunState::finished)) return false;
  bench.window().theme().choose(n2nq::ui::ThemeChoice::light);
  renderer.save_bench(bench, QStringLiteral("stopped"), sizes[0]);
  return true;
}

/// What opens above the pages.
void render_popups(Renderer& renderer) {
  BenchWindow bench;
  for (const bool dark : {false, true}) {
    const QString theme = dark ? QStringLiteral("dark") : QStringLiteral("light");
    bench.window().theme().choose(dark ? n2nq::ui::ThemeChoice::dark : n2nq::ui::ThemeChoice::light);
    n2nq::ui::SaveAsDialog dialog(bench.window().presets(), &bench.window());
    dialog.findChild<QLineEdit*>(QStringLiteral("preset_name"))->setText(QStringLiteral("a/b"));
    dialog.accept();
    dialog.show();
    renderer.save(dialog, QStringLiteral("save-as-") + theme);
    auto* menu = bench.find<QPushButton>(QStringLiteral("button_menu"))->menu();
    menu->popup({});
    renderer.save(*menu, QStringLiteral("menu-") + theme);
    menu->close();
    auto* presets = bench.find<QPushButton>(QStringLiteral("button_preset"))->menu();
    presets->popup({});
    renderer.save(*presets, QStringLiteral("presets-") + theme);
    presets->close();
  }
}

/// Responses and requests on, a request made while messages flow, the receivers killed and started again: the pages of it.
bool render_semantics(Renderer& renderer, const QString& preset) {
  BenchWindow bench;
  bench.window().theme().choose(n2nq::ui::ThemeChoice::light);
  bench.window().presets().choose(preset);
  bench.set({{"senders.size_bytes", "[20, 200]"}, {"senders.duration_s", "25"}});  // longer than all that is done to it takes
  bench.window().resize(middle_sizes[0]);
  bench.click(QStringLiteral("field_queue_responses"));
  bench.click(QStringLiteral("field_queue_requests"));
  bench.type(QStringLiteral("request_receivers"), QStringLiteral("R1-R5"));
  bench.type(QStringLiteral("request_senders"), QStringLiteral("S1-S10"));
  bench.type(QStringLiteral("request_sizes"), QStringLiteral("20-100"));
  bench.click(QStringLiteral("button_make_request"));
  bench.type(QStringLiteral("request_receivers"), QStringLiteral("R6-R8"));
  bench.type(QStringLiteral("request_senders"), QStringLiteral("none"));
  bench.click(QStringLiteral("button_make_request"));
  renderer.save_bench_page(bench, QStringLiteral("requests-idle"));
  bench.window().resize(middle_sizes[0]);
  if (!bench.click(QStringLiteral("button_start_all"))) return false;
  const auto at = [&](double t_s) { return BenchWindow::wait_for([&] { return bench.run().figures().t_s > t_s; }); };
  if (!at(4)) return false;
  bench.type(QStringLiteral("request_receivers"), QStringLiteral("R6-R8"));
  bench.type(QStringLiteral("request_senders"), QStringLiteral("any"));
  bench.click(QStringLiteral("button_make_request"));
  bench.click(QStringLiteral("view_requests"));
  if (!at(6)) return false;
  renderer.save_bench(bench, QStringLiteral("requests"), middle_sizes[0]);
  using n2nq::app::FaultKind;
  bench.run().make_fault({FaultKind::kill, n2nq::app::Role::receivers, 0});
  const auto state = [&] { return bench.run().process(n2nq::app::Role::receivers).state; };
  if (!BenchWindow::wait_for([&] { return state() == n2nq::app::ProcessState::died; }) || !at(7)) return false;
  bench.click(QStringLiteral("tab_run"));
  for (const QSize& size : {middle_sizes[0], sizes[0]}) renderer.save_bench(bench, QStringLiteral("killed"), size);
  bench.window().resize(middle_sizes[0]);
  if (!bench.click(QStringLiteral("button_receivers"))) return false;
  if (!BenchWindow::wait_for([&] { return state() == n2nq::app::ProcessState::running; }) || !at(9)) return false;
  bench.click(QStringLiteral("view_deliveries"));
  bench.find<n2nq::ui::ServiceTable>(QStringLiteral("receivers_table"))->selectRow(2);
  auto* faults = bench.find<QPushButton>(QStringLiteral("button_faults_receivers"))->menu();
  auto* faults_button = bench.find<QPushButton>(QStringLiteral("button_faults_receivers"));
  faults->popup(faults_button->mapToGlobal(QPoint(0, faults_button->height())));
  renderer.save(*faults, QStringLiteral("faults-menu-light"));
  renderer.save_screen(bench, *faults, QStringLiteral("faults-light"));
  faults->close();
  renderer.save_bench(bench, QStringLiteral("responses"), middle_sizes[0]);
  bench.run().make_fault({FaultKind::disconnect, n2nq::app::Role::receivers, 3});
  bench.run().make_fault({FaultKind::pause, n2nq::app::Role::senders, 0});
  if (!at(10)) return false;
  renderer.save_bench(bench, QStringLiteral("paused"), middle_sizes[0]);
  bench.run().make_fault({FaultKind::resume, n2nq::app::Role::senders, 0});
  if (!at(12)) return false;
  bench.click(QStringLiteral("tab_ledger"));
  renderer.save_bench_page(bench, QStringLiteral("restarted"));
  if (!bench.wait_for_state(n2nq::app::RunState::finished)) return false;
  renderer.save_bench_page(bench, QStringLiteral("ledger"));
  renderer.save_bench(bench, QStringLiteral("ledger"), middle_sizes[0]);
  // As it looks when all has gone wrong that can.
  n2nq::app::LiveFigures figures = bench.run().figures();
  figures.duplicated = figures.duplicated_unflagged = figures.out_of_order = figures.negative = figures.unexpected = 12;
  figures.bad_checksum = figures.unasked = figures.expired = figures.parked = figures.cut_off = figures.lost = 345;
  figures.settled->refused = figures.settled->lost_before_queue = figures.settled->still_queued = figures.settled->unexplained = 6;
  bench.find<n2nq::ui::LedgerPanel>(QStringLiteral("ledger_panel"))->show_figures(figures);
  renderer.save_bench_page(bench, QStringLiteral("ledger-marked"));
  return true;
}

/// A run that warms up, its ledger, and where the warm-up is set.
bool render_warm_up(Renderer& renderer) {
  BenchWindow bench;
  bench.window().presets().choose(QStringLiteral("quick"));
  bench.set({{"senders.messages", "20"}, {"senders.warmup_messages", "50"}});
  bench.window().resize(sizes[0]);
  if (!bench.click(QStringLiteral("button_start_all"))) return false;
  if (!BenchWindow::wait_for([&] { return bench.run().warming_up() && bench.run().figures().warm_up.received > 0; })) return false;
  bench.window().theme().choose(n2nq::ui::ThemeChoice::light);
  renderer.save_bench(bench, QStringLiteral("warming-up"), sizes[0]);
  if (!bench.wait_for_state(n2nq::app::RunState::finished)) return false;
  bench.click(QStringLiteral("tab_ledger"));
  renderer.save_bench_page(bench, QStringLiteral("warm-up-ledger"));
  bench.window().resize(sizes[0]);
  bench.click(QStringLiteral("button_advanced"));
  renderer.save_bench(bench, QStringLiteral("advanced"), sizes[0]);
  return true;
}

/// The hosts page without a machine, with four of which two cannot be used, and with names of sixty characters; its dialogs; and the cards
/// when every Source is chosen.
void render_hosts(Renderer& renderer) {
  BenchWindow bench;
  const auto save_page = [&](const QString& what) {
    for (const bool dark : {false, true}) {
      bench.window().theme().choose(dark ? n2nq::ui::ThemeChoice::dark : n2nq::ui::ThemeChoice::light);
      for (const QSize& size : sizes) {
        bench.window().show_page(QStringLiteral("Hosts"));
        renderer.save_bench(bench, what, size, QStringLiteral("Hosts"));
      }
    }
  };
  save_page(QStringLiteral("none"));
  n2nq::app::Host host;
  for (const char* name : {"lab-1", "lab-2", "lab-3", "cloud-frankfurt-1"}) {
    host.name = name;
    host.user = "measure";
    bench.hosts().put(host);
    if (bench.hosts().hosts().hosts.size() == 2) {
      bench.click(QStringLiteral("button_host_check"));
      bench.checker().find(false);
      save_page(QStringLiteral("good"));
    }
  }
  bench.click(QStringLiteral("button_host_check"));
  save_page(QStringLiteral("checking"));
  bench.checker().find(true);
  save_page(QStringLiteral("trouble"));
  for (const char* role : {"broker", "senders", "receivers"}) {
    host.name = "measurement-machine-of-the-third-floor-room-12-" + std::string(role) + "-1";
    host.user.clear();
    bench.hosts().put(host);
  }
  for (const char* name : {"lab-1", "lab-2", "lab-3", "cloud-frankfurt-1"}) bench.hosts().remove(name);
  bench.click(QStringLiteral("button_host_check"));
  bench.checker().find(true);
  save_page(QStringLiteral("long-names"));
  const n2nq::app::Hosts long_names = bench.hosts().hosts();
  for (const n2nq::app::Host& each : long_names.hosts) bench.hosts().remove(QString::fromStdString(each.name));
  const QStringList alike = {QStringLiteral("node1"), QStringLiteral("node2"), QStringLiteral("node17")};
  const QString rest = QStringLiteral(".a.very.long.name.of.an.institute.example.org");
  for (const QString& name : alike) {
    host.name = (name + rest).toStdString();
    bench.hosts().put(host);
  }
  bench.click(QStringLiteral("button_host_check"));
  bench.checker().find(true);
  save_page(QStringLiteral("names-alike"));
  for (const QString& name : alike) bench.hosts().remove(name + rest);
  for (const n2nq::app::Host& each : long_names.hosts) bench.hosts().put(each);
  for (const char* name : {"lab-1", "lab-2", "lab-3", "cloud-frankfurt-1"}) {
    host.name = name;
    host.user = "measure";
    bench.hosts().put(host);
  }
  bench.window().theme().choose(n2nq::ui::ThemeChoice::light);
  n2nq::ui::HostDialog dialog(bench.hosts(), &bench.hosts().hosts().hosts[1], &bench.window());
  dialog.findChild<QLineEdit*>(QStringLiteral("host_data_address"))->setText(QStringLiteral("lab-2.example.org"));
  dialog.accept();
  dialog.show();
  renderer.save(dialog, QStringLiteral("host-dialog-light"));
  n2nq::ui::ImportDialog import(bench.hosts(), {{QStringLiteral("lab-1"), QStringLiteral("lab-7")}, {}}, &bench.window());
  import.show();
  renderer.save(import, QStringLiteral("import-dialog-light"));
  n2nq::ui::HostKeyDialog key(
      {QStringLiteral("lab-1"), QStringLiteral("10.77.0.11 port 22"), QStringLiteral("ED25519"),
       QStringLiteral("SHA256:9mZ2oF0vS1yXqkq6w1y0k3hW8E0p9Q3m2c7v1b5n4a0"), QStringLiteral("/home/me/.ssh/known_hosts")},
      bench.window().theme(), &bench.window());
  key.show();
  renderer.save(key, QStringLiteral("host-key-dialog-light"));
  n2nq::app::SecretQuestion asked;
  asked.kind = n2nq::app::SecretQuestion::Kind::passphrase;
  asked.host = QStringLiteral("lab-1"), asked.user = QStringLiteral("measure"), asked.key_file = QStringLiteral("/home/me/.ssh/id_ed25519");
  asked.prompts = {{QStringLiteral("Passphrase:"), false}};
  asked.again = true;
  n2nq::ui::SecretsDialog secrets(asked, &bench.window());
  secrets.offer_keyring({});
  secrets.findChild<QCheckBox*>(QStringLiteral("secrets_keyring"))->setChecked(true);
  secrets.show();
  renderer.save(secrets, QStringLiteral("secrets-dialog-light"));
  bench.set({{"broker.host", "lab-1"}, {"senders.host", "cloud-frankfurt-1"}, {"receivers.host", "lab-1"}});
  bench.window().show_page(QStringLiteral("Bench"));
  for (const QSize& size : {sizes[0], sizes[1]}) renderer.save_bench(bench, QStringLiteral("sources"), size);
}

/// A request that is refused and the list of several; killed receivers while N2NQ drains, and what is left of that when it was stopped.
bool render_draining(Renderer& renderer) {
  BenchWindow bench;
  bench.window().theme().choose(n2nq::ui::ThemeChoice::light);
  bench.window().presets().choose(QStringLiteral("quick"));
  bench.set({{"senders.duration_s", "2"}, {"queue.retention_s", "600"}});
  bench.window().resize(sizes[0]);
  bench.click(QStringLiteral("field_queue_requests"));
  for (const auto& [receivers, senders] : {std::pair("R1-R3", "S1,S3,S5,S7,S9"), std::pair("R4", "S2-S4")}) {
    bench.type(QStringLiteral("request_receivers"), QString::fromLatin1(receivers));
    bench.type(QStringLiteral("request_senders"), QString::fromLatin1(senders));
    bench.type(QStringLiteral("request_sizes"), QStringLiteral("20-25"));
    bench.click(QStringLiteral("button_make_request"));
  }
  bench.type(QStringLiteral("request_senders"), QStringLiteral("everybody"));
  renderer.save_bench(bench, QStringLiteral("request-refused"), sizes[0]);
  bench.click(QStringLiteral("button_requests_back"));
  bench.click(QStringLiteral("field_queue_requests"));
  bench.click(QStringLiteral("field_queue_responses"));
  if (!bench.click(QStringLiteral("button_start_all"))) return false;
  if (!BenchWindow::wait_for([&] { return bench.run().figures().received > 100; })) return false;
  bench.run().make_fault({n2nq::app::FaultKind::kill, n2nq::app::Role::receivers, 0});
  if (!BenchWindow::wait_for([&] { return bench.run().draining() && bench.run().figures().t_s > 4; })) return false;
  bench.click(QStringLiteral("tab_run"));
  for (const QSize& size : sizes) renderer.save_bench(bench, QStringLiteral("draining"), size);
  bench.click(QStringLiteral("button_stop_all"));
  if (!bench.wait_for_state(n2nq::app::RunState::finished)) return false;
  for (const QSize& size : sizes) renderer.save_bench(bench, QStringLiteral("not-drained"), size);
  return true;
}

bool render_trouble(Renderer& renderer) {
  BenchWindow bench;
  bench.window().theme().choose(n2nq::ui::ThemeChoice::light);
  bench.window().presets().choose(QStringLiteral("quick"));
  bench.window().resize(sizes[0]);
  bench.type(QStringLiteral("field_senders_amount"), QStringLiteral("many"));
  bench.set({{"senders.size_bytes", "[20, 100]"}, {"queue.mode", "load-balancer"}});
  bench.click(QStringLiteral("button_start_all"));
  bench.click(QStringLiteral("button_advanced"));
  for (const QSize& size : sizes) renderer.save_bench(bench, QStringLiteral("refused"), size);
  bench.click(QStringLiteral("button_advanced"));
  bench.type(QStringLiteral("field_senders_amount"), QStringLiteral("10"));
  bench.set({{"senders.duration_s", "30"}, {"senders.rate_per_s", "20"}});
  bench.click(QStringLiteral("message_close"));
  if (!bench.click(QStringLiteral("button_start_all"))) return false;
  if (!BenchWindow::wait_for([&] { return bench.run().figures().t_s > 5 && bench.run().figures().received > 0; })) return false;
  const int broker = n2nq::ui_test::child_pid("n2nq-broker");
  if (broker == 0 || ::kill(broker, SIGKILL) != 0) return false;
  if (!bench.wait_for_state(n2nq::app::RunState::finished)) return false;
  for (const QSize& size : sizes) renderer.save_bench(bench, QStringLiteral("died"), size);
  const auto save_reasons = [&](const QString& theme) {
    bench.click(QStringLiteral("button_reasons"));
    auto* reasons = bench.find<QWidget>(QStringLiteral("reasons_popup"));
    renderer.save(*reasons, QStringLiteral("reasons-") + theme);
    delete reasons;
  };
  save_reasons(QStringLiteral("light"));
  bench.window().theme().choose(n2nq::ui::ThemeChoice::dark);
  renderer.save_bench(bench, QStringLiteral("died"), sizes[0]);
  save_reasons(QStringLiteral("dark"));
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  return n2nq::ui_test::draw_pages(argc, argv, "[FOLDER [PRESET]]", [](const QString& folder, const QStringList& rest) {
    Renderer renderer(folder);
    const QString preset = rest.value(0, QStringLiteral("thesis-baseline"));
    render_popups(renderer);
    render_hosts(renderer);
    const bool done = preset == QStringLiteral("hosts") ||
                      (preset == QStringLiteral("draining") ? render_draining(renderer)
                                                            : render_warm_up(renderer) && render_run(renderer, preset) &&
                                                                  render_semantics(renderer, preset) && render_waiting(renderer) &&
                                                                  render_draining(renderer) && render_trouble(renderer));
    return done && !renderer.failed();
  });
}
