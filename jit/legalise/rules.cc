#include "jit/legalise/rules.h"

#include "jit/legalise/bools.h"
#include "jit/legalise/division.h"
#include "jit/legalise/extremes.h"
#include "jit/legalise/narrow_casts.h"
#include "jit/legalise/narrow_floats.h"
#include "jit/legalise/narrow_integers.h"
#include "jit/legalise/rounding.h"
#include "jit/legalise/saturating_casts.h"
#include "jit/legalise/shifts.h"
#include "jit/legalise/signs.h"

namespace ember::jit::legalise {
namespace {

constexpr RuleRow kRules[] = {
    {"bools", "computes bools by and, or, not and select", Bools},
    // These rules replace instructions that choose one of their operands. They
    // come before the rules that compute narrow types in wider ones, because
    // choosing an operand needs no wider type.
    {"signs", "expresses sign by selects", Signs},
    {"extremes", "expresses min and max of floats by selects", Extremes},
    // The rule for narrow integers comes before other rules for integers, so
    // that those only see integers of 32 and 64 bits.
    {"narrow-integers", "computes integers of 8 and 16 bits in 32 bits",
     NarrowIntegers},
    // The rules for narrow floats come before other rules for floats, so that
    // those only see f32 and f64.
    {"narrow-casts", "expresses casts of narrow floats by integers",
     NarrowCasts},
    {"narrow-floats", "computes narrow floats in f32", NarrowFloats},
    {"saturating-casts", "expresses casts of floats to integers by selects",
     SaturatingCasts},
    {"rounding", "expresses floor, ceil, round and trunc by sums", Rounding},
    {"division", "expresses quotients and remainders by raw ones", Division},
    {"shifts", "expresses shifts by any amount by raw ones", Shifts},
};

}  // namespace

std::span<const RuleRow> AllRules() { return kRules; }

}  // namespace ember::jit::legalise
