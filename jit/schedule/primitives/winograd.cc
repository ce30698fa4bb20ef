// winograd: replaces a convolution by products of transformed tiles.
#include <bit>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/rounding.h"
#include "jit/schedule/core/dependences.h"
#include "jit/schedule/core/rewrite.h"
#include "jit/schedule/primitives/primitives.h"
#include "jit/schedule/primitives/winograd_matrices.h"
#include "tensor/builder/linear.h"
#include "tensor/builder/simplify.h"
#include "tensor/names.h"
#include "tensor/scalar.h"

namespace ember::schedule {
namespace {

using tensor::Node;
using tensor::Opcode;
using tensor::Simplifier;

// The parts of a convolution, which must have this form:
//
//   y[n, h, w, o] = sum(p < r, q < r, c < C)
//                     pad(x[n, h + p + dh, w + q + dw, c], 0.0)
//                       * filter[p, q, c, o]
//
// with the dims of x and filter in any order. Either may be cast to f32.
struct Convolution {
  int taps = 0;       // number of taps of the filter along each dim, r
  NodeId x = 0;       // the load of the input x, padded or not
  NodeId filter = 0;  // the load of the filter
  // variables of the axes in the form above
  NodeId n = 0, h = 0, w = 0, o = 0, p = 0, q = 0, c = 0;
  // numbers of the dims of x that are indexed by rows, columns and channels
  size_t dim_h = 0, dim_w = 0, dim_c = 0;
  int64_t low_h = 0, low_w = 0;  // the constants dh and dw, which are minus the
                                 // padding
  int64_t rows = 0, columns = 0;
};

Status Refusal(const std::string& reason) {
  return FailedPreconditionError("not such a convolution: " + reason);
}

class Matcher {
 public:
  Matcher(const Schedule& schedule, int number)
      : schedule_(schedule),
        c_(schedule.computation()),
        stage_(c_.stages[number]),
        number_(number) {}

  StatusOr<Convolution> Run() {
    EMBER_RETURN_IF_ERROR(CheckStage());
    const Node& product = c_.pool[stage_.values[0]];
    const NodeId a = LoadOf(product.operands[0]);
    const NodeId b = LoadOf(product.operands[1]);
    result_.x = IsConstantLoad(b) ? a : b;
    result_.filter = IsConstantLoad(b) ? b : a;
    if (!IsConstantLoad(result_.filter))
      return Refusal("expected a filter of constants");
    EMBER_RETURN_IF_ERROR(MatchInput());
    EMBER_RETURN_IF_ERROR(MatchFilter());
    return result_;
  }

 private:
  Status CheckStage() const {
    if (schedule_.plan(number_).attach_stage >= 0)
      return FailedPreconditionError("the stage is computed in a loop already");
    const StagePlan& plan = schedule_.plan(number_);
    if (plan.loops.size() != stage_.axes.size())
      return FailedPreconditionError("the stage's loops are changed already");
    for (const Loop& loop : plan.loops) {
      if (loop.mark != LoopMark::kSerial)
        return FailedPreconditionError("the stage's loops are marked already");
    }
    for (int i = 0; i < static_cast<int>(c_.stages.size()); ++i) {
      if (schedule_.plan(i).attach_stage != number_) continue;
      return FailedPreconditionError("%" + c_.stages[i].name +
                                     " is computed in a loop of the stage");
    }
    if (stage_.combiner != tensor::Combiner::kSum ||
        stage_.values.size() != 1 || stage_.spatial_count != 4 ||
        stage_.axes.size() != 7 || stage_.end ||
        !StoresAreIdentity(c_, number_)) {
      return Refusal("expected sums over three axes for points of four");
    }
    const Node& product = c_.pool[stage_.values[0]];
    if (product.type != DType::kF32 || product.opcode != Opcode::kMultiply)
      return Refusal("expected sums of products of f32");
    for (NodeId factor : product.operands) {
      const Node& load = c_.pool[LoadOf(factor)];
      const bool is_load =
          load.opcode == Opcode::kLoad || load.opcode == Opcode::kPad;
      if (!is_load || c_.buffers[load.buffer].extents.size() != 4) {
        return Refusal("expected products of elements of two operands");
      }
    }
    return OkStatus();
  }

  NodeId LoadOf(NodeId factor) const {
    const Node& node = c_.pool[factor];
    return node.opcode == Opcode::kCast ? node.operands[0] : factor;
  }
  bool IsConstantLoad(NodeId id) const {
    return c_.pool[id].opcode == Opcode::kLoad &&
           c_.buffers[c_.pool[id].buffer].is_constant;
  }

  bool IsSpatial(size_t axis) const {
    return static_cast<int>(axis) < stage_.spatial_count;
  }
  std::optional<size_t> AxisOf(NodeId variable) const {
    for (size_t a = 0; a < stage_.axes.size(); ++a) {
      if (stage_.axes[a].variable == variable) return a;
    }
    return std::nullopt;
  }
  std::optional<int64_t> Extent(NodeId variable) const {
    return c_.pool.IntegerConstant(c_.pool[variable].operands[0]);
  }

  // Finds the dim of x whose index is `point` plus an axis of the sum plus a
  // constant, and sets `dim`, `tap` and `low` to the three.
  Status MatchWindow(NodeId point, size_t& dim, NodeId& tap, int64_t& low) {
    const Node& load = c_.pool[result_.x];
    for (dim = 0; dim < 4; ++dim) {
      const auto sum = tensor::Linearize(c_.pool, load.operands[dim]);
      if (!sum) return Refusal("expected indices that are sums of axes");
      int64_t stride = 0, dilation = 0;
      bool has_others = false;
      for (const tensor::LinearTerm& term : sum->terms) {
        const std::optional<size_t> axis = AxisOf(term.node);
        if (term.node == point) {
          stride = term.coefficient;
        } else if (axis && !IsSpatial(*axis) && dilation == 0) {
          tap = term.node;
          dilation = term.coefficient;
        } else {
          has_others = true;
        }
      }
      if (stride == 0) continue;
      if (stride != 1)
        return Refusal("expected stride 1, found " + std::to_string(stride));
      if (has_others || dilation == 0)
        return Refusal("expected indices of one point and one tap");
      if (dilation != 1) {
        return Refusal("expected dilation 1, found " +
                       std::to_string(dilation));
      }
      low = sum->constant;
      return OkStatus();
    }
    return Refusal("expected windows along the second and third axis");
  }

  Status MatchInput() {
    const Node& load = c_.pool[result_.x];
    result_.n = stage_.axes[0].variable;
    result_.h = stage_.axes[1].variable;
    result_.w = stage_.axes[2].variable;
    result_.o = stage_.axes[3].variable;
    EMBER_RETURN_IF_ERROR(
        MatchWindow(result_.h, result_.dim_h, result_.p, result_.low_h));
    EMBER_RETURN_IF_ERROR(
        MatchWindow(result_.w, result_.dim_w, result_.q, result_.low_w));
    bool has_image = false, has_channel = false;
    for (size_t dim = 0; dim < 4; ++dim) {
      if (dim == result_.dim_h || dim == result_.dim_w) continue;
      const NodeId index = load.operands[dim];
      const std::optional<size_t> axis = AxisOf(index);
      if (index == result_.n ||
          (Extent(result_.n) == 1 && c_.pool.IntegerConstant(index) == 0)) {
        has_image = true;
      } else if (axis && !IsSpatial(*axis)) {
        has_channel = true;
        result_.c = index;
        result_.dim_c = dim;
      }
    }
    if (!has_image) return Refusal("expected images along the first axis");
    if (!has_channel || result_.c == result_.p || result_.c == result_.q ||
        result_.p == result_.q) {
      return Refusal("expected one group of channels");
    }
    if (load.opcode == Opcode::kPad) {
      const Node& padding = c_.pool[load.operands[4]];
      if (padding.opcode != Opcode::kConstant ||
          padding.immediate != tensor::ZeroBits(load.type)) {
        return Refusal("expected padding with zeros");
      }
    }
    const auto rows = Extent(result_.h), columns = Extent(result_.w);
    if (!rows || !columns || *rows < 1 || *columns < 1)
      return Refusal("expected images of constant size");
    result_.rows = *rows;
    result_.columns = *columns;
    const auto p = Extent(result_.p), q = Extent(result_.q);
    if (!p || p != q || *p < 2 || *p > kLargestWinogradTile)
      return Refusal("expected a square window of constant size");
    result_.taps = static_cast<int>(*p);
    return OkStatus();
  }

  Status MatchFilter() {
    const Node& load = c_.pool[result_.filter];
    std::vector<NodeId> found = load.operands;
    for (NodeId variable : {result_.p, result_.q, result_.c, result_.o}) {
      if (std::erase(found, variable) != 1)
        return Refusal("expected a filter for each channel and result");
    }
    if (!Extent(result_.c) || !Extent(result_.o))
      return Refusal("expected a constant number of channels");
    return OkStatus();
  }

  const Schedule& schedule_;
  const Computation& c_;
  const ComputationStage& stage_;
  int number_;
  Convolution result_;
};

// Builds the expressions that transform tiles, filters and products.
class Maker {
 public:
  explicit Maker(Computation& c) : c_(c) {}

  NodeId Integer(int64_t value) { return c_.pool.Integer(value); }
  NodeId Index(Opcode opcode, NodeId a, NodeId b) {
    const NodeId operands[] = {a, b};
    return Simplifier(c_.pool).Make(opcode, DType::kI64, operands);
  }
  NodeId Float(Opcode opcode, NodeId a, NodeId b) {
    const NodeId operands[] = {a, b};
    return Simplifier(c_.pool).Make(opcode, DType::kF32, operands);
  }
  NodeId FloatConstant(double value) {
    return c_.pool.Constant(std::bit_cast<uint32_t>(static_cast<float>(value)),
                            DType::kF32);
  }

  // Returns the element that a load (or padded load) reads, converted to f32.
  NodeId Element(Opcode opcode, DType type, const std::vector<NodeId>& operands,
                 uint32_t buffer) {
    const NodeId element = c_.pool.Intern(opcode, type, operands, 0, 1, buffer);
    return Simplifier(c_.pool).Make(Opcode::kCast, DType::kF32, {&element, 1});
  }

  // Returns sum(k) coefficients[k] * elements[k]. In the transformations, two
  // coefficients often differ only in sign, because they belong to the points 1
  // and -1, or 2 and -2. Partial sums are built so that such rows share them:
  // over even and odd k, or, by_pairs, over pairs of neighbours.
  NodeId Sum(const std::vector<double>& coefficients,
             const std::vector<NodeId>& elements, bool by_pairs) {
    return by_pairs ? SumOfPairs(coefficients, elements)
                    : SumOfHalves(coefficients, elements);
  }

  // Returns values[index], as selections. The index must be in 0..values.size()
  // - 1.
  NodeId Choose(NodeId index, const std::vector<NodeId>& values) {
    NodeId result = values.back();
    for (size_t i = values.size() - 1; i-- > 0;) {
      const NodeId compared[] = {index, Integer(static_cast<int64_t>(i))};
      const NodeId is_this =
          Simplifier(c_.pool).Make(Opcode::kEqual, DType::kBool, compared);
      const NodeId operands[] = {is_this, values[i], result};
      result = Simplifier(c_.pool).Make(Opcode::kSelect, DType::kF32, operands);
    }
    return result;
  }

  // Returns element [row, column] of matrix * elements * transposed matrix.
  NodeId Transformed(const Matrix& matrix, NodeId row, NodeId column,
                     bool by_pairs,
                     const std::function<NodeId(size_t, size_t)>& element) {
    const size_t size = matrix[0].size();
    std::vector<NodeId> across;
    for (size_t q = 0; q < size; ++q) {
      std::vector<NodeId> elements, rows;
      for (size_t p = 0; p < size; ++p) elements.push_back(element(p, q));
      for (const auto& coefficients : matrix)
        rows.push_back(Sum(coefficients, elements, by_pairs));
      across.push_back(Choose(row, rows));
    }
    std::vector<NodeId> columns;
    for (const auto& coefficients : matrix)
      columns.push_back(Sum(coefficients, across, by_pairs));
    return Choose(column, columns);
  }

 private:
  struct Term {
    double coefficient;
    NodeId element;
  };

  // A sum of terms: `value`, or -value if is_negative is true. The sign is
  // chosen so that the first term of `value` is positive, so that sums which
  // differ in sign only share the expression.
  struct Signed {
    std::optional<NodeId> value;
    bool is_negative = false;
  };

  Signed Plain(const std::vector<Term>& terms) {
    Signed result;
    for (const Term& term : terms) {
      if (term.coefficient == 0) continue;
      if (!result.value) result.is_negative = term.coefficient < 0;
      const double factor = std::abs(term.coefficient);
      const NodeId value = factor == 1 ? term.element
                                       : Float(Opcode::kMultiply, term.element,
                                               FloatConstant(factor));
      const bool adds = (term.coefficient < 0) == result.is_negative;
      result.value = result.value
                         ? Float(adds ? Opcode::kAdd : Opcode::kSubtract,
                                 *result.value, value)
                         : value;
    }
    return result;
  }

  NodeId Joined(const Signed& a, const Signed& b) {
    if (!a.value && !b.value) return FloatConstant(0);
    if (!b.value) return a.is_negative ? Negated(*a.value) : *a.value;
    if (!a.value) return Joined(b, a);
    if (a.is_negative && !b.is_negative) return Joined(b, a);
    if (a.is_negative) return Negated(Float(Opcode::kAdd, *a.value, *b.value));
    return Float(b.is_negative ? Opcode::kSubtract : Opcode::kAdd, *a.value,
                 *b.value);
  }

  NodeId Negated(NodeId value) {
    return Simplifier(c_.pool).Make(Opcode::kNegate, DType::kF32, {&value, 1});
  }

  NodeId SumOfHalves(const std::vector<double>& coefficients,
                     const std::vector<NodeId>& elements) {
    std::vector<Term> halves[2];
    for (size_t k = 0; k < elements.size(); ++k)
      halves[k % 2].push_back({coefficients[k], elements[k]});
    return Joined(Plain(halves[0]), Plain(halves[1]));
  }

  // Returns the sum of coefficients[k] * elements[k]. If two coefficients (of
  // elements 1 and 2, 3 and 4, ...) are equal or opposite, their elements are
  // first combined to x + y or x - y, and then multiplied once.
  NodeId SumOfPairs(const std::vector<double>& coefficients,
                    const std::vector<NodeId>& elements) {
    std::vector<Term> terms = {{coefficients[0], elements[0]}};
    for (size_t k = 1; k < elements.size(); ++k) {
      const bool is_pair =
          k % 2 == 1 && k + 2 < elements.size() &&
          std::abs(coefficients[k]) == std::abs(coefficients[k + 1]);
      if (!is_pair) {
        terms.push_back({coefficients[k], elements[k]});
        continue;
      }
      const bool adds = coefficients[k] == coefficients[k + 1];
      terms.push_back(
          {coefficients[k], Float(adds ? Opcode::kAdd : Opcode::kSubtract,
                                  elements[k], elements[k + 1])});
      ++k;
    }
    return Joined(Plain(terms), {});
  }

  Computation& c_;
};

// Adds a buffer with the extents, and returns a stage with an axis per extent
// that stores to it. The stage has no values yet.
ComputationStage NewStage(Computation& c, const std::string& name,
                          BufferRole role, const std::vector<std::string>& axes,
                          const std::vector<NodeId>& extents) {
  ComputationStage stage;
  stage.name = name;
  ComputationStore store;
  store.buffer = static_cast<uint32_t>(c.buffers.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    stage.axes.push_back(c.MakeAxis(axes[i], extents[i]));
    store.indices.push_back(stage.axes.back().variable);
  }
  stage.spatial_count = static_cast<int>(axes.size());
  stage.stores.push_back(std::move(store));
  c.buffers.push_back(
      {.name = name, .type = DType::kF32, .role = role, .extents = extents});
  return stage;
}

}  // namespace

Status Change(const Winograd& step, Schedule& schedule) {
  EMBER_ASSIGN_OR_RETURN(const int number, Find(schedule, step.convolution));
  const int64_t outputs = step.outputs;
  Computation& c = schedule.mutable_computation();
  for (const std::string& name : {step.filter, step.input, step.products}) {
    if (!tensor::IsPlainName(name) || c.FindBuffer(name) >= 0)
      return InvalidArgumentError("expected a new name, found '" + name + "'");
  }
  if (step.filter == step.input || step.filter == step.products ||
      step.input == step.products) {
    return InvalidArgumentError("expected different names");
  }
  EMBER_ASSIGN_OR_RETURN(const Convolution conv,
                         Matcher(schedule, number).Run());
  if (outputs < 2 || outputs + conv.taps - 1 > kLargestWinogradTile) {
    return FailedPreconditionError(
        "expected tiles of 2 to " +
        std::to_string(kLargestWinogradTile - conv.taps + 1) +
        " results, found " + std::to_string(outputs));
  }
  const WinogradMatrices matrices =
      MakeWinogradMatrices(static_cast<int>(outputs), conv.taps);
  Maker make(c);
  const NodeId m = make.Integer(outputs);
  const NodeId size = make.Integer(static_cast<int64_t>(matrices.input.size()));
  const NodeId tile_rows = make.Integer(DivideRoundingUp(conv.rows, outputs));
  const NodeId tile_columns =
      make.Integer(DivideRoundingUp(conv.columns, outputs));
  const NodeId images = c.pool[conv.n].operands[0];
  const NodeId channels = c.pool[conv.c].operands[0];
  const NodeId results = c.pool[conv.o].operands[0];
  const Node filter = c.pool[conv.filter];
  const Node x = c.pool[conv.x];

  ComputationStage u =
      NewStage(c, step.filter, BufferRole::kPacked, {"x", "y", "c", "o"},
               {size, size, channels, results});
  c.buffers.back().is_constant = true;
  u.values.push_back(make.Transformed(
      matrices.filter, u.axes[0].variable, u.axes[1].variable,
      /*by_pairs=*/false, [&](size_t p, size_t q) {
        std::vector<NodeId> indices = filter.operands;
        for (NodeId& index : indices) {
          index = index == conv.p   ? make.Integer(static_cast<int64_t>(p))
                  : index == conv.q ? make.Integer(static_cast<int64_t>(q))
                  : index == conv.c ? u.axes[2].variable
                                    : u.axes[3].variable;
        }
        return make.Element(Opcode::kLoad, filter.type, indices, filter.buffer);
      }));
  const uint32_t u_buffer = u.stores[0].buffer;

  ComputationStage v = NewStage(
      c, step.input, BufferRole::kTemporary, {"x", "y", "n", "i", "j", "c"},
      {size, size, images, tile_rows, tile_columns, channels});
  const auto place = [&](size_t axis, size_t tap, int64_t low) {
    const NodeId start =
        make.Index(Opcode::kMultiply, v.axes[axis].variable, m);
    return make.Index(Opcode::kAdd, start,
                      make.Integer(low + static_cast<int64_t>(tap)));
  };
  v.values.push_back(make.Transformed(
      matrices.input, v.axes[0].variable, v.axes[1].variable,
      /*by_pairs=*/false, [&](size_t p, size_t q) {
        // Loads are padded with zeros: the convolution may be padded itself,
        // and tiles at the edge may reach further beyond the image, to elements
        // on which no result depends.
        std::vector<NodeId> operands(x.operands.begin(),
                                     x.operands.begin() + 4);
        for (NodeId& index : operands) {
          if (index == conv.n) index = v.axes[2].variable;
        }
        operands[conv.dim_h] = place(3, p, conv.low_h);
        operands[conv.dim_w] = place(4, q, conv.low_w);
        operands[conv.dim_c] = v.axes[5].variable;
        operands.push_back(c.pool.Constant(tensor::ZeroBits(x.type), x.type));
        return make.Element(Opcode::kPad, x.type, operands, x.buffer);
      }));
  const uint32_t v_buffer = v.stores[0].buffer;

  ComputationStage products = NewStage(
      c, step.products, BufferRole::kTemporary, {"x", "y", "n", "i", "j", "o"},
      {size, size, images, tile_rows, tile_columns, results});
  const uint32_t products_buffer = products.stores[0].buffer;
  products.axes.push_back(c.MakeAxis("k", channels));
  products.combiner = tensor::Combiner::kSum;
  {
    std::vector<NodeId> of_v, of_u;
    for (size_t a = 0; a < 5; ++a) of_v.push_back(products.axes[a].variable);
    of_v.push_back(products.axes[6].variable);
    for (size_t a : {0, 1, 6, 5}) of_u.push_back(products.axes[a].variable);
    products.values.push_back(make.Float(
        Opcode::kMultiply,
        c.pool.Intern(Opcode::kLoad, DType::kF32, of_v, 0, 1, v_buffer),
        c.pool.Intern(Opcode::kLoad, DType::kF32, of_u, 0, 1, u_buffer)));
  }

  ComputationStage& y = c.stages[number];
  y.axes.resize(static_cast<size_t>(y.spatial_count));
  y.combiner = tensor::Combiner::kNone;
  y.values = {make.Transformed(
      matrices.output, make.Index(Opcode::kModulo, conv.h, m),
      make.Index(Opcode::kModulo, conv.w, m), /*by_pairs=*/true,
      [&](size_t i, size_t j) {
        const NodeId operands[] = {make.Integer(static_cast<int64_t>(i)),
                                   make.Integer(static_cast<int64_t>(j)),
                                   conv.n,
                                   make.Index(Opcode::kFloorDivide, conv.h, m),
                                   make.Index(Opcode::kFloorDivide, conv.w, m),
                                   conv.o};
        return c.pool.Intern(Opcode::kLoad, DType::kF32, operands, 0, 1,
                             products_buffer);
      })};
  schedule.mutable_plan(number) = DefaultPlan(y);
  schedule.InsertStage(number, std::move(products));
  schedule.InsertStage(number, std::move(v));
  schedule.InsertStage(number, std::move(u));
  return OkStatus();
}

}  // namespace ember::schedule
