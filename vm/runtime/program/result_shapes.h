// Computes the shapes that a module's results will have, without a run: it only
// evaluates the integer instructions of the entry program.
//
//   EMBER_ASSIGN_OR_RETURN(auto results, ResultShapes(*module, {{{2, 3}}}));
//   results[0][1].number        // the extent of result 0's second dim
//   DescribeResults(*module)[0][1].text    // "2*N+1"
//
// Thread-safe. Errors are those that a run with inputs of these shapes would
// return: a wrong number or shape of inputs, a failed check of the program on
// shapes, overflow.
#ifndef EMBER_VM_RUNTIME_PROGRAM_RESULT_SHAPES_H_
#define EMBER_VM_RUNTIME_PROGRAM_RESULT_SHAPES_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "vm/runtime/module.h"

namespace ember::vm {

// An extent: a number, or an expression in the names of the inputs' symbols.
// The text is "?" if the extent depends on data or on which branches the
// program takes, or if the expression has more than 100 bytes. Operators are +
// - * // % min max, where // is the quotient rounded down and % its remainder.
struct ExtentValue {
  int64_t number = -1;  // The extent, if it is a number; -1 otherwise.
  std::string text;     // The expression as text; decimal digits if the extent
                        // is a number.
};

using ResultExtents = std::vector<std::vector<ExtentValue>>;

// Returns the extents of each result's dims. `shapes` has one shape per input.
StatusOr<ResultExtents> ResultShapes(
    const Module& module, std::span<const std::vector<int64_t>> shapes);

// Returns the extents of each result's dims as expressions: the symbols of the
// inputs may have any value.
ResultExtents DescribeResults(const Module& module);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_PROGRAM_RESULT_SHAPES_H_
