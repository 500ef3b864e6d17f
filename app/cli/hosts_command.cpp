// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/hosts_command.h"

#include <QCoreApplication>
#include <algorithm>
#include <memory>

#include "app/cli/interrupts.h"
#include "app/cli/run_command.h"
#include "app/host/check_advice.h"

namespace n2nq::app {

namespace {

QString text_of(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

/// Columns as wide as their widest cell.
QString table_text(const std::vector<QStringList>& rows) {
  std::vector<int> widths;
  for (const QStringList& row : rows) {
    for (qsizetype i = 0; i < row.size(); ++i) {
      if (widths.size() <= static_cast<std::size_t>(i)) widths.push_back(0);
      widths[static_cast<std::size_t>(i)] = std::max(widths[static_cast<std::size_t>(i)], static_cast<int>(row[i].size()));
    }
  }
  QString out;
  for (const QStringList& row : rows) {
    QString line;
    for (qsizetype i = 0; i < row.size(); ++i) line += left_aligned(row[i], widths[static_cast<std::size_t>(i)] + 2);
    while (line.endsWith(' ')) line.chop(1);
    out += line + '\n';
  }
  return out;
}

QString cell_text(const CheckCell& cell) {
  switch (cell.state) {
    case CheckState::bad:
      return "BAD " + one_line(cell.text);
    case CheckState::warning:
      return "! " + one_line(cell.text);
    case CheckState::good:
      return one_line(cell.text);
    default:
      return cell.text.isEmpty() ? QString(check_word(cell.state)) : one_line(cell.text);
  }
}

QString text_of(const CheckAdvice& advice) {
  QStringList machines;
  for (const std::string& machine : advice.machines) machines += text_of(machine);
  const char* sign = advice.state == CheckState::bad ? "BAD" : advice.state == CheckState::warning ? "!" : "?";
  return QString("%1 %2, %3: %4\n    %5\n").arg(sign, machines.join(' '), advice.what, one_line(advice.why), one_line(advice.what_to_do));
}

}  // namespace

QString hosts_page(const HostBook& book) {
  if (book.hosts().hosts.empty()) return "No lab machine in " + book.path() + "\n";
  std::vector<QStringList> rows;
  for (const Host& host : book.hosts().hosts) {
    QStringList row = {text_of(host.name)};
    for (const HostField& field : host_fields()) {
      const std::string text = field.text(host);
      if (!text.empty() && field.key != "name") row += text_of(field.key) + '=' + text_of(text);
    }
    rows.push_back(row);
  }
  QString page = table_text(rows);
  if (!book.hosts().local_data_address.empty()) page += "local_data_address=" + text_of(book.hosts().local_data_address) + '\n';
  return page;
}

nlohmann::ordered_json hosts_json(const HostBook& book) {
  nlohmann::ordered_json out = {{"format", hosts_format}, {"file", book.path().toStdString()}};
  out["local_data_address"] = book.hosts().local_data_address;
  out["hosts"] = nlohmann::ordered_json::array();
  for (const Host& host : book.hosts().hosts) {
    nlohmann::ordered_json& entry = out["hosts"].emplace_back(nlohmann::ordered_json::object());
    for (const HostField& field : host_fields()) entry[std::string(field.key)] = field.text(host);
  }
  return out;
}

QString check_page(const std::vector<std::string>& names, const HostReports& hosts, const PathReports& paths) {
  std::vector<QStringList> rows = {{"machine"}};
  for (const CheckItemInfo& info : check_items()) rows[0] += QString(info.label).toLower();
  std::vector<QStringList> ways = {{"from"}};
  for (const std::string& name : names) {
    QStringList& row = rows.emplace_back(QStringList{text_of(name)});
    for (const CheckItemInfo& info : check_items()) row += cell_text(hosts.at(name).of(info.item));
    ways[0] += "to " + text_of(name);
    QStringList& way = ways.emplace_back(QStringList{text_of(name)});
    for (const std::string& other : names) {
      const auto found = paths.find({name, other});
      way += found == paths.end() ? QString(".") : cell_text(found->second);
    }
  }
  QString told;
  for (const CheckAdvice& advice : advice_of(names, hosts, paths)) told += text_of(advice);
  return table_text(rows) + '\n' + table_text(ways) + (told.isEmpty() ? QString() : '\n' + told);
}

QString check_progress(const std::vector<std::string>& names, const HostReports& hosts) {
  QStringList left, sent;
  int machines = 0;
  for (const std::string& name : names) {
    const auto found = hosts.find(name);
    if (name == local_host || found == hosts.end()) continue;
    ++machines;
    if (found->second.now.kind == CheckActivity::Kind::sending) sent += activity_text(name, found->second.now);
    if (found->second.of(CheckItem::login).state == CheckState::checking) left += text_of(name);
  }
  QString text = QString("checking %1 lab machine%2").arg(machines).arg(machines == 1 ? "" : "s");
  if (!sent.isEmpty()) text += "; " + sent.join("; ");
  return left.isEmpty() ? text : text + "; not logged in yet: " + left.join(", ");
}

std::unique_ptr<HostBook> book_of(const Arguments& arguments, Terminal& terminal, bool needed) {
  const bool named = !arguments.hosts.empty();
  auto book = std::make_unique<HostBook>(named ? QString::fromStdString(arguments.hosts) : default_hosts_path(), !named);
  if (!named && !needed) return book;
  for (const QString& problem : book->problems()) terminal.say("n2nq-bench: " + problem);
  return book->problems().isEmpty() ? std::move(book) : nullptr;
}

int list_hosts(const Arguments& arguments, Terminal& terminal) {
  const auto book = book_of(arguments, terminal);
  if (!book) return exit_bad_input;
  const bool printed = arguments.json ? terminal.print_json(hosts_json(*book).dump(1)) : terminal.print(hosts_page(*book));
  return printed ? exit_good : exit_failed;
}

int check_hosts(const Arguments& arguments, HostChecker& checker, const TerminalQuestions& questions, const HostBook& book,
                Terminal& terminal) {
  if (book.hosts().hosts.empty()) {
    terminal.say("n2nq-bench: there is no lab machine in " + book.path() + ": the page Hosts of the window adds one, or write the file");
    return exit_bad_input;
  }
  Interrupts interrupts;
  bool interrupted = false;
  QObject::connect(&interrupts, &Interrupts::interrupted, &checker, [&] {
    interrupted = true;
    checker.cancel();
  });
  QObject::connect(&checker, &HostChecker::checked, qApp, &QCoreApplication::quit, Qt::QueuedConnection);
  QString shown;
  bool asking = false;
  const auto show = [&] {
    const QString text = check_progress(names_in_order(book.hosts(), checker.hosts()), checker.hosts());
    if (asking || text == shown || !checker.is_checking()) return;  // a question would be written over
    terminal.progress(shown = text);
  };
  const QObject here;  // both may still speak when this is over
  QObject::connect(&checker, &HostChecker::changed, &here, show);
  QObject::connect(&questions, &TerminalQuestions::asking, &here, [&](bool asks) {
    asking = asks;
    shown.clear();
    show();
  });
  checker.check(book.hosts(), arguments.port);
  show();
  QCoreApplication::exec();
  const auto names = names_in_order(book.hosts(), checker.hosts());
  const bool printed = arguments.json ? terminal.print_json(report_json(names, checker.hosts(), checker.paths()).dump(1))
                                      : terminal.print(check_page(names, checker.hosts(), checker.paths()));
  if (interrupted) return exit_interrupted;
  const CheckState state = state_of(checker.hosts(), checker.paths());
  return printed && (state == CheckState::good || state == CheckState::warning) ? exit_good : exit_failed;
}

}  // namespace n2nq::app
