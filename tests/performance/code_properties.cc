#include "tests/performance/code_properties.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/performance/assembly.h"

namespace ember::tests {
namespace {

// True if the access's address contains the register `changed`. After the
// register has changed, the same text means other memory.
bool DependsOn(const MemoryAccess& access, const std::string& changed) {
  return access.base == changed ||
         access.index.substr(0, access.index.find_first_of("*,")) == changed;
}

bool HaveSameBase(const MemoryAccess& a, const MemoryAccess& b) {
  return a.base == b.base && a.index == b.index && !a.is_gather && !b.is_gather;
}

bool Overlap(int64_t a, int64_t a_bytes, int64_t b, int64_t b_bytes) {
  return a < b + b_bytes && b < a + a_bytes;
}

// True if a load reads some bytes that the store has written and some that it
// has not, so that the processor cannot forward the store's data to the load.
bool IsBlocked(const MemoryAccess& store, const MemoryAccess& load) {
  const bool is_inside = load.offset >= store.offset &&
                         load.offset + load.bytes <= store.offset + store.bytes;
  return !is_inside &&
         Overlap(store.offset, store.bytes, load.offset, load.bytes);
}

bool IsAliased(const MemoryAccess& store, const MemoryAccess& load) {
  constexpr int64_t kPage = 4096;
  if (Overlap(store.offset, store.bytes, load.offset, load.bytes)) return false;
  const int64_t apart = load.offset - store.offset;
  const int64_t within = ((apart % kPage) + kPage) % kPage;
  return within < store.bytes || within + load.bytes > kPage;
}

// Number of the latest stores that are assumed to be still in the processor's
// store queue.
constexpr size_t kStoreQueue = 48;

void CountHazards(const Loop& loop, CodeProperties& counts) {
  std::vector<MemoryAccess> stores;
  // The loop's body is examined twice, as an iteration may load what the
  // previous one stored.
  for (int round = 0; round < 2; ++round) {
    for (const Instruction& instruction : loop) {
      for (const MemoryAccess& access : instruction.accesses) {
        if (access.is_store) {
          stores.push_back(access);
          if (stores.size() > kStoreQueue) stores.erase(stores.begin());
          continue;
        }
        bool is_blocked = false, is_aliased = false, is_known = false;
        // Stores are examined from the latest one backwards. The search ends at
        // a store that overlaps the load, because that store gives the load its
        // data.
        for (size_t i = stores.size(); i-- > 0 && !is_known;) {
          if (!HaveSameBase(stores[i], access)) continue;
          is_blocked |= IsBlocked(stores[i], access);
          is_aliased |= IsAliased(stores[i], access);
          is_known = Overlap(stores[i].offset, stores[i].bytes, access.offset,
                             access.bytes);
        }
        // Only the second pass over the body is counted: all hazards of the
        // first pass occur in it again.
        if (round == 0) continue;
        counts.blocked_loads += is_blocked;
        counts.aliased_loads += is_aliased;
      }
      for (const std::string& changed : instruction.written) {
        std::erase_if(stores, [&](const MemoryAccess& store) {
          return DependsOn(store, changed);
        });
      }
    }
  }
}

}  // namespace

CodeProperties& CodeProperties::operator+=(const CodeProperties& other) {
  loops += other.loops;
  instructions += other.instructions;
  spilled_vectors += other.spilled_vectors;
  spilled_integers += other.spilled_integers;
  gathers += other.gathers;
  arithmetic += other.arithmetic;
  scalar_arithmetic += other.scalar_arithmetic;
  blocked_loads += other.blocked_loads;
  aliased_loads += other.aliased_loads;
  return *this;
}

CodeProperties PropertiesOf(std::string_view assembly) {
  CodeProperties counts;
  for (const Loop& loop : InnermostLoops(ParseAssembly(assembly))) {
    ++counts.loops;
    counts.instructions += static_cast<int>(loop.size());
    for (const Instruction& instruction : loop) {
      counts.arithmetic += instruction.is_float_arithmetic;
      counts.scalar_arithmetic +=
          instruction.is_float_arithmetic && !instruction.is_lane;
      for (const MemoryAccess& access : instruction.accesses) {
        counts.gathers += access.is_gather;
        if (!IsOnStack(access)) continue;
        if (instruction.vector_bytes > 0)
          ++counts.spilled_vectors;
        else
          counts.spilled_integers += access.is_store;
      }
    }
    CountHazards(loop, counts);
  }
  return counts;
}

}  // namespace ember::tests
