// What shapes a module's results will have, without a run: the integers of its
// entry program are computed, and nothing else.
//
//   EMBER_ASSIGN_OR_RETURN(auto results, ResultShapes(*module, {{{2, 3}}}));
//   results[0][1].number        // the extent of result 0's second dim
//   DescribeResults(*module)[0][1].text    // "2*N+1"
//
// Thread-safe.
// Errors: those that a run would meet with inputs of these shapes: a wrong
// number or shape, a check of the program on them, overflow.
#ifndef EMBER_VM_RUNTIME_RESULT_SHAPES_H_
#define EMBER_VM_RUNTIME_RESULT_SHAPES_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "vm/runtime/module.h"

namespace ember::vm {

// An extent: a number, else what it is computed from, in the names of the
// inputs' symbols, else (it depends on data, on which way a program goes, or is
// a text of more than 100 bytes) "?". Expressions: + - * // % min max, with
// floor division and its remainder.
struct ExtentValue {
  int64_t number = -1;  // -1: not known
  std::string text;     // of a number its digits
};

using ResultExtents = std::vector<std::vector<ExtentValue>>;

// By result and dim. shapes: one per input.
StatusOr<ResultExtents> ResultShapes(
    const Module& module, std::span<const std::vector<int64_t>> shapes);

// The same of inputs whose symbols may be anything.
ResultExtents DescribeResults(const Module& module);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_RESULT_SHAPES_H_
