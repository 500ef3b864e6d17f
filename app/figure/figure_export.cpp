// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/figure/figure_export.h"

#include <QBuffer>
#include <QFontInfo>
#include <QGuiApplication>
#include <QImage>
#include <QPdfWriter>
#include <QSvgGenerator>

#include "app/figure/figure_painter.h"

namespace n2nq::app {

namespace {

constexpr double mm_per_inch = 25.4;
constexpr int layout_dpi = 96;  // what the painter's sizes are meant for
constexpr int print_dpi = 300;
constexpr double width_px = 170 / mm_per_inch * layout_dpi;
constexpr double plot_px = 300;
constexpr double heat_row_px = 14;
constexpr double margin_px = 8;

/// A painter with the size its picture takes.
struct Sheet {
  explicit Sheet(const Figure& figure) : painter(figure, FigureStyle()) {
    double plot = plot_px;
    if (figure.kind == Figure::Kind::heat) plot = std::clamp(heat_row_px * static_cast<double>(figure.series.size()), 60.0, 640.0);
    size = QSizeF(std::ceil(width_px), painter.height_for(std::ceil(width_px) - 2 * margin_px, plot) + 2 * margin_px);
  }
  void draw(QPainter& on) {
    on.fillRect(QRectF(QPointF(0, 0), size), print_ink().paper);
    painter.paint(on, QRectF(QPointF(0, 0), size).adjusted(margin_px, margin_px, -margin_px, -margin_px));
  }
  FigurePainter painter;
  QSizeF size;
};

}  // namespace

QByteArray figure_svg(const Figure& figure) {
  Sheet sheet(figure);
  QBuffer buffer;
  QSvgGenerator generator;
  generator.setOutputDevice(&buffer);
  generator.setResolution(layout_dpi);
  generator.setSize(sheet.size.toSize());
  generator.setViewBox(QRectF(QPointF(0, 0), sheet.size));
  generator.setTitle(figure.title);
  generator.setDescription("N2NQ Test Bench " N2NQ_VERSION);
  QPainter painter(&generator);
  sheet.draw(painter);
  painter.end();
  QByteArray svg = buffer.data();
  // Where the font is missing, one of its kind.
  const QByteArray family = "font-family=\"" + QFontInfo(QGuiApplication::font()).family().toUtf8() + '"';
  svg.replace(family, family.chopped(1) + ", Verdana, Helvetica, sans-serif\"");
  return svg;
}

QByteArray figure_png(const Figure& figure) {
  Sheet sheet(figure);
  const double scale = static_cast<double>(print_dpi) / layout_dpi;
  QImage image((sheet.size * scale).toSize(), QImage::Format_RGB32);
  image.fill(print_ink().paper);
  QPainter painter(&image);
  painter.scale(scale, scale);
  sheet.draw(painter);
  painter.end();
  const int dots_per_metre = static_cast<int>(std::lround(print_dpi / mm_per_inch * 1000));
  image.setDotsPerMeterX(dots_per_metre);
  image.setDotsPerMeterY(dots_per_metre);
  image.setText("Title", figure.title);
  QBuffer buffer;
  image.save(&buffer, "PNG");
  return buffer.data();
}

QByteArray figure_pdf(const Figure& figure) {
  Sheet sheet(figure);
  QBuffer buffer;
  buffer.open(QIODevice::WriteOnly);
  QPdfWriter writer(&buffer);
  writer.setCreator("N2NQ Test Bench " N2NQ_VERSION);
  writer.setTitle(figure.title);
  writer.setResolution(print_dpi);
  const double points = 72.0 / layout_dpi;
  writer.setPageSize(QPageSize(sheet.size * points, QPageSize::Point, QString(), QPageSize::ExactMatch));
  writer.setPageMargins(QMarginsF(0, 0, 0, 0));
  QPainter painter(&writer);
  painter.scale(static_cast<double>(print_dpi) / layout_dpi, static_cast<double>(print_dpi) / layout_dpi);
  sheet.draw(painter);
  painter.end();
  return buffer.data();
}

}  // namespace n2nq::app
