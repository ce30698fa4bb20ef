#include "tune/search/draft.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/dtype.h"
#include "jit/loops/walk.h"
#include "jit/target/cpu_model.h"
#include "tensor/builder/coefficient.h"

namespace ember::tune {
namespace {

using loops::LoopKind;
using loops::NodeId;
using tensor::Opcode;

// The extent of a loop whose number of iterations is not constant.
constexpr double kGuess = 32;
// Cycles of an instruction on a vector: two units.
constexpr double kInstruction = 0.5;
// Cycles of a lane that is loaded by itself.
constexpr double kLane = 0.6;
// Cycles until the result of an addition can be used.
constexpr double kLatency = 4;
// Cycles per iteration of a loop.
constexpr double kIteration = 1;
// Cycles per byte from the second and the third level of caches, and from
// memory.
constexpr double kFromSecond = 1.0 / 32, kFromThird = 1.0 / 12,
                 kFromMemory = 1.0 / 5;
// Registers that are not accumulators.
constexpr double kOtherRegisters = 3;

struct OpenLoop {
  NodeId variable = 0;
  double extent = 1;
  LoopKind kind = LoopKind::kSerial;
};

// A load or the place of a store.
struct Access {
  const loops::Buffer* buffer = nullptr;
  std::vector<bool> moves;  // for each open loop: true if the indices depend on it
  double lanes_apart = 0;   // elements between neighbouring lanes; -1: unknown
  double bytes = 0;         // of an element
};

class Drafter {
 public:
  Drafter(const loops::LoopNest& nest, const jit::CpuModel& cpu)
      : nest_(nest), cpu_(cpu) {}

  double Run() {
    for (const loops::Phase& phase : nest_.phases) {
      Open(phase.task, LoopKind::kSerial);
      Visit(phase.body);
      loops_.pop_back();
    }
    return std::max(cycles_, 1.0);
  }

 private:
  void Open(NodeId variable, LoopKind kind) {
    const auto extent =
        nest_.pool.IntegerConstant(loops::ExtentOf(nest_.pool, variable));
    loops_.push_back(
        {variable, extent ? static_cast<double>(*extent) : kGuess, kind});
  }

  void Visit(const loops::Block& block) {
    for (const loops::Statement& statement : block) {
      switch (statement.kind) {
        case loops::Statement::Kind::kFor:
          Open(statement.variable, statement.loop);
          if (statement.loop != LoopKind::kUnrolled &&
              statement.loop != LoopKind::kVector)
            cycles_ += kIteration * Iterations();
          Visit(statement.body);
          loops_.pop_back();
          break;
        case loops::Statement::Kind::kIf:
          cycles_ += kInstruction * Iterations();
          Visit(statement.body);
          break;
        case loops::Statement::Kind::kStore:
          AddStore(statement);
          break;
        default:
          cycles_ += kInstruction * Iterations();
      }
    }
  }

  // Returns the number of times that the current statement runs; a vector loop
  // counts as once.
  double Iterations() const {
    double iterations = 1;
    for (const OpenLoop& loop : loops_) {
      if (loop.kind != LoopKind::kVector) iterations *= loop.extent;
    }
    return iterations;
  }

  // Returns the position of the vector loop; -1 if there is none.
  int VectorLoop() const {
    for (size_t i = loops_.size(); i-- > 0;) {
      if (loops_[i].kind == LoopKind::kVector) return static_cast<int>(i);
    }
    return -1;
  }

  Access AccessOf(uint32_t buffer, std::span<const NodeId> indices) const {
    Access access;
    access.buffer = &nest_.buffers[buffer];
    access.bytes = DTypeByteSize(access.buffer->type);
    const std::vector<NodeId> nodes = loops::NodesUnder(nest_.pool, indices);
    for (const OpenLoop& loop : loops_)
      access.moves.push_back(std::ranges::find(nodes, loop.variable) !=
                             nodes.end());
    const int vector = VectorLoop();
    if (vector < 0 || !access.moves[static_cast<size_t>(vector)]) return access;
    const NodeId lane = loops_[static_cast<size_t>(vector)].variable;
    access.lanes_apart = 0;
    for (size_t d = 0; d < indices.size(); ++d) {
      const auto step = tensor::CoefficientOf(nest_.pool, indices[d], lane);
      if (step == 0) continue;
      const bool is_next = step == 1 && d + 1 == indices.size();
      access.lanes_apart =
          is_next && access.lanes_apart == 0 ? 1 : -1;
    }
    return access;
  }

  // Returns the number of vectors that the lanes of an access fill.
  double Vectors(double bytes) const {
    const int vector = VectorLoop();
    if (vector < 0) return 1;
    return std::ceil(loops_[static_cast<size_t>(vector)].extent * bytes /
                     cpu_.vector_bytes);
  }

  // Returns how often the access runs: unrolled loops around the statement
  // share it if it does not move with them.
  double Times(const Access& access) const {
    double times = Iterations();
    for (size_t i = loops_.size(); i-- > 0;) {
      if (loops_[i].kind == LoopKind::kVector) continue;
      if (loops_[i].kind != LoopKind::kUnrolled) break;
      if (!access.moves[i]) times /= loops_[i].extent;
    }
    return times;
  }

  bool IsRegister(const Access& access) const {
    return access.buffer->scope == loops::MemoryScope::kRegister;
  }

  void AddStore(const loops::Statement& statement) {
    std::vector<Access> accesses;
    double arithmetic = 0, widest = 1;
    for (const loops::Store& store : statement.stores) {
      accesses.push_back(AccessOf(store.buffer, store.indices));
      widest = std::max(widest, accesses.back().bytes);
      AddChain(store, accesses.back());
      arithmetic += store.update != tensor::Update::kAssign ? 1 : 0;
    }
    for (const NodeId id : loops::NodesUnder(
             nest_.pool, loops::RootsOf(nest_.pool, statement))) {
      const tensor::Node& node = nest_.pool[id];
      if (node.opcode == Opcode::kLoad || node.opcode == Opcode::kPad) {
        const size_t rank = nest_.buffers[node.buffer].extents.size();
        accesses.push_back(
            AccessOf(node.buffer, std::span(node.operands).first(rank)));
      } else if (node.type != DType::kI64 && !node.operands.empty()) {
        arithmetic += 1;
      }
    }
    // A product that is added takes one instruction.
    if (cpu_.has_fma && arithmetic >= 2) arithmetic -= 1;
    cycles_ += kInstruction * arithmetic * Iterations() * Vectors(widest);
    for (const Access& access : accesses) {
      if (IsRegister(access)) continue;
      const int vector = VectorLoop();
      const double lanes =
          vector < 0 ? 1 : loops_[static_cast<size_t>(vector)].extent;
      const double cost = access.lanes_apart < 0 ? kLane * lanes
                          : access.lanes_apart == 1
                              ? kInstruction * Vectors(access.bytes)
                              : kInstruction;
      cycles_ += cost * Times(access);
    }
    AddMemory(accesses);
  }

  // Adds the time that a sum waits for itself, and that of accumulators which
  // do not fit the registers.
  void AddChain(const loops::Store& store, const Access& place) {
    if (store.update == tensor::Update::kAssign) return;
    double independent = Vectors(place.bytes);
    for (size_t i = loops_.size(); i-- > 0;) {
      if (loops_[i].kind == LoopKind::kVector) continue;
      if (loops_[i].kind != LoopKind::kUnrolled) break;
      if (place.moves[i]) independent *= loops_[i].extent;
    }
    const double in_flight = kLatency / kInstruction;
    if (independent < in_flight) {
      const double waits = kLatency / independent - kInstruction;
      cycles_ += waits * Iterations() * Vectors(place.bytes);
    }
    const double free = cpu_.vector_registers - kOtherRegisters;
    if (IsRegister(place) && independent > free) {
      const double spilled = (independent - free) / independent;
      cycles_ += 2 * spilled * Iterations() * Vectors(place.bytes);
    }
  }

  // Returns the bytes that the accesses read while the loops from `first` on
  // run once.
  double Footprint(const std::vector<Access>& accesses, size_t first) const {
    double bytes = 0;
    for (const Access& access : accesses) {
      if (IsRegister(access)) continue;
      double elements = access.bytes;
      for (size_t i = first; i < loops_.size(); ++i) {
        if (access.moves[i]) elements *= loops_[i].extent;
      }
      bytes += elements;
    }
    return bytes;
  }

  void AddMemory(const std::vector<Access>& accesses) {
    struct Level {
      int64_t bytes;
      double cost;
    };
    const Level levels[] = {{cpu_.l1_bytes, kFromSecond},
                            {cpu_.l2_bytes, kFromThird},
                            {cpu_.l3_bytes, kFromMemory}};
    for (const Level& level : levels) {
      size_t first = 0;
      double times = 1;
      // Half of a cache holds other data.
      while (first < loops_.size() && 2 * Footprint(accesses, first) >
                                          static_cast<double>(level.bytes)) {
        times *= loops_[first].extent;
        ++first;
      }
      cycles_ += level.cost * times * Footprint(accesses, first);
    }
  }

  const loops::LoopNest& nest_;
  const jit::CpuModel& cpu_;
  std::vector<OpenLoop> loops_;
  double cycles_ = 0;
};

}  // namespace

double DraftCycles(const loops::LoopNest& nest, std::string_view target) {
  return Drafter(nest, jit::CpuModel::Of(target)).Run();
}

}  // namespace ember::tune
