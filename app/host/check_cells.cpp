// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/check_cells.h"

namespace n2nq::app {

using Json = nlohmann::json;

CheckCell good_cell(const QString& text, const Json& value, const QString& detail) {
  return {CheckState::good, text, detail, {}, value};
}

CheckCell not_good_cell(CheckState state, const QString& text, const QString& detail, const QString& what_to_do, const Json& value) {
  return {state, text, detail, what_to_do.isEmpty() ? QString("See the sentence above, mend it there, and check again") : what_to_do,
          value};
}

CheckCell not_known_cell(const QString& why) {
  return {CheckState::not_known, "unknown", why, {}, {}};
}

QString text_of_us(double us) {
  return us >= 1000 ? QString("%1 ms").arg(us / 1000, 0, 'f', us >= 100'000 ? 0 : 1) : QString("%1 µs").arg(us, 0, 'f', 0);
}

QString text_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? QString::fromStdString(found->get<std::string>()) : QString("unknown");
}

double number_in(const Json& object, const char* key, double otherwise) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : otherwise;
}

}  // namespace n2nq::app
