#include "tests/mutation/try_module.h"

#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "hal/cpu/device.h"
#include "tools/lib/cli/device.h"
#include "tools/lib/media/image_decoder.h"
#include "tools/lib/tensors/compare.h"
#include "vm/runtime/devices/session.h"
#include "vm/runtime/library/string_functions.h"
#include "vm/runtime/testing/run_anything.h"

namespace ember::tests {
namespace {

// Largest number of bytes of memory of a run. It is enough for the models that
// are mutated, and small enough for short runs.
constexpr int64_t kMemoryLimit = int64_t{64} << 20;
constexpr int64_t kWorkLimit = int64_t{1} << 22;
constexpr int64_t kStepLimit = 1000;
constexpr uint64_t kSeeds = 32;
// Factor by which the tolerance of CompareTiers, which is meant for one
// dispatch, is multiplied. Here the results of whole programs are compared, and
// mutated programs have numbers of any size.
constexpr double kToleranceFactor = 20;

ChildOutcome OutcomeOf(const Status& status) {
  switch (status.code()) {
    case StatusCode::kOk:
      return ChildOutcome::kRan;
    case StatusCode::kResourceExhausted:
      return ChildOutcome::kLimit;
    case StatusCode::kInternal:
      return ChildOutcome::kInternal;
    default:
      return ChildOutcome::kFailed;
  }
}

}  // namespace

ModuleTrier::ModuleTrier(const ModuleTrierOptions& options)
    : options_(options), host_(*hal::CreateCpuDevice({.threads = 1})) {
  if (options.tier == 0) return;
  auto jit = jit::NewJit({.threads = 0});
  EMBER_CHECK(jit.ok()) << jit.status().ToString();
  jit_ = *std::move(jit);
}

StatusOr<std::unique_ptr<ModuleTrier>> ModuleTrier::Create(
    const ModuleTrierOptions& options) {
  std::unique_ptr<ModuleTrier> trier(new ModuleTrier(options));
  EMBER_ASSIGN_OR_RETURN(trier->device_,
                         tools::OpenDevice(options.device, /*threads=*/1));
  return trier;
}

std::shared_ptr<vm::Tiering> ModuleTrier::NewTiering(
    const std::shared_ptr<const vm::Module>& module) {
  if (jit_ == nullptr) return nullptr;
  return std::make_shared<vm::Tiering>(module, jit_,
                                       vm::Tiering::Eager(options_.tier));
}

Status ModuleTrier::Run(const std::shared_ptr<const vm::Module>& module,
                        uint64_t seed,
                        const std::shared_ptr<hal::Device>& device,
                        std::shared_ptr<vm::Tiering> tiering,
                        std::vector<vm::Tensor>* results) {
  EMBER_ASSIGN_OR_RETURN(const std::vector<vm::Tensor> inputs,
                         vm::RandomInputs(*module, seed));
  vm::SessionOptions options;
  options.device = device;
  options.device_support = vm::NewDeviceSupport;
  options.strings = vm::NewStringSupport;
  options.images = tools::DecodeImage;
  options.memory_limit = kMemoryLimit;
  options.work_limit = kWorkLimit;
  options.step_limit = kStepLimit;
  options.tiering = std::move(tiering);
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<vm::Session> session,
                         vm::Session::Create(module, options));
  // Runs the file twice: the second run reuses the memory, plans and kernels of
  // the first.
  EMBER_RETURN_IF_ERROR(session->Run(inputs, results));
  return session->Run(inputs, results);
}

Status ModuleTrier::CompareWithTier0(
    const std::shared_ptr<const vm::Module>& module, uint64_t seed,
    const Status& end, const std::vector<vm::Tensor>& results) {
  std::vector<vm::Tensor> expected;
  const Status end_of_tier0 = Run(module, seed, host_, nullptr, &expected);
  const auto is_limit = [](const Status& status) {
    return status.code() == StatusCode::kResourceExhausted;
  };
  if (is_limit(end) || is_limit(end_of_tier0)) return OkStatus();
  if (end.code() != end_of_tier0.code()) {
    return FailedPreconditionError("tier 0: " + end_of_tier0.ToString() +
                                   "; this tier: " + end.ToString());
  }
  if (!end.ok() || !options_.compares_results) return OkStatus();
  for (size_t i = 0; i < expected.size(); ++i) {
    const tools::Comparison comparison =
        tools::CompareTiers(results[i], expected[i], kToleranceFactor);
    if (!comparison.equal) {
      return FailedPreconditionError("result " + std::to_string(i) + ": " +
                                     comparison.message);
    }
  }
  return OkStatus();
}

ChildOutcome ModuleTrier::Try(std::span<const uint8_t> file, uint64_t seed,
                              Status* status) {
  const auto module = vm::Module::Load(file, nullptr);
  Status end = module.status();
  ChildOutcome outcome = end.code() == StatusCode::kInternal
                             ? ChildOutcome::kInternal
                             : ChildOutcome::kRefused;
  if (module.ok()) {
    std::vector<vm::Tensor> results;
    end = Run(*module, seed, device_, NewTiering(*module), &results);
    outcome = OutcomeOf(end);
    if (jit_ != nullptr) {
      Status same = CompareWithTier0(*module, seed, end, results);
      if (!same.ok()) {
        outcome = ChildOutcome::kDiffers;
        end = std::move(same);
      }
    }
  }
  if (status != nullptr) *status = std::move(end);
  return outcome;
}

std::optional<uint64_t> ModuleTrier::Prepare(std::span<const uint8_t> file) {
  const auto module = vm::Module::Load(file, nullptr);
  if (!module.ok()) return std::nullopt;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    std::vector<vm::Tensor> results;
    kept_ = NewTiering(*module);
    if (Run(*module, seed, device_, kept_, &results).ok()) return seed;
  }
  return std::nullopt;
}

}  // namespace ember::tests
