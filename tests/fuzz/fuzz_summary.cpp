// SPDX-License-Identifier: GPL-3.0-or-later
// summary.json and service logs of a run folder that somebody brings along, and everything that goes by them: what is no summary, and which
// line of a log is none, is said, nothing is thrown.
//   up to the first 0 byte the file, from there up to the next one S001's log, and from there R001's
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "app/results/service_logs.h"
#include "app/results/stored_run.h"
#ifdef N2NQ_FUZZ_VERIFY
#include "app/results/verify.h"
#endif
#include "tests/fuzz/fuzz.h"

namespace {

/// In memory where there is such a folder; gone with the process.
class Folder {
 public:
  Folder() {
    const bool in_memory = ::access("/dev/shm", W_OK) == 0;
    path = (in_memory ? "/dev/shm" : std::filesystem::temp_directory_path().string()) + "/n2nq-fuzz-summary-" + std::to_string(getpid());
    for (const char* group : {"/senders", "/receivers"}) std::filesystem::create_directories(path + group);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string path;
};

/// Also where there is no summary: each log is read by itself.
void read_logs_of(const QString& folder) {
  using n2nq::fuzz::require;
  QString error;
  const auto logs = n2nq::app::read_logs(folder, error);
  require(logs.has_value() == error.isEmpty(), "logs are read, or it is said why not");
  if (!logs) return;
  require(logs->senders.size() == 1 && logs->receivers.size() == 1, "there is one of each");
  const auto tells_lines = [](const n2nq::app::LogFrame& log) {
    const auto has_number = [](const QString& told) { return told.startsWith("line "); };
    return std::all_of(log.unreadable.begin(), log.unreadable.end(), has_number) &&
           static_cast<std::int64_t>(log.unreadable.size()) == std::min<std::int64_t>(log.unreadable_count, 10);
  };
  const n2nq::app::ReceiverLog& receiver = logs->receivers.front();
  require(tells_lines(logs->senders.front()) && tells_lines(receiver), "the first ten lines that are none are named");
  for (std::size_t at = 0; at < receiver.lines.size(); ++at) {
    receiver.clocks.between(receiver.lines[at].sent_ns, receiver.lines[at].received_ns, at);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace n2nq;
  static const Folder folder;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  for (const char* name : {"/summary.json", "/senders/S001.log", "/receivers/R001.log"}) {
    const std::string_view part = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    std::ofstream(folder.path + name, std::ios::binary | std::ios::trunc).write(part.data(), static_cast<std::streamsize>(part.size()));
  }
  read_logs_of(QString::fromStdString(folder.path));
  QString error;
  const auto run = app::read_run(QString::fromStdString(folder.path), error);
  fuzz::require(run.has_value() == error.isEmpty(), "a summary is read, or it is said why not");
  fuzz::require(run.has_value() || error.contains(QString::fromStdString(folder.path) + "/summary.json"), "and of which file");
  fuzz::require(!error.endsWith("is not JSON"), "and in which line it is no JSON");
  if (!run) return 0;
  run->verdict();
  run->broadcaster();
  run->has_every_line();
  run->disturbances();
  for (const std::string& path : app::figure_paths(run->summary)) {
    app::figure_at(run->summary, path);
    app::unit_of_path(path);
  }
  for (const char* path : {"services.receivers.R001.latency_us.p50", "services.S1", "reasons.0", "..", ""})
    app::figure_at(run->summary, path);
#ifdef N2NQ_FUZZ_VERIFY
  const app::Verification verification = app::verify_run(*run);
  fuzz::require(verification.differences.size() <= app::Verification::differences_max, "no more is told than it says");
#endif
  return 0;
}
