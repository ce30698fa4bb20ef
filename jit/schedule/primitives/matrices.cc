// multiply_matrices: three loops become a product of matrices of subgroups.
#include <string>
#include <utility>
#include <vector>

#include "jit/loops/analysis/matrix_operation.h"
#include "jit/schedule/core/dependences.h"
#include "jit/schedule/primitives/primitives.h"
#include "tensor/builder/coefficient.h"

namespace ember::schedule {
namespace {

using tensor::Node;
using tensor::Opcode;

// Checks the rules for a stage that has loops marked as matrix products.
class MatrixChecker {
 public:
  MatrixChecker(const Schedule& schedule, int number)
      : schedule_(schedule),
        c_(schedule.computation()),
        number_(number),
        stage_(c_.stages[number]),
        plan_(schedule.plan(number)) {}

  Status Check() const {
    EMBER_RETURN_IF_ERROR(CheckInnermost());
    EMBER_RETURN_IF_ERROR(CheckOthers());
    EMBER_RETURN_IF_ERROR(CheckProduct());
    return CheckNothingInside();
  }

 private:
  static Status Refused(std::string reason) {
    return FailedPreconditionError(std::move(reason));
  }
  const Loop& LoopAt(size_t position) const {
    return plan_.loops[plan_.order[position]];
  }

  // Checks that exactly the three innermost loops are marked: rows, columns and
  // steps, in this order.
  Status CheckInnermost() const {
    const size_t count = plan_.order.size();
    for (size_t i = 0; i < count; ++i) {
      const Loop& loop = LoopAt(i);
      const std::string name = "loop '" + loop.name + "' ";
      const bool is_innermost = i + 3 >= count;
      if ((loop.mark == LoopMark::kMatrix) != is_innermost) {
        return Refused(name + (is_innermost ? "is inside a matrix"
                                            : "is not one of the innermost "
                                              "three"));
      }
      if (!is_innermost) continue;
      if (loop.is_reduction != (i + 1 == count)) {
        return Refused(name + (loop.is_reduction
                                   ? "combines elements: rows and columns "
                                     "combine none"
                                   : "combines nothing, as steps do"));
      }
      if (loop.origin != Loop::Origin::kInner || loop.factor < 2 ||
          loop.factor > loops::kMaxMatrixExtent) {
        return Refused(name + "is not the inner one of a split into 2 to " +
                       std::to_string(loops::kMaxMatrixExtent));
      }
    }
    return OkStatus();
  }

  // Checks the loops around the three matrix loops. Loops whose variable
  // selects one of a subgroup's accumulators must be unrolled, because
  // accumulators are registers.
  Status CheckOthers() const {
    bool is_inside = false, combines = false;
    for (size_t i = 0; i + 3 < plan_.order.size(); ++i) {
      const Loop& loop = LoopAt(i);
      const std::string name = "loop '" + loop.name + "' ";
      combines |= loop.is_reduction;
      if (loop.mark == LoopMark::kSubgroup && loop.is_reduction)
        return Refused(name + "combines elements: subgroups combine none");
      if (loop.mark == LoopMark::kVector ||
          loop.mark == LoopMark::kInvocation) {
        return Refused(name + "is a vector or bound, around matrices");
      }
      const bool is_open = loop.mark == LoopMark::kSerial && !loop.is_reduction;
      if (combines && is_open) {
        return Refused(name +
                       "is serial, inside a reduction: its matrices are "
                       "registers, unroll it");
      }
      is_inside |= loop.mark == LoopMark::kSubgroup;
    }
    return is_inside ? OkStatus()
                     : Refused("no loop around the matrices is of subgroups");
  }

  Status CheckProduct() const {
    const bool is_product =
        stage_.combiner == tensor::Combiner::kSum &&
        stage_.values.size() == 1 &&
        c_.pool[stage_.values[0]].opcode == Opcode::kMultiply;
    if (!is_product) return Refused("the stage is no sum of products");
    const Node& product = c_.pool[stage_.values[0]];
    std::vector<NodeId> loads;
    for (NodeId factor : product.operands) {
      const bool is_cast = c_.pool[factor].opcode == Opcode::kCast;
      const NodeId load = is_cast ? c_.pool[factor].operands[0] : factor;
      const Opcode opcode = c_.pool[load].opcode;
      if (opcode != Opcode::kLoad && opcode != Opcode::kPad)
        return Refused("a factor is not a load that is widened");
      loads.push_back(load);
    }
    // The type in which the stage accumulates must be its own type. A sum in
    // f16 accumulates in f32 and is rounded at the end, so it cannot be made of
    // matrices directly.
    const DType sum = AccumulatorType(stage_.combiner, product.type);
    const DType a = c_.pool[loads[0]].type, b = c_.pool[loads[1]].type;
    if (sum != product.type || !loops::IsMatrixProductType(a, b, sum)) {
      return Refused("there are no matrices of " + std::string(DTypeName(a)) +
                     " and " + std::string(DTypeName(b)) + " in " +
                     std::string(DTypeName(product.type)));
    }
    if (stage_.stores[0].update != tensor::Update::kAssign)
      return Refused("the stage updates what it stores to: cache_write it");
    for (size_t i = 0; i < 2; ++i) {
      const bool rows = Moves(loads[i], 3), columns = Moves(loads[i], 2);
      const bool other_rows = Moves(loads[1 - i], 3);
      if (rows != other_rows && rows != columns) continue;
      return Refused(
          "one factor has to move with the rows, the other with the "
          "columns");
    }
    return OkStatus();
  }

  // True if the load depends on the axis of a loop: the one at position
  // `from_end`, counted from the innermost loop, which is 1. Also true if the
  // loop was fused from others.
  bool Moves(NodeId load, size_t from_end) const {
    int loop = plan_.order[plan_.order.size() - from_end];
    while (plan_.loops[loop].origin == Loop::Origin::kInner ||
           plan_.loops[loop].origin == Loop::Origin::kOuter) {
      loop = plan_.loops[loop].parent;
    }
    if (plan_.loops[loop].origin != Loop::Origin::kAxis) return true;
    return tensor::DependsOn(c_.pool, load,
                             stage_.axes[plan_.loops[loop].axis].variable);
  }

  Status CheckNothingInside() const {
    int position = 0;
    while (LoopAt(static_cast<size_t>(position)).mark != LoopMark::kSubgroup)
      ++position;
    for (size_t i = 0; i < c_.stages.size(); ++i) {
      const StagePlan& inner = schedule_.plan(static_cast<int>(i));
      if (inner.attach_stage != number_ ||
          plan_.PositionOf(inner.attach_loop) < position) {
        continue;
      }
      return Refused("%" + c_.stages[i].name + " is computed inside loop '" +
                     LoopAt(static_cast<size_t>(position)).name +
                     "', which is of subgroups");
    }
    return OkStatus();
  }

  const Schedule& schedule_;
  const Computation& c_;
  int number_;
  const ComputationStage& stage_;
  const StagePlan& plan_;
};

}  // namespace

Status CheckMatrixLoops(const Schedule& schedule, int stage) {
  if (!schedule.plan(stage).MultipliesMatrices()) return OkStatus();
  return MatrixChecker(schedule, stage).Check();
}

Status Change(const MultiplyMatrices& step, Schedule& schedule) {
  EMBER_ASSIGN_OR_RETURN(const int stage, Find(schedule, step.subgroups.stage));
  std::vector<int> loops;
  for (const LoopRef* ref :
       {&step.subgroups, &step.rows, &step.columns, &step.steps}) {
    EMBER_ASSIGN_OR_RETURN(const int number, Find(schedule, stage, *ref));
    Loop& loop = schedule.mutable_plan(stage).loops[number];
    if (loop.mark != LoopMark::kSerial) {
      return FailedPreconditionError("loop '" + loop.name +
                                     "' is marked already: mark loops last");
    }
    loop.mark = loops.empty() ? LoopMark::kSubgroup : LoopMark::kMatrix;
    if (!loop.is_reduction)
      EMBER_RETURN_IF_ERROR(CheckMark(schedule, stage, number));
    loops.push_back(number);
  }
  // The loops must be nested in the order of the operands: rows, columns,
  // steps.
  const StagePlan& plan = schedule.plan(stage);
  for (size_t i = 2; i < loops.size(); ++i) {
    const int outer = loops[i - 1], inner = loops[i];
    if (plan.PositionOf(inner) == plan.PositionOf(outer) + 1) continue;
    return FailedPreconditionError("loop '" + plan.loops[inner].name +
                                   "' is not right inside loop '" +
                                   plan.loops[outer].name + "'");
  }
  // CheckMatrixLoops checks if the marks are allowed. It runs after this
  // primitive and after each later one, which may break its rules.
  return OkStatus();
}

}  // namespace ember::schedule
