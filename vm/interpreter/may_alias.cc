#include <algorithm>
#include <vector>

#include "tensor/analysis/self_copy.h"
#include "vm/interpreter/plan.h"

namespace ember::vm {

using tensor::Dispatch;
using tensor::Instruction;
using tensor::Opcode;
using tensor::Register;
using tensor::Stage;

namespace {

// True if the two extents are known to be equal for all values of the
// parameters.
bool SameExtent(const Dispatch& dispatch, Register a, Register b) {
  if (a == b) return true;
  const Instruction& x = dispatch.instructions[a];
  const Instruction& y = dispatch.instructions[b];
  return x.opcode == Opcode::kConstant && y.opcode == Opcode::kConstant &&
         x.immediate == y.immediate;
}

// True if the index of each dimension d is the stage's axis d, so that a point
// accesses its own position.
bool IsIdentity(const Dispatch& dispatch, const Register* indices,
                size_t rank) {
  for (size_t d = 0; d < rank; ++d) {
    const Instruction& index = dispatch.instructions[indices[d]];
    if (index.opcode != Opcode::kAxis || index.immediate != d) return false;
  }
  return true;
}

// True if for each dimension d of the buffer the stage's axis d runs over the
// whole dimension.
bool CoversBuffer(const Dispatch& dispatch, const Stage& stage,
                  const tensor::Buffer& buffer) {
  const size_t spatial = stage.spatial.size();
  if (buffer.extents.size() > spatial + stage.reduction.size()) return false;
  for (size_t d = 0; d < buffer.extents.size(); ++d) {
    const tensor::Axis& axis =
        d < spatial ? stage.spatial[d] : stage.reduction[d - spatial];
    if (!SameExtent(dispatch, axis.extent, buffer.extents[d])) return false;
  }
  return true;
}

enum class Reads { kNone, kIdentity, kOther };

Reads ReadsOf(const Dispatch& dispatch, const Stage& stage, uint32_t buffer) {
  Reads reads = Reads::kNone;
  for (uint32_t i = stage.begin; i < stage.end; ++i) {
    const Instruction& instruction = dispatch.instructions[i];
    const bool load = instruction.opcode == Opcode::kLoad ||
                      instruction.opcode == Opcode::kPad;
    if (!load || instruction.a != buffer) continue;
    if (!IsIdentity(dispatch, dispatch.operands.data() + instruction.b,
                    dispatch.buffers[buffer].extents.size())) {
      return Reads::kOther;
    }
    reads = Reads::kIdentity;
  }
  return reads;
}

}  // namespace

namespace {

// True if the only stages that read the input copy its elements to the same
// positions of the output, and if each element of the output is stored once and
// not read. If both are the same memory, the copying stages then have nothing
// to do, and the others write only the elements that are not copied.
bool OnlyCopiesItself(const Dispatch& dispatch, uint32_t input,
                      uint32_t output) {
  std::vector<const Stage*> writers;
  bool copies = false;
  for (const Stage& stage : dispatch.stages) {
    if (ReadsOf(dispatch, stage, output) != Reads::kNone) return false;
    const bool writes =
        std::ranges::count(stage.stores, output, &tensor::Store::buffer) > 0;
    if (writes) writers.push_back(&stage);
    if (tensor::IsSelfCopy(dispatch, stage, input, output)) {
      copies = true;
    } else if (ReadsOf(dispatch, stage, input) != Reads::kNone) {
      return false;
    }
  }
  return copies && tensor::StorePartition(dispatch, writers, output);
}

}  // namespace

bool MayAlias(const Dispatch& dispatch, int input, int output) {
  const tensor::Buffer& from = dispatch.buffers[input];
  const tensor::Buffer& to = dispatch.buffers[output];
  if (from.type != to.type || from.extents.size() != to.extents.size())
    return false;
  for (size_t d = 0; d < from.extents.size(); ++d) {
    if (!SameExtent(dispatch, from.extents[d], to.extents[d])) return false;
  }
  if (OnlyCopiesItself(dispatch, static_cast<uint32_t>(input),
                       static_cast<uint32_t>(output)))
    return true;
  bool written = false;
  for (const Stage& stage : dispatch.stages) {
    const Reads reads = ReadsOf(dispatch, stage, static_cast<uint32_t>(input));
    if (reads == Reads::kOther) return false;
    bool writes = false;
    for (const tensor::Store& store : stage.stores) {
      if (store.buffer != static_cast<uint32_t>(output)) continue;
      writes = true;
      // The only store of a stage that writes the output must assign to the
      // point's own position. A reduction that reads the input may not write
      // the output, because it may accumulate there while it still reads.
      if (reads != Reads::kNone && !stage.reduction.empty()) return false;
      if (written || stage.stores.size() != 1 ||
          store.update != tensor::Update::kAssign ||
          stage.spatial.size() != to.extents.size() ||
          !IsIdentity(dispatch, store.indices.data(), store.indices.size())) {
        return false;
      }
    }
    if (reads == Reads::kIdentity) {
      if (written) return false;
      // An earlier stage that reads the input may run row by row together with
      // the stage that writes the output, so it must read only the elements of
      // its own row.
      if (!CoversBuffer(dispatch, stage, from)) return false;
    }
    written |= writes;
  }
  return written;
}

}  // namespace ember::vm
