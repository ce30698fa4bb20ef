#include "vm/embedded/program.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "vm/runtime/module.h"
#include "vm/runtime/session.h"

namespace ember::vm {
namespace {

struct Arguments {
  std::string path;
  uint64_t seed = 1;
  int runs = 1;
  uint64_t expected_hash = 0;
};

bool ParseArguments(int argc, char** argv, Arguments& arguments) {
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], "--seed=", 7) == 0) {
      arguments.seed = std::strtoull(argv[i] + 7, nullptr, 0);
    } else if (std::strncmp(argv[i], "--runs=", 7) == 0) {
      arguments.runs = std::atoi(argv[i] + 7);
    } else if (std::strncmp(argv[i], "--expect-hash=", 14) == 0) {
      arguments.expected_hash = std::strtoull(argv[i] + 14, nullptr, 0);
    } else if (argv[i][0] == '-' || !arguments.path.empty()) {
      return false;
    } else {
      arguments.path = argv[i];
    }
  }
  return !arguments.path.empty();
}

// Returns a multiple of 1/8 in [-2, 2). Sums of such numbers are exact, so all
// machines compute the same bits.
float NextValue(uint64_t& state) {
  state = HashMix(state + 0x9e3779b97f4a7c15ULL);
  return static_cast<float>(static_cast<int>(state % 32) - 16) / 8;
}

StatusOr<std::vector<Tensor>> MakeInputs(const Module& module, uint64_t seed) {
  std::vector<Tensor> inputs;
  for (const TensorSignature& signature : module.inputs()) {
    std::vector<int64_t> dims = signature.dims;
    for (int64_t& dim : dims) dim = dim < 0 ? 1 : dim;
    EMBER_ASSIGN_OR_RETURN(Tensor input,
                           Tensor::Allocate(signature.type, std::move(dims)));
    if (signature.type == DType::kF32) {
      for (float& value : input.elements<float>()) value = NextValue(seed);
    }
    inputs.push_back(std::move(input));
  }
  return inputs;
}

void PrintTensor(const std::string& name, const Tensor& tensor) {
  std::printf("%s: %s", name.c_str(), tensor.TypeText().c_str());
  if (tensor.type == DType::kF32) {
    constexpr size_t kShown = 8;
    const auto elements = tensor.elements<float>();
    for (size_t i = 0; i < elements.size() && i < kShown; ++i)
      std::printf(" %g", elements[i]);
    if (elements.size() > kShown) std::printf(" ...");
  }
  std::printf("\n");
}

StatusOr<uint64_t> Run(const Arguments& arguments,
                       SessionOptionsFactory make_options) {
  EMBER_ASSIGN_OR_RETURN(const std::shared_ptr<const Module> module,
                         Module::Load(arguments.path));
  EMBER_ASSIGN_OR_RETURN(SessionOptions options, make_options());
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session,
                         Session::Create(module, std::move(options)));
  EMBER_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs,
                         MakeInputs(*module, arguments.seed));
  std::vector<Tensor> results;
  for (int run = 0; run < arguments.runs; ++run) {
    EMBER_RETURN_IF_ERROR(session->Run(inputs, &results));
  }
  uint64_t hash = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    PrintTensor(module->results()[i].name, results[i]);
    hash = HashBytes(results[i].data, static_cast<size_t>(results[i].byte_size),
                     hash);
  }
  return hash;
}

}  // namespace

int RunEmbedded(int argc, char** argv, SessionOptionsFactory make_options) {
  Arguments arguments;
  if (!ParseArguments(argc, argv, arguments)) {
    std::fprintf(
        stderr,
        "usage: %s MODEL.vmfb [--seed=N] [--runs=N] [--expect-hash=0xHASH]\n",
        argv[0]);
    return 2;
  }
  const StatusOr<uint64_t> hash = Run(arguments, make_options);
  if (!hash.ok()) {
    std::fprintf(stderr, "%s\n", hash.status().ToString().c_str());
    return 1;
  }
  std::printf("hash 0x%016" PRIx64 "\n", *hash);
  if (arguments.expected_hash == 0 || arguments.expected_hash == *hash)
    return 0;
  std::fprintf(stderr,
               "results: expected hash 0x%016" PRIx64 ", found 0x%016" PRIx64
               "\n",
               arguments.expected_hash, *hash);
  return 1;
}

}  // namespace ember::vm
