// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/terminal_questions.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

namespace n2nq::app {

namespace {

constexpr qsizetype secret_bytes_max = 4096;
// What somebody else's line, or the end of one question, is about may be what takes this question away.
constexpr int again_ms = 200;

void wipe(QByteArray& bytes) {
  if (!bytes.isEmpty()) ::explicit_bzero(bytes.data(), static_cast<std::size_t>(bytes.size()));
  bytes.clear();
}

}  // namespace

TerminalQuestions::TerminalQuestions(Terminal& terminal, QObject* parent) : QObject(parent), said_(terminal) {
  said_.set_before_lines([this] { step_aside(); });
  again_.setSingleShot(true);
  again_.setInterval(again_ms);
  connect(&again_, &QTimer::timeout, this, [this] {
    if (waiting_.empty()) return;
    is_shown() ? prompt() : begin();
  });
}

TerminalQuestions::~TerminalQuestions() {
  said_.set_before_lines({});
  if (is_shown()) set_echo(true);
  wipe(line_);
}

void TerminalQuestions::ask_host_key(const HostKeyQuestion&, std::function<void(bool)> answer) {
  answer(false);
}

void TerminalQuestions::ask_secrets(const SecretQuestion& question, std::function<void(std::optional<std::vector<Secret>>)> answer) {
  Asked asked;
  if (question.again) asked.head = again_words(question) + ".\n";
  if (question.once_more) asked.head += once_more_words(question) + '\n';
  if (!question.instruction.isEmpty()) asked.head += question.instruction + '\n';
  for (const SecretPrompt& prompt : question.prompts) {
    const bool from_host = question.kind == SecretQuestion::Kind::keyboard_interactive;
    const QString who = from_host ? QString("(%1@%2) ").arg(question.user, question.host) : QString();
    asked.prompts.push_back({who + prompt.text + (prompt.text.endsWith(':') ? " " : ": "), prompt.echo});
  }
  asked.answer = std::move(answer);
  asked.by = question.asked_by;
  asked.may_be_withdrawn = question.asked_by != nullptr;
  if (question.asked_by) connect(question.asked_by, &QObject::destroyed, this, &TerminalQuestions::drop_withdrawn);
  ask(std::move(asked));
}

void TerminalQuestions::ask(Asked asked) {
  waiting_.push_back(std::move(asked));
  if (waiting_.size() > 1) return;
  emit asking(true);
  again_.stop();
  begin();
}

void TerminalQuestions::drop_withdrawn() {
  const auto is_withdrawn = [](const Asked& asked) { return asked.may_be_withdrawn && !asked.by; };
  if (waiting_.empty()) return;
  const bool first = is_withdrawn(waiting_.front());
  std::deque<Asked> dropped;
  for (auto at = waiting_.begin() + 1; at != waiting_.end();) {
    if (is_withdrawn(*at)) {
      dropped.push_back(std::move(*at));
      at = waiting_.erase(at);
    } else {
      ++at;
    }
  }
  for (const Asked& asked : dropped) asked.answer(std::nullopt);
  if (!first) return;
  if (is_shown()) {
    ::tcflush(terminal_.get(), TCIFLUSH);  // what was typed already is for nobody else
    wipe(line_);
    if (!again_.isActive()) show("\n");
  }
  finish(false);
}

/// Others write below the prompt, which comes again behind them.
void TerminalQuestions::step_aside() {
  if (!is_shown()) return;
  if (!again_.isActive()) show("\n");
  again_.start();
}

void TerminalQuestions::begin() {
  if (!open_terminal()) return finish(false);
  typed_->setEnabled(true);
  // What may stand there is a line of progress, without an end.
  show("\r\033[K" + waiting_.front().head);
  prompt();
}

/// Not stdin: that may be a pipe while a person sits there.
bool TerminalQuestions::open_terminal() {
  if (terminal_.get() < 0) {
    terminal_.reset(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
    termios now{};
    if (terminal_.get() < 0 || ::tcgetattr(terminal_.get(), &now) != 0) {
      terminal_.reset();
      return false;
    }
    before_ = now;
    line_.reserve(secret_bytes_max);  // so that it is not copied while it grows
    typed_ = std::make_unique<QSocketNotifier>(terminal_.get(), QSocketNotifier::Read);
    connect(typed_.get(), &QSocketNotifier::activated, this, &TerminalQuestions::on_typed);
    typed_->setEnabled(false);
  }
  // In the background it would be stopped for touching the terminal, with its processes and the connections to them.
  return ::tcgetpgrp(terminal_.get()) == ::getpgrp();
}

void TerminalQuestions::show(const QString& text) {
  const QByteArray bytes = text.toLocal8Bit();
  [[maybe_unused]] const auto written = ::write(terminal_.get(), bytes.constData(), static_cast<std::size_t>(bytes.size()));
}

void TerminalQuestions::prompt() {
  again_.stop();
  const Asked& asked = waiting_.front();
  if (asked.given.size() >= asked.prompts.size()) return finish(true);
  const SecretPrompt& next = asked.prompts[asked.given.size()];
  set_echo(next.echo);
  show(next.text);
}

/// The terminal gives whole lines. Ctrl+D alone: the person does not want to.
void TerminalQuestions::on_typed() {
  char bytes[512];
  const auto got = ::read(terminal_.get(), bytes, sizeof bytes);
  if (got > 0) line_.append(bytes, static_cast<qsizetype>(got));
  ::explicit_bzero(bytes, sizeof bytes);
  if (waiting_.empty() || got <= 0 || line_.size() > secret_bytes_max) {
    wipe(line_);
    return waiting_.empty() ? void() : finish(false);
  }
  if (!line_.endsWith('\n')) return;
  ::memset(line_.data() + line_.size() - 1, 0, 1);
  line_.truncate(line_.size() - 1);
  Asked& asked = waiting_.front();
  const bool echoed = asked.prompts[asked.given.size()].echo;
  asked.given.emplace_back(line_);
  wipe(line_);
  line_.reserve(secret_bytes_max);
  if (!echoed) show("\n");
  prompt();
}

void TerminalQuestions::finish(bool answered) {
  const bool was_shown = is_shown();
  if (was_shown) {
    set_echo(true);
    typed_->setEnabled(false);
  }
  Asked asked = std::move(waiting_.front());
  waiting_.pop_front();
  const bool more = !waiting_.empty();  // what is asked because of this answer begins by itself
  if (!more) emit asking(false);
  asked.answer(answered ? std::optional(std::move(asked.given)) : std::nullopt);
  if (!more) return again_.stop();
  if (!answered && was_shown) return again_.start();
  if (answered || !again_.isActive()) begin();
}

void TerminalQuestions::set_echo(bool on) {
  if (!before_) return;
  termios wanted = *before_;
  if (!on) {
    wanted.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    wanted.c_cc[VSUSP] = _POSIX_VDISABLE;  // a shell that is gone back to and left again gives the terminal back with its own echo
    wanted.c_cc[VQUIT] = _POSIX_VDISABLE;  // the terminal would stay without echo, and what is typed could be in a core file
  }
  ::tcsetattr(terminal_.get(), TCSADRAIN, &wanted);
}

}  // namespace n2nq::app
