#include "tools/lib/c_program/straight_line.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/concat.h"
#include "tensor/concrete_header.h"
#include "tensor/scalar.h"
#include "tools/lib/c_program/byte_ranges.h"
#include "vm/interpreter/plan.h"
#include "vm/isa/instruction_table.h"
#include "vm/isa/library_functions.h"
#include "vm/runtime/integer_instructions.h"
#include "vm/runtime/tensor.h"

namespace ember::tools {
namespace {

using vm::ProgramInstruction;
using vm::ProgramOpcode;

// Largest number of bytes of all memory of the program. No processor that has
// only a C compiler addresses more.
constexpr int64_t kMaxBytes = int64_t{1} << 40;

bool Overlap(const MemoryRange& a, const MemoryRange& b) {
  return a.memory == b.memory && a.number == b.number && a.bytes > 0 &&
         b.bytes > 0 && a.offset < b.offset + b.bytes &&
         b.offset < a.offset + a.bytes;
}

bool HasOpenDim(const std::vector<int64_t>& dims) {
  return std::ranges::any_of(dims, [](int64_t dim) { return dim < 0; });
}

// Returns a value of --shape for the input, with 1 for each open dim.
std::string ShapeFlag(const vm::TensorSignature& signature) {
  std::string dims;
  for (const int64_t dim : signature.dims)
    dims += Concat({dims.empty() ? "" : "x", std::max<int64_t>(dim, 1)});
  return Concat({"--shape=", signature.name, "=", dims});
}

class Walker {
 public:
  Walker(const vm::Module& module, std::vector<std::vector<int64_t>> input_dims)
      : module_(module),
        program_(module.entry()),
        integers_(program_.integer_register_count),
        buffers_(program_.buffer_register_count) {
    line_.input_dims = std::move(input_dims);
  }

  Status Walk();
  StraightLine Take() && { return std::move(line_); }

 private:
  Status CheckSignatures();
  // Executes an instruction. Sets pc_ to the number of the next one, or to the
  // number of instructions at the end.
  Status Execute(const ProgramInstruction& in);
  Status Jump(const ProgramInstruction& in);
  Status Allocate(const ProgramInstruction& in);
  Status SetPart(uint32_t reg, const MemoryRange& whole, int64_t offset,
                 int64_t bytes);
  Status LoadInteger(const ProgramInstruction& in);
  Status StoreInteger(const ProgramInstruction& in);
  Status Dispatch(const ProgramInstruction& in);
  Status CheckOverlaps(const tensor::Dispatch& dispatch, const LineStep& step);
  Status Result(const ProgramInstruction& in);

  Status ErrorHere(std::string_view message) const {
    return vm::InstructionError(program_, at_, message);
  }
  Status CheckRange(int64_t bytes, int64_t offset,
                    const MemoryRange& whole) const;
  LineStep& AddStep(LineStep::Kind kind);
  // Must be called before a step is added that reads the range. It adds steps
  // that clear what has not been written.
  void BeforeRead(const MemoryRange& range);
  void AfterWrite(const MemoryRange& range);
  // Returns the bytes that have been written in the memory of the range. Null
  // for memory that has contents before the program starts.
  ByteRanges* WrittenIn(const MemoryRange& range);

  const vm::Module& module_;
  const vm::Program& program_;
  std::vector<int64_t> integers_;
  std::vector<MemoryRange> buffers_;
  ByteRanges written_in_arena_;
  std::vector<ByteRanges> written_in_blocks_;
  StraightLine line_;
  size_t next_site_ = 0;
  size_t at_ = 0, pc_ = 0;
};

Status Walker::CheckSignatures() {
  for (const auto& signatures : {module_.inputs(), module_.results()}) {
    for (const vm::TensorSignature& signature : signatures) {
      if (signature.logical_type != vm::kStringType) continue;
      return UnimplementedError(
          Concat({"'", signature.name,
                  "': expected numbers, found strings, which need a runtime; "
                  "run the module with libember there"}));
    }
  }
  for (size_t i = 0; i < module_.inputs().size(); ++i) {
    const vm::TensorSignature& input = module_.inputs()[i];
    if (!HasOpenDim(line_.input_dims[i])) continue;
    return InvalidArgumentError(
        Concat({"input '", input.name, "': expected dims that are numbers, ",
                "found ", vm::SignatureText(program_, input),
                "; give them with, for example, ", ShapeFlag(input)}));
  }
  return OkStatus();
}

Status Walker::Walk() {
  EMBER_RETURN_IF_ERROR(CheckSignatures());
  line_.result_dims.resize(program_.results.size());
  while (pc_ < program_.instructions.size()) {
    at_ = pc_++;
    EMBER_RETURN_IF_ERROR(Execute(program_.instructions[at_]));
  }
  return OkStatus();
}

Status Walker::Execute(const ProgramInstruction& in) {
  switch (in.opcode) {
    case ProgramOpcode::kInteger:
      integers_[in.a] = in.immediate;
      return OkStatus();
    case ProgramOpcode::kInputDim:
      integers_[in.a] =
          line_.input_dims[in.b][static_cast<size_t>(in.immediate)];
      return OkStatus();
#define EMBER_ROW(name)                                            \
  case ProgramOpcode::k##name:                                     \
    return vm::EvaluateInteger<ProgramOpcode::k##name>(            \
               integers_[in.b], integers_[in.c], &integers_[in.a]) \
               ? OkStatus()                                        \
               : vm::ArithmeticError(program_, at_);
      EMBER_FOR_EACH_INTEGER_INSTRUCTION(EMBER_ROW)
#undef EMBER_ROW
    case ProgramOpcode::kMove:
      integers_[in.a] = integers_[in.b];
      return OkStatus();
    case ProgramOpcode::kCheckEqual:
      if (integers_[in.b] == integers_[in.c]) return OkStatus();
      return vm::CheckError(program_, in, integers_[in.b], integers_[in.c]);
    case ProgramOpcode::kCheckTrue:
      if (integers_[in.b] != 0) return OkStatus();
      return vm::CheckError(program_, in, 0, 0);
    case ProgramOpcode::kBranchIf:
      if (integers_[in.b] == 0) return OkStatus();
      return Jump(in);
    case ProgramOpcode::kBranch:
      return Jump(in);
    case ProgramOpcode::kInputBuffer: {
      const vm::TensorSignature& input = program_.inputs[in.b];
      EMBER_ASSIGN_OR_RETURN(
          const int64_t bytes,
          vm::TensorByteSize(input.type, line_.input_dims[in.b]));
      buffers_[in.a] = {Memory::kInput, in.b, 0, bytes};
      return OkStatus();
    }
    case ProgramOpcode::kConstantBuffer:
      buffers_[in.a] = {Memory::kConstant, in.b, 0,
                        static_cast<int64_t>(
                            module_.definition().constants[in.b].data.size())};
      return OkStatus();
    case ProgramOpcode::kArena:
      buffers_[in.a] = {Memory::kArena, 0, 0, in.immediate};
      line_.arena_bytes = std::max(line_.arena_bytes, in.immediate);
      return OkStatus();
    case ProgramOpcode::kAllocate:
      return Allocate(in);
    case ProgramOpcode::kView:
      return SetPart(in.a, buffers_[in.b], in.immediate, integers_[in.c]);
    case ProgramOpcode::kSliceAt:
      return SetPart(in.a, buffers_[in.b], integers_[in.c],
                     integers_[static_cast<size_t>(in.immediate)]);
    case ProgramOpcode::kMoveBuffer:
      buffers_[in.a] = buffers_[in.b];
      return OkStatus();
    case ProgramOpcode::kRelease:
      return OkStatus();
    case ProgramOpcode::kLoadInteger:
      return LoadInteger(in);
    case ProgramOpcode::kStoreInteger:
      return StoreInteger(in);
    case ProgramOpcode::kDispatch:
      return Dispatch(in);
    case ProgramOpcode::kResult:
      return Result(in);
    case ProgramOpcode::kReturn:
      pc_ = program_.instructions.size();
      return OkStatus();
    case ProgramOpcode::kLibraryCall:
      return ErrorHere(
          Concat({"expected dispatches only, found the library function ",
                  vm::LibraryInfoOf(in.a).text,
                  ", which needs a runtime; compute it outside of the model"}));
    case ProgramOpcode::kCallProgram:
      return ErrorHere(
          Concat({"expected dispatches only, found a call of the program ",
                  module_.definition().programs[in.a].name,
                  ", the body of a loop or branch; export the model without "
                  "control flow, or run its body once for each call"}));
    case ProgramOpcode::kAppend:
      return ErrorHere(
          "expected memory of a fixed size, found a sequence that grows; "
          "export the model without control flow");
  }
  return ErrorHere("expected a known instruction");
}

Status Walker::Jump(const ProgramInstruction& in) {
  if (in.immediate <= static_cast<int64_t>(at_)) {
    return ErrorHere(
        Concat({"expected a program without loops, found a jump back to "
                "instruction ",
                in.immediate, "; export the model without control flow"}));
  }
  // A jump ahead whose condition is known skips dispatches, whose sites are
  // skipped too.
  pc_ = static_cast<size_t>(in.immediate);
  const std::span<const vm::DispatchSite> sites = module_.sites();
  while (next_site_ < sites.size() && sites[next_site_].program == 0 &&
         sites[next_site_].instruction < pc_) {
    ++next_site_;
  }
  return OkStatus();
}

Status Walker::Allocate(const ProgramInstruction& in) {
  const int64_t bytes = integers_[in.b];
  if (bytes < 0 || bytes > kMaxBytes) {
    return ErrorHere(Concat(
        {"expected at most ", kMaxBytes, " bytes of memory, found ", bytes}));
  }
  buffers_[in.a] = {Memory::kBlock,
                    static_cast<uint32_t>(line_.block_bytes.size()), 0, bytes};
  line_.block_bytes.push_back(bytes);
  written_in_blocks_.emplace_back();
  return OkStatus();
}

Status Walker::CheckRange(int64_t bytes, int64_t offset,
                          const MemoryRange& whole) const {
  if (bytes >= 0 && offset >= 0 && offset <= whole.bytes &&
      bytes <= whole.bytes - offset)
    return OkStatus();
  return ErrorHere(Concat({"expected a range within ", whole.bytes,
                           " bytes, found ", bytes, " at offset ", offset}));
}

Status Walker::SetPart(uint32_t reg, const MemoryRange& whole, int64_t offset,
                       int64_t bytes) {
  EMBER_RETURN_IF_ERROR(CheckRange(bytes, offset, whole));
  buffers_[reg] = {whole.memory, whole.number, whole.offset + offset, bytes};
  return OkStatus();
}

Status Walker::LoadInteger(const ProgramInstruction& in) {
  const MemoryRange& range = buffers_[in.b];
  const auto type = static_cast<DType>(in.c);
  EMBER_RETURN_IF_ERROR(CheckRange(DTypeByteSize(type), in.immediate, range));
  if (range.memory != Memory::kConstant) {
    return ErrorHere(
        "expected an integer that is known before the run, found one of the "
        "data; make it a constant with --constant when the model is compiled");
  }
  const uint8_t* const data =
      module_.definition().constants[range.number].data.data();
  const uint64_t bits =
      tensor::LoadElement(data + range.offset + in.immediate, 0, type);
  integers_[in.a] =
      type == DType::kBool ? bits != 0
      : type == DType::kU64
          ? static_cast<int64_t>(std::min<uint64_t>(bits, INT64_MAX))
          : tensor::BitsToInteger(bits, type);
  return OkStatus();
}

Status Walker::StoreInteger(const ProgramInstruction& in) {
  MemoryRange range = buffers_[in.a];
  constexpr int64_t kBytes = sizeof(int64_t);
  EMBER_RETURN_IF_ERROR(CheckRange(kBytes, in.immediate, range));
  range.offset += in.immediate;
  range.bytes = kBytes;
  LineStep& step = AddStep(LineStep::Kind::kStore);
  step.number = integers_[in.b];
  step.operands = {range};
  AfterWrite(range);
  return OkStatus();
}

Status Walker::CheckOverlaps(const tensor::Dispatch& dispatch,
                             const LineStep& step) {
  for (size_t o = step.input_count; o < step.operands.size(); ++o) {
    for (size_t i = 0; i < o; ++i) {
      if (!Overlap(step.operands[i], step.operands[o])) continue;
      if (i < step.input_count &&
          step.operands[i].offset == step.operands[o].offset &&
          vm::MayAlias(dispatch, static_cast<int>(i), static_cast<int>(o)))
        continue;
      return ErrorHere(
          Concat({"dispatch @", dispatch.name, ": expected output '",
                  dispatch.buffers[o].name, "' apart from '",
                  dispatch.buffers[i].name, "', found shared memory"}));
    }
  }
  return OkStatus();
}

Status Walker::Dispatch(const ProgramInstruction& in) {
  const tensor::Dispatch& dispatch = module_.definition().dispatches[in.a];
  const uint32_t* const operands = program_.operands.data() + in.b;
  LineStep step;
  step.instruction = at_;
  step.site = next_site_++;
  step.input_count = dispatch.input_count();
  for (size_t i = 0; i < dispatch.parameters.size(); ++i)
    step.parameters.push_back(integers_[operands[i]]);
  EMBER_ASSIGN_OR_RETURN(
      const tensor::ConcreteHeader header,
      tensor::ConcreteHeader::Evaluate(dispatch, step.parameters));
  EMBER_ASSIGN_OR_RETURN(vm::PlanFacts facts,
                         vm::StripInterpreter().FactsOf(dispatch, header));
  step.overwrites = std::move(facts.overwrites);
  for (size_t i = 0; i < facts.required_bytes.size(); ++i) {
    MemoryRange range = buffers_[operands[dispatch.parameters.size() + i]];
    const int64_t expected = facts.required_bytes[i];
    if (range.bytes < expected) {
      return ErrorHere(Concat(
          {"dispatch @", dispatch.name, ": buffer '", dispatch.buffers[i].name,
           "': expected at least ", expected, " bytes, found ", range.bytes}));
    }
    // Memory of the caller and the arena is only aligned for its elements, so
    // a part of it must begin at a multiple of their size. Parts of constants
    // become arrays of their own.
    const int size = DTypeByteSize(dispatch.buffers[i].type);
    if (range.memory != Memory::kConstant && range.offset % size != 0) {
      return ErrorHere(Concat({"dispatch @", dispatch.name, ": buffer '",
                               dispatch.buffers[i].name,
                               "': expected an offset that is a multiple of ",
                               size, ", found ", range.offset}));
    }
    range.bytes = expected;
    step.operands.push_back(range);
  }
  EMBER_RETURN_IF_ERROR(CheckOverlaps(dispatch, step));
  for (size_t i = 0; i < step.operands.size(); ++i) {
    if (!step.overwrites[i]) BeforeRead(step.operands[i]);
  }
  for (size_t i = step.input_count; i < step.operands.size(); ++i)
    AfterWrite(step.operands[i]);
  line_.steps.push_back(std::move(step));
  return OkStatus();
}

Status Walker::Result(const ProgramInstruction& in) {
  const vm::TensorSignature& signature = program_.results[in.a];
  std::vector<int64_t> dims;
  for (size_t i = 0; i < signature.dims.size(); ++i) {
    dims.push_back(integers_[program_.operands[in.c + i]]);
    if (signature.dims[i] < 0 || signature.dims[i] == dims[i]) continue;
    return ErrorHere(Concat({"result '", signature.name, "': expected ",
                             vm::SignatureText(program_, signature),
                             ", found dim ", i, " of ", dims[i]}));
  }
  EMBER_ASSIGN_OR_RETURN(const int64_t bytes,
                         vm::TensorByteSize(signature.type, dims));
  MemoryRange range = buffers_[in.b];
  if (bytes > range.bytes) {
    return ErrorHere(Concat(
        {"result '", signature.name, "': expected ", bytes, " bytes for ",
         vm::TensorTypeText(signature.type, dims), ", found ", range.bytes}));
  }
  range.bytes = bytes;
  BeforeRead(range);
  LineStep& step = AddStep(LineStep::Kind::kResult);
  step.operands = {range};
  step.result = in.a;
  line_.result_dims[in.a] = std::move(dims);
  return OkStatus();
}

LineStep& Walker::AddStep(LineStep::Kind kind) {
  LineStep& step = line_.steps.emplace_back();
  step.kind = kind;
  step.instruction = at_;
  return step;
}

ByteRanges* Walker::WrittenIn(const MemoryRange& range) {
  switch (range.memory) {
    case Memory::kInput:
    case Memory::kConstant:
      return nullptr;
    case Memory::kArena:
      return &written_in_arena_;
    case Memory::kBlock:
      return &written_in_blocks_[range.number];
  }
  return nullptr;
}

void Walker::BeforeRead(const MemoryRange& range) {
  ByteRanges* const written = WrittenIn(range);
  if (written == nullptr) return;
  const int64_t end = range.offset + range.bytes;
  for (const ByteRange& gap : written->Gaps(range.offset, end)) {
    MemoryRange part = range;
    part.offset = gap.begin;
    part.bytes = gap.end - gap.begin;
    AddStep(LineStep::Kind::kClear).operands = {part};
  }
  written->Add(range.offset, end);
}

void Walker::AfterWrite(const MemoryRange& range) {
  ByteRanges* const written = WrittenIn(range);
  if (written != nullptr)
    written->Add(range.offset, range.offset + range.bytes);
}

}  // namespace

StatusOr<StraightLine> StraightLineOf(
    const vm::Module& module, std::vector<std::vector<int64_t>> input_dims) {
  Walker walker(module, std::move(input_dims));
  EMBER_RETURN_IF_ERROR(walker.Walk());
  return std::move(walker).Take();
}

}  // namespace ember::tools
