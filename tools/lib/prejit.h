// Kernels for a module, made before it is shipped: one native section per
// target.
//
//   EMBER_ASSIGN_OR_RETURN(const jit::CompileTarget target,
//                          jit::FindCompileTarget("aarch64+dotprod"));
//   EMBER_ASSIGN_OR_RETURN(Prejitted made, Prejit(module, target, {}));
//   definition.natives.push_back(SectionOf(std::move(made)));
//
// Links LLVM. Thread-safe.
#ifndef EMBER_TOOLS_LIB_PREJIT_H_
#define EMBER_TOOLS_LIB_PREJIT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "jit/target/compile_target.h"
#include "tools/lib/race.h"
#include "vm/format/module_definition.h"
#include "vm/format/native_kernels.h"
#include "vm/runtime/module.h"

namespace ember::tools {

// Constants that kernels want in a layout of their own: which are put beside
// the kernels in that layout, rather than packed when the kernels are loaded.
enum class PackedWeights {
  kAuto,  // of kernels where they take no more than twice what they are made of
  kAll,   // transformed filters of convolutions, too, which take several times
  kNone
};

struct PrejitOptions {
  // Kernels round as the interpreter does, but for the order of sums.
  bool is_exact = false;
  PackedWeights packed_weights = PackedWeights::kAuto;
  // What has been seen to be hot (HotPart): kernels for nothing else, and
  // beside those for all shapes some for the shapes that came up. Null: for
  // everything, for all shapes. Used during the call.
  const std::vector<vm::DispatchProfile>* profile = nullptr;
  // Kernels that take longer than tier 0 are left out, where this machine can
  // tell (tools/lib/kernel_race.h): it runs code for the target, and the shape
  // is known.
  bool drops_slow = true;
  Clock clock = ThreadClock();
};

// A kernel, or a dispatch that gets none, with the constants of one or more
// sites.
struct PrejitRow {
  std::string dispatch;
  std::vector<int64_t> shape;  // of the parameters; empty: for all
  int64_t code_bytes = 0;
  int64_t packed_bytes = 0;
  size_t phases = 0;
  std::string declined;  // why there is no kernel; empty: there is one
};

struct Prejitted {
  std::string target;  // what the code needs (base/target_text.h)
  vm::NativeBytes bytes;
  // Of target c11, whose `bytes` have no code: the functions that kernels name,
  // as text (jit/c/source.h), and their names.
  std::string functions;
  std::vector<std::string> function_names;
  std::vector<PrejitRow> rows;
  size_t kernels = 0;
  size_t cold = 0;  // dispatches that the profile left out
  double ms = 0;
};

// Kernels of tier 2. Errors: LLVM has no back end for the target. What a
// dispatch is declined for is in its row.
StatusOr<Prejitted> Prejit(const std::shared_ptr<const vm::Module>& module,
                           const jit::CompileTarget& target,
                           const PrejitOptions& options);

vm::NativeSection SectionOf(Prejitted made);

// The hottest dispatches that together took `percent` of the time, with the
// shapes of each that took a hundredth of its own, at most 8.
std::vector<vm::DispatchProfile> HotPart(
    const std::vector<vm::DispatchProfile>& profile, double percent);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_PREJIT_H_
