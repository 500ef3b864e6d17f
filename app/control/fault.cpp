// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/control/fault.h"

#include <algorithm>
#include <array>

#include "workers/measure/log_line.h"

namespace n2nq::app {

namespace {

struct Words {
  FaultKind kind;
  std::string_view word;
  bool of_service;
  const char* sentence;
};
constexpr std::array<Words, 9> table = {{
    {FaultKind::pause, "pause", false, "%1 paused"},
    {FaultKind::resume, "resume", false, "%1 resumed"},
    {FaultKind::kill, "kill", false, "%1 killed"},
    {FaultKind::restart, "restart", false, "%1 started again"},
    {FaultKind::disconnect, "disconnect", true, "%1 disconnected"},
    {FaultKind::stop_reading, "stop-reading", true, "%1 stops reading"},
    {FaultKind::confirm_nothing, "confirm-nothing", true, "%1 confirms nothing"},
    {FaultKind::answer_negatively, "answer-negatively", true, "%1 answers negatively"},
    {FaultKind::normal, "normal", true, "%1 is back to normal"},
}};

const Words& words_of(FaultKind kind) {
  return *std::find_if(table.begin(), table.end(), [kind](const Words& words) { return words.kind == kind; });
}

Problem parse_whom(std::string_view text, const Words& words, Fault& out) {
  if (words.of_service) {
    const bool sender = text.starts_with('S'), receiver = text.starts_with('R');
    std::int64_t number = 0;
    if ((!sender && !receiver) || parse_integer(text.substr(1), 1, 100'000, number)) {
      return std::string(words.word) + " is done to one service, such as R001, not to " + in_quotes(text);
    }
    out.role = sender ? Role::senders : Role::receivers;
    out.number = static_cast<int>(number);
    return {};
  }
  for (const Role role : all_roles) {
    if (text == role_key(role)) return out.role = role, std::nullopt;
  }
  return std::string(words.word) + " is done to broker, senders or receivers, not to " + in_quotes(text);
}

}  // namespace

bool is_of_service(FaultKind kind) {
  return words_of(kind).of_service;
}

std::string_view fault_word(FaultKind kind) {
  return words_of(kind).word;
}

const std::vector<FaultKind>& all_fault_kinds() {
  static const std::vector<FaultKind> kinds = [] {
    std::vector<FaultKind> out;
    for (const Words& words : table) out.push_back(words.kind);
    return out;
  }();
  return kinds;
}

QString fault_sentence(const Fault& fault) {
  const QString whom = fault.number == 0 ? role_name(fault.role)
                                         : QString::fromStdString(measure::service_name(fault.role == Role::senders ? 'S' : 'R',
                                                                                        static_cast<std::uint32_t>(fault.number)));
  return QString(words_of(fault.kind).sentence).arg(whom);
}

Problem parse_fault(std::string_view text, Fault& out) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return std::string("has no colon between what and whom");
  const std::string_view word = text.substr(0, colon);
  const auto words = std::find_if(table.begin(), table.end(), [word](const Words& entry) { return entry.word == word; });
  if (words == table.end()) {
    std::vector<std::string_view> known;
    for (const Words& entry : table) known.push_back(entry.word);
    return in_quotes(word) + " is none of " + one_of(known);
  }
  out = {.kind = words->kind, .role = Role::receivers, .number = 0};
  return parse_whom(text.substr(colon + 1), *words, out);
}

Problem check_fault(const Fault& fault, const Settings& settings) {
  const std::string word(fault_word(fault.kind));
  const bool answers = fault.kind == FaultKind::confirm_nothing || fault.kind == FaultKind::answer_negatively;
  if (answers && !settings.queue.responses) return word + " needs queue.responses: true";
  if (fault.number > 0) {
    const int amount = fault.role == Role::senders ? settings.senders.amount : settings.receivers.amount;
    if (fault.number > amount) return "there are only " + std::to_string(amount) + " " + role_key(fault.role);
    if (fault.role == Role::senders && fault.kind != FaultKind::disconnect) return word + " is for receivers; senders can disconnect";
  }
  const bool kills_worker = (fault.kind == FaultKind::kill || fault.kind == FaultKind::restart) && fault.role != Role::broker;
  if (kills_worker && settings.log != LogMode::all) return word + " of workers needs log: all, because their logs are what they knew";
  return {};
}

}  // namespace n2nq::app
