// SPDX-License-Identifier: GPL-3.0-or-later
// What the emulator is told while it runs, over a Unix-domain datagram socket: a JSON object each, answered by one.
//   {"do": "shape", "links": ["h1"], "directions": ["up", "down"], "shape": {"delay_ns": 2000000, …}}   keys as in Shape; those left out stay
//   {"do": "stats", "forget": true}    counts since the start; lateness since it was last forgotten
// An answer has "error" when it could not be done. Without "links" or "directions": all of them.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "broker/net/event_loop.h"
#include "broker/net/fd.h"
#include "tests/lab/emulator/link.h"

namespace n2nq::lab {

using Links = std::vector<std::unique_ptr<Link>>;

/// Throws std::invalid_argument or a JSON exception that says what is wrong; nothing was changed then.
nlohmann::json obey(const nlohmann::json& order, Links& links);

class Control : private net::Watcher {
 public:
  /// Makes the socket file. Throws std::system_error. The links must outlive it.
  Control(net::EventLoop& loop, const std::string& path, Links& links);
  ~Control() override;

 private:
  void on_events(std::uint32_t events) override;

  net::EventLoop& loop_;
  Links& links_;
  net::Fd socket_;
};

}  // namespace n2nq::lab
