#include "jit/gpu/mark_short_sums.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "jit/gpu/kernel_abi.h"
#include "jit/loops/analysis/facts.h"
#include "jit/loops/walk.h"
#include "tensor/builder/coefficient.h"

namespace ember::jit::gpu {

using loops::NodeId;

namespace {

// The largest number of products in a short sum.
constexpr int64_t kShortSum = 16;

class Marker {
 public:
  explicit Marker(const loops::LoopNest& nest)
      : nest_(nest),
        facts_(nest, {.extent = kMaxExtent, .elements = kMaxElements}) {}

  void Visit(loops::Block& block) {
    for (loops::Statement& statement : block) {
      for (loops::Store& store : statement.stores)
        store.rounds_once = IsFused(store) && IsShortSum(store);
      const bool is_loop = statement.kind == loops::Statement::Kind::kFor;
      if (is_loop) loops_.push_back(statement.variable);
      Visit(statement.body);
      if (is_loop) loops_.pop_back();
    }
  }

 private:
  bool IsFused(const loops::Store& store) const {
    return store.update == tensor::Update::kAdd &&
           nest_.buffers[store.buffer].type == DType::kF32 &&
           nest_.pool[store.value].opcode == tensor::Opcode::kMultiply;
  }

  // True if the surrounding loops update the same element at most kShortSum
  // times.
  bool IsShortSum(const loops::Store& store) const {
    int64_t terms = 1;
    for (const NodeId variable : loops_) {
      const bool moves = std::ranges::any_of(store.indices, [&](NodeId index) {
        return tensor::DependsOn(nest_.pool, index, variable);
      });
      if (moves) continue;
      const int64_t most =
          facts_.RangeOf(loops::ExtentOf(nest_.pool, variable)).high;
      terms *= std::clamp<int64_t>(most, 1, kShortSum + 1);
      if (terms > kShortSum) return false;
    }
    return true;
  }

  const loops::LoopNest& nest_;
  const loops::Facts facts_;
  std::vector<NodeId> loops_;  // variables of the surrounding loops
};

}  // namespace

Status MarkShortSums(const DeviceTraits& device, loops::LoopNest& nest) {
  if (!device.rounds_short_sums) return OkStatus();
  Marker marker(nest);
  for (std::vector<loops::Phase>* const phases :
       {&nest.prologue, &nest.phases}) {
    for (loops::Phase& phase : *phases) marker.Visit(phase.body);
  }
  return OkStatus();
}

}  // namespace ember::jit::gpu
