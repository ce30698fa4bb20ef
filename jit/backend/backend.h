// A back end makes kernels of dispatches for one family of targets. It is a row
// of the table in jit/registry/backends.h.
//
//   const Backend& backend = BackendFor("vulkan1.3+subgroup32");
//   schedule::Schedule schedule(schedule::Disassemble(dispatch, {}));
//   EMBER_RETURN_IF_ERROR(backend.schedule(target, {}, schedule));
//   ... lower and verify the loop nest ...
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<CompiledNest> code,
//                          backend.compile(request, nest, context, nullptr));
//   vm::KernelImage image = ImageOf(request, nest, 1, code->code);
//
// A back end consists of `serves`, `schedule` and `compile`; all back ends
// share everything else: the parameters, the constants, the lowering and the
// proof that the nest stays in bounds (jit/kernel/build_nest.h), the parts of
// an image besides its code (describe_nest.h), and the launch of images
// (vm/runtime/kernels/cpu_kernel.h, device_kernel.h). docs/adding/jit-target.md
// says how to add one.
//
// A constant value without state; its functions are thread-safe.
#ifndef EMBER_JIT_BACKEND_BACKEND_H_
#define EMBER_JIT_BACKEND_BACKEND_H_

#include <memory>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "jit/backend/kernel_report.h"
#include "jit/backend/object_compiler.h"
#include "jit/backend/pass_log.h"
#include "jit/loops/loop_nest.h"
#include "jit/schedule/core/schedule.h"
#include "vm/runtime/kernel_provider.h"

namespace ember::jit {

struct CpuModel;  // defined in jit/target/cpu_model.h

struct ScheduleOptions {
  // True if the schedule may use only primitives that keep rounding
  // (KeepsRounding in jit/schedule/primitives/primitives.h), and no
  // instructions whose rounding the device chooses.
  bool is_exact = false;
  // Model of the CPU that the schedule is made for. Null: the CPU that the
  // target's text describes; facts that the text leaves out are those of this
  // machine.
  const CpuModel* cpu = nullptr;
};

// Resources for making kernels. They must outlive the kernels that are made
// with them.
struct BuildContext {
  // The compiler for all code that LLVM makes: machine code of CPUs, which may
  // be loaded into this process, and PTX.
  Compiler& compiler;
  // The list to which each pass that ran is added. May be null.
  PassLog* log = nullptr;

  bool KeepsPasses() const {
    return log != nullptr && log->options.keeps_texts;
  }
  // Adds the passes that ran while the code was compiled to the log.
  void Report(const CompiledNest& code) const {
    if (log == nullptr) return;
    log->records.insert(log->records.end(), code.passes.begin(),
                        code.passes.end());
  }
};

struct Backend {
  std::string_view name;  // the name for people: "vulkan"

  // True if this back end makes kernels for a target with this text
  // (base/target_text.h). Rows of the table are asked in order; the first that
  // returns true serves the target.
  bool (*serves)(std::string_view target);

  // Applies the default schedule for the target. schedule: a schedule to which
  // no primitive has been applied. Errors: a reason of
  // jit/backend/decline_reasons.h if the dispatch cannot be scheduled.
  Status (*schedule)(std::string_view target, const ScheduleOptions& options,
                     schedule::Schedule& schedule);

  // Compiles the verified nest for the request's target and tier; needs no
  // device. texts: if it is not null, gets the texts of the code.
  // Errors: kUnimplemented with a reason of jit/backend/decline_reasons.h for
  // nests that are left to tier 0.
  StatusOr<std::unique_ptr<CompiledNest>> (*compile)(
      const vm::KernelRequest& request, const loops::LoopNest& nest,
      const BuildContext& context, std::vector<CodeText>* texts);
};

}  // namespace ember::jit

#endif  // EMBER_JIT_BACKEND_BACKEND_H_
