// SPDX-License-Identifier: GPL-3.0-or-later
// As long as it is there, this process may open so many more files and not one more.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>

#include <stdexcept>
#include <vector>

#include "broker/net/fd.h"

namespace n2nq::support {

class FewFiles {
 public:
  explicit FewFiles(size_t more) {
    if (getrlimit(RLIMIT_NOFILE, &before_) != 0) throw std::runtime_error("no limit for open files");
    // Files get the lowest numbers that are free, and only those below the limit.
    rlimit few = before_;
    std::vector<net::Fd> next;
    for (size_t i = 0; i <= more; ++i) {
      next.emplace_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
      if (!next.back().valid()) throw std::runtime_error("too many open files already");
      few.rlim_cur = static_cast<rlim_t>(next.back().get());
    }
    if (setrlimit(RLIMIT_NOFILE, &few) != 0) throw std::runtime_error("the limit for open files cannot be set");
  }
  ~FewFiles() { setrlimit(RLIMIT_NOFILE, &before_); }
  FewFiles(const FewFiles&) = delete;
  FewFiles& operator=(const FewFiles&) = delete;

 private:
  rlimit before_{};
};

}  // namespace n2nq::support
