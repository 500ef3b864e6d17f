// SPDX-License-Identifier: GPL-3.0-or-later
// One TCP connection that speaks frames, with an explicit state.
//
//   connecting ---> open ---> closed          (start_connect)
//                   open ---> closed          (accepted)
//
// Reading: whole frames are handed to the handler as they complete, with the clock read right after the read() that completed them, or any
// part of them (read_ns_of).
// Writing: the caller offers pieces and keeps what the kernel did not take; on_writable() says when to offer again.
// Belongs to the loop's thread. Must not be destroyed inside a call to its handler: close() it, destroy it later.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "broker/net/event_loop.h"
#include "broker/net/fd.h"
#include "broker/net/frame_places.h"
#include "broker/net/send_ring.h"
#include "broker/net/tcp.h"
#include "broker/wire/frame.h"

namespace n2nq::net {

/// Which bytes of a stream came with which read.
struct ReadMark {
  uint64_t bytes_in;  // of the stream, after that read
  int64_t ns;
};

class Connection : private Watcher, private LateReader, private FramePlaces::Waiter {
 public:
  enum class State { connecting, open, closed };

  class Handler {
   public:
    virtual ~Handler() = default;
    /// connecting -> open. Not called for accepted connections, which begin open.
    virtual void on_connected() {}
    /// A complete frame; `read_ns` is the clock right after the read() that completed it. The body is valid during the call.
    virtual void on_frame(const wire::Frame& frame, int64_t read_ns) = 0;
    /// A part of a frame, from its whole header on, after each read that did not complete it. False: it is not wanted; the rest of it takes
    /// no memory, and on_frame() is not called for it.
    virtual bool wants(const wire::BegunFrame& frame) { return static_cast<void>(frame), true; }
    /// The stream is no valid frame stream any more (`error` says why). No frame follows; the handler answers and closes.
    virtual void on_malformed(const std::string& error) = 0;
    /// A write() came up short before, and the kernel has room again.
    virtual void on_writable() {}
    /// open or connecting -> closed by the other end or by a failure; not called after close(). Empty reason: an orderly end of stream.
    /// Of some it is told later where many were closed at once (EventLoop::set_closings_max): until then they take nothing.
    virtual void on_closed(const std::string& reason) = 0;
  };

  /// An accepted socket; begins open and reading.
  Connection(EventLoop& loop, Fd accepted, const wire::FrameLimits& limits, Handler& handler);
  /// Starts to connect. Throws std::system_error when the attempt fails at once.
  Connection(EventLoop& loop, const SocketAddress& peer, const wire::FrameLimits& limits, Handler& handler);
  ~Connection() override;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  State state() const { return state_; }
  bool is_open() const { return state_ == State::open; }
  /// Own address and port; the peer's. As they were when the connection opened.
  const SocketAddress& local() const { return local_; }
  const SocketAddress& peer() const { return peer_; }
  /// The other end is on this host.
  bool is_within_host() const;

  /// In on_frame() only: the clock right after the read() that completed the first `body_bytes` of that frame's body. A frame of many
  /// messages comes with many reads, and its first messages were there before its last ones.
  int64_t read_ns_of(const wire::Frame& frame, size_t body_bytes) const { return ReadTimes(*this, frame).ns_of(body_bytes); }

  /// The same for a walk over the messages of that frame, from the front to the back.
  class ReadTimes {
   public:
    ReadTimes(const Connection& connection, const wire::Frame& frame)
        : body_begin_(connection.bytes_in_ - connection.reader_.bytes_waiting() - frame.body.size()),
          mark_(connection.read_marks_.data()) {}
    /// Never less than before.
    int64_t ns_of(size_t body_bytes) {
      while (mark_->bytes_in < body_begin_ + body_bytes) ++mark_;  // the newest mark has all bytes
      return mark_->ns;
    }
    /// Of the frame's body: up to where what was asked about last is true.
    size_t reach_bytes() const { return mark_->bytes_in - body_begin_; }

   private:
    uint64_t body_begin_;  // in the stream
    const ReadMark* mark_;
  };

  void set_frame_limits(const wire::FrameLimits& limits) { reader_.set_limits(limits); }
  /// From now on frames that are longer than a read get their memory there, and the connection is not read while it waits for it. Without
  /// this each connection has its own.
  void share_places(FramePlaces& places);

  /// Of TCP: see tcp.h.
  void set_send_buffer(int bytes);
  /// Not in on_frame(). Where no frame is under way: gives back what the longest one took, if that is more than this.
  void fit(size_t kept_bytes) { reader_.fit(kept_bytes); }

  /// Offers the pieces to the kernel and returns how many bytes it took, in order, from the front. Fewer than offered: on_writable()
  /// follows once there is room. A failed connection takes nothing and tells on_closed() from the loop, not from inside this call: where the
  /// other end is gone, behind what it had sent, and where that was an orderly end and this one is not read, not before it is read again.
  size_t write(const iovec* pieces, int count);
  /// The same for one piece.
  size_t write(wire::ByteView bytes);
  /// The same with others, in two steps: adds the pieces to a ring that is not full; false, and nothing to settle, where nothing can be
  /// written. After the ring's submit(), settle() says how many of the `offered` bytes the kernel took.
  bool add_to(SendRing& ring, const iovec* pieces, int count);
  size_t settle(const IoResult& result, size_t offered);
  /// Bytes read since the start.
  uint64_t bytes_in() const { return bytes_in_; }
  /// True between a short write and on_writable().
  bool waits_for_room() const { return wants_write_; }
  /// The same as the kernel says now: for who is about to judge, as on_writable() may be late. True also where the other end is there and takes nothing any more.
  bool has_no_room() const;

  /// Stops and resumes reading; frames that are already in the buffer wait too, and keep the time of their read.
  void pause_reading();
  void resume_reading();
  /// In on_frame() only: that frame is not done yet. give_turn() hands it out again; until then nothing is read, and no other frame is handed
  /// out.
  void wait_for_turn();
  void give_turn();
  bool paused() const { return !reading_; }
  /// Memory for a frame that has not been handed out.
  bool has_place() const { return place_bytes() > 0; }
  size_t place_bytes() const { return places_ ? reader_.large_bytes() : 0; }
  /// Neither paused nor waiting for memory or for its turn.
  bool reading() const { return reading_ && !waits_for_place_ && !waits_for_turn_; }
  /// One read of what lies there, at once: for who is about to judge that nothing came.
  void read_waiting();
  /// See liveness.h.
  std::optional<int64_t> host_silent_ns() const;
  uint64_t unacknowledged_bytes() const;
  /// What it sent may wait to be read still; a write would make the kernel throw that away.
  bool peer_has_closed() const;

  /// From now on what comes in is thrown away unread, until the other end closes or more than `bytes_max` came (on_closed). For a last word
  /// that the other end is to read: closing with unread bytes would reset the connection and could destroy it on the way.
  void discard_input(size_t bytes_max);
  /// Ends the sending side (FIN) and keeps reading.
  void shut_down_write();
  /// Closes at once. No call to the handler follows.
  void close();
  /// The same, and what was written and has not arrived yet is taken back: TCP resets the connection. (In a Unix-domain stream it has arrived.)
  void abort();

 private:
  bool takes() const { return state_ == State::open && !write_failed_ && !ended_ && !hung_up_; }
  void on_events(uint32_t events) override;
  bool is_orderly_end(uint32_t events) const;
  void look_at_read() override;
  size_t place_bytes_wanted() const override { return reader_.bytes_wanted(); }
  void on_place(wire::LargeBuffer place) override;
  void look_for_place();
  void leave_place();
  void finish_connect();
  void read_frames();
  void mark_read(size_t bytes);
  void hand_out_frames();
  void hand_out_waiting();
  void discard(size_t bytes);
  void end(int error);
  void on_later();
  void set_interest();
  void fail(const std::string& reason);

  // What each read and write needs lies together: with many connections most of it has left the caches by the time it is used again.
  EventLoop& loop_;
  Handler& handler_;
  Fd fd_;
  State state_;
  bool reading_ = true;
  bool waits_for_place_ = false;
  bool waits_for_turn_ = false;
  bool handing_out_ = false;
  bool looks_later_ = false;
  bool wants_write_ = false;
  bool write_failed_ = false;
  bool fails_later_ = false;  // for that, and what can be read is not waited for
  bool ended_ = false;  // what was read last was the end of the stream, or that it broke
  bool discarding_ = false;
  bool hung_up_ = false;  // the other end is gone while nobody reads
  bool malformed_told_ = false;
  uint32_t interest_ = 0;
  uint64_t bytes_in_ = 0;
  wire::FrameReader reader_;
  FramePlaces* places_ = nullptr;
  static constexpr size_t read_marks_max = 128;  // beyond, what comes in crumbs takes the stamp of the newest crumb
  std::vector<ReadMark> read_marks_;             // only of reads that brought bytes of frames that were not handed out yet
  size_t discard_bytes_left_ = 0;
  int write_error_ = 0;
  int end_error_ = 0;
  SocketAddress local_;
  SocketAddress peer_;
  Timer later_;  // hands out what waited in the buffer while reading was paused, and tells failures of write()
};

/// Bytes that wait for the kernel, for control frames and for small clients: append, flush, flush again from on_writable().
class OutBuffer {
 public:
  /// Append frames here (wire::…::encode).
  wire::Bytes& bytes() { return bytes_; }
  /// Offers what waits; true when nothing is left.
  bool flush(Connection& connection);
  size_t bytes_waiting() const { return bytes_.size() - written_; }
  bool empty() const { return bytes_waiting() == 0; }
  void clear();
  /// Where nothing waits: gives back what takes more memory than this.
  void fit(size_t kept_bytes);

 private:
  wire::Bytes bytes_;
  size_t written_ = 0;
};

}  // namespace n2nq::net
