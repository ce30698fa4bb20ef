// How a phase of a nest runs on a device: where each buffer is, how many
// invocations a workgroup has, and between which statements they meet.
//
//   EMBER_ASSIGN_OR_RETURN(const PhasePlan plan,
//                          PlanPhase(nest, phase, device));
//   plan.places[buffer].kind;          // PhasePlan::Kind::kShared
//   plan.barriers.contains(&statement) // before it
//
// Decides, and emits nothing. Thread-safe.
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
#include "jit/gpu/shared_panels.h"
#include "jit/gpu/warp_roles.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::gpu {

struct PhasePlan {
  enum class Mode : uint8_t {
    // A workgroup for each task, an invocation for each value of its invocation
    // loops. What stands outside of those, all do alike; but for stores to
    // memory, which the first does.
    kInvocations,
    // No invocation loops, and little memory of its own: an invocation for each
    // task.
    kTaskEach,
    // No invocation loops, but much memory: a workgroup of one invocation. Or
    // kInvocations, where the nest has subgroup loops elsewhere.
    kAlone,
  };
  enum class Kind : uint8_t {
    kUnused,
    kMemory,     // a binding
    kSlices,     // a binding, of which each workgroup has a part
    kShared,     // memory of the workgroup
    kPrivate,    // an array of each invocation
    kRegisters,  // a variable for each element
    kMatrices    // accumulators of matrix loops: each subgroup has a variable
                 // for each matrix
  };
  struct Place {
    Kind kind = Kind::kUnused;
    // The first index is the invocation and counts for nothing.
    bool of_invocation = false;
    // Invocations of a workgroup see what others stored to memory.
    bool is_coherent = false;
    // Barriers order what they do there, coherent or not.
    bool is_ordered = false;
    bool is_read = false;
    bool is_written = false;
    // Memory of the workgroup as vectors of 4 elements.
    bool is_vectors = false;
    // Bytes in memory of the workgroup as they lie in words, four in each:
    // where nothing stores less than a word. Else each takes a word.
    bool is_words = false;
    // Memory of the workgroup with elements as they are in memory, of 8 or 16
    // bits, too: matrix loops load and store them.
    bool is_native = false;
    // Of kShared buffers that instructions of several subgroups read.
    SharedPanels panels;
    // kMatrices of i32: sums of products of u8.
    bool is_unsigned = false;
    // Of kShared buffers, where DeviceTraits::keeps_elements: the byte of the
    // workgroup's memory at which the buffer begins. Buffers that are never in
    // use at the same time may overlap; barriers are planned for that.
    int64_t shared_offset = 0;
    int64_t shared_size = 0;  // likewise, its bytes
  };

  Mode mode = Mode::kAlone;
  int64_t invocations = 1;    // of a workgroup: whole subgroups where the
                              // nest has subgroup loops; without a producer's
  std::vector<Place> places;  // by buffer
  // Before these all invocations of the workgroup meet.
  std::unordered_set<const loops::Statement*> barriers;
  // Of these, those before which threads order what they stored for products of
  // warpgroups (jit/gpu/ordering_barriers.h).
  std::unordered_set<const loops::Statement*> ordering_barriers;
  // Loops that products go on in beyond these.
  std::vector<ProductsInFlight> in_flight;
  // Somebody copies for all: if a subgroup more than the invocations, barriers
  // are those of the others. copy_barriers: the byte of the workgroup's memory
  // at which the barriers of slots are, kCopyBarrierBytes each: of each ring,
  // first whether slot 0, 1 and so on are full, then whether they are empty.
  std::optional<WarpRoles> roles;
  int64_t copy_barriers = 0;
  // Of phases with roles: not 0, if workgroups may go on to further tasks, and
  // with how many of them the device is busy.
  int64_t most_workgroups = 0;
  bool has_checks = false;
  // Where a call may have more iterations of an invocation's loops than the
  // device allows: how many those are; 0: no call has.
  int64_t iterations = 0;
  int64_t shared_bytes = 0;
  // Elements of the workgroup's memory in which invocations combine values, of
  // each type that is combined so; 0: none. Where DeviceTraits::keeps_elements,
  // they are the first of that memory, of kPartBytes each.
  int64_t parts = 0;

  // Whether a workgroup has a subgroup more than its invocations.
  bool HasProducerWarp() const { return roles && roles->has_warp; }
  // Whether the workgroup's memory has buffers of panels.
  bool HasPanels() const {
    return std::ranges::any_of(
        places, [](const Place& place) { return place.panels.Any(); });
  }
};

// Bytes of an element in which invocations combine values of any type.
inline constexpr int64_t kPartBytes = 8;
// Bytes of a barrier of a slot (PTX's mbarrier).
inline constexpr int64_t kCopyBarrierBytes = 8;

// Errors: kDeviceLimit where more invocations are wanted than the device has,
// kDeviceMatrix of matrix loops of types that the target does not list.
StatusOr<PhasePlan> PlanPhase(const loops::LoopNest& nest,
                              const loops::Phase& phase,
                              const DeviceTraits& device);

// Whether subgroups combine values of the type, or halves of the workgroup do.
bool CombinesBySubgroups(DType type, tensor::Update update,
                         const DeviceTraits& device);

// The number of elements; 0 if it is open, or more than a workgroup could hold.
int64_t ConstantElements(const loops::LoopNest& nest,
                         const loops::Buffer& buffer);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_PHASE_PLAN_H_
