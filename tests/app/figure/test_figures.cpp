// SPDX-License-Identifier: GPL-3.0-or-later
// Figures as drawn: scales, where points come to lie, what is written, and that every form of a file is what it says it is.
#include <gtest/gtest.h>

#include <QDir>
#include <QFile>
#include <QGuiApplication>
#include <QImage>
#include <QRegularExpression>
#include <cmath>

#include "app/figure/figure_doubts.h"
#include "app/figure/figure_export.h"
#include "app/figure/figure_painter.h"
#include "app/figure/figure_words.h"
#include "app/figure/number_text.h"
#include "app/report/table.h"
#include "tests/app/figure/sample_figures.h"

namespace {

using namespace n2nq::app;

QStringList texts(const std::vector<FigureScale::Tick>& ticks) {
  QStringList out;
  for (const FigureScale::Tick& tick : ticks) out += tick.text;
  return out;
}

TEST(FigureScale, LinearAxesEndAtWrittenValues) {
  const FigureScale scale({.title = "Latency", .unit = "µs", .from_zero = true}, 12, 87, true);
  EXPECT_EQ(scale.from(), 0);
  EXPECT_EQ(scale.to(), 100);
  EXPECT_EQ(texts(scale.ticks(5)), QStringList({"0", "20", "40", "60", "80", "100"}));
  EXPECT_DOUBLE_EQ(scale.place(50), 0.5);
}

TEST(FigureScale, OfWhatIsCountedNothingIsWrittenBetweenWholeNumbers) {
  const FigureScale services({.title = "Services"}, 1, 10, false);
  EXPECT_EQ(texts(services.ticks(4)), QStringList({"2", "4", "6", "8", "10"}));
  EXPECT_EQ(texts(services.ticks(18)), QStringList({"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"}));
  EXPECT_EQ(texts(FigureScale({.title = "Services"}, 1, 101, false).ticks(4)), QStringList({"25", "50", "75", "100"}));
  EXPECT_EQ(texts(FigureScale({.title = "Delay", .unit = "ms"}, 1, 10, false).ticks(4)), QStringList({"2.5", "5", "7.5", "10"}));
  const FigureScale lost({.title = "Lost", .from_zero = true}, 0, 2, true);
  EXPECT_EQ(texts(lost.ticks(5)), QStringList({"0", "1", "2"}));
}

TEST(FigureScale, LogarithmicAxesAreWrittenInOnesTwosAndFives) {
  const FigureScale scale({.title = "Latency", .logarithmic = true}, 30, 1800, true);
  EXPECT_EQ(scale.from(), 20);
  EXPECT_EQ(scale.to(), 2000);
  EXPECT_EQ(texts(scale.ticks(5)), QStringList({"20", "50", "100", "200", "500", "1\u202f000", "2\u202f000"}));
  EXPECT_TRUE(std::isnan(scale.place(0)));
}

TEST(FigureScale, PercentilesAreToldAsSuch) {
  const FigureScale scale({.title = "Percentile", .percentiles = true}, 1, 1e6, false);
  EXPECT_EQ(texts(scale.ticks(5)), QStringList({"0 %", "50 %", "90 %", "99 %", "99.9 %", "99.99 %"}));
  EXPECT_DOUBLE_EQ(scale.place(10'000), 1);
}

TEST(FigureScale, OneValueAndNoneStillGiveAnAxis) {
  const FigureScale one({.title = "Latency"}, 5, 5, true);
  EXPECT_LT(one.from(), 5);
  EXPECT_GT(one.to(), 5);
  const double none = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(FigureScale({.title = "Latency"}, none, none, true).to(), 1);
  EXPECT_EQ(FigureScale({.title = "Latency", .logarithmic = true}, none, none, true).to(), 100);
}

TEST(FigurePainter, NoPointIsHidden) {
  const Figure figure = sample_lines();
  FigurePainter painter(figure, FigureStyle());
  QImage image(700, 460, QImage::Format_RGB32);
  QPainter on(&image);
  painter.paint(on, QRectF(0, 0, 700, 460));
  for (int series = 0; series < static_cast<int>(figure.series.size()); ++series) {
    for (int point = 0; point < static_cast<int>(figure.series[static_cast<std::size_t>(series)].points.size()); ++point) {
      const FigureHit wanted{series, point};
      const QPointF at = painter.place_of(wanted);
      EXPECT_TRUE(painter.plot().adjusted(-1, -1, 1, 1).contains(at)) << series << ' ' << point;
      EXPECT_EQ(painter.hit(at, 5), wanted);
    }
  }
  EXPECT_FALSE(painter.hit({-500, -500}, 20));
}

TEST(FigurePainter, WhatTheClocksLeaveOpenIsNotCutOffUnlessItIsMuchMoreThanTheValue) {
  const auto room_above = [](double clock_bound) {  // as a share of the value
    Figure figure{.x = {.title = "Services"}, .y = {.title = "Latency", .from_zero = true}};
    figure.series = {{.points = {{.x = 0, .y = 100, .clock_bound = clock_bound}}}};
    FigurePainter painter(figure, FigureStyle());
    QImage image(700, 460, QImage::Format_RGB32);
    QPainter on(&image);
    painter.paint(on, QRectF(0, 0, 700, 460));
    const double at = painter.place_of({0, 0}).y();
    return (at - painter.plot().top()) / (painter.plot().bottom() - at);
  };
  EXPECT_GE(room_above(80), 0.8);
  EXPECT_GE(room_above(103), 1.03);
  EXPECT_LT(room_above(8000), 1);
}

TEST(FigurePainter, AnIntervalThatNearlyReachesZeroLeavesRoomForWhatWasMeasured) {
  Figure figure{.x = {.title = "Services"}, .y = {.title = "Latency", .logarithmic = true}};
  figure.series = {{.points = {{.x = 0, .y = 170, .low = 0.46, .high = 442}}}};
  FigurePainter painter(figure, FigureStyle());
  QImage image(700, 460, QImage::Format_RGB32);
  QPainter on(&image);
  painter.paint(on, QRectF(0, 0, 700, 460));
  const double at = painter.place_of({0, 0}).y();
  EXPECT_GT(at, painter.plot().top() + 0.2 * painter.plot().height()) << "down to half a microsecond it would be 0.14";
}

TEST(FigurePainter, APointSaysWhatItIs) {
  const QString lines = point_lines(sample_lines(), {1, 1}).join('\n');
  EXPECT_TRUE(lines.contains("0.5 s, services 10")) << lines.toStdString();
  EXPECT_TRUE(lines.contains("95 % interval")) << lines.toStdString();
  EXPECT_TRUE(lines.contains("the host was busy")) << lines.toStdString();
}

TEST(FigureTable, WhatTheClocksLeaveOpenStandsBesideWhatItIsAbout) {
  Figure shares;
  shares.x = {.title = "Latency", .unit = "µs"};
  shares.y = {.title = "Share"};
  shares.series = {{.name = "a", .points = {{.x = 100, .y = 0.5}}}};
  shares.clock_bound = 12;
  EXPECT_EQ(csv(figure_table(shares)), QString("Latency (µs),a,\"Latency, clocks ± (µs)\"\n100,0.5,12\n").toUtf8());
  Figure pairs = shares;
  pairs.kind = Figure::Kind::heat;
  pairs.x = {.title = "Sender", .names = {"S001"}};
  pairs.y = {.title = "Latency, p50", .unit = "µs"};
  pairs.series = {{.name = "R001", .points = {{.x = 0, .y = 90, .clock_bound = 12}}}};
  EXPECT_EQ(csv(figure_table(pairs)), QString("Sender,R001 (µs),\"Latency, p50, clocks ± (µs)\"\nS001,90,12\n").toUtf8());
}

TEST(FigureTable, WhatMakesCellsGreyIsToldWordByWord) {
  const QString twice = "a doubt; in two halves", once = "another one";
  const Table table{.id = "t", .title = {}, .columns = {"a", "b"}, .rows = {{1.0, 2.0}}, .doubts = {{{twice}, {once, twice}}}};
  EXPECT_EQ(table.doubt(0, 1), once + "; " + twice);
  EXPECT_EQ(grey_words({&table, 1}), "Grey: " + twice + "; " + once + '.');
}

TEST(FigureDoubts, ThatClocksAreNotKnownIsToldOnceAndOnlyWhereThatIsSo) {
  Figure figure;
  figure.series = {{.name = "a", .points = {{.x = 1, .y = 90}, {.x = 2, .y = 90}}}};
  tell_unknown_clocks(figure);
  EXPECT_TRUE(figure.remarks.isEmpty());
  for (FigurePoint& point : figure.series[0].points) point.clock_bound_unknown = true;
  tell_unknown_clocks(figure);
  ASSERT_EQ(figure.remarks.size(), 1);
  EXPECT_TRUE(figure.remarks[0].contains("it is not known how far they are apart")) << figure.remarks[0].toStdString();
}

TEST(FigureDoubts, TenSamplesAboveAPercentileAreEnough) {
  EXPECT_FALSE(are_few_samples_above(10));
  EXPECT_FALSE(are_few_samples_above(100 / (1 / (1 - 0.9)))) << "ten, but for what arithmetic leaves out";
  EXPECT_TRUE(are_few_samples_above(9.9));
  EXPECT_TRUE(are_few_samples_above(0));
  EXPECT_TRUE(are_few_samples_above(std::nan(""))) << "nobody counted";
  EXPECT_EQ(few_samples_words(), "fewer than 10 samples above it");
  EXPECT_EQ(few_samples_words("that percentile"), "fewer than 10 samples above that percentile");
}

TEST(FigureExport, SvgHasItsTextAsText) {
  const QString svg = QString::fromUtf8(figure_svg(sample_lines()));
  for (const char* said :
       {"Latency by services", "Latency, mean of the lowest 95 % (µs)", "Services", "0.5 s", "the host was busy", "thesis, p. 61"}) {
    EXPECT_TRUE(svg.contains(QString(said).toHtmlEscaped())) << said;
  }
  EXPECT_FALSE(svg.contains("http://", Qt::CaseInsensitive) && svg.contains("href")) << "nothing may be loaded from elsewhere";
}

TEST(FigureExport, ABandAndGreyAreToldWhereTheyAre) {
  Figure figure = sample_percentiles();
  figure.series.resize(1);
  figure.series.front().name.clear();
  const auto says = [&figure](const char* words) { return QString::fromUtf8(figure_svg(figure)).contains(QString::fromUtf8(words)); };
  constexpr const char *band = ">clocks ±</text>", *grey = ">Grey: fewer than 10 samples above that percentile.</text>";
  EXPECT_FALSE(says(band));
  EXPECT_FALSE(says(grey));
  for (FigurePoint& point : figure.series.front().points) point.clock_bound = 12;
  EXPECT_TRUE(says(band));
  figure.series.front().points.back().few_samples = true;
  EXPECT_TRUE(says(grey));
  constexpr const char* of_both = ">Grey: fewer than 10 samples above that percentile; below twice the floor of its runs,";
  EXPECT_FALSE(says(of_both));
  figure.series.front().points.front().near_floor_us = 12;
  EXPECT_TRUE(says(of_both));
  const Table table = figure_table(figure);
  EXPECT_TRUE(table.doubt(0, 1).startsWith(QString::fromUtf8("below twice its floor, an echo over loopback (12.0 µs)")));
  EXPECT_EQ(table.doubt(table.rows.size() - 1, 1), "fewer than 10 samples above it");
  EXPECT_EQ(table.doubt(1, 1), "");
  EXPECT_EQ(table.doubt(0, 2), "") << "grey is the value alone, not what stands beside it";
  figure.series.front().points.front().near_floor_us = 0;
  // Bands of several curves would hide each other: none is drawn.
  figure.series.push_back(figure.series.front());
  EXPECT_FALSE(says(band));
  EXPECT_TRUE(QString::fromUtf8(figure_svg(sample_lines())).contains(QString::fromUtf8(band))) << "of one curve of five";
  EXPECT_FALSE(QString::fromUtf8(figure_svg(sample_bars())).contains(QString::fromUtf8(band)));
}

TEST(FigureExport, NumbersOfReferencesStandWithinTheFigureAndBesideEachOther) {
  Figure figure = sample_lines();
  const double last = figure.series.front().points.back().x;
  figure.references = {{.text = "a", .x = last}, {.text = "b", .x = last}, {.text = "c", .x = 20}};
  const QString svg = QString::fromUtf8(figure_svg(figure));
  const double width = QRegularExpression("viewBox=\"0 0 ([0-9.]+)").match(svg).captured(1).toDouble();
  ASSERT_GT(width, 100);
  QList<QPointF> places;
  for (int number = 1; number <= 3; ++number) {
    const auto found =
        QRegularExpression(QString("<text [^>]*x=\"([0-9.]+)\" y=\"([0-9.]+)\"[^>]*>\\s*\u25c7 %1\\s*</text>").arg(number)).match(svg);
    ASSERT_TRUE(found.hasMatch()) << number;
    places += QPointF(found.captured(1).toDouble(), found.captured(2).toDouble());
    EXPECT_LT(places.last().x() + 20, width) << number;
  }
  EXPECT_NEAR(places[0].x(), places[1].x(), 1);
  EXPECT_GT(places[1].y(), places[0].y() + 8) << "one below the other";
}

TEST(FigureExport, AReasonIsToldOnce) {
  Figure figure = sample_lines();
  for (FigureSeries& series : figure.series) {
    for (FigurePoint& point : series.points) point.why = "host busy before the run";
  }
  figure.series.push_back({.name = "senders external", .not_run = "no hosts"});
  figure.series.push_back({.name = "both external", .not_run = "no hosts"});
  const QString svg = QString::fromUtf8(figure_svg(figure));
  EXPECT_EQ(svg.count("host busy before the run"), 1);
  EXPECT_TRUE(svg.contains("all points: host busy before the run"));
  EXPECT_TRUE(svg.contains("senders external, both external were not run: no hosts"));
}

TEST(FigureExport, CurvesOfOneThingHaveItsColourAndDashAndAreStillToldApartWithoutThem) {
  Figure figure{.x = {.title = "Time"}, .y = {.title = "Latency", .from_zero = true}};
  for (int i = 0; i < 4; ++i) {
    FigureSeries series{.name = QString("curve %1").arg(i), .look = i / 2, .hollow = i % 2 == 1};
    for (int x = 0; x < 100; ++x) series.points.push_back({.x = static_cast<double>(x), .y = 10.0 * i + x % 7});
    figure.series.push_back(std::move(series));
  }
  const auto has = [](const Figure& of, const char* color) {
    return QString::fromUtf8(figure_svg(of)).contains(QLatin1String(color), Qt::CaseInsensitive);
  };
  for (const char* used : {"#124191", "#E08A00"}) EXPECT_TRUE(has(figure, used)) << used;
  for (const char* other : {"#C62828", "#2E9E5B"}) EXPECT_FALSE(has(figure, other)) << other;
  Figure by_place = figure;
  for (FigureSeries& series : by_place.series) series.look = -1;
  for (const char* used : {"#124191", "#E08A00", "#C62828", "#2E9E5B"}) EXPECT_TRUE(has(by_place, used)) << used;

  // In legend and plot: of curves that differ in nothing but this, one has marks.
  const auto drawn = [&figure](int which, bool hollow) {
    Figure one = figure;
    one.series = {figure.series[static_cast<std::size_t>(which)]};
    one.series.front().hollow = hollow;
    return figure_svg(one);
  };
  for (const int which : {0, 3}) EXPECT_NE(drawn(which, true), drawn(which, false)) << which;
  figure.series.resize(2);
  Figure alike = figure;
  alike.series[1].hollow = false;
  EXPECT_GT(figure_svg(figure).size(), figure_svg(alike).size());
}

TEST(FigurePainter, BareNumbersSayWhatTheyAre) {
  Figure figure = sample_lines();
  figure.legend = "Services";
  figure.series[1].name = "10";
  EXPECT_TRUE(point_lines(figure, {1, 1}).join(' ').startsWith("Services 10, ")) << point_lines(figure, {1, 1}).join(' ').toStdString();
  EXPECT_TRUE(QString::fromUtf8(figure_svg(figure)).contains(">Services</text>"));
  EXPECT_EQ(series_title(figure, {}), figure.y.title);
}

TEST(NumberText, IsReadWithAboutThreeDigits) {
  for (const auto& [value, text] : {std::pair{1433.5608949999998, "1\u202f434"},
                                    {94.8431, "94.8"},
                                    {9.1234, "9.12"},
                                    {0.1054, "0.105"},
                                    {0.000123456, "0.000123"},
                                    {0.0000123456, "0.0000123"},
                                    {0.000000123456, "1.23e-07"},
                                    {-1.23456e-10, "−1.23e-10"},
                                    {25000.0, "25\u202f000"},
                                    {-12.345, "−12.3"},
                                    {0.0, "0"}}) {
    EXPECT_EQ(short_number(value), QString::fromUtf8(text)) << value;
  }
  EXPECT_EQ(short_number(std::nan("")), dash());
}

int no_decimals(double) {
  return 0;
}

TEST(Numbers, what_is_shown_of_a_bound_is_never_less_and_takes_in_what_is_left_out_of_its_value) {
  struct Case {
    double bound, value;
    const char* shown;
  };
  for (const auto& [bound, value, shown] : {Case{12.44, 0, "12.5"},
                                            Case{12.4, 0, "12.4"},
                                            Case{9.991, 0, "10.0"},
                                            Case{99.91, 0, "100"},
                                            Case{999.2, 0, "1000"},
                                            Case{4452.1, 0, "4453"},
                                            Case{0.99921, 0, "1.00"},
                                            Case{0.0123401, 0, "0.0124"},
                                            Case{1.2301e-7, 0, "1.24e-07"},
                                            Case{12.44, 38.49, "12.5"},
                                            Case{12.49, 38.449, "12.6"},
                                            Case{0.1, -38.45, "0.150"},
                                            Case{12.44, std::nan(""), "12.5"},
                                            Case{0, 38.449, "0.00"}}) {
    EXPECT_EQ(three_digits(shown_bound(bound, three_digit_decimals, value)), shown) << bound << " of " << value;
  }
  EXPECT_EQ(shown_bound(12.49, no_decimals, 38.49), 13);
  EXPECT_EQ(rounded_up(12.6, 1), 12.6);
  EXPECT_EQ(rounded_up(12.61, 1), 12.7);
  EXPECT_EQ(rounded_up(1e-9, 0), 1) << "not 0, which would be none";
  EXPECT_EQ(rounded_up(0, 1), 0);
  EXPECT_TRUE(std::isinf(shown_bound(INFINITY, decimals_for, 38.49)));
  EXPECT_TRUE(std::isnan(shown_bound(std::nan(""), decimals_for, 38.49)));
}

TEST(Numbers, a_value_and_its_bound_hold_as_shown_all_that_the_value_may_be) {
  struct Rule {
    int (*decimals_of)(double);
    QString (*text)(double);
  };
  const auto fixed = [](double value) { return QString::number(value, 'f', decimals_for(value)); };
  const auto whole = [](double value) { return QString::number(value, 'f', 0); };
  std::vector<double> sizes;
  for (int exponent = -6; exponent < 6; ++exponent) {
    for (const double lead : {1.0, 1.2449, 3.85, 4.9951, 9.991, 9.9951, 9.9999}) sizes.push_back(lead * std::pow(10, exponent));
  }
  for (const auto& [decimals_of, text] : {Rule{three_digit_decimals, three_digits}, Rule{decimals_for, fixed}, Rule{no_decimals, whole}}) {
    for (const double size : sizes) {
      for (const double value : {size, -size}) {
        const double shown = text(value).toDouble();
        for (const double bound : sizes) {
          const double told = text(shown_bound(bound, decimals_of, value)).toDouble();
          const double needed = bound + std::abs(value - shown), step = std::pow(10, -decimals_of(needed));
          ASSERT_GE(told, needed - step * 1e-5) << value << " shown as " << shown << ", bound " << bound;
          ASSERT_LE(told, needed + step * (1 + 1e-5)) << value << " shown as " << shown << ", bound " << bound;
        }
      }
    }
  }
}

TEST(Numbers, a_time_is_told_to_a_tenth_of_its_bound_which_is_rounded_up) {
  struct Case {
    double value_us, bound_us;
    const char *value, *bound;
  };
  for (const auto& [value_us, bound_us, value, bound] : {
           Case{259'200'412'396, 118.2, "259 200.41240 s", "130 µs"},
           Case{-250'004.2, 41.3, "250.004 ms", "42 µs"},
           Case{3'240, 18, "3.240 ms", "18 µs"},
           Case{250'000, 2'140, "250.0 ms", "2.2 ms"},
           Case{0.04, 0.31, "0.0 µs", "0.4 µs"},
           Case{-12.34, 5.5, "12.3 µs", "5.6 µs"},
           Case{7, 1'250'000, "0 µs", "1.3 s"},
           Case{42, 0, "42 µs", "0 µs"},
       }) {
    const BoundedText text = bounded_time_text(value_us, bound_us, u' ');
    EXPECT_EQ(text.value, QString::fromUtf8(value));
    EXPECT_EQ(text.bound, QString::fromUtf8(bound));
    EXPECT_EQ(text.negative, value_us < 0) << value;
  }
  EXPECT_FALSE(bounded_time_text(-0.2, 41).negative) << "nothing of it is shown";
}

TEST(NumberText, IsTheSameAtAnAxisAndInASentence) {
  EXPECT_EQ(axis_number(8811), count_text(8811));
  EXPECT_EQ(axis_number(-12'345), count_text(-12'345));
  for (const auto& [sentence, read] :
       {std::pair{"8811 copies lost (R001: 1234, R1000: 12345)", "8 811 copies lost (R001: 1 234, R1000: 12 345)"},
        {"known to ± 4453 µs, 94012 of 100000 messages/s", "known to ± 4 453 µs, 94 012 of 100 000 messages/s"},
        {"1234.5678 ms; 10000.", "1 234.5678 ms; 10 000."},
        {"N2NQ at 127.0.0.1:40001 (1999 of 2000 connected)", "N2NQ at 127.0.0.1:40001 (1 999 of 2 000 connected)"},
        {"(-1234.5 µs), -20000", "(-1 234.5 µs), -20 000"},
        {"mode 0644; it belongs to number 65534, and the one of the log-in is 1001", nullptr},
        {"process 12345, port 40001, senders.messages=5000, 2026-11-27T20-01-47, /runs/2026/a1234, 0.12345", nullptr}}) {
    EXPECT_EQ(grouped_in(QString::fromUtf8(sentence), ' '), QString::fromUtf8(read ? read : sentence));
  }
}

TEST(FigureExport, PngHas300DotsPerInchAndPdfIsOnePage) {
  QImage image;
  ASSERT_TRUE(image.loadFromData(figure_png(sample_lines()), "PNG"));
  EXPECT_NEAR(image.dotsPerMeterX(), 11'811, 1);
  EXPECT_NEAR(image.width(), 170 / 25.4 * 300, 4);
  const QByteArray pdf = figure_pdf(sample_lines());
  EXPECT_TRUE(pdf.startsWith("%PDF"));
  EXPECT_EQ(pdf.count("/Type /Page\n"), 1);
}

// For looking at: N2NQ_FIGURES=folder test_figures.
TEST(FigureExport, EveryKindIsDrawn) {
  const QString folder = qEnvironmentVariable("N2NQ_FIGURES");
  for (const Figure& figure : all_sample_figures()) {
    const QByteArray png = figure_png(figure);
    EXPECT_GT(png.size(), 5000) << figure.id.toStdString();
    if (folder.isEmpty()) continue;
    for (const auto& [suffix, bytes] : {std::pair{".png", png}, {".svg", figure_svg(figure)}, {".pdf", figure_pdf(figure)}}) {
      QFile file(folder + '/' + figure.id + suffix);
      ASSERT_TRUE(file.open(QIODevice::WriteOnly));
      file.write(bytes);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  testing::InitGoogleTest(&argc, argv);
  QGuiApplication application(argc, argv);
  return RUN_ALL_TESTS();
}
