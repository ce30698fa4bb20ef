// Opens the tier that a command line asks for.
//
//   EMBER_ASSIGN_OR_RETURN(const Tier tier,
//                          OpenTier("2", *device, model.module, ""));
//   vm::Session::Create(model.module, {..., .tiering = tier.tiering});
//
// "0" is the interpreter. With "1" and "2" each dispatch is compiled before it
// first runs: "1" compiles quickly, "2" with all optimisations and for the
// parameters of the call. Dispatches that cannot be compiled are interpreted.
// "auto" interprets while another thread compiles the hot dispatches
// (vm/runtime/tiering.h); kernels that are slower than the interpreter are not
// used. On a device that is not the host "auto" is "2", as running half a model
// elsewhere is of no use.
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

// Permission for kernels to round differently from the interpreter, as in
// JitOptions.
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
  // kernels of the module; null for "0" without native kernels
  std::shared_ptr<vm::Tiering> tiering;
  std::shared_ptr<jit::Jit> jit;  // the JIT; null for "0"
  // checks of kernels; null if kernels are not checked
  std::shared_ptr<jit::Oracle> oracle;
  // One line about the native kernels that UseNativeKernels installed; empty if
  // it installed none.
  std::string native;
};

// Opens a tier by its name. wrapper: JitOptions::wrapper. With one, "auto" uses
// slow kernels, too, and only the wrapper checks kernels. checks: applies to
// the first call of each kernel. On devices that are not the host kernels are
// not checked. jit: see AddJitFlag. cache: without a folder, kernels are kept
// for the process only. A cache that cannot be used is reported on stderr.
// Errors: an unknown name; for "1" and "2", no JIT library near this program,
// or no LLVM library.
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
// The values of the flags about native kernels.
struct NativeFlags {
  bool is_allowed = false;  // true: any module's kernels may run
  // file of the key that must have signed the kernels; or empty
  std::string key;
  std::string library;  // shared object with kernels; or empty
};
// Declares --allow-native, --key and --native-library. `values` must outlive
// the parsing.
void AddNativeFlags(Flags& flags, NativeFlags* values);

// Uses the native kernels (vm-prejit) of a module, which are in the module or
// in overlays next to its file `path`. With permission they run their
// dispatches instead of the tier; at tier 0, the interpreter runs the others.
// They are neither checked nor compared with tier 0's time. Without permission
// the module runs without them, and stderr says so once. On a device that is
// not the host only kernels for that device are used, and no library. Errors: a
// key that cannot be read; a library that cannot be loaded or has no kernels of
// this module for this machine.
Status UseNativeKernels(const NativeFlags& flags,
                        const std::shared_ptr<hal::Device>& device,
                        const std::shared_ptr<const vm::Module>& module,
                        const std::string& path, Tier& tier);
// Keeps the one tier of a process until the process ends. EndProcess, the last
// call of main, does not wait for kernels that are being compiled. (A thread
// that runs LLVM must not outlive LLVM's globals, which returning from main
// destroys.)
const Tier& KeepTier(Tier tier);
int EndProcess(int exit_status);
// Checks the name of a tier, without loading anything. Error unless a tier has
// this name.
Status CheckTier(const std::string& name);

// Returns text for people, to print below a profile: the cost of compiling,
// what was checked, and the dispatches without a kernel by reason. Empty at
// tier 0.
std::string JitText(const Tier& tier, const vm::Module& module);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_TIER_H_
