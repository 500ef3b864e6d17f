// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/arguments.h"

#include <optional>

#include "app/cli/case_arguments.h"
#include "app/settings/text_value.h"

namespace n2nq::app {

namespace {

constexpr std::size_t folders_max = 1000;

bool is_help(const std::string& word) {
  return word == "--help" || word == "-h";
}

/// Walks the words behind "run".
class RunParser {
 public:
  explicit RunParser(const std::vector<std::string>& words) : words_(words) { arguments_.command = Command::run; }

  std::variant<Arguments, std::string> parse() {
    while (at_ < words_.size() && !problem_) take(words_[at_++]);
    if (problem_) return *problem_;
    if (arguments_.what.empty() && arguments_.command == Command::run) {
      return "run needs a preset or a settings file, such as: n2nq-bench run quick";
    }
    return arguments_;
  }

 private:
  void take(const std::string& word) {
    if (is_help(word)) {
      arguments_.command = Command::help;
    } else if (word == "--strict") {
      arguments_.strict = true;
    } else if (word == "--json") {
      arguments_.json = true;
    } else if (const auto value = value_of("--out", word)) {
      take_out(*value);
    } else if (const auto hosts = value_of("--hosts", word)) {
      if (hosts->empty()) problem_ = "--hosts needs a file, such as: --hosts lab/hosts.yaml; the name given is empty";
      arguments_.hosts = *hosts;
    } else if (const auto assignment = value_of("--set", word)) {
      take_assignment(*assignment);
    } else if (const auto fault = value_of("--fault", word)) {
      if (const auto wrong = parse_planned_fault(*fault, arguments_.steps.emplace_back())) problem_ = "--fault " + *fault + ": " + *wrong;
    } else if (const auto request = value_of("--request", word)) {
      if (const auto wrong = parse_planned_request(*request, arguments_.steps.emplace_back())) {
        problem_ = "--request " + *request + ": " + *wrong;
      }
    } else if (const auto bound = value_of("--assert", word)) {
      Assertion& assertion = arguments_.assertions.emplace_back();
      auto wrong = parse_assertion(*bound, assertion);
      if (!wrong) wrong = check_path(assertion);
      if (wrong) problem_ = "--assert " + *wrong;
    } else if (problem_) {
      return;
    } else if (word.starts_with('-')) {
      problem_ = word + " is not an option of run (nearest: " +
                 std::string(nearest_word(
                     word, {"--set", "--out", "--hosts", "--fault", "--request", "--assert", "--strict", "--json", "--help"})) +
                 ")";
    } else if (!arguments_.what.empty()) {
      problem_ = "run takes one preset or settings file; there are two: " + arguments_.what + " and " + word;
    } else {
      arguments_.what = word;
    }
  }

  /// "--out DIR" and "--out=DIR".
  std::optional<std::string> value_of(const std::string& option, const std::string& word) {
    if (word.starts_with(option + "=")) return word.substr(option.size() + 1);
    if (word != option) return {};
    if (at_ == words_.size()) {
      problem_ =
          option + (option == "--set"       ? " needs a setting, such as: --set senders.amount=20"
                    : option == "--assert"  ? " needs a figure and a bound, such as: --assert \"latency_us.p99 < 500\""
                    : option == "--hosts"   ? " needs a file, such as: --hosts lab/hosts.yaml"
                    : option == "--fault"   ? " needs a fault, such as: --fault kill:receivers@5"
                    : option == "--request" ? " needs a request, such as: --request '{receivers: R1-R25, senders: S1-S10, sizes: 20-100}@5'"
                                            : " needs a folder, such as: --out results/first");
      return {};
    }
    return words_[at_++];
  }

  void take_out(const std::string& folder) {
    if (folder.empty()) problem_ = "--out needs a folder, such as: --out results/first; the name given is empty";
    arguments_.out = folder;
  }

  void take_assignment(const std::string& text) {
    const auto equals = text.find('=');
    if (equals == std::string::npos) {
      problem_ = "--set " + text + ": must be key=value, such as senders.amount=20";
    } else {
      arguments_.settings.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
  }

  const std::vector<std::string>& words_;
  std::size_t at_ = 1;
  Arguments arguments_;
  std::optional<std::string> problem_;
};

/// Behind "hosts": list or check, and options.
std::variant<Arguments, std::string> parse_hosts(const std::vector<std::string>& words) {
  Arguments arguments;
  const std::string what = words.size() > 1 ? words[1] : std::string();
  if (is_help(what)) return arguments.command = Command::help, arguments;
  if (what != "list" && what != "check") {
    return what.empty() ? std::string("hosts needs to know what to do: n2nq-bench hosts list, or n2nq-bench hosts check")
                        : "hosts takes list or check, not " + in_quotes(what);
  }
  arguments.command = what == "list" ? Command::hosts_list : Command::hosts_check;
  for (std::size_t at = 2; at < words.size(); ++at) {
    if (is_help(words[at])) return arguments.command = Command::help, arguments;
    std::string name = words[at];
    std::optional<std::string> value;
    if (const auto equals = name.find('='); name.starts_with("--") && equals != std::string::npos) {
      value = name.substr(equals + 1);
      name.resize(equals);
    }
    if (name == "--json" && !value) {
      arguments.json = true;
      continue;
    }
    const bool takes_port = name == "--port" && arguments.command == Command::hosts_check;
    if (name != "--hosts" && !takes_port) {
      return in_quotes(words[at]) + " is not an option of hosts " + what + ": there are --hosts FILE" +
             (arguments.command == Command::hosts_check ? ", --port PORT" : "") + " and --json";
    }
    if (!value && at + 1 < words.size()) value = words[++at];
    if (!value || value->empty())
      return name + " needs a " + (takes_port ? "port, such as: --port 4711" : "file, such as: --hosts lab/hosts.yaml");
    if (!takes_port) {
      arguments.hosts = *value;
      continue;
    }
    std::int64_t port = 0;
    if (const auto problem = parse_integer(*value, 0, 65'535, port)) return "--port " + *problem;
    arguments.port = static_cast<int>(port);
  }
  return arguments;
}

/// Behind "verify": folders of runs and options that stand alone.
std::variant<Arguments, std::string> parse_folders(Command command, const std::vector<std::string>& words, std::size_t least,
                                                   std::size_t most) {
  Arguments arguments;
  arguments.command = command;
  for (std::size_t at = 1; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (is_help(word)) return arguments.command = Command::help, arguments;
    if (word == "--json" && command != Command::report) {
      arguments.json = true;
    } else if (command == Command::report && (word == "--out" || word.starts_with("--out="))) {
      arguments.out = word == "--out" ? (at + 1 < words.size() ? words[++at] : std::string()) : word.substr(6);
      if (arguments.out.empty()) return "--out needs a folder, such as: --out results/report";
    } else if (word.starts_with("--")) {
      return in_quotes(word) + " is not an option of " + words[0] + ": there is " + (command == Command::report ? "--out DIR" : "--json");
    } else {
      arguments.folders.push_back(word);
    }
  }
  if (arguments.folders.size() < least) {
    return words[0] + " needs " + (least == 1 ? "the folder" : "at least two folders") + " of a run, such as: n2nq-bench " + words[0] +
           (least == 1 ? " results/first" : " results/first results/second");
  }
  if (arguments.folders.size() > most) {
    return words[0] + " takes at most " + std::to_string(most) + " folders; there are " + std::to_string(arguments.folders.size());
  }
  return arguments;
}

/// Qt's own options (-platform, -style, …), and --hosts.
std::variant<Arguments, std::string> parse_window(const std::vector<std::string>& words) {
  Arguments arguments;
  const std::string option = "--hosts";
  for (std::size_t at = 0; at < words.size(); ++at) {
    const bool has_value = words[at].starts_with(option + '=');
    if (!has_value && words[at] != option) continue;
    arguments.hosts = has_value ? words[at].substr(option.size() + 1) : at + 1 < words.size() ? words[++at] : std::string();
    if (arguments.hosts.empty()) return "--hosts needs a file, such as: --hosts lab/hosts.yaml";
  }
  return arguments;
}

std::variant<Arguments, std::string> alone(Command command, const std::vector<std::string>& words) {
  const bool asks_for_help = words.size() > 1 && is_help(words[1]);
  if (words.size() > 1 && !asks_for_help) return words[0] + " takes nothing behind it, not " + in_quotes(words[1]);
  Arguments arguments;
  arguments.command = asks_for_help ? Command::help : command;
  return arguments;
}

}  // namespace

std::variant<Arguments, std::string> parse_arguments(const std::vector<std::string>& words) {
  const bool is_of_window = words.empty() || (words[0].starts_with('-') && !words[0].starts_with("--") && words[0] != "-h");
  if (is_of_window || words[0] == "--hosts" || words[0].starts_with("--hosts=")) return parse_window(words);
  if (words[0] == "run") return RunParser(words).parse();
  if (words[0] == "case") return parse_case_arguments(words);
  if (words[0] == "cases") return alone(Command::cases, words);
  if (words[0] == "hosts") return parse_hosts(words);
  if (words[0] == "verify") return parse_folders(Command::verify, words, 1, folders_max);
  if (words[0] == "compare") return parse_folders(Command::compare, words, 2, 8);
  if (words[0] == "report") return parse_folders(Command::report, words, 1, folders_max);
  if (words[0] == "presets") return alone(Command::presets, words);
  if (words[0] == "settings") return alone(Command::settings, words);
  if (is_help(words[0]) || words[0] == "help") return alone(Command::help, words);
  if (words[0] == "--version") return alone(Command::version, words);
  return in_quotes(words[0]) + " is not a command (nearest: " +
         std::string(nearest_word(words[0], {"run", "case", "cases", "hosts", "verify", "compare", "report", "presets", "settings",
                                             "--hosts", "--help", "--version"})) +
         "); n2nq-bench --help lists them";
}

std::string help_text() {
  return R"(n2nq-bench [--hosts FILE]   opens the window
n2nq-bench run PRESET|FILE.yaml [--set KEY=VALUE]... [--out DIR] [--hosts FILE]
                   [--fault WHAT:WHOM@SECONDS]... [--request REQUEST@SECONDS]...
                   [--assert "FIGURE < NUMBER"]... [--strict] [--json]
                            runs once without a window
n2nq-bench case NAME|FILE.yaml|all [--scale quick|thesis|stress] [--repeats N] [--warm-up SECONDS]
                   [--out DIR] [--resume [--again] [--accept-build]] [--hosts FILE [--on N2NQ,SENDERS,RECEIVERS]]
                   [--assert "FIGURE < NUMBER"]... [--strict] [--json]
                            runs a test case: many runs, and figures of them
n2nq-bench cases            lists the test cases, with the time each takes
n2nq-bench hosts list [--hosts FILE] [--json]
                            lists the lab machines
n2nq-bench hosts check [--hosts FILE] [--port PORT] [--json]
                            looks whether they can be used, and how they reach each other
n2nq-bench verify DIR... [--json]
                            recomputes the files of a run from its service logs
n2nq-bench compare DIR DIR... [--json]
                            two to eight results beside each other: runs, or folders that hold runs
n2nq-bench report DIR... [--out DIR]
                            writes report.html, figures (SVG, PNG, PDF) and tables (CSV, JSON, XLSX) of one run
                            into its folder, or of several overlaid into ./report: of up to eight,
                            or of more where repeats of one another are among them
n2nq-bench presets          lists the presets
n2nq-bench settings         lists every setting with default, range, unit and meaning
n2nq-bench --help, --version

run
  PRESET                    a name from n2nq-bench presets, such as quick
  FILE.yaml                 a settings file; it says only what differs from the defaults
  --set KEY=VALUE           changes one setting, such as --set senders.amount=20 or
                            --set senders.size_bytes="[20, 100]"; may be given again: of the same KEY
                            the last one counts
  --out DIR                 the run's folder; it must not exist yet or be empty
                            (otherwise a new one below ~/.local/share/n2nq/runs)
  --hosts FILE              the lab machines that broker.host, senders.host and receivers.host name
                            (otherwise those of ~/.config/n2nq-bench/hosts.yaml)
  --fault WHAT:WHOM@SECONDS does harm on purpose, SECONDS behind the common start; may be given again
                            pause, resume, kill, restart : broker, senders or receivers
                            disconnect : one service, such as S001 or R001
                            stop-reading, confirm-nothing, answer-negatively, normal : one receiver
  --request REQUEST@SECONDS lets receivers ask for something else from then on, with queue.requests on; may be
                            given again; such as --request '{receivers: R1-R25, senders: S1-S10, sizes: 20-100}@5'
  --assert "FIGURE < NUMBER"
                            a figure of summary.json by its path, such as latency_us.p99 or ledger.total.expired, and
                            its bound (< <= > >= == !=); where it is not met the exit code is 1; may be given again
  --strict                  a degraded run ends with exit code 1
  --json                    prints one JSON object per line on stdout and nothing else there: progress once a second,
                            {"progress": ...}, and last the summary

case
  NAME                      a name from n2nq-bench cases, or its number; all: those that come with the program,
                            one after the other
  --scale SCALE             quick: the shape in minutes (otherwise); thesis: the numbers of the thesis, three repeats;
                            stress: every curve until the knee
  --repeats N               how often each run is made, in place of what the scale says
  --warm-up SECONDS         traffic before the measurement, in no figure
  --out DIR                 the case's folder, of all: the folder of their folders (otherwise a new one below
                            ~/.local/share/n2nq/runs)
  --resume                  goes on with the case in DIR, or with the newest of that name: what is finished stays;
                            all: begins also those that were not begun (without --out those count that were begun as
                            --scale, --repeats, --warm-up and --on say, and not before the newest of the first case)
  --again                   runs the marked runs of that case once more, each beside the first
  --accept-build            goes on although it was begun with another build of the programs
  --hosts FILE, --on HOSTS  lab machines for external sets: of N2NQ, senders and receivers (otherwise those that the
                            case names, of that file); without --hosts external sets run here, or not at all
  --assert                  every run has to meet it

hosts check
  --port PORT               on which the machines try to reach each other (otherwise a free one)

Exit code: 0 clean, stopped or degraded; 1 broken (with --strict also degraded), or an --assert not met; 2 bad input;
130 interrupted (Ctrl+C stops in order and keeps what was measured, a second one waits for nothing more).
)";
}

}  // namespace n2nq::app
