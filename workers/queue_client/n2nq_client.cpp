// SPDX-License-Identifier: GPL-3.0-or-later
#include "workers/queue_client/n2nq_client.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "broker/net/clock.h"
#include "broker/wire/record.h"
#include "workers/queue_client/records.h"

namespace n2nq::worker {

namespace {

/// One PUBLISH is at most this long (unless a single message is longer): long enough to make system calls rare, short enough that the
/// last message of a batch does not wait noticeably for the first.
constexpr std::uint32_t batch_bytes_wanted = 64 * 1024;
/// Of what the longest frame took, between frames: one of many small messages and its header, in a buffer that grows by doubling. To get the
/// memory of a longer one anew takes time that would count as that message's, so a process keeps some of it behind the last one.
constexpr std::size_t frame_kept_bytes = 2 * batch_bytes_wanted;
constexpr std::size_t long_frames_kept_bytes_max = 64 << 20;
constexpr std::int64_t long_frames_kept_ns = 2'500 * net::ns_per_ms;
constexpr std::int64_t heartbeat_phases = 64;
/// Beside the longest silence that is put up with: an end that stood still has to find out first that it hears nothing.
constexpr std::int64_t unread_slack_ns = 5 * net::ns_per_s;

Closed closed_by(wire::ErrorCode code) {
  switch (code) {
    case wire::ErrorCode::too_many:
    case wire::ErrorCode::silent:
    case wire::ErrorCode::handshake:
      return Closed::for_now;
    case wire::ErrorCode::ending:
      return Closed::ending;
    case wire::ErrorCode::too_slow:
      return Closed::cut_off;
    default:
      return Closed::for_good;
  }
}

}  // namespace

N2nqClient::N2nqClient(net::EventLoop& loop, const net::SocketAddress& address, const ClientIdentity& identity, QueueHandler& handler)
    : loop_(loop), address_(address), identity_(identity), handler_(handler), session_(identity.first_session) {}

void N2nqClient::open(std::uint64_t next_index, const std::vector<wire::Rule>* rules) {
  connection_.reset();
  out_.clear();
  end_sent_ = false;
  reading_ = true;
  // N2NQ begins with what it owes: what is left of it, or what this connection's credit had begun. An attempt that failed leaves all of it.
  owed_ = std::max<std::uint64_t>(credit_, owed_ - std::min(owed_, deliveries_));
  deliveries_ = 0;
  answers_.ranges.clear();
  asked_for_.reconnect();
  rule_list_ = prefetch_ = credit_ = 0;
  given_ = 0;
  rules_with_hello_.reset();
  if (rules != nullptr) rules_with_hello_ = *rules;
  next_index_ = next_index;
  opened_ns_ = net::now_ns();
  state_ = State::connecting;
  net::Connection::Handler& self = *this;
  progress_ = {};
  connection_ = std::make_unique<net::Connection>(loop_, address_, wire::frame_bytes_max_from_broker_before_welcome, self);
}

void N2nqClient::on_connected() {
  wire::Hello hello;
  hello.role = identity_.role;
  hello.number = identity_.number;
  hello.session = session_++;
  hello.next_index = next_index_;
  hello.token = identity_.token;
  hello.encode(out_.bytes());
  // Credit follows when it is greeted: what N2NQ would send to an attempt that is given up before is lost without responses.
  if (rules_with_hello_) tell_rules(*rules_with_hello_);
  state_ = State::greeting;
  hello_sent_ns_ = net::now_ns();
  flush();
}

void N2nqClient::on_frame(const wire::Frame& frame, std::int64_t read_ns) {
  last_heard_ns_ = read_ns;
  if (frame.body.size() > batch_bytes_wanted) long_frame_ns_ = read_ns;
  const bool is_sender = identity_.role == wire::Role::sender;
  if (frame.type == wire::FrameType::error) {
    if (const auto error = wire::Error::decode(frame.body)) return take_error(*error);
  } else if (state_ == State::greeting) {
    const auto welcome = frame.type == wire::FrameType::welcome ? wire::Welcome::decode(frame.body) : std::nullopt;
    if (welcome) return take_welcome(*welcome, read_ns);
  } else if (frame.type == wire::FrameType::heartbeat) {
    return;
  } else if (frame.type == wire::FrameType::end) {
    return take_end(frame.body);
  } else if (is_sender && frame.type == wire::FrameType::accepted) {
    if (const auto accepted = wire::Accepted::decode(frame.body)) return handler_.on_accepted(accepted->next_index, accepted->refused);
  } else if (!is_sender && frame.type == wire::FrameType::deliver) {
    return take_deliveries(frame);
  } else if (!is_sender && frame.type == wire::FrameType::skipped) {
    if (const auto skipped = wire::Skipped::decode(frame.body)) return handler_.on_skipped(skipped->ranges);
  }
  refuse(std::string("an unexpected or malformed ") + wire::name_of(frame.type));
}

void N2nqClient::take_welcome(const wire::Welcome& welcome, std::int64_t read_ns) {
  if (welcome.version_read != wire::version) {
    return fail("N2NQ speaks wire protocol " + std::to_string(welcome.version_read) + ", this worker " + std::to_string(wire::version),
                Closed::for_good);
  }
  if (!wire::is_stamp(welcome.now_ns)) return refuse("a WELCOME whose now_ns is no stamp");
  if (welcome.frame_bytes_max > wire::frame_bytes_max_ever) {
    return refuse("a WELCOME whose frame_bytes_max is " + std::to_string(welcome.frame_bytes_max) + "; " +
                  std::to_string(wire::frame_bytes_max_ever) + " is the most that its settings allow");
  }
  connection_->set_frame_limits(welcome.frame_bytes_max);
  frame_bytes_max_ = welcome.frame_bytes_max;
  heartbeat_ns_ = std::int64_t{welcome.heartbeat_ms} * net::ns_per_ms;
  state_ = State::open;
  // All of a group connect within a moment, and those that only listen would say for ever that they live at one moment, too: one write each,
  // while nobody reads.
  heartbeat_earlier_ns_ = heartbeat_ns_ / 4 * (identity_.number % heartbeat_phases) / heartbeat_phases;
  OpenFacts facts;
  facts.next_index = welcome.next_index;
  facts.incarnation = welcome.epoch;
  facts.batch_bytes_max = std::min(welcome.frame_bytes_max, batch_bytes_wanted);
  facts.letters_max = welcome.frame_bytes_max - std::min<std::uint32_t>(welcome.frame_bytes_max, wire::record_header_bytes);
  facts.source_port = connection_->local().port();
  facts.responses = responses_ = (welcome.features & wire::feature_responses) != 0;
  facts.requests = requests_ = (welcome.features & wire::feature_requests) != 0;
  broadcaster_ = welcome.queue_mode == wire::QueueMode::broadcaster;
  // WELCOME was made somewhere between HELLO's write and its own read. Where "at the same time by both clocks" fits in there, the clocks
  // are one.
  const std::int64_t earliest = welcome.now_ns - read_ns, latest = welcome.now_ns - hello_sent_ns_;
  facts.offset_ns = earliest <= 0 && latest >= 0 ? 0 : earliest + (latest - earliest) / 2;
  facts.offset_error_ns = (latest - earliest) / 2;
  offset_ns_ = facts.offset_ns;
  handler_.on_open(facts);
}

void N2nqClient::take_deliveries(const wire::Frame& frame) {
  const auto sent_on_ns = wire::load<std::int64_t>(frame.body.data());
  if (!wire::is_stamp(sent_on_ns)) return refuse("a DELIVER whose sent_on_ns is no stamp");
  wire::RecordWalk walk(frame.body.subspan(wire::deliver_prefix_bytes));
  const std::uint64_t before = deliveries_;
  in_deliveries_ = true;
  net::Connection::ReadTimes times(*connection_, frame);
  while (const auto record = walk.next()) {
    Delivery delivery = read_record(record->data());
    delivery.sent_on_ns = sent_on_ns;
    delivery.received_ns = times.ns_of(static_cast<std::size_t>(record->data() + record->size() - frame.body.data()));
    delivery.number = deliveries_++;
    delivery.asked_for = is_asked_for(delivery);
    handler_.on_delivery(delivery);
  }
  in_deliveries_ = false;
  handler_.on_deliveries_done();
  if (walk.failed()) return refuse("a DELIVER whose records do not fit its body");
  if (responses_) {
    send_answers();
  } else if (requests_) {
    give_back(deliveries_ - before);
  }
}

void N2nqClient::acknowledge(std::uint64_t delivery, bool positive) {
  std::vector<wire::ConfirmRange>& ranges = answers_.ranges;
  if (!ranges.empty() && ranges.back().negative == !positive && ranges.back().first_delivery + ranges.back().count == delivery) {
    ++ranges.back().count;
  } else {
    ranges.push_back({delivery, 1, !positive});
  }
  if (!in_deliveries_) send_answers();
}

void N2nqClient::send_answers() {
  if (answers_.ranges.empty() || state_ != State::open || end_sent_) return;
  const std::size_t ranges_max = wire::ConfirmRange::per_frame_max;
  while (answers_.ranges.size() > ranges_max) {
    const auto middle = answers_.ranges.begin() + static_cast<std::ptrdiff_t>(ranges_max);
    wire::Confirm{{answers_.ranges.begin(), middle}}.encode(out_.bytes());
    answers_.ranges.erase(answers_.ranges.begin(), middle);
  }
  answers_.encode(out_.bytes());
  answers_.ranges.clear();
  flush();
}

void N2nqClient::request(const Request& request) {
  if (state_ != State::open || end_sent_) return;
  if (std::exchange(rules_with_hello_, std::nullopt) != request.rules) tell_rules(request.rules);
  prefetch_ = request.prefetch;
  if (prefetch_ > credit_) {
    wire::Credit{prefetch_ - credit_}.encode(out_.bytes());
    given_ += prefetch_ - credit_;
    credit_ = prefetch_;
  }
  flush();
}

void N2nqClient::tell_rules(const std::vector<wire::Rule>& rules) {
  wire::Rules{rule_list_++, rules}.encode(out_.bytes());
  if (given_ == 0 || !responses_) {
    asked_for_.replace(rules, owed_ + given_);
  } else {
    const std::int64_t read_within_ns = heartbeat_ns_ / 2 * 3 + unread_slack_ns;
    asked_for_.replace(rules, AskedFor::any_number, heartbeat_ns_ == 0 ? AskedFor::any_time : net::now_ns() + read_within_ns);
  }
}

/// Without responses: what came in may come again, as far as it is still wanted.
void N2nqClient::give_back(std::uint64_t deliveries) {
  const std::uint64_t too_many = credit_ - std::min(credit_, prefetch_);
  const std::uint64_t kept = std::min(deliveries, too_many);
  credit_ -= static_cast<std::uint32_t>(kept);
  if (deliveries == kept || end_sent_) return;
  wire::Credit{deliveries - kept}.encode(out_.bytes());
  given_ += deliveries - kept;
  flush();
}

bool N2nqClient::is_asked_for(const Delivery& delivery) {
  if (!requests_) return true;
  // Not checked: what is delivered again in broadcaster mode, whatever is asked for by then; and a service that goes on for a killed
  // process, which does not know what that one had asked for.
  const bool may_be_older = identity_.first_session > 0 || (broadcaster_ && (delivery.flags & wire::flag_redelivered) != 0);
  return asked_for_.matches(delivery.number, delivery.sent_on_ns - offset_ns_, delivery.sender, delivery.size) || may_be_older;
}

void N2nqClient::set_reading(bool reading) {
  if (reading_ == reading || state_ != State::open) return;
  reading_ = reading;
  if (reading) {
    last_heard_ns_ = net::now_ns();  // it could not be heard
    connection_->resume_reading();
  } else {
    connection_->pause_reading();
  }
}

void N2nqClient::take_end(wire::ByteView body) {
  wire::EndTotals totals;
  if (identity_.role == wire::Role::receiver) {
    const auto told = wire::EndTotals::decode(body);
    if (!told) return refuse("an END without totals");
    totals = *told;
  }
  close();
  handler_.on_end(totals);
}

void N2nqClient::take_error(const wire::Error& error) {
  fail("N2NQ says: " + std::string(wire::name_of(error.code)) + ": " + error.text, closed_by(error.code));
}

std::size_t N2nqClient::bytes_in_batch(std::size_t letters) const {
  return wire::record_header_bytes + letters;
}

void N2nqClient::publish(std::span<Outgoing> messages) {
  wire::Bytes& bytes = out_.bytes();
  const std::size_t body_bytes = record_bytes_of(messages);
  bytes.resize(wire::frame_header_bytes + body_bytes);
  wire::write_frame_header(bytes.data(), wire::FrameType::publish, static_cast<std::uint32_t>(body_bytes));
  write_records(bytes.data() + wire::frame_header_bytes, messages, identity_.number);
  flush();
  if (body_bytes > batch_bytes_wanted) long_frame_ns_ = last_sent_ns_;
}

void N2nqClient::end(std::uint64_t next_index) {
  if (state_ != State::open || end_sent_) return;
  end_sent_ = true;
  wire::End{next_index}.encode(out_.bytes());
  flush();
}

void N2nqClient::flush() {
  out_.flush(*connection_);
  last_sent_ns_ = net::now_ns();
}

void N2nqClient::on_writable() {
  if (!out_.flush(*connection_)) return;
  last_sent_ns_ = net::now_ns();
  if (can_publish()) handler_.on_room();
}

void N2nqClient::tick(std::int64_t now_ns) {
  const bool is_stream = now_ns - long_frame_ns_ <= long_frames_kept_ns;
  const std::size_t kept_bytes = is_stream ? std::max(frame_kept_bytes, long_frames_kept_bytes_max / identity_.services) : frame_kept_bytes;
  if (connection_) connection_->fit(kept_bytes);
  out_.fit(kept_bytes);
  if (state_ == State::connecting || state_ == State::greeting) {
    if (now_ns - opened_ns_ > greeting_deadline_ns) fail("no answer from " + address_.text(), Closed::for_now);
    return;
  }
  if (state_ != State::open || heartbeat_ns_ == 0) return;
  if (!reading_ && connection_->peer_has_closed()) return;  // what N2NQ had sent before it ended waits until this service reads again
  last_heard_ns_ = std::max(last_heard_ns_, progress_.came_ns(connection_->bytes_in(), now_ns));
  if (const std::string reason = silence(now_ns); !reason.empty()) return fail(reason, Closed::for_now);
  if (out_.empty() && now_ns - last_sent_ns_ > heartbeat_ns_ / 4 - heartbeat_earlier_ns_) {  // a third is asked for; ticks come late
    heartbeat_earlier_ns_ = 0;
    wire::encode_heartbeat(out_.bytes());
    flush();
  }
}

/// Why N2NQ counts as gone; empty: it does not.
std::string N2nqClient::silence(std::int64_t now_ns) const {
  const std::int64_t silent_ns = now_ns - last_heard_ns_;
  if (reading_ && silent_ns <= heartbeat_ns_) return {};
  const auto silence = net::judge_silence(reading_ ? std::optional(silent_ns) : std::nullopt, connection_->host_silent_ns(), heartbeat_ns_);
  if (silence == net::Silence::link) {
    return "nothing heard from N2NQ for " + std::to_string(heartbeat_ns_ / net::ns_per_ms) +
           " ms, and its host acknowledges nothing: the link or the host is dead";
  }
  if (silence == net::Silence::process) {
    return "nothing heard from N2NQ for " + std::to_string(silent_ns / net::ns_per_ms) + " ms, though its host answers: it stands still";
  }
  return {};
}

void N2nqClient::on_malformed(const std::string& error) {
  refuse(error);
}

void N2nqClient::refuse(const std::string& what) {
  wire::Error error;
  error.code = wire::ErrorCode::frame;
  error.text = what;
  error.encode(out_.bytes());
  flush();
  fail("N2NQ sent " + what, Closed::for_good);
}

void N2nqClient::on_closed(const std::string& reason) {
  const bool greeted = state_ == State::open;
  state_ = State::closed;
  handler_.on_closed(reason.empty() ? (greeted ? "N2NQ closed the connection" : "N2NQ closed the connection without a greeting") : reason,
                     Closed::for_now);
}

void N2nqClient::fail(const std::string& reason, Closed closed) {
  close();
  handler_.on_closed(reason, closed);
}

/// An attempt that N2NQ did not answer is taken back: the kernel would go on sending its HELLO where a link is down, and N2NQ would let that
/// replace the connection that came after it.
void N2nqClient::close() {
  const bool is_unanswered = connection_ && (state_ == State::connecting || state_ == State::greeting) && connection_->bytes_in() == 0;
  state_ = State::closed;
  if (is_unanswered) return connection_->abort();
  if (connection_) connection_->close();
}

}  // namespace n2nq::worker
