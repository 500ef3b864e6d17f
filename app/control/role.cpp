// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/control/role.h"

#include <algorithm>

#include "app/settings/host_name.h"

namespace n2nq::app {

const char* role_key(Role role) {
  switch (role) {
    case Role::broker:
      return "broker";
    case Role::senders:
      return "senders";
    case Role::receivers:
      break;
  }
  return "receivers";
}

QString role_name(Role role) {
  switch (role) {
    case Role::broker:
      return "N2NQ";
    case Role::senders:
      return "Senders";
    case Role::receivers:
      break;
  }
  return "Receivers";
}

QString program_of(Role role) {
  return QString("n2nq-%1").arg(role_key(role));
}

std::string host_of(Role role, const Settings& settings) {
  switch (role) {
    case Role::broker:
      return settings.broker.host;
    case Role::senders:
      return settings.senders.host;
    case Role::receivers:
      break;
  }
  return settings.receivers.host;
}

bool is_all_local(const Settings& settings) {
  return std::all_of(all_roles.begin(), all_roles.end(), [&](Role role) { return host_of(role, settings) == local_host; });
}

bool is_used_by(Role role, std::string_view key) {
  const auto one_of = [key](std::initializer_list<std::string_view> keys) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  };
  switch (role) {
    case Role::broker:
      return key.starts_with("broker.") || key.starts_with("queue.") || key.starts_with("responses.") ||
             (key.starts_with("limits.") && key != "limits.connect_deadline_s") || one_of({"senders.amount", "receivers.amount", "seed", "transport"});
    case Role::senders:
      return key.starts_with("senders.") || one_of({"queue.mode", "seed", "log", "log_sample_every", "transport", "limits.reconnect_deadline_s"});
    case Role::receivers:
      break;
  }
  return key.starts_with("receivers.") ||
         one_of({"queue.mode", "queue.requests", "senders.amount", "senders.warmup_messages", "log", "log_sample_every", "transport",
                 "limits.reconnect_deadline_s"});
}

bool is_used_by_run(std::string_view key) {
  return key == "start_when" || key == "messages_tsv_max_mib";
}

}  // namespace n2nq::app
