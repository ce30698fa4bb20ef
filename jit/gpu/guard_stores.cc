#include "jit/gpu/guard_stores.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "jit/loops/walk.h"

namespace ember::jit::gpu {

using loops::Block;
using loops::Statement;
using loops::Store;

namespace {

class Guard {
 public:
  explicit Guard(const loops::LoopNest& nest) : nest_(nest) {}

  void Visit(Block& block) {
    Block result;
    for (Statement& statement : block) {
      if (IsOfFirst(statement)) {
        AddToFirst(std::move(statement), result);
        continue;
      }
      if (statement.kind == Statement::Kind::kStore) Split(statement, result);
      const bool is_guarded = statement.kind == Statement::Kind::kFirst ||
                              loops::IsInvocationLoop(statement);
      if (!is_guarded) Visit(statement.body);
      result.push_back(std::move(statement));
    }
    block = std::move(result);
  }

 private:
  bool IsInRegisters(const Store& store) const {
    return nest_.buffers[store.buffer].scope == loops::MemoryScope::kRegister;
  }

  // True if the first invocation alone may run the statement: it stores only to
  // memory, and contains nothing that other invocations must take part in.
  bool IsOfFirst(const Statement& statement) const {
    switch (statement.kind) {
      case Statement::Kind::kStore:
        return std::ranges::none_of(statement.stores, [&](const Store& store) {
          return IsInRegisters(store);
        });
      case Statement::Kind::kFor:
      case Statement::Kind::kIf:
        return !loops::IsInvocationLoop(statement) && !statement.of_producer &&
               !statement.body.empty() &&
               std::ranges::all_of(statement.body, [&](const Statement& inner) {
                 return IsOfFirst(inner);
               });
      case Statement::Kind::kCheck:
      case Statement::Kind::kPrefetch:
      case Statement::Kind::kAwait:
      case Statement::Kind::kBarrier:
      case Statement::Kind::kSlot:
      case Statement::Kind::kFirst:
        return false;
    }
    return false;
  }

  // Adds the statement to the guarded statement (kFirst) at the end of the
  // block, or to a new one.
  static void AddToFirst(Statement&& statement, Block& block) {
    if (block.empty() || block.back().kind != Statement::Kind::kFirst)
      block.emplace_back().kind = Statement::Kind::kFirst;
    block.back().body.push_back(std::move(statement));
  }

  // Splits the statement in two: first the stores to memory, then those to
  // registers. The stores to memory need the old values of the registers. The
  // order is safe: no invocation reads that memory before the next barrier.
  void Split(Statement& statement, Block& result) const {
    Statement of_first;
    of_first.kind = Statement::Kind::kStore;
    std::vector<Store> others;
    for (Store& store : statement.stores) {
      (IsInRegisters(store) ? others : of_first.stores)
          .push_back(std::move(store));
    }
    statement.stores = std::move(others);
    if (!of_first.stores.empty()) AddToFirst(std::move(of_first), result);
  }

  const loops::LoopNest& nest_;
};

}  // namespace

Status GuardStores(const DeviceTraits&, loops::LoopNest& nest) {
  for (std::vector<loops::Phase>* const phases :
       {&nest.prologue, &nest.phases}) {
    for (loops::Phase& phase : *phases) {
      const loops::Workgroup& workgroup = phase.workgroup;
      if (workgroup.mode == loops::Workgroup::Mode::kInvocations &&
          workgroup.invocations > 1) {
        Guard(nest).Visit(phase.body);
      }
    }
  }
  return OkStatus();
}

}  // namespace ember::jit::gpu
