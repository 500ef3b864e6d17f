// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/lab/emulator/tap.h"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace n2nq::lab {

namespace {

int checked(int result, const std::string& what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

net::Fd open_checked(const std::string& path, int flags) { return net::Fd(checked(open(path.c_str(), flags | O_CLOEXEC), path)); }

/// This thread in another network namespace, as long as it lives.
class Elsewhere {
 public:
  explicit Elsewhere(const std::string& network) : home_(open_checked("/proc/self/ns/net", O_RDONLY)) {
    checked(setns(open_checked(network, O_RDONLY).get(), CLONE_NEWNET), network);
  }
  ~Elsewhere() { setns(home_.get(), CLONE_NEWNET); }
  Elsewhere(const Elsewhere&) = delete;
  Elsewhere& operator=(const Elsewhere&) = delete;

 private:
  net::Fd home_;
};

net::Fd make_tap_here(const std::string& device) {
  net::Fd cable = open_checked("/dev/net/tun", O_RDWR | O_NONBLOCK);
  ifreq request{};
  request.ifr_flags = static_cast<short>(IFF_TAP | IFF_NO_PI | IFF_TUN_EXCL);
  if (device.size() >= sizeof request.ifr_name) throw std::system_error(ENAMETOOLONG, std::generic_category(), device);
  std::memcpy(request.ifr_name, device.c_str(), device.size() + 1);
  checked(ioctl(cable.get(), TUNSETIFF, &request), "network device " + device);
  return cable;
}

}  // namespace

net::Fd make_tap(const std::string& device, const std::string& network) {
  if (network.empty()) return make_tap_here(device);
  const Elsewhere there(network);
  return make_tap_here(device);
}

}  // namespace n2nq::lab
