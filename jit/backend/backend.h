// A back end: how dispatches become kernels for one family of targets. A row of
// the table in jit/backends.h.
//
//   const Backend& backend = BackendFor("vulkan1.3+subgroup32");
//   schedule::Schedule schedule(schedule::Disassemble(dispatch, {}));
//   EMBER_RETURN_IF_ERROR(backend.schedule(target, {}, schedule));
//   ... lower and verify the loop nest ...
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<CompiledNest> code,
//                          backend.compile(request, nest, context, report));
//   vm::KernelImage image = ImageOf(request, nest, 1, code->code);
//
// Everything between the two functions (parameters, constants, the lowering and
// the proof that the nest stays in bounds: jit/kernel/build_nest.h), what an
// image has beside its code (describe_nest.h) and how images are launched
// (vm/runtime/cpu_kernel.h, device_kernel.h) is the same for all of them.
// docs/adding/jit-target.md says how one is added.
//
// A constant value without state; its functions are thread-safe.
#ifndef EMBER_JIT_BACKEND_BACKEND_H_
#define EMBER_JIT_BACKEND_BACKEND_H_

#include <memory>
#include <string_view>

#include "base/status.h"
#include "jit/backend/kernel_report.h"
#include "jit/backend/object_compiler.h"
#include "jit/loops/loop_nest.h"
#include "jit/schedule/core/schedule.h"
#include "vm/runtime/kernel_provider.h"

namespace ember::jit {

struct CpuModel;  // jit/target/cpu_model.h

struct ScheduleOptions {
  // Only primitives that keep rounding (KeepsRounding in
  // jit/schedule/primitives/primitives.h), and no instructions that round as a
  // device likes.
  bool is_exact = false;
  // What the schedule is for, if it is a CPU; null: what the target's text
  // says, and for what that leaves open, this machine.
  const CpuModel* cpu = nullptr;
};

// What kernels are made with that outlives them.
struct BuildContext {
  // Makes what LLVM makes: code for CPUs, which may be loaded, and PTX.
  Compiler& compiler;
};

struct Backend {
  std::string_view name;  // "vulkan"

  // Whether kernels for a target with this text (base/target_text.h) are its
  // own. Rows are asked in their order, the first that says so has them.
  bool (*serves)(std::string_view target);

  // The default schedule. schedule: as its dispatch is written. Errors: what
  // cannot be scheduled, with a reason of jit/decline_reasons.h.
  Status (*schedule)(std::string_view target, const ScheduleOptions& options,
                     schedule::Schedule& schedule);

  // Code of the verified nest, by the request's target and tier: no device is
  // needed. Adds the texts of the code to the report, if it asks for them.
  // Errors: kUnimplemented with a reason of jit/decline_reasons.h for what is
  // left to tier 0.
  StatusOr<std::unique_ptr<CompiledNest>> (*compile)(
      const vm::KernelRequest& request, const loops::LoopNest& nest,
      const BuildContext& context, KernelReport& report);
};

}  // namespace ember::jit

#endif  // EMBER_JIT_BACKEND_BACKEND_H_
