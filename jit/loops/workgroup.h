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
  kUnused,  // the phase does not access the buffer
  kMemory,  // in the device's memory: a binding of the entry point
  // A task's buffer in the device's memory, in a binding of which each
  // workgroup has a part.
  kSlices,
  kShared,     // in memory of the workgroup
  kPrivate,    // an array that each invocation has for itself
  kRegisters,  // variables of each invocation, one variable for each element
  // Accumulators of matrix loops: each subgroup has a variable for each matrix.
  kMatrices
};

// The form of elements in the workgroup's memory. Only devices whose memory has
// no addresses (BufferStorage::offset) distinguish it.
enum class ElementForm : uint8_t {
  kRegisters,  // one element per word or double word, as in registers
  kVectors,    // like kRegisters, in vectors of four
  kWords,      // bytes, packed four to a word; every store is of whole words
  kNative      // the form in the device's memory; for matrix loops
};

// The layout of a matrix that instructions of several subgroups read
// (jit/target/shared_panels.h).
struct Panels {
  int64_t rows = 0;  // number of rows per matrix of the buffer; 0: no panels
  int64_t row_bytes = 0;  // number of bytes per row of the buffer

  bool Any() const { return rows != 0; }
};

struct BufferStorage {
  StorageKind kind = StorageKind::kUnused;
  bool is_read = false;
  bool is_written = false;
  // True if an invocation of a workgroup must see what another invocation
  // stored to this memory. Only for memory and slices.
  bool is_coherent = false;
  // True if barriers must order the accesses to the buffer. Every coherent
  // buffer is ordered. Only for memory and slices: barriers order all accesses
  // to the workgroup's memory.
  bool is_ordered = false;
  // True for registers and matrices whose first index is the number of the
  // invocation or subgroup, which does not count as a dim.
  bool of_invocation = false;
  // True for matrices of i32 that are sums of products of u8.
  bool is_unsigned = false;
  ElementForm form = ElementForm::kRegisters;
  Panels panels;  // only for shared buffers with an offset
  // The byte of the workgroup's memory at which a shared buffer begins. Buffers
  // that are never in use at the same time may overlap. Empty where the
  // device's memory of a workgroup consists of variables.
  std::optional<int64_t> offset;
};

// A ring of slots that a producer fills (jit/gpu/warp_roles.h).
struct WorkgroupRing {
  int64_t slots = 0;
  int64_t fill_bytes = 0;  // bytes of one fill: a slot of each of its buffers
  int64_t subgroups = 0;   // number of subgroups that read each slot
  // True if the products that read the ring stay in flight in the next
  // iteration. A slot is then empty at the end of that iteration.
  bool stays_in_flight = false;
};

struct Workgroup {
  enum class Mode : uint8_t {
    // A workgroup runs a task, with an invocation for each value of the task's
    // invocation loops. All invocations execute what is outside those loops,
    // except that only the first one stores to memory.
    kInvocations,
    // Each invocation runs a task: the phase has no invocation loops and its
    // tasks need little memory.
    kTaskEach,
    // A workgroup of one invocation runs a task: the phase has no invocation
    // loops, but much memory.
    kAlone,
  };

  // Number of invocations, without a producer's. 0: the phase has no workgroup,
  // because no pass has placed its buffers.
  int64_t invocations = 0;
  Mode mode = Mode::kInvocations;
  bool has_checks = false;  // true if the phase records failed checks
  // True if the workgroup has one more subgroup, which only copies
  // (jit/gpu/warp_roles.h).
  bool has_producer = false;
  int64_t shared_bytes = 0;  // bytes of the workgroup's memory
  // The byte at which the barriers of ring slots begin, kSlotBarrierBytes each;
  // 0: there are none.
  int64_t slot_barriers = 0;
  // If not 0, workgroups take further tasks by themselves (a persistent
  // kernel), and this number of workgroups keeps the device busy.
  int64_t most_workgroups = 0;
  // If not 0, the device's limit of iterations of an invocation's loops, which
  // some call may exceed.
  int64_t iterations = 0;
  std::vector<BufferStorage> storage;  // an entry per buffer of the nest
  // Two barriers for each slot of each ring are at `slot_barriers`: for each
  // ring, first those that say that slots 0, 1 and so on are full, then those
  // that say that they are empty.
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
