// Plans how a phase of a nest runs on a device: where each buffer is, and how
// many invocations a workgroup has.
//
//   EMBER_ASSIGN_OR_RETURN(const PhasePlan plan,
//                          PlanPhase(nest, phase, device));
//   plan.places[buffer].kind;          // PhasePlan::Kind::kShared
//
// The plan is the same before and after barriers are inserted
// (jit/gpu/insert_barriers.h). It points to statements of the phase, so it is
// made of the nest that is emitted. Decides, and emits nothing. Thread-safe.
#ifndef EMBER_JIT_GPU_PHASE_PLAN_H_
#define EMBER_JIT_GPU_PHASE_PLAN_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_set>
#include <vector>

#include "base/status.h"
#include "jit/gpu/device_traits.h"
#include "jit/gpu/products_in_flight.h"
#include "jit/gpu/warp_roles.h"
#include "jit/loops/loop_nest.h"
#include "jit/target/shared_panels.h"

namespace ember::jit::gpu {

struct PhasePlan {
  enum class Mode : uint8_t {
    // Runs a workgroup for each task, with an invocation for each value of the
    // task's invocation loops. All invocations execute what is outside those
    // loops, except that only the first one stores to memory.
    kInvocations,
    // Runs an invocation for each task: the phase has no invocation loops and
    // its tasks need little memory.
    kTaskEach,
    // Runs a workgroup of one invocation for each task: the phase has no
    // invocation loops, but much memory. If the nest has subgroup loops
    // elsewhere, such a phase is kInvocations.
    kAlone,
  };
  enum class Kind : uint8_t {
    kUnused,
    kMemory,  // in the device's memory: a binding of the entry point
    // In the device's memory, in a binding of which each workgroup has a part.
    kSlices,
    kShared,     // in memory of the workgroup
    kPrivate,    // an array that each invocation has for itself
    kRegisters,  // variables of each invocation, one variable for each element
    kMatrices    // accumulators of matrix loops: each subgroup has a variable
                 // for each matrix
  };
  struct BufferStorage {
    Kind kind = Kind::kUnused;
    // True if the first index is the invocation's number, which does not count
    // as a dim.
    bool of_invocation = false;
    // True if an invocation of a workgroup must see what another invocation
    // stored to this memory (Barriers::is_coherent). Never set for kShared.
    bool is_coherent = false;
    // True if barriers must order the accesses to the buffer, which may be
    // coherent or not (Barriers::is_ordered). Never set for kShared: barriers
    // order all accesses to the workgroup's memory.
    bool is_ordered = false;
    bool is_read = false;
    bool is_written = false;
    // True for a buffer in the workgroup's memory that is held as vectors of 4
    // elements.
    bool is_vectors = false;
    // True for bytes in memory of the workgroup that are packed four to a word,
    // because every store is of whole words. Otherwise each byte takes a word.
    bool is_words = false;
    // True for memory of the workgroup that holds elements in the form of
    // device memory, also those of 8 or 16 bits: matrix loops load and store
    // them.
    bool is_native = false;
    // The panels of a kShared buffer that instructions of several subgroups
    // read.
    SharedPanels panels;
    // True for kMatrices of i32 that are sums of products of u8.
    bool is_unsigned = false;
    // Number of the byte of the workgroup's memory at which a kShared buffer
    // begins. Set only if DeviceTraits::keeps_elements. Buffers that are never
    // in use at the same time may overlap; barriers are planned for that.
    int64_t shared_offset = 0;
    // number of bytes of a kShared buffer; set only if keeps_elements
    int64_t shared_size = 0;
  };

  Mode mode = Mode::kAlone;
  // number of invocations per workgroup, without a producer's; whole subgroups
  // if the nest has subgroup loops
  int64_t invocations = 1;
  std::vector<BufferStorage> places;  // the storage of each buffer of the nest
  // Loops whose products stay in flight across barriers.
  std::vector<ProductsInFlight> in_flight;
  // `roles` is set if one subgroup or thread copies for all. copy_barriers:
  // the byte of the workgroup's memory at which the barriers of slots begin,
  // kCopyBarrierBytes each. For each ring, first come the barriers that say
  // that slots 0, 1 and so on are full, then those that say that they are
  // empty.
  std::optional<WarpRoles> roles;
  int64_t copy_barriers = 0;
  // For phases with roles: if not 0, workgroups may take further tasks (a
  // persistent kernel), and this number of workgroups keeps the device busy.
  int64_t most_workgroups = 0;
  bool has_checks = false;
  // The device's limit of iterations of an invocation's loops, if some call may
  // exceed it; otherwise 0.
  int64_t iterations = 0;
  int64_t shared_bytes = 0;
  // Number of elements, per type, of the workgroup's memory in which
  // invocations combine values; 0: none. Where DeviceTraits::keeps_elements,
  // they are at the begin of that memory, kPartBytes each.
  int64_t parts = 0;

  // True if a workgroup has one subgroup more than its invocations need.
  bool HasProducerWarp() const { return roles && roles->has_warp; }
  // True if the workgroup's memory has buffers of panels.
  bool HasPanels() const {
    return std::ranges::any_of(places, [](const BufferStorage& storage) {
      return storage.panels.Any();
    });
  }
};

// Bytes per element of the memory in which invocations combine values.
inline constexpr int64_t kPartBytes = 8;
// Bytes per barrier of a slot (PTX's mbarrier).
inline constexpr int64_t kCopyBarrierBytes = 8;

// Plans the phase for the device. Errors: kDeviceLimit if the phase needs more
// invocations than the device has; kDeviceMatrix for matrix loops of types that
// the target does not list.
StatusOr<PhasePlan> PlanPhase(const loops::LoopNest& nest,
                              const loops::Phase& phase,
                              const DeviceTraits& device);

// The barriers that a phase needs.
struct PhaseBarriers {
  // Statements with a barrier of the workgroup before them. If the producer is
  // a subgroup of its own (PhasePlan::roles), the barriers are those of the
  // other subgroups.
  std::unordered_set<const loops::Statement*> before;
  // The statements of `before` whose barriers also order earlier stores for
  // products of warpgroups (jit/gpu/ordering_barriers.h).
  std::unordered_set<const loops::Statement*> ordering;
  // True if a barrier ends the phase: in a persistent kernel the next task uses
  // the workgroup's memory again.
  bool at_end = false;
};

// Plans the barriers of the phase. Barriers that it already has are ignored.
// Errors: those of PlanPhase.
StatusOr<PhaseBarriers> FindPhaseBarriers(const loops::LoopNest& nest,
                                          const loops::Phase& phase,
                                          const DeviceTraits& device);

// Returns the number of elements of the buffer; 0 if it is not constant, or
// more than a workgroup could hold.
int64_t ConstantElements(const loops::LoopNest& nest,
                         const loops::Buffer& buffer);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_PHASE_PLAN_H_
