// Counts the work that a dispatch must do at least for given parameters:
// operations and memory traffic, to compare its time with the machine's limits.
//
//   EMBER_ASSIGN_OR_RETURN(DispatchWork work, WorkOf(dispatch, parameters));
//   // work.operations == 2 * m * n * k for a product of matrices
//
// The tensor expressions are counted. Each arithmetic instruction (a
// transcendental function, too) and each step of a reduction is one operation
// for every point of the axes that it depends on. Index arithmetic, casts and
// copies are not counted. An element of an input or output that is read or
// written counts once; temporaries do not count.
#ifndef EMBER_TOOLS_LIB_REPORT_DISPATCH_WORK_H_
#define EMBER_TOOLS_LIB_REPORT_DISPATCH_WORK_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "tensor/dispatch.h"

namespace ember::tools {

struct DispatchWork {
  double operations = 0;
  double bytes = 0;
  std::vector<double> input_bytes;  // the part of `bytes` that each input
                                    // causes
  double points = 0;                // number of points of the iteration spaces
                                    // of all stages
  // Describes the work for people by the last result's type and the largest
  // reduction: "1x28x28x8xf32, sum of 9".
  std::string text;
};

// Counts the work of a dispatch. Error: the dispatch cannot have these
// parameters.
StatusOr<DispatchWork> WorkOf(const tensor::Dispatch& dispatch,
                              std::span<const int64_t> parameters);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_REPORT_DISPATCH_WORK_H_
