#include "compiler/lowering/stage_summary.h"

#include <algorithm>
#include <span>

#include "compiler/lowering/group_builder.h"
#include "tensor/dispatch.h"

namespace ember::compiler {
namespace {

using tensor::Dispatch;
using tensor::Instruction;
using tensor::Opcode;
using tensor::Register;
using tensor::Stage;

// Returns the number of leading dims of a buffer that the stage's leading
// spatial axes index over their full extent.
int IdentityDepth(const Dispatch& dispatch, const Stage& stage,
                  const tensor::Buffer& buffer,
                  std::span<const Register> indices) {
  int depth = 0;
  for (size_t i = 0; i < indices.size() && i < stage.spatial.size(); ++i) {
    const Instruction& index = dispatch.instructions[indices[i]];
    if (index.opcode != Opcode::kAxis || index.immediate != i ||
        stage.spatial[i].extent != buffer.extents[i]) {
      // An axis of extent 1 is often written as the constant 0.
      const Instruction& extent = dispatch.instructions[buffer.extents[i]];
      const bool unit = extent.opcode == Opcode::kConstant &&
                        extent.immediate == 1 &&
                        stage.spatial[i].extent == buffer.extents[i];
      const bool zero =
          index.opcode == Opcode::kConstant && index.immediate == 0;
      if (!unit || !zero) break;
    }
    ++depth;
  }
  return depth;
}

}  // namespace

StageSummary Summarize(const graph::Operation& operation,
                       const std::set<const graph::Value*>& stored) {
  DispatchRequest request;
  request.name = "summary";
  request.operations = {&operation};
  request.alias_reshapes = false;
  for (const auto& result : operation.results())
    request.outputs.insert(result.get());
  const BuiltDispatch built = BuildDispatch(request, stored);
  const Dispatch& dispatch = built.dispatch;

  StageSummary summary;
  summary.write_depth = 1 << 20;
  const auto lower = [](int& depth, int value) {
    depth = std::min(depth, value);
  };
  for (const Stage& stage : dispatch.stages) {
    for (const tensor::Store& store : stage.stores) {
      lower(summary.write_depth,
            IdentityDepth(dispatch, stage, dispatch.buffers[store.buffer],
                          store.indices));
    }
    for (uint32_t i = stage.begin; i < stage.end; ++i) {
      const Instruction& instruction = dispatch.instructions[i];
      if (instruction.opcode != Opcode::kLoad &&
          instruction.opcode != Opcode::kPad)
        continue;
      const tensor::Buffer& buffer = dispatch.buffers[instruction.a];
      const int depth =
          IdentityDepth(dispatch, stage, buffer,
                        std::span(dispatch.operands)
                            .subspan(instruction.b, buffer.extents.size()));
      if (buffer.kind != tensor::BufferKind::kInput) {
        lower(summary.write_depth,
              // The depth of an operation is the smallest one over its stages,
              // as one stage runs after the other.
              depth);
        continue;
      }
      const graph::Value* value = built.inputs[instruction.a];
      lower(summary.read_depth.try_emplace(value, depth).first->second, depth);
    }
  }
  // A stored value that is read by no load (in x * 0 the loads of x are
  // dropped) is still an operand of the dispatch, so its producer must run
  // before.
  for (const graph::Value* value : built.inputs) {
    if (value != nullptr)
      summary.read_depth.try_emplace(value, summary.write_depth);
  }
  return summary;
}

}  // namespace ember::compiler
