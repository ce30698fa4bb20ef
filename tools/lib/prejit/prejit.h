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

// Chooses the constants that are stored in the kernels' own layout, in addition
// to the kernels. The others are packed when the kernels are loaded.
enum class PackedWeights {
  // Stores packed constants that are at most twice as large as the original
  // ones.
  kAuto,
  // Stores all packed constants, also transformed filters of convolutions,
  // which are several times as large.
  kAll,
  kNone
};

struct PrejitOptions {
  // True: kernels round as the interpreter does, except for the order of sums.
  bool is_exact = false;
  PackedWeights packed_weights = PackedWeights::kAuto;
  // The hot dispatches of a profile (HotPart). Only these dispatches get
  // kernels: one for all shapes, and one for each shape of the profile. Null:
  // every dispatch gets a kernel for all shapes. The pointer is used only
  // during the call of Prejit.
  const std::vector<vm::DispatchProfile>* profile = nullptr;
  // True: kernels that take longer than tier 0 are left out
  // (tools/lib/prejit/kernel_race.h). Times can be measured only if this
  // machine runs code for the target and the shape is known.
  bool drops_slow = true;
  Clock clock = ThreadClock();
  // Schedules that tuning found, which kernels for their targets use. One that
  // no longer applies is left out. Null: all kernels have default schedules.
  // Used only during the call of Prejit.
  const jit::TunedSchedules* tuned = nullptr;
  // This object receives an event with the stage "kernels" before each dispatch
  // for which kernels are made. Null means that no events are sent. Used only
  // during the call of Prejit.
  Progress* progress = nullptr;
};

// Describes one kernel of a dispatch, or the reason why there is none. Sites
// with the same dispatch and the same constants share a row.
struct PrejitRow {
  std::string dispatch;
  // Values of the parameters that the kernel is for; empty: all shapes.
  std::vector<int64_t> shape;
  int64_t code_bytes = 0;
  int64_t packed_bytes = 0;
  size_t phases = 0;
  std::string declined;  // reason why there is no kernel; empty if there is one
  bool is_tuned = false;
  // Reason why a tuned schedule was left out; empty if none was.
  std::string not_tuned;
};

struct Prejitted {
  // Text of the processor features that the code needs (base/target_text.h).
  std::string target;
  vm::NativeBytes bytes;
  // C text of the functions that the kernels name (jit/c/source.h), and the
  // functions' names. Only for target c11, whose `bytes` have no code.
  std::string functions;
  std::vector<std::string> function_names;
  std::vector<PrejitRow> rows;
  size_t kernels = 0;
  // number of dispatches without kernels because the profile does not list them
  // as hot
  size_t cold = 0;
  double ms = 0;
};

// Makes kernels of tier 2. Errors: LLVM has no back end for the target;
// kCancelled if the progress asked to stop. If a dispatch is declined, its row
// has the reason.
StatusOr<Prejitted> Prejit(const std::shared_ptr<const vm::Module>& module,
                           const jit::CompileTarget& target,
                           const PrejitOptions& options);

vm::NativeSection SectionOf(Prejitted made);

// Returns the schedules of the module's dispatches, for all targets. shapes:
// the shapes of dispatches with parameters, or null.
jit::TunedSchedules SchedulesOf(const std::shared_ptr<const vm::Module>& module,
                                const std::vector<vm::DispatchProfile>* shapes,
                                const jit::TunedSchedules& tuned);

// Returns the hottest dispatches that together took `percent` of the time. Each
// has at most 8 shapes: those that took at least a hundredth of its time.
std::vector<vm::DispatchProfile> HotPart(
    const std::vector<vm::DispatchProfile>& profile, double percent);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_PREJIT_PREJIT_H_
