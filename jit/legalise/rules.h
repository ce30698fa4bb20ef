// Lists the rules, in the order in which they are applied to an instruction.
#ifndef EMBER_JIT_LEGALISE_RULES_H_
#define EMBER_JIT_LEGALISE_RULES_H_

#include <span>

#include "jit/legalise/legaliser.h"

namespace ember::jit::legalise {

std::span<const RuleRow> AllRules();

}  // namespace ember::jit::legalise

#endif  // EMBER_JIT_LEGALISE_RULES_H_
