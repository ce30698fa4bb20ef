// The definition of what a loop nest computes: statement by statement, lane by
// lane, with no cleverness. Lowering and back ends are compared with it, and it
// with the evaluator of the dispatch IR. Slow; for tests and for finding which
// step of the JIT is wrong.
//
//   std::vector<void*> buffers = {x.data(), y.data()};
//   EMBER_RETURN_IF_ERROR(loops::Evaluate(nest, {batch}, buffers));
//
// Each task starts with random contents in kTask and kRegister buffers, kPacked
// and kCall buffers have them before the first phase, and each value of an
// invocation loop in the registers that it has of its own, so that code which
// relies on them is noticed. Asynchronous stores are done as late as they may
// be, by the await that covers them.
#ifndef EMBER_JIT_LOOPS_EVALUATOR_H_
#define EMBER_JIT_LOOPS_EVALUATOR_H_

#include <cstdint>
#include <span>
#include <unordered_set>

#include "base/status.h"
#include "jit/loops/loop_nest.h"

namespace ember::loops {

// The nest is verified. buffers: one pointer per input and output, row-major.
// Errors: a Check that fails ("loops @name: buffer %x: expected index 0 in
// 0..4, found 7"), and any access out of bounds, which is a bug of the nest.
// Errors are kInvalidArgument, but kInternal for an access out of bounds.
struct EvaluateOptions {
  uint64_t seed = 0;  // of the contents of buffers that have none
  // Tasks, invocations and lanes from the last to the first: nothing may depend
  // on that.
  bool backwards = false;
  // kInternal where a task stores to an element that another one of its phase
  // accesses, or an invocation to one that another one of its loop accesses:
  // what one after the other hides.
  bool refuse_races = false;
  // If given: statements before which the invocations of a task meet, as a
  // device lets them. kInternal where in a phase with invocation loops one
  // accesses an element that another stored, or stores to one that another
  // accessed, since they met last. What stands outside of those loops all of
  // them do, but only the first one stores.
  const std::unordered_set<const Statement*>* meetings = nullptr;
};
Status Evaluate(const LoopNest& nest, std::span<const int64_t> parameters,
                std::span<void* const> buffers,
                const EvaluateOptions& options = {});

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_EVALUATOR_H_
