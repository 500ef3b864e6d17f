// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/ssh_sftp_start.h"

#include <libssh/callbacks.h>

#include <algorithm>
#include <string>

#include "app/host/ssh_channel.h"
#include "app/host/ssh_command.h"
#include "broker/wire/printable.h"

namespace n2nq::app {

namespace {

constexpr std::size_t version_head_bytes = 9;  // length (4), type, version (4)
constexpr unsigned char version_type = 2;
constexpr int length_min = 5, version_max = 6;
constexpr unsigned char length_head_max = 0x10;  // libssh takes packets of up to 256 MiB
constexpr std::size_t told_chars_max = 200;

/// Whether what begins here may be the server's first packet, as far as it has come.
bool may_be_version(std::string_view came) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(came[i]); };
  for (std::size_t i = 0; i < std::min(came.size(), version_head_bytes); ++i) {
    const bool fits = i < 2    ? byte(i) == 0  // of less than 64 KiB
                      : i == 2 ? true
                      : i == 3 ? (byte(2) << 8 | byte(3)) >= length_min
                      : i == 4 ? byte(i) == version_type
                      : i < 8  ? byte(i) == 0
                               : byte(i) >= 1 && byte(i) <= version_max;
    if (!fits) return false;
  }
  return true;
}

/// Takes noise away as it comes, until the first packet is there.
class NoiseFilter {
 public:
  explicit NoiseFilter(ssh_channel channel) : channel_(channel) {
    callbacks_.userdata = this;
    callbacks_.channel_data_function = [](ssh_session, ssh_channel, void* data, uint32_t size, int is_stderr, void* self) {
      return static_cast<NoiseFilter*>(self)->take({static_cast<const char*>(data), size}, is_stderr != 0);
    };
    ssh_callbacks_init(&callbacks_);
    ssh_set_channel_callbacks(channel_, &callbacks_);
  }
  ~NoiseFilter() { ssh_remove_channel_callbacks(channel_, &callbacks_); }
  NoiseFilter(const NoiseFilter&) = delete;
  NoiseFilter& operator=(const NoiseFilter&) = delete;

  /// For a terminal.
  QString said() const { return QString::fromStdString(wire::printable(QString::fromUtf8(said_).simplified().toStdString())); }

 private:
  int take(std::string_view came, bool is_stderr) {
    const std::size_t noise = is_stderr ? came.size() : begun_ ? 0 : noise_before_sftp(came);
    // libssh reads what is left at once, so that a beginning of the packet is never seen again.
    begun_ = begun_ || (!is_stderr && noise < came.size());
    taken_bytes_ += static_cast<qsizetype>(noise);
    std::string_view said = came.substr(0, noise);
    if (said_.empty()) said.remove_prefix(std::min(said.find_first_not_of(" \t\r\n"), said.size()));
    said_ += said.substr(0, told_chars_max - said_.size());
    if (is_stderr || taken_bytes_ <= ssh_said_bytes_max) return static_cast<int>(noise);
    // Who says more than a login script may is left to libssh, from where it reads a length that it refuses.
    const auto refused = std::find_if(came.begin(), came.end(), [](unsigned char byte) { return byte > length_head_max; });
    return static_cast<int>(refused - came.begin());
  }

  const ssh_channel channel_;
  ssh_channel_callbacks_struct callbacks_{};
  std::string said_;
  qsizetype taken_bytes_ = 0;
  bool begun_ = false;
};

}  // namespace

std::size_t noise_before_sftp(std::string_view came) {
  std::size_t at = came.find('\0');
  while (at < came.size() && !may_be_version(came.substr(at))) at = came.find('\0', at + 1);
  return std::min(at, came.size());
}

sftp_session start_sftp(ssh_session session, QString& why, QString& said) {
  SshChannelHandle channel(ssh_channel_new(session));
  if (!channel) {
    why = "not enough memory";
    return nullptr;
  }
  sftp_session opened = nullptr;
  {
    const NoiseFilter filter(channel.get());
    if (ssh_channel_open_session(channel.get()) == SSH_OK && ssh_channel_request_sftp(channel.get()) == SSH_OK)
      opened = sftp_new_channel(session, channel.get());
    if (opened) {
      channel.release();  // it frees that from here on
      if (sftp_init(opened) == SSH_OK) return opened;
    }
    said = filter.said();
  }
  why = QString::fromUtf8(ssh_get_error(session));
  if (opened) sftp_free(opened);
  return nullptr;
}

}  // namespace n2nq::app
