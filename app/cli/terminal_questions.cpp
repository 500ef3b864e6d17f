// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/terminal_questions.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

namespace n2nq::app {

namespace {

constexpr qsizetype secret_bytes_max = 4096;

void wipe(QByteArray& bytes) {
  if (!bytes.isEmpty()) ::explicit_bzero(bytes.data(), static_cast<std::size_t>(bytes.size()));
  bytes.clear();
}

}  // namespace

TerminalQuestions::~TerminalQuestions() {
  if (terminal_.get() >= 0) set_echo(true);
  wipe(line_);
}

void TerminalQuestions::ask_host_key(const HostKeyQuestion&, std::function<void(bool)> answer) {
  answer(false);
}

void TerminalQuestions::ask_secrets(const SecretQuestion& question, std::function<void(std::optional<std::vector<Secret>>)> answer) {
  waiting_.push_back({question, std::move(answer), {}});
  if (waiting_.size() == 1) begin();
}

void TerminalQuestions::begin() {
  if (terminal_.get() < 0) {
    // Not stdin: that may be a pipe while a person sits there.
    terminal_.reset(::open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY));
    termios now{};
    if (terminal_.get() < 0 || ::tcgetattr(terminal_.get(), &now) != 0) {
      terminal_.reset();
      return finish(false);
    }
    before_ = now;
    line_.reserve(secret_bytes_max);  // so that it is not copied while it grows
    typed_ = std::make_unique<QSocketNotifier>(terminal_.get(), QSocketNotifier::Read);
    connect(typed_.get(), &QSocketNotifier::activated, this, &TerminalQuestions::on_typed);
  }
  typed_->setEnabled(true);
  prompt();
}

void TerminalQuestions::prompt() {
  const Asked& asked = waiting_.front();
  if (asked.given.size() >= asked.question.prompts.size()) return finish(true);
  const SecretPrompt& next = asked.question.prompts[asked.given.size()];
  QString text = asked.question.again && asked.given.empty() ? QString("That was not right.\n") : QString();
  if (asked.given.empty() && !asked.question.instruction.isEmpty()) text += asked.question.instruction + '\n';
  if (asked.question.kind == SecretQuestion::Kind::keyboard_interactive)
    text += QString("(%1@%2) ").arg(asked.question.user, asked.question.host);
  text += next.text + (next.text.endsWith(':') ? " " : ": ");
  set_echo(next.echo);
  const QByteArray bytes = text.toLocal8Bit();
  [[maybe_unused]] const auto written = ::write(terminal_.get(), bytes.constData(), static_cast<std::size_t>(bytes.size()));
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
  waiting_.front().given.emplace_back(line_);
  wipe(line_);
  line_.reserve(secret_bytes_max);
  [[maybe_unused]] const auto written = ::write(terminal_.get(), "\n", 1);
  prompt();
}

void TerminalQuestions::finish(bool answered) {
  if (terminal_.get() >= 0) {
    set_echo(true);
    typed_->setEnabled(false);
  }
  Asked asked = std::move(waiting_.front());
  waiting_.pop_front();
  asked.answer(answered ? std::optional(std::move(asked.given)) : std::nullopt);
  if (!waiting_.empty()) begin();
}

void TerminalQuestions::set_echo(bool on) {
  if (!before_) return;
  termios wanted = *before_;
  if (!on) wanted.c_lflag &= ~static_cast<tcflag_t>(ECHO);
  ::tcsetattr(terminal_.get(), TCSADRAIN, &wanted);
}

}  // namespace n2nq::app
