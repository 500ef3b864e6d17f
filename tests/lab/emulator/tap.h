// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "broker/net/fd.h"

namespace n2nq::lab {

/// A new Ethernet device whose cable is the descriptor: what the device sends is read from it, one frame a read, and what is written to it the
/// device receives. Non-blocking. The device is gone when the descriptor is closed. `network` is the path of the network namespace where it is
/// made; empty: here. Throws std::system_error that names device or path. The calling thread is in that namespace meanwhile.
net::Fd make_tap(const std::string& device, const std::string& network);

}  // namespace n2nq::lab
