// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/net/file_limit.h"

#include <sys/resource.h>

#include <cstdint>

namespace n2nq::net {

size_t raise_file_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return SIZE_MAX;
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  return setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_max : before;
}

std::string raise_file_limit(size_t files_needed) {
  const size_t allowed = raise_file_limit();
  if (allowed >= files_needed) return {};
  return "this run needs " + std::to_string(files_needed) + " open files, the system allows " + std::to_string(allowed) +
         ": raise it (ulimit -Hn) or run fewer services";
}

}  // namespace n2nq::net
