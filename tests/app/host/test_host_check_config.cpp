// SPDX-License-Identifier: GPL-3.0-or-later
// What ~/.ssh/config says of machines, and the check of these: where their names lead, and who stands on the way.
#include <QCoreApplication>
#include <QFile>

#include "app/host/check_advice.h"
#include "tests/app/host/host_check_kit.h"

namespace n2nq::app {
namespace {

using testing::HostCheckTest;
using testing::programs_folder;

/// A file of the lab's home that begins with something else for a while.
class FileWithMore {
 public:
  explicit FileWithMore(const QString& path) : file_(path) {
    EXPECT_TRUE(file_.open(QIODevice::ReadWrite));
    whole_ = file_.readAll();
  }
  ~FileWithMore() { begin_with(""); }
  void begin_with(const QByteArray& text) {
    file_.resize(0);
    file_.seek(0);
    file_.write(text + whole_);
    file_.flush();
  }

 private:
  QFile file_;
  QByteArray whole_;
};

TEST_F(HostCheckTest, a_machine_behind_a_jump_host_needs_an_address_only_for_n2nq_and_ports_of_root_are_named) {
  FileWithMore config(lab->home() + "/.ssh/config");
  config.begin_with(("Host jumped\n  HostName " + lab->address(2) + "\n  ProxyJump " + lab->address(1) + "\nHost " + lab->address(1) +
                "\n  HostKeyAlias " + lab->address(1) + '\n')
                   .toUtf8());
  HostPool pool(person, programs_folder);
  HostCheck check(pool);
  Hosts hosts;
  hosts.hosts = {lab->host(1), lab->host(2)};
  Host& jumped = hosts.hosts[1];
  jumped.name = jumped.address = "jumped";
  jumped.data_address.clear();
  bool over = false;
  QObject::connect(&check, &HostChecker::checked, [&] { over = true; });
  check.check(hosts, 0);
  ASSERT_TRUE(wait_until([&] { return over; }));
  const CheckCell& way = check.paths().at({"h1", "jumped"});
  EXPECT_EQ(way.state, CheckState::warning) << "groups run there as it is";
  EXPECT_TRUE(way.detail.contains("reached through a jump host")) << way.detail.toStdString();
  EXPECT_EQ(way.what_to_do, "Set its data address (Edit on the page Hosts, or data_address in the hosts file), if N2NQ is to run there");
  EXPECT_EQ(check.hosts().at("jumped").of(CheckItem::folder).state, CheckState::good);
  EXPECT_EQ(check.paths().at({"jumped", "h1"}).state, CheckState::good) << "a group can run there as it is";
  const CheckCell& clock = check.hosts().at("jumped").of(CheckItem::clock);
  ASSERT_TRUE(clock.bound_us) << clock.detail.toStdString();
  EXPECT_NEAR(clock.value.get<double>(), 250'000, *clock.bound_us);
  EXPECT_LT(*clock.bound_us, 60'000) << "at most a minute between both";
  EXPECT_TRUE(clock.detail.contains("by way of h1")) << clock.detail.toStdString();

  over = false;
  check.check(hosts, 80);
  ASSERT_TRUE(wait_until([&] { return over; }));
  const CheckCell& port = check.paths().at({"jumped", "h1"});
  EXPECT_EQ(port.state, CheckState::warning) << "h1 is a jump host";
  EXPECT_TRUE(port.what_to_do.contains("below 1024 are root's")) << port.detail.toStdString() << port.what_to_do.toStdString();
  EXPECT_EQ(check.paths().at({"local", "h1"}).state, CheckState::warning);
  EXPECT_EQ(check.hosts().at("h1").of(CheckItem::folder).state, CheckState::good);

  // One that only lets others through.
  lab->change_sshd(1, "$a ForceCommand /bin/false");
  // sshd says that it is there before it listens.
  lab->inside(1, {"sh", "-c", "/usr/sbin/sshd -p 2222; timeout 20 sh -c 'until ss -Hltn sport = 2222 | grep -q .; do sleep 0.02; done'"});
  Host beside = lab->host(1);
  beside.name = "beside";
  beside.port = 2222;
  hosts.hosts.push_back(beside);
  over = false;
  HostPool anew(person, programs_folder);
  HostCheck again(anew);
  QObject::connect(&again, &HostChecker::checked, [&] { over = true; });
  again.check(hosts, 0);
  ASSERT_TRUE(wait_until([&] { return over; }));
  const std::string all = report_json(names_in_order(hosts, again.hosts()), again.hosts(), again.paths()).dump(1);
  EXPECT_EQ(again.hosts().at("h1").of(CheckItem::login).state, CheckState::warning) << all;
  EXPECT_EQ(again.hosts().at("beside").of(CheckItem::login).state, CheckState::bad) << "of the same address, and no jump host: " << all;
  EXPECT_EQ(again.hosts().at("beside").of(CheckItem::disk).what_to_do, "") << "of the same reason, which no line of sshd_config mends";
  hosts.hosts.pop_back();
  over = false;
  again.check(hosts, 0);
  ASSERT_TRUE(wait_until([&] { return over; }));
  EXPECT_EQ(worst_of(again.hosts(), again.paths()), CheckState::warning) << "without that one";
  EXPECT_EQ(state_of(again.hosts(), again.paths()), CheckState::warning)
      << "of who lets others through no more has to be known: "
      << report_json(names_in_order(hosts, again.hosts()), again.hosts(), again.paths()).dump(1);
  EXPECT_EQ(again.hosts().at("jumped").of(CheckItem::folder).state, CheckState::good) << all;
  lab->change_sshd(1, "$d");
}

TEST_F(HostCheckTest, what_is_behind_a_jump_host_that_lets_nobody_in_was_not_reached) {
  FileWithMore config(lab->home() + "/.ssh/config");
  HostPool pool(person, programs_folder);
  HostCheck check(pool);
  Hosts hosts;
  hosts.hosts = {lab->host(2)};
  hosts.hosts[0].address.clear();  // so that its name is what the file speaks of
  bool over = false;
  QObject::connect(&check, &HostChecker::checked, [&] { over = true; });
  for (const QString& gate : {"nobody@" + lab->address(1), lab->address(3)}) {
    config.begin_with("Host h2\n  HostName 192.0.2.1\n  ProxyJump " + gate.toUtf8() + '\n');
    over = false;
    check.check(hosts, 0);
    ASSERT_TRUE(wait_until([&] { return over; }));
    const CheckCell& reach = check.hosts().at("h2").of(CheckItem::reach);
    EXPECT_EQ(reach.state, CheckState::bad) << reach.text.toStdString();
    EXPECT_EQ(reach.text, "jump host");
    EXPECT_TRUE(reach.detail.startsWith("its jump host failed: ")) << reach.detail.toStdString();
    EXPECT_FALSE(reach.what_to_do.isEmpty());
    EXPECT_EQ(check.hosts().at("h2").of(CheckItem::login).state, CheckState::not_known) << "nobody asked it";
  }
}

TEST_F(HostCheckTest, what_is_reached_stays_so_where_its_jump_host_lets_in_no_second_connection) {
  FileWithMore config(lab->home() + "/.ssh/config");
  config.begin_with("Host h2\n  ProxyJump " + lab->address(1).toUtf8() + '\n');
  HostPool pool(person, programs_folder);
  HostCheck check(pool);
  Hosts hosts;
  hosts.hosts = {lab->host(2)};
  hosts.hosts[0].address.clear();
  bool over = false, refuses = false;
  QObject::connect(&check, &HostChecker::checked, [&] { over = true; });
  QObject::connect(&check, &HostChecker::changed, [&] {
    const auto h2 = check.hosts().find("h2");
    if (refuses || h2 == check.hosts().end() || h2->second.of(CheckItem::login).state != CheckState::good) return;
    refuses = true;
    lab->change_sshd(1, "1i DenyUsers lab");
  });
  check.check(hosts, 0);
  EXPECT_TRUE(wait_until([&] { return over; }));
  lab->change_sshd(1, "/DenyUsers/d");
  ASSERT_TRUE(refuses);
  EXPECT_EQ(check.hosts().at("h2").of(CheckItem::reach).state, CheckState::good);
  const CheckCell& folder = check.hosts().at("h2").of(CheckItem::folder);
  EXPECT_EQ(folder.state, CheckState::bad);
  EXPECT_TRUE(folder.detail.startsWith("its jump host failed: ")) << folder.detail.toStdString();
}

TEST_F(HostCheckTest, jump_hosts_of_jump_hosts_are_on_the_way_too) {
  FileWithMore config(lab->home() + "/.ssh/config");
  config.begin_with("Host deep\n  ProxyJump inner\nHost inner\n  ProxyJump edge\n");
  HostPool pool(person, programs_folder);
  Host deep;
  deep.name = deep.address = "deep";
  const PlaceCheck place(pool, {}, deep, 2);
  ASSERT_EQ(place.jumps().size(), 2u);
  EXPECT_EQ(place.jumps()[0].name, "inner");
  EXPECT_EQ(place.jumps()[1].name, "edge") << "whom it asks for no more than to be let through, too";
}

TEST_F(HostCheckTest, a_jump_host_that_is_allowed_to_lead_on_leads_on_with_the_next_start) {
  FileWithMore config(lab->home() + "/.ssh/config");
  config.begin_with("Host h2\n  ProxyJump h1\n");
  HostPool pool(person, programs_folder);
  Host behind = lab->host(2);
  behind.address.clear();  // so that its name is what the file speaks of
  const auto problem = [&] {
    std::optional<SshProblem> told;
    pool.host(behind)->with_control(&pool, [&told](const SshProblem& why, SshSession*) { told = why; });
    EXPECT_TRUE(wait_until([&] { return told.has_value(); }));
    return *told;
  };
  lab->change_sshd(1, "1i AllowTcpForwarding no");
  const SshProblem refused = problem(), again = problem();
  lab->change_sshd(1, "/AllowTcpForwarding/d");
  for (const SshProblem& why : {refused, again}) {
    EXPECT_EQ(why.kind, SshProblem::Kind::unreachable);
    EXPECT_NE(why.text().indexOf("does its sshd allow forwarding (AllowTcpForwarding)?"), -1) << why.text().toStdString();
  }
  EXPECT_TRUE(problem().none()) << problem().text().toStdString();
}

TEST_F(HostCheckTest, a_line_of_the_config_that_ssh_refuses_is_told_and_read_again_when_it_is_mended) {
  FileWithMore config(lab->home() + "/.ssh/config");
  const auto write = [&](const QByteArray& port) { config.begin_with("Host h2\n  Port " + port + "\n"); };
  HostPool pool(person, programs_folder);
  HostCheck check(pool);
  Hosts hosts;
  hosts.hosts = {lab->host(2)};
  hosts.hosts[0].address.clear();  // so that its name is what the file speaks of
  hosts.hosts[0].port = 0;
  bool over = false;
  QObject::connect(&check, &HostChecker::checked, [&] { over = true; });
  write("abc");
  check.check(hosts, 0);
  EXPECT_TRUE(wait_until([&] { return over; }));
  const CheckCell wrong = check.hosts().at("h2").of(CheckItem::reach);
  over = false;
  write("22");
  check.check(hosts, 0);
  EXPECT_TRUE(wait_until([&] { return over; }));
  const CheckCell mended = check.hosts().at("h2").of(CheckItem::reach);
  EXPECT_EQ(wrong.state, CheckState::bad);
  EXPECT_EQ(wrong.detail, lab->home() + "/.ssh/config:2: Port must be from 1 to 65535, not abc");
  EXPECT_EQ(wrong.what_to_do, "Mend that: ssh does not connect so, either");
  EXPECT_EQ(mended.state, CheckState::good) << mended.detail.toStdString();
}

TEST_F(HostCheckTest, each_check_and_each_start_finds_the_machine_that_the_config_names_then) {
  FileWithMore config(lab->home() + "/.ssh/config");
  HostPool pool(person, programs_folder);
  HostCheck check(pool);
  Hosts hosts;
  hosts.hosts = {lab->host(2)};
  const std::string first = hosts.hosts[0].address, other = lab->host(1).address;
  hosts.hosts[0].address.clear();  // so that its name is what the file speaks of
  bool over = false;
  QObject::connect(&check, &HostChecker::checked, [&] { over = true; });
  const auto reach = [&] {
    over = false;
    check.check(hosts, 0);
    EXPECT_TRUE(wait_until([&] { return over; }));
    return check.hosts().at("h2").of(CheckItem::reach);
  };
  const CheckCell before = reach();
  const auto kept = pool.host(hosts.hosts[0]);
  EXPECT_EQ(pool.host(hosts.hosts[0]), kept) << "a start goes on with the connections of the check";
  ASSERT_NE(kept->control(), nullptr);
  const auto begin_with = [&config](const QByteArray& lines) {
    config.begin_with(lines);
    QCoreApplication::processEvents();  // the file is read once for all that happens at a time
  };
  for (const std::string& gate : {first, other}) {
    begin_with("Host h2\n  ProxyJump gate\nHost gate\n  HostName " + QByteArray::fromStdString(gate) + "\n");
    const auto jumped = pool.host(hosts.hosts[0]);
    EXPECT_EQ(pool.host(hosts.hosts[0]), jumped);
    begin_with("Host h2\n  ProxyJump gate\nHost gate\n  User other\n  HostName " + QByteArray::fromStdString(gate) + "\n");
    EXPECT_NE(pool.host(hosts.hosts[0]), jumped) << "though of itself the file says the same";
  }
  begin_with("Host h2\n  HostName " + QByteArray::fromStdString(other) + "\n");
  const auto changed = pool.host(hosts.hosts[0]);
  const CheckCell behind = reach();
  config.begin_with("");
  EXPECT_NE(changed, kept) << "a start does not";
  EXPECT_EQ(changed->config().host_name.toStdString(), other);
  EXPECT_TRUE(before.detail.contains(QString::fromStdString(first))) << before.detail.toStdString();
  EXPECT_TRUE(behind.detail.contains(QString::fromStdString(other))) << behind.detail.toStdString();

  // What is known of its key has gone: the connections that stood until then are no reason to call it reached.
  EXPECT_EQ(reach().state, CheckState::good);
  QFile known(lab->home() + "/.ssh/known_hosts");
  ASSERT_TRUE(known.open(QIODevice::ReadWrite));
  const QByteArray all_known = known.readAll();
  known.resize(0);
  person.accepts_keys = false;
  const CheckCell unknown = reach();
  known.seek(0);
  known.write(all_known);
  known.flush();
  EXPECT_EQ(unknown.state, CheckState::bad) << unknown.detail.toStdString();
  EXPECT_EQ(reach().state, CheckState::good);
}

TEST_F(HostCheckTest, a_key_that_is_revoked_is_named_as_that) {
  FileWithMore known(lab->home() + "/.ssh/known_hosts");
  known.begin_with("@revoked * " + lab->inside(1, {"cat", "/etc/ssh/ssh_host_ed25519_key.pub"}).trimmed().toUtf8() + '\n');
  HostPool pool(person, programs_folder);
  HostCheck check(pool);
  Hosts hosts;
  hosts.hosts = {lab->host(1)};
  bool over = false;
  QObject::connect(&check, &HostChecker::checked, [&] { over = true; });
  check.check(hosts, 0);
  ASSERT_TRUE(wait_until([&] { return over; }));
  const CheckCell& reach = check.hosts().at("h1").of(CheckItem::reach);
  EXPECT_EQ(reach.text, "key revoked") << reach.detail.toStdString();
  EXPECT_TRUE(reach.what_to_do.startsWith("Ask who looks after the machine")) << reach.what_to_do.toStdString();
}

}  // namespace
}  // namespace n2nq::app
