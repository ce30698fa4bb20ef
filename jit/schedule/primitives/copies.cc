// cache_read and pack: a stage reads a copy of one of its operands.
// cache_write: a stage stores to a buffer of its own, which another stage
// copies to the result.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "jit/schedule/core/dependences.h"
#include "jit/schedule/core/rewrite.h"
#include "jit/schedule/primitives/primitives.h"
#include "tensor/builder/linear.h"
#include "tensor/builder/simplify.h"
#include "tensor/names.h"
#include "tensor/range_rules.h"
#include "tensor/scalar.h"

namespace ember::schedule {
namespace {

using tensor::LinearSum;
using tensor::Node;
using tensor::Opcode;
using tensor::Simplifier;

struct CopyOperands {
  int stage = 0;
  uint32_t buffer = 0;
  std::vector<NodeId> loads;  // loads of the buffer in the stage, which will
                              // read the copy instead
};

NodeId Make(Computation& c, Opcode opcode, NodeId a, NodeId b) {
  const NodeId operands[] = {a, b};
  return Simplifier(c.pool).Make(opcode, DType::kI64, operands);
}

// Finds the stage's loads of the buffer, which are to read a copy instead.
StatusOr<CopyOperands> FindOperands(const Schedule& schedule,
                                    const StageRef& reader,
                                    const BufferRef& buffer,
                                    const std::string& copy) {
  CopyOperands operands;
  EMBER_ASSIGN_OR_RETURN(operands.stage, Find(schedule, reader));
  EMBER_ASSIGN_OR_RETURN(operands.buffer, Find(schedule, buffer));
  const Computation& computation = schedule.computation();
  if (!tensor::IsPlainName(copy) || computation.FindBuffer(copy) >= 0) {
    return InvalidArgumentError("expected a new name for the copy, found '" +
                                copy + "'");
  }
  const ComputationStage& stage = computation.stages[operands.stage];
  for (const ComputationStore& store : stage.stores) {
    if (store.buffer == operands.buffer)
      return FailedPreconditionError("the stage stores to the buffer");
  }
  ForEachLoad(computation.pool, RootsOf(stage), [&](NodeId load) {
    if (computation.pool[load].buffer == operands.buffer)
      operands.loads.push_back(load);
  });
  if (operands.loads.empty())
    return FailedPreconditionError("the stage does not read the buffer");
  // The new stage is not attached to a loop, so it runs before the reading
  // stage and all stages around it. A buffer that is computed in a loop does
  // not exist yet then.
  for (size_t i = 0; i < computation.stages.size(); ++i) {
    if (schedule.plan(static_cast<int>(i)).attach_stage < 0) continue;
    for (const ComputationStore& store : computation.stages[i].stores) {
      if (store.buffer != operands.buffer) continue;
      return FailedPreconditionError("%" + computation.stages[i].name +
                                     " is computed in a loop: copy it before");
    }
  }
  for (NodeId load : operands.loads) {
    if (IsSafe(computation, load)) continue;
    return FailedPreconditionError(
        "an index is checked when the program runs, against this buffer");
  }
  return operands;
}

bool AreConstant(const Computation& c, const std::vector<NodeId>& extents) {
  return std::ranges::all_of(
      extents, [&](NodeId extent) { return c.pool.IsConstant(extent); });
}

// Returns the role of a copy's buffer. once: true if the copy is made of a
// constant. A copy from which a packed buffer is computed must be packed, too.
BufferRole RoleOfCopy(const Computation& c, int reader, bool once) {
  for (const ComputationStore& store : c.stages[reader].stores)
    once |= c.buffers[store.buffer].role == BufferRole::kPacked;
  return once ? BufferRole::kPacked : BufferRole::kTemporary;
}

// Adds the buffer `copy` and a stage that fills it, and makes the reader load
// from it. indices(load) returns the indices with which a former load reads the
// copy.
template <typename Indices>
void InsertCopy(Schedule& schedule, const CopyOperands& operands,
                ComputationBuffer copy, ComputationStage stage,
                Indices&& indices) {
  Computation& c = schedule.mutable_computation();
  const uint32_t number = static_cast<uint32_t>(c.buffers.size());
  c.buffers.push_back(std::move(copy));
  stage.name = c.buffers.back().name;
  ComputationStore store;
  store.buffer = number;
  for (const ComputationAxis& axis : stage.axes)
    store.indices.push_back(axis.variable);
  stage.spatial_count = static_cast<int>(stage.axes.size());
  stage.stores.push_back(std::move(store));
  const DType type = c.buffers[number].type;
  const auto is_load = [&](NodeId id) {
    const Node& node = c.pool[id];
    return (node.opcode == Opcode::kLoad || node.opcode == Opcode::kPad) &&
           node.buffer == operands.buffer;
  };
  Rewriter rewriter(c.pool, c.pool, [&](NodeId id) -> std::optional<NodeId> {
    // A cast of a load becomes a cast of the copy's element. The element is not
    // cast to the buffer's type in between.
    const Node node = c.pool[id];
    const bool casts =
        node.opcode == Opcode::kCast && is_load(node.operands[0]);
    if (!casts && !is_load(id)) return std::nullopt;
    const NodeId load = casts ? node.operands[0] : id;
    const NodeId read = c.pool.Intern(Opcode::kLoad, type, indices(load), 0,
                                      c.pool[load].scope, number);
    return Simplifier(c.pool).Make(Opcode::kCast, node.type, {&read, 1});
  });
  ComputationStage& reader = c.stages[operands.stage];
  reader.values = rewriter.Rewrite(reader.values);
  for (ComputationStore& reader_store : reader.stores)
    reader_store.indices = rewriter.Rewrite(reader_store.indices);
  schedule.InsertStage(operands.stage, std::move(stage));
}

// True if `type` can represent all values of the type `values` and both are
// integers or both are floats.
bool Holds(DType type, DType values) {
  if (type == values) return true;
  const int wider = DTypeByteSize(type) - DTypeByteSize(values);
  if (IsFloat(type) && IsFloat(values)) return wider > 0;
  return IsInteger(type) && IsInteger(values) && wider > 0 &&
         (IsSigned(type) || !IsSigned(values));
}

// Returns the type of the copy: `wanted` if it is given, otherwise the buffer's
// type. Returns an error if the type does not hold all values of the buffer's.
StatusOr<DType> TypeOfCopy(std::optional<DType> wanted, DType buffer) {
  const DType type = wanted.value_or(buffer);
  if (Holds(type, buffer)) return type;
  return FailedPreconditionError(std::string(DTypeName(type)) +
                                 " does not hold all values of " +
                                 std::string(DTypeName(buffer)));
}

// --- cache_read ---

// The smallest and the largest value of an index, over all values of a stage's
// axes.
struct Bounds {
  NodeId low = 0;
  NodeId high = 0;
};

// Returns the largest value of the sum if `high` is true, otherwise the
// smallest: the constant, plus coefficient * (extent - 1) for each term with a
// positive coefficient (for the smallest value: a negative one).
NodeId End(Computation& c, const LinearSum& sum, bool high) {
  NodeId end = c.pool.Integer(sum.constant);
  for (const tensor::LinearTerm& term : sum.terms) {
    if ((term.coefficient > 0) != high) continue;
    const NodeId last = Make(c, Opcode::kSubtract,
                             c.pool[term.node].operands[0], c.pool.Integer(1));
    end = Make(
        c, Opcode::kAdd, end,
        Make(c, Opcode::kMultiply, last, c.pool.Integer(term.coefficient)));
  }
  return end;
}

std::optional<Bounds> BoundsOf(Computation& c, NodeId index) {
  const std::optional<LinearSum> sum = tensor::Linearize(c.pool, index);
  if (!sum || tensor::RangeOfLinear(c.pool, *sum).IsFull()) return std::nullopt;
  for (const tensor::LinearTerm& term : sum->terms) {
    if (c.pool[term.node].opcode != Opcode::kAxis) return std::nullopt;
  }
  return Bounds{End(c, *sum, false), End(c, *sum, true)};
}

// Returns the bounds of the indices of dim `d` in all loads together. If they
// are not known, returns those of the whole dim. Returns nullopt if they are
// not known and a padded load may be outside of the dim.
std::optional<Bounds> BoundsOfDim(Computation& c, const CopyOperands& operands,
                                  size_t d) {
  std::optional<Bounds> all;
  for (NodeId load : operands.loads) {
    std::optional<Bounds> bounds = BoundsOf(c, c.pool[load].operands[d]);
    if (!bounds) {
      const NodeId extent = c.buffers[operands.buffer].extents[d];
      const tensor::Interval values = c.pool[c.pool[load].operands[d]].range;
      const bool is_inside =
          values.low >= 0 && values.high < c.pool[extent].range.low;
      if (c.pool[load].opcode == Opcode::kPad && !is_inside)
        return std::nullopt;
      bounds = Bounds{c.pool.Integer(0),
                      Make(c, Opcode::kSubtract, extent, c.pool.Integer(1))};
    }
    if (all) {
      bounds->low = Make(c, Opcode::kMinimum, all->low, bounds->low);
      bounds->high = Make(c, Opcode::kMaximum, all->high, bounds->high);
    }
    all = bounds;
  }
  return all;
}

// Returns the default value of all padded loads; nullopt if no load is padded.
// Returns an error if two loads have different default values, if only some
// loads are padded, or if the default value is not constant.
StatusOr<std::optional<NodeId>> DefaultOf(const Computation& c,
                                          const CopyOperands& operands) {
  std::optional<NodeId> common;
  for (size_t i = 0; i < operands.loads.size(); ++i) {
    const Node& node = c.pool[operands.loads[i]];
    std::optional<NodeId> value;
    if (node.opcode == Opcode::kPad) value = node.operands.back();
    if (i > 0 && value != common) {
      return FailedPreconditionError(
          "the stage pads the buffer in different ways");
    }
    common = value;
  }
  if (common && !c.pool.IsConstant(*common))
    return FailedPreconditionError("the value that pads the buffer varies");
  return common;
}

// --- pack ---

// Checks that the layout contains each of `rank` dims exactly once: whole, or
// as quotient and remainder by one factor.
Status CheckLayout(const std::vector<LayoutDim>& layout, size_t rank) {
  if (layout.empty())
    return InvalidArgumentError("expected a layout of one dim or more");
  std::vector<int64_t> quotients(rank, 0), remainders(rank, 0);
  for (const LayoutDim& dim : layout) {
    if (dim.dim >= rank || dim.factor < 1 || dim.factor > tensor::kMaxExtent) {
      return InvalidArgumentError(
          "expected d, d/n or d%n with d in 0.." +
          std::to_string(static_cast<int64_t>(rank) - 1) + ", found '" +
          ToText(dim) + "'");
    }
    using enum LayoutDim::Part;
    const int64_t factor = dim.part == kWhole ? 1 : dim.factor;
    const bool again = (dim.part != kRemainder && quotients[dim.dim] != 0) ||
                       (dim.part != kQuotient && remainders[dim.dim] != 0);
    if (again) {
      return InvalidArgumentError("expected each part of a dim once, found '" +
                                  ToText(dim) + "' again");
    }
    if (dim.part != kRemainder) quotients[dim.dim] = factor;
    if (dim.part != kQuotient) remainders[dim.dim] = factor;
  }
  for (size_t d = 0; d < rank; ++d) {
    if (quotients[d] == remainders[d] && quotients[d] != 0) continue;
    return InvalidArgumentError("expected dim " + std::to_string(d) +
                                " whole, or as d/n and d%n with one n");
  }
  return OkStatus();
}

// Returns the numbers of the buffer's dims in the order of the copy: `dims`, or
// all dims in order if `dims` is empty. Returns an error if `dims` does not
// name each dim exactly once.
StatusOr<std::vector<size_t>> OrderOfCopy(const std::vector<size_t>& dims,
                                          size_t rank) {
  std::vector<size_t> order;
  if (dims.empty()) {
    for (size_t d = 0; d < rank; ++d) order.push_back(d);
    return order;
  }
  for (const size_t dim : dims) {
    if (dim >= rank || std::ranges::find(order, dim) != order.end()) {
      return InvalidArgumentError(
          "expected a type or dims of the buffer, each once, found '" +
          std::to_string(dim) + "'");
    }
    order.push_back(dim);
  }
  if (order.size() == rank) return order;
  return InvalidArgumentError("expected all " + std::to_string(rank) +
                              " dims of the buffer, found " +
                              std::to_string(order.size()));
}

// Returns the index of the layout's dim for an index of the buffer's dim: the
// index itself, its quotient or its remainder.
NodeId PartOf(Computation& c, const LayoutDim& dim, NodeId index) {
  const NodeId factor = c.pool.Integer(dim.factor);
  switch (dim.part) {
    case LayoutDim::Part::kWhole:
      return index;
    case LayoutDim::Part::kQuotient:
      return Make(c, Opcode::kFloorDivide, index, factor);
    case LayoutDim::Part::kRemainder:
      return Make(c, Opcode::kModulo, index, factor);
  }
  return index;
}

NodeId ExtentOf(Computation& c, const LayoutDim& dim, NodeId extent) {
  if (dim.part == LayoutDim::Part::kRemainder)
    return c.pool.Integer(dim.factor);
  return PartOf(c, dim,
                Make(c, Opcode::kAdd, extent, c.pool.Integer(dim.factor - 1)));
}

// Clamps the integer to the range. That changes no value, but later passes can
// derive the range from the expression.
NodeId Clamped(Computation& c, NodeId element, tensor::Interval range) {
  const DType type = c.pool[element].type;
  const auto limit = [&](Opcode opcode, int64_t value) {
    const NodeId operands[] = {
        element, c.pool.Constant(tensor::IntegerToBits(value, type), type)};
    element = Simplifier(c.pool).Make(opcode, type, operands);
  };
  const tensor::Interval all = tensor::RangeOfType(type);
  if (range.low > all.low) limit(Opcode::kMaximum, range.low);
  if (range.high < all.high) limit(Opcode::kMinimum, range.high);
  return element;
}

// True if a plain load of a copy with this layout can replace the padded load:
// the default value is 0, and every index is provably inside of the copy. The
// quotients and remainders of the layout may cover more elements than the dim
// has; the copy has zeros there.
bool CopyHasZeros(Computation& c, const std::vector<LayoutDim>& layout,
                  NodeId pad) {
  const Node node = c.pool[pad];
  const Node value = c.pool[node.operands.back()];
  if (value.opcode != Opcode::kConstant ||
      value.immediate != tensor::ZeroBits(node.type)) {
    return false;
  }
  for (const LayoutDim& dim : layout) {
    if (dim.part == LayoutDim::Part::kRemainder) continue;
    NodeId end = ExtentOf(c, dim, c.buffers[node.buffer].extents[dim.dim]);
    if (dim.part == LayoutDim::Part::kQuotient)
      end = Make(c, Opcode::kMultiply, end, c.pool.Integer(dim.factor));
    if (!tensor::ProvablyInBounds(c.pool, node.operands[dim.dim], end))
      return false;
  }
  return true;
}

}  // namespace

Status Change(const CacheRead& step, Schedule& schedule) {
  EMBER_ASSIGN_OR_RETURN(
      const CopyOperands operands,
      FindOperands(schedule, step.reader, step.buffer, step.copy));
  Computation& c = schedule.mutable_computation();
  EMBER_ASSIGN_OR_RETURN(const std::optional<NodeId> padding,
                         DefaultOf(c, operands));
  const ComputationBuffer source = c.buffers[operands.buffer];
  EMBER_ASSIGN_OR_RETURN(const std::vector<size_t> order,
                         OrderOfCopy(step.dims, source.extents.size()));
  EMBER_ASSIGN_OR_RETURN(const DType type, TypeOfCopy(step.type, source.type));
  ComputationBuffer copy{.name = step.copy,
                         .type = type,
                         .role = RoleOfCopy(c, operands.stage, false),
                         .extents = {}};
  ComputationStage stage;
  std::vector<NodeId> lows(order.size()), indices(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const size_t d = order[i];
    const std::optional<Bounds> bounds = BoundsOfDim(c, operands, d);
    if (!bounds) {
      return FailedPreconditionError("index " + std::to_string(d) +
                                     " of a padded load is not a sum of axes");
    }
    NodeId extent = Make(c, Opcode::kAdd,
                         Make(c, Opcode::kSubtract, bounds->high, bounds->low),
                         c.pool.Integer(1));
    extent = Make(c, Opcode::kMaximum, extent, c.pool.Integer(0));
    // If the source's dim is empty, the copy's dim must be empty, too. The
    // bounds do not show it, because they are computed as if each axis had at
    // least one point.
    if (!padding && c.pool.IntegerConstant(source.extents[d]) == 0)
      extent = c.pool.Integer(0);
    copy.extents.push_back(extent);
    stage.axes.push_back(c.MakeAxis("c" + std::to_string(i), extent));
    lows[d] = bounds->low;
    indices[d] = Make(c, Opcode::kAdd, stage.axes.back().variable, bounds->low);
  }
  if (padding) indices.push_back(*padding);
  const NodeId element =
      c.pool.Intern(padding ? Opcode::kPad : Opcode::kLoad, source.type,
                    indices, 0, 1, operands.buffer);
  stage.values.push_back(
      Simplifier(c.pool).Make(Opcode::kCast, type, {&element, 1}));
  InsertCopy(
      schedule, operands, std::move(copy), std::move(stage), [&](NodeId load) {
        std::vector<NodeId> result;
        for (const size_t d : order) {
          result.push_back(
              Make(c, Opcode::kSubtract, c.pool[load].operands[d], lows[d]));
        }
        return result;
      });
  return OkStatus();
}

Status Change(const Pack& step, Schedule& schedule) {
  EMBER_ASSIGN_OR_RETURN(
      const CopyOperands operands,
      FindOperands(schedule, step.reader, step.buffer, step.copy));
  Computation& c = schedule.mutable_computation();
  const ComputationBuffer source = c.buffers[operands.buffer];
  if (step.range) {
    const bool is_range = step.range->low <= 0 && step.range->high >= 0;
    if (!is_range) {
      return InvalidArgumentError("expected a range that contains 0, found '" +
                                  ToText(*step.range) + "'");
    }
    const bool is_known =
        tensor::Intersect(source.values, tensor::RangeOfType(source.type))
            .Within(*step.range);
    if (!IsInteger(source.type) || !is_known) {
      return FailedPreconditionError("the elements of %" + source.name +
                                     " are not known to be in " +
                                     ToText(*step.range));
    }
  }
  const std::vector<LayoutDim>& layout = step.layout;
  EMBER_RETURN_IF_ERROR(CheckLayout(layout, source.extents.size()));
  EMBER_ASSIGN_OR_RETURN(const DType type, TypeOfCopy(step.type, source.type));
  for (NodeId load : operands.loads) {
    if (c.pool[load].opcode == Opcode::kPad && !CopyHasZeros(c, layout, load))
      return FailedPreconditionError(
          "the stage pads the buffer: cache_read it");
  }
  ComputationBuffer copy{
      .name = step.copy,
      .type = type,
      .role = RoleOfCopy(c, operands.stage,
                         source.is_constant && AreConstant(c, source.extents)),
      .extents = {}};
  ComputationStage stage;
  std::vector<NodeId> indices(source.extents.size(), c.pool.Integer(0));
  for (size_t i = 0; i < layout.size(); ++i) {
    const LayoutDim& dim = layout[i];
    const NodeId extent = ExtentOf(c, dim, source.extents[dim.dim]);
    copy.extents.push_back(extent);
    stage.axes.push_back(c.MakeAxis("p" + std::to_string(i), extent));
    NodeId part = stage.axes.back().variable;
    if (dim.part == LayoutDim::Part::kQuotient)
      part = Make(c, Opcode::kMultiply, part, c.pool.Integer(dim.factor));
    indices[dim.dim] = Make(c, Opcode::kAdd, indices[dim.dim], part);
  }
  // Elements of the copy beyond the end of the source are set to zero; results
  // do not depend on them.
  indices.push_back(
      c.pool.Constant(tensor::ZeroBits(source.type), source.type));
  NodeId element =
      c.pool.Intern(Opcode::kPad, source.type, indices, 0, 1, operands.buffer);
  if (step.range) element = Clamped(c, element, *step.range);
  stage.values.push_back(
      Simplifier(c.pool).Make(Opcode::kCast, type, {&element, 1}));
  InsertCopy(
      schedule, operands, std::move(copy), std::move(stage), [&](NodeId load) {
        std::vector<NodeId> result;
        for (const LayoutDim& dim : layout) {
          result.push_back(PartOf(c, dim, c.pool[load].operands[dim.dim]));
        }
        return result;
      });
  return OkStatus();
}

Status Change(const CacheWrite& step, Schedule& schedule) {
  EMBER_ASSIGN_OR_RETURN(const int number, Find(schedule, step.stage));
  Computation& c = schedule.mutable_computation();
  const ComputationStage whole = c.stages[number];
  if (!tensor::IsPlainName(step.computing) ||
      c.FindBuffer(step.computing) >= 0) {
    return InvalidArgumentError(
        "expected a new name for the results in progress, found '" +
        step.computing + "'");
  }
  if (whole.stores.size() != 1)
    return FailedPreconditionError("the stage stores several values");
  EMBER_RETURN_IF_ERROR(CheckUnchanged(schedule, number, "cache_write"));
  const ComputationStore& store = whole.stores[0];
  const DType type = c.buffers[store.buffer].type;
  // cache_write makes two stages. The one that computes the values gets the new
  // name.
  ComputationStage computing = whole;
  computing.name = step.computing;
  ComputationStore kept;
  kept.buffer = static_cast<uint32_t>(c.buffers.size());
  ComputationBuffer cache{.name = step.computing,
                          .type = type,
                          .role = RoleOfCopy(c, number, false),
                          .extents = {}};
  // The stage that copies the values to the result keeps the old name, and has
  // new axes.
  ComputationStage copying;
  copying.name = whole.name;
  std::vector<NodeId> points;
  for (int a = 0; a < whole.spatial_count; ++a) {
    const ComputationAxis& axis = whole.axes[a];
    kept.indices.push_back(axis.variable);
    cache.extents.push_back(axis.extent);
    copying.axes.push_back(c.MakeAxis(axis.name, axis.extent));
    points.push_back(copying.axes.back().variable);
  }
  copying.spatial_count = whole.spatial_count;
  copying.values.push_back(
      c.pool.Intern(Opcode::kLoad, type, points, 0, /*scope=*/1, kept.buffer));
  Rewriter rewriter(c.pool, c.pool, [&](NodeId id) -> std::optional<NodeId> {
    const auto axis = std::ranges::find(kept.indices, id);
    if (axis == kept.indices.end()) return std::nullopt;
    return points[static_cast<size_t>(axis - kept.indices.begin())];
  });
  copying.stores.push_back(
      {store.buffer, rewriter.Rewrite(store.indices), store.update});
  computing.stores = {std::move(kept)};
  c.buffers.push_back(std::move(cache));
  c.stages[number] = std::move(copying);
  schedule.mutable_plan(number) = DefaultPlan(c.stages[number]);
  schedule.InsertStage(number, std::move(computing));
  return OkStatus();
}

}  // namespace ember::schedule
