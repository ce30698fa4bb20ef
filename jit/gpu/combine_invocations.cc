#include "jit/gpu/combine_invocations.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/rounding.h"
#include "jit/gpu/invocations.h"
#include "jit/gpu/register_class.h"
#include "jit/loops/analysis/combining.h"
#include "jit/loops/walk.h"
#include "tensor/scalar.h"

namespace ember::jit::gpu {

using loops::Block;
using loops::Combining;
using loops::LoopKind;
using loops::MemoryScope;
using loops::NodeId;
using loops::Statement;
using loops::Store;
using tensor::Opcode;
using tensor::Update;

namespace {

// The scope, in the expression pool, of nodes that depend on loop variables.
constexpr int kInLoops = 1;

Combining CombiningOf(Update update) {
  switch (update) {
    case Update::kMultiply:
      return Combining::kProduct;
    case Update::kMinimum:
      return Combining::kMinimum;
    case Update::kMaximum:
      return Combining::kMaximum;
    case Update::kAssign:
    case Update::kAdd:
      break;
  }
  return Combining::kSum;
}

// Returns the bits of the neutral element of the update: combined with it, any
// value but a NaN stays the same.
uint64_t NeutralBits(DType type, Update update) {
  switch (update) {
    case Update::kMultiply:
      return tensor::OneBits(type);
    case Update::kMinimum:
      return tensor::LargestBits(type);
    case Update::kMaximum:
      return tensor::SmallestBits(type);
    case Update::kAssign:
    case Update::kAdd:
      break;
  }
  // The neutral element of a sum of floats is -0, because adding 0 would change
  // -0 to 0. Types of 8 bits get 0, as some have no -0.
  const int64_t bytes = DTypeByteSize(type);
  return IsFloat(type) && bytes > 1 ? uint64_t{1} << (8 * bytes - 1)
                                    : tensor::ZeroBits(type);
}

Statement StoreOf(std::vector<Store> stores) {
  Statement statement;
  statement.kind = Statement::Kind::kStore;
  statement.stores = std::move(stores);
  return statement;
}

Statement LoopOf(LoopKind kind, NodeId variable, Block body) {
  Statement loop;
  loop.kind = Statement::Kind::kFor;
  loop.loop = kind;
  loop.variable = variable;
  loop.body = std::move(body);
  return loop;
}

class Combiner {
 public:
  Combiner(const DeviceTraits& device, loops::LoopNest& nest)
      : device_(device),
        nest_(nest),
        has_barriers_(loops::IsDeviceNest(nest)) {}

  void Run(loops::Phase& phase) {
    invocations_ = InvocationsOf(nest_, phase, device_);
    Visit(phase.body);
  }

 private:
  void Visit(Block& block) {
    Block result;
    for (Statement& statement : block) {
      if (loops::IsCombining(nest_.pool, statement) &&
          !loops::CombinesSubgroups(statement.body[0])) {
        Replace(statement, result);
      } else {
        Visit(statement.body);
        result.push_back(std::move(statement));
      }
    }
    block = std::move(result);
  }

  // Appends to `result` the statements that replace the loop. They load the
  // values of all stores before they update an element, because a value may be
  // loaded from an element that is updated.
  void Replace(const Statement& loop, Block& result) {
    std::vector<Store> of_subgroups, of_halves;
    for (const Store& store : loop.body[0].stores) {
      const DType type = nest_.buffers[store.buffer].type;
      (CombinesBySubgroups(type, store.update, device_) ? of_subgroups
                                                        : of_halves)
          .push_back(store);
    }
    Statement first;
    first.kind = Statement::Kind::kFirst;
    if (!of_halves.empty())
      CombineHalves(loop.variable, of_halves, result, first.body);
    if (!of_subgroups.empty())
      CombineSubgroups(loop.variable, of_subgroups, result, first.body);
    if (!first.body.empty()) AddStep(std::move(first), result);
  }

  // Adds a statement that other invocations depend on. If the nest already has
  // barriers, the later pass that inserts barriers leaves it alone, so this
  // adds a barrier before the statement.
  void AddStep(Statement step, Block& result) const {
    if (has_barriers_) {
      Statement barrier;
      barrier.kind = Statement::Kind::kBarrier;
      result.push_back(std::move(barrier));
    }
    result.push_back(std::move(step));
  }

  // --- halves

  void CombineHalves(NodeId variable, const std::vector<Store>& stores,
                     Block& result, Block& first) {
    const int64_t values =
        *nest_.pool.IntegerConstant(loops::ExtentOf(nest_.pool, variable));
    std::vector<uint32_t> parts;
    std::vector<Store> begin;
    for (const Store& store : stores) {
      parts.push_back(Parts(store, values, parts.size()));
      begin.push_back({.buffer = parts.back(),
                       .indices = {variable},
                       .value = store.value});
    }
    AddStep(
        LoopOf(LoopKind::kInvocation, variable, {StoreOf(std::move(begin))}),
        result);
    auto half =
        static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(values))) / 2;
    for (; half > 1; half /= 2) {
      // In the first step only `values - half` elements have a partner, if the
      // number of values is not a power of two.
      const NodeId own = Variable("half", std::min(half, values - half));
      AddStep(LoopOf(LoopKind::kInvocation, own,
                     {HalfOf(stores, parts, own, Sum(own, half))}),
              result);
    }
    // The last step, which combines two values, is done by the first
    // invocation, together with the update of the element.
    const NodeId zero = nest_.pool.Integer(0);
    if (values > 1)
      first.push_back(HalfOf(stores, parts, zero, nest_.pool.Integer(1)));
    for (size_t i = 0; i < stores.size(); ++i)
      AddUpdate(stores[i], Load(parts[i], {&zero, 1}), first);
  }

  // Returns a statement that, for each store, combines element `other` of its
  // buffer of partial results into element `own`.
  Statement HalfOf(const std::vector<Store>& stores,
                   const std::vector<uint32_t>& parts, NodeId own,
                   NodeId other) {
    std::vector<Store> step;
    for (size_t i = 0; i < stores.size(); ++i) {
      step.push_back({.buffer = parts[i],
                      .indices = {own},
                      .value = Load(parts[i], {&other, 1}),
                      .update = stores[i].update});
    }
    return StoreOf(std::move(step));
  }

  // --- subgroups

  void CombineSubgroups(NodeId variable, const std::vector<Store>& stores,
                        Block& result, Block& first) {
    const int64_t values =
        *nest_.pool.IntegerConstant(loops::ExtentOf(nest_.pool, variable));
    const int64_t size = device_.subgroup_size;
    // A subgroup can combine values only if all of its invocations take part.
    // If consecutive invocations need not form whole subgroups on this device,
    // all invocations of the workgroup take part.
    const int64_t all =
        device_.has_whole_subgroups ? RoundUp(values, size) : invocations_;
    const int64_t subgroups = DivideRoundingUp(all, size);
    const NodeId subgroup = Variable("sub", subgroups);
    std::vector<Store> combined = stores;
    Statement loop;
    if (all == values) {
      loop = LoopOf(LoopKind::kInvocation, variable, {});
    } else {
      const NodeId own = Variable("own", all);
      loop = LoopOf(LoopKind::kInvocation, own,
                    OwnValues(variable, own, combined));
    }
    for (size_t i = 0; i < stores.size(); ++i) {
      Store& store = combined[i];
      store.combining = CombiningOf(store.update);
      if (subgroups == 1) continue;
      const uint32_t parts = Parts(stores[i], subgroups, i);
      store.buffer = parts;
      store.indices = {subgroup};
      store.update = Update::kAssign;
      AddTotal(stores[i], parts, subgroups, i, first);
    }
    loop.subgroup = subgroup;
    loop.subgroup_size = size;
    loop.body.push_back(StoreOf(std::move(combined)));
    AddStep(std::move(loop), result);
  }

  // Returns statements that set a register per store to the invocation's value,
  // or to the neutral element in invocations beyond the loop's extent. Changes
  // the stores so that they store the registers.
  Block OwnValues(NodeId variable, NodeId own, std::vector<Store>& stores) {
    Block block;
    Statement inside;
    inside.kind = Statement::Kind::kIf;
    const NodeId operands[] = {own, loops::ExtentOf(nest_.pool, variable)};
    inside.condition =
        nest_.pool.Intern(Opcode::kLess, DType::kBool, operands, 0, kInLoops);
    for (size_t i = 0; i < stores.size(); ++i) {
      const DType type = nest_.buffers[stores[i].buffer].type;
      const uint32_t buffer =
          BufferOf("own", type, MemoryScope::kRegister, {}, i);
      const NodeId neutral =
          nest_.pool.Constant(NeutralBits(type, stores[i].update), type);
      block.push_back(
          StoreOf({{.buffer = buffer, .indices = {}, .value = neutral}}));
      inside.body.push_back(
          StoreOf({{.buffer = buffer,
                    .indices = {},
                    .value = Replaced(stores[i].value, variable, own)}}));
      stores[i].value = Load(buffer, {});
    }
    block.push_back(std::move(inside));
    return block;
  }

  // Adds statements that combine the partial results of all subgroups, and
  // update the store's element with the total.
  void AddTotal(const Store& store, uint32_t parts, int64_t subgroups,
                size_t ordinal, Block& first) {
    const DType type = nest_.buffers[store.buffer].type;
    const uint32_t total =
        BufferOf("total", type, MemoryScope::kRegister, {}, ordinal);
    const NodeId zero = nest_.pool.Integer(0);
    first.push_back(StoreOf(
        {{.buffer = total, .indices = {}, .value = Load(parts, {&zero, 1})}}));
    const NodeId part = Variable("part", subgroups - 1);
    const NodeId next = Sum(part, 1);
    first.push_back(LoopOf(LoopKind::kUnrolled, part,
                           {StoreOf({{.buffer = total,
                                      .indices = {},
                                      .value = Load(parts, {&next, 1}),
                                      .update = store.update}})}));
    AddUpdate(store, Load(total, {}), first);
  }

  static void AddUpdate(const Store& store, NodeId value, Block& first) {
    Store update = store;
    update.value = value;
    first.push_back(StoreOf({std::move(update)}));
  }

  // --- nodes, variables, buffers

  NodeId Load(uint32_t buffer, std::span<const NodeId> indices) {
    return nest_.pool.Intern(Opcode::kLoad, nest_.buffers[buffer].type, indices,
                             0, kInLoops, buffer);
  }

  NodeId Sum(NodeId a, int64_t b) {
    const NodeId operands[] = {a, nest_.pool.Integer(b)};
    return nest_.pool.Intern(Opcode::kAdd, DType::kI64, operands, 0, kInLoops);
  }

  // Returns the expression with the variable replaced by `other`.
  NodeId Replaced(NodeId root, NodeId variable, NodeId other) {
    std::unordered_map<NodeId, NodeId> replaced = {{variable, other}};
    for (const NodeId id : loops::NodesUnder(nest_.pool, {&root, 1})) {
      const tensor::Node node = nest_.pool[id];
      std::vector<NodeId> operands = node.operands;
      if (node.opcode != Opcode::kAxis) {
        for (NodeId& operand : operands) operand = replaced.at(operand);
      }
      if (!replaced.emplace(id, id).second || operands == node.operands)
        continue;
      replaced[id] = nest_.pool.Intern(node.opcode, node.type, operands,
                                       node.immediate, node.scope, node.buffer);
    }
    return replaced.at(root);
  }

  // Returns a loop variable of this name and extent. Variables of different
  // extents may have one name, because their loops are never nested.
  NodeId Variable(const std::string& name, int64_t extent) {
    const auto [known, is_new] =
        variables_.emplace(name, nest_.variables.size());
    if (is_new) {
      std::string unused = name;
      for (int number = 1; IsUsed(unused); ++number)
        unused = name + "_" + std::to_string(number);
      nest_.variables.push_back(unused);
    }
    const NodeId operand = nest_.pool.Integer(extent);
    return nest_.pool.Intern(Opcode::kAxis, DType::kI64, {&operand, 1},
                             known->second, kInLoops);
  }

  bool IsUsed(const std::string& name) const {
    return std::ranges::find(nest_.variables, name) != nest_.variables.end() ||
           std::ranges::find(nest_.parameters, name) != nest_.parameters.end();
  }

  // Returns the workgroup buffer for the partial results of the store. ordinal:
  // position of the store in its statement. Stores with the same ordinal in
  // other statements use the same buffer.
  uint32_t Parts(const Store& store, int64_t count, size_t ordinal) {
    const uint32_t buffer =
        BufferOf("parts", nest_.buffers[store.buffer].type, MemoryScope::kTask,
                 {nest_.pool.Integer(count)}, ordinal);
    nest_.buffers[buffer].is_shared = true;
    return buffer;
  }

  uint32_t BufferOf(const std::string& name, DType type, MemoryScope scope,
                    const std::vector<NodeId>& extents, size_t ordinal) {
    const auto [known, is_new] =
        buffers_.emplace(std::tuple(name, type, extents, ordinal),
                         static_cast<uint32_t>(nest_.buffers.size()));
    if (!is_new) return known->second;
    std::string unused = name;
    for (int number = 1; HasBuffer(unused); ++number)
      unused = name + "." + std::to_string(number);
    loops::Buffer& buffer = nest_.buffers.emplace_back();
    buffer.name = unused;
    buffer.type = type;
    buffer.scope = scope;
    buffer.extents = extents;
    return known->second;
  }

  bool HasBuffer(const std::string& name) const {
    return std::ranges::find(nest_.buffers, name, &loops::Buffer::name) !=
           nest_.buffers.end();
  }

  const DeviceTraits& device_;
  loops::LoopNest& nest_;
  const bool has_barriers_;
  int64_t invocations_ = 0;  // invocations of the phase
  // Numbers of the variables and buffers that this pass has added.
  std::map<std::string, uint64_t> variables_;
  std::map<std::tuple<std::string, DType, std::vector<NodeId>, size_t>,
           uint32_t>
      buffers_;
};

}  // namespace

Status CombineInvocations(const DeviceTraits& device, loops::LoopNest& nest) {
  if (loops::IsPlaced(nest)) return OkStatus();
  Combiner combiner(device, nest);
  for (std::vector<loops::Phase>* const phases :
       {&nest.prologue, &nest.phases}) {
    for (loops::Phase& phase : *phases) combiner.Run(phase);
  }
  return OkStatus();
}

}  // namespace ember::jit::gpu
