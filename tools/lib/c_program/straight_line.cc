#include "tools/lib/c_program/straight_line.h"

#include <algorithm>
#include <deque>
#include <map>
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

// The state of a program while it is walked.
struct Frame {
  Frame(const vm::Program& of, uint32_t index)
      : program(of),
        number(index),
        integers(of.integer_register_count),
        buffers(of.buffer_register_count),
        inputs(of.inputs.size()),
        results(of.results.size()),
        result_dims(of.results.size()) {}

  const vm::Program& program;
  uint32_t number;
  std::vector<int64_t> integers;
  std::vector<MemoryRange> buffers, inputs, results;
  std::vector<std::vector<int64_t>> result_dims;
  // The numbers of the current instruction and of the next one.
  size_t at = 0, pc = 0;
};

class Walker {
 public:
  Walker(const vm::Module& module, std::vector<std::vector<int64_t>> input_dims)
      : module_(module) {
    line_.input_dims = std::move(input_dims);
    for (size_t i = 0; i < module.sites().size(); ++i) {
      const vm::DispatchSite& site = module.sites()[i];
      site_numbers_[{site.program, site.instruction}] = i;
    }
    frames_.emplace_back(module.entry(), 0);
  }

  Status Walk();
  StraightLine Take() && { return std::move(line_); }

 private:
  Frame& frame() { return frames_.back(); }
  const vm::Program& program() const { return frames_.back().program; }

  Status CheckSignatures();
  // Executes the program of the last frame to its end.
  Status Run();
  Status Execute(const ProgramInstruction& in);
  Status Jump(const ProgramInstruction& in);
  Status CheckSize();
  Status Call(const ProgramInstruction& in);
  Status Allocate(const ProgramInstruction& in);
  StatusOr<MemoryRange> NewBlock(int64_t bytes);
  Status SetPart(uint32_t reg, const MemoryRange& whole, int64_t offset,
                 int64_t bytes);
  Status LoadInteger(const ProgramInstruction& in);
  Status StoreInteger(const ProgramInstruction& in);
  Status Append(const ProgramInstruction& in);
  // True if something else than this register of the last frame refers to the
  // block.
  bool IsShared(uint32_t block, uint32_t reg) const;
  Status Dispatch(const ProgramInstruction& in);
  Status CheckOverlaps(const tensor::Dispatch& dispatch, const LineStep& step);
  Status Result(const ProgramInstruction& in);

  Status ErrorHere(std::string_view message) const {
    return vm::InstructionError(program(), frames_.back().at, message);
  }
  Status CheckRange(int64_t bytes, int64_t offset,
                    const MemoryRange& whole) const;
  LineStep& AddStep(LineStep::Kind kind);
  // Adds a step that copies; the ranges have the same size.
  void Copy(const MemoryRange& from, const MemoryRange& to);
  // Must be called before a step is added that reads the range. It adds steps
  // that clear what has not been written.
  void BeforeRead(const MemoryRange& range);
  void AfterWrite(const MemoryRange& range);
  // Returns the bytes that have been written in the memory of the range. Null
  // for memory that has contents before the program starts.
  ByteRanges* WrittenIn(const MemoryRange& range);

  const vm::Module& module_;
  std::map<std::pair<uint32_t, uint32_t>, size_t> site_numbers_;
  // The frames of the entry program and of those that are being called. A
  // deque, because frames refer to programs and do not move.
  std::deque<Frame> frames_;
  ByteRanges written_in_arena_;
  std::vector<ByteRanges> written_in_blocks_;
  StraightLine line_;
  int64_t jumps_ = 0;
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
                "found ", vm::SignatureText(program(), input),
                "; give them with, for example, ", ShapeFlag(input)}));
  }
  return OkStatus();
}

Status Walker::Walk() {
  EMBER_RETURN_IF_ERROR(CheckSignatures());
  for (size_t i = 0; i < module_.inputs().size(); ++i) {
    EMBER_ASSIGN_OR_RETURN(
        const int64_t bytes,
        vm::TensorByteSize(module_.inputs()[i].type, line_.input_dims[i]));
    frame().inputs[i] = {Memory::kInput, static_cast<uint32_t>(i), 0, bytes};
  }
  line_.result_dims.resize(program().results.size());
  return Run();
}

Status Walker::Run() {
  while (frame().pc < program().instructions.size()) {
    frame().at = frame().pc++;
    EMBER_RETURN_IF_ERROR(Execute(program().instructions[frame().at]));
  }
  return OkStatus();
}

Status Walker::Execute(const ProgramInstruction& in) {
  switch (in.opcode) {
    case ProgramOpcode::kInteger:
      frame().integers[in.a] = in.immediate;
      return OkStatus();
    case ProgramOpcode::kInputDim:
      frame().integers[in.a] =
          line_.input_dims[in.b][static_cast<size_t>(in.immediate)];
      return OkStatus();
#define EMBER_ROW(name)                                        \
  case ProgramOpcode::k##name:                                 \
    return vm::EvaluateInteger<ProgramOpcode::k##name>(        \
               frame().integers[in.b], frame().integers[in.c], \
               &frame().integers[in.a])                        \
               ? OkStatus()                                    \
               : vm::ArithmeticError(program(), frame().at);
      EMBER_FOR_EACH_INTEGER_INSTRUCTION(EMBER_ROW)
#undef EMBER_ROW
    case ProgramOpcode::kMove:
      frame().integers[in.a] = frame().integers[in.b];
      return OkStatus();
    case ProgramOpcode::kCheckEqual:
      if (frame().integers[in.b] == frame().integers[in.c]) return OkStatus();
      return vm::CheckError(program(), in, frame().integers[in.b],
                            frame().integers[in.c]);
    case ProgramOpcode::kCheckTrue:
      if (frame().integers[in.b] != 0) return OkStatus();
      return vm::CheckError(program(), in, 0, 0);
    case ProgramOpcode::kBranchIf:
      if (frame().integers[in.b] == 0) return OkStatus();
      return Jump(in);
    case ProgramOpcode::kBranch:
      return Jump(in);
    case ProgramOpcode::kInputBuffer:
      frame().buffers[in.a] = frame().inputs[in.b];
      return OkStatus();
    case ProgramOpcode::kConstantBuffer:
      frame().buffers[in.a] = {
          Memory::kConstant, in.b, 0,
          static_cast<int64_t>(
              module_.definition().constants[in.b].data.size())};
      return OkStatus();
    case ProgramOpcode::kArena: {
      const int64_t offset = module_.arena_offsets()[frame().number];
      frame().buffers[in.a] = {Memory::kArena, 0, offset, in.immediate};
      line_.arena_bytes = std::max(line_.arena_bytes, offset + in.immediate);
      return OkStatus();
    }
    case ProgramOpcode::kAllocate:
      return Allocate(in);
    case ProgramOpcode::kView:
      return SetPart(in.a, frame().buffers[in.b], in.immediate,
                     frame().integers[in.c]);
    case ProgramOpcode::kSliceAt:
      return SetPart(in.a, frame().buffers[in.b], frame().integers[in.c],
                     frame().integers[static_cast<size_t>(in.immediate)]);
    case ProgramOpcode::kMoveBuffer:
      frame().buffers[in.a] = frame().buffers[in.b];
      return OkStatus();
    case ProgramOpcode::kRelease:
      frame().buffers[in.a] = {};
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
      frame().pc = program().instructions.size();
      return OkStatus();
    case ProgramOpcode::kLibraryCall:
      return ErrorHere(
          Concat({"expected dispatches only, found the library function ",
                  vm::LibraryInfoOf(in.a).text,
                  ", which needs a runtime; compute it outside of the model"}));
    case ProgramOpcode::kCallProgram:
      return Call(in);
    case ProgramOpcode::kAppend:
      return Append(in);
  }
  return ErrorHere("expected a known instruction");
}

// A loop becomes the steps of all its iterations, whose number is limited.
Status Walker::CheckSize() {
  constexpr int64_t kMaxJumps = 1 << 16;
  constexpr size_t kMaxSteps = 1 << 12;
  if (++jumps_ <= kMaxJumps && line_.steps.size() <= kMaxSteps)
    return OkStatus();
  return ErrorHere(
      Concat({"expected loops that take at most ", kMaxSteps,
              " steps in all, found more; export the model without control "
              "flow, or run the body of its loop once for each call"}));
}

// The conditions of jumps are integers, which are all known.
Status Walker::Jump(const ProgramInstruction& in) {
  EMBER_RETURN_IF_ERROR(CheckSize());
  frame().pc = static_cast<size_t>(in.immediate);
  return OkStatus();
}

Status Walker::Call(const ProgramInstruction& in) {
  // A limit of nested calls, each of which is a call of this function, too.
  constexpr size_t kMaxDepth = 64;
  EMBER_RETURN_IF_ERROR(CheckSize());
  if (frames_.size() >= kMaxDepth) {
    return ErrorHere(
        Concat({"expected at most ", kMaxDepth, " nested calls of programs"}));
  }
  const vm::Program& called = module_.definition().programs[in.a];
  const uint32_t* operand = program().operands.data() + in.b;
  Frame callee(called, in.a);
  for (size_t i = 0; i < called.parameters.size(); ++i)
    callee.integers[i] = frame().integers[*operand++];
  for (MemoryRange& input : callee.inputs) input = frame().buffers[*operand++];
  frames_.push_back(std::move(callee));
  EMBER_RETURN_IF_ERROR(Run());
  const Frame done = std::move(frames_.back());
  frames_.pop_back();
  for (size_t i = 0; i < done.results.size(); ++i) {
    frame().buffers[*operand++] = done.results[i];
    for (const int64_t dim : done.result_dims[i])
      frame().integers[*operand++] = dim;
  }
  return OkStatus();
}

StatusOr<MemoryRange> Walker::NewBlock(int64_t bytes) {
  if (bytes < 0 || bytes > kMaxBytes) {
    return ErrorHere(Concat(
        {"expected at most ", kMaxBytes, " bytes of memory, found ", bytes}));
  }
  const auto number = static_cast<uint32_t>(line_.block_bytes.size());
  line_.block_bytes.push_back(bytes);
  written_in_blocks_.emplace_back();
  return MemoryRange{Memory::kBlock, number, 0, bytes};
}

Status Walker::Allocate(const ProgramInstruction& in) {
  EMBER_ASSIGN_OR_RETURN(frame().buffers[in.a],
                         NewBlock(frame().integers[in.b]));
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
  frame().buffers[reg] = {whole.memory, whole.number, whole.offset + offset,
                          bytes};
  return OkStatus();
}

Status Walker::LoadInteger(const ProgramInstruction& in) {
  const MemoryRange& range = frame().buffers[in.b];
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
  frame().integers[in.a] =
      type == DType::kBool ? bits != 0
      : type == DType::kU64
          ? static_cast<int64_t>(std::min<uint64_t>(bits, INT64_MAX))
          : tensor::BitsToInteger(bits, type);
  return OkStatus();
}

Status Walker::StoreInteger(const ProgramInstruction& in) {
  MemoryRange range = frame().buffers[in.a];
  constexpr int64_t kBytes = sizeof(int64_t);
  EMBER_RETURN_IF_ERROR(CheckRange(kBytes, in.immediate, range));
  range.offset += in.immediate;
  range.bytes = kBytes;
  LineStep& step = AddStep(LineStep::Kind::kStore);
  step.number = frame().integers[in.b];
  step.operands = {range};
  AfterWrite(range);
  return OkStatus();
}

bool Walker::IsShared(uint32_t block, uint32_t reg) const {
  const auto refers = [block](const MemoryRange& range) {
    return range.memory == Memory::kBlock && range.number == block;
  };
  for (const Frame& frame : frames_) {
    for (size_t i = 0; i < frame.buffers.size(); ++i) {
      const bool is_itself = &frame == &frames_.back() && i == reg;
      if (!is_itself && refers(frame.buffers[i])) return true;
    }
    if (std::ranges::any_of(frame.inputs, refers) ||
        std::ranges::any_of(frame.results, refers))
      return true;
  }
  return false;
}

Status Walker::Append(const ProgramInstruction& in) {
  const MemoryRange whole = frame().buffers[in.a];
  MemoryRange piece = frame().buffers[in.c];
  const int64_t used = frame().integers[in.b];
  const int64_t added = frame().integers[static_cast<size_t>(in.immediate)];
  EMBER_RETURN_IF_ERROR(CheckRange(used, 0, whole));
  EMBER_RETURN_IF_ERROR(CheckRange(added, 0, piece));
  const int64_t total = used + added;
  piece.bytes = added;
  MemoryRange grown = whole;
  const bool has_room =
      whole.memory == Memory::kBlock &&
      line_.block_bytes[whole.number] - whole.offset >= total &&
      !IsShared(whole.number, in.a);
  if (!has_room) {
    EMBER_ASSIGN_OR_RETURN(grown, NewBlock(total));
    Copy({whole.memory, whole.number, whole.offset, used},
         {grown.memory, grown.number, 0, used});
  }
  grown.bytes = total;
  Copy(piece, {grown.memory, grown.number, grown.offset + used, added});
  frame().buffers[in.a] = grown;
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
  const uint32_t* const operands = program().operands.data() + in.b;
  LineStep step;
  step.instruction = frame().at;
  step.site =
      site_numbers_[{frame().number, static_cast<uint32_t>(frame().at)}];
  step.input_count = dispatch.input_count();
  for (size_t i = 0; i < dispatch.parameters.size(); ++i)
    step.parameters.push_back(frame().integers[operands[i]]);
  EMBER_ASSIGN_OR_RETURN(
      const tensor::ConcreteHeader header,
      tensor::ConcreteHeader::Evaluate(dispatch, step.parameters));
  EMBER_ASSIGN_OR_RETURN(vm::PlanFacts facts,
                         vm::StripInterpreter().FactsOf(dispatch, header));
  step.overwrites = std::move(facts.overwrites);
  for (size_t i = 0; i < facts.required_bytes.size(); ++i) {
    MemoryRange range =
        frame().buffers[operands[dispatch.parameters.size() + i]];
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
  const vm::TensorSignature& signature = program().results[in.a];
  std::vector<int64_t> dims;
  for (size_t i = 0; i < signature.dims.size(); ++i) {
    dims.push_back(frame().integers[program().operands[in.c + i]]);
    if (signature.dims[i] < 0 || signature.dims[i] == dims[i]) continue;
    return ErrorHere(Concat({"result '", signature.name, "': expected ",
                             vm::SignatureText(program(), signature),
                             ", found dim ", i, " of ", dims[i]}));
  }
  EMBER_ASSIGN_OR_RETURN(const int64_t bytes,
                         vm::TensorByteSize(signature.type, dims));
  MemoryRange range = frame().buffers[in.b];
  if (bytes > range.bytes) {
    return ErrorHere(Concat(
        {"result '", signature.name, "': expected ", bytes, " bytes for ",
         vm::TensorTypeText(signature.type, dims), ", found ", range.bytes}));
  }
  range.bytes = bytes;
  if (frames_.size() > 1) {
    // The arena is used again, so the value moves to memory of its own.
    if (range.memory == Memory::kArena) {
      EMBER_ASSIGN_OR_RETURN(const MemoryRange kept, NewBlock(bytes));
      Copy(range, kept);
      range = kept;
    }
    frame().results[in.a] = range;
    frame().result_dims[in.a] = std::move(dims);
    return OkStatus();
  }
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
  step.instruction = frame().at;
  return step;
}

void Walker::Copy(const MemoryRange& from, const MemoryRange& to) {
  if (from.bytes == 0) return;
  BeforeRead(from);
  AddStep(LineStep::Kind::kCopy).operands = {from, to};
  AfterWrite(to);
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
