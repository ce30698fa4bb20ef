#include "jit/gpu/asynchronous_copies.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/dtype.h"
#include "jit/loops/analysis/divisibility.h"
#include "jit/loops/walk.h"
#include "tensor/builder/coefficient.h"
#include "tensor/builder/linear.h"

namespace ember::jit::gpu {

using loops::Block;
using loops::LoopKind;
using loops::NodeId;
using loops::Statement;
using loops::StorageKind;

namespace {

class Chooser {
 public:
  Chooser(const loops::LoopNest& nest, const loops::Workgroup& workgroup,
          bool copies_async)
      : nest_(nest), workgroup_(workgroup), copies_async_(copies_async) {}

  void Visit(Block& block) {
    if (!copies_async_) {
      std::erase_if(block, [](const Statement& statement) {
        return statement.kind == Statement::Kind::kAwait;
      });
    }
    for (Statement& statement : block) {
      const Surroundings outer = around_;
      Enter(statement);
      for (loops::Store& store : statement.stores) {
        store.is_async = store.is_async && statement.stores.size() == 1 &&
                         copies_async_ && IsCopy(store);
      }
      Visit(statement.body);
      around_ = outer;
    }
  }

 private:
  // The vector loop around the visited statement, if there is one. If the
  // statement is a copy, one instruction copies all lanes of the loop.
  struct Surroundings {
    std::optional<NodeId> lane;  // variable of the loop
    int64_t lanes = 1;
    bool is_masked = false;  // true if a condition or the number of lanes may
                             // leave some lanes inactive
  };

  void Enter(const Statement& statement) {
    if (statement.kind == Statement::Kind::kIf && around_.lane) {
      around_.is_masked |=
          tensor::DependsOn(nest_.pool, statement.condition, *around_.lane);
    }
    if (statement.kind != Statement::Kind::kFor ||
        statement.loop != LoopKind::kVector) {
      return;
    }
    const int64_t lanes = *nest_.pool.IntegerConstant(
        loops::ExtentOf(nest_.pool, statement.variable));
    if (lanes == 1) return;
    // A vector register has a power of two of lanes. For any other number of
    // iterations the last lanes are masked.
    around_ = {statement.variable, lanes,
               !std::has_single_bit(static_cast<uint64_t>(lanes))};
  }

  bool IsCopy(const loops::Store& store) const {
    const tensor::Node& value = nest_.pool[store.value];
    const uint32_t from = value.buffer;
    const int64_t bytes =
        around_.lanes * DTypeByteSize(nest_.buffers[store.buffer].type);
    const size_t rank = nest_.buffers[from].extents.size();
    return !around_.is_masked && (bytes == 4 || bytes == 8 || bytes == 16) &&
           workgroup_.storage[store.buffer].kind == StorageKind::kShared &&
           workgroup_.storage[from].kind == StorageKind::kMemory &&
           IsAligned(store.buffer, store.indices) &&
           IsAligned(from, std::span(value.operands).first(rank));
  }

  // True if the elements of all lanes are provably an aligned run: the number
  // of lane 0's element is a multiple of the number of lanes.
  bool IsAligned(uint32_t buffer, std::span<const NodeId> indices) const {
    const std::vector<NodeId>& extents = nest_.buffers[buffer].extents;
    const int64_t elements = around_.lanes;
    int64_t stride = 1;  // the largest known power of two that divides the
                         // stride of dim d
    for (size_t d = extents.size(); d-- > 0;) {
      const auto sum = tensor::Linearize(nest_.pool, indices[d]);
      if (!sum || loops::PowerOfTwoIn(sum->constant) * stride < elements)
        return false;
      for (const tensor::LinearTerm& term : sum->terms) {
        if (term.node == around_.lane) continue;
        // The product of the two powers of two cannot overflow, because each is
        // at most 2^30.
        const int64_t divisor = loops::PowerOfTwoIn(term.coefficient) *
                                loops::DivisorOf(nest_.pool, term.node);
        if (std::min(divisor, elements) * stride < elements) return false;
      }
      stride *= loops::DivisorOf(nest_.pool, extents[d]);
      stride = std::min(stride, elements);
    }
    return true;
  }

  const loops::LoopNest& nest_;
  const loops::Workgroup& workgroup_;
  const bool copies_async_;
  Surroundings around_;
};

}  // namespace

Status ChooseAsynchronousCopies(const DeviceTraits& device,
                                loops::LoopNest& nest) {
  for (std::vector<loops::Phase>* const phases :
       {&nest.prologue, &nest.phases}) {
    for (loops::Phase& phase : *phases) {
      if (phase.workgroup.slot_barriers != 0) continue;
      Chooser(nest, phase.workgroup, device.copies_async).Visit(phase.body);
    }
  }
  return OkStatus();
}

}  // namespace ember::jit::gpu
