#include "tests/mutation/try_module.h"

#include <utility>
#include <vector>

#include "base/check.h"
#include "hal/cpu/cpu_device.h"
#include "vm/runtime/string_functions.h"
#include "vm/runtime/testing/run_anything.h"

namespace ember::tests {
namespace {

// Enough for the models that are mutated, and soon over.
constexpr int64_t kMemoryLimit = int64_t{64} << 20;
constexpr int64_t kWorkLimit = int64_t{1} << 22;
constexpr int64_t kStepLimit = 1000;
constexpr uint64_t kSeeds = 32;

Outcome OutcomeOf(const Status& status) {
  switch (status.code()) {
    case StatusCode::kOk:
      return Outcome::kRan;
    case StatusCode::kResourceExhausted:
      return Outcome::kLimit;
    case StatusCode::kInternal:
      return Outcome::kInternal;
    default:
      return Outcome::kFailed;
  }
}

}  // namespace

ModuleTrier::ModuleTrier(int tier) : tier_(tier) {
  device_ = *hal::CreateCpuDevice({.threads = 1});
  if (tier == 0) return;
  auto jit = jit::NewJit({.threads = 0});
  EMBER_CHECK(jit.ok()) << jit.status().ToString();
  jit_ = *std::move(jit);
}

Status ModuleTrier::Run(const std::shared_ptr<const vm::Module>& module,
                        uint64_t seed, std::shared_ptr<vm::Tiering>* tiering) {
  EMBER_ASSIGN_OR_RETURN(const std::vector<vm::Tensor> inputs,
                         vm::RandomInputs(*module, seed));
  vm::SessionOptions options;
  options.device = device_;
  options.strings = vm::NewStringSupport;
  options.memory_limit = kMemoryLimit;
  options.work_limit = kWorkLimit;
  options.step_limit = kStepLimit;
  if (jit_ != nullptr) {
    options.tiering =
        std::make_shared<vm::Tiering>(module, jit_, vm::Tiering::Eager(tier_));
    if (tiering != nullptr) *tiering = options.tiering;
  }
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<vm::Session> session,
                         vm::Session::Create(module, options));
  std::vector<vm::Tensor> results;
  // Twice: the second run finds the memory, plans and kernels of the first.
  EMBER_RETURN_IF_ERROR(session->Run(inputs, &results));
  return session->Run(inputs, &results);
}

Outcome ModuleTrier::Try(std::span<const uint8_t> file, uint64_t seed,
                         Status* status) {
  const auto module = vm::Module::Load(file, nullptr);
  Status end = module.status();
  Outcome outcome = end.code() == StatusCode::kInternal ? Outcome::kInternal
                                                        : Outcome::kRefused;
  if (module.ok()) {
    end = Run(*module, seed, nullptr);
    outcome = OutcomeOf(end);
  }
  if (status != nullptr) *status = std::move(end);
  return outcome;
}

std::optional<uint64_t> ModuleTrier::Prepare(std::span<const uint8_t> file) {
  const auto module = vm::Module::Load(file, nullptr);
  if (!module.ok()) return std::nullopt;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    if (Run(*module, seed, &kept_).ok()) return seed;
  }
  return std::nullopt;
}

}  // namespace ember::tests
