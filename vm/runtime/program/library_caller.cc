#include "vm/runtime/library_caller.h"

#include <string_view>
#include <vector>

#include "base/concat.h"
#include "vm/isa/library_functions.h"
#include "vm/runtime/library/library.h"
#include "vm/runtime/program/library_instruction.h"

namespace ember::vm {
namespace {

Status TakeWork(const LibraryInstruction& in, std::string_view function,
                int64_t points) {
  if (in.limits.TakeWork(points)) return OkStatus();
  return in.limits.WorkError("call ", function);
}

}  // namespace

Status CallLibraryFunction(const LibraryInstruction& in) {
  const LibraryFunctionInfo info = LibraryInfoOf(in.instruction.a);
  int64_t integers[kMaxLibraryOperands];
  int64_t written[kMaxLibraryOperands] = {};
  LibraryMemory memory[kMaxLibraryOperands];
  LibraryMemory allocated[kMaxLibraryOperands];
  std::vector<HostAccess> accesses;
  // number of operands so far of each kind: integers (i), memory (b and w),
  // written integers (I) and allocated memory (B)
  size_t counts[4] = {0, 0, 0, 0};
  int64_t work = 0;
  for (size_t i = 0; i < info.operands.size(); ++i) {
    const char kind = info.operands[i];
    switch (kind) {
      case 'i':
        integers[counts[0]++] = in.integers[in.operands[i]];
        break;
      case 'I':
        ++counts[2];
        break;
      case 'B':
        ++counts[3];
        break;
      default: {
        const MemoryReference& reference = in.buffers[in.operands[i]];
        // Access to all memory operands is requested, because only the function
        // itself knows which parts it reads and writes.
        EMBER_RETURN_IF_ERROR(
            in.memory.BeforeRead(reference, reference.length));
        work += reference.length;
        memory[counts[1]++] = {reference.data, reference.length, nullptr};
        if (in.memory.is_on_device())
          accesses.push_back({reference, kind == 'w'});
      }
    }
  }
  EMBER_RETURN_IF_ERROR(TakeWork(in, info.text, work));
  const LibraryCall call = {
      {integers, counts[0]},  {memory, counts[1]}, {written, counts[2]},
      {allocated, counts[3]}, *in.memory.pool(),   in.strings,
      &in.interrupt,          &in.limits,          in.images};
  EMBER_RETURN_IF_ERROR(in.memory.BeginLibraryCall(accesses, in.position));
  Status status =
      CallLibrary(static_cast<LibraryFunction>(in.instruction.a), call);
  if (status.ok() && in.memory.is_on_device()) {
    for (const LibraryMemory& made : call.allocated)
      accesses.push_back({{made.data, made.length, made.block}, true});
    status = in.memory.EndLibraryCall(accesses, in.position);
  }
  size_t next_integer = 0;
  size_t next_memory = 0;
  int64_t made_bytes = 0;
  for (size_t i = 0; i < info.operands.size(); ++i) {
    if (info.operands[i] == 'I')
      in.integers[in.operands[i]] = written[next_integer++];
    if (info.operands[i] != 'B') continue;
    const LibraryMemory& made = allocated[next_memory++];
    made_bytes += made.length;
    MemoryReference& result = in.buffers[in.operands[i]];
    if (result.block != nullptr) result.block->Drop();
    result = {made.data, made.length, made.block};
    if (made.block != nullptr) in.memory.Forget(*made.block);
    in.memory.AfterWrite(result, made.length);
  }
  if (in.interrupt.ShouldStop()) return in.interrupt.status();
  EMBER_RETURN_IF_ERROR(status.WithContext(Concat({"call ", info.text})));
  // The bytes of allocated results count as work, because they may be large
  // even if the operands are small.
  return TakeWork(in, info.text, made_bytes);
}

}  // namespace ember::vm
