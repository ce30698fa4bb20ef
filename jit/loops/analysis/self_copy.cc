#include "jit/loops/analysis/self_copy.h"

#include <algorithm>

namespace ember::loops {
namespace {

// Returns the input and the output of an ordinary assignment that copies an
// element of the input to the same position of the output; nullopt for other
// stores.
std::optional<SelfCopy> SelfCopyOf(const LoopNest& nest, const Store& store) {
  const tensor::Node& value = nest.pool[store.value];
  if (value.opcode != tensor::Opcode::kLoad || store.is_async ||
      store.update != tensor::Update::kAssign ||
      nest.buffers[value.buffer].scope != MemoryScope::kInput ||
      nest.buffers[store.buffer].scope != MemoryScope::kOutput ||
      !std::ranges::equal(value.operands, store.indices)) {
    return std::nullopt;
  }
  return SelfCopy{value.buffer, store.buffer};
}

// Notes the input and output between which the block copies in `copy`. Returns
// false if the block does anything but copy between one such pair.
bool AddCopies(const LoopNest& nest, const Block& block,
               std::optional<SelfCopy>& copy) {
  for (const Statement& statement : block) {
    switch (statement.kind) {
      case Statement::Kind::kFor:
      case Statement::Kind::kIf:
        if (!AddCopies(nest, statement.body, copy)) return false;
        break;
      case Statement::Kind::kPrefetch:
      // Checks can be skipped: an output shares an input's memory only if the
      // dispatch stores each element of the output once, and then all copies
      // are in bounds.
      case Statement::Kind::kCheck:
        break;
      case Statement::Kind::kStore:
        for (const Store& store : statement.stores) {
          const std::optional<SelfCopy> found = SelfCopyOf(nest, store);
          if (!found || (copy && copy != found)) return false;
          copy = found;
        }
        break;
      default:
        return false;
    }
  }
  return true;
}

}  // namespace

std::optional<SelfCopy> SelfCopyOf(const LoopNest& nest, const Phase& phase) {
  std::optional<SelfCopy> copy;
  return AddCopies(nest, phase.body, copy) ? copy : std::nullopt;
}

}  // namespace ember::loops
