// Tier 0: runs a dispatch by interpretation, everywhere and at once.
//
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<Plan> plan,
//                          Plan::Make(dispatch, {batch}));
//   EMBER_RETURN_IF_ERROR(plan->Run(buffers, runner));
//
// There are two interpreters. StripInterpreter, which Plan::Make asks, is the
// fast one that everybody uses and that this page is about;
// PointwiseInterpreter (pointwise_plan.h) is a small one for programs that must
// be small and bring kernels for what has to be fast.
//
// Making a plan fixes the scalar parameters, so every extent is a number: axes
// are collapsed and ordered, loads classified by their stride along the strip,
// index arithmetic strength-reduced, sum-of-product stages recognised as
// contractions, stages fused row by row, and every access either proved in
// bounds or marked to be checked while running. A plan takes microseconds to
// make and is kept per shape by the caller.
//
// Thread-safety: a plan may be run by one thread at a time (it owns scratch
// memory for each worker); runner may use several workers inside one Run.
// Results do not depend on their number. Errors: Make refuses what
// tensor/concrete_header.h does, and memory that the budget does not give; so
// does Run where scratch for more workers is needed. Run reports a
// data-dependent index (gather, scatter) out of range, naming dispatch, buffer,
// index and extent, and what runner.interrupt() says if that stopped it.
// Contents of the output buffers are unspecified after an error.
#ifndef EMBER_VM_INTERPRETER_PLAN_H_
#define EMBER_VM_INTERPRETER_PLAN_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/host_allocator.h"
#include "base/memory_budget.h"
#include "base/parallel.h"
#include "base/status.h"
#include "tensor/concrete_header.h"
#include "tensor/dispatch.h"

namespace ember::vm {

// What callers must know of a run before it.
struct PlanFacts {
  // Bytes that each input and output must hold.
  std::vector<int64_t> required_bytes;
  // Of each whether it is an output to every element of which a run stores,
  // whatever it held before.
  std::vector<bool> overwrites;
};

class Plan {
 public:
  struct Options {
    // Input buffers whose contents never change between runs (constants of the
    // module). Operands of contractions that read only these are packed once,
    // at the first run, and kept.
    std::vector<bool> constant_inputs;
    // Scratch memory aimed at per worker, bytes: about half of a core's L2
    // cache.
    int64_t scratch_target = 512 * 1024;
    // Charged with all that the plan allocates by what the dispatch asks for:
    // temporaries, packed and padded operands, scratch of workers. Outlives the
    // plan. Null: nobody counts.
    MemoryBudget* budget = nullptr;
    // Where that comes from.
    HostAllocator allocator;
  };

  // As StripInterpreter().MakePlan. The dispatch must outlive the plan and have
  // passed tensor::Verify.
  static StatusOr<std::unique_ptr<Plan>> Make(
      const tensor::Dispatch& dispatch, std::span<const int64_t> parameters,
      const Options& options);
  // With the dispatch's header for the parameters, which need not outlive it.
  static StatusOr<std::unique_ptr<Plan>> MakeFor(
      const tensor::Dispatch& dispatch, const tensor::ConcreteHeader& header,
      const Options& options);
  virtual ~Plan() = default;

  // buffers: one pointer per input and output buffer in the dispatch's order
  // (temporaries are the plan's own), each holding what facts() says,
  // aligned to the element size. An output may be the same memory as an input
  // only if reads_before_writes(input, output).
  virtual Status Run(std::span<void* const> buffers,
                     ParallelRunner& runner) = 0;

  virtual PlanFacts facts() const = 0;

  // One line per stage saying how it is executed, e.g. "contraction m=3136 n=64
  // k=576 f32" or "strip 56x64", for --profile and tests.
  virtual std::string Describe() const = 0;
};

// Who makes plans. Has no state, and is thread-safe.
class Interpreter {
 public:
  virtual StatusOr<std::unique_ptr<Plan>> MakePlan(
      const tensor::Dispatch& dispatch, const tensor::ConcreteHeader& header,
      const Plan::Options& options) const = 0;
  // Without the plan, for calls that a kernel serves: takes a fraction of what
  // making the plan does. Errors: those of MakePlan but memory.
  virtual StatusOr<PlanFacts> FactsOf(
      const tensor::Dispatch& dispatch,
      const tensor::ConcreteHeader& header) const = 0;

 protected:
  ~Interpreter() = default;
};

const Interpreter& StripInterpreter();

// True if every element of `output` is written at the same flat position after
// all reads of that position of `input`, whatever the parameters, so that both
// may be one piece of memory: the memory planner's in-place test. Conservative.
bool MayAlias(const tensor::Dispatch& dispatch, int input, int output);

}  // namespace ember::vm

#endif  // EMBER_VM_INTERPRETER_PLAN_H_
