// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/workers/support/small_run.h"

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace n2nq::worker::testing {

namespace fs = std::filesystem;
using nlohmann::json;

SmallRun::SmallRun(RunShape run_shape) : shape(std::move(run_shape)) {
  std::string pattern = (fs::temp_directory_path() / "n2nq-run-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
  folder_ = pattern;
  fs::create_directory(folder_ + "/staging");
}

SmallRun::~SmallRun() {
  broker.reset();
  senders.reset();
  receivers.reset();
  if (!getenv("N2NQ_KEEP")) fs::remove_all(folder_);
}

json SmallRun::common(const char* role) const {
  return {{"type", "configure"}, {"control", 1}, {"run", "small"}, {"role", role}, {"token", std::string(64, 'a')}};
}

json SmallRun::log_settings(const char* group) const {
  return {{"mode", shape.log}, {"sample_every", 10}, {"folder", folder_ + "/" + group}, {"header", {{"queue.mode", shape.mode}}}};
}

json SmallRun::configure_broker() const {
  json configure = common("broker");
  configure["listen"] = {{"address", "127.0.0.1"}, {"port", port}};
  configure["queue"] = {{"mode", shape.mode}, {"remove", "when-all-have-it"}, {"retention_ms", 600'000}, {"dispatch", "random"}};
  configure["queue"].update(shape.queue);
  configure["expect"] = {{"senders", shape.senders}, {"receivers", shape.receivers}};
  return configure;
}

json SmallRun::configure_senders() const {
  json configure = common("senders");
  configure["system"] = "n2nq";
  configure["services"] = {{"first", 1}, {"last", shape.senders}, {"total", shape.senders}};
  configure["load"] = shape.load;
  configure["seed"] = 1;
  configure["reconnect_deadline_ms"] = shape.reconnect_deadline_ms;
  configure["log"] = log_settings("senders");
  configure["staging_folder"] = folder_ + "/staging";
  return configure;
}

json SmallRun::configure_receivers() const {
  json configure = common("receivers");
  configure["system"] = "n2nq";
  configure["services"] = {{"first", 1}, {"last", shape.receivers}, {"total", shape.receivers}};
  configure["senders_total"] = shape.senders;
  configure["warmup_messages"] = shape.load.value("warmup_messages", 0);
  configure["queue_mode"] = shape.mode;
  configure["requests"] = shape.requests;
  configure["reconnect_deadline_ms"] = shape.reconnect_deadline_ms;
  configure["log"] = log_settings("receivers");
  configure["staging_folder"] = folder_ + "/staging";
  return configure;
}

json SmallRun::connect_message() const {
  return {{"type", "connect"}, {"address", "127.0.0.1"}, {"port", port}};
}

void SmallRun::launch_broker(int wanted_port) {
  port = wanted_port;
  broker = std::make_unique<Child>("n2nq-broker");
  broker->send(configure_broker());
  port = broker->wait_for_type("hello")["port"];
}

void SmallRun::launch_senders() {
  senders = std::make_unique<Child>("n2nq-senders");
  senders->send(configure_senders());
  senders->wait_for_type("hello");
  senders->send(connect_message());
}

void SmallRun::launch_receivers() {
  receivers = std::make_unique<Child>("n2nq-receivers");
  receivers->send(configure_receivers());
  receivers->wait_for_type("hello");
  receivers->send(connect_message());
}

void SmallRun::launch() {
  launch_broker();
  launch_senders();
  launch_receivers();
  senders->wait_for_state("connected");
  receivers->wait_for_state("connected");
}

void SmallRun::start() {
  receivers->send({{"type", "start"}, {"at_broker_ns", 0}});  // in the past: at once
  senders->send({{"type", "start"}, {"at_broker_ns", 0}});
}

void SmallRun::finish() {
  senders->wait_for_state("ended");
  receivers->wait_for_state("ended");
  // One after the other: a program whose last words nobody reads leaves without them.
  for (const auto& [child, bye] : {std::pair{senders.get(), &senders_bye}, {receivers.get(), &receivers_bye}, {broker.get(), &broker_bye}}) {
    child->send({{"type", "bye"}});
    *bye = child->wait_for_type("bye");
  }
}

std::unique_ptr<Child> SmallRun::go_on(const char* program, nlohmann::json configure, const std::string& staging_file) const {
  auto child = std::make_unique<Child>(program);
  configure["continue"] = staging_file;
  child->send(configure);
  child->wait_for_type("hello");
  child->send(connect_message());
  child->wait_for_state("connected");
  return child;
}

void SmallRun::go_on_with_senders(const std::string& staging_file) {
  senders = go_on("n2nq-senders", configure_senders(), staging_file);
}

void SmallRun::go_on_with_receivers(const std::string& staging_file) {
  receivers = go_on("n2nq-receivers", configure_receivers(), staging_file);
}

}  // namespace n2nq::worker::testing
