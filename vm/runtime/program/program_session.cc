#include "vm/runtime/program/program_session.h"

#include <cstring>
#include <utility>

#include "base/checked_math.h"
#include "base/concat.h"
#include "vm/isa/limits.h"
#include "vm/runtime/default_limits.h"
#include "vm/runtime/dispatch/tiering.h"
#include "vm/runtime/integer_instructions.h"

namespace ember::vm {
namespace {

// Memory to which tensors without elements refer.
alignas(kMemoryAlignment) uint8_t empty_memory[kMemoryAlignment];

// Returns the number of bytes of a tensor with this signature; -1 if not all
// dims are numbers.
int64_t DeclaredBytes(const TensorSignature& signature) {
  for (int64_t dim : signature.dims) {
    if (dim < 0) return -1;
  }
  const StatusOr<int64_t> bytes =
      TensorByteSize(signature.type, signature.dims);
  return bytes.ok() ? *bytes : -1;
}

// Adds, at the beginning of a dispatch's error, the names of the model's nodes
// that the dispatch computes: "'embed (Gather)': dispatch @d3_gather: …".
void NameNodes(const ModuleDefinition& module, Status& status) {
  if (status.ok()) return;
  for (size_t i = 0; i < module.dispatch_origins.size(); ++i) {
    const std::string& origin = module.dispatch_origins[i];
    if (origin.empty() || !status.message().starts_with(Concat(
                              {"dispatch @", module.dispatches[i].name, ":"})))
      continue;
    status = status.WithContext(Concat({"'", origin, "'"}));
    return;
  }
}

}  // namespace

ProgramSession::ProgramSession(std::shared_ptr<const Module> module,
                               SessionOptions options)
    : module_(std::move(module)),
      options_(std::move(options)),
      runner_(options_.device->host_runner(), interrupt_),
      device_(options_.device->is_host()
                  ? nullptr
                  : options_.device_support(options_.device, module_)),
      limits_({.work_limit = options_.work_limit,
               .step_limit = options_.step_limit,
               .max_seconds = options_.max_seconds,
               .begins_cancelled = options_.begins_cancelled},
              interrupt_),
      memory_(*module_, options_.device,
              options_.memory_limit != 0 ? options_.memory_limit
                                         : DefaultMemoryLimit(),
              device_, limits_),
      result_buffers_(*module_),
      symbols_(module_->entry()),
      input_dims_(module_->entry().inputs.size()) {
  MakeFrames();
}

ProgramSession::~ProgramSession() = default;

void ProgramSession::MakeFrames() {
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
  uint32_t number = 0;
  for (const DispatchSite& site : module_->sites())
    frames_[site.program].code[site.instruction].a = number++;
}

StatusOr<std::unique_ptr<DispatchRunner>> ProgramSession::MakeDispatchRunner() {
  const DispatchContext context = {*module_, options_, memory_, limits_,
                                   runner_};
  DispatchRunnerSource* source = options_.tiering.get();
  if (device_ != nullptr) source = device_.get();
  if (source != nullptr) return source->NewDispatchRunner(context);
  return std::make_unique<DispatchRunner>(context);
}

Status ProgramSession::MakeStrings() {
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

Status ProgramSession::BindStrings(const Tensor& input,
                                   MemoryReference& reference) {
  EMBER_ASSIGN_OR_RETURN(reference.block, memory_.Acquire(input.byte_size));
  reference.data = reference.block->data();
  reference.length = input.byte_size;
  memory_.AfterWrite(reference, reference.length);
  return strings_->Intern(*input.strings,
                          reinterpret_cast<int64_t*>(reference.data));
}

Status ProgramSession::Initialize() {
  EMBER_RETURN_IF_ERROR(MakeStrings());
  EMBER_ASSIGN_OR_RETURN(dispatches_, MakeDispatchRunner());
  EMBER_RETURN_IF_ERROR(memory_.Initialize());
  for (size_t i = 0; i < module_->arena_offsets().size(); ++i)
    frames_[i].arena = memory_.arena() + module_->arena_offsets()[i];
  dispatches_->Prepare();
  return OkStatus();
}

Status ProgramSession::BindInput(const Tensor& input,
                                 MemoryReference& reference) {
  if (input.strings != nullptr) return BindStrings(input, reference);
  reference = {static_cast<uint8_t*>(input.data), input.byte_size, nullptr};
  if (reference.data == nullptr) reference.data = empty_memory;
  if (reinterpret_cast<uintptr_t>(reference.data) % kInputAlignment == 0)
    return OkStatus();
  EMBER_ASSIGN_OR_RETURN(reference.block, memory_.Acquire(input.byte_size));
  reference.data = reference.block->data();
  std::memcpy(reference.data, input.data, static_cast<size_t>(input.byte_size));
  memory_.AfterWrite(reference, input.byte_size);
  return OkStatus();
}

Status ProgramSession::BindInputs(std::span<const Tensor> inputs) {
  EMBER_RETURN_IF_ERROR(symbols_.BindInputs(inputs));
  if (strings_ != nullptr) {
    EMBER_RETURN_IF_ERROR(
        strings_->Start(module_->definition().strings, &interrupt_));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& input = inputs[i];
    MemoryReference& reference = frames_[0].inputs[i];
    input_dims_[i].assign(input.dims.begin(), input.dims.end());
    if (device_ == nullptr) {
      EMBER_RETURN_IF_ERROR(BindInput(input, reference));
      continue;
    }
    EMBER_ASSIGN_OR_RETURN(
        reference,
        device_->BindInput(i, input, strings_.get(), *memory_.pool()));
    memory_.AfterWrite(reference, input.byte_size);
  }
  memory_.KnowInputs(input_dims_);
  return OkStatus();
}

Status ProgramSession::EndOnDevice(Status status,
                                   std::vector<Tensor>& results) {
  status = device_->EndRun(std::move(status), memory_.pool(), results);
  NameNodes(module_->definition(), status);
  if (const int64_t failed = device_->failed_site(); failed >= 0) {
    const uint32_t program =
        dispatches_->site(static_cast<uint32_t>(failed)).program;
    if (program > 0) {
      status = status.WithContext(
          Concat({"program ", frames_[program].program->name}));
    }
    // The session leaves the frames of called programs, so that this error does
    // not also get the name of the program that ran last.
    for (; frame_ != &frames_[0]; frame_ = frame_->caller)
      DropRegisters(*frame_);
  }
  for (size_t i = 0; status.ok() && i < results.size(); ++i) {
    status = result_buffers_.Has(i)
                 ? result_buffers_.Put(i, results[i].data, results[i])
                 : ResolveStrings(frames_[0].program->results[i], results[i]);
  }
  return status;
}

Status ProgramSession::Run(std::span<const Tensor> inputs,
                           std::vector<Tensor>* results) {
  EMBER_RETURN_IF_ERROR(result_buffers_.Check(inputs));
  run_inputs_ = inputs;
  Frame& entry = frames_[0];
  results->resize(entry.program->results.size());
  Enter(entry);
  limits_.Start();
  memory_.StartRun();
  progress_.store(0, std::memory_order_relaxed);
  if (device_ != nullptr) device_->StartRun(*memory_.pool());
  dispatches_->StartRun();
  Status status = BindInputs(inputs);
  if (status.ok()) status = Execute(*results);
  Status kept = dispatches_->EndRun();
  if (!kept.ok()) status = std::move(kept);
  NameNodes(module_->definition(), status);
  if (device_ != nullptr) status = EndOnDevice(std::move(status), *results);
  // If the run was interrupted, it fails even if the program reached its end,
  // because the last dispatches may have been skipped.
  if (status.ok() && interrupt_.ShouldStop()) status = interrupt_.status();
  // The name of the called program is added to an error in it.
  if (!status.ok() && frame_ != &entry) {
    const std::string where = Concat({"program ", frame_->program->name});
    if (!status.message().starts_with(Concat({where, ":"})))
      status = status.WithContext(where);
  }
  for (; frame_ != nullptr; frame_ = frame_->caller) DropRegisters(*frame_);
  Drop(entry.inputs);  // The copies of unaligned inputs are freed at the end of
                       // the run.
  memory_.EndRun(status.ok(), input_dims_);
  return status;
}

void ProgramSession::ResetProfile() {
  dispatches_->ResetProfile();
  if (device_ != nullptr) device_->ResetWork();
}

DeviceReport ProgramSession::device_report() const {
  if (device_ == nullptr) return {};
  return {device_->work(), device_->host_work()};
}

SessionMemory ProgramSession::memory() const {
  const MemoryPool& pool = *memory_.pool();
  SessionMemory memory;
  memory.arena_bytes = memory_.arena_bytes();
  memory.pool_bytes = pool.used_bytes() - memory.arena_bytes;
  memory.peak_bytes = pool.peak_bytes();
  return memory;
}

void ProgramSession::Drop(std::vector<MemoryReference>& references) {
  for (MemoryReference& reference : references) {
    if (reference.block == nullptr) continue;
    reference.block->Drop();
    reference.block = nullptr;
  }
}

void ProgramSession::DropRegisters(Frame& frame) {
  Drop(frame.buffers);
  Drop(frame.results);
}

Status ProgramSession::ErrorAt(const ProgramInstruction& instruction,
                               std::string_view message) const {
  return InstructionError(
      *frame_->program, static_cast<size_t>(&instruction - frame_->code.data()),
      message);
}

Status ProgramSession::CheckFailed(
    const ProgramInstruction& instruction) const {
  return CheckError(*frame_->program, instruction, integers_[instruction.b],
                    integers_[instruction.c]);
}

bool ProgramSession::PassesKeptCalls(
    const ProgramInstruction& instruction) const {
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
    // A dispatch may pass kept calls, because the dispatch runner itself
    // compares the dispatch's memory with theirs.
    case ProgramOpcode::kDispatch:
      return true;
    case ProgramOpcode::kInputBuffer:
    case ProgramOpcode::kConstantBuffer:
    case ProgramOpcode::kArena:
    case ProgramOpcode::kAllocate:
    case ProgramOpcode::kView:
      // Overwriting the register drops its reference to a block, which may free
      // memory that kept calls use. If the register refers to no block, the
      // instruction does not affect kept calls.
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

// Executes the programs until the entry program returns. The verifier has
// checked all numbers in the instructions; lengths, overflow and limits are
// checked here.
Status ProgramSession::Execute(std::vector<Tensor>& results) {
  const ProgramInstruction* begin = frame_->code.data();
  const ProgramInstruction* pc = begin;
  int64_t* integers = integers_;
  bool fits = true;
  while (true) {
    const ProgramInstruction& in = *pc++;
    if (dispatches_->keeps_calls() && !PassesKeptCalls(in))
      EMBER_RETURN_IF_ERROR(dispatches_->Synchronize());
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
        if (begin + in.immediate < pc && !limits_.TakeStep())
          return limits_.StepError(*frame_->program);
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
        // If the next instruction releases the source register, the reference
        // is moved instead of being counted.
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
        EMBER_RETURN_IF_ERROR(dispatches_->Run(in.a, integers_, buffers_));
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
        if (!limits_.TakeStep()) return limits_.StepError(*frame_->program);
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
