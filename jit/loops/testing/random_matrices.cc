#include "jit/loops/testing/random_matrices.h"

#include <functional>
#include <utility>
#include <vector>

#include "tensor/scalar.h"

namespace ember::loops {
namespace {

using tensor::Opcode;
using tensor::Update;

// Largest number of products whose sum is exact in f16: SmallValue has
// magnitudes below 16, and f16 holds integers up to 2048 exactly.
constexpr int64_t kLongestHalfSum = 9;

RandomBuffer Matrix(RandomExpressions& make, DType type, int64_t rows,
                    int64_t columns, bool by_rows) {
  if (!by_rows) std::swap(rows, columns);
  RandomBuffer buffer;
  buffer.type = type;
  buffer.scope = MemoryScope::kTask;
  buffer.extents = {make.ConstantExtent(rows), make.ConstantExtent(columns)};
  return buffer;
}

class Multiplier {
 public:
  Multiplier(const RandomMatrices& plan, RandomExpressions& make,
             RandomLoops& loops, LoopNest& nest)
      : plan_(plan), make_(make), loops_(loops), nest_(nest) {}

  Block Run() {
    Block block;
    const auto fill = [&] { return Tiles([&](NodeId t) { return Fill(t); }); };
    const auto sum = [&] { return Steps(); };
    const auto store = [&] {
      return Tiles([&](NodeId t) { return StoreTile(t); });
    };
    // `together`: true if one subgroup loop contains the fill of the
    // accumulators, the sum and the store; false if each of the three has its
    // own.
    const bool together = make_.Chance(2);
    if (together) {
      Append(block, Subgroups([&] {
               Block inside = fill();
               Append(inside, sum());
               Append(inside, store());
               return inside;
             }));
      return block;
    }
    Append(block, Subgroups(fill));
    Append(block, Subgroups(sum));
    Append(block, Subgroups(store));
    return block;
  }

 private:
  Block Subgroups(const std::function<Block()>& inside) {
    return loops_.Loop(LoopKind::kSubgroup,
                       make_.ConstantExtent(plan_.subgroups), [&](NodeId s) {
                         subgroup_ = s;
                         return inside();
                       });
  }

  Block Tiles(const RandomLoops::MakeLoopBody& inside) {
    return loops_.Loop(LoopKind::kUnrolled, make_.ConstantExtent(plan_.tiles),
                       inside);
  }

  Block Steps() {
    const LoopKind kind =
        make_.Chance(3) ? LoopKind::kUnrolled : LoopKind::kSerial;
    const RandomExtent extent = make_.ConstantExtent(plan_.steps);
    return loops_.Loop(kind, extent, [&](NodeId step) {
      Block products = Tiles([&](NodeId t) { return Product(step, t); });
      if (!make_.Chance(4)) return products;
      return BlockOf(
          If(make_.InBounds(step, extent.node), std::move(products)));
    });
  }

  Block Loops(std::vector<int64_t> extents,
              const std::function<Store(const std::vector<NodeId>&)>& inside) {
    std::vector<NodeId> variables;
    const std::function<Block()> next = [&]() -> Block {
      if (variables.size() == extents.size()) {
        return BlockOf(StoreStatement({inside(variables)}));
      }
      return loops_.Loop(LoopKind::kMatrix,
                         make_.ConstantExtent(extents[variables.size()]),
                         [&](NodeId variable) {
                           variables.push_back(variable);
                           return next();
                         });
    };
    return next();
  }

  NodeId At(NodeId tile, int64_t size, NodeId element) {
    return make_.MakeIndex(
        Opcode::kAdd,
        make_.MakeIndex(Opcode::kMultiply, tile, make_.Integer(size)), element);
  }

  static std::vector<NodeId> InOrder(bool by_rows, NodeId row, NodeId column) {
    if (!by_rows) std::swap(row, column);
    return {row, column};
  }

  NodeId Load(const RandomBuffer& buffer, const std::vector<NodeId>& indices) {
    return nest_.pool.Intern(Opcode::kLoad, buffer.type, indices, 0, 1,
                             buffer.number);
  }

  Block Fill(NodeId tile) {
    const MatrixType& type = plan_.type;
    return Loops({type.rows, type.columns}, [&](const auto& v) -> Store {
      return {plan_.accumulators.number,
              {subgroup_, tile, v[0], v[1]},
              nest_.pool.Constant(
                  tensor::DoubleToBits(make_.Below(3), type.sum), type.sum),
              Update::kAssign};
    });
  }

  Block Product(NodeId step, NodeId tile) {
    const MatrixType& type = plan_.type;
    return Loops(
        {type.rows, type.columns, type.depth}, [&](const auto& v) -> Store {
          const NodeId row = At(subgroup_, type.rows, v[0]);
          const NodeId column = At(tile, type.columns, v[1]);
          const NodeId inner = At(step, type.depth, v[2]);
          NodeId a = Load(plan_.a, InOrder(plan_.a_by_rows, row, inner));
          NodeId b = Load(plan_.b, InOrder(plan_.b_by_rows, inner, column));
          if (type.sum != type.a) {
            a = make_.Make(Opcode::kCast, type.sum, {a});
            b = make_.Make(Opcode::kCast, type.sum, {b});
          }
          if (make_.Chance(2)) std::swap(a, b);
          return {plan_.accumulators.number,
                  {subgroup_, tile, v[0], v[1]},
                  make_.Make(Opcode::kMultiply, type.sum, {a, b}),
                  Update::kAdd};
        });
  }

  Block StoreTile(NodeId tile) {
    const MatrixType& type = plan_.type;
    return Loops({type.rows, type.columns}, [&](const auto& v) -> Store {
      const NodeId row = At(subgroup_, type.rows, v[0]);
      const NodeId column = At(tile, type.columns, v[1]);
      return {plan_.result.number, InOrder(plan_.result_by_rows, row, column),
              Load(plan_.accumulators, {subgroup_, tile, v[0], v[1]}),
              Update::kAssign};
    });
  }

  const RandomMatrices& plan_;
  RandomExpressions& make_;
  RandomLoops& loops_;
  LoopNest& nest_;
  NodeId subgroup_ = 0;  // variable of the surrounding subgroup loop
};

}  // namespace

RandomMatrices PlanMatrices(RandomExpressions& make,
                            std::span<const MatrixType> types) {
  RandomMatrices plan;
  if (!types.empty()) {
    plan.type =
        types[static_cast<size_t>(make.Below(static_cast<int>(types.size())))];
  } else {
    constexpr int64_t kSizes[] = {2, 4, 8};
    constexpr DType kBytes[] = {DType::kI8, DType::kU8};
    constexpr DType kByteFloats[] = {DType::kF8E4M3FN, DType::kF8E5M2};
    plan.type.rows = kSizes[make.Below(3)];
    plan.type.columns = kSizes[make.Below(3)];
    plan.type.depth = kSizes[make.Below(3)];
    plan.type.sum = make.Chance(3) ? DType::kF16 : DType::kF32;
    if (make.Chance(2)) {
      plan.type.sum = DType::kI32;
      plan.type.a = kBytes[make.Below(2)];
      plan.type.b = kBytes[make.Below(2)];
    } else if (make.Chance(3)) {
      plan.type.sum = DType::kF32;
      plan.type.a = kByteFloats[make.Below(2)];
      plan.type.b = kByteFloats[make.Below(2)];
    }
  }
  plan.subgroups = 1 + make.Below(3);
  plan.tiles = 1 + make.Below(2);
  plan.steps = 1 + make.Below(3);
  if (plan.type.sum == DType::kF16)
    plan.steps = std::max<int64_t>(kLongestHalfSum / plan.type.depth, 1);
  plan.a_by_rows = make.Chance(2);
  plan.b_by_rows = make.Chance(2);
  plan.result_by_rows = make.Chance(2);
  const MatrixType& type = plan.type;
  const int64_t rows = plan.subgroups * type.rows;
  const int64_t columns = plan.tiles * type.columns;
  const int64_t depth = plan.steps * type.depth;
  plan.a = Matrix(make, type.a, rows, depth, plan.a_by_rows);
  plan.b = Matrix(make, type.b, depth, columns, plan.b_by_rows);
  plan.result = Matrix(make, type.sum, rows, columns, plan.result_by_rows);
  plan.accumulators.type = type.sum;
  plan.accumulators.scope = MemoryScope::kRegister;
  plan.accumulators.extents = {
      make.ConstantExtent(plan.subgroups), make.ConstantExtent(plan.tiles),
      make.ConstantExtent(type.rows), make.ConstantExtent(type.columns)};
  return plan;
}

Block MultiplyMatrices(const RandomMatrices& plan, RandomExpressions& make,
                       RandomLoops& loops, LoopNest& nest) {
  return Multiplier(plan, make, loops, nest).Run();
}

}  // namespace ember::loops
