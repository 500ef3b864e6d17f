// SPDX-License-Identifier: GPL-3.0-or-later
// Control messages, as whoever gets them reads them: what is wrong ends in an error that says so.
//   byte 0  who reads the rest: 0 the broker, 1 senders, 2 receivers, 3 the bench
#include <nlohmann/json.hpp>

#include "app/control/control_message.h"
#include "broker/net/section.h"
#include "broker/server/options.h"
#include "tests/fuzz/fuzz.h"
#include "workers/group/settings.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace n2nq;
  if (size == 0) return 0;
  try {
    const nlohmann::json object = nlohmann::json::parse(fuzz::text_of({data + 1, size - 1}));
    switch (data[0] % 4) {
      case 0:
        parse_options(object);
        break;
      case 1:
        worker::parse_worker_settings(object, worker::WorkerRole::senders);
        break;
      case 2:
        worker::parse_worker_settings(object, worker::WorkerRole::receivers);
        break;
      case 3:
        app::decode_message(object);
        break;
    }
  } catch (const net::SectionError& error) {
    fuzz::require(error.what()[0] != '\0', "an error says what is wrong");
  } catch (const nlohmann::json::exception&) {
    // likewise
  } catch (const std::invalid_argument&) {
  }
  return 0;
}
