#include "vm/runtime/executor.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/checked_math.h"
#include "base/concat.h"
#include "vm/isa/limits.h"
#include "vm/runtime/integer_instructions.h"

namespace ember::vm {
namespace {

// Stands for the memory of empty tensors.
alignas(kMemoryAlignment) uint8_t empty_memory[kMemoryAlignment];

// -1 unless all dims are declared.
int64_t DeclaredBytes(const TensorSignature& signature) {
  for (int64_t dim : signature.dims) {
    if (dim < 0) return -1;
  }
  const StatusOr<int64_t> bytes =
      TensorByteSize(signature.type, signature.dims);
  return bytes.ok() ? *bytes : -1;
}

}  // namespace

Executor::Executor(std::shared_ptr<const Module> module, SessionOptions options)
    : module_(std::move(module)),
      options_(std::move(options)),
      runner_(options_.device->host_runner(), interrupt_),
      is_profiled_(options_.profile || options_.trace),
      device_(options_.device->is_host()
                  ? nullptr
                  : options_.device_support(options_.device, module_)),
      observed_(is_profiled_ || options_.tiering != nullptr ||
                device_ != nullptr),
      memory_limit_(options_.memory_limit != 0 ? options_.memory_limit
                                               : DefaultMemoryLimit()),
      pool_(std::make_shared<MemoryPool>(options_.device, memory_limit_,
                                         device_)),
      symbols_(module_->entry()),
      input_dims_(module_->entry().inputs.size()),
      max_seconds_(options_.max_seconds),
      is_repeatable_(IsRepeatable()) {
  MakeFrames();
  MakeSites();
  if (options_.side_by_side && options_.tiering != nullptr && !is_profiled_ &&
      device_ == nullptr && runner_.worker_count() > 1) {
    side_by_side_ =
        std::make_unique<SideBySide>(runner_, sites_.size(), options_.clock);
  }
}

Executor::~Executor() {
  if (device_ != nullptr) device_->Close();
  if (arena_ != nullptr) pool_->Discharge(arena_->size());
}

void Executor::MakeFrames() {
  const std::vector<Program>& programs = module_->definition().programs;
  frames_ = std::make_unique<Frame[]>(programs.size());
  for (size_t i = 0; i < programs.size(); ++i) {
    const Program& program = programs[i];
    Frame& frame = frames_[i];
    frame.program = &program;
    frame.code = program.instructions;
    frame.integers = std::vector<int64_t>(program.integer_register_count);
    frame.buffers = std::vector<MemoryReference>(program.buffer_register_count);
    frame.inputs = std::vector<MemoryReference>(program.inputs.size());
    if (i == 0) continue;
    frame.results = std::vector<MemoryReference>(program.results.size());
    frame.result_lists.resize(program.results.size());
    frame.result_dims = std::vector<int64_t>(program.operands.size());
    for (const TensorSignature& result : program.results)
      frame.result_bytes.push_back(DeclaredBytes(result));
  }
}

void Executor::MakeSites() {
  caches_.resize(module_->group_count());
  size_t most_parameters = 0;
  size_t most_buffers = 0;
  for (const DispatchSite& site : module_->sites()) {
    const tensor::Dispatch& dispatch =
        module_->definition().dispatches[site.dispatch];
    Frame& frame = frames_[site.program];
    ProgramInstruction& instruction = frame.code[site.instruction];
    SiteState state;
    state.operands = frame.program->operands.data() + instruction.b;
    state.parameter_count = static_cast<uint32_t>(dispatch.parameters.size());
    state.buffer_count = instruction.c - state.parameter_count;
    state.input_count = dispatch.input_count();
    state.number = static_cast<uint32_t>(sites_.size());
    state.program = site.program;
    state.instruction = site.instruction;
    state.group = site.group;
    state.dispatch = site.dispatch;
    if (options_.tiering != nullptr)
      state.slot = options_.tiering->slot(site.group).get();
    most_parameters = std::max<size_t>(most_parameters, state.parameter_count);
    most_buffers = std::max<size_t>(most_buffers, state.buffer_count);
    instruction.a = state.number;
    sites_.push_back(state);
    if (caches_[site.group] != nullptr) continue;
    Plan::Options plan_options;
    plan_options.budget = pool_.get();
    plan_options.allocator = options_.allocator;
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

Status Executor::MakeStrings() {
  if (options_.strings != nullptr) {
    constexpr int64_t kDefaultLimit = int64_t{1} << 30;
    strings_ = options_.strings(
        options_.memory_limit > 0 ? options_.memory_limit : kDefaultLimit);
    return OkStatus();
  }
  for (const auto& signatures : {module_->inputs(), module_->results()}) {
    for (const TensorSignature& signature : signatures) {
      if (signature.logical_type != kStringType) continue;
      return UnimplementedError(
          Concat({"session: '", signature.name,
                  "' is of strings, and this runtime was built without string "
                  "functions"}));
    }
  }
  return OkStatus();
}

Status Executor::BindStrings(const Tensor& input, MemoryReference& reference) {
  EMBER_ASSIGN_OR_RETURN(reference.block, pool_->Acquire(input.byte_size));
  reference.data = reference.block->data();
  reference.length = input.byte_size;
  Forget(*reference.block);
  AfterWrite(reference, reference.length);
  return strings_->Intern(*input.strings,
                          reinterpret_cast<int64_t*>(reference.data));
}

Status Executor::Initialize() {
  EMBER_RETURN_IF_ERROR(MakeStrings());
  const int64_t bytes = arena_bytes_ = module_->arena_bytes();
  Status charged = pool_->Charge(bytes);
  if (!charged.ok()) return charged.WithContext("arena");
  StatusOr<std::unique_ptr<hal::Buffer>> arena =
      device_ != nullptr
          ? device_->Allocate(bytes)
          : options_.device->Allocate(bytes, hal::MemoryKind::kHostVisible);
  if (!arena.ok()) return arena.status().WithContext("arena");
  arena_ = *std::move(arena);
  if (arena_->host_data() == nullptr) {
    return UnimplementedError(
        Concat({"session: expected a device with host-visible memory, found '",
                options_.device->driver(), "'"}));
  }
  if (device_ != nullptr) device_->SetArena(arena_.get());
  for (size_t i = 0; i < module_->arena_offsets().size(); ++i) {
    frames_[i].arena = static_cast<uint8_t*>(arena_->host_data()) +
                       module_->arena_offsets()[i];
  }
  PrepareSites();
  return OkStatus();
}

Status Executor::BindInputs(std::span<const Tensor> inputs) {
  EMBER_RETURN_IF_ERROR(symbols_.BindInputs(inputs));
  if (strings_ != nullptr) strings_->Start(module_->definition().strings);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& input = inputs[i];
    input_dims_[i].assign(input.dims.begin(), input.dims.end());
    if (device_ != nullptr) {
      EMBER_RETURN_IF_ERROR(BindOnDevice(i, input));
      continue;
    }
    MemoryReference& reference = frames_[0].inputs[i];
    if (input.strings != nullptr) {
      EMBER_RETURN_IF_ERROR(BindStrings(input, reference));
      continue;
    }
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
    Forget(*block);
    AfterWrite(reference, input.byte_size);
  }
  tracks_writes_ &= !is_tidy_ || input_dims_ != tidy_dims_;
  return OkStatus();
}

Status Executor::Run(std::span<const Tensor> inputs,
                     std::vector<Tensor>* results) {
  EMBER_RETURN_IF_ERROR(CheckPlaces(inputs));
  Frame& entry = frames_[0];
  results->resize(entry.program->results.size());
  Enter(entry);
  StartLimits();
  StartAccount();
  if (device_ != nullptr) device_->StartRun(*pool_);
  if (side_by_side_ != nullptr) {
    side_by_side_->StartRun(!side_by_side_->is_waiting() ||
                            (has_run_ && HasAllKernels()));
    has_run_ = true;
  }
  Status status = BindInputs(inputs);
  if (status.ok()) status = Execute(*results);
  if (side_by_side_ != nullptr) {
    // Of calls that came before what failed.
    Status kept = side_by_side_->Synchronize();
    if (!kept.ok()) status = std::move(kept);
    side_by_side_->EndRun();
    // Nothing to look for at each instruction any more.
    if (side_by_side_->is_decided() && side_by_side_->batch_count() == 0)
      side_by_side_.reset();
  }
  if (device_ != nullptr) status = EndOnDevice(std::move(status), *results);
  // What came last may have been left out.
  if (status.ok() && interrupt_.ShouldStop()) status = interrupt_.status();
  // Errors of a called program name it.
  if (!status.ok() && frame_ != &entry) {
    const std::string where = Concat({"program ", frame_->program->name});
    if (!status.message().starts_with(Concat({where, ":"})))
      status = status.WithContext(where);
  }
  for (; frame_ != nullptr; frame_ = frame_->caller) DropRegisters(*frame_);
  Drop(entry.inputs);  // copies of those that were not aligned
  EndTracking(status.ok());
  return status;
}

void Executor::Drop(std::vector<MemoryReference>& references) {
  for (MemoryReference& reference : references) {
    if (reference.block == nullptr) continue;
    reference.block->Drop();
    reference.block = nullptr;
  }
}

void Executor::DropRegisters(Frame& frame) {
  Drop(frame.buffers);
  Drop(frame.results);
}

Status Executor::ErrorAt(size_t index, std::string_view message) const {
  return InstructionError(*frame_->program, index, message);
}

Status Executor::CheckFailed(const ProgramInstruction& instruction) const {
  return CheckError(*frame_->program, instruction, integers_[instruction.b],
                    integers_[instruction.c]);
}

bool Executor::PassesKeptCalls(const ProgramInstruction& instruction) const {
  switch (instruction.opcode) {
    case ProgramOpcode::kInteger:
    case ProgramOpcode::kInputDim:
    case ProgramOpcode::kAdd:
    case ProgramOpcode::kSubtract:
    case ProgramOpcode::kMultiply:
    case ProgramOpcode::kFloorDivide:
    case ProgramOpcode::kModulo:
    case ProgramOpcode::kMinimum:
    case ProgramOpcode::kMaximum:
    case ProgramOpcode::kLess:
    case ProgramOpcode::kEqual:
    case ProgramOpcode::kMove:
    case ProgramOpcode::kDispatch:  // compares memory
      return true;
    case ProgramOpcode::kInputBuffer:
    case ProgramOpcode::kConstantBuffer:
    case ProgramOpcode::kArena:
    case ProgramOpcode::kAllocate:
    case ProgramOpcode::kView:
      // Else the register's block may be freed.
      return buffers_[instruction.a].block == nullptr;
    case ProgramOpcode::kCheckEqual:
    case ProgramOpcode::kCheckTrue:
    case ProgramOpcode::kBranch:
    case ProgramOpcode::kBranchIf:
    case ProgramOpcode::kMoveBuffer:
    case ProgramOpcode::kRelease:
    case ProgramOpcode::kLoadInteger:
    case ProgramOpcode::kLibraryCall:
    case ProgramOpcode::kResult:
    case ProgramOpcode::kReturn:
    case ProgramOpcode::kCallProgram:
    case ProgramOpcode::kStoreInteger:
    case ProgramOpcode::kAppend:
    case ProgramOpcode::kSliceAt:
      return false;
  }
  return false;
}

// The verifier has checked all numbers: what is left are lengths, overflow and
// limits.
Status Executor::Execute(std::vector<Tensor>& results) {
  const ProgramInstruction* begin = frame_->code.data();
  const ProgramInstruction* pc = begin;
  int64_t* integers = integers_;
  bool fits = true;
  while (true) {
    const ProgramInstruction& in = *pc++;
    if (side_by_side_ != nullptr && !PassesKeptCalls(in))
      EMBER_RETURN_IF_ERROR(side_by_side_->Synchronize());
    switch (in.opcode) {
      case ProgramOpcode::kInteger:
        integers[in.a] = in.immediate;
        continue;
      case ProgramOpcode::kInputDim:
        integers[in.a] = input_dims_[in.b][static_cast<size_t>(in.immediate)];
        continue;
      case ProgramOpcode::kInputBuffer: {
        const MemoryReference reference = frame_->inputs[in.b];
        if (reference.block != nullptr) reference.block->Hold();
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
#define EMBER_ROW(name)                                   \
  case ProgramOpcode::k##name:                            \
    fits = EvaluateInteger<ProgramOpcode::k##name>(       \
        integers[in.b], integers[in.c], &integers[in.a]); \
    break;
        EMBER_FOR_EACH_INTEGER_INSTRUCTION(EMBER_ROW)
#undef EMBER_ROW
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
        if (begin + in.immediate < pc && !TakeStep()) return StepError();
        pc = begin + in.immediate;
        continue;
      case ProgramOpcode::kArena:
        SetBuffer(in.a, {frame_->arena, in.immediate, nullptr});
        continue;
      case ProgramOpcode::kAllocate:
        EMBER_RETURN_IF_ERROR(Allocate(in));
        continue;
      case ProgramOpcode::kView:
        EMBER_RETURN_IF_ERROR(MakeView(in));
        continue;
      case ProgramOpcode::kMoveBuffer: {
        const MemoryReference reference = buffers_[in.b];
        // What is released right after gives its reference away.
        if (pc->opcode == ProgramOpcode::kRelease && pc->a == in.b &&
            in.a != in.b) {
          buffers_[in.b] = {};
          SetBuffer(in.a, reference);
          ++pc;
          continue;
        }
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
        NoteDispatch();
        EMBER_RETURN_IF_ERROR(RunSite(sites_[in.a]));
        continue;
      case ProgramOpcode::kLibraryCall:
        EMBER_RETURN_IF_ERROR(Call(in));
        continue;
      case ProgramOpcode::kResult:
        EMBER_RETURN_IF_ERROR(frame_->caller == nullptr
                                  ? SetResult(in, results[in.a])
                                  : StageResult(in));
        continue;
      case ProgramOpcode::kReturn:
        if (frame_->caller == nullptr) return OkStatus();
        pc = frame_->call + 1;
        ReturnToCaller();
        begin = frame_->code.data();
        integers = integers_;
        continue;
      case ProgramOpcode::kCallProgram:
        if (!TakeStep()) return StepError();
        CallProgram(in);
        pc = begin = frame_->code.data();
        integers = integers_;
        continue;
      case ProgramOpcode::kStoreInteger:
        EMBER_RETURN_IF_ERROR(StoreInteger(in));
        continue;
      case ProgramOpcode::kAppend:
        EMBER_RETURN_IF_ERROR(Append(in));
        continue;
      case ProgramOpcode::kSliceAt:
        EMBER_RETURN_IF_ERROR(MakeSlice(in));
        continue;
    }
    if (!fits)
      return ArithmeticError(*frame_->program,
                             static_cast<size_t>(pc - 1 - begin));
  }
}

}  // namespace ember::vm
