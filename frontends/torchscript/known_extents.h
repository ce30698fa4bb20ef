// Decides conditions of a model's code about open extents during the import,
// under the assumption that the extents are at least 1. A branch for empty
// tensors may give values of other types, so that the branches could not be
// merged. The program checks the assumption where a decision relies on it.
#ifndef EMBER_FRONTENDS_TORCHSCRIPT_KNOWN_EXTENTS_H_
#define EMBER_FRONTENDS_TORCHSCRIPT_KNOWN_EXTENTS_H_

#include "frontends/ops/dims.h"
#include "frontends/torchscript/call.h"

namespace ember::torchscript {

// Returns the bounds of an expression under the assumption that each open
// extent of the inputs is at least 1.
ops::DimRange RangeIfNotEmpty(const Dim& dim);

// Makes the program check that no open extent in the expression is 0.
void RequireNotEmpty(Call& c, const Dim& dim);

// True if the expression is not 0 for extents of at least 1. If it could be 0
// for an extent of 0, the program checks that there is none.
bool IsNeverZero(Call& c, const Dim& dim);

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_KNOWN_EXTENTS_H_
