#include "tests/native/inputs.h"

#include <cstring>
#include <span>
#include <utility>

#include "base/file.h"
#include "base/hash.h"

namespace ember::vm {
namespace {

StatusOr<std::vector<Tensor>> ReadInputs(const Module& module,
                                         const std::string& folder) {
  std::vector<Tensor> inputs;
  for (const TensorSignature& signature : module.inputs()) {
    const std::string path =
        folder + "/" + std::to_string(inputs.size()) + ".bin";
    EMBER_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
    EMBER_ASSIGN_OR_RETURN(Tensor input,
                           Tensor::Allocate(signature.type, signature.dims));
    if (bytes.size() != static_cast<size_t>(input.byte_size)) {
      return InvalidArgumentError(
          path + ": expected " + std::to_string(input.byte_size) +
          " bytes, found " + std::to_string(bytes.size()));
    }
    std::memcpy(input.data, bytes.data(), bytes.size());
    inputs.push_back(std::move(input));
  }
  return inputs;
}

StatusOr<std::vector<Tensor>> MakeInputs(const Module& module, uint64_t seed) {
  std::vector<Tensor> inputs;
  for (const TensorSignature& signature : module.inputs()) {
    std::vector<int64_t> dims = signature.dims;
    for (int64_t& dim : dims) dim = dim < 0 ? 2 : dim;
    EMBER_ASSIGN_OR_RETURN(Tensor input,
                           Tensor::Allocate(signature.type, std::move(dims)));
    if (signature.type == DType::kF32) {
      for (float& value : input.elements<float>()) {
        seed = HashMix(seed + 0x9e3779b97f4a7c15ULL);
        value = static_cast<float>(static_cast<int>(seed % 4001) - 2000) / 1000;
      }
    } else if (DTypeByteSize(signature.type) == 1 &&
               signature.type != DType::kBool) {
      for (uint8_t& value : std::span(static_cast<uint8_t*>(input.data),
                                      static_cast<size_t>(input.byte_size))) {
        seed = HashMix(seed + 0x9e3779b97f4a7c15ULL);
        value = static_cast<uint8_t>(seed);
      }
    }
    inputs.push_back(std::move(input));
  }
  return inputs;
}

}  // namespace

StatusOr<std::vector<Tensor>> InputsOf(const Module& module,
                                       const std::string& folder, int run) {
  if (!folder.empty()) return ReadInputs(module, folder);
  return MakeInputs(module, static_cast<uint64_t>(run) + 1);
}

}  // namespace ember::vm
