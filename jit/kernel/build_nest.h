// Builds the loop nest of a kernel from a request: the first half of
// BuildKernel, which is the passes of jit/pipeline/nest_passes.h.
//
//   EMBER_ASSIGN_OR_RETURN(const loops::LoopNest nest,
//                          BuildNest(request, {}, nullptr));
#ifndef EMBER_JIT_KERNEL_BUILD_NEST_H_
#define EMBER_JIT_KERNEL_BUILD_NEST_H_

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "jit/backend/pass_log.h"
#include "jit/loops/loop_nest.h"
#include "jit/schedule/core/computation.h"
#include "jit/target/cpu_model.h"
#include "tensor/interval.h"
#include "vm/runtime/kernel_provider.h"

namespace ember::jit {

struct NestOptions {
  // A schedule to replay instead of the default one; empty: the default one.
  std::string given_schedule;
  // True if given_schedule uses canonical names of the dispatch's stages and
  // loops (tensor/analysis/canonical_names.h). The nest has the dispatch's own
  // names in either case.
  bool has_canonical_names = false;
  // True if the default schedule must keep rounding (ScheduleOptions).
  bool is_exact = false;
  // The value of ScheduleOptions::cpu.
  const CpuModel* cpu = nullptr;
  // ranges[i]: the range of the values of input i, if that is a constant and
  // its range is known. An empty list means that no range is known. Constants
  // with a known range are not read.
  std::vector<std::optional<tensor::Interval>> ranges;
  // Holds the options with which passes run, and gets the passes that ran. May
  // be null.
  PassLog* log = nullptr;
};

// Texts of the schedule and the loop nest, for people to read.
struct NestText {
  std::string schedule, nest;
};

// Returns the computation that schedules transform: the request's dispatch,
// without any loop transformation, specialised for the request's parameters and
// constants. Errors, with a reason of jit/backend/decline_reasons.h: the
// dispatch is too large or too deep for recursion, or index terms are too large
// for 64-bit arithmetic on them. Thread-safe.
StatusOr<schedule::Computation> ComputationOf(const vm::KernelRequest& request);

// Returns the verified nest of the request. text: if it is not null, gets the
// schedule and the nest, even if no proof of bounds was found. error_growth: if
// it is not null, gets vm::Kernel::error_growth. Errors, with a reason of
// jit/backend/decline_reasons.h: those of ComputationOf; the schedule, lowering
// or the verifier declines. Thread-safe.
StatusOr<loops::LoopNest> BuildNest(const vm::KernelRequest& request,
                                    const NestOptions& options, NestText* text,
                                    double* error_growth = nullptr);

// Replaces the canonical names in the nest of a dispatch by the dispatch's own
// names. A buffer of the nest that already has one of those names gets a longer
// name.
void RestoreNames(const tensor::Dispatch& dispatch, loops::LoopNest& nest);

}  // namespace ember::jit

#endif  // EMBER_JIT_KERNEL_BUILD_NEST_H_
