// SPDX-License-Identifier: GPL-3.0-or-later
// That one bench works in a folder, and no other meanwhile. The lock is the kernel's, on a file there: it goes with the process that holds
// it, however that ends. What a killed one leaves is a file that holds nobody up, whatever this machine is called by then and whoever has
// its process id.
#pragma once

#include <QString>
#include <optional>

namespace n2nq::app {

class FolderLock {
 public:
  /// Takes it at once, or not: another one, of this process too, has it, or the file cannot be made (errno says why), or what is there is none.
  static std::optional<FolderLock> take(const QString& file);
  /// The process that has it, as it says itself; 0: nobody has, or it cannot be read.
  static qint64 holder(const QString& file);

  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&&) = delete;
  FolderLock(const FolderLock&) = delete;
  /// Removes the file.
  ~FolderLock();

 private:
  FolderLock(QString file, int fd) : file_(std::move(file)), fd_(fd) {}
  QString file_;
  int fd_;
};

}  // namespace n2nq::app
