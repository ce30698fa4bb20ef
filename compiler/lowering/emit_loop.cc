// Emits loops. Values that no iteration changes are computed before the first
// one. An iteration costs one call and the instructions that pass its results
// on.
#include <algorithm>
#include <limits>

#include "compiler/graph/operators.h"
#include "compiler/lowering/group_builder.h"
#include "compiler/lowering/program_emitter.h"

namespace ember::compiler {

using graph::Dim;
using graph::Graph;
using graph::Operation;
using graph::Shape;
using graph::Value;
using vm::ProgramOpcode;

namespace {

// True if a result of the graph may use the memory of this value: the value, or
// one that shares its memory, is a result or an operand of any operation that
// the program runs, because some of these (an `if`) may return an operand.
bool MayBeAResult(const Value* value) {
  if (value->is_graph_output()) return true;
  return std::ranges::any_of(value->users(), [](const Operation* user) {
    if (user->record().trait == graph::OperatorTrait::kProgram) return true;
    return SharesMemory(*user) && MayBeAResult(user->result());
  });
}

}  // namespace

class ProgramEmitter::LoopEmitter {
 public:
  LoopEmitter(ProgramEmitter& emitter, const Operation& operation)
      : emitter_(emitter),
        builder_(emitter.builder_),
        operation_(operation),
        parts_(operation),
        body_(*operation.regions()[0]),
        keeps_iteration_(MayBeAResult(body_.inputs()[0])) {
    for (const std::string& symbol : graph::DefinedSymbols(operation))
      defines_.insert(symbol);
  }

  Status Emit() {
    EMBER_ASSIGN_OR_RETURN(program_, emitter_.EmitRegion(body_, "body"));
    results_ = emitter_.NewCallResults(program_);
    // All dims that the loop uses are computed before the loop. If they were
    // computed inside it, their registers would be unset after a loop of no
    // iterations.
    EmitStart();
    const size_t to_body =
        emitter_.EmitForwardBranch(ProgramOpcode::kBranchIf, EmitMore());
    const size_t to_end = emitter_.EmitForwardBranch(ProgramOpcode::kBranch, 0);
    emitter_.SetTarget(to_body);
    const auto head =
        static_cast<int64_t>(builder_.program().instructions.size());
    EmitCallOfBody();
    for (size_t i = 0; i < carried_.size(); ++i) EmitHandOn(i);
    for (size_t i = 0; i < stacked_.size(); ++i) EmitStack(i);
    EmitAdvance();
    builder_.Emit({ProgramOpcode::kBranchIf, 0, EmitMore(), 0, head});
    emitter_.SetTarget(to_end);
    DefineResults();
    return OkStatus();
  }

 private:
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

  // Number of bytes of the iteration number, an i64 that the body takes as its
  // first input.
  const Dim iteration_bytes_ = Dim(DTypeByteSize(DType::kI64));

  struct Carried {
    uint32_t memory = 0;
    // For each dim of the carried value: the register with its present extent,
    // or kNone if all iterations have the same extent.
    std::vector<uint32_t> dims;
  };
  struct Scanned {
    uint32_t memory = 0, bytes = 0, offset = 0;
  };
  struct Stacked {
    uint32_t memory = 0, used = 0;
    // Register with the number of bytes of a slice (the part of the stacked
    // result that one iteration makes), not counting the slice's open dims.
    uint32_t bytes = 0;
    // For each dim of a slice: the register with its extent, or kNone if the
    // extent is known before the loop.
    std::vector<uint32_t> open_dims;
  };

  bool IsDefinedHere(const Dim& dim) const {
    return !dim.is_constant() && defines_.contains(dim.ToString());
  }
  size_t first_carried() const { return parts_.conditional ? 1 : 0; }
  size_t first_stacked() const { return first_carried() + carried_.size(); }
  const Value& StackedResult(size_t i) const {
    return *operation_.result(static_cast<int>(carried_.size() + i));
  }
  uint32_t NewInteger(const Dim& initial) {
    const uint32_t value = builder_.NewInteger();
    emitter_.EmitMove(value, builder_.DimRegister(initial));
    return value;
  }

  // --- code that runs before the first iteration ---

  void EmitStart() {
    const Dim& trip = operation_.attributes().Get<Shape>("trip")[0];
    count_ = NewInteger(Dim(0));
    one_ = builder_.DimRegister(Dim(1));
    if (parts_.conditional) {
      limit_ = emitter_.EmitLoadScalar(operation_.operand(0));
      proceed_ = builder_.NewInteger();
      emitter_.EmitMove(proceed_,
                        emitter_.EmitLoadScalar(operation_.operand(1)));
    } else {
      limit_ = builder_.DimRegister(trip);
    }
    more_ = builder_.NewInteger();
    iteration_memory_ = builder_.NewBuffer();
    builder_.DimRegister(iteration_bytes_);
    if (!keeps_iteration_) EmitIterationMemory();
    SymbolRegisters inner;
    for (size_t i = 0; i < parts_.carried.size(); ++i) StartCarried(i, inner);
    for (const Value* scanned : parts_.scanned) StartScanned(*scanned);
    for (const Value* captured : parts_.captured)
      captures_.push_back(emitter_.BufferOf(StorageRoot(captured)));
    parameters_ = emitter_.ParameterRegisters(program_, inner);
    const size_t count = operation_.results().size() - carried_.size();
    for (size_t i = 0; i < count; ++i) StartStacked(i);
  }

  void EmitIterationMemory() {
    emitter_.Allocate(iteration_memory_, iteration_bytes_);
  }

  void StartCarried(size_t number, SymbolRegisters& inner) {
    const Value& initial = *parts_.carried[number];
    const Shape& inside = body_.inputs()[1 + number]->shape();
    Carried carried;
    carried.memory = builder_.NewBuffer();
    builder_.Emit({ProgramOpcode::kMoveBuffer, carried.memory,
                   emitter_.BufferOf(StorageRoot(&initial)), 0, 0});
    for (size_t d = 0; d < inside.size(); ++d) {
      carried.dims.push_back(kNone);
      if (inside[d] == initial.shape()[d]) continue;
      carried.dims.back() = NewInteger(initial.shape()[d]);
      inner[inside[d].ToString()] = carried.dims.back();
    }
    carried_.push_back(std::move(carried));
  }

  void StartScanned(const Value& whole) {
    const Shape slice(whole.shape().begin() + 1, whole.shape().end());
    Scanned scanned;
    scanned.memory = emitter_.BufferOf(StorageRoot(&whole));
    scanned.bytes = builder_.DimRegister(ByteSize({whole.dtype(), slice}));
    scanned.offset = NewInteger(Dim(0));
    scanned_.push_back(scanned);
  }

  void StartStacked(size_t number) {
    const Value& result = StackedResult(number);
    Stacked stacked;
    stacked.memory = builder_.NewBuffer();
    stacked.used = NewInteger(Dim(0));
    Dim bytes(DTypeByteSize(result.dtype()));
    bool known = !parts_.conditional;
    for (size_t d = 1; d < result.shape().size(); ++d) {
      const bool open = IsDefinedHere(result.shape()[d]);
      stacked.open_dims.push_back(open ? NewInteger(Dim(0)) : kNone);
      if (!open) bytes = bytes * result.shape()[d];
      known = known && !open;
    }
    stacked.bytes = builder_.DimRegister(bytes);
    // If the size of the stacked result is known, all its memory is allocated
    // at once; otherwise the memory grows.
    emitter_.Allocate(stacked.memory, known ? ByteSize(result.type()) : Dim(0));
    stacked_.push_back(std::move(stacked));
  }

  // --- code that runs in each iteration ---

  // Emits the code that decides if another iteration follows. Returns the
  // register with the result, 1 or 0.
  uint32_t EmitMore() {
    builder_.Emit({ProgramOpcode::kLess, more_, count_, limit_, 0});
    if (parts_.conditional)
      builder_.Emit({ProgramOpcode::kMinimum, more_, more_, proceed_, 0});
    return more_;
  }

  void EmitCallOfBody() {
    if (!body_.inputs()[0]->unused()) {
      // If a result may use the memory of the iteration number, each iteration
      // writes the next number to new memory, so that the result keeps its
      // value.
      if (keeps_iteration_) EmitIterationMemory();
      builder_.Emit(
          {ProgramOpcode::kStoreInteger, iteration_memory_, count_, 0, 0});
    }
    std::vector<uint32_t> operands = parameters_;
    operands.push_back(iteration_memory_);
    for (const Carried& carried : carried_) operands.push_back(carried.memory);
    for (const Scanned& scanned : scanned_) {
      const uint32_t slice = builder_.NewBuffer();
      builder_.Emit({ProgramOpcode::kSliceAt, slice, scanned.memory,
                     scanned.offset, scanned.bytes});
      operands.push_back(slice);
    }
    operands.insert(operands.end(), captures_.begin(), captures_.end());
    emitter_.EmitCall(program_, std::move(operands), results_);
  }

  void EmitHandOn(size_t number) {
    const Carried& carried = carried_[number];
    const size_t result = first_carried() + number;
    builder_.Emit({ProgramOpcode::kMoveBuffer, carried.memory,
                   results_.memory[result], 0, 0});
    // The body's result is in the register of the carried value by then. Its
    // own register is released, because it would keep the memory of an earlier
    // iteration alive.
    builder_.Emit({ProgramOpcode::kRelease, results_.memory[result]});
    for (size_t d = 0; d < carried.dims.size(); ++d) {
      if (carried.dims[d] != kNone)
        emitter_.EmitMove(carried.dims[d], results_.dims[result][d]);
    }
  }

  void EmitStack(size_t number) {
    const Stacked& stacked = stacked_[number];
    const size_t result = first_stacked() + number;
    uint32_t bytes = stacked.bytes;
    for (size_t d = 0; d < stacked.open_dims.size(); ++d) {
      if (stacked.open_dims[d] == kNone) continue;
      const uint32_t dim = results_.dims[result][d];
      bytes = emitter_.EmitArithmetic(ProgramOpcode::kMultiply, bytes, dim);
      EmitCheckOfPiece(dim, stacked.open_dims[d]);
    }
    builder_.Emit({ProgramOpcode::kAppend, stacked.memory, stacked.used,
                   results_.memory[result], static_cast<int64_t>(bytes)});
    builder_.Emit({ProgramOpcode::kRelease, results_.memory[result]});
    builder_.Emit({ProgramOpcode::kAdd, stacked.used, stacked.used, bytes, 0});
  }

  // Emits a check that a slice of a stacked result has the same dim as the
  // first slice: all slices must have one shape, which the first one
  // determines.
  void EmitCheckOfPiece(uint32_t dim, uint32_t chosen) {
    const uint32_t first =
        emitter_.EmitArithmetic(ProgramOpcode::kLess, count_, one_);
    const uint32_t same =
        emitter_.EmitArithmetic(ProgramOpcode::kEqual, dim, chosen);
    const uint32_t fits =
        emitter_.EmitArithmetic(ProgramOpcode::kMaximum, first, same);
    builder_.Emit(
        {ProgramOpcode::kCheckTrue, 0, fits, 0,
         emitter_.AddMessage("'" + operation_.origin() +
                             "': expected values of one shape from all "
                             "iterations, found another")});
    emitter_.EmitMove(chosen, dim);
  }

  void EmitAdvance() {
    if (parts_.conditional) {
      builder_.Emit({ProgramOpcode::kLoadInteger, proceed_, results_.memory[0],
                     static_cast<uint32_t>(DType::kBool), 0});
    }
    for (const Scanned& scanned : scanned_) {
      builder_.Emit({ProgramOpcode::kAdd, scanned.offset, scanned.offset,
                     scanned.bytes, 0});
    }
    builder_.Emit({ProgramOpcode::kAdd, count_, count_, one_, 0});
  }

  // --- code that runs after the last iteration ---

  void Define(const Dim& dim, uint32_t value) {
    if (IsDefinedHere(dim) && !builder_.IsBound(dim.ToString()))
      builder_.BindSymbol(dim.ToString(), value);
  }

  void DefineResults() {
    Define(operation_.attributes().Get<Shape>("trip")[0], count_);
    for (size_t i = 0; i < carried_.size(); ++i) {
      const Value* result = operation_.result(static_cast<int>(i));
      emitter_.memory_of_[result] = carried_[i].memory;
      for (size_t d = 0; d < carried_[i].dims.size(); ++d) {
        const Dim& dim = result->shape()[d];
        if (!IsDefinedHere(dim)) continue;
        Define(dim, carried_[i].dims[d] != kNone
                        ? carried_[i].dims[d]
                        : builder_.DimRegister(parts_.carried[i]->shape()[d]));
      }
    }
    for (size_t i = 0; i < stacked_.size(); ++i) {
      const Value& result = StackedResult(i);
      emitter_.memory_of_[&result] = stacked_[i].memory;
      for (size_t d = 0; d < stacked_[i].open_dims.size(); ++d) {
        if (stacked_[i].open_dims[d] != kNone)
          Define(result.shape()[d + 1], stacked_[i].open_dims[d]);
      }
    }
  }

  ProgramEmitter& emitter_;
  ProgramBuilder& builder_;
  const Operation& operation_;
  const graph::LoopParts parts_;
  const Graph& body_;
  // True if a result of the loop may use the memory of the iteration number.
  // Then each iteration writes its number to new memory.
  const bool keeps_iteration_;
  std::set<std::string> defines_;
  uint32_t program_ = 0;
  CallResults results_;
  uint32_t count_ = 0, limit_ = 0, one_ = 0, more_ = 0;
  // Register with the condition for another iteration; it is used only for
  // conditional loops.
  uint32_t proceed_ = 0;
  // Register with the memory in which the body gets the iteration number.
  uint32_t iteration_memory_ = 0;
  std::vector<Carried> carried_;
  std::vector<Scanned> scanned_;
  std::vector<Stacked> stacked_;
  std::vector<uint32_t> captures_, parameters_;
};

Status ProgramEmitter::EmitLoop(const Operation& operation) {
  return LoopEmitter(*this, operation).Emit();
}

}  // namespace ember::compiler
