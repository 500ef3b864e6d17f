// SPDX-License-Identifier: GPL-3.0-or-later
// The check of lab machines, on pretend hosts. Takes the programs' folder.
#include <QFile>
#include <QTemporaryDir>

#include "app/host/check_advice.h"
#include "app/host/ssh_room.h"
#include "tests/app/host/host_check_kit.h"
#include "tests/app/host/ssh_launcher_kit.h"
#include "workers/recorder/staging_ring.h"

namespace n2nq::app {
namespace {

using testing::HostCheckTest;
using testing::LoginScript;
using testing::PretendPerson;
using testing::programs_folder;

TEST_F(HostCheckTest, what_is_well_is_green_and_what_is_not_says_what_to_do) {
  HostPool pool(person, programs_folder);
  HostCheck check(pool);
  Hosts hosts;
  hosts.local_data_address = lab->bench_address().toStdString();
  for (const int host : {1, 2, 3}) hosts.hosts.push_back(lab->host(host));
  const LoginScript talks(*lab, 2);
  // As long as somebody hears it, and more than goes for silence where a command has ended.
  talks.set("echo hello; while echo much noise from a child in the background, more than 1 kB/s of it; do sleep 0.01; done &");
  Host nobody = lab->host(1);
  nobody.name = "nobody";
  nobody.address = "127.0.0.1";
  nobody.port = 9;
  hosts.hosts.push_back(nobody);
  bool over = false;
  QObject::connect(&check, &HostChecker::checked, [&] { over = true; });
  check.check(hosts, 0);
  EXPECT_TRUE(check.is_checking());
  ASSERT_TRUE(wait_until([&] { return over; }));
  const std::string all = report_json(names_in_order(hosts, check.hosts()), check.hosts(), check.paths()).dump(1);
  for (const char* name : {"h1", "h2"}) {
    const HostReport& report = check.hosts().at(name);
    for (const CheckItem item : {CheckItem::reach, CheckItem::login, CheckItem::architecture, CheckItem::kernel, CheckItem::cores,
                                 CheckItem::folder, CheckItem::floor}) {
      EXPECT_EQ(report.of(item).state, CheckState::good) << name << ' ' << static_cast<int>(item) << all;
    }
    EXPECT_NE(report.of(CheckItem::disk).state, CheckState::not_known) << all;
    for (const char* figure : {"clock_read_ns", "timer_wake_p50_ns", "timer_wake_p99_ns", "loopback_echo_p99_ns"})
      EXPECT_GT(report.of(CheckItem::floor).beside.value(figure, 0.0), 0) << figure << all;
    ASSERT_TRUE(report.of(CheckItem::clock).bound_us) << all;
    EXPECT_GT(*report.of(CheckItem::clock).bound_us, 0) << all;
  }
  for (const auto& [from, to] : {std::pair("h1", "h2"), {"h2", "h1"}, {"local", "h1"}, {"h2", "local"}}) {
    EXPECT_EQ(check.paths().at({from, to}).state, CheckState::good) << from << ' ' << to << all;
  }
  const CheckCell& changed = check.hosts().at("h3").of(CheckItem::reach);
  EXPECT_EQ(changed.state, CheckState::bad);
  EXPECT_EQ(changed.text, "key changed");
  EXPECT_FALSE(changed.what_to_do.isEmpty());
  EXPECT_EQ(check.hosts().at("nobody").of(CheckItem::reach).state, CheckState::bad);
  EXPECT_EQ(check.paths().at({"h1", "h3"}).state, CheckState::not_known);
  EXPECT_EQ(worst_of(check.hosts(), check.paths()), CheckState::bad);
  for (const auto& [name, report] : check.hosts()) {
    for (const CheckCell& cell : report.cells) {
      EXPECT_NE(cell.state, CheckState::checking) << name;
      EXPECT_TRUE(cell.state != CheckState::bad || !cell.what_to_do.isEmpty()) << name;
      EXPECT_FALSE(cell.what_to_do.startsWith("See the sentence above")) << name << ": " << cell.detail.toStdString();
    }
  }
  for (const int host : {1, 2}) EXPECT_TRUE(wait_until([&] { return lab->programs(host).isEmpty(); }));
}

TEST_F(HostCheckTest, a_machine_that_is_lost_meanwhile_is_named_as_that) {
  Hosts hosts;
  hosts.local_data_address = lab->bench_address().toStdString();
  hosts.hosts = {lab->host(1), lab->host(2)};
  for (const CheckItem until : {CheckItem::login, CheckItem::kernel}) {
    HostPool pool(person, programs_folder);
    HostCheck check(pool);
    bool over = false, plugged_in = true;
    QObject::connect(&check, &HostChecker::checked, [&] { over = true; });
    QObject::connect(&check, &HostChecker::changed, [&] {
      const auto h2 = check.hosts().find("h2");
      if (h2 != check.hosts().end() && h2->second.of(until).state == CheckState::good && std::exchange(plugged_in, false))
        lab->set_plugged_in(2, false);
    });
    check.check(hosts, 0);
    ASSERT_TRUE(wait_until([&] { return over; }));
    lab->set_plugged_in(2, true);
    EXPECT_FALSE(plugged_in);
    const std::string all = report_json(names_in_order(hosts, check.hosts()), check.hosts(), check.paths()).dump(1);
    const HostReport& h2 = check.hosts().at("h2");
    for (const CheckItem item : {CheckItem::folder, CheckItem::login, CheckItem::disk})
      EXPECT_NE(h2.of(item).state, CheckState::bad) << all;
    EXPECT_EQ(check.hosts().at("h1").of(CheckItem::reach).state, CheckState::good) << all;
    EXPECT_EQ(check.paths().at({"local", "h1"}).state, CheckState::good) << all;
    const bool known = h2.of(CheckItem::reach).state == CheckState::bad;
    EXPECT_TRUE(known || until != CheckItem::login) << all;
    EXPECT_TRUE(!known || check.paths().at({"h1", "h2"}).state != CheckState::bad) << all;
  }
}

TEST_F(HostCheckTest, a_check_can_be_cancelled_and_begun_again) {
  HostPool pool(person, programs_folder);
  HostCheck check(pool);
  Hosts hosts;
  hosts.hosts = {lab->host(1)};
  int over = 0;
  QObject::connect(&check, &HostChecker::checked, [&] { ++over; });
  check.check(hosts, 0);
  check.cancel();
  EXPECT_FALSE(check.is_checking());
  EXPECT_EQ(check.hosts().at("h1").of(CheckItem::login).state, CheckState::not_checked);
  check.check(hosts, 0);
  ASSERT_TRUE(wait_until([&] { return over > 0 && !check.is_checking(); }));
  EXPECT_EQ(check.hosts().at("h1").of(CheckItem::folder).state, CheckState::good);
  EXPECT_EQ(check.paths().at({"h1", "local"}).state, CheckState::not_known) << "no local_data_address";
}

TEST_F(HostCheckTest, what_n2nq_says_of_a_wrong_data_address_is_told) {
  HostPool pool(person, programs_folder);
  HostCheck check(pool);
  Hosts hosts;
  // The second has an address that it listens on, and that nobody reaches.
  lab->inside(2, {"ip", "address", "add", "192.0.2.2/32", "dev", "lo"});
  hosts.hosts = {lab->host(1), lab->host(2)};
  hosts.hosts[0].data_address = "192.0.2.77";
  hosts.hosts[1].data_address = "192.0.2.2";
  bool over = false;
  QObject::connect(&check, &HostChecker::checked, [&] { over = true; });
  check.check(hosts, 0);
  ASSERT_TRUE(wait_until([&] { return over; }));
  const CheckCell& way = check.paths().at({"local", "h1"});
  EXPECT_EQ(way.state, CheckState::bad);
  EXPECT_TRUE(way.detail.contains("cannot listen on 192.0.2.77")) << way.detail.toStdString();
  EXPECT_TRUE(way.what_to_do.contains("data address")) << way.what_to_do.toStdString();
  for (const CheckItem item : {CheckItem::folder, CheckItem::kernel, CheckItem::floor})
    EXPECT_EQ(check.hosts().at("h1").of(item).state, CheckState::good) << "that has nothing to do with it";
  EXPECT_TRUE(check.hosts().at("h1").of(CheckItem::clock).detail.contains("No way there from this machine"));
  EXPECT_EQ(check.paths().at({"h1", "h2"}).state, CheckState::bad) << check.paths().at({"h1", "h2"}).detail.toStdString();
  EXPECT_EQ(check.hosts().at("h1").of(CheckItem::floor).state, CheckState::good) << "though none of its ways leads anywhere";
  lab->inside(2, {"ip", "address", "delete", "192.0.2.2/32", "dev", "lo"});
}

/// A message of more than 4 KiB.
TEST_F(HostCheckTest, what_n2nq_says_in_parts_is_told_as_one) {
  QTemporaryDir folder;
  const QString program = folder.filePath("n2nq-broker");
  QFile script(program);
  ASSERT_TRUE(script.open(QIODevice::WriteOnly));
  script.write("#!/bin/sh\n[ \"$1\" = --version ] && exec echo n2nq-broker " N2NQ_VERSION
               "\nprintf '\\002{\"type\":\"error\",\\nnoise\\n\\002\"message\":\"no room for anything\"}\\003\\n'; exit 2\n");
  script.setPermissions(QFile::ReadOwner | QFile::ExeOwner);
  script.close();
  HostPool pool(person, folder.path());
  HostCheck check(pool);
  Hosts hosts;
  hosts.hosts = {lab->host(1)};
  bool over = false;
  QObject::connect(&check, &HostChecker::checked, [&] { over = true; });
  check.check(hosts, 0);
  ASSERT_TRUE(wait_until([&] { return over; }));
  const CheckCell kernel = check.hosts().at("h1").of(CheckItem::kernel);
  EXPECT_TRUE(kernel.detail.contains("N2NQ does not run there: no room for anything")) << kernel.detail.toStdString();
}

TEST_F(HostCheckTest, one_machine_under_two_names_has_its_port_once_and_is_not_to_blame) {
  HostPool pool(person, programs_folder);
  HostCheck check(pool);
  Hosts hosts;
  hosts.local_data_address = lab->bench_address().toStdString();
  hosts.hosts = {lab->host(1), lab->host(1), lab->host(2)};
  hosts.hosts[1].name = "twin";
  bool over = false;
  QObject::connect(&check, &HostChecker::checked, [&] { over = true; });
  constexpr int port = 7171;
  check.check(hosts, port);
  ASSERT_TRUE(wait_until([&] { return over; }));
  const std::string all = report_json(names_in_order(hosts, check.hosts()), check.hosts(), check.paths()).dump(1);
  EXPECT_EQ(worst_of(check.hosts(), check.paths()), CheckState::warning) << all;
  const bool twin_is_second = check.paths().at({"h2", "twin"}).state == CheckState::warning;
  const std::string first = twin_is_second ? "h1" : "twin", second = twin_is_second ? "twin" : "h1";
  EXPECT_EQ(check.paths().at({"h2", first}).state, CheckState::good) << all;
  const CheckCell& way = check.paths().at({"h2", second});
  EXPECT_EQ(way.state, CheckState::warning) << all;
  EXPECT_EQ(way.text.toStdString(), "as " + first);
  EXPECT_TRUE(way.detail.startsWith(QString::fromStdString("It is the machine " + first + ": N2NQ listens there at "))) << all;
  EXPECT_EQ(check.paths().at({second, "h2"}).state, CheckState::good) << all;
}

TEST_F(HostCheckTest, machines_that_each_have_the_others_address_do_not_reach_each_other) {
  for (const int host : {1, 2}) lab->inside(host, {"ip", "address", "add", "192.0.2.9/32", "dev", "lo"});
  HostPool pool(person, programs_folder);
  HostCheck check(pool);
  Hosts hosts;
  hosts.local_data_address = lab->bench_address().toStdString();
  hosts.hosts = {lab->host(1), lab->host(2)};
  for (Host& host : hosts.hosts) host.data_address = "192.0.2.9";
  bool over = false;
  QObject::connect(&check, &HostChecker::checked, [&] { over = true; });
  check.check(hosts, 7171);
  ASSERT_TRUE(wait_until([&] { return over; }));
  const std::string all = report_json(names_in_order(hosts, check.hosts()), check.hosts(), check.paths()).dump(1);
  for (const auto& [from, to] : {std::pair{"h1", "h2"}, {"h2", "h1"}}) {
    const CheckCell& way = check.paths().at({from, to});
    EXPECT_EQ(way.state, CheckState::bad) << all;
    EXPECT_TRUE(way.what_to_do.contains("Does something else answer")) << way.what_to_do.toStdString() << all;
  }
  for (const int host : {1, 2}) lab->inside(host, {"ip", "address", "delete", "192.0.2.9/32", "dev", "lo"});
}

TEST_F(HostCheckTest, one_machine_alone_tells_its_floor_and_this_machine_what_it_is) {
  lab->inside(1, {"sh", "-c", "mkdir /small && mount -t tmpfs -o size=60m,mode=1777 small /small"});
  HostPool pool(person, programs_folder);
  HostCheck check(pool);
  Hosts hosts;
  hosts.hosts = {lab->host(1)};
  hosts.hosts[0].folder = "/small/n2nq";
  bool over = false;
  QObject::connect(&check, &HostChecker::checked, [&] { over = true; });
  check.check(hosts, 0);
  ASSERT_TRUE(wait_until([&] { return over; }));
  const HostReport &h1 = check.hosts().at("h1"), &here = check.hosts().at("local");
  EXPECT_EQ(h1.of(CheckItem::floor).state, CheckState::good) << h1.of(CheckItem::floor).detail.toStdString();
  EXPECT_TRUE(h1.of(CheckItem::disk).text.endsWith("MiB"))
      << "of the folder, not of the home: " << h1.of(CheckItem::disk).text.toStdString();
  EXPECT_EQ(here.of(CheckItem::kernel).state, CheckState::good);
  EXPECT_EQ(here.of(CheckItem::floor).state, CheckState::good) << here.of(CheckItem::floor).detail.toStdString();
  for (const CheckItem item : {CheckItem::reach, CheckItem::folder}) EXPECT_FALSE(here.of(item).detail.isEmpty());
  EXPECT_FALSE(check.paths().contains({"h1", "h1"}));
  const auto check_again = [&] {
    over = false;
    HostPool anew(person, programs_folder);
    HostCheck again(anew);
    QObject::connect(&again, &HostChecker::checked, [&] { over = true; });
    again.check(hosts, 0);
    EXPECT_TRUE(wait_until([&] { return over; }));
    return again.hosts().at("h1");
  };
  for (const bool logs_alone : {false, true}) {
    lab->inside(1, {"sh", "-c",
                    logs_alone ? "rm /small/filler; mkdir -p /small/n2nq/runs; mount -t tmpfs -o size=100k,mode=777 logs /small/n2nq/runs"
                               : "head -c 60M /dev/zero >/small/filler || true"});
    const HostReport full = check_again();
    const std::string all = report_json({"h1"}, {{"h1", full}}, {}).dump(1);
    EXPECT_EQ(full.of(CheckItem::folder).state, CheckState::bad) << all;
    EXPECT_TRUE(full.of(CheckItem::folder).detail.startsWith("the disk is full: ")) << all;
    EXPECT_TRUE(full.of(CheckItem::folder).detail.contains("/small/n2nq/runs lies, 1.0 MiB are needed for the logs of a run")) << all;
    EXPECT_EQ(full.of(CheckItem::disk).state, CheckState::bad) << all;
    for (const CheckItem item : {CheckItem::architecture, CheckItem::kernel, CheckItem::cores, CheckItem::clock, CheckItem::floor})
      EXPECT_EQ(full.of(item).state, CheckState::good) << "that has nothing to do with it" << all;
  }
  lab->inside(1, {"sh", "-c", "umount /small/n2nq/runs && mount -o remount,size=20g /small"});
  EXPECT_EQ(check_again().of(CheckItem::disk).text.toStdString(), "20 GiB") << "tenths tell nothing, and would take the unit's room";
  lab->inside(1, {"umount", "/small"});
}

TEST_F(HostCheckTest, a_machine_without_memory_for_what_is_not_in_the_logs_yet_is_not_green) {
  EXPECT_EQ(staging_bytes_wanted, worker::StagingRing::bytes_wanted) << "what a start needs is what a check asks for";
  EXPECT_EQ(staging_bytes_min, worker::StagingRing::bytes_min);
  Hosts hosts;
  hosts.hosts = {lab->host(1), lab->host(2)};
  const auto h2_with = [&](const char* shm) {
    lab->inside(2, {"sh", "-c", shm});
    HostPool pool(person, programs_folder);
    HostCheck check(pool);
    bool over = false;
    QObject::connect(&check, &HostChecker::checked, [&] { over = true; });
    check.check(hosts, 0);
    EXPECT_TRUE(wait_until([&] { return over; }));
    const std::string all = report_json(names_in_order(hosts, check.hosts()), check.hosts(), check.paths()).dump(1);
    EXPECT_EQ(check.hosts().at("h1").of(CheckItem::folder).state, CheckState::good) << all;
    for (const CheckItem item : {CheckItem::disk, CheckItem::kernel, CheckItem::clock, CheckItem::floor})
      EXPECT_EQ(check.hosts().at("h2").of(item).state, check.hosts().at("h1").of(item).state) << "that has nothing to do with it" << all;
    return check.hosts().at("h2").of(CheckItem::folder);
  };
  const CheckCell full = h2_with("mount -o remount,size=64k /dev/shm");
  EXPECT_EQ(full.state, CheckState::bad);
  EXPECT_EQ(full.detail.toStdString(),
            "0.1 MiB are free in /dev/shm, 1.0 MiB are needed for what groups have not written to their logs yet");
  EXPECT_TRUE(full.what_to_do.contains("mount -o remount,size=128m /dev/shm), or run with log: off")) << full.what_to_do.toStdString();
  const CheckCell little = h2_with("mount -o remount,size=40m /dev/shm");
  EXPECT_EQ(little.state, CheckState::warning);
  EXPECT_TRUE(little.detail.startsWith("40.0 MiB are free in /dev/shm, where")) << little.detail.toStdString();
  EXPECT_TRUE(little.what_to_do.contains("size=128m")) << little.what_to_do.toStdString();
  EXPECT_EQ(h2_with("mount -o remount,size=128m /dev/shm").state, CheckState::good);
  const CheckCell unwritable = h2_with("mount -o remount,ro /dev/shm");
  EXPECT_EQ(unwritable.state, CheckState::bad);
  EXPECT_EQ(unwritable.detail.toStdString(), "/dev/shm, where what groups have not written to their logs yet lies in memory, is read-only");
  const CheckCell closed = h2_with("mount -o remount,rw /dev/shm && chmod 755 /dev/shm");
  EXPECT_EQ(closed.state, CheckState::bad);
  EXPECT_EQ(closed.detail.toStdString(),
            "no file can be made in /dev/shm, where what groups have not written to their logs yet lies in memory");
  const CheckCell none = h2_with("umount /dev/shm && rmdir /dev/shm");
  EXPECT_EQ(none.state, CheckState::bad);
  EXPECT_EQ(none.detail.toStdString(), "there is no /dev/shm, where what groups have not written to their logs yet lies in memory");
  lab->inside(2, {"sh", "-c", "mkdir /dev/shm && mount -t tmpfs -o mode=1777,size=128m shm /dev/shm"});
}

/// Ends as soon as it is told something; with an argument, as --version, at once.
void write_program_that_ends(const QString& path) {
  QFile script(path);
  ASSERT_TRUE(script.open(QIODevice::WriteOnly));
  script.write("#!/bin/sh\ntest $# -gt 0 || read line\nexit 3\n");
  script.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
}

TEST_F(HostCheckTest, a_receiver_that_cannot_be_started_and_one_that_ends_each_have_their_own_advice) {
  const QTemporaryDir beside;
  ASSERT_TRUE(QFile::link(programs_folder + "/n2nq-broker", beside.filePath("n2nq-broker")));
  Hosts hosts;
  hosts.local_data_address = lab->bench_address().toStdString();
  hosts.hosts = {lab->host(1)};
  const auto ways = [&] {
    HostPool pool(person, beside.path());
    HostCheck check(pool);
    bool over = false;
    QObject::connect(&check, &HostChecker::checked, [&] { over = true; });
    check.check(hosts, 0);
    EXPECT_TRUE(wait_until([&] { return over; }));
    return check.paths();
  };
  const auto expect_not_started = [](const CheckCell& way, const QString& why) {
    EXPECT_EQ(way.state, CheckState::bad);
    EXPECT_TRUE(way.detail.startsWith("The receiver there could not be started: ")) << way.detail.toStdString();
    EXPECT_TRUE(way.detail.contains(why)) << way.detail.toStdString();
    EXPECT_EQ(way.what_to_do, "Mend what that says, and check again");
  };
  const auto missing = ways();
  expect_not_started(missing.at({"local", "h1"}), "n2nq-receivers is not there or cannot be run");
  expect_not_started(missing.at({"h1", "local"}), "n2nq-receivers cannot be read");
  write_program_that_ends(beside.filePath("n2nq-receivers"));
  const auto ending = ways();
  expect_not_started(ending.at({"h1", "local"}), "n2nq-receivers does not run there: exit code 3");
  const CheckCell& ended = ending.at({"local", "h1"});
  EXPECT_EQ(ended.detail, "The receiver there failed: it ended with exit code 3");
  EXPECT_TRUE(ended.what_to_do.startsWith("Look at that machine for what ends processes there")) << ended.what_to_do.toStdString();
}

TEST_F(HostCheckTest, where_n2nq_cannot_be_started_on_this_machine_what_that_says_is_to_be_mended) {
  const QTemporaryDir nothing;
  HostPool pool(person, nothing.path());
  HostCheck check(pool);
  bool over = false;
  QObject::connect(&check, &HostChecker::checked, [&] { over = true; });
  check.check({}, 0);
  ASSERT_TRUE(wait_until([&] { return over; }));
  const CheckCell& folder = check.hosts().at("local").of(CheckItem::folder);
  EXPECT_TRUE(folder.detail.contains("n2nq-broker is not there or cannot be run: build it")) << folder.detail.toStdString();
  EXPECT_EQ(folder.what_to_do, "Mend what that says, and check again");
}

TEST_F(HostCheckTest, what_a_machine_is_called_is_not_taken_for_what_is_wrong_there) {
  const QTemporaryDir beside;
  write_program_that_ends(beside.filePath("n2nq-broker"));
  lab->inside(2, {"sh", "-c", "mkdir /still && mount -t tmpfs -o size=64m,mode=1777,noexec still /still"});
  HostPool pool(person, beside.path());
  HostCheck check(pool);
  Hosts hosts;
  hosts.hosts = {lab->host(1), lab->host(2), lab->host(2), lab->host(3)};
  hosts.hosts[0].name = "noexec-vm";
  hosts.hosts[1].name = "architecture-1";
  hosts.hosts[2].folder = "/still/bench";
  hosts.hosts[3].name = "revoked-3";
  bool over = false;
  QObject::connect(&check, &HostChecker::checked, [&] { over = true; });
  check.check(hosts, 0);
  EXPECT_TRUE(wait_until([&] { return over; }));
  lab->inside(2, {"sh", "-c", "umount /still && rmdir /still"});
  const std::string all = report_json(names_in_order(hosts, check.hosts()), check.hosts(), check.paths()).dump(1);
  for (const char* name : {"noexec-vm", "architecture-1"}) {
    const CheckCell& folder = check.hosts().at(name).of(CheckItem::folder);
    EXPECT_EQ(folder.text, "no") << all;
    EXPECT_TRUE(folder.detail.startsWith("n2nq-broker does not run there: exit code 3")) << all;
    EXPECT_EQ(check.hosts().at(name).of(CheckItem::architecture).state, CheckState::not_known) << all;
  }
  EXPECT_EQ(check.hosts().at("h2").of(CheckItem::folder).text, "noexec") << all;
  EXPECT_EQ(check.hosts().at("revoked-3").of(CheckItem::reach).text, "key changed") << all;
}

TEST_F(HostCheckTest, a_machine_is_not_named_twice) {
  HostPool pool(person, programs_folder);
  HostCheck check(pool);
  Hosts hosts;
  hosts.hosts = {lab->host(1)};
  hosts.hosts[0].folder = "/etc/bench";
  bool over = false;
  QObject::connect(&check, &HostChecker::checked, [&] { over = true; });
  check.check(hosts, 0);
  ASSERT_TRUE(wait_until([&] { return over; }));
  EXPECT_TRUE(check.hosts().at("h1").of(CheckItem::folder).detail.startsWith("making the folder")) << "the row says whose";
}

TEST_F(HostCheckTest, of_a_machine_that_is_no_more_nothing_stays) {
  HostPool pool(person, programs_folder);
  HostCheck check(pool);
  Hosts hosts;
  hosts.hosts = {lab->host(1), lab->host(2)};
  bool over = false;
  QObject::connect(&check, &HostChecker::checked, [&] { over = true; });
  check.check(hosts, 0);
  check.leave_out("h2");
  ASSERT_TRUE(wait_until([&] { return over; }));
  EXPECT_FALSE(check.hosts().contains("h2"));
  EXPECT_EQ(check.hosts().at("h1").of(CheckItem::reach).state, CheckState::good);
  EXPECT_TRUE(check.paths().contains(std::pair(std::string(local_host), std::string("h1"))));
  EXPECT_FALSE(check.paths().contains(std::pair(std::string("h1"), std::string("h2"))));
  check.forget_ways_to(std::string(local_host));
  EXPECT_TRUE(check.paths().contains(std::pair(std::string(local_host), std::string("h1"))));
  EXPECT_FALSE(check.paths().contains(std::pair(std::string("h1"), std::string(local_host))));
  check.leave_out("h1");
  EXPECT_FALSE(check.hosts().contains("h1"));
  EXPECT_TRUE(check.paths().empty());
}

TEST_F(HostCheckTest, a_machine_whose_sftp_says_nothing_is_reached_and_logged_in_to) {
  lab->change_sshd(2, "s#^Subsystem.*#Subsystem sftp /bin/sleep 4714#");
  HostPool pool(person, programs_folder);
  HostCheck check(pool);
  Hosts hosts;
  hosts.hosts = {lab->host(1), lab->host(2)};
  bool over = false;
  QObject::connect(&check, &HostChecker::checked, [&] { over = true; });
  check.check(hosts, 0);
  EXPECT_TRUE(wait_until([&] { return over; }));
  lab->change_sshd(2, "s#^Subsystem.*#Subsystem sftp internal-sftp#");
  lab->inside(2, {"sh", "-c", "kill $(pgrep -f '^(/bin/)?sleep 4714')"});
  const HostReport& report = check.hosts().at("h2");
  const std::string all = report_json(names_in_order(hosts, check.hosts()), check.hosts(), check.paths()).dump(1);
  for (const CheckItem item : {CheckItem::reach, CheckItem::login}) EXPECT_EQ(report.of(item).state, CheckState::good) << all;
  EXPECT_EQ(report.of(CheckItem::folder).state, CheckState::bad) << all;
  EXPECT_EQ(report.of(CheckItem::folder).text, "no answer") << all;
  EXPECT_EQ(report.of(CheckItem::disk).state, CheckState::not_known) << all;
  for (const CheckItem item : {CheckItem::folder, CheckItem::disk}) {
    EXPECT_EQ(report.of(item).detail, "h2 did not answer for 8 s when SFTP was begun") << all;
    EXPECT_TRUE(report.of(item).what_to_do.contains("Look at Subsystem sftp in its sshd_config")) << all;
  }
  EXPECT_TRUE(report.of(CheckItem::kernel).detail.startsWith("Not looked at: ")) << all;
  EXPECT_EQ(check.hosts().at("h1").of(CheckItem::folder).state, CheckState::good) << "that has nothing to do with it";
}

/// Compares the fingerprint before they answer.
struct SlowPerson : PretendPerson {
  std::function<void(bool)> answer;
  void ask_host_key(const HostKeyQuestion& question, std::function<void(bool)> answered) override {
    key_questions.push_back(question);
    answer = std::move(answered);
  }
};

TEST_F(HostCheckTest, the_time_that_a_person_takes_to_answer_neither_counts_nor_holds_up_the_others) {
#ifdef __SANITIZE_ADDRESS__
  constexpr int limit_ms = 35'000;
#else
  constexpr int limit_ms = 20'000;  // a busy machine needs some of it for the last one, who comes when a person has answered
#endif
  SlowPerson slow;
  HostPool pool(slow, programs_folder);
  HostCheck check(pool, nullptr, limit_ms);
  Hosts hosts;
  hosts.hosts = {lab->host(1), lab->host(4), lab->host(2)};
  bool over = false;
  QObject::connect(&check, &HostChecker::checked, [&] { over = true; });
  const auto state_of = [&](const char* from, const char* to) { return check.paths().at({from, to}).state; };
  check.check(hosts, 0);
  ASSERT_TRUE(wait_until([&] { return over || slow.answer; }));
  QDeadlineTimer longer(limit_ms + 1'000);
  ASSERT_TRUE(wait_until([&] { return over || (state_of("h1", "h2") != CheckState::checking && state_of("h2", "h1") != CheckState::checking); }));
  ASSERT_TRUE(wait_until([&] { return over || longer.hasExpired(); }));
  EXPECT_TRUE(check.is_checking());
  for (const char* name : {"h1", "h2"}) {
    EXPECT_EQ(check.hosts().at(name).of(CheckItem::floor).state, CheckState::good) << name;
    EXPECT_EQ(check.hosts().at(name).of(CheckItem::clock).state, CheckState::good) << name;
    EXPECT_EQ(state_of(name, "h4"), CheckState::checking) << name;
  }
  EXPECT_EQ(state_of("h1", "h2"), CheckState::good);
  slow.answer(true);
  ASSERT_TRUE(wait_until([&] { return over; }));
  for (const auto& [from, to] : {std::pair("h1", "h4"), {"h4", "h1"}, {"h4", "h2"}, {"local", "h4"}}) EXPECT_EQ(state_of(from, to), CheckState::good) << from << to;
  EXPECT_EQ(check.hosts().at("h4").of(CheckItem::floor).state, CheckState::good);
  EXPECT_EQ(check.hosts().at("h4").of(CheckItem::login).state, CheckState::good);
  EXPECT_EQ(slow.key_questions.size(), 1u);
}

TEST_F(HostCheckTest, behind_a_sleep_of_this_machine_a_start_gets_new_connections) {
  qint64 slept_ms = 5'000;
  HostPool pool(person, programs_folder, nullptr, [&] { return slept_ms; });
  const auto connected = [this](LabHost& host) {
    bool answered = false;
    host.with_control(&host, [&](const SshProblem&, SshSession*) { answered = true; });
    EXPECT_TRUE(wait_until([&] { return answered; }));
    return host.control() != nullptr;
  };
  const auto before = pool.host(lab->host(1));
  ASSERT_TRUE(connected(*before));
  slept_ms += 20;
  EXPECT_EQ(pool.host(lab->host(1)), before) << "clocks are not read at one instant";
  slept_ms += 8 * 60'000;
  const auto behind = pool.host(lab->host(1));
  EXPECT_NE(behind, before);
  EXPECT_TRUE(connected(*behind));
  EXPECT_EQ(pool.host(lab->host(1)), behind);
  EXPECT_NE(before->control(), nullptr) << "who has one keeps it";
}

TEST_F(HostCheckTest, many_silent_ways_take_no_time_from_the_rest) {
#ifdef __SANITIZE_ADDRESS__
  constexpr int far_hosts = 11;
#else
  constexpr int far_hosts = 8;  // more would add ways between them
#endif
  HostPool pool(person, programs_folder);
  HostCheck check(pool, nullptr, far_hosts * 5'000 - 2'000);  // one after the other they would take 5 s each
  lab->change_sshd(2, "1i MaxStartups 100");  // all of them are that machine
  check_far_hosts(check, far_hosts);
  lab->change_sshd(2, "/MaxStartups 100/d");
  for (int number = 1; number <= far_hosts; ++number) {
    EXPECT_EQ(check.paths().at({"local", "far-" + std::to_string(number)}).state, CheckState::good) << number;
  }
  EXPECT_EQ(check.hosts().at("h1").of(CheckItem::floor).state, CheckState::good) << "though none of its ways leads anywhere";
}

TEST_F(HostCheckTest, ways_are_tried_one_after_the_other_where_sshd_allows_no_more_processes) {
  HostPool pool(person, programs_folder);
  HostCheck check(pool);
  lab->change_sshd(1, "1i MaxSessions 2");
  check_far_hosts(check, 2);
  lab->change_sshd(1, "/MaxSessions/d");
}

}  // namespace
}  // namespace n2nq::app
