// SPDX-License-Identifier: GPL-3.0-or-later
// A summary that is damaged, or that somebody has written: what is said of it leads to the place.
#include "app/results/stored_run.h"

#include <gtest/gtest.h>

#include <QFile>
#include <QTemporaryDir>

#include "tests/app/results/made_runs.h"

namespace n2nq::app {
namespace {

struct StoredRunTest : ::testing::Test {
  QTemporaryDir place;
  QString folder = place.filePath("run"), path = folder + "/summary.json";

  std::string error_of(const QByteArray& text) const {
    QFile file(path);
    EXPECT_TRUE(file.open(QIODevice::WriteOnly | QIODevice::Truncate));
    file.write(text);
    file.close();
    QString error;
    EXPECT_FALSE(read_run(folder, error).has_value());
    EXPECT_TRUE(error.startsWith(path + ' ')) << error.toStdString();
    return error.mid(path.size() + 1).toStdString();
  }
};

TEST_F(StoredRunTest, what_is_no_json_is_named_with_its_line) {
  make_run(folder, {});
  EXPECT_EQ(error_of("{\n  \"format\": 1,\n  \"run\": \"a\" \"b\"\n}\n"), "is not JSON in line 3");
  EXPECT_EQ(error_of("{\n  \"run\": \"a\n}\n"), "is not JSON in line 2") << "its end is what is wrong";
  EXPECT_EQ(error_of("{\n  \"run\": tru\n}\n"), "is not JSON in line 2");
  EXPECT_EQ(error_of(""), "is not JSON in line 1");
  EXPECT_EQ(error_of("{\n\n"), "is not JSON in line 3") << "it was cut off";
  EXPECT_EQ(error_of("{\"format\": 1e999}"), "has a number that is beyond all range");
  EXPECT_EQ(error_of(QByteArray(100, '[')), "has JSON of more than 64 levels");
}

TEST_F(StoredRunTest, what_n2nq_bench_does_not_write_is_named_with_its_place) {
  struct Wrong {
    const char* at;
    nlohmann::json value;
    const char* told;
  };
  const Wrong wrong[] = {{"/reasons", {"late", 7}, "\"reasons[1]\" has to be text"},
                         {"/events", {nlohmann::json::object(), 7}, "\"events[1]\" has to be an object"},
                         {"/events", {{{"what", 7}}}, "\"events[0].what\" has to be text"},
                         {"/services/senders", {{{"number", 1}}, 7}, "\"services.senders[1]\" has to be an object"},
                         {"/services/receivers", {{{"number", 1}}, {{"number", -1}}}, "\"services.receivers[1].number\" has to be a whole number"},
                         {"/logs/receivers", {{"dropped", "no"}}, "\"logs.receivers.dropped\" has to be a number"}};
  for (const Wrong& each : wrong) {
    QDir(folder).removeRecursively();
    make_run(folder, {});
    QString error;
    const auto run = read_run(folder, error);
    ASSERT_TRUE(run) << error.toStdString();
    nlohmann::json summary = run->summary;
    summary[nlohmann::json::json_pointer(each.at)] = each.value;
    EXPECT_EQ(error_of(QByteArray::fromStdString(summary.dump())), std::string("is not what n2nq-bench writes: ") + each.told);
  }
}

}  // namespace
}  // namespace n2nq::app
