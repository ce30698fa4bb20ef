// Loads and runs the bytes of a module file as an application would that has
// them from a stranger: at default options but for small limits, on one tier.
//
//   EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<ModuleTrier> trier,
//                          ModuleTrier::Create({.tier = 2}));
//   ChildOutcome outcome = trier->Try(file, seed);
//
// Inputs are made from the module's signature and the seed
// (vm/runtime/testing/run_anything.h). Kernels of tiers 1 and 2 are made when
// they are asked for, in this thread, and how a run ends is compared with tier
// 0. So are results, if asked for: a mutant may read floats at other places
// than where they were written, and then what rounding does to their last bits
// can become a large difference, so such findings have to be looked at. On
// another device than the host's, too, the end is compared with that of tier 0
// here. Not thread-safe.
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
#include "vm/runtime/module.h"
#include "vm/runtime/session.h"
#include "vm/runtime/tensor.h"
#include "vm/runtime/tiering.h"

namespace ember::tests {

// What the files are run on, and whether their results count.
struct ModuleTrierOptions {
  int tier = 0;
  bool compares_results = false;  // with tier 0's; else only how runs end
  std::string device = "cpu";     // as tools::OpenDevice takes it
};

class ModuleTrier {
 public:
  // Errors: the device cannot be opened.
  static StatusOr<std::unique_ptr<ModuleTrier>> Create(
      const ModuleTrierOptions& options);

  // kRan, kRefused, kLimit, kFailed, kInternal, or kDiffers: tier 0 fails where
  // this tier does not, or the other way round (limits may be met by one only),
  // or gives other results. `status`, if given, becomes what it ended with.
  ChildOutcome Try(std::span<const uint8_t> file, uint64_t seed,
                   Status* status = nullptr);

  // The first seed below 32 with whose inputs the file runs to its end, if any
  // does. Its kernels are kept from then on, so that mutants of the file only
  // compile what differs.
  std::optional<uint64_t> Prepare(std::span<const uint8_t> file);

 private:
  explicit ModuleTrier(const ModuleTrierOptions& options);
  // Without a tiering at tier 0.
  Status Run(const std::shared_ptr<const vm::Module>& module, uint64_t seed,
             const std::shared_ptr<hal::Device>& device,
             std::shared_ptr<vm::Tiering> tiering,
             std::vector<vm::Tensor>* results);
  std::shared_ptr<vm::Tiering> NewTiering(
      const std::shared_ptr<const vm::Module>& module);
  // OK if tier 0 ends as this tier did.
  Status CompareWithTier0(const std::shared_ptr<const vm::Module>& module,
                          uint64_t seed, const Status& end,
                          const std::vector<vm::Tensor>& results);

  const ModuleTrierOptions options_;
  std::shared_ptr<hal::Device> host_, device_;
  std::shared_ptr<jit::Jit> jit_;  // null at tier 0
  std::shared_ptr<vm::Tiering> kept_;
};

}  // namespace ember::tests

#endif  // EMBER_TESTS_MUTATION_TRY_MODULE_H_
