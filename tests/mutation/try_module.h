// Loads and runs the bytes of a module file as an application does that has
// them from a stranger: with default options except for small limits, on one
// tier.
//
//   EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<ModuleTrier> trier,
//                          ModuleTrier::Create({.tier = 2}));
//   ChildOutcome outcome = trier->Try(file, seed);
//
// Inputs are made from the module's signature and the seed
// (vm/runtime/testing/run_anything.h). Kernels of tiers 1 and 2 are made on
// request in this thread. The end of a run is compared with tier 0's, also on a
// device that is not the host. Results are compared only if asked for: a mutant
// may read floats at other places than where they were written, and then a
// difference of rounding in the last bits can become large, so such findings
// must be examined. Not thread-safe.
#ifndef EMBER_TESTS_MUTATION_TRY_MODULE_H_
#define EMBER_TESTS_MUTATION_TRY_MODULE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "hal/device.h"
#include "jit/jit.h"
#include "tests/mutation/supervised.h"
#include "vm/runtime/dispatch/tiering.h"
#include "vm/runtime/module.h"
#include "vm/runtime/session.h"
#include "vm/runtime/tensor.h"

namespace ember::tests {

// The tier and device that files run on, and whether results are compared.
struct ModuleTrierOptions {
  int tier = 0;
  // True: compares results with tier 0's. False: compares only the statuses
  // with which runs end.
  bool compares_results = false;
  // Name of the device in the form that tools::OpenDevice accepts.
  std::string device = "cpu";
};

class ModuleTrier {
 public:
  // Opens the device and makes a trier. Error: the device cannot be opened.
  static StatusOr<std::unique_ptr<ModuleTrier>> Create(
      const ModuleTrierOptions& options);

  // Loads and runs a file. Returns kRan, kRefused, kLimit, kFailed, kInternal
  // or kDiffers. kDiffers means that exactly one of tier 0 and this tier fails
  // (limits excepted, which one of them may exceed alone), or that their
  // results differ. If `status` is not null, it becomes the status with which
  // the run ended.
  ChildOutcome Try(std::span<const uint8_t> file, uint64_t seed,
                   Status* status = nullptr);

  // Returns the first seed below 32 for whose inputs the file runs to its end;
  // nullopt if there is none. The file's kernels are kept, so that its mutants
  // only compile what differs.
  std::optional<uint64_t> Prepare(std::span<const uint8_t> file);

 private:
  explicit ModuleTrier(const ModuleTrierOptions& options);
  // Runs a module. `tiering` is null at tier 0.
  Status Run(const std::shared_ptr<const vm::Module>& module, uint64_t seed,
             const std::shared_ptr<hal::Device>& device,
             std::shared_ptr<vm::Tiering> tiering,
             std::vector<vm::Tensor>* results);
  std::shared_ptr<vm::Tiering> NewTiering(
      const std::shared_ptr<const vm::Module>& module);
  // Runs the module on tier 0 and compares the end of the run with that of this
  // tier (status `end`, `results`). Returns OK if both end in the same way.
  Status CompareWithTier0(const std::shared_ptr<const vm::Module>& module,
                          uint64_t seed, const Status& end,
                          const std::vector<vm::Tensor>& results);

  const ModuleTrierOptions options_;
  std::shared_ptr<hal::Device> host_, device_;
  // The JIT that compiles the kernels; null at tier 0.
  std::shared_ptr<jit::Jit> jit_;
  std::shared_ptr<vm::Tiering> kept_;
};

}  // namespace ember::tests

#endif  // EMBER_TESTS_MUTATION_TRY_MODULE_H_
