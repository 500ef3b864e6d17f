// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/queue/taken_in.h"

namespace n2nq {

namespace {

size_t bytes_of(const std::vector<wire::IndexSet>& by_sender) {
  size_t bytes = by_sender.size() * sizeof(wire::IndexSet);
  for (const wire::IndexSet& set : by_sender) bytes += set.bytes();
  return bytes;
}

}  // namespace

TakenIn::Snapshot::Snapshot(const std::vector<wire::IndexSet>& by_sender, size_t& bytes_in_all)
    : by_sender_(by_sender), bytes_(bytes_of(by_sender_)), bytes_in_all_(bytes_in_all) {
  bytes_in_all_ += bytes_;
}

void TakenIn::add(const SenderSets& sets) {
  for (const auto& [sender, set] : sets.sets()) by_sender_[sender - 1] += set;
  changed_ = true;
}

std::shared_ptr<const TakenIn::Snapshot> TakenIn::snapshot() {
  auto latest = latest_.lock();
  if (latest && !changed_) return latest;
  latest = std::make_shared<const Snapshot>(by_sender_, snapshots_bytes_);
  latest_ = latest;
  changed_ = false;
  return latest;
}

SenderSets TakenIn::since(const Snapshot& then) const {
  SenderSets since;
  for (size_t i = 0; i < by_sender_.size(); ++i) {
    const wire::IndexSet more = by_sender_[i] - then.by_sender_[i];
    for (const auto& run : more.runs()) since.add_range(static_cast<uint32_t>(i + 1), run.from, run.to);
  }
  return since;
}

size_t TakenIn::since_bytes_max() const {
  size_t bytes = 0;
  for (const wire::IndexSet& set : by_sender_) bytes += set.empty() ? 0 : SenderSets::node_bytes + set.bytes();
  return bytes;
}

size_t TakenIn::since_text_bytes_max() const {
  size_t bytes = 0;
  for (const wire::IndexSet& set : by_sender_) bytes += set.empty() ? 0 : SenderSets::entry_letters + set.text_bytes();
  return bytes;
}

size_t TakenIn::bytes() const {
  return bytes_of(by_sender_) + snapshots_bytes_;
}

}  // namespace n2nq
