// SPDX-License-Identifier: GPL-3.0-or-later
// Faults as text, and how long a run takes to recover from one.
#include <gtest/gtest.h>

#include "app/control/planned_step.h"
#include "app/control/recovery.h"

namespace n2nq::app {
namespace {

std::string problem(std::string_view text) {
  PlannedStep planned;
  return parse_planned_fault(text, planned).value_or("");
}

TEST(faults, are_read_as_they_are_written) {
  PlannedStep planned;
  ASSERT_FALSE(parse_planned_fault("kill:receivers@5", planned));
  EXPECT_EQ(std::get<Fault>(planned.what), (Fault{FaultKind::kill, Role::receivers, 0}));
  EXPECT_EQ(planned.at_s, 5);
  ASSERT_FALSE(parse_planned_fault("confirm-nothing:R017@2.5", planned));
  EXPECT_EQ(std::get<Fault>(planned.what), (Fault{FaultKind::confirm_nothing, Role::receivers, 17}));
  EXPECT_EQ(planned.at_s, 2.5);
  ASSERT_FALSE(parse_planned_fault("disconnect:S3@0", planned));
  EXPECT_EQ(std::get<Fault>(planned.what), (Fault{FaultKind::disconnect, Role::senders, 3}));
  EXPECT_EQ(step_sentence(planned), "S003 disconnected");
}

TEST(planned_requests, are_read_as_they_are_written) {
  PlannedStep step;
  ASSERT_FALSE(parse_planned_request("{receivers: R1-R25, senders: S1-S10, sizes: 20-100}@2.5", step));
  EXPECT_EQ(step.at_s, 2.5);
  EXPECT_EQ(step_sentence(step), "R001–R025 ask for S001–S010, 20–100 B");
  Settings settings;
  settings.receivers.amount = 25;
  settings.senders.amount = 10;
  EXPECT_EQ(check_step(step, settings).value_or(""), "needs queue.requests: true (or a list)");
  settings.queue.requests.emplace();
  EXPECT_EQ(check_step(step, settings).value_or(""), "");
  settings.receivers.amount = 24;
  EXPECT_EQ(check_step(step, settings).value_or(""), "names R25, but there are 24 receivers");
  ASSERT_FALSE(parse_planned_request("{senders: none}@0", step));
  EXPECT_EQ(step_sentence(step), "all receivers ask for nothing");
}

TEST(planned_requests, mistakes_are_named) {
  const auto problem = [](std::string_view text) {
    PlannedStep step;
    return parse_planned_request(text, step).value_or("");
  };
  EXPECT_TRUE(problem("{receivers: R1}").starts_with("must be REQUEST@SECONDS, such as {receivers"));
  EXPECT_NE(problem("{recievers: R1}@1").find("recievers"), std::string::npos);
  EXPECT_NE(problem("{sizes: big}@1").find("}@5; sizes must be any, one size"), std::string::npos) << problem("{sizes: big}@1");
  EXPECT_NE(problem("R1@1").find("; read as a list it must hold entries such as"), std::string::npos) << problem("R1@1");
  EXPECT_NE(problem("{receivers: R1}, {receivers: R2}@1").find("needs --request more than once"), std::string::npos);
  EXPECT_NE(problem("{receivers: R1}@-1").find("the seconds behind @"), std::string::npos);
}

TEST(faults, mistakes_are_named) {
  EXPECT_EQ(problem("kill"), "must be WHAT:WHOM@SECONDS, such as kill:receivers@5 or stop-reading:R001@2.5");
  EXPECT_NE(problem("maim:receivers@5").find("\"maim\" is none of pause, resume, kill"), std::string::npos);
  EXPECT_EQ(problem("kill:R001@5"), "kill is done to broker, senders or receivers, not to \"R001\"");
  EXPECT_EQ(problem("disconnect:receivers@5"), "disconnect is done to one service, such as R001, not to \"receivers\"");
  EXPECT_NE(problem("kill:receivers@soon").find("the seconds behind @ must be a number"), std::string::npos);
}

TEST(faults, what_a_run_cannot_do_is_named) {
  Settings settings;
  settings.receivers.amount = 10;
  const auto refused = [&](FaultKind kind, Role role, int number) { return check_fault({kind, role, number}, settings).value_or(""); };
  EXPECT_EQ(refused(FaultKind::disconnect, Role::receivers, 11), "there are only 10 receivers");
  EXPECT_EQ(refused(FaultKind::confirm_nothing, Role::receivers, 1), "confirm-nothing needs queue.responses: true");
  EXPECT_EQ(refused(FaultKind::stop_reading, Role::senders, 1), "stop-reading is for receivers; senders can disconnect");
  EXPECT_EQ(refused(FaultKind::restart, Role::receivers, 0), "");
  settings.log = LogMode::off;
  EXPECT_EQ(refused(FaultKind::restart, Role::receivers, 0), "restart of workers needs log: all, because their logs are what they knew");
  EXPECT_EQ(refused(FaultKind::restart, Role::broker, 0), "");
}

/// Ten rounds a second.
struct RecoveryTest : ::testing::Test {
  static constexpr Recovery::Whom receivers{Role::receivers, 0};
  Recovery recovery;
  double t_s = 0;
  bool at_most = false;  // what in flight is
  double received_per_s = unknown;

  /// Of the only fault that is over by now; NaN: there is none, or there are several.
  double recovered_after_s() {
    const auto recovered = recovery.take();
    return recovered.size() == 1 ? recovered[0].after_s : unknown;
  }
  /// Nothing comes, though all answer.
  void empty_rounds(int count) { rounds(count, unknown, 50, false, 0); }

  void rounds(int count, double p50_us, std::int64_t in_flight, bool silent = false, std::uint64_t delivered = 10) {
    for (int i = 0; i < count; ++i) {
      LiveFigures figures;
      figures.t_s = t_s += 0.1;
      figures.in_flight = in_flight;
      figures.in_flight_at_most = at_most;
      figures.received_per_s = received_per_s;
      figures.receivers_silent = silent;
      if (!silent) figures.latency_now.count = delivered, figures.latency_now.p50_us = p50_us;
      recovery.look(figures);
    }
  }
};

TEST_F(RecoveryTest, counts_from_the_fault_to_the_first_of_three_rounds_in_the_former_range) {
  rounds(20, 100, 50);
  const double fault_s = t_s;
  recovery.fault(0, fault_s, receivers, true);
  rounds(10, 0, 500, true);
  recovery.mend(receivers);
  rounds(5, 900, 500);
  rounds(2, 110, 55);
  rounds(1, 900, 55);  // not yet
  rounds(2, 100, 50);
  EXPECT_TRUE(recovery.take().empty());
  rounds(1, 100, 50);
  const auto recovered = recovery.take();
  ASSERT_EQ(recovered.size(), 1u);
  EXPECT_EQ(recovered[0].event, 0u);
  EXPECT_NEAR(recovered[0].after_s, 1.9, 1e-9);
  EXPECT_TRUE(recovery.take().empty());
}

TEST_F(RecoveryTest, what_lasts_has_not_recovered_before_it_was_mended_even_if_nothing_shows) {
  rounds(20, 100, 50);
  const double fault_s = t_s;
  recovery.fault(0, fault_s, {Role::receivers, 1}, true);
  recovery.fault(1, fault_s, {Role::receivers, 2}, true);
  recovery.fault(2, fault_s, {Role::senders, 1}, false);
  rounds(10, 100, 50);
  recovery.mend({Role::receivers, 1});
  rounds(3, 100, 50);
  const auto recovered = recovery.take();
  ASSERT_EQ(recovered.size(), 2u);
  EXPECT_EQ(recovered[0].event, 2u);
  EXPECT_NEAR(recovered[0].after_s, 0.1, 1e-9);
  EXPECT_EQ(recovered[1].event, 0u);
  EXPECT_NEAR(recovered[1].after_s, 1.1, 1e-9);
  recovery.mend(receivers);  // its process goes on, and the service as badly as before
  rounds(3, 100, 50);
  EXPECT_TRUE(recovery.take().empty());
  recovery.renew(Role::senders);  // others
  rounds(3, 100, 50);
  EXPECT_TRUE(recovery.take().empty());
  recovery.renew(Role::receivers);  // in a new process a service is well again
  rounds(3, 100, 50);
  EXPECT_EQ(recovery.take().size(), 1u);
}

TEST_F(RecoveryTest, without_anything_to_compare_with_there_is_no_figure) {
  recovery.fault(0, 0, receivers, false);
  rounds(50, 100, 50);
  EXPECT_TRUE(recovery.take().empty());
}

TEST_F(RecoveryTest, an_upper_bound_of_what_is_in_flight_holds_nothing_back) {
  at_most = true;
  rounds(10, 100, 50);  // no rate is known so far
  received_per_s = 1000;
  rounds(10, 100, 50);
  recovery.fault(0, t_s, receivers, false);
  rounds(3, 100, 9000);
  EXPECT_NEAR(recovered_after_s(), 0.1, 1e-9);
}

TEST_F(RecoveryTest, where_in_flight_is_an_upper_bound_deliveries_have_to_come_again) {
  at_most = true;
  received_per_s = 1000;
  rounds(20, 100, 50);
  recovery.fault(0, t_s, receivers, false);
  received_per_s = 400;
  rounds(10, 100, 50);
  EXPECT_TRUE(recovery.take().empty());
  received_per_s = 600;
  rounds(3, 100, 50);
  EXPECT_NEAR(recovered_after_s(), 1.1, 1e-9);
}

TEST_F(RecoveryTest, what_was_lost_by_the_fault_and_stays_in_flight_holds_nothing_back) {
  received_per_s = 1000;
  rounds(20, 100, 50);
  recovery.fault(0, t_s, receivers, false);
  at_most = true;  // what the killed process had in its sockets is among it for ever
  received_per_s = 400;
  rounds(10, 100, 9000);
  EXPECT_TRUE(recovery.take().empty()) << "deliveries have to come again, too";
  received_per_s = 600;
  rounds(3, 100, 9000);
  EXPECT_NEAR(recovered_after_s(), 1.1, 1e-9);
}

TEST_F(RecoveryTest, what_was_under_way_before_the_fault_is_no_recovery_where_nothing_comes_behind_it) {
  received_per_s = 1000;
  rounds(20, 100, 50);
  recovery.fault(0, t_s, {Role::broker, 0}, false);
  at_most = true;
  rounds(2, 100, 50);
  empty_rounds(4);
  rounds(3, 100, 50);
  EXPECT_NEAR(recovered_after_s(), 0.7, 1e-9);
}

TEST_F(RecoveryTest, at_low_rates_looks_without_a_delivery_say_nothing) {
  at_most = true;
  received_per_s = 5;
  rounds(20, 100, 50);
  recovery.fault(0, t_s, receivers, false);
  for (int i = 0; i < 3; ++i) rounds(1, 100, 50), empty_rounds(2);
  EXPECT_NEAR(recovered_after_s(), 0.1, 1e-9);
}

TEST_F(RecoveryTest, nor_do_they_between_bursts) {
  received_per_s = 1000;
  const auto bursts = [this](int count) {
    for (int i = 0; i < count; ++i) rounds(1, 100, 50), empty_rounds(4);
  };
  bursts(5);
  recovery.fault(0, t_s, receivers, false);
  bursts(3);
  EXPECT_NEAR(recovered_after_s(), 0.1, 1e-9);
}

TEST_F(RecoveryTest, while_neither_in_flight_nor_the_rate_is_known_nothing_has_recovered) {
  received_per_s = 1000;
  rounds(20, 100, 50);
  recovery.fault(0, t_s, receivers, false);
  at_most = true;
  received_per_s = unknown;
  rounds(5, 100, 50);
  EXPECT_TRUE(recovery.take().empty());
  received_per_s = 1000;
  rounds(3, 100, 50);
  EXPECT_EQ(recovery.take().size(), 1u);
}

TEST_F(RecoveryTest, a_fault_that_is_never_mended_and_never_over_stays_open) {
  rounds(20, 100, 50);
  recovery.fault(3, t_s, receivers, false);
  rounds(100, 5000, 50);
  EXPECT_TRUE(recovery.take().empty());
}

}  // namespace
}  // namespace n2nq::app
