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

// Returns the number of leading dims of a buffer for which an access uses the
// stage's own axes: dim i is indexed by spatial axis i, over the dim's full
// extent.
int IdentityDepth(const Dispatch& dispatch, const Stage& stage,
                  const tensor::Buffer& buffer,
                  std::span<const Register> indices) {
  int depth = 0;
  for (size_t i = 0; i < indices.size() && i < stage.spatial.size(); ++i) {
    const Instruction& index = dispatch.instructions[indices[i]];
    if (index.opcode != Opcode::kAxis || index.immediate != i ||
        stage.spatial[i].extent != buffer.extents[i]) {
      // The index along an axis of extent 1 is often written as the constant 0,
      // which counts as the axis.
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
              // An operation may store its result in several stages, which run
              // one after the other, so the smallest depth counts.
              depth);
        continue;
      }
      const graph::Value* value = built.inputs[instruction.a];
      lower(summary.read_depth.try_emplace(value, depth).first->second, depth);
    }
  }
  // A stored value may be an operand of the dispatch although no load reads it:
  // simplification drops the loads of x in x * 0. It is listed all the same,
  // because its producer must run before.
  for (const graph::Value* value : built.inputs) {
    if (value != nullptr)
      summary.read_depth.try_emplace(value, summary.write_depth);
  }
  return summary;
}

}  // namespace ember::compiler
