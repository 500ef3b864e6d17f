// SPDX-License-Identifier: GPL-3.0-or-later
// Results that are deleted, and how they are taken back. A deleted one is moved to .deleted in the runs folder, from where it can be taken back
// until the next start; that moves it to .forgotten, whose files are deleted for good. Knows the folders alone, not the index.
#pragma once

#include <QString>
#include <atomic>

namespace n2nq::app {

class DeletedResults {
 public:
  /// `folder`: where runs and test cases lie.
  explicit DeletedResults(QString folder) : folder_(std::move(folder)) {}

  /// Moves the folder of a result out of the way. Empty result: done. A folder outside ours is refused, and one of a test case that a bench
  /// works in.
  QString remove(const QString& folder);
  /// Takes back what was removed last from this folder's place.
  QString restore(const QString& folder);
  /// Whether what was removed from this folder's place is still there to be taken back.
  bool can_be_restored(const QString& folder) const;
  /// At a start: nothing that was removed before can be taken back any more. What somebody may have tried to take back in vain, as in its
  /// place stands what is no result, is put beside that, under another name (…-2). A look at each, however large it is.
  void forget();
  /// Deletes for good what was forgotten, now or at a start before; may take minutes. Stops behind the file in hand once `cancelled` is
  /// set: the next one goes on. Any thread, beside everything else here.
  void delete_forgotten(const std::atomic<bool>& cancelled) const;

 private:
  QString place_of_deleted(const QString& folder) const;
  bool put_back_what_is_in_nobodys_place() const;
  QString folder_;
};

}  // namespace n2nq::app
