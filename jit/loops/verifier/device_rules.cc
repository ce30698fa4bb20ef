#include "jit/loops/verifier/device_rules.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/concat.h"
#include "base/rounding.h"
#include "jit/loops/analysis/combining.h"
#include "jit/loops/walk.h"

namespace ember::loops {

using tensor::Opcode;

namespace {

Status ErrorOf(const LoopNest& nest, const Store& store,
               std::string_view message) {
  return InvalidArgumentError(
      Concat({"store to %", nest.buffers[store.buffer].name, ": ", message}));
}

bool IsVariable(const LoopNest& nest, NodeId id) {
  const tensor::Node& node = nest.pool[id];
  return node.opcode == Opcode::kAxis && node.operands.size() == 1 &&
         node.immediate < nest.variables.size();
}

}  // namespace

Status CheckSubgroupsOf(const LoopNest& nest, const Statement& loop) {
  if (!IsVariable(nest, loop.variable) || !IsVariable(nest, loop.subgroup))
    return InvalidArgumentError("subgroup: expected a variable");
  const int64_t values =
      nest.pool.IntegerConstant(ExtentOf(nest.pool, loop.variable)).value_or(0);
  const auto count =
      nest.pool.IntegerConstant(ExtentOf(nest.pool, loop.subgroup));
  if (loop.loop == LoopKind::kInvocation && loop.subgroup_size > 0 &&
      count == DivideRoundingUp(values, loop.subgroup_size)) {
    return OkStatus();
  }
  return InvalidArgumentError(
      Concat({"subgroup ", nest.variables[nest.pool[loop.subgroup].immediate],
              ": expected an invocation loop, and as many subgroups as its "
              "values fill"}));
}

Status CheckCombinedStore(const LoopNest& nest, const Statement* loop,
                          const Store& store) {
  const auto has_it = [&](const Statement& statement) {
    return std::ranges::any_of(
        statement.stores, [&](const Store& other) { return &other == &store; });
  };
  const bool is_direct =
      loop != nullptr && std::ranges::any_of(loop->body, has_it);
  const auto has_own = [&] {
    return nest.pool.IntegerConstant(ExtentOf(nest.pool, loop->subgroup)) ==
               1 ||
           std::ranges::find(store.indices, loop->subgroup) !=
               store.indices.end();
  };
  if (is_direct && has_own() && !store.is_async && store.vector == 0 &&
      nest.buffers[store.buffer].scope != MemoryScope::kRegister &&
      IsOfAllInvocations(nest.pool, store, loop->variable)) {
    return OkStatus();
  }
  return ErrorOf(nest, store,
                 "expected one element for each subgroup to be combined, "
                 "directly in a loop over invocations of subgroups");
}

Status CheckAsyncStore(const LoopNest& nest, const Store& store,
                       bool in_invocations) {
  const Opcode opcode = nest.pool[store.value].opcode;
  const bool is_copy = opcode == Opcode::kLoad || opcode == Opcode::kPad;
  if (store.update == tensor::Update::kAssign && in_invocations && is_copy &&
      nest.buffers[store.buffer].scope == MemoryScope::kTask) {
    return OkStatus();
  }
  return InvalidArgumentError(
      Concat({"async store to %", nest.buffers[store.buffer].name,
              ": expected a copy (a load or a pad) to a buffer of the task, in "
              "a loop over invocations"}));
}

Status CheckVectorStore(const LoopNest& nest, const Store& store,
                        std::optional<NodeId> lanes) {
  if (lanes && IsVectorWidth(store.vector) &&
      store.update == tensor::Update::kAssign && !store.is_async &&
      *nest.pool.IntegerConstant(ExtentOf(nest.pool, *lanes)) % store.vector ==
          0) {
    return OkStatus();
  }
  return ErrorOf(nest, store,
                 "expected an assignment by lanes that fill vectors of 2, 4, 8 "
                 "or 16 elements");
}

Status CheckRoundsOnce(const LoopNest& nest, const Store& store) {
  if (store.update == tensor::Update::kAdd &&
      nest.buffers[store.buffer].type == DType::kF32 &&
      nest.pool[store.value].opcode == Opcode::kMultiply) {
    return OkStatus();
  }
  return ErrorOf(nest, store,
                 "expected an f32 to which a product is added to round once");
}

}  // namespace ember::loops
