#include "vm/runtime/testing/run_anything.h"

#include <cstring>
#include <random>
#include <vector>

#include "hal/cpu/device.h"
#include "vm/runtime/devices/session.h"
#include "vm/runtime/dispatch/tiering.h"
#include "vm/runtime/library/string_functions.h"
#include "vm/runtime/session.h"
#include "vm/runtime/testing/fake_device.h"

namespace ember::vm {
namespace {

constexpr int64_t kMaxInputBytes = 1 << 20;

// Fills a tensor with random elements: f32 with small fractions, other floats
// with random bits, and all other types with small integers, which may be valid
// indices.
void Fill(Tensor& tensor, std::mt19937_64& random) {
  uint8_t* bytes = static_cast<uint8_t*>(tensor.data);
  const int size = DTypeByteSize(tensor.type);
  for (int64_t i = 0; i < tensor.byte_size / size; ++i) {
    if (tensor.type == DType::kF32) {
      tensor.elements<float>()[i] = static_cast<float>(random() % 64) / 8 - 4;
    } else if (IsFloat(tensor.type)) {
      for (int b = 0; b < size; ++b)
        bytes[i * size + b] = static_cast<uint8_t>(random());
    } else {
      bytes[i * size] = static_cast<uint8_t>(random() % 8);
    }
  }
}

StatusOr<Tensor> RandomStrings(std::vector<int64_t> dims, int64_t count,
                               std::mt19937_64& random) {
  constexpr const char* kTexts[] = {"",   "a, b",         "Ab c",
                                    "12", "\xc3\xa4\xff", ","};
  std::vector<std::string> strings;
  for (int64_t i = 0; i < count; ++i)
    strings.emplace_back(kTexts[random() % std::size(kTexts)]);
  return Tensor::OfStrings(std::move(dims), std::move(strings));
}

}  // namespace

StatusOr<std::vector<Tensor>> RandomInputs(const Module& module,
                                           uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<int64_t> symbols(module.entry().symbols.size());
  for (int64_t& symbol : symbols) symbol = static_cast<int64_t>(random() % 4);
  std::vector<Tensor> inputs;
  for (const TensorSignature& signature : module.inputs()) {
    std::vector<int64_t> dims;
    for (int64_t dim : signature.dims) {
      dims.push_back(dim >= 0 ? dim : symbols[static_cast<size_t>(-1 - dim)]);
    }
    EMBER_ASSIGN_OR_RETURN(const int64_t bytes,
                           TensorByteSize(signature.type, dims));
    if (bytes > kMaxInputBytes)
      return ResourceExhaustedError("an input is too large for a test");
    if (signature.logical_type == kStringType) {
      EMBER_ASSIGN_OR_RETURN(Tensor strings,
                             RandomStrings(std::move(dims), bytes / 8, random));
      inputs.push_back(std::move(strings));
      continue;
    }
    EMBER_ASSIGN_OR_RETURN(Tensor input,
                           Tensor::Allocate(signature.type, std::move(dims)));
    Fill(input, random);
    inputs.push_back(std::move(input));
  }
  return inputs;
}

namespace {

constexpr int64_t kDeviceBytes = 1 << 26;

Status RunTwice(const std::shared_ptr<const Module>& module,
                std::span<const Tensor> inputs, SessionOptions options) {
  options.memory_limit = 1 << 25;
  options.step_limit = 100;
  options.work_limit = 100000;
  options.strings = NewStringSupport;
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session,
                         Session::Create(module, options));
  std::vector<Tensor> results;
  EMBER_RETURN_IF_ERROR(session->Run(inputs, &results));
  return session->Run(inputs, &results);
}

}  // namespace

Status RunAnything(const std::shared_ptr<const Module>& module, uint64_t seed) {
  static const std::shared_ptr<hal::Device> host =
      *hal::CreateCpuDevice({.threads = 1, .memory_limit = kDeviceBytes});
  EMBER_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs,
                         RandomInputs(*module, seed));
  // The results on the fake device are not compared with those on the host,
  // because memory that is read without being written may have any contents.
  static_cast<void>(
      RunTwice(module, inputs,
               {.device = std::make_shared<FakeDevice>(FakeDeviceOptions{
                    .limits = {.shares_memory = seed % 2 == 0,
                               .binding_alignment = seed % 3 == 0 ? 128 : 1},
                    .memory_limit = kDeviceBytes}),
                .device_support = NewDeviceSupport,
                .tiering = std::make_shared<Tiering>(
                    module,
                    std::make_shared<FakeProvider>(
                        FakeProviderOptions{.packs_constants = seed % 5 == 0}),
                    Tiering::Eager(2))}));
  return RunTwice(module, inputs, {.device = host});
}

}  // namespace ember::vm
