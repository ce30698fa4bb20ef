// Runs a fuzz target without libFuzzer: each corpus file, then mutations of
// them. Deterministic, so that a failing test fails again.
//
//   fuzz_test [FILE|DIRECTORY|-runs=N|-seed=N|-anything_else]...

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

using Input = std::vector<uint8_t>;

constexpr size_t kMaxSize = 1 << 16;

void Run(const Input& input) {
  // A fresh allocation of the exact size lets ASan see every overread.
  Input copy(input);
  copy.shrink_to_fit();
  LLVMFuzzerTestOneInput(copy.data(), copy.size());
}

Input Read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return Input(std::istreambuf_iterator<char>(file), {});
}

void Mutate(const std::vector<Input>& corpus, std::mt19937_64& random,
            Input* input) {
  auto below = [&random](size_t n) { return n == 0 ? 0 : random() % n; };
  for (size_t left = 1 + below(4); left > 0; --left) {
    const size_t at = below(input->size());
    switch (input->empty() ? 3 : below(7)) {
      case 0:  // Flip a bit.
        (*input)[at] ^= 1 << below(8);
        break;
      case 1:  // Overwrite a byte.
        (*input)[at] = random();
        break;
      case 2: {  // Overwrite a word with a value at some edge.
        static constexpr uint64_t kEdges[] = {
            0, 1, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0xffffffff, ~0ull};
        const uint64_t value = kEdges[below(std::size(kEdges))];
        std::memcpy(input->data() + at, &value,
                    std::min(input->size() - at, size_t{1} << below(4)));
        break;
      }
      case 3:  // Insert.
        input->insert(input->begin() + at, 1 + below(8), random());
        break;
      case 4:  // Remove.
        input->erase(input->begin() + at,
                     input->begin() + at + below(input->size() - at));
        break;
      case 5:  // Cut off.
        input->resize(at);
        break;
      case 6: {  // Splice with another.
        const Input& other = corpus[below(corpus.size())];
        input->resize(at);
        input->insert(input->end(), other.begin() + below(other.size()),
                      other.end());
        break;
      }
    }
    if (input->size() > kMaxSize) input->resize(kMaxSize);
  }
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t runs = 20000;
  uint64_t seed = 1;
  std::vector<std::filesystem::path> paths;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg.rfind("-runs=", 0) == 0) {
      runs = std::strtoull(argv[i] + 6, nullptr, 10);
    } else if (arg.rfind("-seed=", 0) == 0) {
      seed = std::strtoull(argv[i] + 6, nullptr, 10);
    } else if (arg[0] == '-') {
      continue;  // An option of libFuzzer.
    } else if (std::filesystem::is_directory(arg)) {
      for (const auto& entry : std::filesystem::directory_iterator(arg)) {
        if (entry.is_regular_file()) paths.push_back(entry.path());
      }
    } else {
      paths.push_back(arg);
    }
  }
  std::sort(paths.begin(), paths.end());

  std::vector<Input> corpus;
  for (const auto& path : paths) {
    corpus.push_back(Read(path));
    Run(corpus.back());
  }
  if (corpus.empty()) corpus.emplace_back();

  std::mt19937_64 random(seed);
  for (uint64_t i = 0; i < runs; ++i) {
    Input input = corpus[random() % corpus.size()];
    Mutate(corpus, random, &input);
    Run(input);
  }
  std::printf("%zu files, %llu mutations\n", paths.size(),
              static_cast<unsigned long long>(runs));
  return 0;
}
