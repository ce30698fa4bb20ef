// Checks the marks of a device nest while it is evaluated
// (EvaluateOptions::checks_marks): vectors, tests of bounds, and integers of 32
// bits.
//
//   MarkChecker marks(nest, {.checks_marks = true});
//   marks.Enter(loop.variable);       // an unrolled loop
//   EMBER_RETURN_IF_ERROR(marks.CheckLoad(load, position, elements, lane));
//   marks.Leave();
//
// Not thread-safe.
#ifndef EMBER_JIT_LOOPS_EVALUATOR_MARK_CHECKER_H_
#define EMBER_JIT_LOOPS_EVALUATOR_MARK_CHECKER_H_

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "base/status.h"
#include "jit/loops/evaluator/evaluator.h"
#include "jit/loops/loop_nest.h"

namespace ember::loops {

class MarkChecker {
 public:
  MarkChecker(const LoopNest& nest, const EvaluateOptions& options)
      : nest_(nest), options_(options) {}

  // True if EvaluateOptions::checks_integers is set and emitted code computes
  // the i64 node in 32 bits (it is not marked as wide), so that its values must
  // fit i32.
  bool IsShort(NodeId id) const;
  // Checks that the value of a node for which IsShort holds fits i32.
  Status CheckShort(const tensor::Node& node, uint64_t value) const;

  // Enter and Leave are called around the bodies of loops that emitted code
  // writes out: unrolled loops, dot loops and vector loops.
  void Enter(NodeId variable) { written_out_.push_back(variable); }
  void Leave() { written_out_.pop_back(); }
  // Says if some lanes of the vector loop are masked off. Returns the value of
  // the previous call.
  bool SetMasked(bool is_masked) {
    return std::exchange(is_masked_, is_masked);
  }
  bool is_masked() const { return is_masked_; }

  // Checks a load of the element at `position` of its buffer, which has
  // `elements` elements. lane: the values of variables, by number.
  Status CheckLoad(const tensor::Node& load, int64_t position, int64_t elements,
                   std::span<const int64_t> lane);
  // Checks the vector mark of a store. positions: the number of the element
  // that each lane stores to.
  Status CheckStore(const Store& store,
                    std::span<const int64_t> positions) const;
  // True if EvaluateOptions::checks_marks is set and the check's bounds test
  // does not notice the index, which is out of bounds.
  bool Misses(const Statement& check, int64_t index) const;

 private:
  const LoopNest& nest_;
  const EvaluateOptions options_;
  // variables of the surrounding loops whose bodies emitted code writes out,
  // such as unrolled loops
  std::vector<NodeId> written_out_;
  bool is_masked_ = false;
  // The position within its vector of each marked load that was checked; the
  // key includes the values of the variables in `written_out_`.
  std::map<std::pair<const tensor::Node*, std::vector<int64_t>>, int64_t>
      places_;
};

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_EVALUATOR_MARK_CHECKER_H_
