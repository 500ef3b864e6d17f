// SPDX-License-Identifier: GPL-3.0-or-later
// Stands in for libFuzzer where there is none: every file of a corpus, every file cut at many places, and inputs made from them by the same
// small changes each time. N2NQ_FUZZ_RUNS sets how many of those, else a second argument, else they are 20,000.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

#include "tests/fuzz/fuzz.h"

namespace {

using Bytes = std::vector<uint8_t>;

constexpr size_t input_bytes_max = 64 * 1024;
constexpr size_t cuts_per_file_max = 256;

std::vector<Bytes> read_corpus(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<Bytes> corpus;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return corpus;
}

void run(const Bytes& input) {
  // In a buffer of exactly this size, so that a sanitizer sees every read beyond it.
  const Bytes exact(input);
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

Bytes changed(Bytes input, const std::vector<Bytes>& corpus, std::minstd_rand& pick) {
  const auto below = [&pick](size_t limit) { return limit == 0 ? 0 : static_cast<size_t>(pick()) % limit; };
  const auto place = [&] { return input.begin() + static_cast<ptrdiff_t>(below(input.size() + 1)); };
  for (size_t changes = 1 + below(4); changes > 0; --changes) {
    switch (below(6)) {
      case 0:
        if (!input.empty()) input[below(input.size())] ^= static_cast<uint8_t>(1u << below(8));
        break;
      case 1:
        if (!input.empty()) input[below(input.size())] = static_cast<uint8_t>(pick());
        break;
      case 2: {
        static constexpr uint8_t extremes[] = {0, 1, 0x7F, 0x80, 0xFF};
        const size_t at = below(input.size()), length = std::min(input.size() - at, size_t{1} << below(4));
        std::fill_n(input.begin() + static_cast<ptrdiff_t>(at), length, extremes[below(std::size(extremes))]);
        break;
      }
      case 3: {
        const auto at = place();
        input.erase(at, at + static_cast<ptrdiff_t>(below(static_cast<size_t>(input.end() - at) + 1)));
        break;
      }
      case 4: {  // a part of another one
        const Bytes& other = corpus[below(corpus.size())];
        const size_t from = below(other.size()), length = below(other.size() - from + 1);
        const auto begin = other.begin() + static_cast<ptrdiff_t>(from);
        const Bytes part(begin, begin + static_cast<ptrdiff_t>(length));
        input.insert(place(), part.begin(), part.end());
        break;
      }
      default: {  // a part of itself once more
        const size_t from = below(input.size()), length = below(std::min<size_t>(input.size() - from, 64) + 1);
        const auto begin = input.begin() + static_cast<ptrdiff_t>(from);
        const Bytes part(begin, begin + static_cast<ptrdiff_t>(length));
        input.insert(place(), part.begin(), part.end());
      }
    }
  }
  if (input.size() > input_bytes_max) input.resize(input_bytes_max);
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    std::fprintf(stderr, "%s CORPUS_FOLDER [RUNS]\n", argv[0]);
    return 2;
  }
  const std::vector<Bytes> corpus = read_corpus(argv[1]);
  if (corpus.empty()) {
    std::fprintf(stderr, "%s is empty\n", argv[1]);
    return 2;
  }
  size_t inputs = 0;
  for (const Bytes& whole : corpus) {
    const size_t step = std::max<size_t>(1, whole.size() / cuts_per_file_max);
    for (size_t cut = 0; cut < whole.size(); cut += step, ++inputs) run(Bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(cut)));
    run(whole);
    ++inputs;
  }
  const char* wanted = std::getenv("N2NQ_FUZZ_RUNS");
  if (wanted == nullptr) wanted = argc == 3 ? argv[2] : "20000";
  const unsigned long runs = std::strtoul(wanted, nullptr, 10);
  for (unsigned long seed = 1; seed <= runs; ++seed, ++inputs) {
    std::minstd_rand pick(static_cast<std::minstd_rand::result_type>(seed));
    run(changed(corpus[pick() % corpus.size()], corpus, pick));
  }
  std::printf("%zu inputs\n", inputs);
}
