// SPDX-License-Identifier: GPL-3.0-or-later
// Programs that are put on a real host: cut off, damaged, put by two at once, and what is swept of them.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>

#include "tests/app/host/ssh_files_kit.h"

namespace n2nq::app {
namespace {

using testing::big_bytes;
using testing::SshFilesTest;
using testing::there;

/// An upload during which something happens, once so many bytes of it are there. However busy the machine is: a megabyte goes in two
/// milliseconds, so who only watched it go would come too late.
struct DisturbedUpload : SshTask {
  DisturbedUpload(const QString& program, const QString& into, qint64 at_bytes, std::function<void()> what)
      : put(program, into, PutProgram::If::not_there, PutProgram::Room::for_logs,
            [this, at_bytes](qint64 done, qint64) { is_turn = is_turn || done >= at_bytes; }),
        disturb(std::move(what)) {}
  bool go_on(SshLink& link) override {
    if (is_turn && !disturbed) {
      disturb();
      disturbed = true;
    }
    return put.go_on(link);
  }
  bool is_turn = false;
  std::atomic<bool> disturbed = false;
  PutProgram put;
  const std::function<void()> disturb;
};

struct PutProgramTest : SshFilesTest {
  /// Cuts the connections once so many bytes of the program are there, and more are in flight; how many came.
  qint64 cut_upload(const QString& program, qint64 cut_at) {
    const auto upload =
        std::make_shared<DisturbedUpload>(program, ".cache/n2nq-bench", cut_at, [] { lab->kill_sessions(1, "STOP"); });
    begin(upload);
    EXPECT_TRUE(wait_until([&] { return upload->disturbed || outcome; }));
    lab->kill_sessions(1, "KILL");
    EXPECT_TRUE(ends());
    EXPECT_TRUE(wait_until([&] { return host->control() == nullptr && host->files() == nullptr; })) << "two connections";
    EXPECT_EQ(outcome->kind, SshProblem::Kind::lost) << outcome->why.toStdString();
    return sh("cat " + there + "/bin/.part-* " + there + "/bin/n2nq-* 2>/dev/null | wc -c").toLongLong();
  }
};

// N2NQ_LAB_REPEATS: how often at each place (1).
TEST_F(PutProgramTest, an_upload_that_is_cut_is_never_run_and_the_next_one_repairs_it) {
  const QString program = write("n2nq-big", random_bytes(big_bytes));
  const int repeats = std::max(1, qEnvironmentVariableIntValue("N2NQ_LAB_REPEATS"));
  for (int i = 0; i < repeats * 3; ++i) {
    const int percent = std::array{10, 50, 99}[static_cast<std::size_t>(i % 3)];
    sh("rm -f " + there + "/bin/n2nq-*");
    const qint64 came = cut_upload(program, big_bytes / 100 * percent);
    EXPECT_LT(came, big_bytes);
    EXPECT_GE(came, big_bytes / 100 * percent) << "cut where it should be, or later";
    EXPECT_EQ(sh("cd " + there + "/bin; for f in n2nq-*; do [ -e $f ] && echo ${f##*-} $f | sha256sum --check --status || echo $f; done")
                  .remove("n2nq-*"),
              "")
        << "what has a name that is run is whole";
    // What other benches of this machine that are gone left behind goes, too; what one that lives is writing stays.
    const QString ours = sh("ls -A " + there + "/bin | grep part | head -1").section('-', 0, 1);
    if (!ours.isEmpty()) sh("cd " + there + "/bin && touch " + ours + "-999999999-1-n2nq-big");
    auto put = std::make_shared<PutProgram>(program, ".cache/n2nq-bench");
    begin(put);
    ASSERT_TRUE(ends());
    EXPECT_TRUE(outcome->none()) << outcome->why.toStdString();
    EXPECT_EQ(sh("sha256sum <" + put->path()).section(' ', 0, 0), put->path().section('-', -1));
    EXPECT_EQ(sh("ls -A " + there + "/bin"), put->path().section('/', -1)) << "nothing is left of what was cut";
    std::printf("to be cut at %d %%: %lld of %lld bytes had come; the next upload is whole\n", percent, came, big_bytes);
  }
}

TEST_F(PutProgramTest, what_cut_links_have_left_goes_with_the_next_connection_also_where_nothing_is_sent) {
  const BriefFile needed(BriefFile::Kind::time_probe);
  QString ours;
  {
    const BriefFile over(BriefFile::Kind::time_probe);
    ours = over.name();
  }
  const QString gone = needed.name().section('-', 0, 1) + "-999999999-1";  // of a bench of this machine
  for (const char* part : {"bin", "runs"}) {
    sh("mkdir -p " + there + '/' + part + " && cd " + there + '/' + part + " && touch .now-1 " + needed.name() + ' ' + ours + ' ' + gone +
       " && touch -d '20 minutes ago' .now-2 .now-old-1-2 .part-old-1-2-n2nq-big");
  }
  files();
  const QStringList kept = {".now-1", needed.name()};
  const auto left = [](const char* part) { return sh("ls -A " + there + "/" + part).split('\n'); };
  EXPECT_TRUE(wait_until([&] { return left("bin") == kept && left("runs") == kept; }))
      << left("bin").join(' ').toStdString() << " and " << left("runs").join(' ').toStdString();
}

/// Which of the limits is reached first, of the call or of the connection, is up to the kernel.
TEST_F(PutProgramTest, a_network_that_is_gone_is_not_taken_for_a_disk) {
  const QString program = write("n2nq-small", random_bytes(1000));
  begin(std::make_shared<PutProgram>(program, ".cache/n2nq-bench"));
  ASSERT_TRUE(ends());
  lab->set_plugged_in(1, false);
  begin(std::make_shared<HashFile>(".cache/n2nq-bench/bin", 1));
  ASSERT_TRUE(ends());
  lab->set_plugged_in(1, true);
  EXPECT_EQ(outcome->kind, SshProblem::Kind::lost) << outcome->text().toStdString();
  EXPECT_FALSE(outcome->text().contains("disk")) << outcome->text().toStdString();
}

TEST_F(PutProgramTest, what_is_damaged_there_is_sent_again) {
  const QString program = write("n2nq-small", random_bytes(100'000));
  auto put = std::make_shared<PutProgram>(program, ".cache/n2nq-bench");
  begin(put);
  ASSERT_TRUE(ends() && outcome->none());
  sh("truncate -s 5000 " + put->path());
  begin(std::make_shared<PutProgram>(program, ".cache/n2nq-bench"));
  ASSERT_TRUE(ends() && outcome->none());
  EXPECT_EQ(sh("stat -c %s " + put->path()), "100000");
}

TEST_F(PutProgramTest, of_a_file_that_does_not_end_no_more_is_read_than_it_should_have) {
  const auto hash = std::make_shared<HashFile>("/dev/zero", 1000);
  begin(hash);
  ASSERT_TRUE(ends());
  EXPECT_TRUE(outcome->none()) << outcome->text().toStdString();
  EXPECT_EQ(hash->sha256(), QCryptographicHash::hash({}, QCryptographicHash::Sha256).toHex());
}

TEST_F(PutProgramTest, two_that_put_the_same_at_once_do_not_disturb_each_other) {
  const QString program = write("n2nq-small", random_bytes(5 << 20));
  HostPool other_pool(person, folder.path());
  const auto other = other_pool.host(lab->host(1));
  std::optional<SshProblem> others;
  other->with_files(other.get(), [&](const SshProblem& problem, SshFiles* given) {
    ASSERT_TRUE(problem.none());
    given->run(std::make_shared<PutProgram>(program, ".cache/n2nq-bench"), other.get(), [&](const SshProblem& why) { others = why; });
  });
  begin(std::make_shared<PutProgram>(program, ".cache/n2nq-bench"));
  ASSERT_TRUE(wait_until([&] { return outcome && others; }));
  EXPECT_TRUE(outcome->none() && others->none()) << (outcome->why + others->why).toStdString();
  EXPECT_EQ(sh("ls -A " + there + "/bin | wc -l"), "1");
}

/// An upload whose part looks as if nobody had been at it for long, once it is read back.
struct AgedUpload : SshTask {
  AgedUpload(const QString& program, std::chrono::milliseconds touch_every, std::function<void(SshLink&)> then = {})
      : put(program, ".cache/n2nq-bench", PutProgram::If::not_there, PutProgram::Room::for_logs,
            [this](qint64 done, qint64 all) { told_whole += done == all ? 1 : 0; }, touch_every),
        meanwhile(std::move(then)) {}
  bool go_on(SshLink& link) override {
    const bool is_turn = told_whole >= 2 && !aged;  // the first time it was sent
    if (is_turn) SshFilesTest::sh("cd " + there + "/bin && touch -d '11 minutes ago' .part-* && touch another");
    if (is_turn && meanwhile) meanwhile(link);
    const bool more = put.go_on(link);
    if (is_turn) young_again = SshFilesTest::sh("find " + there + "/bin -name '.part-*' -mmin -5") != "";
    aged = aged || is_turn;
    return more;
  }
  int told_whole = 0;
  PutProgram put;
  const std::function<void(SshLink&)> meanwhile;
  bool aged = false, young_again = false;
};

TEST_F(PutProgramTest, a_part_that_is_read_back_for_long_is_not_swept) {
  const QString another = write("n2nq-another", random_bytes(1000));
  const auto sweep = [another](SshLink& link) {
    for (PutProgram put(another, ".cache/n2nq-bench"); put.go_on(link);) {
    }
    SweepVersions(".cache/n2nq-bench", {}).go_on(link);
  };
  const auto aged = std::make_shared<AgedUpload>(write("n2nq-big", random_bytes(8 << 20)), PutProgram::touch_every_max, sweep);
  begin(aged);
  ASSERT_TRUE(ends());
  EXPECT_TRUE(outcome->none()) << outcome->text().toStdString();
  EXPECT_TRUE(aged->aged && !aged->young_again) << "it was old when it was looked at";
  EXPECT_EQ(sh("sha256sum <" + aged->put.path()).section(' ', 0, 0), aged->put.path().section('-', -1));
}

/// Another bench does not know which of them this one is at.
TEST_F(PutProgramTest, a_part_that_is_read_back_is_touched) {
  const auto aged = std::make_shared<AgedUpload>(write("n2nq-big", random_bytes(8 << 20)), std::chrono::milliseconds(0));
  begin(aged);
  ASSERT_TRUE(ends());
  EXPECT_TRUE(outcome->none()) << outcome->text().toStdString();
  EXPECT_TRUE(aged->young_again);
}

TEST_F(PutProgramTest, a_disk_that_becomes_full_on_the_way_is_named_and_keeps_nothing) {
  lab->inside(1, {"sh", "-c", "mkdir -p /home/lab/disk && mount -t tmpfs -o mode=1777,size=64m tmpfs /home/lab/disk"});
  const QString program = write("n2nq-big", random_bytes(40 << 20));
  begin(std::make_shared<DisturbedUpload>(program, "disk/bench", 1 << 20, [] { sh("head -c 63M /dev/zero >/home/lab/disk/filler"); }));
  ASSERT_TRUE(ends());
  EXPECT_NE(outcome->why.indexOf("became full"), -1) << outcome->why.toStdString();
  EXPECT_EQ(sh("ls -A /home/lab/disk/bench/bin"), "");
  lab->inside(1, {"umount", "/home/lab/disk"});
}

TEST_F(PutProgramTest, where_nothing_can_be_made_it_says_what_to_do) {
  begin(std::make_shared<PutProgram>(write("program", "#!/bin/sh\n"), "/proc/x"));
  ASSERT_TRUE(ends());
  EXPECT_EQ(outcome->text(),
            "h1: making the folder /proc/x failed. Is the disk there full, or its quota, or the file system read-only?"
            " Give the host another folder (Edit on the page Hosts, or folder in the hosts file)");

  sh("ln -sfn /home/lab/not-there dangling");
  begin(std::make_shared<PutProgram>(folder.filePath("program"), "/home/lab/dangling"));
  ASSERT_TRUE(ends());
  EXPECT_EQ(outcome->text(),
            "h1: /home/lab/dangling is a link that leads nowhere. Make there what it leads to, or give the host another folder"
            " (Edit on the page Hosts, or folder in the hosts file)");
  sh("mkdir not-there");
  begin(std::make_shared<PutProgram>(folder.filePath("program"), "/home/lab/dangling"));
  ASSERT_TRUE(ends());
  EXPECT_TRUE(outcome->none()) << "a link that leads somewhere is as good as a folder: " << outcome->text().toStdString();
  sh("rm -rf dangling not-there");
}

TEST_F(PutProgramTest, nothing_is_swept_where_somebody_else_may_have_put_it) {
  const auto sweep = [this] {
    begin(std::make_shared<SweepRunFolders>(".cache/n2nq-bench", NeededThere()));
    EXPECT_TRUE(ends());
    begin(std::make_shared<SweepVersions>(".cache/n2nq-bench", QStringList()));
    EXPECT_TRUE(ends());
    return sh("cat ~lab/notes/keep-0123456789ab/thesis " + there + "/bin/.now-1 2>/dev/null; true");
  };
  const auto as_root = [](const QString& script) { return lab->inside(1, {"sh", "-c", "cd " + there + " && " + script}); };
  sh("mkdir -p ~lab/notes/keep-0123456789ab " + there + "/bin && cd ~lab/notes/keep-0123456789ab && echo thesis >thesis && "
     "touch -d '3 days ago' thesis .process-999999 . && cd " + there + " && rm -rf runs && ln -s ~lab/notes runs && echo now >bin/.now-1 && "
     "touch -d '3 days ago' bin/.now-1");
  as_root("chown 65534 . && chmod 755 .");
  EXPECT_EQ(sweep(), "thesis\nnow");
  as_root("chown lab . && chmod 777 .");
  EXPECT_EQ(sweep(), "thesis\nnow");
  as_root("chmod 700 . && chmod 777 ~lab/notes");
  EXPECT_EQ(sweep(), "thesis");
  as_root("chmod 700 ~lab/notes");
  EXPECT_EQ(sweep(), "") << "a link of the user's own leads where they want it";
  // Of root's, for all who log in.
  const QString both = "keep-0123456789ab mine-0123456789ab";
  as_root("rm -r runs ~lab/notes; mkdir -m 1777 runs; cd runs; mkdir " + both +
          "; for folder in " + both + "; do touch -d '3 days ago' $folder/R001.log $folder/.process-999999 $folder; done"
          "; chown -R lab mine-0123456789ab; chown -R 65534 keep-0123456789ab; chmod 777 keep-0123456789ab");
  sweep();
  EXPECT_EQ(as_root("ls runs/keep-0123456789ab; ls runs").simplified(), "R001.log keep-0123456789ab");
  as_root("rm -r runs");
}

TEST_F(PutProgramTest, a_name_that_goes_on_behind_a_newline_is_no_version_of_a_program) {
  const QString name = "n2nq-old-" + QString(64, '0');
  sh("mkdir -p " + there + "/bin && cd " + there + "/bin && for i in 1 2 3 4; do touch -d '2 days ago' \"" + name.chopped(1) + "$i\" \"" +
     name.chopped(1) + "$i\n\"; done");
  begin(std::make_shared<SweepVersions>(".cache/n2nq-bench", QStringList()));
  ASSERT_TRUE(ends());
  EXPECT_EQ(sh("find " + there + "/bin -type f -name '*[0-9]' | wc -l"), "2");
  EXPECT_EQ(sh("find " + there + "/bin -type f -name '*[!0-9]' -printf x"), "xxxx");
}

}  // namespace
}  // namespace n2nq::app
