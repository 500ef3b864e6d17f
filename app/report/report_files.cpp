// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/report/report_files.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <algorithm>

#include "app/figure/figure_export.h"
#include "app/report/workbook.h"
#include "app/settings/whole_file.h"

namespace n2nq::app {

namespace {

constexpr qint64 hgrm_bytes_max = 16 << 20;  // that of a run takes some kB

const char* const style = R"(
body { font: 14px/1.5 system-ui, "DejaVu Sans", sans-serif; color: #1D2129; background: #fff; max-width: 1080px; margin: 24px auto; padding: 0 16px; }
h1 { font-size: 22px; margin: 0 0 4px; } h2 { font-size: 18px; margin: 32px 0 8px; border-bottom: 1px solid #D9DCE1; }
h3 { font-size: 15px; margin: 20px 0 6px; }
.secondary { color: #5B6270; } .verdict { font-weight: 600; }
.clean, .stopped { color: #197742; } .degraded { color: #975A00; } .broken { color: #C62828; }
figure { margin: 0 0 24px; break-inside: avoid; } figure svg { width: 100%; max-width: 720px; height: auto; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 12px; font-variant-numeric: tabular-nums; }
th, td { padding: 2px 10px 2px 0; border-bottom: 1px solid #E7E9ED; text-align: left; vertical-align: top; }
thead th { border-bottom: 1px solid #5B6270; } .number, .word { text-align: right; } .keys .number { text-align: left; } td.few { color: #9AA3B2; }
@media print { body { margin: 0; max-width: none; } h2 { break-after: avoid; } tr { break-inside: avoid; } .scroll { overflow: visible; } table { font-size: 8px; } }
)";

/// What stands before <svg> is for files of their own.
QString inline_svg(const Figure& figure) {
  const QString svg = QString::fromUtf8(figure_svg(figure));
  const auto begin = svg.indexOf("<svg");
  return begin < 0 ? svg : svg.mid(begin);
}

/// Small below what it is about; nothing where there is nothing to say.
QString note(const QString& words) {
  return words.isEmpty() ? QString() : "<p class=\"secondary\">" + words.toHtmlEscaped() + "</p>\n";
}

QString section(const Table& table) {
  return QString("<h3>%1</h3>\n<div class=\"scroll\">%2</div>\n").arg(table.title.toHtmlEscaped(), html(table)) + note(table.remark);
}

/// mkdir, not mkpath, for the parts: else the folder of a result that was deleted meanwhile would be there again, and nothing else of it.
QString make_folders(const QDir& dir, ReportFolder which) {
  if (which == ReportFolder::of_its_own && !QDir().mkpath(dir.path())) return QString("Cannot make the folder %1").arg(dir.path());
  for (const char* part : {"charts", "tables"}) {
    const QString path = dir.filePath(part);
    if (!QDir().mkdir(path) && !QFileInfo(path).isDir()) return QString("Cannot make the folder %1").arg(path);
  }
  return {};
}

/// What shows a whole report: beside figures and tables of another one it would mislead, should this one not be finished.
QString remove_former(const QDir& dir) {
  for (const char* name : {"report.html", "report.xlsx", "report.json"}) {
    QFile file(dir.filePath(name));
    if (file.exists() && !file.remove()) return QString("Cannot remove %1: %2").arg(file.fileName(), file.errorString());
  }
  return {};
}

/// In the order in which they are of use: report.html, which says everything, when all else is there.
QString write_files(const QDir& dir, const Report& report, const std::function<void(const QString&)>& progress,
                    const std::atomic<bool>* cancelled) {
  QString error;
  const auto write = [&](const QString& name, const QByteArray& bytes) {
    if (error.isEmpty()) error = write_whole(dir.filePath(name), bytes);
  };
  const auto begin = [&](const QString& what) {
    if (progress) progress(what);
    return error.isEmpty() && !(cancelled && *cancelled);
  };
  for (const Figure& figure : report.figures) {
    if (!begin("charts/" + figure.id)) return error;
    write("charts/" + figure.id + ".svg", figure_svg(figure));
    write("charts/" + figure.id + ".png", figure_png(figure));
    write("charts/" + figure.id + ".pdf", figure_pdf(figure));
    write("tables/" + figure.id + ".csv", csv(figure_table(figure)));
  }
  if (!begin("tables")) return error;
  for (const auto* tables : {&report.tables, &report.appendix}) {
    for (const Table& table : *tables) write("tables/" + table.id + ".csv", csv(table));
  }
  write("report.json", QByteArray::fromStdString(report_json(report).dump(1)) + '\n');
  if (!begin("report.xlsx")) return error;
  error = write_workbook(dir.filePath("report.xlsx"), report);
  QString no_histogram;
  const QString hgrm = dir.filePath("latency.hgrm");
  if (!report.hgrm.isEmpty() && QFileInfo(report.hgrm).absoluteFilePath() != QFileInfo(hgrm).absoluteFilePath()) {
    const bool is_there = QFileInfo::exists(report.hgrm);
    if (const auto bytes = is_there ? read_whole(report.hgrm, hgrm_bytes_max, no_histogram) : std::nullopt) write("latency.hgrm", *bytes);
  }
  if (!begin("report.html")) return error;
  write("report.html", report_html(report).toUtf8());
  return error.isEmpty() && !no_histogram.isEmpty() ? no_histogram + "; all else of the report is written" : error;
}

}  // namespace

QString report_html(const Report& report) {
  QString out =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n";
  out += "<title>" + report.title.toHtmlEscaped() + "</title>\n<style>" + style + "</style>\n</head>\n<body>\n";
  out += "<h1>" + report.title.toHtmlEscaped() + "</h1>\n<p class=\"secondary\">N2NQ Test Bench " N2NQ_VERSION "</p>\n";
  const QString disturbed = QString::fromUtf8(report.is_disturbed ? " · disturbed" : "");
  if (!report.verdict.isEmpty()) out += QString("<p class=\"verdict %1\">%1%2</p>\n").arg(report.verdict.toHtmlEscaped(), disturbed);
  if (!report.lead.isEmpty()) {
    out += "<ul>\n";
    for (const QString& sentence : report.lead) out += "<li>" + sentence.toHtmlEscaped() + "</li>\n";
    out += "</ul>\n";
  }
  out += "<h2>Results</h2>\n";
  for (const Table& table : report.tables) {
    if (table.rows.size() <= 40) out += section(table);
  }
  out += note(grey_words(report.tables));
  if (!report.figures.empty()) out += "<h2>Figures</h2>\n";
  for (const Figure& figure : report.figures)
    out += "<figure id=\"" + figure.id.toHtmlEscaped() + "\">" + inline_svg(figure) + "</figure>\n";
  for (const Table& table : report.tables) {
    if (table.rows.size() > 40) out += section(table);
  }
  out += "<h2>Settings and environment</h2>\n";
  for (const Table& table : report.appendix) out += section(table);
  return out + "</body>\n</html>\n";
}

nlohmann::ordered_json report_json(const Report& report) {
  nlohmann::ordered_json out = {{"format", 1}, {"title", report.title.toStdString()}};
  out["verdict"] = report.verdict.isEmpty() ? nlohmann::ordered_json() : nlohmann::ordered_json(report.verdict.toStdString());
  out["lead"] = nlohmann::ordered_json::array();
  for (const QString& sentence : report.lead) out["lead"].push_back(sentence.toStdString());
  out["tables"] = nlohmann::ordered_json::array();
  for (const Table& table : report.tables) out["tables"].push_back(table_json(table));
  for (const Figure& figure : report.figures) out["tables"].push_back(table_json(figure_table(figure)));
  for (const Table& table : report.appendix) out["tables"].push_back(table_json(table));
  return out;
}

QString write_report(const QString& folder, const Report& report, const std::function<void(const QString&)>& progress,
                     const std::atomic<bool>* cancelled, ReportFolder which) {
  const QDir dir(folder);
  QString error = make_folders(dir, which);
  if (error.isEmpty() && cancelled && *cancelled) return {};
  if (error.isEmpty()) error = remove_former(dir);
  if (error.isEmpty()) error = write_files(dir, report, progress, cancelled);
  if (error.isEmpty() || QFileInfo(folder).isDir() || which == ReportFolder::of_its_own) return error;
  return QString("%1 is not there any more: it was deleted or moved, and no report of it is written").arg(folder);
}

}  // namespace n2nq::app
