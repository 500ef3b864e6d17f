// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/group/process.h"

#include <malloc.h>
#include <sys/time.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <string_view>
#include <system_error>

#include "broker/net/clock.h"
#include "broker/net/control_channel.h"
#include "broker/net/event_loop.h"
#include "broker/net/file_limit.h"
#include "broker/net/host_facts.h"
#include "broker/net/section.h"
#include "broker/net/turns.h"
#include "workers/group/orders.h"
#include "workers/group/receiver_group.h"
#include "workers/group/sender_group.h"
#include "workers/recorder/salvage.h"

namespace n2nq::worker {

namespace {

using net::Section;
using net::SectionError;
using Json = nlohmann::json;

constexpr int exit_done = 0;
constexpr int exit_bad_start = 2;
constexpr int exit_lease_lost = 3;
constexpr std::int64_t last_words_ns = 5 * net::ns_per_s;
/// Since the bench was heard last: until then the last lines are to be written, so that nothing runs 15 s after a cut, also where the disk is
/// slow. (Who waits for one that will never answer, in the kernel, cannot be ended.)
constexpr std::int64_t last_lines_ns = 14'500'000'000;

constexpr int mapped_bytes_min = 128 << 10;  // glibc's own, until something longer is given back

/// SIGALRM ends the process then. 0: not any more.
void end_process_in(std::int64_t left_ns) {
  const itimerval when = {.it_interval = {}, .it_value = {.tv_sec = left_ns / net::ns_per_s, .tv_usec = left_ns % net::ns_per_s / 1000}};
  setitimer(ITIMER_REAL, &when, nullptr);
}
/// Descriptors beside a connection and a log per service: control, loop, staging, floor, and some to spare.
constexpr std::size_t files_beside_services = 64;

class Process {
 public:
  Process(WorkerRole role, bool marked)
      : role_(role),
        channel_(loop_, {.marked = marked},
                 {.on_object = [this](const Json& object) { take(object); },
                  .handle_here = [this](const Json& object) { return take_on_control_thread(object); },
                  .on_lease_lost = [this](const std::string& reason) { lose_lease(reason); }}) {}

  int run() {
    loop_.run();
    if (lease_lost_) {
      if (group_) group_->finish_logs();
      end_process_in(0);
      return exit_lease_lost;
    }
    channel_.flush(last_words_ns);
    return exit_code_;
  }

 private:
  bool take_on_control_thread(const Json& object) {
    if (object["type"] != "stats") return false;
    Group* group = group_for_stats_.load(std::memory_order_acquire);
    if (group == nullptr) return false;  // refused in its turn
    answer(object, [&] {
      Section section(object, "");
      section.find("type");
      const StatsOrder order = parse_stats_order(section);
      channel_.write_line(group->stats(order.id, order.services));
    });
    return true;
  }

  void take(const Json& object) {
    if (left_) return;  // what is said behind the last word is said to nobody
    answer(object, [&] {
      const std::string type = object["type"];
      if (type == "configure") return configure(object);
      Section section(object, "");
      section.find("type");
      if (type == "bye") {
        section.refuse_unknown();
        return say_bye();
      }
      if (type == "stats") throw SectionError("type", "\"stats\" before \"hello\" was said");
      if (!group_) {
        if (type == "stop") return;  // there is nothing to stop
        throw SectionError("type", "\"" + type + "\" before \"configure\"");
      }
      if (type == "connect") return connect(section);
      if (type == "start") return group_->start(parse_start_order(section));
      if (type == "stop") {
        section.refuse_unknown();
        return group_->stop();
      }
      if (type == "request") {
        const RequestOrder order = parse_request_order(section);
        section.refuse_unknown();
        return group_->request(order);
      }
      if (type == "fault") {
        const FaultOrder order = parse_fault_order(section, group_->settings());
        return group_->make_fault(order.service, order.kind);
      }
      if (type == "clock") {
        const ClockOrder order = parse_clock_order(section);
        return group_->set_senders_clock(order);
      }
      throw SectionError("type", "\"" + type + "\" is no message that a worker knows");
    });
  }

  /// Runs a handler and turns what it refuses into an `error` that names the order.
  template <typename Handler>
  void answer(const Json& order, Handler&& handler) {
    try {
      handler();
    } catch (const SectionError& error) {
      channel_.write_error("settings", error.what(), error.key(), order["type"]);
    }
  }

  void configure(const Json& object) {
    if (group_) throw SectionError("type", "\"configure\" came before");
    try {
      WorkerSettings settings = parse_worker_settings(object, role_);
      Json hello = net::make_hello(name_of(role_));
      const Json& host = hello["host"];
      settings.log.head.insert(
          settings.log.head.begin(),
          {{"run", settings.run}, {"host", host["name"].get<std::string>()}, {"boot_id", host["boot_id"].get<std::string>()}});
      const std::size_t amount = settings.last - settings.first + 1;
      const std::string too_few_files = net::raise_file_limit(2 * amount + files_beside_services);
      if (!too_few_files.empty()) throw SectionError("services", too_few_files);
      const auto tell = [this](const Json& line) { channel_.write_line(line); };
      if (role_ == WorkerRole::senders) {
        group_ = std::make_unique<SenderGroup>(loop_, std::move(settings), tell);
      } else {
        group_ = std::make_unique<ReceiverGroup>(loop_, std::move(settings), tell);
      }
      if (!group_->settings().salvage.empty()) group_->salvage();
      if (!group_->settings().continue_of.empty()) group_->take_over();
      hello["staging_file"] = group_->staging_file();
      group_for_stats_.store(group_.get(), std::memory_order_release);  // before: who hears the hello may ask at once
      channel_.write_line(hello);
    } catch (const SectionError& error) {
      channel_.write_error("settings", error.what(), error.key());
      return leave(exit_bad_start);
    } catch (const StagingFileGone& error) {
      channel_.write_error("gone", error.what());
      return leave(exit_bad_start);
    } catch (const std::runtime_error& error) {  // files that cannot be made, or read back
      const auto* by_system = dynamic_cast<const std::system_error*>(&error);
      channel_.write_error(by_system && by_system->code() == std::errc::read_only_file_system ? "read-only" : "files", error.what());
      return leave(exit_bad_start);
    }
  }

  void connect(Section& section) {
    if (connecting_) throw SectionError("type", "\"connect\" came before");
    const ConnectOrder order = parse_connect_order(section);
    if (!group_->settings().salvage.empty()) throw SectionError("type", "\"connect\" to a process that salvages; \"bye\" is right");
    connecting_ = true;
    group_->connect(order.address, order.clock_shared, order.clocks_first);
  }

  void say_bye() {
    if (group_) channel_.write_line(group_->bye());
    leave(exit_done);
  }

  void leave(int exit_code) {
    left_ = true;
    exit_code_ = exit_code;
    loop_.stop();
  }

  void lose_lease(const std::string& reason) {
    if (exit_code_ == exit_bad_start) return;  // it is ending already, and says why
    std::fprintf(stderr, "n2nq-%s: %s\n", name_of(role_), reason.c_str());
    lease_lost_ = true;
    end_process_in(std::max(last_lines_ns - channel_.unheard_ns(), net::ns_per_s));
    loop_.stop();
  }

  const WorkerRole role_;
  net::EventLoop loop_;
  std::unique_ptr<Group> group_;
  std::atomic<Group*> group_for_stats_{nullptr};
  bool connecting_ = false;
  bool left_ = false;
  std::atomic<int> exit_code_ = exit_done;
  std::atomic<bool> lease_lost_{false};
  net::ControlChannel channel_;  // last: its thread uses what is above, and is joined first
};

int print_help(const char* name) {
  std::printf("%s " N2NQ_VERSION
              "\n\n"
              "Runs a group of %s services against N2NQ. It is started by n2nq-bench and takes its orders as newline-delimited JSON\n"
              "from standard input (docs/control-protocol.md); it takes no arguments but these:\n\n"
              "  --marked   its lines are marked, and leave in parts, for who shares stdout with others\n"
              "  --help     this text\n"
              "  --version  the version\n",
              name, std::string_view(name) == "n2nq-senders" ? "sending" : "receiving");
  return exit_done;
}

}  // namespace

int run_worker(WorkerRole role, int argc, char** argv) {
  const std::string name = std::string("n2nq-") + name_of(role);
  if (argc == 2 && std::string_view(argv[1]) == "--help") return print_help(name.c_str());
  if (argc == 2 && std::string_view(argv[1]) == "--version") {
    std::printf("%s " N2NQ_VERSION "\n", name.c_str());
    return exit_done;
  }
  const bool marked = argc == 2 && std::string_view(argv[1]) == net::marked_argument;
  if (argc > 1 && !marked) {
    std::fprintf(stderr, "%s: unknown argument \"%s\"; --help, --version and --marked are known\n", name.c_str(), argv[1]);
    return exit_bad_start;
  }
  net::prepare_signals();
  net::set_timer_slack_ns(1);
  net::ask_for_short_turns();
  // What a long frame took goes back to the system when it is given back: by itself glibc would keep the second one for later.
  mallopt(M_MMAP_THRESHOLD, mapped_bytes_min);
  try {
    return Process(role, marked).run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(), error.what());
    return EXIT_FAILURE;
  }
}

}  // namespace n2nq::worker
