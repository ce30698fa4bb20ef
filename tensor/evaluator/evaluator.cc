#include "tensor/evaluator/evaluator.h"

#include <string>
#include <vector>

#include "base/large_memory.h"
#include "tensor/analysis/index_algebra.h"
#include "tensor/combine.h"
#include "tensor/points.h"
#include "tensor/scalar.h"
#include "tensor/update.h"

namespace ember::tensor {
namespace {

// Largest number of bytes of a temporary. A larger one is refused before it is
// allocated.
constexpr int64_t kMaxTemporaryBytes = int64_t{1} << 36;

class Evaluator {
 public:
  Evaluator(const Dispatch& dispatch, const ConcreteHeader& header,
            EvaluateOptions options)
      : dispatch_(dispatch), header_(header), options_(options) {}

  Status Run(std::span<void* const> buffers) {
    EMBER_RETURN_IF_ERROR(BindBuffers(buffers));
    registers_.resize(dispatch_.instructions.size());
    for (uint32_t i = 0; i < dispatch_.header_end; ++i)
      registers_[i] = header_.bits(i);
    for (const Stage& stage : dispatch_.stages)
      EMBER_RETURN_IF_ERROR(RunStage(stage));
    return OkStatus();
  }

 private:
  Status BindBuffers(std::span<void* const> buffers) {
    size_t next = 0;
    size_t next_temporary = 0;
    for (const Buffer& buffer : dispatch_.buffers) {
      extents_.push_back(header_.Extents(buffer));
      if (buffer.kind != BufferKind::kTemporary) {
        if (next == buffers.size()) break;
        memory_.push_back(buffers[next++]);
        continue;
      }
      const int64_t bytes =
          header_.ElementCount(buffer) * DTypeByteSize(buffer.type);
      if (!options_.temporaries.empty()) {
        memory_.push_back(options_.temporaries[next_temporary++]);
        if (!ClearMemory(memory_.back(), bytes, options_.interrupt))
          return options_.interrupt->status();
        continue;
      }
      if (bytes > kMaxTemporaryBytes) {
        return ResourceExhaustedError("dispatch @" + dispatch_.name +
                                      ": temporary %" + buffer.name + " of " +
                                      std::to_string(bytes) + " bytes");
      }
      temporaries_.emplace_back(static_cast<size_t>(bytes), 0);
      memory_.push_back(temporaries_.back().data());
    }
    const size_t expected = dispatch_.input_count() + dispatch_.output_count();
    if (buffers.size() == expected) return OkStatus();
    return InvalidArgumentError("dispatch @" + dispatch_.name + ": expected " +
                                std::to_string(expected) + " buffers, found " +
                                std::to_string(buffers.size()));
  }

  // --- stages ---

  Status RunStage(const Stage& stage) {
    const std::vector<int64_t> spatial = header_.Extents(stage.spatial);
    const std::vector<int64_t> reduction = header_.Extents(stage.reduction);
    if (!HasPoints(spatial)) return OkStatus();
    point_.assign(spatial.size() + reduction.size(), 0);
    const std::span<int64_t> spatial_point =
        std::span(point_).first(spatial.size());
    const std::span<int64_t> reduction_point =
        std::span(point_).subspan(spatial.size());
    FindParts(stage);
    std::vector<uint64_t> results(stage.values.size());
    do {
      for (size_t i = 0; i < results.size(); ++i)
        results[i] = Initial(stage, i);
      if (HasPoints(reduction)) {
        do {
          EMBER_RETURN_IF_ERROR(Evaluate(stage, Part::kValues));
          EMBER_RETURN_IF_ERROR(Accumulate(stage, results));
        } while (NextPoint(reduction_point, reduction));
      }
      EMBER_RETURN_IF_ERROR(Evaluate(stage, Part::kStoreIndices));
      EMBER_RETURN_IF_ERROR(StoreResults(stage, results));
    } while (NextPoint(spatial_point, spatial));
    return OkStatus();
  }

  // True if the interrupt asks to stop the evaluation. It is called before
  // `instructions` instructions are evaluated. It reads the interrupt only once
  // in some thousands of instructions.
  bool IsStopped(uint32_t instructions) {
    constexpr uint32_t kAtOnce = 8192;
    steps_ += instructions + 1;
    if (steps_ < kAtOnce || options_.interrupt == nullptr) return false;
    steps_ = 0;
    return options_.interrupt->ShouldStop();
  }

  // The part of a stage to which an instruction belongs. It decides when the
  // instruction is evaluated: at every point (values), once per spatial point
  // (store indices), at every reduction step (fold results), or once (initial
  // values of a fold).
  enum class Part : uint8_t {
    kValues = 1,
    kStoreIndices = 2,
    kFold = 4,
    kInitial = 8
  };

  void FindParts(const Stage& stage) {
    parts_.assign(stage.end - stage.begin, 0);
    const auto mark = [&](Register reg, uint8_t bits) {
      if (reg >= stage.begin) parts_[reg - stage.begin] |= bits;
    };
    for (Register reg : stage.values)
      mark(reg, static_cast<uint8_t>(Part::kValues));
    for (Register reg : stage.fold.results)
      mark(reg, static_cast<uint8_t>(Part::kFold));
    for (Register reg : stage.fold.initial)
      mark(reg, static_cast<uint8_t>(Part::kInitial));
    for (const Store& store : stage.stores) {
      for (Register reg : store.indices)
        mark(reg, static_cast<uint8_t>(Part::kStoreIndices));
    }
    for (Register reg = stage.end; reg-- > stage.begin;) {
      dispatch_.ForEachOperand(
          dispatch_.instructions[reg],
          [&](Register operand) { mark(operand, parts_[reg - stage.begin]); });
    }
    // The initial values of a fold depend on constants and the header only, so
    // they are computed once, here.
    for (Register reg = stage.begin; reg < stage.end; ++reg) {
      if (parts_[reg - stage.begin] & static_cast<uint8_t>(Part::kInitial)) {
        registers_[reg] = Arithmetic(dispatch_.instructions[reg]);
      }
    }
  }

  // Evaluates the instructions of one part at the current point. Called at
  // least once per spatial point, even if there are no reduction points.
  Status Evaluate(const Stage& stage, Part part) {
    if (IsStopped(stage.end - stage.begin)) return options_.interrupt->status();
    for (Register reg = stage.begin; reg < stage.end; ++reg) {
      if ((parts_[reg - stage.begin] & static_cast<uint8_t>(part)) == 0)
        continue;
      const Instruction& instruction = dispatch_.instructions[reg];
      if (instruction.opcode == Opcode::kLoad ||
          instruction.opcode == Opcode::kPad) {
        EMBER_RETURN_IF_ERROR(Load(instruction, registers_[reg]));
      } else {
        registers_[reg] = Arithmetic(instruction);
      }
    }
    return OkStatus();
  }

  uint64_t Arithmetic(const Instruction& instruction) const {
    switch (instruction.opcode) {
      case Opcode::kConstant:
        return instruction.immediate;
      case Opcode::kAxis:
        return static_cast<uint64_t>(point_[instruction.immediate]);
      case Opcode::kAccumulator:
        return accumulators_[instruction.immediate];
      case Opcode::kElement:
        return elements_[instruction.immediate];
      default:
        break;
    }
    const int count = RegisterOperandCount(instruction.opcode);
    return EvaluateScalar(
        instruction.opcode, dispatch_.instructions[instruction.a].type,
        instruction.type,
        {registers_[instruction.a], count > 1 ? registers_[instruction.b] : 0,
         count > 2 ? registers_[instruction.c] : 0});
  }

  // --- memory ---

  // Returns the row-major position of an element in the buffer. If an index is
  // out of range, returns -1 and sets `outside` to the number of that index.
  int64_t Position(uint32_t buffer, std::span<const Register> indices,
                   size_t& outside) const {
    int64_t position = 0;
    for (size_t i = 0; i < indices.size(); ++i) {
      const int64_t index = static_cast<int64_t>(registers_[indices[i]]);
      if (index < 0 || index >= extents_[buffer][i]) {
        outside = i;
        return -1;
      }
      position = position * extents_[buffer][i] + index;
    }
    return position;
  }

  Status OutOfRange(uint32_t buffer, std::span<const Register> indices,
                    size_t dim) const {
    return InvalidArgumentError(
        "dispatch @" + dispatch_.name + ": buffer %" +
        dispatch_.buffers[buffer].name + ": expected index " +
        std::to_string(dim) + " in 0.." +
        std::to_string(extents_[buffer][dim]) + " (exclusive), found " +
        std::to_string(static_cast<int64_t>(registers_[indices[dim]])));
  }

  Status Load(const Instruction& instruction, uint64_t& result) const {
    const uint32_t buffer = instruction.a;
    const std::span<const Register> indices =
        std::span(dispatch_.operands)
            .subspan(instruction.b, extents_[buffer].size());
    size_t outside = 0;
    const int64_t position = Position(buffer, indices, outside);
    if (position >= 0) {
      result = LoadElement(memory_[buffer], position, instruction.type);
      return OkStatus();
    }
    if (instruction.opcode == Opcode::kLoad)
      return OutOfRange(buffer, indices, outside);
    result = registers_[instruction.c];
    return OkStatus();
  }

  Status StoreResults(const Stage& stage, std::span<const uint64_t> results) {
    for (size_t i = 0; i < stage.stores.size(); ++i) {
      const Store& store = stage.stores[i];
      const DType type = dispatch_.buffers[store.buffer].type;
      size_t outside = 0;
      const int64_t position = Position(store.buffer, store.indices, outside);
      if (position < 0) return OutOfRange(store.buffer, store.indices, outside);
      void* memory = memory_[store.buffer];
      uint64_t value = FromAccumulator(stage, results[i], type);
      if (store.update != Update::kAssign) {
        const uint64_t old = LoadElement(memory, position, type);
        value = EvaluateScalar(tensor::OpcodeOf(store.update), type, type,
                               {old, value, 0});
      }
      StoreElement(memory, position, type, value);
    }
    return OkStatus();
  }

  // --- reductions ---

  // Returns the type in which a stage accumulates: for sums and products of
  // floats a wider type.
  DType AccumulatorType(const Stage& stage, DType type) const {
    const bool adds = stage.combiner == Combiner::kSum ||
                      stage.combiner == Combiner::kProduct;
    if (!adds || !IsFloat(type) || type == DType::kF64) return type;
    return options_.accumulate_in_f64 ? DType::kF64 : DType::kF32;
  }

  uint64_t FromAccumulator(const Stage& stage, uint64_t bits,
                           DType type) const {
    return EvaluateScalar(Opcode::kCast, AccumulatorType(stage, type), type,
                          {bits, 0, 0});
  }

  uint64_t Initial(const Stage& stage, size_t i) const {
    const DType type = dispatch_.instructions[stage.values[i]].type;
    switch (stage.combiner) {
      case Combiner::kNone:
        return 0;
      case Combiner::kSum:
        return ZeroBits(AccumulatorType(stage, type));
      case Combiner::kProduct:
        return OneBits(AccumulatorType(stage, type));
      case Combiner::kMinimum:
        return LargestBits(type);
      case Combiner::kMaximum:
        return SmallestBits(type);
      case Combiner::kFold:
        return registers_[stage.fold.initial[i]];
    }
    return 0;
  }

  Status Accumulate(const Stage& stage, std::vector<uint64_t>& results) {
    if (stage.combiner == Combiner::kFold) return Fold(stage, results);
    for (size_t i = 0; i < results.size(); ++i) {
      const DType type = dispatch_.instructions[stage.values[i]].type;
      const DType wide = AccumulatorType(stage, type);
      const uint64_t value = registers_[stage.values[i]];
      if (stage.combiner == Combiner::kNone) {
        results[i] = value;
        continue;
      }
      const uint64_t element =
          EvaluateScalar(Opcode::kCast, type, wide, {value, 0, 0});
      results[i] = EvaluateScalar(OpcodeOf(stage.combiner), wide, wide,
                                  {results[i], element, 0});
    }
    return OkStatus();
  }

  Status Fold(const Stage& stage, std::vector<uint64_t>& results) {
    accumulators_ = results;
    elements_.clear();
    for (Register value : stage.values) elements_.push_back(registers_[value]);
    EMBER_RETURN_IF_ERROR(Evaluate(stage, Part::kFold));
    for (size_t i = 0; i < results.size(); ++i)
      results[i] = registers_[stage.fold.results[i]];
    return OkStatus();
  }

  const Dispatch& dispatch_;
  const ConcreteHeader& header_;
  const EvaluateOptions options_;
  uint32_t steps_ = 0;  // number of instructions since the interrupt was last
                        // read
  std::vector<std::vector<int64_t>> extents_;  // the extents of each buffer
  std::vector<void*> memory_;                  // the memory of each buffer
  std::vector<std::vector<uint8_t>> temporaries_;
  std::vector<uint64_t> registers_;  // values of all registers of the dispatch,
                                     // as bits
  // values of the stage's axes at the current point, spatial axes first
  std::vector<int64_t> point_;
  // for each instruction of the current stage, a bit mask of the parts (Part)
  // that need it
  std::vector<uint8_t> parts_;
  std::vector<uint64_t> accumulators_, elements_;
};

}  // namespace

Status EvaluateFor(const Dispatch& dispatch, const ConcreteHeader& header,
                   std::span<void* const> buffers,
                   const EvaluateOptions& options) {
  return Evaluator(dispatch, header, options).Run(buffers);
}

Status Evaluate(const Dispatch& dispatch, std::span<const int64_t> parameters,
                std::span<void* const> buffers, EvaluateOptions options) {
  EMBER_ASSIGN_OR_RETURN(const ConcreteHeader header,
                         ConcreteHeader::Evaluate(dispatch, parameters));
  return EvaluateFor(dispatch, header, buffers, options);
}

}  // namespace ember::tensor
