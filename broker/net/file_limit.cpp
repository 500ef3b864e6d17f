// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/net/file_limit.h"

#include <sys/resource.h>

namespace n2nq::net {

std::string raise_file_limit(size_t files_needed) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return {};
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  const rlim_t reached = setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_max : before;
  if (reached >= files_needed) return {};
  return "this run needs " + std::to_string(files_needed) + " open files, the system allows " + std::to_string(reached) +
         ": raise it (ulimit -Hn) or run fewer services";
}

}  // namespace n2nq::net
