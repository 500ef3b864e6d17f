// SPDX-License-Identifier: GPL-3.0-or-later
// What a run leaves and is read again: log lines, final accounts, histograms, sets.
//   byte 0  which of them the rest is
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>

#include "broker/wire/index_set.h"
#include "tests/fuzz/fuzz.h"
#include "workers/measure/accounts.h"
#include "workers/measure/figures.h"
#include "workers/measure/histogram.h"
#include "workers/measure/ledger.h"
#include "workers/measure/log_line.h"
#include "workers/measure/whole_number.h"

namespace n2nq::measure {
namespace {

using fuzz::require;

/// A line that is read is written the same way again, and one that is not says what is wrong with it.
template <typename Line>
void check_line(std::optional<Line> (*parse)(std::string_view, std::string*), std::string_view text) {
  std::string error;
  const auto line = parse(text, &error);
  require(line.has_value() == error.empty(), "a line is read, or it is said why not");
  if (!line) return;
  char out[line_bytes_max];
  std::string written(out, format_line(out, *line));
  if (!written.empty() && written.back() == '\n') written.pop_back();
  const auto again = parse(written, &error);
  require(again.has_value(), "what is written can be read");
  char twice[line_bytes_max];
  std::string written_again(twice, format_line(twice, *again));
  if (!written_again.empty() && written_again.back() == '\n') written_again.pop_back();
  require(written == written_again, "it stays what it is");
}

void check_skipped_line(std::string_view text) {
  const auto line = parse_skipped_line(text);
  if (!line) return;
  char out[line_bytes_max];
  const size_t bytes = format_line(out, *line);
  require(parse_skipped_line({out, bytes - 1}) == line, "it stays what it is");
}

/// What reading makes of it, which may say in its own words what is wrong with it; none then. What is done with it afterwards may not.
template <typename Read>
auto read_or_refused(std::string_view text, const Read& read) -> std::optional<decltype(read(nlohmann::json()))> {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded()) return std::nullopt;
  try {
    return read(json);
  } catch (const std::invalid_argument& error) {
    require(*error.what() != '\0', "it is said why not");
  }
  return std::nullopt;
}

void check_histogram(std::string_view text) {
  const auto histogram = read_or_refused(text, [](const nlohmann::json& json) { return Histogram::from_json(json); });
  if (!histogram) return;
  require(Histogram::from_json(histogram->to_json()).to_json() == histogram->to_json(), "a histogram travels");
  figures_of(*histogram);
}

LedgerInput accounts_from(const nlohmann::json& json) {
  LedgerInput input;
  input.senders_total = input.receivers_total = 2;
  input.mode = whole_or(json, "mode", 0) == 0 ? wire::QueueMode::broadcaster : wire::QueueMode::load_balancer;
  if (json.contains("senders")) input.senders.push_back(senders_account_from(json["senders"]));
  if (json.contains("receivers")) input.receivers.push_back(receivers_account_from(json["receivers"]));
  if (json.contains("broker")) input.broker = broker_account_from(json["broker"]);
  return input;
}

void check_accounts(std::string_view text) {
  const auto input = read_or_refused(text, accounts_from);
  if (input) nlohmann::json(make_ledger(*input)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace
}  // namespace n2nq::measure

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace n2nq;
  if (size == 0) return 0;
  const std::string_view text = fuzz::text_of({data + 1, size - 1});
  switch (data[0] % 6) {
    case 0:
      measure::check_line<measure::SentLine>(measure::parse_sent_line, text);
      break;
    case 1:
      measure::check_line<measure::ReceivedLine>(measure::parse_received_line, text);
      break;
    case 2:
      measure::check_histogram(text);
      break;
    case 3:
      measure::check_accounts(text);
      break;
    case 4: {
      const auto set = wire::IndexSet::parse(text);
      if (set) fuzz::require(wire::IndexSet::parse(set->text()) == set, "a set's text says the set");
      break;
    }
    case 5:
      measure::check_skipped_line(text);
      break;
  }
  return 0;
}
