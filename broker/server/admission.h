// SPDX-License-Identifier: GPL-3.0-or-later
// Who is let into a run, and what they are told of it. The loop's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "broker/server/options.h"
#include "broker/server/receiver_desk.h"
#include "broker/server/sender_desk.h"
#include "broker/server/session_places.h"
#include "broker/wire/messages.h"

namespace n2nq {

class Admission {
 public:
  enum class Doors { open, for_receivers, closed };  // for_receivers: while it drains, one that comes late still gets what there is
  struct Refusal {
    wire::ErrorCode code;
    std::string text;
  };

  Admission(const Options& options, uint64_t epoch, const SenderDesk& senders, const ReceiverDesk& receivers, const SessionPlaces& places)
      : options_(options), epoch_(epoch), senders_(senders), receivers_(receivers), places_(places) {}

  /// Why whoever says this HELLO is not let in; none: it is, and the body is a HELLO. Whoever has not the run's token learns nothing of it.
  std::optional<Refusal> refusal(wire::ByteView body, Doors doors) const;
  wire::Welcome welcome(uint64_t next_index) const;

 private:
  std::optional<Refusal> flaw(wire::ByteView body) const;
  size_t probes_max() const;
  bool has_place(const wire::Hello& hello) const;
  bool token_matches(const wire::Token& token) const;

  const Options& options_;
  const uint64_t epoch_;
  const SenderDesk& senders_;
  const ReceiverDesk& receivers_;
  const SessionPlaces& places_;
};

}  // namespace n2nq
