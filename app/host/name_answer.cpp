// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/name_answer.h"

#include <errno.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>

#include <QHostAddress>
#include <QScopeGuard>
#include <QUrl>
#include <chrono>
#include <map>
#include <mutex>

namespace n2nq::app {

namespace {

// A slow name service would take its time with each connection to a machine, one after the other.
constexpr std::chrono::seconds answer_holds{60};

struct NameAnswers {
  struct Given {
    NameAnswer answer;
    std::chrono::steady_clock::time_point at;
  };
  std::mutex mutex;
  std::map<QString, Given> given;
};

/// Never destroyed: who waits for the system may outlive everything else.
NameAnswers& name_answers() {
  static auto* const all = new NameAnswers;
  return *all;
}

NameAnswer ask_for_addresses(const QString& name) {
  const QByteArray ascii = QUrl::toAce(name);  // letters beyond it have another form there
  if (ascii.isEmpty()) return {{}, "nothing can be called that"};
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* list = nullptr;
  const int error = ::getaddrinfo(ascii.constData(), nullptr, &hints, &list);
  if (error != 0) return {{}, QString::fromLocal8Bit(error == EAI_SYSTEM ? ::strerror(errno) : ::gai_strerror(error))};
  const auto freed = qScopeGuard([list] { ::freeaddrinfo(list); });
  NameAnswer out;
  for (const addrinfo* each = list; each != nullptr; each = each->ai_next) out.addresses += QHostAddress(each->ai_addr).toString();
  out.addresses.removeDuplicates();
  return out;
}

}  // namespace

NameAnswer NameAnswer::of(const QString& name) {
  NameAnswers& all = name_answers();
  {
    const std::lock_guard lock(all.mutex);
    const auto known = all.given.find(name);
    if (known != all.given.end() && std::chrono::steady_clock::now() - known->second.at < answer_holds) return known->second.answer;
  }
  NameAnswer answer = ask_for_addresses(name);
  const std::lock_guard lock(all.mutex);
  if (!answer.addresses.isEmpty()) all.given[name] = {answer, std::chrono::steady_clock::now()};
  return answer;
}

}  // namespace n2nq::app
