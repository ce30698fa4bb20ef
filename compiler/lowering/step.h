// What a program does, in order: dispatches, and operations that it runs
// itself.
#ifndef EMBER_COMPILER_LOWERING_STEP_H_
#define EMBER_COMPILER_LOWERING_STEP_H_

#include <cstdint>
#include <vector>

#include "compiler/graph/graph.h"
#include "compiler/lowering/group_builder.h"

namespace ember::compiler {

struct Step {
  // A dispatch and its number in the module; without one, `operation` is run by
  // the program.
  const BuiltDispatch* dispatch = nullptr;
  uint32_t dispatch_number = 0;
  const graph::Operation* operation = nullptr;
  // Values whose memory is read (storage roots), written, and made by the step
  // itself (results of calls).
  std::vector<const graph::Value*> inputs;
  std::vector<const graph::Value*> outputs;
  std::vector<const graph::Value*> made;
};

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_LOWERING_STEP_H_
