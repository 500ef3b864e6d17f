# SPDX-License-Identifier: GPL-3.0-or-later
"""The works that are measured, and what is aimed at."""
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Work:
    name: str
    mode: str
    senders: int
    receivers: int
    interval_ns: int  # of each sender; 0: as fast as it goes
    aims: dict        # figure -> largest ratio to the better floor; for "rate" the smallest
    start: str = "spread"
    size_bytes: int = 50
    queue: dict = field(default_factory=dict)         # of the broker's settings, like limits
    limits: dict = field(default_factory=dict)
    of_receivers: dict = field(default_factory=dict)  # of the receivers' settings
    io: str = "epoll"                                 # of the broker; or "io_uring"
    spin_us: int = 0                                  # of the broker
    keep_core: bool = True                            # of the broker
    transport: str = "tcp"                            # or "unix"
    logs: str = ""                                    # folder of the services' logs; "": off
    complete: bool = True                             # everything sent has to arrive, and nothing may be at fault

    @property
    def title(self):
        pace = "as fast as it goes" if self.interval_ns == 0 else f"{self.interval_ns / 1e9:g} s"
        phase = ", in phase" if self.start == "in-phase" else ""
        size = "" if self.size_bytes == 50 else f", {self.size_bytes} B"
        window = self.queue.get("responses_window")
        responses = f", responses (window {window})" if window else ""
        return f"{self.mode} {self.senders} x {self.receivers}, {pace}{phase}{size}{responses}"


TENTH = 100_000_000

WORKS = {work.name: work for work in (
    Work("one-to-one", "broadcaster", 1, 1, 1_000_000, {"p50": 1.05, "p99": 1.10}),
    Work("broadcast-50-spread", "broadcaster", 50, 50, TENTH, {"p50": 1.00, "p99": 1.00}),
    Work("broadcast-50-in-phase", "broadcaster", 50, 50, TENTH, {"p50": 1.10, "p99": 1.10}, start="in-phase"),
    Work("broadcast-100", "broadcaster", 100, 100, TENTH, {"p50": 1.00, "p99": 1.00}),
    Work("balance-100", "load-balancer", 100, 100, TENTH, {"p50": 1.05, "p99": 1.10}),
    # Against a relay that confirms nothing; the aim is what the best of other queues reaches there
    Work("balance-20-responses", "load-balancer", 20, 20, TENTH, {"p50": 2.00}, queue={"responses": True, "responses_window": 1}),
    Work("balance-full", "load-balancer", 4, 4, 0, {"rate": 0.85}),
    Work("balance-full-1kB", "load-balancer", 4, 4, 0, {"rate": 0.90}, size_bytes=1000),
    Work("broadcast-full", "broadcaster", 1, 50, 0, {"rate": 0.90}),
)}
