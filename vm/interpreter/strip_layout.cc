#include <algorithm>

#include "base/check.h"
#include "base/rounding.h"
#include "vm/interpreter/strip_compiler.h"

namespace ember::vm {

using tensor::Combiner;
using tensor::Instruction;
using tensor::Opcode;
using tensor::Register;
using tensor::Update;

namespace {

constexpr int64_t kTileAlignment = 64;

}  // namespace

int64_t StripCompiler::SizeOf(const StripSlot& slot) const {
  const int64_t elements = (slot.shape.rows ? program_.max_rows : 1) *
                           (slot.shape.columns ? program_.max_columns : 1);
  const int64_t bytes = elements * slot.element_size;
  return RoundUp(bytes, kTileAlignment);
}

void StripCompiler::AllocateTiles() {
  struct Life {
    int first = -1, last = -1;
    Level first_level = kPrologue, last_level = kPrologue;
  };
  std::vector<Life> lives(program_.slots.size());
  int position = 0;
  const auto for_each_op = [&](auto&& visit) {
    position = 0;
    for (Level level : {kPrologue, kInitial, kStep, kEpilogue}) {
      for (const StripOp& op : OpsOf(level)) visit(op, level), ++position;
    }
  };
  for_each_op([&](const StripOp& op, Level level) {
    for (int slot : {op.destination, op.a, op.b, op.c}) {
      Life& life = lives[slot];
      if (life.first < 0) life.first = position, life.first_level = level;
      life.last = position;
      life.last_level = level;
    }
  });
  // free memory, as pairs of size and offset
  std::vector<std::pair<int64_t, int64_t>> free_blocks;
  const auto allocate = [&](StripSlot& slot) {
    const int64_t size = SizeOf(slot);
    for (size_t i = 0; i < free_blocks.size(); ++i) {
      if (free_blocks[i].first != size) continue;
      slot.scratch_offset = free_blocks[i].second;
      free_blocks.erase(free_blocks.begin() + static_cast<ptrdiff_t>(i));
      return;
    }
    slot.scratch_offset = program_.scratch_bytes;
    program_.scratch_bytes += size;
  };
  for (size_t i = 0; i < program_.slots.size(); ++i) {
    if (program_.slots[i].kind == StripSlot::kTile &&
        (lives[i].first < 0 || program_.slots[i].keeps)) {
      allocate(
          // The tile of a view with guards, and that of a broadcast, is in use
          // during the whole program.
          program_.slots[i]);
    }
  }
  for_each_op([&](const StripOp& op, Level) {
    StripSlot& destination = program_.slots[op.destination];
    if (destination.kind == StripSlot::kTile &&
        destination.scratch_offset < 0) {
      allocate(destination);
    }
    const int touched[4] = {op.destination, op.a, op.b, op.c};
    for (int i = 0; i < 4; ++i) {
      if (std::find(touched, touched + i, touched[i]) != touched + i) continue;
      const StripSlot& slot = program_.slots[touched[i]];
      const Life& life = lives[touched[i]];
      if (slot.kind == StripSlot::kTile && life.last == position &&
          life.first_level == life.last_level && slot.scratch_offset >= 0 &&
          !slot.keeps) {
        free_blocks.push_back({SizeOf(slot), slot.scratch_offset});
      }
    }
  });
}

}  // namespace ember::vm
