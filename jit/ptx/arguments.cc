#include "jit/ptx/arguments.h"

#include <algorithm>
#include <tuple>

#include "base/dtype.h"
#include "base/rounding.h"
#include "jit/target/shared_panels.h"
#include "vm/format/device_abi.h"

namespace ember::jit::ptx {

using llvm_ir::Builder;
using loops::BufferStorage;
using loops::StorageKind;

using llvm::Value;

namespace {

// Returns the address of an element in a buffer of panels that begins at
// `begin`. `pointer` is the address that it would have if the buffer were
// row-major. `unit` is a power of two that divides the offset; the code clears
// the bits below it, since LLVM cannot derive that they are 0 in a difference
// of addresses.
Value* AddressInPanels(Builder& builder, const SharedPanels& panels,
                       Value* begin, Value* pointer, int64_t unit) {
  llvm::Type* const type = builder.getInt64Ty();
  const auto number = [&](int64_t value) {
    return builder.getInt64(static_cast<uint64_t>(value));
  };
  const auto scaled = [&](Value* value, int64_t by) {
    return builder.CreateMul(value, number(by));
  };
  Value* offset = builder.CreateSub(builder.CreatePtrToInt(pointer, type),
                                    builder.CreatePtrToInt(begin, type));
  if (unit > 1) offset = builder.CreateAnd(offset, number(-unit));
  Value* const in_matrix =
      builder.CreateURem(offset, number(panels.rows * panels.row_bytes));
  Value* const row = builder.CreateUDiv(in_matrix, number(panels.row_bytes));
  Value* const column = builder.CreateURem(in_matrix, number(panels.row_bytes));
  Value* const panel = builder.CreateUDiv(column, number(kPanelRowBytes));
  Value* const exchanged =
      scaled(builder.CreateAnd(row, number(kPanelRows - 1)), kPanelPieceBytes);
  Value* const in_row = builder.CreateXor(
      builder.CreateURem(column, number(kPanelRowBytes)), exchanged);
  Value* position = builder.CreateSub(offset, in_matrix);
  position = builder.CreateAdd(position, scaled(panel, panels.PanelBytes()));
  position = builder.CreateAdd(position, scaled(row, kPanelRowBytes));
  position = builder.CreateAdd(position, in_row);
  return builder.CreateGEP(builder.getInt8Ty(), begin, position);
}

vm::BoxMap BoxMapOf(const Layout& layout, const loops::CopiedBox& copy) {
  vm::BoxMap box;
  box.binding = layout.arguments[copy.from];
  box.box = copy.box;
  if (!std::ranges::is_sorted(copy.order)) box.order = copy.order;
  box.is_swizzled = true;
  return box;
}

// Adds the tensor maps of all boxes that the block copies.
void AddBoxes(const loops::Block& block, Layout& layout) {
  for (const loops::Statement& statement : block) {
    if (statement.box != nullptr)
      layout.boxes.push_back(BoxMapOf(layout, *statement.box));
    AddBoxes(statement.body, layout);
  }
}

}  // namespace

Layout LayOut(const loops::LoopNest& nest, const loops::Phase& phase) {
  const loops::Workgroup& workgroup = phase.workgroup;
  Layout layout;
  layout.arguments.resize(workgroup.storage.size());
  layout.shared_offsets.resize(workgroup.storage.size());
  for (uint32_t i = 0; i < workgroup.storage.size(); ++i) {
    const BufferStorage& storage = workgroup.storage[i];
    const bool is_sliced = storage.kind == StorageKind::kSlices;
    if (is_sliced || storage.kind == StorageKind::kMemory) {
      layout.arguments[i] = static_cast<unsigned>(layout.bindings.size());
      layout.bindings.push_back({i, is_sliced, storage.is_written});
    } else if (storage.kind == StorageKind::kShared) {
      layout.shared_offsets[i] = storage.offset.value_or(0);
    }
  }
  layout.shared_bytes = workgroup.shared_bytes;
  layout.record = static_cast<unsigned>(layout.bindings.size());
  layout.first_parameter = layout.record + workgroup.has_checks;
  layout.first_box = layout.first_parameter +
                     static_cast<unsigned>(nest.parameters.size()) + 1;
  // The fills of one ring copy the same boxes from different positions, so they
  // share tensor maps; equal ones are removed.
  AddBoxes(phase.body, layout);
  const auto key = [](const vm::BoxMap& box) {
    return std::tie(box.binding, box.box, box.order);
  };
  std::ranges::sort(layout.boxes, {}, key);
  const auto same = std::ranges::unique(layout.boxes);
  layout.boxes.erase(same.begin(), same.end());
  return layout;
}

// The size includes the gap before the tensor maps, which begin at the
// alignment that CUDA requires for them.
int64_t ArgumentBytes(const Layout& layout) {
  const int64_t numbers = 8 * int64_t{layout.first_box};
  if (layout.boxes.empty()) return numbers;
  return RoundUp(numbers, int64_t{vm::kBoxMapBytes}) +
         static_cast<int64_t>(layout.boxes.size() * vm::kBoxMapBytes);
}

Value* PtxArguments::Box(const loops::CopiedBox& copy) {
  const auto box = std::ranges::find(layout_.boxes, BoxMapOf(layout_, copy));
  return function_.getArg(layout_.first_box +
                          static_cast<unsigned>(box - layout_.boxes.begin()));
}

Value* PtxArguments::AddressOf(Builder& builder, uint32_t buffer,
                               const RowMajorAddress& at) {
  const SharedPanels panels = {workgroup_.storage[buffer].panels};
  const int64_t bytes = DTypeByteSize(nest_.buffers[buffer].type);
  const int64_t constant = at.constant * bytes;
  // A vector of lanes is never longer than a piece of a panel's row and is
  // aligned to its size (MayStoreToPanels), so its offset is a multiple of
  // that.
  const int64_t unit = at.lanes > 1 ? at.lanes * bytes : 1;
  llvm::Type* const byte = builder.getInt8Ty();
  // Adds the constant to the address at the end if that is possible, so that
  // elements that differ only in the constant share the rest of the
  // computation.
  if (at.is_of_parts && panels.IsStep(constant)) {
    return builder.CreateConstGEP1_64(
        byte, AddressInPanels(builder, panels, at.begin, at.pointer, unit),
        static_cast<uint64_t>(panels.PositionOf(constant)));
  }
  return AddressInPanels(builder, panels, at.begin,
                         builder.CreateConstGEP1_64(
                             byte, at.pointer, static_cast<uint64_t>(constant)),
                         unit);
}

}  // namespace ember::jit::ptx
