// skip_hidden: a softmax and the product of its rows, without the keys that a
// mask hides.
//
//   %most[i]    = maximum(k < K) x(i, k)            // x: -inf if k > i
//   %power[i,k] = exp(x(i, k) - %most[i])
//   %total[i]   = sum(k < K) %power[i, k]
//   %p[i, k]    = %power[i, k] / %total[i]
//   %y[i, j]    = sum(k < K) %p[i, k] * v(k, j)
//
// The primitive notes in the three reductions that elements from i + 1 on do
// not change the result (UsefulElements). Their loops then end earlier, and so
// do those of the stages that are computed for them (shorten_loops.h).
//
// Results are the same bit for bit. Let x(i, k) be -inf, and m the maximum of
// row i. -inf changes no maximum. If m is a number or +inf, the power is
// exp(-inf - m) = 0, which changes no total; the total is a number above 0, or
// +inf or NaN because of another key. A weight is 0 then, or NaN together with
// all weights of the row, and a product of it is 0 or -0, which changes no sum
// that began as 0. If m is -inf or NaN, all powers of the row are NaN, so one
// key suffices to make the total and the results NaN: each loop computes at
// least one (UsefulElements::least).
//
// The proof assumes that v is finite there: 0 * inf, which would be NaN, is not
// computed for keys that are skipped.
#include <algorithm>
#include <optional>
#include <vector>

#include "jit/schedule/core/dependences.h"
#include "jit/schedule/core/loop_bounds.h"
#include "jit/schedule/core/rewrite.h"
#include "jit/schedule/primitives/hidden_keys.h"
#include "jit/schedule/primitives/online_softmax.h"
#include "jit/schedule/primitives/primitives.h"

namespace ember::schedule {
namespace {

std::vector<NodeId> VariablesOf(const ComputationStage& stage) {
  std::vector<NodeId> variables;
  for (const ComputationAxis& axis : stage.axes)
    variables.push_back(axis.variable);
  return variables;
}

// Rewrites the bound, a sum of axes of the stage with the axes `from`, over the
// axes `to` of another stage. The two stages have the same rows, with their
// axes in the same order.
std::optional<NodeId> OverAxesOf(Computation& c, std::optional<NodeId> bound,
                                 const std::vector<NodeId>& from,
                                 const std::vector<NodeId>& to) {
  if (!bound) return std::nullopt;
  Rewriter rewriter(c.pool, c.pool, [&](NodeId id) -> std::optional<NodeId> {
    const auto axis = std::ranges::find(from, id);
    if (axis == from.end()) return std::nullopt;
    return to[static_cast<size_t>(axis - from.begin())];
  });
  return rewriter.Rewrite(*bound);
}

}  // namespace

Status Change(const SkipHidden& step, Schedule& schedule) {
  EMBER_ASSIGN_OR_RETURN(const int product, Find(schedule, step.product));
  EMBER_ASSIGN_OR_RETURN(
      const SoftmaxOfProduct softmax,
      MatchSoftmaxOfProduct(schedule, product, KeyCount::kAny));
  // A stage with a run-time check of an index is refused: leaving out hidden
  // keys would leave out their checks.
  for (int i = 0; i <= product; ++i) {
    const Computation& c = schedule.computation();
    if (AccessesAreSafe(c, i)) continue;
    return FailedPreconditionError("indices of %" +
                                   c.stages[static_cast<size_t>(i)].name +
                                   " are checked while the program runs");
  }
  Computation& c = schedule.mutable_computation();
  const auto stage = [&](int number) -> ComputationStage& {
    return c.stages[static_cast<size_t>(number)];
  };
  const std::vector<NodeId> axes = VariablesOf(stage(softmax.power));
  const NodeId difference = c.pool[stage(softmax.power).values[0]].operands[0];
  const NodeId x = c.pool[difference].operands[0];
  const NodeId keys = stage(softmax.power).axes.back().extent;
  RefineParameters({&keys, 1}, c.pool);
  const VisibleKeys visible = VisibleKeysOf(c, x, axes);
  if (!HidesKeys(c, visible, keys)) {
    return FailedPreconditionError(
        "no comparison of keys and rows hides keys by -inf");
  }
  for (const int number : {softmax.most, softmax.total, softmax.product}) {
    const std::vector<NodeId> own = VariablesOf(stage(number));
    stage(number).useful = UsefulElements{
        .end = visible.end ? *OverAxesOf(c, visible.end, axes, own) : keys,
        .begin = OverAxesOf(c, visible.begin, axes, own),
        .least = 1};
  }
  return OkStatus();
}

}  // namespace ember::schedule
