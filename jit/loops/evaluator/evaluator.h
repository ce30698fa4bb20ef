// Defines what a loop nest computes: executes it statement by statement and
// lane by lane, as simply as possible. Lowering and back ends are compared with
// it, and it is compared with the evaluator of the dispatch IR. Slow; for tests
// and for finding which step of the JIT is wrong.
//
//   std::vector<void*> buffers = {x.data(), y.data()};
//   EMBER_RETURN_IF_ERROR(loops::Evaluate(nest, {batch}, buffers));
//
// Memory without defined contents is filled with random values, so that a nest
// that relies on it gives wrong results in tests: kPacked and kCall buffers
// before the first phase, kTask and kRegister buffers when a task begins, and
// an invocation's own registers when a value of its loop begins. Asynchronous
// stores are performed as late as they may be: in the await that covers them.
#ifndef EMBER_JIT_LOOPS_EVALUATOR_EVALUATOR_H_
#define EMBER_JIT_LOOPS_EVALUATOR_EVALUATOR_H_

#include <cstdint>
#include <span>

#include "base/status.h"
#include "jit/loops/loop_nest.h"

namespace ember::loops {

// Evaluates a verified nest. In a device nest (jit/loops/loop_nest.h), the
// evaluation fails with kInternal if, since the last barrier of a task, an
// invocation accesses an element that another one stored, or stores to one that
// another accessed. An asynchronous store counts as an access at its statement
// and at the await that covers it. Registers are not shared and not checked.
// Products that stay in flight read their factors until they end. Buffers whose
// bytes of the workgroup's memory overlap (jit/loops/workgroup.h)
// share them: an access to one of them is an access to the others.
//
// buffers: one pointer per input and output, row-major. Errors:
// kInvalidArgument if a Check fails ("loops @name: buffer %x: expected index 0
// in 0..4, found 7"); kInternal for an access out of bounds, which is a bug of
// the nest.
struct EvaluateOptions {
  // seed of the contents of memory that has no defined contents
  uint64_t seed = 0;
  // Runs tasks, invocations and lanes from the last to the first. Tests use
  // this because results may not depend on the order.
  bool backwards = false;
  // Fails with kInternal on a data race, which sequential execution would hide:
  // a task stores to an element that another task of its phase accesses, or an
  // invocation stores to one that another invocation of its loop accesses.
  bool refuse_races = false;
  // Checks races by the rules of device nests even if the nest has no barrier,
  // so that a nest that lacks every barrier it needs is noticed.
  bool is_device = false;
  // Checks marks that passes have set on the nest. Fails with kInternal if a
  // mark is wrong for a value of this run: if the element of a marked vector
  // (IsVectorWidth) is not at the same position of its vector for all values of
  // loops that are not written out, if the vector is not in its buffer as a
  // whole, if lanes do not fill one, or if a test of bounds (BoundsTest) finds
  // less than both comparisons would.
  bool checks_marks = false;
  // Also fails if an i64 value that is not marked as wide (LoopNest::wide) does
  // not fit i32. Only meant for nests in which jit/legalise/mark_integers.h has
  // set the marks.
  bool checks_integers = false;
};
Status Evaluate(const LoopNest& nest, std::span<const int64_t> parameters,
                std::span<void* const> buffers,
                const EvaluateOptions& options = {});

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_EVALUATOR_EVALUATOR_H_
