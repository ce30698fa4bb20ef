#include "jit/gpu/products_in_flight.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

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

// For each buffer that products read: the slots that they read in an iteration.
using Factors = std::map<uint32_t, RingSlots>;

class Finder {
 public:
  Finder(const loops::LoopNest& nest, const Block& body,
         const SharedMemory& memory, int64_t subgroups, bool stores_are_ordered)
      : nest_(nest),
        memory_(memory),
        subgroups_(subgroups),
        stores_are_ordered_(stores_are_ordered),
        rings_(nest, body, memory.is_of_many) {}

  void Find(const Block& block) {
    for (const Statement& statement : block) {
      if (loops::IsInvocationLoop(statement)) continue;
      const bool is_serial = IsLoop(statement, LoopKind::kSerial);
      if (is_serial) around_.push_back(statement.variable);
      if (is_serial) FindIn(statement);
      Find(statement.body);
      if (is_serial) around_.pop_back();
    }
  }
  std::vector<ProductsInFlight> TakeFound() { return std::move(found_); }

 private:
  void FindIn(const Statement& loop) {
    const Statement* products = nullptr;
    for (const Statement& statement : loop.body) {
      if (!HasMatrices(statement)) continue;
      if (products != nullptr || !IsOfAllSubgroups(statement)) return;
      products = &statement;
    }
    if (products == nullptr) return;
    Factors factors;
    if (!AreProducts(products->body, products->variable, factors)) return;
    if (stores_are_ordered_) {
      found_.push_back({&loop, products});
      return;
    }
    NoteReads(*products, factors);
    const auto leaves_them = [&](const Statement& statement) {
      return &statement == products ||
             LeavesAlone(statement, loop.variable, factors);
    };
    if (std::ranges::all_of(loop.body, leaves_them))
      found_.push_back({&loop, products});
  }

  bool IsOfAllSubgroups(const Statement& statement) const {
    return IsLoop(statement, LoopKind::kSubgroup) &&
           nest_.pool.IntegerConstant(
               loops::ExtentOf(nest_.pool, statement.variable)) == subgroups_;
  }

  // True if the block is a sequence of products that read panels. Adds the
  // factors of these products to `factors`.
  bool AreProducts(const Block& block, NodeId subgroup,
                   Factors& factors) const {
    return std::ranges::all_of(block, [&](const Statement& statement) {
      if (IsLoop(statement, LoopKind::kUnrolled))
        return AreProducts(statement.body, subgroup, factors);
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
      factors.insert({{operation->a.buffer, 0}, {operation->b.buffer, 0}});
      return true;
    });
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

  // True if the statement stores nothing to the memory of a factor that
  // products of this iteration of the loop, or of the one before, may still
  // read.
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
      // The slots that are read by the products of this iteration and by those
      // of the previous iteration.
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
  const bool stores_are_ordered_;
  const Rings rings_;
  std::vector<NodeId> around_;  // variables of the surrounding loops
  std::vector<ProductsInFlight> found_;
};

}  // namespace

std::vector<ProductsInFlight> FindProductsInFlight(const loops::LoopNest& nest,
                                                   const Block& body,
                                                   const SharedMemory& memory,
                                                   int64_t subgroups) {
  Finder finder(nest, body, memory, subgroups, /*stores_are_ordered=*/false);
  finder.Find(body);
  return finder.TakeFound();
}

std::vector<ProductsInFlight> FindProductLoops(const loops::LoopNest& nest,
                                               const Block& body,
                                               const SharedMemory& memory,
                                               int64_t subgroups) {
  Finder finder(nest, body, memory, subgroups, /*stores_are_ordered=*/true);
  finder.Find(body);
  return finder.TakeFound();
}

}  // namespace ember::jit::gpu
