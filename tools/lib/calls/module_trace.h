// Records the results of every dispatch while a module runs, to compare two
// modules of one model by the dispatches that they have in common.
//
//   EMBER_ASSIGN_OR_RETURN(ModuleTrace a, ModuleTrace::Record(one, ...));
//   EMBER_ASSIGN_OR_RETURN(ModuleTrace b, ModuleTrace::Record(other, ...));
//   TraceComparison c = CompareTraces(b, a, {.rtol = 1e-3, .atol = 1e-5});
//
// Two calls correspond if their dispatches have the same name except for the
// number in front (d3_conv_maximum), the same nodes of the model and results of
// the same types, and if each is the n-th such call of its module. A trace
// keeps copies of the results of all calls, which may take much memory.
#ifndef EMBER_TOOLS_LIB_CALLS_MODULE_TRACE_H_
#define EMBER_TOOLS_LIB_CALLS_MODULE_TRACE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "hal/device.h"
#include "jit/jit.h"
#include "tools/lib/calls/lockstep.h"
#include "tools/lib/calls/side.h"
#include "tools/lib/cli/limits.h"
#include "tools/lib/tensors/compare.h"
#include "vm/runtime/module.h"
#include "vm/runtime/tensor.h"

namespace ember::tools {

struct TracedCall {
  std::string dispatch, origin, parameters;
  std::vector<std::string> output_names;
  std::vector<vm::Tensor> outputs;
};

struct ModuleTrace {
  // The calls of dispatches, in order of execution, with copies of their
  // results.
  std::vector<TracedCall> calls;
  std::vector<vm::Tensor> results;

  // Runs the module once on one side and records its calls. `jit` must have
  // threads = 0; it may be null for tier 0.
  static StatusOr<ModuleTrace> Record(
      const std::shared_ptr<const vm::Module>& module, const Side& side,
      std::shared_ptr<jit::Jit> jit, std::shared_ptr<hal::Device> device,
      std::span<const vm::Tensor> inputs, const LimitFlags& limits = {});
};

struct TraceComparison {
  int64_t compared = 0;
  // Number of calls without a corresponding call in the other trace, summed
  // over both traces.
  int64_t without_partner = 0;
  int64_t differing = 0;
  // The first difference of each dispatch for each tuple of its parameters, in
  // the order of the calls in `got`.
  std::vector<DispatchDifference> differences;
};

TraceComparison CompareTraces(const ModuleTrace& got, const ModuleTrace& want,
                              const Tolerance& tolerance);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_CALLS_MODULE_TRACE_H_
