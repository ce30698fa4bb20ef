// Instructions on memory: allocations, parts of memory, single integers.
#include <algorithm>
#include <cstring>

#include "base/concat.h"
#include "tensor/scalar.h"
#include "vm/isa/instruction_table.h"
#include "vm/runtime/executor.h"

namespace ember::vm {

StatusOr<MemoryBlock*> Executor::Acquire(const ProgramInstruction& in,
                                         int64_t bytes) {
  StatusOr<MemoryBlock*> block = pool_->Acquire(bytes);
  if (block.ok()) {
    Forget(**block);
    return block;
  }
  return block.status().WithContext(
      Concat({"program ", frame_->program->name, ": instruction ",
              &in - frame_->code.data(), " (", InfoOf(in.opcode).text, ")"}));
}

Status Executor::Allocate(const ProgramInstruction& in) {
  SetBuffer(in.a, {});  // first, so that a loop can use its memory again
  const int64_t bytes = integers_[in.b];
  EMBER_ASSIGN_OR_RETURN(MemoryBlock * block, Acquire(in, bytes));
  buffers_[in.a] = {block->data(), bytes, block};
  return OkStatus();
}

Status Executor::CheckRange(const ProgramInstruction& in, int64_t length,
                            int64_t offset,
                            const MemoryReference& whole) const {
  if (length >= 0 && offset >= 0 && offset <= whole.length &&
      length <= whole.length - offset) {
    return OkStatus();
  }
  return ErrorAt(in, Concat({"expected a range within ", whole.length,
                             " bytes, found ", length, " at offset ", offset}));
}

void Executor::SetPart(uint32_t reg, const MemoryReference& whole,
                       int64_t offset, int64_t length) {
  if (whole.block != nullptr) whole.block->Hold();
  SetBuffer(reg, {whole.data + offset, length, whole.block});
}

Status Executor::MakeView(const ProgramInstruction& in) {
  const MemoryReference whole = buffers_[in.b];
  const int64_t length = integers_[in.c];
  EMBER_RETURN_IF_ERROR(CheckRange(in, length, in.immediate, whole));
  SetPart(in.a, whole, in.immediate, length);
  return OkStatus();
}

Status Executor::MakeSlice(const ProgramInstruction& in) {
  const MemoryReference whole = buffers_[in.b];
  const int64_t offset = integers_[in.c];
  const int64_t length = integers_[in.immediate];
  EMBER_RETURN_IF_ERROR(CheckRange(in, length, offset, whole));
  const uint8_t* const begin = whole.data + offset;
  const bool is_aligned =
      device_ != nullptr
          ? device_->CanBind({whole.data + offset, length, whole.block})
          : reinterpret_cast<uintptr_t>(begin) % kInputAlignment == 0;
  if (is_aligned) {
    SetPart(in.a, whole, offset, length);
    return OkStatus();
  }
  EMBER_RETURN_IF_ERROR(
      BeforeRead({whole.data + offset, length, whole.block}, length));
  EMBER_ASSIGN_OR_RETURN(MemoryBlock * block, Acquire(in, length));
  Status status;
  if (device_ != nullptr) {
    status = CopyOnDevice(in, {whole.data + offset, length, whole.block},
                          {block->data(), length, block});
  } else {
    std::memcpy(block->data(), begin, static_cast<size_t>(length));
  }
  SetBuffer(in.a, {block->data(), length, block});
  AfterWrite(buffers_[in.a], length);
  return status;
}

Status Executor::LoadInteger(const ProgramInstruction& in) {
  const MemoryReference& memory = buffers_[in.b];
  const DType type = static_cast<DType>(in.c);
  const int size = DTypeByteSize(type);
  EMBER_RETURN_IF_ERROR(CheckRange(in, size, in.immediate, memory));
  const MemoryReference element = {memory.data + in.immediate, size,
                                   memory.block};
  EMBER_RETURN_IF_ERROR(BeforeRead(element, size));
  if (device_ != nullptr) EMBER_RETURN_IF_ERROR(BeginHost(in, element, false));
  const uint64_t bits =
      tensor::LoadElement(memory.data + in.immediate, 0, type);
  integers_[in.a] =
      type == DType::kBool ? bits != 0
      : type == DType::kU64
          ? static_cast<int64_t>(std::min<uint64_t>(bits, INT64_MAX))
          : tensor::BitsToInteger(bits, type);
  return OkStatus();
}

Status Executor::StoreInteger(const ProgramInstruction& in) {
  const MemoryReference& memory = buffers_[in.a];
  EMBER_RETURN_IF_ERROR(CheckRange(in, sizeof(int64_t), in.immediate, memory));
  const MemoryReference place = {memory.data + in.immediate, sizeof(int64_t),
                                 memory.block};
  if (device_ != nullptr) EMBER_RETURN_IF_ERROR(BeginHost(in, place, true));
  std::memcpy(place.data, &integers_[in.b], sizeof(int64_t));
  AfterWrite(place, place.length);
  return device_ != nullptr ? EndHost(in, place) : OkStatus();
}

Status Executor::Append(const ProgramInstruction& in) {
  const MemoryReference whole = buffers_[in.a];
  const MemoryReference piece = buffers_[in.c];
  const int64_t used = integers_[in.b];
  const int64_t added = integers_[in.immediate];
  EMBER_RETURN_IF_ERROR(CheckRange(in, used, 0, whole));
  EMBER_RETURN_IF_ERROR(CheckRange(in, added, 0, piece));
  const int64_t total = used + added;  // both are lengths of memory
  EMBER_RETURN_IF_ERROR(BeforeRead(whole, used));
  EMBER_RETURN_IF_ERROR(BeforeRead(piece, added));
  const bool own = whole.block != nullptr && whole.block->unique();
  const int64_t room =
      own ? whole.block->data() + whole.block->capacity() - whole.data : 0;
  if (room < total) {
    // Twice what there was, so that a loop copies each element about once; if
    // that is too much, what is needed.
    StatusOr<MemoryBlock*> block =
        pool_->Acquire(std::max(total, own ? 2 * room : 0));
    if (!block.ok()) block = Acquire(in, total);
    if (!block.ok()) return block.status();
    Forget(**block);
    uint8_t* const grown = (*block)->data();
    if (device_ != nullptr) {
      Status status = CopyOnDevice(in, {whole.data, used, whole.block},
                                   {grown, used, *block});
      if (status.ok())
        status = CopyOnDevice(in, {piece.data, added, piece.block},
                              {grown + used, added, *block});
      SetBuffer(in.a, {grown, total, *block});
      AfterWrite(buffers_[in.a], total);
      return status;
    }
    std::memcpy(grown, whole.data, static_cast<size_t>(used));
    std::memcpy(grown + used, piece.data, static_cast<size_t>(added));
    SetBuffer(in.a, {grown, total, *block});
    AfterWrite(buffers_[in.a], total);
    return OkStatus();
  }
  if (device_ != nullptr) {
    buffers_[in.a].length = total;
    AfterWrite(buffers_[in.a], total);
    return CopyOnDevice(in, {piece.data, added, piece.block},
                        {whole.data + used, added, whole.block});
  }
  // The piece may be the same memory.
  std::memmove(whole.data + used, piece.data, static_cast<size_t>(added));
  buffers_[in.a].length = total;
  AfterWrite(buffers_[in.a], total);
  return OkStatus();
}

}  // namespace ember::vm
