// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/host/host_report.h"

#include <algorithm>

#include "app/settings/host_name.h"

namespace n2nq::app {

namespace {

nlohmann::ordered_json cell_json(const CheckCell& cell) {
  nlohmann::ordered_json out = {{"state", check_word(cell.state)}, {"value", cell.value}};
  if (cell.bound_us) out["bound_us"] = *cell.bound_us;
  for (const auto& [name, value] : cell.beside.items()) out[name] = value;
  out["text"] = cell.text.toStdString();
  if (!cell.detail.isEmpty()) out["detail"] = cell.detail.toStdString();
  if (!cell.what_to_do.isEmpty()) out["what_to_do"] = cell.what_to_do.toStdString();
  return out;
}

int weight(CheckState state) {
  return state == CheckState::bad ? 2 : state == CheckState::warning ? 1 : 0;
}

}  // namespace

const std::array<CheckItemInfo, check_items_count>& check_items() {
  static const std::array<CheckItemInfo, check_items_count> items = {{
      {CheckItem::reach, "reachable", "Reachable", "An SSH server answers at the address, with the key that is known."},
      {CheckItem::login, "login", "Login", "The user can log in."},
      {CheckItem::architecture, "architecture", "Architecture", "Processor and system: programs for x86-64 Linux are put there."},
      {CheckItem::kernel, "kernel", "Kernel", "Version of its Linux kernel; 3.10 or newer is needed."},
      {CheckItem::cores, "cores", "Cores", "Processors that programs there may use."},
      {CheckItem::load, "load_1min", "Load", "Processes that ran or waited, mean of the last minute: others disturb a measurement."},
      {CheckItem::disk, "disk_free_bytes", "Free disk", "Room where programs and a run's logs are put."},
      {CheckItem::folder, "folder", "Folder", "Programs can be put there and run, and logs have room, also in memory."},
      {CheckItem::clock, "clock_offset_us", "Clock offset",
       "How far its clock is ahead of this machine's, and how sure that is. Both are counted from when each was switched on, so days are usual; "
       "the time of day plays no part."},
      {CheckItem::floor, "floor_us", "Floor", "The least latency that can be told there: figures below twice of it say little."},
  }};
  return items;
}

CheckState worst_of(const HostReports& hosts, const PathReports& paths) {
  CheckState worst = CheckState::good;
  const auto look = [&worst](const CheckCell& cell) { worst = weight(cell.state) > weight(worst) ? cell.state : worst; };
  for (const auto& [name, report] : hosts) std::for_each(report.cells.begin(), report.cells.end(), look);
  for (const auto& [pair, cell] : paths) look(cell);
  return worst;
}

CheckState state_of(const HostReports& hosts, const PathReports& paths) {
  const CheckState worst = worst_of(hosts, paths);
  if (worst == CheckState::bad) return worst;
  for (const auto& [name, report] : hosts) {
    const auto way = paths.find({std::string(local_host), name});
    const bool way_is_told = way != paths.end() && way->second.state == CheckState::warning;
    for (const CheckItemInfo& info : check_items()) {
      const CheckCell& cell = report.of(info.item);
      // What need not be looked at has a text, as "–".
      const bool is_open = (cell.state == CheckState::not_checked && cell.text.isEmpty()) || cell.state == CheckState::checking;
      const bool is_told = report.lets_through || (info.item == CheckItem::clock && way_is_told);
      if (is_open || (cell.state == CheckState::not_known && !is_told)) return CheckState::not_known;
    }
  }
  return worst;
}

const char* check_word(CheckState state) {
  switch (state) {
    case CheckState::not_checked:
      return "not checked";
    case CheckState::checking:
      return "checking";
    case CheckState::good:
      return "good";
    case CheckState::warning:
      return "warning";
    case CheckState::bad:
      return "bad";
    case CheckState::not_known:
      break;
  }
  return "unknown";
}

nlohmann::ordered_json report_json(const std::vector<std::string>& names, const HostReports& hosts, const PathReports& paths) {
  nlohmann::ordered_json out = {{"format", 1}, {"state", check_word(state_of(hosts, paths))}};
  out["hosts"] = nlohmann::ordered_json::array();
  for (const std::string& name : names) {
    nlohmann::ordered_json host = {{"name", name}};
    for (const CheckItemInfo& info : check_items()) host[info.key] = cell_json(hosts.at(name).of(info.item));
    out["hosts"].push_back(host);
  }
  out["paths"] = nlohmann::ordered_json::array();
  for (const auto& [pair, cell] : paths) {
    nlohmann::ordered_json path = {{"from", pair.first}, {"to", pair.second}};
    path["round_trip_us"] = cell_json(cell);
    out["paths"].push_back(path);
  }
  return out;
}

}  // namespace n2nq::app
