#include "tools/lib/c_program/straight_line.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/concat.h"
#include "tools/lib/c_program/walker.h"
#include "vm/isa/library_functions.h"
#include "vm/runtime/tensor.h"

namespace ember::tools {

using vm::ProgramInstruction;
using vm::ProgramOpcode;

namespace {

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

}  // namespace

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

StatusOr<StraightLine> StraightLineOf(
    const vm::Module& module, std::vector<std::vector<int64_t>> input_dims) {
  Walker walker(module, std::move(input_dims));
  EMBER_RETURN_IF_ERROR(walker.Walk());
  return std::move(walker).Take();
}

}  // namespace ember::tools
