// Makes kernels for a module before it is shipped: one native section per
// target.
//
//   EMBER_ASSIGN_OR_RETURN(const jit::CompileTarget target,
//                          jit::FindCompileTarget("aarch64+dotprod"));
//   EMBER_ASSIGN_OR_RETURN(Prejitted made, Prejit(module, target, {}));
//   definition.natives.push_back(SectionOf(std::move(made)));
//
// Depends on LLVM. Thread-safe.
#ifndef EMBER_TOOLS_LIB_PREJIT_PREJIT_H_
#define EMBER_TOOLS_LIB_PREJIT_PREJIT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/progress.h"
#include "base/status.h"
#include "jit/kernel/tuned_schedules.h"
#include "jit/target/compile_target.h"
#include "tools/lib/prejit/race.h"
#include "vm/format/native_kernels.h"
#include "vm/isa/module_definition.h"
#include "vm/runtime/module.h"

namespace ember::tools {

// Chooses the constants that are stored a second time, packed in the kernels'
// layout. Constants that are not stored so are packed when the kernels are
// loaded.
enum class PackedWeights {
  // Stores packed constants unless they are more than twice as large as the
  // original ones.
  kAuto,
  // Stores all packed constants. Transformed filters of convolutions are
  // several times as large as the original ones.
  kAll,
  kNone
};

struct PrejitOptions {
  // True: kernels round exactly as the interpreter does, except for the order
  // of sums.
  bool is_exact = false;
  PackedWeights packed_weights = PackedWeights::kAuto;
  // The hot dispatches of a profile (HotPart). Only they get kernels: one for
  // all shapes, and one for each shape of the profile. Null: every dispatch
  // gets one kernel for all shapes. Used only during the call of Prejit.
  const std::vector<vm::DispatchProfile>* profile = nullptr;
  // True: kernels that are slower than tier 0 are left out
  // (tools/lib/prejit/kernel_race.h). A kernel is measured only if this machine
  // runs code for its target and its shape is known.
  bool drops_slow = true;
  Clock clock = ThreadClock();
  // Schedules that tuning found; kernels for their targets use them. A schedule
  // that does not apply to its dispatch is left out. Null: kernels have default
  // schedules. Used only during the call of Prejit.
  const jit::TunedSchedules* tuned = nullptr;
  // Receives an event with the stage "kernels" before each dispatch for which
  // kernels are made. Null: no events are sent. Used only during the call of
  // Prejit.
  Progress* progress = nullptr;
};

// Describes one kernel of a dispatch, or the reason why there is none. Sites
// with equal dispatches and constants have one row together.
struct PrejitRow {
  std::string dispatch;
  // Values of the dispatch's parameters for which the kernel was made; empty:
  // for all shapes.
  std::vector<int64_t> shape;
  int64_t code_bytes = 0;
  int64_t packed_bytes = 0;
  size_t phases = 0;
  std::string declined;  // reason why there is no kernel; empty if there is one
  bool is_tuned = false;
  // Reason why the tuned schedule was not used; empty if it was, or if there
  // was none.
  std::string not_tuned;
};

struct Prejitted {
  // The target, with the processor features that the code needs
  // (base/target_text.h).
  std::string target;
  vm::NativeBytes bytes;
  // For target c11 only, where `bytes` have no machine code: the C text of the
  // kernels' functions (jit/c/source.h), and the names of these functions.
  std::string functions;
  std::vector<std::string> function_names;
  std::vector<PrejitRow> rows;
  size_t kernels = 0;
  // number of dispatches that got no kernel because the profile does not list
  // them as hot
  size_t cold = 0;
  double ms = 0;
};

// Makes kernels of tier 2 for one target. Errors: LLVM has no back end for the
// target; kCancelled if the progress asked to stop. If a dispatch is declined,
// its row has the reason.
StatusOr<Prejitted> Prejit(const std::shared_ptr<const vm::Module>& module,
                           const jit::CompileTarget& target,
                           const PrejitOptions& options);

vm::NativeSection SectionOf(Prejitted made);

// Returns the tuned schedules of the module's dispatches, for all targets.
// `shapes`: the shapes of dispatches that have parameters, or null.
jit::TunedSchedules SchedulesOf(const std::shared_ptr<const vm::Module>& module,
                                const std::vector<vm::DispatchProfile>* shapes,
                                const jit::TunedSchedules& tuned);

// Returns the hottest dispatches of a profile, which together took `percent` of
// the time. For each it keeps at most 8 shapes, and only those that took at
// least 1% of the dispatch's time.
std::vector<vm::DispatchProfile> HotPart(
    const std::vector<vm::DispatchProfile>& profile, double percent);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_PREJIT_PREJIT_H_
