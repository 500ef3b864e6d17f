// SPDX-License-Identifier: GPL-3.0-or-later
#include "broker/net/fd.h"

#include <unistd.h>

namespace n2nq::net {

void Fd::reset(int fd) {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

}  // namespace n2nq::net
