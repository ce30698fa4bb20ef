// Instructions for results, and for calls of programs and library functions.
#include "base/concat.h"
#include "vm/isa/library_functions.h"
#include "vm/runtime/program/library_instruction.h"
#include "vm/runtime/program/program_session.h"

namespace ember::vm {

void ProgramSession::CallProgram(const ProgramInstruction& in) {
  Frame& called = frames_[in.a];
  const uint32_t* operand = frame_->program->operands.data() + in.b;
  for (size_t i = 0; i < called.program->parameters.size(); ++i)
    called.integers[i] = integers_[*operand++];
  // The called program's inputs hold no references to their blocks: the
  // caller's registers keep the memory alive until the call returns.
  for (MemoryReference& input : called.inputs) input = buffers_[*operand++];
  called.caller = frame_;
  called.call = &in;
  Enter(called);
}

void ProgramSession::ReturnToCaller() {
  Frame& called = *frame_;
  Enter(*called.caller);
  const uint32_t* operand = frame_->program->operands.data() + called.call->b +
                            called.program->parameters.size() +
                            called.inputs.size();
  for (size_t i = 0; i < called.results.size(); ++i) {
    const int64_t* dim = called.result_dims.data() + called.result_lists[i];
    SetBuffer(*operand++, called.results[i]);
    called.results[i].block = nullptr;
    for (size_t d = called.program->results[i].dims.size(); d > 0; --d)
      integers_[*operand++] = *dim++;
  }
  DropRegisters(called);
  called.caller = nullptr;
}

void ProgramSession::ReadResultDims(const ProgramInstruction& in,
                                    std::span<int64_t> dims) const {
  const uint32_t* operand = frame_->program->operands.data() + in.c;
  for (int64_t& dim : dims) dim = integers_[*operand++];
}

// Returns the number of bytes of a result with these dims. Returns an error if
// the result's memory is smaller.
StatusOr<int64_t> ProgramSession::ResultBytes(
    const ProgramInstruction& in, std::span<const int64_t> dims) const {
  const TensorSignature& signature = frame_->program->results[in.a];
  EMBER_ASSIGN_OR_RETURN(const int64_t bytes,
                         TensorByteSize(signature.type, dims));
  if (bytes <= buffers_[in.b].length) return bytes;
  return ErrorAt(in,
                 Concat({"result '", signature.name, "': expected ", bytes,
                         " bytes for ", TensorTypeText(signature.type, dims),
                         ", found ", buffers_[in.b].length}));
}

// Returns a reference to the memory with its block held. If the memory belongs
// to no block, its bytes are copied to a new block.
StatusOr<MemoryReference> ProgramSession::HoldOrCopy(
    const ProgramInstruction& in, const MemoryReference& memory,
    int64_t bytes) {
  if (memory.block != nullptr) {
    memory.block->Hold();
    return MemoryReference{memory.data, bytes, memory.block};
  }
  EMBER_RETURN_IF_ERROR(limits_.TakeCopy(*frame_->program, bytes));
  EMBER_RETURN_IF_ERROR(memory_.BeforeRead(memory, bytes));
  EMBER_ASSIGN_OR_RETURN(MemoryBlock * block, Acquire(in, bytes));
  const MemoryReference copy = {block->data(), bytes, block};
  memory_.AfterWrite(copy, bytes);
  const Status copied =
      memory_.Copy({memory.data, bytes, nullptr}, copy, PositionOf(in));
  if (!copied.ok()) block->Drop();
  EMBER_RETURN_IF_ERROR(copied);
  return copy;
}

Status ProgramSession::StageResult(const ProgramInstruction& in) {
  const TensorSignature& signature = frame_->program->results[in.a];
  const std::span<int64_t> dims(frame_->result_dims.data() + in.c,
                                signature.dims.size());
  frame_->result_lists[in.a] = in.c;
  ReadResultDims(in, dims);
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t declared = signature.dims[i];
    if (declared < 0 || declared == dims[i]) continue;
    return ErrorAt(
        in, Concat({"result '", signature.name, "': expected ",
                    SignatureText(*frame_->program, signature), ", found ",
                    TensorTypeText(signature.type, dims)}));
  }
  MemoryReference memory = buffers_[in.b];
  int64_t bytes = frame_->result_bytes[in.a];
  if (bytes < 0 || bytes > memory.length) {
    EMBER_ASSIGN_OR_RETURN(bytes, ResultBytes(in, dims));
  }
  memory.length = bytes;
  if (memory.block != nullptr) {
    memory.block->Hold();
  } else if (memory_.IsInArena(memory.data)) {
    // A result in an arena is copied, because the arena is reused after the
    // call. Inputs of the run and constants stay valid, so they are not copied.
    EMBER_ASSIGN_OR_RETURN(memory, HoldOrCopy(in, memory, bytes));
  }
  MemoryReference& result = frame_->results[in.a];
  if (result.block != nullptr) result.block->Drop();
  result = memory;
  return OkStatus();
}

Status ProgramSession::ResolveStrings(const TensorSignature& signature,
                                      Tensor& result) {
  result.strings.reset();
  if (signature.logical_type != kStringType) return OkStatus();
  return strings_->Resolve(result.elements<int64_t>(), &result.strings)
      .WithContext(Concat({"result '", signature.name, "'"}));
}

// If the result was computed in place, in the memory of an input of the run,
// returns this input; otherwise null.
const Tensor* ProgramSession::InputWith(const MemoryReference& memory) const {
  if (!result_buffers_.has_in_place() || memory.block != nullptr)
    return nullptr;
  for (const InPlaceAllocation& allocation : result_buffers_.in_place()) {
    const Tensor& input = run_inputs_[allocation.input];
    if (input.data == memory.data && memory.length > 0) return &input;
  }
  return nullptr;
}

Status ProgramSession::SetResult(const ProgramInstruction& in, Tensor& result) {
  const TensorSignature& signature = frame_->program->results[in.a];
  // The tensor's result of the previous run is dropped first. If the caller has
  // dropped it, too, its memory can be used for the new result.
  result.memory.reset();
  result.dims.resize(signature.dims.size());
  ReadResultDims(in, result.dims);
  EMBER_RETURN_IF_ERROR(symbols_.CheckResult(signature, result.dims));
  EMBER_ASSIGN_OR_RETURN(const int64_t bytes, ResultBytes(in, result.dims));
  result.type = signature.type;
  result.byte_size = bytes;
  EMBER_RETURN_IF_ERROR(limits_.TakeCopy(*frame_->program, bytes));
  EMBER_RETURN_IF_ERROR(memory_.BeforeRead(buffers_[in.b], bytes));
  if (device_ != nullptr) {
    result.data = nullptr;
    return device_->StageResult(
        in.a, {buffers_[in.b].data, bytes, buffers_[in.b].block},
        *memory_.pool());
  }
  if (result_buffers_.Has(in.a))
    return result_buffers_.Put(in.a, buffers_[in.b].data, result);
  if (const Tensor* const input = InputWith(buffers_[in.b])) {
    result.data = input->data;
    result.memory = input->memory;
    return ResolveStrings(signature, result);
  }
  // The memory of a result is given to the caller. Arena, inputs and constants
  // must not be given away, so they are copied.
  EMBER_ASSIGN_OR_RETURN(const MemoryReference memory,
                         HoldOrCopy(in, buffers_[in.b], bytes));
  result.data = memory.data;
  result.memory = Share(memory_.pool(), memory.block);
  return ResolveStrings(signature, result);
}

Status ProgramSession::Call(const ProgramInstruction& in) {
  if (options_.library == nullptr) {
    return ErrorAt(in,
                   Concat({"expected a runtime with library functions for ",
                           LibraryInfoOf(in.a).text, ", found one without"}));
  }
  return options_.library({.instruction = in,
                           .operands = frame_->program->operands.data() + in.b,
                           .integers = integers_,
                           .buffers = buffers_,
                           .position = PositionOf(in),
                           .memory = memory_,
                           .limits = limits_,
                           .strings = strings_.get(),
                           .interrupt = interrupt_,
                           .images = options_.images});
}

}  // namespace ember::vm
