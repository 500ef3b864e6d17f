// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/net/test_clock.h"

#include "broker/net/clock.h"

namespace n2nq::net {

namespace {

constexpr int64_t offset_ns_max = int64_t{1'000'000} * ns_per_s;
constexpr int64_t drift_ppb_max = 10'000'000;

}  // namespace

void take_test_clock(Section& configure) {
  const nlohmann::json* found = configure.find("test_clock");
  if (found == nullptr) return;
  Section section(*found, configure.key("test_clock"));
  TestClock clock;
  section.whole_number("offset_ns", clock.offset_ns, -offset_ns_max, offset_ns_max);
  section.whole_number("drift_ppb", clock.drift_ppb, -drift_ppb_max, drift_ppb_max);
  section.whole_number("step_ns", clock.step_ns, -offset_ns_max, offset_ns_max);
  section.whole_number("step_after_ns", clock.step_after_ns, 0, offset_ns_max);
  section.refuse_unknown();
  set_test_clock(clock);
}

}  // namespace n2nq::net
