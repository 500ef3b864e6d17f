// SPDX-License-Identifier: GPL-3.0-or-later
// The three roles of a run, and what follows from a role alone.
#pragma once

#include <QString>
#include <array>
#include <string>
#include <string_view>

#include "app/control/run_control.h"
#include "app/settings/settings.h"

namespace n2nq::app {

inline constexpr std::array<Role, 3> all_roles = {Role::broker, Role::senders, Role::receivers};
inline constexpr std::size_t index_of(Role role) {
  return static_cast<std::size_t>(role);
}

/// As it stands in protocols and files: "broker".
const char* role_key(Role role);
/// As a sentence begins with it: "N2NQ", "Senders".
QString role_name(Role role);
QString program_of(Role role);
/// The host that the settings name for it.
std::string host_of(Role role, const Settings& settings);
/// The whole run is on this machine.
bool is_all_local(const Settings& settings);
/// Whether a process of this role is started with this key's value.
bool is_used_by(Role role, std::string_view key);
/// Whether the bench itself goes by this key from a run's first start to its result.
bool is_used_by_run(std::string_view key);

}  // namespace n2nq::app
