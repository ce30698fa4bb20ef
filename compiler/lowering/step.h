// One step of a program: a dispatch, or an operation that the program runs
// itself.
#ifndef EMBER_COMPILER_LOWERING_STEP_H_
#define EMBER_COMPILER_LOWERING_STEP_H_

#include <cstdint>
#include <vector>

#include "compiler/graph/graph.h"
#include "compiler/lowering/group_builder.h"

namespace ember::compiler {

struct Step {
  // `dispatch` is the dispatch that the step calls and `dispatch_number` its
  // number in the module. If `dispatch` is null, the program runs `operation`
  // itself.
  const BuiltDispatch* dispatch = nullptr;
  uint32_t dispatch_number = 0;
  const graph::Operation* operation = nullptr;
  // `inputs` are the values whose memory the step reads (storage roots),
  // `outputs` those whose memory it writes, and `made` those whose memory it
  // allocates (results of calls).
  std::vector<const graph::Value*> inputs;
  std::vector<const graph::Value*> outputs;
  std::vector<const graph::Value*> made;
};

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_LOWERING_STEP_H_
