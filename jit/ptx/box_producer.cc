#include "jit/ptx/box_producer.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "jit/loops/copied_box.h"
#include "jit/ptx/box_functions.h"

namespace ember::jit::ptx {

using llvm_ir::Builder;
using llvm_ir::ExpressionEmitter;

using llvm::Value;
using loops::NodeId;

// The coordinates of a box are those of its first element: the one that the
// loop's store copies if all loop variables are 0.
void EmitBoxes(const loops::LoopNest& nest, const loops::Statement& loop,
               RingBarriers& barriers, PtxArguments& arguments,
               ExpressionEmitter& expressions, Builder& builder) {
  const loops::CopiedBox& copy = *loop.box;
  std::vector<NodeId> variables;
  const loops::Statement* inner = &loop;
  for (; inner->stores.empty(); inner = inner->body.data()) {
    if (inner->kind == loops::Statement::Kind::kFor)
      variables.push_back(inner->variable);
  }
  const loops::Store& store = inner->stores[0];
  const std::vector<NodeId>& from = nest.pool[store.value].operands;
  const auto number = [&](int64_t value) {
    return builder.getInt64(static_cast<uint64_t>(value));
  };
  expressions.BeginStatement();
  for (const NodeId variable : variables)
    expressions.scopes().Enter(nullptr, variable, number(0));
  Value* const slot = expressions.Emit(store.indices[0]);
  Value* const full = barriers.Full(copy.ring, slot);
  std::vector<Value*> begin;
  for (size_t d = 0; d < copy.dims.size(); ++d) {
    Value* const index = expressions.Emit(from[d]);
    begin.push_back(copy.dims[d] ? builder.CreateSub(
                                       index, expressions.Emit(
                                                  store.indices[*copy.dims[d]]))
                                 : index);
  }
  Value* const to =
      builder.CreateGEP(builder.getInt8Ty(), arguments.Buffer(builder, copy.to),
                        builder.CreateMul(slot, number(copy.ring_slot_bytes)));
  for (const loops::CopiedBox::Piece& piece : copy.pieces) {
    std::vector<Value*> coordinates;
    for (size_t i = begin.size(); i-- > 0;) {
      const uint32_t d = copy.order[i];
      coordinates.push_back(builder.CreateTrunc(
          builder.CreateAdd(begin[d], number(piece.offsets[d])),
          builder.getInt32Ty()));
    }
    EmitCopyBox(
        builder, arguments.Box(copy), coordinates,
        builder.CreateConstInBoundsGEP1_64(
            builder.getInt8Ty(), to, static_cast<uint64_t>(piece.position)),
        full);
  }
  for (size_t i = 0; i < variables.size(); ++i) expressions.scopes().Leave();
}

}  // namespace ember::jit::ptx
