
#include "jit/schedule/core/shorten_loops.h"

#include <optional>
#include <set>
#include <vector>

#include "jit/schedule/core/loop_bounds.h"
#include "jit/schedule/core/rewrite.h"
#include "tensor/builder/simplify.h"

namespace ember::schedule {
namespace {

using tensor::Opcode;

// Smallest number of iterations of the inner loop of a split axis that is
// shortened together with the outer loop. A shorter inner loop keeps its
// constant extent, which makes faster code.
constexpr int64_t kLeastInner = 8;
// If a loop iterates over several elements at once and that number divides
// kUnit, the elements that it covers are extended to a multiple of kUnit. The
// loops of all stages of a tile then cover the same part, with equal
// expressions for its begin and end.
constexpr int64_t kUnit = 16;

class Shortener {
 public:
  Shortener(const Computation& computation, StageLoops& loops,
            loops::LoopNest& nest)
      : stage_(computation.stages[static_cast<size_t>(loops.stage)]),
        computation_(computation),
        s_(loops),
        nest_(nest) {}

  void Run() {
    s_.shortened.resize(stage_.axes.size());
    for (int a = 0; a < stage_.spatial_count; ++a) {
      const std::optional<AxisPart> part =
          s_.regions[static_cast<size_t>(a)].needed;
      if (part) Shorten(a, {.begin = part->begin, .end = part->end});
    }
    // The range of useful elements may depend on the stage's spatial loops, so
    // these are shortened first.
    if (!stage_.useful) return;
    Rewriter rewriter = ToLoops(computation_, s_, nest_.pool);
    Needed needed{.begin = std::nullopt,
                  .end = rewriter.Rewrite(stage_.useful->end),
                  .step = stage_.useful->step,
                  .least = stage_.useful->least};
    if (stage_.useful->begin)
      needed.begin = rewriter.Rewrite(*stage_.useful->begin);
    Shorten(stage_.spatial_count, needed);
  }

 private:
  // The elements of an axis that are needed. The fields have the meaning that
  // they have in UsefulElements.
  struct Needed {
    std::optional<NodeId> begin;
    NodeId end = 0;
    int64_t step = 1;
    int64_t least = 0;
  };
  // One of the loops that an axis is split into, and the number of the axis'
  // elements that one of its iterations covers.
  struct Digit {
    int loop = 0;
    int64_t size = 1;
  };

  NodeId Make(Opcode opcode, NodeId a, NodeId b) {
    const NodeId operands[] = {a, b};
    return tensor::Simplifier(nest_.pool).Make(opcode, DType::kI64, operands);
  }
  NodeId MakeBy(Opcode opcode, NodeId a, int64_t b) {
    return Make(opcode, a, nest_.pool.Integer(b));
  }

  void Shorten(int axis, const Needed& needed) {
    const std::vector<Digit> digits = DigitsOf(axis);
    if (digits.empty() || !MayShorten(digits[0].loop)) return;
    const NodeId whole = s_.extents[digits[0].loop];
    const std::optional<AxisPart> covered = ShortenOuter(digits[0], needed);
    if (!covered) return;
    std::optional<ShortenedAxis>& shortened =
        s_.shortened[static_cast<size_t>(axis)];
    shortened = {.part = *covered, .loop = digits[0].loop};
    // In the first and the last iteration of the outer loop, maybe only a part
    // of the elements is needed. So the inner loop is shortened, too, if it is
    // right inside the outer one and long enough.
    if (digits.size() < 2 || !MayShorten(digits[1].loop) ||
        s_.plan->PositionOf(digits[1].loop) !=
            s_.plan->PositionOf(digits[0].loop) + 1) {
      return;
    }
    const std::optional<int64_t> count =
        nest_.pool.IntegerConstant(s_.extents[digits[1].loop]);
    if (!count || *count < kLeastInner ||
        *count * digits[1].size != digits[0].size) {
      return;
    }
    const std::optional<AxisPart> inner =
        ShortenInner(digits[0], digits[1], needed, whole);
    if (inner) shortened->part = *inner;
  }

  // Returns the loops that an axis was split into, the outermost first. Returns
  // no loops if the outermost was fused with another loop.
  std::vector<Digit> DigitsOf(int axis) const {
    int current = -1;
    for (size_t i = 0; i < s_.plan->loops.size(); ++i) {
      const Loop& loop = s_.plan->loops[i];
      if (loop.origin == Loop::Origin::kAxis && loop.axis == axis)
        current = static_cast<int>(i);
    }
    std::vector<Digit> digits;
    int64_t size = 1;
    while (current >= 0 && s_.plan->PositionOf(current) < 0) {
      const int outer = OuterPartOf(current);
      // The two loops that a split makes have consecutive numbers: the outer
      // one, then the inner one.
      if (outer >= 0 && s_.plan->PositionOf(outer + 1) >= 0)
        digits.insert(digits.begin(), Digit{outer + 1, size});
      if (outer >= 0) size *= s_.plan->loops[static_cast<size_t>(outer)].factor;
      current = outer;
    }
    if (current < 0) return {};
    digits.insert(digits.begin(), Digit{current, size});
    return digits;
  }

  int OuterPartOf(int number) const {
    for (size_t i = 0; i < s_.plan->loops.size(); ++i) {
      const Loop& loop = s_.plan->loops[i];
      if (loop.origin == Loop::Origin::kOuter && loop.parent == number)
        return static_cast<int>(i);
    }
    return -1;
  }

  bool MayShorten(int loop) const {
    const Loop& l = s_.plan->loops[static_cast<size_t>(loop)];
    // A spatial loop inside the reduction keeps its extent, because the buffer
    // of the results in progress has an element for each of its iterations.
    return l.mark == LoopMark::kSerial &&
           nest_.pool[s_.values[loop]].opcode == Opcode::kAxis &&
           (l.is_reduction || s_.plan->PositionOf(loop) < s_.FirstReduction());
  }

  // Returns the variables of all loops that are nested in the loop.
  std::set<NodeId> VariablesInside(int loop) const {
    std::set<NodeId> inside;
    const auto& order = s_.plan->order;
    for (size_t i = static_cast<size_t>(s_.plan->PositionOf(loop)) + 1;
         i < order.size(); ++i) {
      inside.insert(s_.values[order[i]]);
    }
    return inside;
  }

  // Returns the unit of a shortened loop: it begins and ends at elements whose
  // number is a multiple of the unit.
  static int64_t UnitOf(const Digit& digit) {
    const bool is_rounded = digit.size > 1 && kUnit % digit.size == 0;
    return is_rounded ? kUnit : digit.size;
  }

  // Returns a part of the axis, counted in units, that contains all that at
  // least one iteration of the loops inside needs; nullopt if its end is not
  // known. whole: the number of units of the axis.
  std::optional<AxisPart> UnitsOf(const Needed& needed, int64_t unit,
                                  NodeId whole,
                                  const std::set<NodeId>& inside) {
    LoopBounds bounds(inside, nest_.pool);
    const int64_t size = needed.step * unit;
    const std::optional<NodeId> last =
        bounds.Largest(MakeBy(Opcode::kAdd, needed.end, size - 1));
    if (!last) return std::nullopt;
    NodeId end = MakeBy(Opcode::kFloorDivide, *last, size);
    if (nest_.pool[end].range.low < needed.least)
      end = MakeBy(Opcode::kMaximum, end, needed.least);
    end = Make(Opcode::kMinimum, whole, end);
    const std::optional<NodeId> first =
        needed.begin ? bounds.Smallest(*needed.begin) : std::nullopt;
    if (!first) return AxisPart{nest_.pool.Integer(0), end};
    NodeId begin = MakeBy(Opcode::kFloorDivide, *first, size);
    // If some elements must be combined (`least`), the part must not end before
    // it begins.
    if (needed.least > 0) {
      begin = Make(Opcode::kMinimum, begin,
                   MakeBy(Opcode::kSubtract, end, needed.least));
    }
    return AxisPart{MakeBy(Opcode::kMaximum, begin, 0), end};
  }

  AxisPart Times(const AxisPart& part, int64_t factor) {
    return {MakeBy(Opcode::kMultiply, part.begin, factor),
            MakeBy(Opcode::kMultiply, part.end, factor)};
  }

  // Shortens the loop. Returns the part of the axis that it then covers, in
  // elements; nullopt if the loop stays as it was.
  std::optional<AxisPart> ShortenOuter(const Digit& digit,
                                       const Needed& needed) {
    const NodeId whole = s_.extents[digit.loop];
    const int64_t unit = UnitOf(digit);
    const std::optional<AxisPart> units =
        UnitsOf(needed, unit, UnitsIn(whole, digit.size, unit),
                VariablesInside(digit.loop));
    if (!units) return std::nullopt;
    const AxisPart covered = Times(*units, unit / digit.size);
    const NodeId end = Make(Opcode::kMinimum, whole, covered.end);
    const bool is_moved = nest_.pool.IntegerConstant(covered.begin) != 0;
    if (end == whole && !is_moved) return std::nullopt;
    Replace(digit.loop, Make(Opcode::kSubtract, end, covered.begin),
            covered.begin);
    return Times(*units, unit);
  }

  // Returns the number of units of `unit` elements that contain `count`
  // iterations of `size` elements each.
  NodeId UnitsIn(NodeId count, int64_t size, int64_t unit) {
    const NodeId elements = MakeBy(Opcode::kMultiply, count, size);
    return MakeBy(Opcode::kFloorDivide,
                  MakeBy(Opcode::kAdd, elements, unit - 1), unit);
  }

  // Shortens the inner loop of a split axis in those iterations of the
  // shortened outer loop in which the needed part begins or ends. Returns the
  // part that the two loops then cover; nullopt if the inner loop stays as it
  // was. whole: number of iterations of the outer loop before it was shortened.
  std::optional<AxisPart> ShortenInner(const Digit& outer, const Digit& inner,
                                       const Needed& needed, NodeId whole) {
    const int64_t unit = UnitOf(inner);
    const std::optional<AxisPart> units =
        UnitsOf(needed, unit, UnitsIn(whole, outer.size, unit),
                VariablesInside(outer.loop));
    if (!units || unit > outer.size) return std::nullopt;
    // Number of iterations of the inner loop that precede the current iteration
    // of the outer loop.
    const NodeId before =
        MakeBy(Opcode::kMultiply,
               Make(Opcode::kAdd, s_.values[outer.loop], first_iteration_),
               outer.size / inner.size);
    const AxisPart covered = Times(*units, unit / inner.size);
    const NodeId first = MakeBy(
        Opcode::kMaximum, Make(Opcode::kSubtract, covered.begin, before), 0);
    const NodeId end = Make(Opcode::kMaximum, first,
                            Make(Opcode::kMinimum, s_.extents[inner.loop],
                                 Make(Opcode::kSubtract, covered.end, before)));
    Replace(inner.loop, Make(Opcode::kSubtract, end, first), first);
    return Times(*units, unit);
  }

  // Replaces the loop's variable by one with the same number and another
  // extent. The values of axes are then computed from this variable plus
  // `first`, the first iteration that is left.
  void Replace(int loop, NodeId extent, NodeId first) {
    tensor::ExpressionPool& pool = nest_.pool;
    const NodeId old = s_.values[loop], whole = s_.extents[loop];
    const tensor::Node node = pool[old];
    pool.Refine(extent, {0, INT64_MAX});
    const NodeId variable = pool.Intern(
        Opcode::kAxis, DType::kI64, {&extent, 1}, node.immediate, node.scope);
    const NodeId value = Make(Opcode::kAdd, variable, first);
    Rewriter rewriter(pool, pool, [&](NodeId id) -> std::optional<NodeId> {
      return id == old ? std::optional(value) : std::nullopt;
    });
    for (NodeId& other : s_.values) other = rewriter.Rewrite(other);
    for (NodeId& axis : s_.axes) axis = rewriter.Rewrite(axis);
    for (std::vector<Guard>* guards : {&s_.guards, &s_.exact}) {
      for (Guard& guard : *guards) {
        guard.a = rewriter.Rewrite(guard.a);
        guard.b = rewriter.Rewrite(guard.b);
      }
    }
    s_.values[loop] = variable;
    s_.extents[loop] = extent;
    first_iteration_ = first;
    // States as a fact for the verifier's proofs of bounds that the loop's
    // value is below the extent that the loop had before. The fact is left out
    // if the loop still begins at 0 and that extent is a constant, because
    // ranges then imply it.
    if (value == variable && pool.IsConstant(whole)) return;
    s_.guards.insert(
        s_.guards.begin(),
        Guard{value, whole, s_.plan->PositionOf(loop),
              s_.plan->loops[static_cast<size_t>(loop)].is_reduction,
              /*is_of_region=*/false, /*is_fact=*/true});
  }

  const ComputationStage& stage_;
  const Computation& computation_;
  StageLoops& s_;
  loops::LoopNest& nest_;
  NodeId first_iteration_ = 0;
};

}  // namespace

void ShortenLoops(const Computation& computation, StageLoops& loops,
                  loops::LoopNest& nest) {
  Shortener(computation, loops, nest).Run();
}

}  // namespace ember::schedule
