// Instructions on memory: allocations, views and slices of memory, and loads
// and stores of single integers.
#include <algorithm>
#include <cstring>

#include "base/concat.h"
#include "tensor/scalar.h"
#include "vm/isa/instruction_table.h"
#include "vm/runtime/program/program_session.h"

namespace ember::vm {

StatusOr<MemoryBlock*> ProgramSession::Acquire(const ProgramInstruction& in,
                                               int64_t bytes) {
  StatusOr<MemoryBlock*> block = memory_.Acquire(bytes);
  if (block.ok()) return block;
  return block.status().WithContext(
      Concat({"program ", frame_->program->name, ": instruction ",
              &in - frame_->code.data(), " (", InfoOf(in.opcode).text, ")"}));
}

Status ProgramSession::Allocate(const ProgramInstruction& in) {
  // The register drops its old block before the new one is acquired, so that an
  // allocation in a loop can reuse its own memory.
  SetBuffer(in.a, {});
  const int64_t bytes = integers_[in.b];
  if (result_buffers_.has_in_place() && TakeInput(in, bytes)) return OkStatus();
  // The interrupt is checked here, because near the memory limit each block may
  // come from the system, which takes time.
  if (interrupt_.ShouldStop()) return interrupt_.status();
  EMBER_ASSIGN_OR_RETURN(MemoryBlock * block, Acquire(in, bytes));
  buffers_[in.a] = {block->data(), bytes, block};
  return OkStatus();
}

bool ProgramSession::TakeInput(const ProgramInstruction& in, int64_t bytes) {
  if (frame_->caller != nullptr || device_ != nullptr) return false;
  const int64_t number =
      result_buffers_.InputFor(static_cast<size_t>(&in - frame_->code.data()));
  if (number < 0) return false;
  const MemoryReference& input = frame_->inputs[static_cast<size_t>(number)];
  // An input that has a block is the session's copy of an unaligned input, so
  // computing in it would not change the caller's memory.
  if (input.block != nullptr || input.length != bytes || bytes == 0)
    return false;
  SetBuffer(in.a, input);
  return true;
}

Status ProgramSession::CheckRange(const ProgramInstruction& in, int64_t length,
                                  int64_t offset,
                                  const MemoryReference& whole) const {
  if (length >= 0 && offset >= 0 && offset <= whole.length &&
      length <= whole.length - offset) {
    return OkStatus();
  }
  return ErrorAt(in, Concat({"expected a range within ", whole.length,
                             " bytes, found ", length, " at offset ", offset}));
}

void ProgramSession::SetPart(uint32_t reg, const MemoryReference& whole,
                             int64_t offset, int64_t length) {
  if (whole.block != nullptr) whole.block->Hold();
  SetBuffer(reg, {whole.data + offset, length, whole.block});
}

Status ProgramSession::MakeView(const ProgramInstruction& in) {
  const MemoryReference whole = buffers_[in.b];
  const int64_t length = integers_[in.c];
  EMBER_RETURN_IF_ERROR(CheckRange(in, length, in.immediate, whole));
  SetPart(in.a, whole, in.immediate, length);
  return OkStatus();
}

Status ProgramSession::MakeSlice(const ProgramInstruction& in) {
  const MemoryReference whole = buffers_[in.b];
  const int64_t offset = integers_[in.c];
  const int64_t length = integers_[in.immediate];
  EMBER_RETURN_IF_ERROR(CheckRange(in, length, offset, whole));
  const MemoryReference part = {whole.data + offset, length, whole.block};
  if (memory_.CanBind(part)) {
    SetPart(in.a, whole, offset, length);
    return OkStatus();
  }
  EMBER_RETURN_IF_ERROR(limits_.TakeCopy(*frame_->program, length));
  EMBER_RETURN_IF_ERROR(memory_.BeforeRead(part, length));
  EMBER_ASSIGN_OR_RETURN(MemoryBlock * block, Acquire(in, length));
  const MemoryReference copy = {block->data(), length, block};
  Status status = memory_.Copy(part, copy, PositionOf(in));
  SetBuffer(in.a, copy);
  memory_.AfterWrite(copy, length);
  return status;
}

Status ProgramSession::LoadInteger(const ProgramInstruction& in) {
  const MemoryReference& memory = buffers_[in.b];
  const DType type = static_cast<DType>(in.c);
  const int size = DTypeByteSize(type);
  EMBER_RETURN_IF_ERROR(CheckRange(in, size, in.immediate, memory));
  const MemoryReference element = {memory.data + in.immediate, size,
                                   memory.block};
  EMBER_RETURN_IF_ERROR(memory_.BeforeRead(element, size));
  EMBER_RETURN_IF_ERROR(
      memory_.BeginHost(element, /*writes=*/false, PositionOf(in)));
  const uint64_t bits =
      tensor::LoadElement(memory.data + in.immediate, 0, type);
  integers_[in.a] =
      type == DType::kBool ? bits != 0
      : type == DType::kU64
          ? static_cast<int64_t>(std::min<uint64_t>(bits, INT64_MAX))
          : tensor::BitsToInteger(bits, type);
  return OkStatus();
}

Status ProgramSession::StoreInteger(const ProgramInstruction& in) {
  const MemoryReference& memory = buffers_[in.a];
  EMBER_RETURN_IF_ERROR(CheckRange(in, sizeof(int64_t), in.immediate, memory));
  // A store counts as work, because stores at scattered positions make the
  // record of written ranges slow.
  EMBER_RETURN_IF_ERROR(limits_.TakeCopy(*frame_->program, sizeof(int64_t)));
  const MemoryReference place = {memory.data + in.immediate, sizeof(int64_t),
                                 memory.block};
  EMBER_RETURN_IF_ERROR(
      memory_.BeginHost(place, /*writes=*/true, PositionOf(in)));
  std::memcpy(place.data, &integers_[in.b], sizeof(int64_t));
  memory_.AfterWrite(place, place.length);
  return memory_.EndHost(place, PositionOf(in));
}

Status ProgramSession::Append(const ProgramInstruction& in) {
  const MemoryReference whole = buffers_[in.a];
  const MemoryReference piece = buffers_[in.c];
  const int64_t used = integers_[in.b];
  const int64_t added = integers_[in.immediate];
  EMBER_RETURN_IF_ERROR(CheckRange(in, used, 0, whole));
  EMBER_RETURN_IF_ERROR(CheckRange(in, added, 0, piece));
  // The sum does not overflow, because both numbers are lengths of memory.
  const int64_t total = used + added;
  const bool own = whole.block != nullptr && whole.block->unique();
  const int64_t room =
      own ? whole.block->data() + whole.block->capacity() - whole.data : 0;
  EMBER_RETURN_IF_ERROR(
      limits_.TakeCopy(*frame_->program, room >= total ? added : total));
  EMBER_RETURN_IF_ERROR(memory_.BeforeRead(whole, used));
  EMBER_RETURN_IF_ERROR(memory_.BeforeRead(piece, added));
  const MemoryReference added_bytes = {piece.data, added, piece.block};
  if (room >= total) {
    buffers_[in.a].length = total;
    memory_.AfterWrite(buffers_[in.a], total);
    // The appended memory may be the same as the target, so the copy must
    // handle overlap.
    return memory_.Copy(added_bytes, {whole.data + used, added, whole.block},
                        PositionOf(in));
  }
  // Twice the old capacity is requested, so that a loop copies each element
  // only about once. If that is refused, only the needed bytes are requested.
  StatusOr<MemoryBlock*> block =
      memory_.Acquire(std::max(total, own ? 2 * room : 0));
  if (!block.ok()) block = Acquire(in, total);
  if (!block.ok()) return block.status();
  uint8_t* const grown = (*block)->data();
  Status status = memory_.Copy({whole.data, used, whole.block},
                               {grown, used, *block}, PositionOf(in));
  if (status.ok()) {
    status = memory_.Copy(added_bytes, {grown + used, added, *block},
                          PositionOf(in));
  }
  SetBuffer(in.a, {grown, total, *block});
  memory_.AfterWrite(buffers_[in.a], total);
  return status;
}

}  // namespace ember::vm
