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

constexpr Rule kRules[] = {
    Bools,
    // Rules for instructions that choose one of their operands. These rules
    // come before those that compute narrow types in wider ones, because
    // choosing an operand needs no rounding.
    Signs,
    Extremes,
    // The rule for narrow integers comes before the other rules for integers,
    // which then get wide ones only.
    NarrowIntegers,
    // The rules for narrow floats come before the other rules for floats, which
    // then get f32 and f64 only.
    NarrowCasts,
    NarrowFloats,
    SaturatingCasts,
    Rounding,
    Division,
    Shifts,
};

}  // namespace

std::span<const Rule> AllRules() { return kRules; }

}  // namespace ember::jit::legalise
