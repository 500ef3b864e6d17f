// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/group/process.h"

#include <atomic>
#include <cstdio>
#include <memory>
#include <optional>
#include <string_view>

#include "broker/net/clock.h"
#include "broker/net/control_channel.h"
#include "broker/net/event_loop.h"
#include "broker/net/file_limit.h"
#include "broker/net/host_facts.h"
#include "broker/net/section.h"
#include "broker/net/turns.h"
#include "workers/group/receiver_group.h"
#include "workers/group/sender_group.h"

namespace n2nq::worker {

namespace {

using net::Section;
using net::SectionError;
using Json = nlohmann::json;

constexpr int exit_done = 0;
constexpr int exit_bad_start = 2;
constexpr int exit_lease_lost = 3;
/// Ten thousandths: no clock that anybody would measure with.
constexpr std::int64_t drift_ppt_max = 10'000'000'000;
constexpr std::int64_t last_words_ns = 5 * net::ns_per_s;
/// Descriptors beside a connection and a log per service: control, loop, staging, floor, and some to spare.
constexpr std::size_t files_beside_services = 64;

class Process {
 public:
  explicit Process(WorkerRole role)
      : role_(role),
        channel_(loop_, {},
                 {.on_object = [this](const Json& object) { take(object); },
                  .handle_here = [this](const Json& object) { return take_on_control_thread(object); },
                  .on_lease_lost = [this](const std::string& reason) { lose_lease(reason); }}) {}

  int run() {
    loop_.run();
    if (lease_lost_) {
      if (group_) group_->finish_logs();
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
    answer([&] {
      Section section(object, "");
      section.find("type");
      std::uint64_t id = 0;
      section.whole_number("id", id, 0, INT64_MAX);
      const Ranges ranges = read_ranges(section);
      section.refuse_unknown();
      channel_.write_line(group->stats(id, ranges));
    });
    return true;
  }

  static Ranges read_ranges(Section& section) {
    const Json* services = section.find("services");
    return services == nullptr ? Ranges{{1, UINT32_MAX}} : parse_ranges(*services, "services");
  }

  void take(const Json& object) {
    answer([&] {
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
      if (type == "start") return start(section);
      if (type == "stop") {
        section.refuse_unknown();
        return group_->stop();
      }
      if (type == "request") {
        const RequestOrder order = parse_request_order(section);
        section.refuse_unknown();
        return group_->request(order);
      }
      if (type == "fault") return fault(section);
      if (type == "clock") return clock(section);
      throw SectionError("type", "\"" + type + "\" is no message that a worker knows");
    });
  }

  /// Runs a handler and turns what it refuses into an `error`.
  template <typename Handler>
  void answer(Handler&& handler) {
    try {
      handler();
    } catch (const SectionError& error) {
      channel_.write_error("settings", error.what(), error.key());
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
      channel_.write_line(hello);
      group_for_stats_.store(group_.get(), std::memory_order_release);
    } catch (const SectionError& error) {
      channel_.write_error("settings", error.what(), error.key());
      return leave(exit_bad_start);
    } catch (const std::runtime_error& error) {  // files that cannot be made
      channel_.write_error("files", error.what());
      return leave(exit_bad_start);
    }
  }

  void connect(Section& section) {
    if (connecting_) throw SectionError("type", "\"connect\" came before");
    const std::string text = section.text("address");
    std::uint16_t port = 0;
    section.required_number("port", port, 1, UINT16_MAX);
    const bool by_unix = section.choice("transport", false, {{"tcp", false}, {"unix", true}});
    const bool clock_shared = section.choice("clock", true, {{"shared", true}, {"probed", false}});
    const bool clocks_first = section.flag("clocks_first");
    section.refuse_unknown();
    const auto address = net::SocketAddress::parse(text, port);
    if (!address) throw SectionError("address", "\"" + text + "\" is no numeric IPv4 or IPv6 address, such as 127.0.0.1");
    if (!group_->settings().salvage.empty()) throw SectionError("type", "\"connect\" to a process that salvages; \"bye\" is right");
    connecting_ = true;
    group_->connect(by_unix ? net::SocketAddress::unix_beside(port) : *address, clock_shared, clocks_first);
  }

  void start(Section& section) {
    std::int64_t at_broker_ns = 0, lead_ns = 0;
    section.required_number("at_broker_ns", at_broker_ns, INT64_MIN, INT64_MAX);
    section.whole_number("lead_ns", lead_ns, 0, INT64_MAX / 2);
    section.refuse_unknown();
    group_->start(at_broker_ns, lead_ns);
  }

  void clock(Section& section) {
    std::optional<measure::ClockLine> line;
    measure::ClockBound bound;
    if (section.get("senders") != "same") {
      Section senders = section.section("senders");
      line.emplace();
      senders.required_number("at_ns", line->at_ns, INT64_MIN, INT64_MAX);
      senders.required_number("offset_ns", line->offset_ns, INT64_MIN / 2, INT64_MAX / 2);
      senders.required_number("drift_ppt", line->drift_ppt, -drift_ppt_max, drift_ppt_max);
      Section bounds = senders.section("bound");
      bounds.required_number("asymmetry_ns", bound.asymmetry_ns, 0, INT64_MAX / 2);
      bounds.required_number("estimation_ns", bound.estimation_ns, 0, INT64_MAX / 2);
      bounds.refuse_unknown();
      senders.refuse_unknown();
    }
    section.refuse_unknown();
    group_->set_senders_clock(line, bound);
  }

  void fault(Section& section) {
    const Fault kind = section.choice("kind", Fault::none,
                                      {{"none", Fault::none},
                                       {"disconnect", Fault::disconnect},
                                       {"stop-reading", Fault::stop_reading},
                                       {"confirm-nothing", Fault::confirm_nothing},
                                       {"answer-negatively", Fault::answer_negatively}});
    std::uint32_t service = 0;
    section.required_number("service", service, group_->settings().first, group_->settings().last);
    section.refuse_unknown();
    group_->make_fault(service, kind);
  }

  void say_bye() {
    if (group_) channel_.write_line(group_->bye());
    leave(exit_done);
  }

  void leave(int exit_code) {
    exit_code_ = exit_code;
    loop_.stop();
  }

  void lose_lease(const std::string& reason) {
    std::fprintf(stderr, "n2nq-%s: %s\n", name_of(role_), reason.c_str());
    lease_lost_ = true;
    loop_.stop();
  }

  const WorkerRole role_;
  net::EventLoop loop_;
  std::unique_ptr<Group> group_;
  std::atomic<Group*> group_for_stats_{nullptr};
  bool connecting_ = false;
  int exit_code_ = exit_done;
  std::atomic<bool> lease_lost_{false};
  net::ControlChannel channel_;  // last: its thread uses what is above, and is joined first
};

int print_help(const char* name) {
  std::printf("%s " N2NQ_VERSION
              "\n\n"
              "Runs a group of %s services against N2NQ. It is started by n2nq-bench and takes its orders as newline-delimited JSON\n"
              "from standard input (docs/control-protocol.md); it takes no arguments but these:\n\n"
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
  if (argc > 1) {
    std::fprintf(stderr, "%s: unknown argument \"%s\"; --help and --version are known\n", name.c_str(), argv[1]);
    return exit_bad_start;
  }
  net::prepare_signals();
  net::set_timer_slack_ns(1);
  net::ask_for_short_turns();
  try {
    return Process(role).run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(), error.what());
    return EXIT_FAILURE;
  }
}

}  // namespace n2nq::worker
