#include "jit/loops/testing/random_loops.h"

#include <algorithm>
#include <string>
#include <utility>

namespace ember::loops {

using tensor::Opcode;

Statement If(NodeId condition, Block body) {
  Statement statement;
  statement.kind = Statement::Kind::kIf;
  statement.condition = condition;
  statement.body = std::move(body);
  return statement;
}

Statement StoreStatement(std::vector<Store> stores) {
  Statement statement;
  statement.kind = Statement::Kind::kStore;
  statement.stores = std::move(stores);
  return statement;
}

Block BlockOf(Statement statement) {
  Block block;
  block.push_back(std::move(statement));
  return block;
}

void Append(Block& block, Block&& more) {
  std::move(more.begin(), more.end(), std::back_inserter(block));
}

// Returns a number for a new variable. Half of the time it reuses the number of
// a loop that has ended, since only nested loops need different numbers.
uint64_t RandomLoops::NewNumber() {
  if (!free_numbers_.empty() && make_.Chance(2)) {
    const uint64_t number = free_numbers_.back();
    free_numbers_.pop_back();
    return number;
  }
  nest_.variables.push_back("i" + std::to_string(nest_.variables.size()));
  return nest_.variables.size() - 1;
}

NodeId RandomLoops::InLoop(LoopKind kind, const RandomExtent& extent,
                           const MakeLoopBody& make_body, Block& body) {
  const uint64_t number = NewNumber();
  const NodeId node = nest_.pool.Intern(Opcode::kAxis, DType::kI64,
                                        {&extent.node, 1}, number, /*scope=*/1);
  make_.variables.push_back({node, extent, kind});
  in_vector_ |= kind == LoopKind::kVector;
  body = make_body(node);
  in_vector_ &= kind != LoopKind::kVector;
  make_.variables.pop_back();
  free_numbers_.push_back(number);
  return node;
}

Block RandomLoops::Loop(LoopKind kind, const RandomExtent& extent,
                        const MakeLoopBody& make_body) {
  Statement loop;
  loop.kind = Statement::Kind::kFor;
  loop.loop = kind;
  loop.variable = InLoop(kind, extent, make_body, loop.body);
  return BlockOf(std::move(loop));
}

LoopKind RandomLoops::AnyKind(const RandomExtent& extent) {
  if (!extent.is_constant) return LoopKind::kSerial;
  if (extent.value <= 20 && CanBeVector() && make_.Chance(2)) {
    return LoopKind::kVector;
  }
  return extent.value <= 6 && make_.Chance(2) ? LoopKind::kUnrolled
                                              : LoopKind::kSerial;
}

Block RandomLoops::InOrder(const std::vector<RandomDim>& dims,
                           const MakeBody& make_body) {
  const bool outer = std::exchange(no_vectors_, true);
  Block block = Over(dims, make_body);
  no_vectors_ = outer;
  return block;
}

Block RandomLoops::Over(const std::vector<RandomDim>& dims,
                        const MakeBody& make_body) {
  std::vector<size_t> order;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int place = make_.Below(static_cast<int>(i) + 1);
    order.insert(order.begin() + place, i);
  }
  Point point{dims, order, make_body, Indices(dims.size())};
  before_invocations_ = std::ranges::any_of(dims, &RandomDim::in_invocations);
  Block block = LoopsFrom(point, 0);
  before_invocations_ = false;
  return block;
}

Block RandomLoops::LoopsFrom(Point& point, size_t position) {
  if (position == point.dims.size()) return point.make_body(point.indices);
  const size_t number = point.order[position];
  const RandomDim& dim = point.dims[number];
  const MakeLoopBody inner = [&](NodeId index) {
    point.indices[number] = index;
    return LoopsFrom(point, position + 1);
  };
  if (dim.in_invocations) return InvocationLoop(dim, inner);
  if (dim.in_register) return RegisterLoop(dim, inner);
  if (position + 1 < point.dims.size() && make_.Chance(4)) {
    const size_t next = point.order[position + 1];
    const RandomDim& second = point.dims[next];
    if (!second.in_register && !second.in_invocations &&
        second.extent.is_constant) {
      return FusedLoop(dim.extent, second.extent, [&](NodeId a, NodeId b) {
        point.indices[number] = a;
        point.indices[next] = b;
        return LoopsFrom(point, position + 2);
      });
    }
  }
  if (make_.Chance(2)) return SplitLoop(dim.extent, inner);
  return Loop(AnyKind(dim.extent), dim.extent, [&](NodeId variable) {
    if (!make_.Chance(6)) return inner(variable);
    const NodeId last =
        make_.MakeIndex(Opcode::kSubtract, dim.extent.node, make_.Integer(1));
    return inner(make_.MakeIndex(Opcode::kSubtract, last, variable));
  });
}

Block RandomLoops::RegisterLoop(const RandomDim& dim,
                                const MakeLoopBody& inner) {
  const int64_t extent = dim.extent.value;
  const bool is_vector = dim.is_last && CanBeVector() && !make_.Chance(3);
  if (!is_vector || extent % 2 != 0 || make_.Chance(2)) {
    return Loop(is_vector ? LoopKind::kVector : LoopKind::kUnrolled, dim.extent,
                inner);
  }
  const RandomExtent lanes = make_.ConstantExtent(extent / 2);
  return Loop(LoopKind::kUnrolled, make_.ConstantExtent(2), [&](NodeId half) {
    const NodeId begin = make_.MakeIndex(Opcode::kMultiply, half, lanes.node);
    return Loop(LoopKind::kVector, lanes, [&](NodeId lane) {
      return inner(make_.MakeIndex(Opcode::kAdd, begin, lane));
    });
  });
}

// Returns an invocation loop over the dim, or over parts of the dim in a serial
// loop. For an index of a register buffer it covers the whole dim, so that each
// invocation has its own elements.
Block RandomLoops::InvocationLoop(const RandomDim& dim,
                                  const MakeLoopBody& inner) {
  const MakeLoopBody body = [&](NodeId variable) {
    before_invocations_ = false;
    Block block = inner(variable);
    before_invocations_ = true;
    return block;
  };
  if (dim.in_register || (dim.extent.is_constant && make_.Chance(2)))
    return Loop(LoopKind::kInvocation, dim.extent, body);
  const RandomExtent step = make_.ConstantExtent(2 + make_.Below(15));
  const RandomExtent steps = make_.Steps(dim.extent, step);
  return Loop(LoopKind::kSerial, steps, [&](NodeId outer) {
    const NodeId begin = make_.MakeIndex(Opcode::kMultiply, outer, step.node);
    return StepLoop(LoopKind::kInvocation, dim.extent, step, begin, body);
  });
}

// Returns one loop over the product a * b of two extents, where b is a
// constant.
Block RandomLoops::FusedLoop(
    const RandomExtent& a, const RandomExtent& b,
    const std::function<Block(NodeId, NodeId)>& inner) {
  const RandomExtent both = make_.Times(a, b);
  return Loop(AnyKind(both), both, [&](NodeId variable) {
    return inner(make_.MakeIndex(Opcode::kFloorDivide, variable, b.node),
                 make_.MakeIndex(Opcode::kModulo, variable, b.node));
  });
}

// Returns an outer loop over steps of a constant size, and in it a loop over
// one step. If the steps do not divide the extent, the inner loop of the last
// step is guarded by a condition or has a smaller extent.
Block RandomLoops::SplitLoop(const RandomExtent& extent,
                             const MakeLoopBody& inner) {
  constexpr int64_t kSteps[] = {2, 3, 4, 8, 16};
  const RandomExtent step = make_.ConstantExtent(kSteps[make_.Below(5)]);
  const RandomExtent steps = make_.Steps(extent, step);
  const LoopKind outer_kind = steps.is_constant && make_.Chance(4)
                                  ? LoopKind::kUnrolled
                                  : LoopKind::kSerial;
  return Loop(outer_kind, steps, [&](NodeId outer) {
    const NodeId begin = make_.MakeIndex(Opcode::kMultiply, outer, step.node);
    if (make_.Chance(4)) {
      const NodeId left =
          make_.MakeIndex(Opcode::kSubtract, extent.node, begin);
      const RandomExtent cut{make_.MakeIndex(Opcode::kMinimum, step.node, left),
                             step.value};
      return Loop(LoopKind::kSerial, cut, [&](NodeId variable) {
        return inner(make_.MakeIndex(Opcode::kAdd, begin, variable));
      });
    }
    return StepLoop(AnyKind(step), extent, step, begin, inner);
  });
}

// Returns a loop over one step, with a guard if the step may reach past the
// extent.
Block RandomLoops::StepLoop(LoopKind kind, const RandomExtent& extent,
                            const RandomExtent& step, NodeId begin,
                            const MakeLoopBody& inner) {
  return Loop(kind, step, [&](NodeId variable) {
    const NodeId index = make_.MakeIndex(Opcode::kAdd, begin, variable);
    const bool divides = extent.is_constant && extent.value % step.value == 0;
    if (divides || (!options_.guarded && make_.Chance(15))) {
      return inner(index);
    }
    const NodeId condition = make_.InBounds(index, extent.node);
    return BlockOf(If(condition, inner(index)));
  });
}

}  // namespace ember::loops
