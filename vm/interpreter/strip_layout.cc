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

int64_t StripCompiler::SizeOf(const StripRegister& reg) const {
  const int64_t elements = (reg.dims.rows ? program_.max_rows : 1) *
                           (reg.dims.columns ? program_.max_columns : 1);
  const int64_t bytes = elements * reg.element_size;
  return RoundUp(bytes, kTileAlignment);
}

void StripCompiler::AllocateTiles() {
  struct Life {
    int first = -1, last = -1;
    Level first_level = kPrologue, last_level = kPrologue;
  };
  std::vector<Life> lives(program_.registers.size());
  int position = 0;
  const auto for_each_op = [&](auto&& visit) {
    position = 0;
    for (Level level : {kPrologue, kInitial, kStep, kEpilogue}) {
      for (const StripOp& op : OpsOf(level)) visit(op, level), ++position;
    }
  };
  for_each_op([&](const StripOp& op, Level level) {
    for (int reg : {op.destination, op.a, op.b, op.c}) {
      Life& life = lives[reg];
      if (life.first < 0) life.first = position, life.first_level = level;
      life.last = position;
      life.last_level = level;
    }
  });
  // free scratch memory, as pairs of size and offset
  std::vector<std::pair<int64_t, int64_t>> free_blocks;
  const auto allocate = [&](StripRegister& reg) {
    const int64_t size = SizeOf(reg);
    for (size_t i = 0; i < free_blocks.size(); ++i) {
      if (free_blocks[i].first != size) continue;
      reg.scratch_offset = free_blocks[i].second;
      free_blocks.erase(free_blocks.begin() + static_cast<ptrdiff_t>(i));
      return;
    }
    reg.scratch_offset = program_.scratch_bytes;
    program_.scratch_bytes += size;
  };
  for (size_t i = 0; i < program_.registers.size(); ++i) {
    if (program_.registers[i].kind == StripRegister::kTile &&
        (lives[i].first < 0 || program_.registers[i].keeps)) {
      allocate(
          // These tiles get memory of their own: tiles of views with guards and
          // of broadcasts, and tiles that keep their contents, are in use
          // during the whole program.
          program_.registers[i]);
    }
  }
  for_each_op([&](const StripOp& op, Level) {
    StripRegister& destination = program_.registers[op.destination];
    if (destination.kind == StripRegister::kTile &&
        destination.scratch_offset < 0) {
      allocate(destination);
    }
    const int touched[4] = {op.destination, op.a, op.b, op.c};
    for (int i = 0; i < 4; ++i) {
      if (std::find(touched, touched + i, touched[i]) != touched + i) continue;
      const StripRegister& reg = program_.registers[touched[i]];
      const Life& life = lives[touched[i]];
      if (reg.kind == StripRegister::kTile && life.last == position &&
          life.first_level == life.last_level && reg.scratch_offset >= 0 &&
          !reg.keeps) {
        free_blocks.push_back({SizeOf(reg), reg.scratch_offset});
      }
    }
  });
}

}  // namespace ember::vm
