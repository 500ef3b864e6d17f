// SPDX-License-Identifier: GPL-3.0-or-later
// A narrow view of the person's SSH agent: libssh, which would offer all that an agent has in the agent's order, sees through it only the
// keys that one log-in is to try, in the order in which it is to try them. A certificate whose private half the agent has is one of them,
// too.
//
//   libssh ─ "what have you?" ─► view (answers itself)         libssh ─ "sign with this" ─► view ─► agent ─► view ─► libssh
//
// Every other request is refused. Used by one thread; a thread of its own serves libssh until it is destroyed.
#pragma once

#include <QByteArray>
#include <atomic>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include "app/host/owned_fd.h"

namespace n2nq::app {

class SshAgentView {
 public:
  struct Offer {
    QByteArray key;        // what the host is shown
    QByteArray sign_with;  // which of the agent's keys signs
  };

  /// `agent`: a connection to it. Before each question to it `begin` is called, which may take its time; false: it is not asked. After it
  /// `end`. On either thread.
  SshAgentView(OwnedFd agent, std::function<bool()> begin, std::function<void()> end)
      : agent_(std::move(agent)), begin_(std::move(begin)), end_(std::move(end)) {}
  ~SshAgentView();
  SshAgentView(const SshAgentView&) = delete;
  SshAgentView& operator=(const SshAgentView&) = delete;

  /// What it has, as blobs. None: it does not answer as an agent. Blocks; a shutdown of the socket ends it.
  std::optional<std::vector<QByteArray>> keys();
  /// A socket to speak with the view; invalid: it cannot be made. To be called once.
  OwnedFd open(std::vector<Offer> offers);
  /// It has a key that the host would take, and did not sign with it. Any thread.
  bool refused_to_sign() const { return refused_to_sign_; }

 private:
  void serve();
  QByteArray answer_to(const QByteArray& request);
  std::optional<QByteArray> ask(const QByteArray& request);

  OwnedFd agent_, near_;
  std::function<bool()> begin_;
  std::function<void()> end_;
  std::vector<Offer> offers_;
  std::atomic<bool> refused_to_sign_{false};
  std::thread thread_;
};

}  // namespace n2nq::app
