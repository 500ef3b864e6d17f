// SPDX-License-Identifier: GPL-3.0-or-later
// One figure of each kind, with everything a figure can have.
#pragma once

#include <QRandomGenerator>
#include <cmath>

#include "app/figure/figure.h"

namespace n2nq::app {

inline Figure sample_lines() {
  Figure figure;
  figure.id = "lines";
  figure.title = "Latency by services";
  figure.x = {.title = "Services"};
  figure.y = {.title = "Latency, mean of the lowest 95 %", .unit = "µs", .from_zero = true};
  const double services[] = {1, 10, 20, 50, 100};
  const QString names[] = {"1.0 s", "0.5 s", "0.2 s", "0.1 s"};
  for (int s = 0; s < 4; ++s) {
    FigureSeries series;
    series.name = names[s];
    for (const double x : services) {
      FigurePoint point{.x = x, .y = 60 + x * (0.4 + s * s * 0.5), .repeats = 3};
      point.low = point.y * 0.95;
      point.high = point.y * 1.06;
      if (s == 1 && x == 10) point.why = "the host was busy: other processes took 23 % of it";
      if (s == 3 && x == 100) {
        point = {.x = x, .repeats = 1, .why = "broken: 3 messages lost, so it gives no such figure"};
      }
      if (s == 2) point.clock_bound = 12;
      series.points.push_back(point);
    }
    figure.series.push_back(series);
  }
  figure.series.push_back({.name = "external", .points = {}, .not_run = "no hosts were given for this case"});
  figure.references.push_back({.text = "thesis, p. 61: 240 µs at 50 services", .x = 50, .y = 240, .series = "0.2 s"});
  figure.references.push_back({.text = "thesis, p. 62: never above 300 µs", .x = {}, .y = 300, .series = {}});
  figure.remarks = {"2 cores, Linux 6.18; senders, N2NQ and receivers on one machine."};
  return figure;
}

inline Figure sample_percentiles() {
  Figure figure;
  figure.id = "percentiles";
  figure.title = "Latency by percentile";
  figure.x = {.title = "Percentile", .percentiles = true};
  figure.y = {.title = "Latency", .unit = "µs", .logarithmic = true};
  for (int s = 0; s < 3; ++s) {
    FigureSeries series{.name = QString("run %1").arg(s + 1), .points = {}, .not_run = {}};
    for (double inverse = 1; inverse < 20'000; inverse *= 1.15)
      series.points.push_back({.x = inverse, .y = 40 * (s + 1) * std::pow(inverse, 0.35)});
    figure.series.push_back(series);
  }
  return figure;
}

inline Figure sample_boxes() {
  Figure figure;
  figure.id = "boxes";
  figure.title = "Latency of each receiver";
  figure.kind = Figure::Kind::boxes;
  figure.x = {.title = "Receiver"};
  figure.y = {.title = "Latency", .unit = "µs", .logarithmic = true};
  FigureSeries series;
  for (int i = 0; i < 30; ++i) {
    figure.x.names += QString("R%1").arg(i + 1, 3, 10, QChar('0'));
    const double middle = 80 + 10 * std::sin(i);
    series.points.push_back(
        {.x = static_cast<double>(i), .y = middle, .box = FigureBox{middle * 0.4, middle * 0.8, middle * 1.3, middle * 3}});
  }
  figure.series.push_back(series);
  return figure;
}

inline Figure sample_bars() {
  Figure figure;
  figure.id = "bars";
  figure.title = "Means of the stages";
  figure.kind = Figure::Kind::bars;
  figure.x = {.title = "Stage", .names = {"lag", "to broker", "in queue", "to receiver"}};
  figure.y = {.title = "Time", .unit = "µs"};
  for (int s = 0; s < 2; ++s) {
    FigureSeries series{.name = s == 0 ? "broadcaster" : "load balancer", .points = {}, .not_run = {}};
    for (int i = 0; i < 4; ++i)
      series.points.push_back(
          {.x = static_cast<double>(i), .y = 10.0 * (i + 1) / (s + 1), .low = 8.0 * (i + 1) / (s + 1), .high = 12.0 * (i + 1) / (s + 1)});
    figure.series.push_back(series);
  }
  figure.series[1].points[2].why = "degraded: 4 deliveries expired";
  return figure;
}

inline Figure sample_steps() {
  Figure figure;
  figure.id = "steps";
  figure.title = "Histogram of the latency";
  figure.kind = Figure::Kind::steps;
  figure.x = {.title = "Latency", .unit = "µs", .logarithmic = true};
  figure.y = {.title = "Deliveries", .from_zero = true};
  FigureSeries series;
  for (int i = 0; i < 60; ++i)
    series.points.push_back({.x = 20 * std::pow(1.1, i), .y = std::round(900 * std::exp(-std::pow((i - 18) / 7.0, 2)))});
  figure.series.push_back(series);
  return figure;
}

inline Figure sample_heat() {
  Figure figure;
  figure.id = "heat";
  figure.title = "Median latency by sender and receiver";
  figure.kind = Figure::Kind::heat;
  figure.x = {.title = "Sender"};
  figure.y = {.title = "Latency, p50", .unit = "µs"};
  for (int i = 0; i < 40; ++i) figure.x.names += QString("S%1").arg(i + 1, 3, 10, QChar('0'));
  for (int row = 0; row < 25; ++row) {
    FigureSeries series{.name = QString("R%1").arg(row + 1, 3, 10, QChar('0')), .points = {}, .not_run = {}};
    for (int i = 0; i < 40; ++i)
      series.points.push_back({.x = static_cast<double>(i), .y = 50.0 + row * 2 + (i == 7 ? 60 : 0) + (row * i) % 11});
    figure.series.push_back(series);
  }
  return figure;
}

inline std::vector<Figure> all_sample_figures() {
  return {sample_lines(), sample_percentiles(), sample_boxes(), sample_bars(), sample_steps(), sample_heat()};
}

}  // namespace n2nq::app
