// Computes the shapes that a module's results will have, without a run: it
// evaluates the integers of the entry program, and nothing else.
//
//   EMBER_ASSIGN_OR_RETURN(auto results, ResultShapes(*module, {{{2, 3}}}));
//   results[0][1].number        // the extent of result 0's second dim
//   DescribeResults(*module)[0][1].text    // "2*N+1"
//
// Thread-safe. Errors: those that a run with inputs of these shapes would
// return: a wrong number or shape, a failed check of the program on them,
// overflow.
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
// The text is "?" if the extent depends on data or on the path of the program,
// or if the expression has more than 100 bytes. Expressions: + - * // % min
// max, with floor division and its remainder.
struct ExtentValue {
  int64_t number = -1;  // the extent, if it is a number; -1: it is not
  std::string text;     // the expression; digits if the extent is a number
};

using ResultExtents = std::vector<std::vector<ExtentValue>>;

// Returns the extents of the results, by result and dim. shapes: one per input.
StatusOr<ResultExtents> ResultShapes(
    const Module& module, std::span<const std::vector<int64_t>> shapes);

// Returns the extents of the results for inputs whose symbols may have any
// value.
ResultExtents DescribeResults(const Module& module);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_PROGRAM_RESULT_SHAPES_H_
