// Makes a loop nest wrong in one place, as a bug of a schedule, of lowering or
// of a back end would. Tests use such mutants to see if the checks of kernels
// notice wrong ones.
//
//   LoopNest wrong = *BuildNest(request, {}, nullptr);
//   const auto what = Mutate(wrong, MutantKind::kWrongLane, seed);
//   if (what.has_value() && Verify(wrong).ok()) ...   // compile it
//
// Equal nests, kinds and seeds give equal mutants. A mutant may access memory
// out of bounds (Verify finds out), or compute the same as the nest.
#ifndef EMBER_JIT_LOOPS_TESTING_MUTANTS_H_
#define EMBER_JIT_LOOPS_TESTING_MUTANTS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "jit/loops/loop_nest.h"

namespace ember::loops {

// Rows of the table: (name of the kind, its text in messages).
// clang-format off
#define EMBER_FOR_EACH_MUTANT_KIND(row) \
  row(WrongIndex, "wrong index")           /* moves an index by one */ \
  row(DroppedGuard, "dropped guard")       /* drops an if, select or pad */ \
  row(SwappedOperand, "swapped operand")   /* swaps or repeats an operand */ \
  row(WrongLane, "wrong lane")             /* reverses or shifts lanes */ \
  row(OffByOne, "off-by-one bound")        /* skips last iteration or task */ \
  row(ReassociatedSum, "reassociated sum") /* loses digits or earlier terms */
// clang-format on

enum class MutantKind : uint8_t {
#define EMBER_ROW(name, text) k##name,
  EMBER_FOR_EACH_MUTANT_KIND(EMBER_ROW)
#undef EMBER_ROW
};
inline constexpr const char* kMutantTexts[] = {
#define EMBER_ROW(name, text) text,
    EMBER_FOR_EACH_MUTANT_KIND(EMBER_ROW)
#undef EMBER_ROW
};
inline constexpr int kMutantKindCount =
    sizeof(kMutantTexts) / sizeof(kMutantTexts[0]);

// Changes one place of the nest, chosen by the seed, and returns a description
// of the change. nullopt if the nest has no place for that kind.
std::optional<std::string> Mutate(LoopNest& nest, MutantKind kind,
                                  uint64_t seed);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_TESTING_MUTANTS_H_
