#include "vm/runtime/executor.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/checked_math.h"
#include "vm/isa/instruction_table.h"
#include "vm/isa/limits.h"

namespace ember::vm {
namespace {

// Stands for the memory of empty tensors.
alignas(kMemoryAlignment) uint8_t empty_memory[kMemoryAlignment];

// Integer arithmetic of the control instructions; false: overflow or division
// by zero.
bool FloorDivideChecked(int64_t a, int64_t b, int64_t* result) {
  if (b == 0 || (b == -1 && a == INT64_MIN)) return false;
  *result = a / b - (a % b != 0 && (a % b < 0) != (b < 0));
  return true;
}
bool ModuloChecked(int64_t a, int64_t b, int64_t* result) {
  if (b == 0) return false;
  const int64_t remainder = b == -1 ? 0 : a % b;
  *result =
      remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
  return true;
}

}  // namespace

Executor::Executor(std::shared_ptr<const Module> module, SessionOptions options)
    : module_(std::move(module)),
      program_(module_->entry()),
      options_(std::move(options)),
      runner_(options_.device->host_runner()),
      observed_(options_.profile || options_.trace ||
                options_.tiering != nullptr),
      pool_(
          std::make_shared<MemoryPool>(options_.device, options_.memory_limit)),
      code_(program_.instructions),
      symbols_(program_),
      integers_(program_.integer_register_count),
      buffers_(program_.buffer_register_count),
      inputs_(program_.inputs.size()),
      input_dims_(program_.inputs.size()) {
  MakeSites();
}

Executor::~Executor() {
  if (arena_ != nullptr) pool_->Discharge(arena_->size());
}

void Executor::MakeSites() {
  const ProgramFacts& facts = module_->entry_facts();
  caches_.resize(facts.group_count);
  size_t most_parameters = 0;
  size_t most_buffers = 0;
  for (const DispatchSite& site : facts.sites) {
    const tensor::Dispatch& dispatch =
        module_->definition().dispatches[site.dispatch];
    ProgramInstruction& instruction = code_[site.instruction];
    SiteState state;
    state.operands = program_.operands.data() + instruction.b;
    state.parameter_count = static_cast<uint32_t>(dispatch.parameters.size());
    state.buffer_count = instruction.c - state.parameter_count;
    state.instruction = site.instruction;
    state.group = site.group;
    state.dispatch = site.dispatch;
    most_parameters = std::max<size_t>(most_parameters, state.parameter_count);
    most_buffers = std::max<size_t>(most_buffers, state.buffer_count);
    instruction.a = static_cast<uint32_t>(sites_.size());
    sites_.push_back(state);
    if (caches_[site.group] != nullptr) continue;
    Plan::Options plan_options;
    for (const ConstantSource& source : site.inputs) {
      plan_options.constant_inputs.push_back(source.constant >= 0);
    }
    caches_[site.group] =
        std::make_unique<PlanCache>(dispatch, std::move(plan_options),
                                    std::max(1, options_.plans_per_site));
  }
  parameters_.resize(most_parameters);
  pointers_.resize(most_buffers);
}

Status Executor::Initialize() {
  const int64_t bytes = module_->entry_facts().arena_bytes;
  Status charged = pool_->Charge(bytes);
  if (!charged.ok()) return charged.WithContext("arena");
  StatusOr<std::unique_ptr<hal::Buffer>> arena =
      options_.device->Allocate(bytes, hal::MemoryKind::kHostVisible);
  if (!arena.ok()) return arena.status().WithContext("arena");
  arena_ = *std::move(arena);
  if (arena_->host_data() == nullptr) {
    return UnimplementedError(
        "session: expected a device with host-visible memory, found '" +
        std::string(options_.device->driver()) + "'");
  }
  return OkStatus();
}

Status Executor::BindInputs(std::span<const Tensor> inputs) {
  EMBER_RETURN_IF_ERROR(symbols_.BindInputs(inputs));
  constexpr uintptr_t kInputAlignment =
      16;  // what malloc gives; elements need 8 at most
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& input = inputs[i];
    input_dims_[i].assign(input.dims.begin(), input.dims.end());
    MemoryReference& reference = inputs_[i];
    reference = {static_cast<uint8_t*>(input.data), input.byte_size, nullptr};
    if (reference.data == nullptr) reference.data = empty_memory;
    if (reinterpret_cast<uintptr_t>(reference.data) % kInputAlignment == 0)
      continue;
    EMBER_ASSIGN_OR_RETURN(MemoryBlock * block,
                           pool_->Acquire(input.byte_size));
    reference.block = block;
    reference.data = block->data();
    std::memcpy(block->data(), input.data,
                static_cast<size_t>(input.byte_size));
  }
  return OkStatus();
}

Status Executor::Run(std::span<const Tensor> inputs,
                     std::vector<Tensor>* results) {
  results->resize(program_.results.size());
  Status status = BindInputs(inputs);
  if (status.ok()) status = Execute(*results);
  DropRegisters();
  return status;
}

void Executor::DropRegisters() {
  for (std::vector<MemoryReference>* references : {&buffers_, &inputs_}) {
    for (MemoryReference& reference : *references) {
      if (reference.block == nullptr) continue;
      reference.block->Drop();
      reference.block = nullptr;
    }
  }
}

Status Executor::ErrorAt(size_t index, std::string message) const {
  const ProgramInstruction& instruction = program_.instructions[index];
  return InvalidArgumentError(
      "program " + program_.name + ": instruction " + std::to_string(index) +
      " (" + std::string(InfoOf(instruction.opcode).text) + "): " + message);
}

Status Executor::CheckFailed(const ProgramInstruction& instruction) const {
  std::string message =
      program_.messages[static_cast<size_t>(instruction.immediate)];
  if (instruction.opcode == ProgramOpcode::kCheckEqual) {
    message += ": expected " + std::to_string(integers_[instruction.c]) +
               ", found " + std::to_string(integers_[instruction.b]);
  }
  return InvalidArgumentError(std::move(message));
}

// The verifier has checked all numbers: what is left are lengths, overflow and
// limits.
Status Executor::Execute(std::vector<Tensor>& results) {
  const ProgramInstruction* const begin = code_.data();
  const ProgramInstruction* pc = begin;
  int64_t branches_left =
      options_.branch_limit > 0 ? options_.branch_limit : INT64_MAX;
  int64_t* const integers = integers_.data();
  bool fits = true;
  while (true) {
    const ProgramInstruction& in = *pc++;
    switch (in.opcode) {
      case ProgramOpcode::kInteger:
        integers[in.a] = in.immediate;
        continue;
      case ProgramOpcode::kInputDim:
        integers[in.a] = input_dims_[in.b][static_cast<size_t>(in.immediate)];
        continue;
      case ProgramOpcode::kInputBuffer: {
        MemoryReference reference = inputs_[in.b];
        reference.block =
            nullptr;  // the copy of an unaligned input stays until the run ends
        SetBuffer(in.a, reference);
        continue;
      }
      case ProgramOpcode::kConstantBuffer: {
        const std::span<const uint8_t> data =
            module_->definition().constants[in.b].data;
        uint8_t* address =
            data.empty() ? empty_memory : const_cast<uint8_t*>(data.data());
        SetBuffer(in.a, {address, static_cast<int64_t>(data.size()), nullptr});
        continue;
      }
      case ProgramOpcode::kAdd:
        fits = !__builtin_add_overflow(integers[in.b], integers[in.c],
                                       &integers[in.a]);
        break;
      case ProgramOpcode::kSubtract:
        fits = !__builtin_sub_overflow(integers[in.b], integers[in.c],
                                       &integers[in.a]);
        break;
      case ProgramOpcode::kMultiply:
        fits = !__builtin_mul_overflow(integers[in.b], integers[in.c],
                                       &integers[in.a]);
        break;
      case ProgramOpcode::kFloorDivide:
        fits =
            FloorDivideChecked(integers[in.b], integers[in.c], &integers[in.a]);
        break;
      case ProgramOpcode::kModulo:
        fits = ModuloChecked(integers[in.b], integers[in.c], &integers[in.a]);
        break;
      case ProgramOpcode::kMinimum:
        integers[in.a] = std::min(integers[in.b], integers[in.c]);
        continue;
      case ProgramOpcode::kMaximum:
        integers[in.a] = std::max(integers[in.b], integers[in.c]);
        continue;
      case ProgramOpcode::kLess:
        integers[in.a] = integers[in.b] < integers[in.c];
        continue;
      case ProgramOpcode::kEqual:
        integers[in.a] = integers[in.b] == integers[in.c];
        continue;
      case ProgramOpcode::kMove:
        integers[in.a] = integers[in.b];
        continue;
      case ProgramOpcode::kCheckEqual:
        if (integers[in.b] != integers[in.c]) return CheckFailed(in);
        continue;
      case ProgramOpcode::kCheckTrue:
        if (integers[in.b] == 0) return CheckFailed(in);
        continue;
      case ProgramOpcode::kBranchIf:
        if (integers[in.b] == 0) continue;
        [[fallthrough]];
      case ProgramOpcode::kBranch:
        if (begin + in.immediate < pc && branches_left-- == 0) {
          return ResourceExhaustedError("program " + program_.name +
                                        ": expected at most " +
                                        std::to_string(options_.branch_limit) +
                                        " backward branches, found more");
        }
        pc = begin + in.immediate;
        continue;
      case ProgramOpcode::kArena:
        SetBuffer(in.a, {static_cast<uint8_t*>(arena_->host_data()),
                         in.immediate, nullptr});
        continue;
      case ProgramOpcode::kAllocate:
        EMBER_RETURN_IF_ERROR(Allocate(in));
        continue;
      case ProgramOpcode::kView:
        EMBER_RETURN_IF_ERROR(MakeView(in));
        continue;
      case ProgramOpcode::kMoveBuffer: {
        const MemoryReference reference = buffers_[in.b];
        if (reference.block != nullptr) reference.block->Hold();
        SetBuffer(in.a, reference);
        continue;
      }
      case ProgramOpcode::kRelease:
        SetBuffer(in.a, {});
        continue;
      case ProgramOpcode::kLoadInteger:
        EMBER_RETURN_IF_ERROR(LoadInteger(in));
        continue;
      case ProgramOpcode::kDispatch:
        EMBER_RETURN_IF_ERROR(RunSite(sites_[in.a]));
        continue;
      case ProgramOpcode::kLibraryCall:
        EMBER_RETURN_IF_ERROR(Call(in));
        continue;
      case ProgramOpcode::kResult:
        EMBER_RETURN_IF_ERROR(SetResult(in, results[in.a]));
        continue;
      case ProgramOpcode::kReturn:
        return OkStatus();
    }
    if (!fits) {
      return ErrorAt(static_cast<size_t>(pc - 1 - begin),
                     "expected a number that fits 64 bits, found overflow or "
                     "division by zero");
    }
  }
}

Status Executor::Allocate(const ProgramInstruction& in) {
  SetBuffer(in.a, {});  // first, so that a loop can use its memory again
  const int64_t bytes = integers_[in.b];
  StatusOr<MemoryBlock*> block = pool_->Acquire(bytes);
  if (!block.ok()) {
    return block.status().WithContext(
        "program " + program_.name + ": instruction " +
        std::to_string(&in - code_.data()) + " (allocate)");
  }
  buffers_[in.a] = {(*block)->data(), bytes, *block};
  return OkStatus();
}

Status Executor::MakeView(const ProgramInstruction& in) {
  const MemoryReference whole = buffers_[in.b];
  const int64_t length = integers_[in.c];
  if (length < 0 || in.immediate > whole.length ||
      length > whole.length - in.immediate) {
    return ErrorAt(static_cast<size_t>(&in - code_.data()),
                   "expected a range within " + std::to_string(whole.length) +
                       " bytes, found " + std::to_string(length) +
                       " at offset " + std::to_string(in.immediate));
  }
  if (whole.block != nullptr) whole.block->Hold();
  SetBuffer(in.a, {whole.data + in.immediate, length, whole.block});
  return OkStatus();
}

Status Executor::LoadInteger(const ProgramInstruction& in) {
  const MemoryReference& memory = buffers_[in.b];
  constexpr int64_t kSize = sizeof(int64_t);
  if (memory.length < kSize || in.immediate > memory.length - kSize) {
    return ErrorAt(static_cast<size_t>(&in - code_.data()),
                   "expected an offset within " +
                       std::to_string(memory.length) + " bytes, found " +
                       std::to_string(in.immediate));
  }
  std::memcpy(&integers_[in.a], memory.data + in.immediate, sizeof(int64_t));
  return OkStatus();
}

Status Executor::SetResult(const ProgramInstruction& in, Tensor& result) {
  const TensorSignature& signature = program_.results[in.a];
  const MemoryReference memory = buffers_[in.b];
  result.dims.resize(signature.dims.size());
  for (size_t i = 0; i < result.dims.size(); ++i) {
    result.dims[i] = integers_[program_.operands[in.c + i]];
  }
  EMBER_RETURN_IF_ERROR(symbols_.CheckResult(signature, result.dims));
  EMBER_ASSIGN_OR_RETURN(const int64_t bytes,
                         TensorByteSize(signature.type, result.dims));
  if (bytes > memory.length) {
    return ErrorAt(static_cast<size_t>(&in - code_.data()),
                   "result '" + signature.name + "': expected " +
                       std::to_string(bytes) + " bytes for " +
                       TensorTypeText(signature.type, result.dims) +
                       ", found " + std::to_string(memory.length));
  }
  result.memory.reset();  // what the caller got last time may be used again
  result.type = signature.type;
  result.byte_size = bytes;
  MemoryBlock* block = memory.block;
  if (block != nullptr) {
    block->Hold();
    result.data = memory.data;
  } else {  // arena, input or constant: not ours to give away
    EMBER_ASSIGN_OR_RETURN(block, pool_->Acquire(bytes));
    if (bytes > 0)
      std::memcpy(block->data(), memory.data, static_cast<size_t>(bytes));
    result.data = block->data();
  }
  result.memory = Share(pool_, block);
  return OkStatus();
}

Status Executor::Call(const ProgramInstruction& in) {
  const LibraryFunctionInfo& info = kLibraryFunctionTable[in.a];
  int64_t integers[kMaxLibraryOperands];
  int64_t written[kMaxLibraryOperands] = {};
  LibraryMemory memory[kMaxLibraryOperands];
  LibraryMemory allocated[kMaxLibraryOperands];
  size_t counts[4] = {0, 0, 0, 0};  // i, b and w, I, B
  const uint32_t* operands = program_.operands.data() + in.b;
  for (size_t i = 0; i < info.operands.size(); ++i) {
    switch (info.operands[i]) {
      case 'i':
        integers[counts[0]++] = integers_[operands[i]];
        break;
      case 'I':
        ++counts[2];
        break;
      case 'B':
        ++counts[3];
        break;
      default: {
        const MemoryReference& reference = buffers_[operands[i]];
        memory[counts[1]++] = {reference.data, reference.length, nullptr};
      }
    }
  }
  const LibraryCall call = {{integers, counts[0]},
                            {memory, counts[1]},
                            {written, counts[2]},
                            {allocated, counts[3]},
                            *pool_};
  const Status status = CallLibrary(static_cast<LibraryFunction>(in.a), call);
  size_t next_integer = 0;
  size_t next_memory = 0;
  for (size_t i = 0; i < info.operands.size(); ++i) {
    if (info.operands[i] == 'I')
      integers_[operands[i]] = written[next_integer++];
    if (info.operands[i] != 'B') continue;
    const LibraryMemory& made = allocated[next_memory++];
    SetBuffer(operands[i], {made.data, made.length, made.block});
  }
  return status.WithContext("call " + std::string(info.text));
}

}  // namespace ember::vm
