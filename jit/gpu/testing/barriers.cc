#include "jit/gpu/testing/barriers.h"

#include <vector>

namespace ember::jit::gpu {

using loops::Block;
using loops::Statement;

namespace {

// Removes barrier number `number` of the block. If the block has fewer,
// subtracts their count from `number`, and returns false.
bool Remove(Block& block, size_t& number) {
  for (size_t i = 0; i < block.size(); ++i) {
    if (block[i].kind == Statement::Kind::kBarrier && number-- == 0) {
      block.erase(block.begin() + static_cast<std::ptrdiff_t>(i));
      return true;
    }
    if (Remove(block[i].body, number)) return true;
  }
  return false;
}

}  // namespace

size_t CountBarriers(const Block& block) {
  size_t count = 0;
  for (const Statement& statement : block) {
    count += statement.kind == Statement::Kind::kBarrier;
    count += CountBarriers(statement.body);
  }
  return count;
}

size_t CountBarriers(const loops::LoopNest& nest) {
  size_t count = 0;
  for (const std::vector<loops::Phase>* const phases :
       {&nest.prologue, &nest.phases}) {
    for (const loops::Phase& phase : *phases)
      count += CountBarriers(phase.body);
  }
  return count;
}

loops::LoopNest WithoutBarrier(loops::LoopNest nest, size_t number) {
  for (std::vector<loops::Phase>* const phases :
       {&nest.prologue, &nest.phases}) {
    for (loops::Phase& phase : *phases) {
      if (Remove(phase.body, number)) return nest;
    }
  }
  return nest;
}

}  // namespace ember::jit::gpu
