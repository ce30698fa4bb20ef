// Runs a fuzz target without libFuzzer: each corpus file, then mutations of the
// corpus files, by the target's LLVMFuzzerCustomMutator if it has one.
// Deterministic, so that a failing test fails again. The last lines of the
// output say how to run a failing input alone.
//
//   fuzz_test [FILE|DIRECTORY|-runs=N|-seed=N|-only=N|-anything_else]...

#include <algorithm>
#include <csignal>
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
// The fuzz target may define the next two functions of libFuzzer's interface;
// each is null if it does not.
extern "C" __attribute__((weak)) int LLVMFuzzerInitialize(int* argc,
                                                          char*** argv);
extern "C" __attribute__((weak)) size_t LLVMFuzzerCustomMutator(
    uint8_t* data, size_t size, size_t max_size, unsigned int seed);
// Sanitizers define this function: it sets what they call before they end the
// process. It is null in a build without them.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(
    void (*callback)());

namespace {

using Input = std::vector<uint8_t>;

constexpr size_t kMaxSize = 1 << 16;

// State of the run. `random` is seeded anew for each mutation of the corpus, so
// that one input can be run alone.
struct Progress {
  std::vector<Input> corpus;
  uint64_t seed = 1;
  std::mt19937_64 random;
  std::string replay = "the corpus";
  Input current;
};

Progress& State() {
  static auto* const kState = new Progress;
  return *kState;
}

void SayReplay() {
  const char* folder = std::getenv("TEST_UNDECLARED_OUTPUTS_DIR");
  const std::string path =
      std::string(folder != nullptr ? folder : "/tmp") + "/fuzz_finding";
  const Input& input = State().current;
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(input.data()),
             static_cast<std::streamsize>(input.size()));
  std::fprintf(stderr, "\nfuzz: failed at %s; the input is in %s\n",
               State().replay.c_str(), path.c_str());
}

void OnSignal(int number) {
  SayReplay();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

// Makes the process print how to replay the input when it dies. If a sanitizer
// handles a signal already, its handler is kept.
void SayReplayOnFailure() {
  if (__sanitizer_set_death_callback != nullptr)
    __sanitizer_set_death_callback(SayReplay);
  for (const int number : {SIGABRT, SIGSEGV, SIGILL, SIGFPE, SIGBUS}) {
    const auto before = std::signal(number, OnSignal);
    if (before != SIG_DFL) std::signal(number, before);
  }
}

void Run(const Input& input) {
  // Each input gets a new allocation of its exact size, so that ASan detects a
  // read beyond its end.
  State().current = Input(input.begin(), input.end());
  State().current.shrink_to_fit();
  LLVMFuzzerTestOneInput(State().current.data(), State().current.size());
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
      // This mutation overwrites a word with a value at the edge of a type's
      // range.
      case 2: {
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

void MutateOnce(Input* input) {
  if (LLVMFuzzerCustomMutator == nullptr)
    return Mutate(State().corpus, State().random, input);
  const size_t size = input->size();
  input->resize(kMaxSize);
  input->resize(
      LLVMFuzzerCustomMutator(input->data(), size, kMaxSize,
                              static_cast<unsigned int>(State().random())));
}

void RunMutation(uint64_t number) {
  Progress& state = State();
  state.replay = "-seed=" + std::to_string(state.seed) +
                 " -only=" + std::to_string(number) + " with the same corpus";
  state.random.seed(state.seed * 0x9e3779b97f4a7c15 + number);
  Input input = state.corpus[state.random() % state.corpus.size()];
  for (uint64_t left = 1 + state.random() % 3; left > 0; --left)
    MutateOnce(&input);
  Run(input);
}

}  // namespace

// Changes random bytes of an input. A target's LLVMFuzzerCustomMutator may call
// this function, which libFuzzer provides otherwise.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size,
                                   size_t max_size) {
  Input input(data, data + size);
  Mutate(State().corpus, State().random, &input);
  input.resize(std::min(input.size(), max_size));
  std::copy(input.begin(), input.end(), data);
  return input.size();
}

int main(int argc, char** argv) {
  if (LLVMFuzzerInitialize != nullptr) LLVMFuzzerInitialize(&argc, &argv);
  uint64_t runs = 20000;
  uint64_t first = 0;
  Progress& state = State();
  std::vector<std::filesystem::path> paths;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg.rfind("-runs=", 0) == 0) {
      runs = std::strtoull(argv[i] + 6, nullptr, 10);
    } else if (arg.rfind("-seed=", 0) == 0) {
      state.seed = std::strtoull(argv[i] + 6, nullptr, 10);
    } else if (arg.rfind("-only=", 0) == 0) {
      first = std::strtoull(argv[i] + 6, nullptr, 10);
      runs = 1;
    } else if (arg[0] == '-') {
      // Other arguments with a '-' are options of libFuzzer, which are ignored.
      continue;
    } else if (std::filesystem::is_directory(arg)) {
      for (const auto& entry : std::filesystem::directory_iterator(arg)) {
        if (entry.is_regular_file()) paths.push_back(entry.path());
      }
    } else {
      paths.push_back(arg);
    }
  }
  std::sort(paths.begin(), paths.end());
  SayReplayOnFailure();

  for (const auto& path : paths) {
    state.corpus.push_back(Read(path));
    state.replay = path;
    Run(state.corpus.back());
  }
  if (state.corpus.empty()) state.corpus.emplace_back();
  for (uint64_t i = first; i < first + runs; ++i) RunMutation(i);
  std::printf("%zu files, %llu mutations, seed %llu\n", paths.size(),
              static_cast<unsigned long long>(runs),
              static_cast<unsigned long long>(state.seed));
  return 0;
}
