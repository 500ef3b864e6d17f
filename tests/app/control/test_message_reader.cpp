// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/control/message_reader.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>

namespace n2nq::app {
namespace {

const char* const hello_line =
    R"({"type":"hello","control":1,"wire":1,"role":"broker","version":"1","now_ns":5,"host":{},"address":"127.0.0.1","port":9})";
/// As a program says it that was started behind a login.
QByteArray marked(const QByteArray& text) {
  return '\x02' + text + "\x03\n";
}

const char* const waiting = R"({"type":"state","state":"waiting","for":"N2NQ","now_ns":1,"broker_now_ns":null})";

struct MessageReaderTest : ::testing::Test {
  MessageReader reader;
  std::vector<SharedMessage> messages;
  QStringList nonsense, too_much;
  int drained = 0;

  MessageReaderTest() {
    QObject::connect(&reader, &MessageReader::message, [this](const SharedMessage& message) { messages.push_back(message); });
    QObject::connect(&reader, &MessageReader::nonsense, [this](const QString& what) { nonsense += what; });
    QObject::connect(&reader, &MessageReader::too_much, [this](const QString& what) { too_much += what; });
    QObject::connect(&reader, &MessageReader::drained, [this] { ++drained; });
  }
};

TEST_F(MessageReaderTest, bytes_one_at_a_time_give_the_same_messages) {
  const QByteArray bytes = QByteArray("Welcome to this host\n") + hello_line + "\n\n" + waiting + "\r\n";
  for (const char c : bytes) reader.feed(QByteArray(1, c));
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(std::get<HelloMessage>(*messages[0]).port, 9);
  EXPECT_EQ(std::get<StateMessage>(*messages[1]).waiting_for, "N2NQ");
  EXPECT_FALSE(std::get<StateMessage>(*messages[1]).broker_now_ns);
  reader.feed(bytes);
  EXPECT_EQ(nonsense.size(), 1) << "behind the hello there is no login noise any more";
}

TEST_F(MessageReaderTest, a_line_without_its_end_is_no_message) {
  reader.feed(hello_line);
  reader.end();
  EXPECT_TRUE(messages.empty());
  EXPECT_EQ(drained, 1);
}

TEST_F(MessageReaderTest, nonsense_is_said_once_and_ends_the_reading) {
  reader.feed(QByteArray(hello_line) + "\noops\n" + waiting + "\n");
  EXPECT_EQ(messages.size(), 1u);
  EXPECT_EQ(nonsense, QStringList{"\"oops\""});
}

TEST_F(MessageReaderTest, what_is_nested_more_deeply_than_any_message_is_nonsense) {
  const QByteArray deep = "{\"type\":\"state\",\"floor\":" + QByteArray(1'000'000, '[') + QByteArray(1'000'000, ']') + "}";
  reader.feed(QByteArray(hello_line) + "\n" + deep + "\n");
  EXPECT_EQ(messages.size(), 1u);
  EXPECT_EQ(nonsense.size(), 1);
}

TEST_F(MessageReaderTest, what_is_in_quotes_nests_nothing_and_many_objects_side_by_side_take_no_longer_than_their_bytes) {
  QByteArray many = "{\"type\":\"state\",\"state\":\"waiting\",\"for\":\"\\\"" + QByteArray(100, '[') + "\",\"now_ns\":1,\"floor\":[{}";
  for (int i = 0; i < 300'000; ++i) many += ",{}";
  reader.feed(QByteArray(hello_line) + "\n" + many + "]}\n");
  EXPECT_EQ(messages.size(), 2u);
  EXPECT_TRUE(nonsense.isEmpty()) << nonsense.join(' ').left(200).toStdString();
}

TEST_F(MessageReaderTest, behind_a_login_shell_whatever_is_not_marked_is_somebody_else_s) {
  MessageReader behind_login(true);
  int heard = 0;
  QObject::connect(&behind_login, &MessageReader::message, [&heard] { ++heard; });
  QObject::connect(&behind_login, &MessageReader::nonsense, [this](const QString& what) { nonsense += what; });
  const QByteArray others = QByteArray("reminder\n[1]\n{\n  up 3 days\n}\n{\"\n{\"load\":0.4}\n") + waiting + "\n" + hello_line + "\n";
  behind_login.feed("Welcome\n" + others);
  EXPECT_EQ(heard, 0);
  behind_login.feed(marked(hello_line) + others + marked(waiting) + others);
  EXPECT_EQ(heard, 2);
  EXPECT_TRUE(nonsense.isEmpty()) << nonsense[0].toStdString();
}

TEST_F(MessageReaderTest, behind_a_login_shell_no_marked_line_may_be_damaged) {
  const QByteArray text = waiting, into_it = QByteArray(text).insert(20, "reminder\n");
  const QByteArray damaged[] = {marked(QByteArray(text).insert(20, '"')), marked(into_it) + marked(waiting), marked("reminder"), marked("[1]"),
                                marked(text.left(30))};
  for (const QByteArray& lines : damaged) {
    MessageReader behind_login(true);
    nonsense.clear();
    QObject::connect(&behind_login, &MessageReader::nonsense, [this](const QString& what) { nonsense += what; });
    behind_login.feed(marked(hello_line) + lines);
    EXPECT_EQ(nonsense.size(), 1) << lines.toStdString();
    MessageReader first(true);
    nonsense.clear();
    QObject::connect(&first, &MessageReader::nonsense, [this](const QString& what) { nonsense += what; });
    first.feed(lines);
    EXPECT_EQ(nonsense.size(), 1) << "before a hello: " << lines.toStdString();
  }
}

TEST_F(MessageReaderTest, behind_a_login_shell_something_without_its_lines_end_may_stand_before_a_message) {
  MessageReader behind_login(true);
  std::vector<SharedMessage> heard;
  QObject::connect(&behind_login, &MessageReader::message, [&heard](const SharedMessage& message) { heard.push_back(message); });
  QObject::connect(&behind_login, &MessageReader::nonsense, [this](const QString& what) { nonsense += what; });
  behind_login.feed("mounting " + marked(hello_line) + ". .. [1] {\"a\":\"" + marked(waiting));
  ASSERT_EQ(heard.size(), 2u);
  EXPECT_EQ(std::get<HelloMessage>(*heard[0]).port, 9);
  EXPECT_EQ(std::get<StateMessage>(*heard[1]).waiting_for, "N2NQ");
  EXPECT_TRUE(nonsense.isEmpty());
}

TEST_F(MessageReaderTest, behind_a_login_shell_a_long_message_comes_in_parts_between_which_may_stand_what_else_is_said) {
  MessageReader behind_login(true);
  std::vector<SharedMessage> heard;
  QObject::connect(&behind_login, &MessageReader::message, [&heard](const SharedMessage& message) { heard.push_back(message); });
  QObject::connect(&behind_login, &MessageReader::nonsense, [this](const QString& what) { nonsense += what; });
  const QByteArray text = waiting;
  behind_login.feed(marked(hello_line) + "\x02" + text.left(20) + "\n 1  0 33452\n\n. .\x02" + text.mid(20, 9) + "\n{\"\n\x02" + text.mid(29) +
                    "\x03\n" + marked(waiting));
  ASSERT_EQ(heard.size(), 3u) << nonsense.join(' ').toStdString();
  EXPECT_EQ(std::get<StateMessage>(*heard[1]).waiting_for, "N2NQ");
  EXPECT_TRUE(nonsense.isEmpty());
  behind_login.feed("\x02" + text.left(20) + "\n\x02" + text.mid(29) + "\x03\n");
  EXPECT_EQ(nonsense.size(), 1) << "one part is missing";
  const QByteArray part = "\x02" + QByteArray(16 << 20, 'x') + '\n';
  MessageReader endless(true);
  nonsense.clear();
  QObject::connect(&endless, &MessageReader::nonsense, [this](const QString& what) { nonsense += what; });
  for (int i = 0; i < 17; ++i) endless.feed(part);
  EXPECT_EQ(nonsense, QStringList{"a line of more than 256 MiB"});
  reader.feed("\x02" + QByteArray(hello_line) + "\x03\n" + hello_line + "\n\x02" + waiting + "\x03\n");
  EXPECT_EQ(messages.size(), 1u);
  EXPECT_EQ(nonsense.size(), 2) << "a process of this machine shares its stdout with nobody";
}

TEST_F(MessageReaderTest, endless_noise_is_nonsense) {
  const QByteArray line = "{\"" + QByteArray(1 << 20, 'x') + '\n';
  for (int i = 0; i < 5; ++i) reader.feed(line);
  EXPECT_EQ(nonsense.size(), 1);
  nonsense.clear();
  MessageReader before_hello(true), behind_hello(true);
  for (MessageReader* each : {&before_hello, &behind_hello})
    QObject::connect(each, &MessageReader::nonsense, [this](const QString& what) { nonsense += what; });
  behind_hello.feed(marked(hello_line));
  for (int i = 0; i < 5; ++i) behind_hello.feed(line);
  EXPECT_TRUE(nonsense.isEmpty());
  for (int i = 0; i < 5; ++i) before_hello.feed(line);
  EXPECT_EQ(nonsense, QStringList{"more than 4 MiB before its hello"});
}

TEST_F(MessageReaderTest, an_endless_line_is_nonsense) {
  const QByteArray piece(32 << 20, 'x');
  for (int i = 0; i < 9; ++i) reader.feed(piece);
  EXPECT_EQ(nonsense, QStringList{"a line of more than 256 MiB"});
}

TEST_F(MessageReaderTest, each_kind_of_message_is_told_apart) {
  reader.feed(
      QByteArray(R"({"type":"error","code":"x","message":"m","key":"k"})") + "\n" +
      R"({"type":"stats","id":1,"now_ns":1,"state":"running","attempted":3,"accepted":2,"refused":0,"bytes":1,"ended":0,)"
      R"("interval":{"delay":{"count":1,"sum_ns":7,"min_ns":7,"max_ns":7,"buckets":[[7,1]]},"lag":null},"log":{"lines":1,"dropped":2,"error":""},)"
      R"("services":[{"number":4,"state":"running","attempted":3,"accepted":2,"delay_mean_ns":1500000,"lag_mean_ns":null}]})"
      "\n"
      R"({"type":"stats","id":1,"now_ns":1,"state":"running","received":8,"duplicated":3,"duplicated_unflagged":1,"redelivered":0,"out_of_order":0,)"
      R"("unexpected":0,"negative":0,"bad_checksum":4,"unasked":6,"skipped":{"expired":2,"unrequested":0,"parked":0,"cut_off":3},"confirmed":7,"answered_negatively":1,"parked_delivered":5,"bytes":1,"ended":0,)"
      R"("interval":{},"log":{"lines":1,"dropped":0,"error":""},"services":[]})"
      "\n"
      R"({"type":"bye","role":"senders"})"
      "\n");
  ASSERT_EQ(messages.size(), 4u) << nonsense.join("\n").toStdString();
  EXPECT_EQ(std::get<ErrorMessage>(*messages[0]).key, "k");
  const auto& senders = std::get<SendersStats>(*messages[1]);
  EXPECT_EQ(senders.now_ns, 1);
  EXPECT_EQ(senders.bytes, 1);
  EXPECT_EQ(senders.delay.count(), 1u);
  EXPECT_TRUE(senders.lag.empty());
  EXPECT_EQ(senders.log.dropped, 2u);
  ASSERT_EQ(senders.rows.size(), 1u);
  EXPECT_EQ(senders.rows[0].number, 4);
  EXPECT_EQ(senders.rows[0].delay_mean_ms, 1.5);
  const auto& receivers = std::get<ReceiversStats>(*messages[2]);
  EXPECT_EQ(receivers.skipped, 5);
  EXPECT_EQ(receivers.expired, 2);
  EXPECT_EQ(receivers.parked_delivered, 5);
  EXPECT_EQ(receivers.duplicated_unflagged, 1);
  EXPECT_EQ(receivers.bad_checksum, 4);
  EXPECT_EQ(receivers.unasked, 6);
  EXPECT_EQ((*std::get<ByeMessage>(*messages[3]).object)["role"], "senders");
}

TEST_F(MessageReaderTest, mutilated_messages_are_refused_not_crashed_on) {
  const std::string whole =
      std::string(hello_line) + "\n" +
      R"({"type":"stats","id":1,"now_ns":1,"state":"running","received":8,"duplicated":1,"duplicated_unflagged":0,"redelivered":0,"out_of_order":0,)"
      R"("unexpected":0,"negative":0,"bad_checksum":0,"unasked":0,"skipped":{"expired":2},"bytes":1,"ended":0,"interval":{"latency":)"
      R"({"count":2,"sum_ns":14,"min_ns":-7,"max_ns":7,"buckets":[[-7,1],[7,1]]}},"log":{"lines":1,"dropped":0,"error":""},"services":[]})"
      "\n";
  std::mt19937_64 random(1);
  const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random() % limit); };
  constexpr std::string_view bytes = "{}[]\":,-0123456789.eE\n\\tfnul \xff";
  for (int round = 0; round < 20'000; ++round) {
    std::string text = whole;
    for (std::size_t i = 0, changes = 1 + below(4); i < changes; ++i) {
      const std::size_t at = below(text.size());
      switch (below(3)) {
        case 0:
          text[at] = bytes[below(bytes.size())];
          break;
        case 1:
          text.erase(at, 1 + below(8));
          break;
        default:
          text.insert(at, 1 + below(12), bytes[below(bytes.size())]);
      }
    }
    MessageReader other;
    other.feed(QByteArray::fromStdString(text));
    other.end();
  }
}

TEST_F(MessageReaderTest, what_is_wrong_is_named_by_its_key_with_what_would_be_right) {
  const auto stats = [](const std::string& rest) {
    return R"({"type":"stats","id":1,"now_ns":1,"bytes":1,"attempted":3,"accepted":2,"refused":0,)" + rest + "}";
  };
  const auto delay = [&](const std::string& histogram) { return stats(R"("interval":{"delay":)" + histogram + "}"); };
  const auto rows = [&](const std::string& services) {
    return stats(R"("interval":{},"log":{"lines":1,"dropped":0},"services":)" + services);
  };
  const std::pair<std::string, const char*> wrong[] = {
      {R"({"type":"state","state":5})", "state is 5, it has to be text"},
      {R"({"type":"state","state":null})", "state is null, it has to be text"},
      {R"({"type":"state","state":{"state":"waiting"}})", "state is an object, it has to be text"},
      {R"({"type":"state"})", "state is missing, it has to be text"},
      {R"({"type":"state","state":"waiting","for":[1,2]})", "for is a list, it has to be text"},
      {R"({"type":"state","state":"waiting","broker_now_ns":1.5})",
       "broker_now_ns is 1.5, it has to be a whole number from -9223372036854775808 to 9223372036854775807"},
      {R"({"state":"waiting"})", "type is missing, it has to be text"},
      {R"({"type":true})", "type is true, it has to be text"},
      {R"({"type":"stat"})", "type is \"stat\", it has to be hello, state, stats, clock, fault, bye or error"},
      {R"({"type":"hello","control":1e300})", "control is 1e+300, it has to be a whole number from -2147483648 to 2147483647"},
      {R"({"type":"hello","control":1,"wire":99999999999})",
       "wire is 99999999999, it has to be a whole number from -2147483648 to 2147483647"},
      {R"({"type":"hello","control":1,"wire":1,"role":"broker","version":"1","now_ns":5,"host":["x"]})",
       "host is a list, it has to be an object"},
      {R"({"type":"hello","control":1,"wire":1,"role":"broker","version":"1","now_ns":5,"host":{},"port":70000})",
       "port is 70000, it has to be a whole number from 0 to 65535"},
      {R"({"type":"fault"})", "message is missing, it has to be text"},
      {R"({"type":"error","message":"m","key":1})", "key is 1, it has to be text"},
      {R"({"type":"stats","id":1,"now_ns":1,"bytes":-1})", "bytes is -1, it has to be a whole number from 0 to 1152921504606846976"},
      {stats(R"("warmup":[])"), "warmup is a list, it has to be an object"},
      {stats(R"("warmup":{})"), "warmup.attempted is missing, it has to be a whole number"},
      {stats(R"("interval":7)"), "interval is 7, it has to be an object"},
      {delay("[]"), "interval.delay is a list, it has to be an object"},
      {delay("{}"), "interval.delay.buckets is missing, it has to be a list"},
      {delay(R"({"buckets":[7]})"), "interval.delay.buckets holds 7, it has to hold [bucket, count]"},
      {delay(R"({"buckets":[[7,1.5]]})"),
       "interval.delay.buckets.count is 1.5, it has to be a whole number from 0 to 18446744073709551615"},
      {delay(R"({"buckets":[[7,1]],"count":3})"), "interval.delay.count is 3, but the buckets hold 1"},
      {stats(R"("interval":{},"log":{"lines":1})"), "log.dropped is missing, it has to be a whole number"},
      {rows("{}"), "services is an object, it has to be a list"},
      {rows(R"([{"number":1,"attempted":1},5])"), "services[1] is 5, it has to be an object"},
      {rows(R"([{"number":1,"attempted":1,"delay_mean_ns":"1"}])"), "services[0].delay_mean_ns is \"1\", it has to be a number"},
      {R"({"type":"clock","line":5})", "line is 5, it has to be an object"},
      {R"({"type":"clock","line":{"at_ns":1}})", "line.offset_ns is missing, it has to be a whole number"},
      {R"({"type":"clock","line":{"at_ns":1,"offset_ns":2,"drift_ppt":10000000001}})",
       "line.drift_ppt is 10000000001, it has to be a whole number from -10000000000 to 10000000000"},
      {R"({"type":"clock","line":{"at_ns":1,"offset_ns":2,"drift_ppt":0},"at_ns":600000000000000000})",
       "at_ns is 600000000000000000, it has to be a whole number from -576460752303423488 to 576460752303423488"},
  };
  for (const auto& [line, told] : wrong) {
    MessageReader other;
    QStringList said;
    QObject::connect(&other, &MessageReader::nonsense, [&said](const QString& what) { said += what; });
    other.feed(QByteArray::fromStdString(line) + "\n");
    ASSERT_EQ(said.size(), 1) << line;
    EXPECT_TRUE(said[0].startsWith(QString::fromStdString('"' + line.substr(0, 100)))) << said[0].toStdString();
    EXPECT_TRUE(said[0].endsWith(QString::fromUtf8(" (%1)").arg(QString::fromUtf8(told)))) << said[0].toStdString() << "\nnot: " << told;
  }
}

TEST_F(MessageReaderTest, of_a_wrong_value_is_shown_only_so_much_and_nothing_that_a_terminal_obeys) {
  reader.feed(R"({"type":"\u001b[31m)" + QByteArray(1000, 'x') + "\"}\n");
  ASSERT_EQ(nonsense.size(), 1);
  EXPECT_TRUE(nonsense[0].contains(R"((type is "\u001b[31mxxx)")) << nonsense[0].toStdString();
  EXPECT_FALSE(nonsense[0].contains(QChar(0x1B)));
  EXPECT_LT(nonsense[0].size(), 300);
}

TEST_F(MessageReaderTest, who_says_more_than_anybody_takes_is_not_read_any_more) {
  QByteArray lines = QByteArray(hello_line) + "\n";
  for (int i = 0; i < MessageReader::held_max; ++i) lines += QByteArray(waiting) + "\n";
  reader.feed(lines);
  EXPECT_EQ(messages.size(), static_cast<std::size_t>(MessageReader::held_max));
  EXPECT_EQ(too_much, QStringList{"said more than this bench takes: 10000 messages, or 512 MiB of them, wait"});
  EXPECT_TRUE(nonsense.isEmpty());
}

TEST_F(MessageReaderTest, what_is_taken_makes_room) {
  for (int i = 0; i < 2 * MessageReader::held_max; ++i) {
    reader.feed(QByteArray(waiting) + "\n");
    messages.clear();
  }
  EXPECT_TRUE(too_much.isEmpty());
}

}  // namespace
}  // namespace n2nq::app
