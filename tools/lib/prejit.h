// Kernels for a module, made before it is shipped: one native section per
// target.
//
//   EMBER_ASSIGN_OR_RETURN(const jit::CompileTarget target,
//                          jit::FindCompileTarget("aarch64+dotprod"));
//   EMBER_ASSIGN_OR_RETURN(Prejitted made, Prejit(module, target, {}));
//   definition.natives.push_back(made.section);
//
// Links LLVM. Thread-safe.
#ifndef EMBER_TOOLS_LIB_PREJIT_H_
#define EMBER_TOOLS_LIB_PREJIT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "jit/kernel/build_image.h"
#include "jit/target/compile_target.h"
#include "vm/format/module_definition.h"
#include "vm/runtime/module.h"

namespace ember::tools {

// A dispatch with the constants of one or more sites.
struct PrejitRow {
  std::string dispatch;
  int64_t code_bytes = 0;
  size_t phases = 0;
  std::string declined;  // why there is no kernel; empty: there is one
};

struct Prejitted {
  vm::NativeSection section;
  std::vector<PrejitRow> rows;
  size_t kernels = 0;
  double ms = 0;
};

// Kernels of tier 2 for all shapes of each dispatch. Errors: LLVM has no back
// end for the target. What a dispatch is declined for is in its row.
StatusOr<Prejitted> Prejit(const std::shared_ptr<const vm::Module>& module,
                           const jit::CompileTarget& target,
                           const jit::ImageOptions& options);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_PREJIT_H_
