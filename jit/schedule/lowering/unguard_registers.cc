
#include "jit/schedule/lowering/unguard_registers.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "jit/loops/walk.h"
#include "tensor/dispatch.h"

namespace ember::schedule {
namespace {

using loops::Block;
using loops::MemoryScope;
using loops::Statement;
using loops::Store;
using tensor::Opcode;

class Unguarder {
 public:
  explicit Unguarder(loops::LoopNest& nest)
      : nest_(nest), stores_(nest.buffers.size()) {}

  void Run() {
    for (auto* phases : {&nest_.prologue, &nest_.phases}) {
      for (const loops::Phase& phase : *phases) CountStores(phase.body);
    }
    for (auto* phases : {&nest_.prologue, &nest_.phases}) {
      for (loops::Phase& phase : *phases) Visit(phase.body);
    }
  }

 private:
  void CountStores(const Block& block) {
    for (const Statement& statement : block) {
      for (const Store& store : statement.stores) ++stores_[store.buffer];
      CountStores(statement.body);
    }
  }

  void Visit(Block& block) {
    Block result;
    for (Statement& statement : block) {
      Visit(statement.body);
      const bool is_free =
          statement.kind == Statement::Kind::kIf &&
          std::ranges::all_of(statement.body, [&](const Statement& inner) {
            return MovesInRegisters(inner);
          });
      if (is_free)
        std::ranges::move(statement.body, std::back_inserter(result));
      else
        result.push_back(std::move(statement));
    }
    block = std::move(result);
  }

  bool MovesInRegisters(const Statement& statement) const {
    return statement.kind == Statement::Kind::kStore &&
           std::ranges::all_of(statement.stores, [&](const Store& store) {
             return nest_.buffers[store.buffer].scope ==
                        MemoryScope::kRegister &&
                    store.update == tensor::Update::kAssign &&
                    stores_[store.buffer] == 1 && IsHarmless(store.value);
           });
  }

  // True if the value may be computed even if its operands have no values yet,
  // because it loads only from registers and has no other effect.
  bool IsHarmless(loops::NodeId value) const {
    const std::vector<loops::NodeId> nodes =
        loops::NodesUnder(nest_.pool, {&value, 1});
    return std::ranges::all_of(nodes, [&](loops::NodeId id) {
      const tensor::Node& node = nest_.pool[id];
      if (node.opcode == Opcode::kPad) return false;
      return node.opcode != Opcode::kLoad ||
             nest_.buffers[node.buffer].scope == MemoryScope::kRegister;
    });
  }

  loops::LoopNest& nest_;
  std::vector<int> stores_;  // number of statements that store to each buffer
};

}  // namespace

void UnguardRegisters(loops::LoopNest& nest) { Unguarder(nest).Run(); }

}  // namespace ember::schedule
