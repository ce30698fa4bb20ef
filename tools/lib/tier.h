// The tier that a command line asks for.
//
//   EMBER_ASSIGN_OR_RETURN(const Tier tier,
//                          OpenTier("2", *device, model.module, ""));
//   vm::Session::Create(model.module, {..., .tiering = tier.tiering});
//
// "0": the interpreter. "1", "2": each dispatch is compiled before it runs
// first, quickly or with everything (for the parameters that it has); what
// cannot be compiled stays with the interpreter. "auto": the interpreter, while
// a thread beside it compiles what turns out to be hot (vm/runtime/tiering.h);
// kernels that are slower than the interpreter are not used. On a device that
// is not the host "auto" is "2": nobody is served by half a model elsewhere.
#ifndef EMBER_TOOLS_LIB_TIER_H_
#define EMBER_TOOLS_LIB_TIER_H_

#include <memory>
#include <string>

#include "base/status.h"
#include "hal/device.h"
#include "jit/cache/cache_options.h"
#include "jit/jit.h"
#include "tools/lib/flags.h"
#include "tools/lib/kernel_checks.h"
#include "vm/runtime/module.h"
#include "vm/runtime/tiering.h"

namespace ember::tools {

// How kernels may round where the interpreter does not: as in JitOptions.
struct RoundingFlags {
  bool exact_schedules = false;
  bool allow_tf32 = false;
};
// Declares --exact-schedules and --allow-tf32. `values` must outlive the
// parsing.
void AddRoundingFlags(Flags& flags, RoundingFlags* values);
// --allow-tf32 alone.
void AddTf32Flag(Flags& flags, bool* value);

struct Tier {
  std::shared_ptr<vm::Tiering> tiering;  // null for "0" without native kernels
  std::shared_ptr<jit::Jit> jit;         // null for "0"
  std::shared_ptr<jit::Oracle> oracle;   // null where kernels are not checked
  std::string native;  // what UseNativeKernels did, one line; empty: nothing
};

// wrapper: JitOptions::wrapper; with one, "auto" uses slow kernels, too, and
// no kernel is checked but by the wrapper.
// checks: of the first call of each kernel; on devices that are not the host
// there are none.
// jit: AddJitFlag.
// cache: no folder: kernels are kept for the process only. One that cannot be
// used is reported on stderr. Errors: an unknown name; "1" and "2": no JIT
// beside this program, or LLVM's library is missing.
StatusOr<Tier> OpenTier(const std::string& name, const hal::Device& device,
                        std::shared_ptr<const vm::Module> module,
                        const std::string& dump_folder,
                        const std::string& schedule_folder = "",
                        const jit::CacheOptions& cache = {},
                        std::shared_ptr<jit::KernelWrapper> wrapper = nullptr,
                        const RoundingFlags& rounding = {},
                        const KernelCheckFlags& checks = {},
                        const std::string& jit = "auto");
// Declares --jit, which says where kernels are compiled. `value` must outlive
// the parsing.
void AddJitFlag(Flags& flags, std::string* value);
// Whose native kernels may run.
struct NativeFlags {
  bool is_allowed = false;  // any module's
  std::string key;          // those that this key signed; a file, or empty
  std::string library;      // those in this shared object
};
// Declares --allow-native, --key and --native-library. `values` must outlive
// the parsing.
void AddNativeFlags(Flags& flags, NativeFlags* values);

// Of a module with native kernels (vm-prejit), in it or in overlays beside the
// file `path` that it is from: with permission, puts them in
// the tier's place for the dispatches that they are of, at tier 0, too, which
// then runs the others. They are used as they are: not checked, not timed
// beside tier 0. Without permission the module runs portable, and stderr says
// so once. On a device that is not the host those that are for it are used, and
// no library. Errors: a key that cannot be read, a library that cannot be
// loaded, or has no kernels of this module for this machine.
Status UseNativeKernels(const NativeFlags& flags,
                        const std::shared_ptr<hal::Device>& device,
                        const std::shared_ptr<const vm::Module>& module,
                        const std::string& path, Tier& tier);
// For the one tier of a process: it is not closed before the process ends, and
// EndProcess, the last call of main, does not wait for kernels that are being
// compiled. (A thread that runs LLVM must not outlive LLVM's globals, which
// returning from main destroys.)
const Tier& KeepTier(Tier tier);
int EndProcess(int exit_status);
// Whether the name is one of them, before anything is loaded.
Status CheckTier(const std::string& name);

// For people, below a profile: what compiling took in all, what was checked,
// and the dispatches without a kernel by reason. Empty at tier 0.
std::string JitText(const Tier& tier, const vm::Module& module);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_TIER_H_
