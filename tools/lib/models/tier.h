// Opens the tier that a command line asks for, and the native kernels that it
// allows.
//
//   TierOptions options;
//   AddNativeFlags(flags, &options.native);
//   …
//   EMBER_RETURN_IF_ERROR(CheckTierOptions(options));
//   EMBER_ASSIGN_OR_RETURN(const Tier tier,
//                          OpenTier(options, device, model.module));
//   vm::Session::Create(model.module, {..., .tiering = tier.tiering});
//
//   "0"       the interpreter
//   "1", "2"  each dispatch is compiled before its first run: quickly, or with
//             all optimisations and for the parameters that it has. The
//             interpreter runs dispatches that cannot be compiled
//   "auto"    the interpreter, while a thread compiles hot dispatches in the
//             background (vm/runtime/dispatch/tiering.h). Kernels that are slower than
//             the interpreter are not used. On a device that is not the host
//             "auto" is "2"
//
// vm/runtime/dispatch/session_kernels.h has the policy.
#ifndef EMBER_TOOLS_LIB_MODELS_TIER_H_
#define EMBER_TOOLS_LIB_MODELS_TIER_H_

#include <memory>
#include <string>

#include "base/status.h"
#include "hal/device.h"
#include "jit/cache/options.h"
#include "jit/jit.h"
#include "tools/lib/calls/kernel_checks.h"
#include "tools/lib/cli/flags.h"
#include "tools/lib/cli/show_progress.h"
#include "vm/runtime/dispatch/tiering.h"
#include "vm/runtime/module.h"

namespace ember::tools {

// Says if kernels may round differently from the interpreter. The fields are
// those of JitOptions.
struct RoundingFlags {
  bool exact_schedules = false;
  bool allow_tf32 = false;
};
// Declares --exact-schedules and --allow-tf32. `values` must outlive the
// parsing.
void AddRoundingFlags(Flags& flags, RoundingFlags* values);
// Declares --allow-tf32 alone.
void AddTf32Flag(Flags& flags, bool* value);

struct Tier {
  // Installs kernels in sessions; null for tier "0" without native kernels.
  std::shared_ptr<vm::Tiering> tiering;
  // The JIT that compiles kernels; null for tier "0".
  std::shared_ptr<jit::Jit> jit;
  // Compares the first calls of kernels with tier 0; null if kernels are not
  // checked.
  std::shared_ptr<jit::Oracle> oracle;
  // one line that says which native kernels are used; empty if none are
  std::string native;
};

// Declares --jit, which says where kernels are compiled. `value` must outlive
// the parsing.
void AddJitFlag(Flags& flags, std::string* value);
// Flags that allow native kernels, which are compiled code that comes with a
// module.
struct NativeFlags {
  // True: native kernels of any module may run, without a signature.
  bool is_allowed = false;
  // File of the public key. Native kernels run only if they are signed with its
  // secret key; empty: there is no key.
  std::string key;
  // Path of a shared object with kernels; empty if there is none.
  std::string library;
};
// Declares --allow-native, --key and --native-library. `values` must outlive
// the parsing.
void AddNativeFlags(Flags& flags, NativeFlags* values);

struct TierOptions {
  std::string tier = "auto";    // --tier
  std::string jit = "auto";     // AddJitFlag
  std::string dump_folder;      // JitOptions::dump_folder
  std::string schedule_folder;  // JitOptions::schedule_folder
  // JitOptions::disabled_passes; errors call the flag --disable-pass
  std::vector<std::string> disabled_passes;
  // True: the schedule folder may contain schedules of dispatches that this
  // module does not have.
  bool has_schedules_of_others = false;
  // The kernel cache on disk. Without a folder, kernels are kept for this
  // process only. A folder that cannot be used is reported on stderr.
  jit::CacheOptions cache;
  // Passed on as JitOptions::wrapper, or null. A wrapper checks kernels itself,
  // so there is no other check, and tier "auto" also keeps kernels that are
  // slower than tier 0.
  std::shared_ptr<jit::KernelWrapper> wrapper;
  // Passed on as JitOptions::observer, or null.
  std::shared_ptr<jit::KernelObserver> observer;
  // The display of progress that receives an event with the stage "kernels" for
  // each kernel that a call waits for. Null: no events are sent.
  std::shared_ptr<ShownProgress> progress;
  RoundingFlags rounding;
  // Flags for checks of the first calls of each kernel. Kernels of devices that
  // are not the host are not checked.
  KernelCheckFlags checks;
  NativeFlags native;
  // Path of the module's file, as the user typed it. Overlays (files of
  // kernels) are looked for in its folder. Empty: no native kernels are used.
  std::string model;
};

// Checks the options that do not depend on the module. Errors: an unknown tier,
// --allow-native together with --key, a key that cannot be read, a schedule
// folder at tier 0.
Status CheckTierOptions(const TierOptions& options);

// Opens the tier. Errors: those of CheckTierOptions; for "1" and "2" that
// jit/libember_jit.so is missing next to this program, or LLVM's library; a
// schedule folder that is wrong for the module; a native library that cannot be
// loaded, or has no kernels of this module for this machine.
//
// Native kernels (vm-prejit) are in the module, in overlays in its folder or in
// a library. With permission they replace the tier for their dispatches, also
// at tier 0. They are neither checked nor compared with the time of tier 0.
// Without permission the module runs without them, and stderr says so once. A
// device that is not the host uses native kernels for it, but no library.
StatusOr<Tier> OpenTier(const TierOptions& options,
                        const std::shared_ptr<hal::Device>& device,
                        const std::shared_ptr<const vm::Module>& module);
// Returns an error if a schedule of the schedule folder was not used by any
// kernel. It must be called after a run.
Status CheckSchedulesUsed(const Tier& tier);
// Keeps the one tier of a process until the process ends. EndProcess, the last
// call of main, does not wait for kernels that are being compiled. (A thread
// that runs LLVM must not outlive LLVM's globals, which returning from main
// destroys.)
const Tier& KeepTier(Tier tier);
int EndProcess(int exit_status);
// Returns text for people, to print below a profile: the cost of compiling,
// what was checked, and the dispatches without a kernel by reason. Empty at
// tier 0.
std::string JitText(const Tier& tier, const vm::Module& module);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_MODELS_TIER_H_
