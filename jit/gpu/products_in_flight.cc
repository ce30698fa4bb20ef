#include "jit/gpu/products_in_flight.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "jit/gpu/rings.h"
#include "jit/loops/analysis/matrix_operation.h"
#include "jit/loops/walk.h"
#include "jit/target/matrix_instructions.h"

namespace ember::jit::gpu {

using loops::Block;
using loops::LoopKind;
using loops::NodeId;
using loops::Statement;

namespace {

bool IsLoop(const Statement& statement, LoopKind kind) {
  return statement.kind == Statement::Kind::kFor && statement.loop == kind;
}

bool HasMatrices(const Statement& statement) {
  return IsLoop(statement, LoopKind::kMatrix) ||
         std::ranges::any_of(statement.body, HasMatrices);
}

// For each buffer that the products of a loop read: the ring slots that they
// read in one iteration.
using Factors = std::map<uint32_t, RingSlots>;

// Finds the products of matrices in the body of a serial loop, and the buffers
// that they read.
class Finder {
 public:
  Finder(const loops::LoopNest& nest, const SharedMemory& memory,
         int64_t subgroups)
      : nest_(nest), memory_(memory), subgroups_(subgroups) {}

  // Returns the position, in the loop's body, of the statement with the
  // products. Returns nothing if there is none, if there are several, or if its
  // products may not stay in flight.
  std::optional<size_t> Find(const Statement& loop) {
    std::optional<size_t> products;
    for (size_t i = 0; i < loop.body.size(); ++i) {
      const Statement& statement = loop.body[i];
      if (!HasMatrices(statement)) continue;
      if (products || !IsOfAllSubgroups(statement)) return std::nullopt;
      products = i;
    }
    if (!products) return std::nullopt;
    const Statement& found = loop.body[*products];
    if (!AreProducts(found.body, found.variable)) return std::nullopt;
    return products;
  }
  Factors TakeFactors() { return std::move(factors_); }

 private:
  bool IsOfAllSubgroups(const Statement& statement) const {
    return IsLoop(statement, LoopKind::kSubgroup) &&
           nest_.pool.IntegerConstant(
               loops::ExtentOf(nest_.pool, statement.variable)) == subgroups_;
  }

  // True if all statements of the block are products of matrices by several
  // warps (wgmma) whose factors are in panels (jit/loops/workgroup.h). Adds
  // their factors to factors_.
  bool AreProducts(const Block& block, NodeId subgroup) {
    return std::ranges::all_of(block, [&](const Statement& statement) {
      if (IsLoop(statement, LoopKind::kUnrolled))
        return AreProducts(statement.body, subgroup);
      if (!IsLoop(statement, LoopKind::kMatrix)) return false;
      const auto operation =
          loops::MatrixOperationOf(nest_, statement, subgroup);
      if (!operation.ok() ||
          operation->kind != loops::MatrixOperation::Kind::kProduct ||
          WarpsOfMatrix(loops::TypeOf(nest_, *operation)) == 1 ||
          !memory_.has_panels[operation->a.buffer] ||
          !memory_.has_panels[operation->b.buffer]) {
        return false;
      }
      factors_.insert({{operation->a.buffer, 0}, {operation->b.buffer, 0}});
      return true;
    });
  }

  const loops::LoopNest& nest_;
  const SharedMemory& memory_;
  const int64_t subgroups_;
  Factors factors_;
};

class Marker {
 public:
  Marker(const loops::LoopNest& nest, const SharedMemory& memory,
         int64_t subgroups, const Block& body)
      : nest_(nest),
        memory_(memory),
        subgroups_(subgroups),
        rings_(nest, body, memory.is_of_many) {}

  bool Mark(Block& block) {
    bool any = false;
    for (Statement& statement : block) {
      if (loops::IsInvocationLoop(statement)) continue;
      const bool is_serial = IsLoop(statement, LoopKind::kSerial);
      if (is_serial) around_.push_back(statement.variable);
      any |= is_serial && MarkIn(statement);
      any |= Mark(statement.body);
      if (is_serial) around_.pop_back();
    }
    return any;
  }

 private:
  bool MarkIn(Statement& loop) const {
    Finder finder(nest_, memory_, subgroups_);
    const std::optional<size_t> products = finder.Find(loop);
    if (!products) return false;
    Statement& found = loop.body[*products];
    Factors factors = finder.TakeFactors();
    NoteReads(found, factors);
    const auto leaves_them = [&](const Statement& statement) {
      return &statement == &found ||
             LeavesAlone(statement, loop.variable, factors);
    };
    if (!std::ranges::all_of(loop.body, leaves_them)) return false;
    found.stays_in_flight = true;
    return true;
  }

  void NoteReads(const Statement& statement, Factors& factors) const {
    ForEachAccess(nest_, statement,
                  [&](uint32_t buffer, bool, std::span<const NodeId> indices) {
                    const auto factor = factors.find(buffer);
                    if (factor == factors.end()) return;
                    factor->second |=
                        rings_.RingSlotsOf(buffer, indices, around_);
                  });
    for (const Statement& inner : statement.body) NoteReads(inner, factors);
  }

  // True if the statement stores to no memory that products may still be
  // reading: those of this iteration of the loop and those of the previous one.
  bool LeavesAlone(const Statement& statement, NodeId variable,
                   const Factors& factors) const {
    bool leaves = true;
    ForEachAccess(
        nest_, statement,
        [&](uint32_t buffer, bool stores, std::span<const NodeId> indices) {
          leaves &= !stores || MayStore(buffer, indices, variable, factors);
        });
    return leaves &&
           std::ranges::all_of(statement.body, [&](const Statement& inner) {
             return LeavesAlone(inner, variable, factors);
           });
  }

  bool MayStore(uint32_t buffer, std::span<const NodeId> indices,
                NodeId variable, const Factors& factors) const {
    for (const auto& [factor, read] : factors) {
      if (factor != buffer) {
        if (memory_.ranges[factor].Overlaps(memory_.ranges[buffer]))
          return false;
        continue;
      }
      if (rings_.LoopOf(buffer) != variable) return false;
      // The slots that products read while they may be in flight: those of this
      // iteration and of the previous one.
      const RingSlots in_use =
          read | InNextIteration(read, rings_.CountOf(buffer));
      if ((rings_.RingSlotsOf(buffer, indices, around_) & in_use) != 0)
        return false;
    }
    return true;
  }

  const loops::LoopNest& nest_;
  const SharedMemory& memory_;
  const int64_t subgroups_;
  const Rings rings_;
  std::vector<NodeId> around_;  // variables of the surrounding loops
};

}  // namespace

bool MarkProductsInFlight(const loops::LoopNest& nest,
                          const SharedMemory& memory, int64_t subgroups,
                          Block& body) {
  return Marker(nest, memory, subgroups, body).Mark(body);
}

std::optional<size_t> FindProducts(const loops::LoopNest& nest,
                                   const Statement& loop,
                                   const SharedMemory& memory,
                                   int64_t subgroups) {
  return Finder(nest, memory, subgroups).Find(loop);
}

}  // namespace ember::jit::gpu
