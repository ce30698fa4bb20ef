// Describes how a device runs a phase: how many invocations work on a task, and
// where each buffer is. Passes of jit/gpu add this to the phases of a nest;
// emitters of GPU code read it and decide nothing about it.
//
//   phase t < 64 {
//     workgroup 256 bytes 8448
//     memory %x reads
//     memory %y writes
//     shared %tile reads writes at 256
//     registers %sum reads writes of invocations
//     invocation i < 256 { … }
//   }
//
// In the abstract machine of nests a workgroup changes one thing only: two
// buffers of the workgroup's memory whose bytes overlap share these bytes, so a
// store to one of them overwrites the other.
//
// Values; thread-safe. jit/loops/verifier/workgroup_rules.h checks them.
#ifndef EMBER_JIT_LOOPS_WORKGROUP_H_
#define EMBER_JIT_LOOPS_WORKGROUP_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace ember::loops {

enum class StorageKind : uint8_t {
  kUnused,  // no storage: the phase does not access the buffer
  kMemory,  // in the device's memory, as a binding of the entry point
  // A task's buffer in the device's memory: a binding holds one part (slice)
  // for each workgroup.
  kSlices,
  kShared,   // in the memory of the workgroup, which its invocations share
  kPrivate,  // in an array that each invocation has for itself
  // In registers: each invocation has a variable for each element of the
  // buffer.
  kRegisters,
  // Accumulators of matrix loops: each subgroup has a variable for each matrix.
  kMatrices
};

// The layout of a buffer's elements in the workgroup's memory. Only matters for
// devices on which that memory consists of typed variables and has no addresses
// (BufferStorage::offset).
enum class ElementForm : uint8_t {
  kRegisters,  // one element per word or double word, as a register holds it
  kVectors,    // vectors of four elements, each as kRegisters lays it out
  kWords,      // bytes packed four to a word; a store writes whole words
  kNative  // the same layout as in the device's memory, which matrix loops need
};

// Sizes of the panels in which a matrix is stored in the workgroup's memory, if
// matrix instructions of several subgroups read it
// (jit/target/shared_panels.h).
struct Panels {
  // Number of rows of each matrix in the buffer; 0: the buffer has no panels.
  int64_t rows = 0;
  int64_t row_bytes = 0;  // number of bytes of a row of such a matrix

  bool Any() const { return rows != 0; }
};

struct BufferStorage {
  StorageKind kind = StorageKind::kUnused;
  bool is_read = false;
  bool is_written = false;
  // True if an invocation of a workgroup must see what another invocation
  // stored to this memory. Only set for the kinds kMemory and kSlices.
  bool is_coherent = false;
  // True if barriers must order the accesses to the buffer. Every coherent
  // buffer is ordered. Only set for the kinds kMemory and kSlices, because
  // barriers order all accesses to the workgroup's memory.
  bool is_ordered = false;
  // True for registers and matrices whose first index is the number of the
  // invocation or subgroup. Each invocation holds only its own elements, so
  // that index is left out of its variables.
  bool of_invocation = false;
  // True for i32 accumulators of matrix products whose factors are u8.
  bool is_unsigned = false;
  ElementForm form = ElementForm::kRegisters;
  Panels panels;  // the panels of a shared buffer that has an `offset`
  // The byte of the workgroup's memory at which a shared buffer begins. Buffers
  // that are never in use at the same time may overlap. Empty on devices on
  // which that memory consists of variables without addresses.
  std::optional<int64_t> offset;
};

// A ring buffer in the workgroup's memory. A producer fills its slots in order,
// and subgroups read them (jit/gpu/warp_roles.h).
struct WorkgroupRing {
  int64_t slots = 0;
  // Number of bytes that fill one slot of the ring, in all of its buffers
  // together.
  int64_t fill_bytes = 0;
  int64_t subgroups = 0;  // number of subgroups that read each slot
  // True if the products that read the ring stay in flight during the next
  // iteration. Subgroups then release a slot one iteration later.
  bool stays_in_flight = false;
};

struct Workgroup {
  enum class Mode : uint8_t {
    // A workgroup runs a task, with an invocation for each value of the task's
    // invocation loops. All invocations execute what is outside those loops,
    // except that only the first one stores to memory.
    kInvocations,
    // Each invocation runs a task by itself. Chosen for phases without
    // invocation loops whose tasks need little memory.
    kTaskEach,
    // A workgroup of one invocation runs a task. Chosen for phases without
    // invocation loops whose tasks need much memory.
    kAlone,
  };

  // Number of invocations of a workgroup, not counting those of the producer.
  // 0: no pass has placed the phase's buffers, so it has no workgroup yet.
  int64_t invocations = 0;
  Mode mode = Mode::kInvocations;
  // True if the phase contains checks, whose failures the kernel records.
  bool has_checks = false;
  // True if the workgroup has one more subgroup, which only copies
  // (jit/gpu/warp_roles.h).
  bool has_producer = false;
  int64_t shared_bytes = 0;  // number of bytes of the workgroup's memory
  // The offset in the workgroup's memory of the barriers of ring slots, which
  // have kSlotBarrierBytes each; 0: there are none.
  int64_t slot_barriers = 0;
  // If not 0, the kernel is persistent: at most this number of workgroups,
  // which keeps the device busy, is launched, and each takes further tasks by
  // itself.
  int64_t most_workgroups = 0;
  // If not 0, the largest number of iterations of an invocation's loops that
  // the device allows. Set if some call may exceed it.
  int64_t iterations = 0;
  // The storage of each buffer, by the buffer's number in the nest.
  std::vector<BufferStorage> storage;
  // The rings of the phase. At the offset `slot_barriers` there is an array
  // with two barriers for each slot of each ring: for each ring, first the
  // barriers that signal that slots 0, 1 and so on are full, then those that
  // signal that they are empty.
  std::vector<WorkgroupRing> rings;

  bool HasPanels() const {
    return std::ranges::any_of(storage, [](const BufferStorage& buffer) {
      return buffer.panels.Any();
    });
  }
};

// Bytes per barrier of a ring slot (PTX's mbarrier).
inline constexpr int64_t kSlotBarrierBytes = 8;
// Largest number of invocations of a workgroup.
inline constexpr int64_t kMaxInvocations = int64_t{1} << 20;

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_WORKGROUP_H_
