// Makes a file as vm-prejit does, with kernels for named targets, and loads it
// as a user would: no kernel is compiled while the model runs.
//
//   EMBER_ASSIGN_OR_RETURN(const PrejittedModule made,
//                          LoadPrejitted(module, {host}));
//   vm::Session::Create(made.module, {..., .tiering = made.tiering});
//
// Depends on LLVM. Thread-safe.
#ifndef EMBER_TOOLS_LIB_MODELS_LOAD_PREJITTED_H_
#define EMBER_TOOLS_LIB_MODELS_LOAD_PREJITTED_H_

#include <memory>
#include <span>

#include "base/status.h"
#include "jit/target/compile_target.h"
#include "vm/runtime/dispatch/tiering.h"
#include "vm/runtime/module.h"

namespace ember::tools {

struct PrejittedModule {
  std::shared_ptr<const vm::Module> module;
  // The kernels that the file contains. Dispatches without one run at tier 0.
  std::shared_ptr<vm::Tiering> tiering;
};

// Makes kernels for each target, writes them with the module to a temporary
// file, loads that file and installs the kernels for this machine. Errors: LLVM
// has no back end for a target; the file cannot be written; kInternal with the
// reason if the file or one of its kernels for this machine is refused, or if
// not all of them are installed.
StatusOr<PrejittedModule> LoadPrejitted(
    const std::shared_ptr<const vm::Module>& module,
    std::span<const jit::CompileTarget> targets);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_MODELS_LOAD_PREJITTED_H_
