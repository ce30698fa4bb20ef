// From a request to the loop nest that its kernel is made of: the first half of
// BuildKernel.
//
//   EMBER_ASSIGN_OR_RETURN(const loops::LoopNest nest,
//                          BuildNest(request, {}, nullptr));
#ifndef EMBER_JIT_KERNEL_BUILD_NEST_H_
#define EMBER_JIT_KERNEL_BUILD_NEST_H_

#include <string>

#include "base/status.h"
#include "jit/loops/loop_nest.h"
#include "jit/target/cpu_model.h"
#include "vm/runtime/kernel_provider.h"

namespace ember::jit {

struct NestOptions {
  // Replayed instead of the default schedule; empty: the default one.
  std::string given_schedule;
  // The default schedule keeps rounding (ScheduleOptions).
  bool is_exact = false;
  // ScheduleOptions::cpu.
  const CpuModel* cpu = nullptr;
};

// For people.
struct NestText {
  std::string schedule, nest;
};

// A verified nest. text: if it is not null, what was made, also where no proof
// of bounds was found; error_growth: if it is not null,
// vm::Kernel::error_growth. Errors: what is too large or deep for recursion,
// index terms that are too large for 64-bit arithmetic on them, and what the
// schedule, lowering or the verifier declines, with a reason of
// jit/decline_reasons.h. Thread-safe.
StatusOr<loops::LoopNest> BuildNest(const vm::KernelRequest& request,
                                    const NestOptions& options, NestText* text,
                                    double* error_growth = nullptr);

}  // namespace ember::jit

#endif  // EMBER_JIT_KERNEL_BUILD_NEST_H_
