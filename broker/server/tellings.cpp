// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/server/tellings.h"

#include <utility>

#include "broker/queue/sabotage.h"

namespace n2nq {

using wire::SkipReason;

std::unique_ptr<Telling> Tellings::begin(uint32_t number) {
  SkippedSets sets = queue_.take_untold(number);
  SenderSets& expired = of(sets, SkipReason::expired);
  if (!expired.empty() && sabotage::now(sabotage::Way::forget_expired)) expired = {};
  return std::make_unique<Telling>(std::move(sets));
}

void Tellings::tell_some(uint32_t number, wire::Bytes& out) {
  std::unique_ptr<Telling>& telling = under_way_[number - 1];
  if (!telling) telling = begin(number);
  if (!telling->write(out)) telling.reset();
}

void Tellings::stop(uint32_t number) {
  const std::unique_ptr<Telling> telling = std::move(under_way_[number - 1]);
  if (!telling) return;
  queue_.give_back_untold(number, telling->take_rest());
}

std::shared_ptr<Telling> Tellings::begin_last_words(const Session& session) {
  const uint32_t number = session.number();
  stop(number);
  if (!queue_.account(number).has_untold) return nullptr;
  const std::shared_ptr<Telling> rest = begin(number);
  last_words_.push_back({&session, number, rest});
  return rest;
}

/// What the kernel has not taken of them.
void Tellings::take(const LastWords& words) {
  const auto rest = words.rest.lock();
  if (rest && !books_closed_) queue_.give_back_untold(words.number, rest->take_rest());
}

void Tellings::end_last_words(const Session& session) {
  std::erase_if(last_words_, [&](const LastWords& words) {
    if (words.session == &session) take(words);
    return words.session == &session;
  });
}

void Tellings::end_last_words(uint32_t number) {
  std::erase_if(last_words_, [&](const LastWords& words) {
    if (words.number == number) take(words);
    return words.number == number;
  });
}

size_t Tellings::bytes() {
  size_t bytes = 0;
  for (const auto& telling : under_way_) {
    if (telling) bytes += telling->bytes();
  }
  std::erase_if(last_words_, [](const LastWords& words) { return words.rest.expired(); });
  for (const LastWords& words : last_words_) bytes += words.rest.lock()->bytes();
  return bytes;
}

}  // namespace n2nq
