// SPDX-License-Identifier: GPL-3.0-or-later
// One simulated microservice: a number, a connection, and the patience to get it and to get it back.
//
//   waiting ---> connected ---> running ---> ending ---> ended
//      |             \_____________|____________|-> (connection lost) -> back to where it was, or failed
//      +-> failed (refused for good)
//
// Until its first connection it tries again every 100 ms without end. A connection that breaks later is tried again with jittered, growing
// pauses until Tools::reconnect_deadline_ns is over; then the service has failed, with a fault. The data thread, except where noted.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "workers/queue_client/queue_client.h"
#include "workers/recorder/recorder.h"

namespace n2nq::worker {

enum class ServiceState { waiting, connected, running, ending, ended, failed };
const char* name_of(ServiceState state);

/// What a service tells its group.
class ServiceObserver {
 public:
  virtual ~ServiceObserver() = default;
  virtual void service_changed(ServiceState from, ServiceState to) = 0;
  virtual void service_opened(const OpenFacts& facts) = 0;
  /// Something that taints the run, as a sentence that names the service.
  virtual void service_fault(const std::string& fault) = 0;
  /// The same of what a killed process had left: who goes on behind this one finds it anew, so it is for the last words alone.
  virtual void service_left(const std::string& fault) = 0;
};

class Service : public QueueHandler {
 public:
  static constexpr std::int64_t first_retry_ns = 100'000'000;

  struct Tools {
    net::EventLoop& loop;
    Recorder& recorder;
    ServiceObserver& observer;
    std::string system;
    wire::Token token;
    std::uint64_t seed = 0;  // for the jitter
    std::uint32_t first_session = 0;
    std::uint32_t services = 1;  // of the group
    std::int64_t reconnect_deadline_ns;
  };

  Service(const Tools& tools, wire::Role role, std::uint32_t number);

  /// Starts to connect.
  void connect(const net::SocketAddress& address);
  /// Traffic begins.
  void run();
  void tick(std::int64_t now_ns);
  /// Gives up whatever it has, without a word.
  void close();
  /// Breaks the connection, as a network does; it is tried again like any that broke. Nothing without a connection.
  void break_connection();

  std::uint32_t number() const { return number_; }
  const std::string& name() const { return name_; }
  /// Why its connection broke last, or could not be made; empty: neither was so.
  const std::string& last_reason() const { return last_reason_; }
  std::uint16_t source_port() const { return source_port_; }  // of the last connection; 0: never connected
  std::uint32_t connections() const { return connections_; }  // so far
  /// Any thread.
  ServiceState state() const { return state_.load(std::memory_order_relaxed); }

 protected:
  /// Null before connect().
  QueueClient* client() { return client_.get(); }
  bool is_open() const { return open_; }
  /// It, or the killed process that it goes on for, had a connection.
  bool comes_back() const { return tools_.first_session > 0 || connections_ > 0; }
  net::EventLoop& loop() { return tools_.loop; }
  Recorder& recorder() { return tools_.recorder; }
  void set_state(ServiceState state);
  void fault(const std::string& what);
  void fault_left(const std::string& what);
  void fail(const std::string& why);
  bool is_over() const { return state() == ServiceState::ended || state() == ServiceState::failed; }

  /// Senders: the lowest index that can still be published.
  virtual std::uint64_t next_index() const { return 0; }
  /// Receivers, as QueueClient::open() says.
  virtual const std::vector<wire::Rule>* rules_to_come_back_with() const { return nullptr; }
  /// The connection is there, for the first time or again (`restarted`: with another queue than before).
  virtual void opened(const OpenFacts& facts, bool restarted) = 0;
  /// The system said its end.
  virtual void ended(const wire::EndTotals& totals) = 0;

 private:
  void on_open(const OpenFacts& facts) final;
  void on_end(const wire::EndTotals& totals) final;
  void on_closed(const std::string& reason, Closed closed) final;
  void try_to_open();

  Tools tools_;
  const wire::Role role_;
  const std::uint32_t number_;
  const std::string name_;
  std::unique_ptr<QueueClient> client_;
  net::Timer retry_;
  std::minstd_rand jitter_;
  std::atomic<ServiceState> state_{ServiceState::waiting};
  bool open_ = false;
  std::uint16_t source_port_ = 0;
  std::uint32_t connections_ = 0;
  std::optional<std::uint64_t> incarnation_;  // of the system, once connected
  std::int64_t lost_at_ns_ = 0;               // 0: not lost
  std::int64_t pause_ns_ = 0;                 // before the next attempt to reconnect
  std::string last_reason_;
};

}  // namespace n2nq::worker
