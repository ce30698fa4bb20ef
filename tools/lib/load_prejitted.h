// A model as a user gets it who loads what vm-prejit wrote: kernels for named
// processors in the file, none made here.
//
//   EMBER_ASSIGN_OR_RETURN(const PrejittedModule made,
//                          LoadPrejitted(module, {host}));
//   vm::Session::Create(made.module, {..., .tiering = made.tiering});
//
// Links LLVM. Thread-safe.
#ifndef EMBER_TOOLS_LIB_LOAD_PREJITTED_H_
#define EMBER_TOOLS_LIB_LOAD_PREJITTED_H_

#include <memory>
#include <span>

#include "base/status.h"
#include "jit/target/compile_target.h"
#include "vm/runtime/module.h"
#include "vm/runtime/tiering.h"

namespace ember::tools {

struct PrejittedModule {
  std::shared_ptr<const vm::Module> module;
  std::shared_ptr<vm::Tiering> tiering;  // tier 0 where there is no kernel
};

// Makes kernels for each target, writes them with the module to a temporary
// file, loads that and installs what is for this machine. Errors: LLVM has no
// back end for a target; the file cannot be written; Internal where the file
// or one of its kernels for this machine is refused, or they are not all
// installed, with the reason.
StatusOr<PrejittedModule> LoadPrejitted(
    const std::shared_ptr<const vm::Module>& module,
    std::span<const jit::CompileTarget> targets);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_LOAD_PREJITTED_H_
