// Tier 0: runs a dispatch by interpretation, on every machine and without
// compiling.
//
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<Plan> plan,
//                          Plan::Make(dispatch, {batch}));
//   EMBER_RETURN_IF_ERROR(plan->Run(buffers, runner));
//
// There are two interpreters. StripInterpreter, which Plan::Make uses, is the
// fast one and the default; the text below describes it. PointwiseInterpreter
// (pointwise_plan.h) is a small one, for programs that must be small and bring
// kernels for the dispatches that must be fast.
//
// Making a plan fixes the scalar parameters, so every extent is a number. Axes
// are collapsed and ordered, loads are classified by their stride along the
// strip, and index arithmetic is strength-reduced. Sum-of-product stages are
// recognised as contractions, and stages are fused row by row. Every access is
// either proved in bounds or marked to be checked while running. A plan takes
// microseconds to make; the caller keeps it per shape.
//
// Thread-safety: only one thread at a time may run a plan, because it owns
// scratch memory for each worker. The runner may use several workers inside one
// Run. Results do not depend on their number.
//
// Errors: Make refuses what tensor/concrete_header.h refuses, and returns an
// error if the budget does not grant memory. Run returns that error, too, if it
// needs scratch for more workers. Run reports a data-dependent index (gather,
// scatter) out of range, naming dispatch, buffer, index and extent. If
// runner.interrupt() stopped it, Run returns the interrupt's status. Contents
// of the output buffers are unspecified after an error.
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

// Facts about a plan that callers need before a run.
struct PlanFacts {
  // Bytes that each input and output must hold.
  std::vector<int64_t> required_bytes;
  // For each input and output: true for an output if a run stores to every one
  // of its elements, whatever the output contained before.
  std::vector<bool> overwrites;
};

class Plan {
 public:
  struct Options {
    // Input buffers whose contents never change between runs (constants of the
    // module). An operand of a contraction that reads only such buffers is
    // packed once, in the first run, and kept.
    std::vector<bool> constant_inputs;
    // Target size of scratch memory per worker in bytes: about half of a core's
    // L2 cache.
    int64_t scratch_target = 512 * 1024;
    // Budget that is charged with all memory whose size the dispatch
    // determines: temporaries, packed and padded operands, scratch of workers.
    // It outlives the plan. If it is null, memory is not counted.
    MemoryBudget* budget = nullptr;
    // Allocator of the memory that is charged to the budget.
    HostAllocator allocator;
  };

  // Makes a plan of the strip interpreter, as StripInterpreter().MakePlan does.
  // The dispatch must outlive the plan and have passed tensor::Verify.
  static StatusOr<std::unique_ptr<Plan>> Make(
      const tensor::Dispatch& dispatch, std::span<const int64_t> parameters,
      const Options& options);
  // Makes a plan like Make, from the values of the dispatch's header for the
  // parameters. The header need not outlive the plan.
  static StatusOr<std::unique_ptr<Plan>> MakeFor(
      const tensor::Dispatch& dispatch, const tensor::ConcreteHeader& header,
      const Options& options);
  virtual ~Plan() = default;

  // Runs the dispatch. buffers: one pointer per input and output buffer in the
  // dispatch's order (the plan owns the temporaries). Each buffer has at least
  // required_bytes of facts(), aligned to the element size. An output may be
  // the same memory as an input only if MayAlias(dispatch, input, output).
  virtual Status Run(std::span<void* const> buffers,
                     ParallelRunner& runner) = 0;

  virtual PlanFacts facts() const = 0;

  // Returns one line per stage that says how the stage is executed, e.g.
  // "contraction m=3136 n=64 k=576 f32" or "strip 56x64", for --profile and
  // tests.
  virtual std::string Describe() const = 0;
};

// An interpreter: it makes plans. It has no state and is thread-safe.
class Interpreter {
 public:
  virtual StatusOr<std::unique_ptr<Plan>> MakePlan(
      const tensor::Dispatch& dispatch, const tensor::ConcreteHeader& header,
      const Plan::Options& options) const = 0;
  // Returns the facts of a plan without making it, for calls that a kernel
  // runs. This takes a fraction of the time of making the plan. Errors: those
  // of MakePlan, except for memory.
  virtual StatusOr<PlanFacts> FactsOf(
      const tensor::Dispatch& dispatch,
      const tensor::ConcreteHeader& header) const = 0;

 protected:
  ~Interpreter() = default;
};

const Interpreter& StripInterpreter();

// True if, for all parameters, every element of `output` is written at the same
// flat position after all reads of that position of `input`. Then the output
// may be computed in the input's memory; the memory planner calls this
// function. The answer is conservative.
bool MayAlias(const tensor::Dispatch& dispatch, int input, int output);

}  // namespace ember::vm

#endif  // EMBER_VM_INTERPRETER_PLAN_H_
