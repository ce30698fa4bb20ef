// Decisions of code about extents that are known before the run. Open extents
// may be 0, but code that compares them is imported for tensors with elements:
// a branch for empty tensors may give values of other types, and both branches
// could not be merged. The program checks what a decision relies on.
#ifndef EMBER_FRONTENDS_TORCHSCRIPT_KNOWN_EXTENTS_H_
#define EMBER_FRONTENDS_TORCHSCRIPT_KNOWN_EXTENTS_H_

#include "frontends/ops/dims.h"
#include "frontends/torchscript/call.h"

namespace ember::torchscript {

// Returns the bounds of the expression if each open extent of the inputs is at
// least 1.
ops::DimRange RangeIfNotEmpty(const Dim& dim);

// Makes the program fail if an extent of the inputs that the expression
// contains is 0.
void RequireNotEmpty(Call& c, const Dim& dim);

// True if the expression is not 0 for extents of at least 1. If it could be 0
// for an extent of 0, the program checks that there is none.
bool IsNeverZero(Call& c, const Dim& dim);

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_KNOWN_EXTENTS_H_
