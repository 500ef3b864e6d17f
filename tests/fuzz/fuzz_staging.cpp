// SPDX-License-Identifier: GPL-3.0-or-later
// What a killed group leaves and is read back: the log of a service, as far as it was written, and the mapped file with the records that
// were not in it yet.
//   byte 0     bit 0 senders or receivers, bit 1 another process goes on, bit 2 there is no mapped file
//   bytes 1-2  length of the log (as far as there are so many bytes; 0xFFFF: there is none)
//   then the log, then the mapped file without the unused part of its first page: magic, size of a record, role and capacity (24 bytes),
//   written, drained and dropped (24 bytes), records
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "tests/fuzz/fuzz.h"
#include "workers/recorder/salvage.h"

namespace {

using namespace n2nq;

constexpr size_t page_bytes = 4096, head_bytes = 24, counters_bytes = 24;

/// In memory where there is such a folder; gone with the process.
class Folder {
 public:
  Folder() {
    const bool in_memory = ::access("/dev/shm", W_OK) == 0;
    path = (in_memory ? "/dev/shm" : std::filesystem::temp_directory_path().string()) + "/n2nq-fuzz-staging-" + std::to_string(getpid());
    std::filesystem::create_directories(path);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string path;
};

void write_file(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::string mapped_file(std::string_view parts) {
  std::string file(page_bytes, '\0');
  const auto put = [&](size_t at, size_t bytes) {
    const std::string_view part = parts.substr(0, bytes);
    std::memcpy(file.data() + at, part.data(), part.size());
    parts.remove_prefix(part.size());
  };
  put(0, head_bytes);
  for (const size_t counter_at : {128, 256, 384}) put(counter_at, counters_bytes / 3);
  return file.append(parts);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Folder folder;
  if (size < 3) return 0;
  const auto role = data[0] & 1 ? worker::WorkerRole::receivers : worker::WorkerRole::senders;
  const auto go_on = data[0] & 2 ? worker::LogsGoOn::yes : worker::LogsGoOn::no;
  const size_t log_bytes = data[1] | size_t{data[2]} << 8;
  std::string_view rest = fuzz::text_of({data + 3, size - 3});
  const std::string log_path = folder.path + (data[0] & 1 ? "/R001.log" : "/S001.log");
  const std::string staging_path = folder.path + "/n2nq-fuzz.staging";
  size_t lines = 0;
  std::filesystem::remove(log_path);
  if (log_bytes != 0xFFFF) {
    const std::string_view log = rest.substr(0, log_bytes);
    rest.remove_prefix(log.size());
    lines = static_cast<size_t>(std::count(log.begin(), log.end(), '\n'));
    write_file(log_path, log);
  }
  std::filesystem::remove(staging_path);
  if (!(data[0] & 4)) write_file(staging_path, mapped_file(rest));
  worker::LogOptions options;
  options.folder = folder.path;
  size_t records = 0;
  try {
    const worker::LogCounts counts = worker::salvage_logs(staging_path, role, 1, 1, options, go_on, [&](const worker::Record& record) {
      ++records;
      fuzz::require(record.service == 1, "a record is of a service of this group");
    });
    fuzz::require(records <= lines + rest.size() / sizeof(worker::Record), "no more is read back than there is");
    if (!counts.error.empty()) return 0;
    std::ifstream file(log_path, std::ios::binary);
    const std::string log{std::istreambuf_iterator<char>(file), {}};
    fuzz::require(log.empty() || log.back() == '\n', "a log never holds half a line");
  } catch (const std::runtime_error& error) {
    fuzz::require(error.what()[0] != '\0', "an error says what is wrong");
  }
  return 0;
}
