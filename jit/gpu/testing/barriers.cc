#include "jit/gpu/testing/barriers.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace ember::jit::gpu {

using loops::Block;
using loops::Statement;

namespace {

using Test = bool (*)(const Statement& statement);

bool IsBarrier(const Statement& statement) {
  return statement.kind == Statement::Kind::kBarrier;
}

bool IsWait(const Statement& statement) {
  return statement.kind == Statement::Kind::kAwait ||
         statement.kind == Statement::Kind::kSlot;
}

// Removes statement number `number` among those for which the test holds, and
// returns true. If the block has fewer, subtracts their count from `number` and
// returns false.
bool Remove(Test test, Block& block, size_t& number) {
  for (size_t i = 0; i < block.size(); ++i) {
    if (test(block[i]) && number-- == 0) {
      block.erase(block.begin() + static_cast<std::ptrdiff_t>(i));
      return true;
    }
    if (Remove(test, block[i].body, number)) return true;
  }
  return false;
}

loops::LoopNest Without(Test test, loops::LoopNest nest, size_t number) {
  for (std::vector<loops::Phase>* const phases :
       {&nest.prologue, &nest.phases}) {
    for (loops::Phase& phase : *phases) {
      if (Remove(test, phase.body, number)) return nest;
    }
  }
  return nest;
}

size_t Count(Test test, const Block& block) {
  size_t count = 0;
  for (const Statement& statement : block)
    count += static_cast<size_t>(test(statement)) + Count(test, statement.body);
  return count;
}

size_t Count(Test test, const loops::LoopNest& nest) {
  size_t count = 0;
  for (const std::vector<loops::Phase>* const phases :
       {&nest.prologue, &nest.phases}) {
    for (const loops::Phase& phase : *phases) count += Count(test, phase.body);
  }
  return count;
}

}  // namespace

size_t CountBarriers(const Block& block) { return Count(IsBarrier, block); }

size_t CountBarriers(const loops::LoopNest& nest) {
  return Count(IsBarrier, nest);
}

loops::LoopNest WithoutBarrier(loops::LoopNest nest, size_t number) {
  return Without(IsBarrier, std::move(nest), number);
}

size_t CountWaits(const loops::LoopNest& nest) { return Count(IsWait, nest); }

loops::LoopNest WithoutWait(loops::LoopNest nest, size_t number) {
  return Without(IsWait, std::move(nest), number);
}

}  // namespace ember::jit::gpu
