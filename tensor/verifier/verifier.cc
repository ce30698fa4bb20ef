#include "tensor/verifier/verifier.h"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/concat.h"
#include "tensor/names.h"
#include "tensor/verifier/structure.h"
#include "tensor/verifier/type_rules.h"

namespace ember::tensor {
namespace {

// Properties of a register: its value may depend on these kinds of values. They
// are bits of a mask.
enum Dependence : uint8_t {
  kOnSpatialAxis = 1,
  kOnReductionAxis = 2,
  kOnLoad = 4,
  kOnFoldValue = 8,
};

std::string RegisterName(Register reg) { return Concat({"register ", reg}); }

class Verifier {
 public:
  explicit Verifier(const Dispatch& dispatch) : dispatch_(dispatch) {}

  Status Run() {
    Status status = RunChecks();
    if (status.ok()) return status;
    const bool named = IsSigilName(dispatch_.name);
    return status.WithContext(
        Concat({"dispatch @", (named ? dispatch_.name : std::string("?"))}));
  }

 private:
  Status RunChecks() {
    EMBER_RETURN_IF_ERROR(CheckStructure(dispatch_));
    dependences_.assign(dispatch_.instructions.size(), 0);
    EMBER_RETURN_IF_ERROR(CheckInstructions(0, dispatch_.header_end, nullptr));
    EMBER_RETURN_IF_ERROR(CheckExtents());
    stored_.assign(dispatch_.buffers.size(), false);
    for (size_t i = 0; i < dispatch_.stages.size(); ++i) {
      const Status status = CheckStage(dispatch_.stages[i]);
      if (!status.ok()) return status.WithContext(Concat({"stage ", i}));
    }
    return CheckOutputsStored();
  }

  static Status Error(std::string message) {
    return InvalidArgumentError(std::move(message));
  }
  static Status Mismatch(const ConcatPiece& what, const ConcatPiece& expected,
                         const ConcatPiece& found) {
    return Error(Concat({what, ": expected ", expected, ", found ", found}));
  }

  // --- instructions ---

  // Returns the beginning of an error message about an instruction: its
  // register and its name.
  std::string At(uint32_t number) const {
    return Concat({RegisterName(number), " (",
                   InfoOf(dispatch_.instructions[number].opcode).text, ")"});
  }

  // Checks the instructions [begin, end). `stage` is the stage to which they
  // belong; null for the header.
  Status CheckInstructions(uint32_t begin, uint32_t end, const Stage* stage) {
    for (uint32_t i = begin; i < end; ++i) {
      const Instruction& instruction = dispatch_.instructions[i];
      if (static_cast<uint8_t>(instruction.opcode) >= kOpcodeCount) {
        return Mismatch(RegisterName(i),
                        Concat({"an opcode below ", kOpcodeCount}),
                        static_cast<int>(instruction.opcode));
      }
      if (!IsValidDType(static_cast<uint8_t>(instruction.type))) {
        return Mismatch(At(i), "a type", static_cast<int>(instruction.type));
      }
      EMBER_RETURN_IF_ERROR(CheckInstruction(i, instruction, stage));
      const uint8_t bits = dependences_[i];
      if ((bits & kOnFoldValue) && (bits & ~kOnFoldValue)) {
        return Error(
            Concat({At(i),
                    ": a fold value is combined with an axis or a load; pass "
                    "that as an element"}));
      }
    }
    return OkStatus();
  }

  bool IsUsable(Register reg, uint32_t user, const Stage* stage) const {
    if (reg >= user) return false;
    return reg < dispatch_.header_end ||
           (stage != nullptr && reg >= stage->begin);
  }

  // Checks a register operand of the instruction `user`, and adds the operand's
  // dependences to those of `user`.
  Status CheckOperand(uint32_t user, Register operand, const Stage* stage) {
    if (!IsUsable(operand, user, stage)) {
      return Mismatch(At(user),
                      "an earlier register of the header or this stage",
                      RegisterName(operand));
    }
    dependences_[user] |= dependences_[operand];
    return OkStatus();
  }

  DType TypeOf(Register reg) const { return dispatch_.instructions[reg].type; }

  Status CheckOperandType(uint32_t user, Register operand,
                          DType expected) const {
    if (TypeOf(operand) == expected) return OkStatus();
    return Mismatch(Concat({At(user), " operand ", RegisterName(operand)}),
                    DTypeName(expected), DTypeName(TypeOf(operand)));
  }

  Status CheckResultType(uint32_t number, DType expected) const {
    if (TypeOf(number) == expected) return OkStatus();
    return Mismatch(Concat({At(number), " result"}), DTypeName(expected),
                    DTypeName(TypeOf(number)));
  }

  Status CheckInstruction(uint32_t number, const Instruction& instruction,
                          const Stage* stage) {
    EMBER_RETURN_IF_ERROR(CheckUnusedFields(number, instruction));
    const Register fields[] = {instruction.a, instruction.b, instruction.c};
    const int count = RegisterOperandCount(instruction.opcode);
    for (int i = 0; i < count; ++i) {
      EMBER_RETURN_IF_ERROR(CheckOperand(number, fields[i], stage));
    }
    if (count == 0) return CheckStructural(number, instruction, stage);
    DType types[3] = {};
    for (int i = 0; i < count; ++i) types[i] = TypeOf(fields[i]);
    const TypeFault fault =
        FindTypeFault(instruction.opcode, instruction.type,
                      std::span(types).first(static_cast<size_t>(count)));
    switch (fault.kind) {
      case TypeFault::kNone:
        return OkStatus();
      case TypeFault::kOperands:
        return Error(Concat({At(number), ": does not take operands of type ",
                             DTypeName(fault.found)}));
      case TypeFault::kOperand:
        return CheckOperandType(number, fields[fault.operand], fault.expected);
      case TypeFault::kResult:
        return CheckResultType(number, fault.expected);
      case TypeFault::kBitcast:
        return Error(Concat({At(number), ": ", DTypeName(fault.found),
                             " cannot become ", DTypeName(fault.expected)}));
    }
    return OkStatus();
  }

  Status CheckUnusedFields(uint32_t number,
                           const Instruction& instruction) const {
    const Opcode opcode = instruction.opcode;
    const bool loads = opcode == Opcode::kLoad || opcode == Opcode::kPad;
    const int used = opcode == Opcode::kPad    ? 3
                     : opcode == Opcode::kLoad ? 2
                                               : RegisterOperandCount(opcode);
    const bool has_immediate =
        opcode == Opcode::kConstant || opcode == Opcode::kParameter ||
        opcode == Opcode::kAxis || opcode == Opcode::kAccumulator ||
        opcode == Opcode::kElement;
    if ((used < 1 && instruction.a != 0) || (used < 2 && instruction.b != 0) ||
        (used < 3 && !loads && instruction.c != 0) ||
        (opcode == Opcode::kLoad && instruction.c != 0) ||
        (!has_immediate && instruction.immediate != 0)) {
      return Error(Concat(
          {At(number), ": expected zero in the fields that it does not use"}));
    }
    return OkStatus();
  }

  Status CheckStructural(uint32_t number, const Instruction& instruction,
                         const Stage* stage) {
    switch (instruction.opcode) {
      case Opcode::kConstant:
        return CheckConstant(number, instruction);
      case Opcode::kParameter:
        if (stage != nullptr)
          return Error(
              Concat({At(number), ": parameters belong in the header"}));
        EMBER_RETURN_IF_ERROR(
            CheckBelow(number, dispatch_.parameters.size(), "a parameter"));
        return CheckResultType(number, DType::kI64);
      case Opcode::kAxis: {
        if (stage == nullptr)
          return Error(Concat({At(number), ": not in the header"}));
        const size_t spatial = stage->spatial.size();
        EMBER_RETURN_IF_ERROR(
            CheckBelow(number, spatial + stage->reduction.size(), "an axis"));
        dependences_[number] |=
            instruction.immediate < spatial ? kOnSpatialAxis : kOnReductionAxis;
        return CheckResultType(number, DType::kI64);
      }
      case Opcode::kAccumulator:
      case Opcode::kElement:
        if (stage == nullptr || stage->combiner != Combiner::kFold) {
          return Error(Concat({At(number), ": only in stages with a fold"}));
        }
        dependences_[number] |= kOnFoldValue;
        return CheckBelow(number, stage->values.size(), "a fold value");
      case Opcode::kLoad:
      case Opcode::kPad:
        return CheckLoad(number, instruction, stage);
      default:
        return Error(Concat({At(number), ": not a structural instruction"}));
    }
  }

  Status CheckBelow(uint32_t number, size_t limit,
                    std::string_view what) const {
    const uint64_t found = dispatch_.instructions[number].immediate;
    if (found < limit) return OkStatus();
    return Mismatch(At(number), Concat({what, " below ", limit}), found);
  }

  Status CheckConstant(uint32_t number, const Instruction& instruction) const {
    if (AreBitsOf(instruction.immediate, instruction.type)) return OkStatus();
    return Error(Concat(
        {At(number), ": the bits do not fit ", DTypeName(instruction.type)}));
  }

  Status CheckLoad(uint32_t number, const Instruction& instruction,
                   const Stage* stage) {
    if (stage == nullptr)
      return Error(Concat({At(number), ": not in the header"}));
    if (instruction.a >= dispatch_.buffers.size()) {
      return Mismatch(At(number),
                      Concat({"a buffer below ", dispatch_.buffers.size()}),
                      instruction.a);
    }
    const Buffer& buffer = dispatch_.buffers[instruction.a];
    const size_t rank = buffer.extents.size();
    if (instruction.b > dispatch_.operands.size() ||
        rank > dispatch_.operands.size() - instruction.b) {
      return Error(Concat(
          {At(number), ": its index operands reach past the operand list"}));
    }
    for (size_t i = 0; i < rank; ++i) {
      const Register index = dispatch_.operands[instruction.b + i];
      EMBER_RETURN_IF_ERROR(CheckOperand(number, index, stage));
      EMBER_RETURN_IF_ERROR(CheckOperandType(number, index, DType::kI64));
    }
    if (instruction.opcode == Opcode::kPad) {
      EMBER_RETURN_IF_ERROR(CheckOperand(number, instruction.c, stage));
      EMBER_RETURN_IF_ERROR(
          CheckOperandType(number, instruction.c, buffer.type));
    }
    EMBER_RETURN_IF_ERROR(CheckResultType(number, buffer.type));
    if (buffer.kind != BufferKind::kInput && !stored_[instruction.a]) {
      return Error(Concat({At(number), ": loads %", buffer.name,
                           " before any stage stored to it"}));
    }
    dependences_[number] |= kOnLoad;
    return CheckLoadOfOwnStore(number, instruction, *stage);
  }

  Status CheckLoadOfOwnStore(uint32_t number, const Instruction& instruction,
                             const Stage& stage) {
    for (const Store& store : stage.stores) {
      if (store.buffer != instruction.a) continue;
      const size_t rank = dispatch_.buffers[instruction.a].extents.size();
      const auto begin = dispatch_.operands.begin() + instruction.b;
      const bool same =
          store.indices.size() == rank &&
          std::equal(store.indices.begin(), store.indices.end(), begin);
      if (same && stage.reduction.empty() &&
          instruction.opcode == Opcode::kLoad)
        continue;
      return Error(Concat(
          {At(number), ": loads %", dispatch_.buffers[instruction.a].name,
           ", which its own stage stores, other than at the indices of "
           "the store"}));
    }
    return OkStatus();
  }

  // --- extents and stages ---

  Status CheckHeaderExtent(const std::string& what, Register extent) const {
    if (extent >= dispatch_.header_end) {
      return Mismatch(what, "an extent in the header", RegisterName(extent));
    }
    if (TypeOf(extent) == DType::kI64) return OkStatus();
    return Mismatch(what, "an i64 extent", DTypeName(TypeOf(extent)));
  }

  Status CheckExtents() const {
    for (const Buffer& buffer : dispatch_.buffers) {
      for (Register extent : buffer.extents) {
        EMBER_RETURN_IF_ERROR(
            CheckHeaderExtent(Concat({"buffer %", buffer.name}), extent));
      }
    }
    for (const Stage& stage : dispatch_.stages) {
      for (const std::vector<Axis>* axes : {&stage.spatial, &stage.reduction}) {
        for (const Axis& axis : *axes) {
          EMBER_RETURN_IF_ERROR(
              CheckHeaderExtent(Concat({"axis ", axis.name}), axis.extent));
        }
      }
    }
    return OkStatus();
  }

  Status CheckStage(const Stage& stage) {
    EMBER_RETURN_IF_ERROR(CheckCombiner(stage));
    EMBER_RETURN_IF_ERROR(CheckStoreTargets(stage));
    EMBER_RETURN_IF_ERROR(CheckInstructions(stage.begin, stage.end, &stage));
    for (Register value : stage.values) {
      EMBER_RETURN_IF_ERROR(
          CheckStageRegister(stage, value, kOnFoldValue, "value"));
    }
    if (stage.combiner == Combiner::kFold)
      EMBER_RETURN_IF_ERROR(CheckFold(stage));
    for (size_t i = 0; i < stage.stores.size(); ++i) {
      EMBER_RETURN_IF_ERROR(
          CheckStore(stage, stage.stores[i], stage.values[i]));
    }
    for (const Store& store : stage.stores) stored_[store.buffer] = true;
    return OkStatus();
  }

  Status CheckCombiner(const Stage& stage) const {
    if (static_cast<uint8_t>(stage.combiner) >
        static_cast<uint8_t>(Combiner::kFold)) {
      return Mismatch("combiner", "one of the table",
                      static_cast<int>(stage.combiner));
    }
    const bool folds = stage.combiner == Combiner::kFold;
    if (stage.reduction.empty() != (stage.combiner == Combiner::kNone)) {
      return Error("expected reduction axes exactly where there is a combiner");
    }
    if (stage.stores.empty())
      return Error("expected at least one store, found none");
    const bool many = folds || stage.combiner == Combiner::kNone;
    const size_t stores = stage.stores.size();
    if (stage.values.size() < stores ||
        (!folds && stage.values.size() != stores) || (!many && stores != 1)) {
      return Mismatch(
          "values and stores", "one value per store",
          Concat({stage.values.size(), " values and ", stores, " stores"}));
    }
    const size_t fold_values = folds ? stage.values.size() : 0;
    if (stage.fold.initial.size() != fold_values ||
        stage.fold.results.size() != fold_values) {
      return Mismatch("fold",
                      Concat({fold_values, " initial values and results"}),
                      Concat({stage.fold.initial.size(), " and ",
                              stage.fold.results.size()}));
    }
    return OkStatus();
  }

  Status CheckStoreTargets(const Stage& stage) const {
    for (size_t i = 0; i < stage.stores.size(); ++i) {
      const Store& store = stage.stores[i];
      if (store.buffer >= dispatch_.buffers.size()) {
        return Mismatch("store",
                        Concat({"a buffer below ", dispatch_.buffers.size()}),
                        store.buffer);
      }
      const Buffer& buffer = dispatch_.buffers[store.buffer];
      const std::string what = Concat({"store to %", buffer.name});
      if (buffer.kind == BufferKind::kInput) {
        return Mismatch(what, "an output or temporary", "an input");
      }
      for (size_t j = 0; j < i; ++j) {
        if (stage.stores[j].buffer == store.buffer)
          return Error(Concat({what, ": a second one in one stage"}));
      }
      if (static_cast<uint8_t>(store.update) >
          static_cast<uint8_t>(Update::kMaximum)) {
        return Mismatch(what, "an update of the table",
                        static_cast<int>(store.update));
      }
      if (store.indices.size() != buffer.extents.size()) {
        return Mismatch(what, Concat({buffer.extents.size(), " indices"}),
                        store.indices.size());
      }
      if (store.update != Update::kAssign && !stored_[store.buffer]) {
        return Error(
            Concat({what, ": an update before any stage stored to it"}));
      }
    }
    return OkStatus();
  }

  // Checks a register that a stage refers to: the stage may use it, and its
  // value does not depend on any of the kinds in the mask `forbidden`.
  Status CheckStageRegister(const Stage& stage, Register reg, uint8_t forbidden,
                            const std::string& what) const {
    if (!IsUsable(reg, stage.end, &stage)) {
      return Mismatch(what, "a register of the header or this stage",
                      RegisterName(reg));
    }
    if ((dependences_[reg] & forbidden) == 0) return OkStatus();
    return Error(Concat({what, ": ", RegisterName(reg), " depends on ",
                         Describe(dependences_[reg] & forbidden)}));
  }

  static std::string Describe(uint8_t dependences) {
    if (dependences & kOnReductionAxis) return "a reduction axis";
    if (dependences & kOnFoldValue) return "a fold value";
    if (dependences & kOnSpatialAxis) return "a spatial axis";
    return "a load";
  }

  Status CheckFold(const Stage& stage) const {
    for (size_t i = 0; i < stage.values.size(); ++i) {
      const std::string which = Concat({i});
      constexpr uint8_t kStageValues =
          kOnSpatialAxis | kOnReductionAxis | kOnLoad;
      EMBER_RETURN_IF_ERROR(CheckStageRegister(
          stage, stage.fold.initial[i], kStageValues | kOnFoldValue,
          Concat({"initial value ", which})));
      EMBER_RETURN_IF_ERROR(
          CheckStageRegister(stage, stage.fold.results[i], kStageValues,
                             Concat({"fold result ", which})));
      const DType type = TypeOf(stage.values[i]);
      if (TypeOf(stage.fold.initial[i]) != type ||
          TypeOf(stage.fold.results[i]) != type) {
        return Error(Concat({"fold value ", which,
                             ": expected initial value and result of type ",
                             DTypeName(type)}));
      }
    }
    for (uint32_t i = stage.begin; i < stage.end; ++i) {
      const Instruction& instruction = dispatch_.instructions[i];
      if (instruction.opcode == Opcode::kAccumulator ||
          instruction.opcode == Opcode::kElement) {
        EMBER_RETURN_IF_ERROR(
            CheckResultType(i, TypeOf(stage.values[instruction.immediate])));
      }
    }
    return OkStatus();
  }

  Status CheckStore(const Stage& stage, const Store& store,
                    Register value) const {
    const Buffer& buffer = dispatch_.buffers[store.buffer];
    const std::string what = Concat({"store to %", buffer.name});
    for (Register index : store.indices) {
      EMBER_RETURN_IF_ERROR(CheckStageRegister(
          stage, index, kOnReductionAxis | kOnFoldValue, what));
      if (TypeOf(index) != DType::kI64) {
        return Mismatch(what, "i64 indices", DTypeName(TypeOf(index)));
      }
    }
    if (TypeOf(value) != buffer.type) {
      return Mismatch(what, DTypeName(buffer.type), DTypeName(TypeOf(value)));
    }
    const bool adds = stage.combiner == Combiner::kSum ||
                      stage.combiner == Combiner::kProduct ||
                      store.update == Update::kAdd ||
                      store.update == Update::kMultiply;
    if (adds && buffer.type == DType::kBool)
      return Error(Concat({what, ": sums and products of bool"}));
    return OkStatus();
  }

  Status CheckOutputsStored() const {
    bool any = false;
    for (size_t i = 0; i < dispatch_.buffers.size(); ++i) {
      if (dispatch_.buffers[i].kind != BufferKind::kOutput) continue;
      any = true;
      if (!stored_[i]) {
        return Error(Concat(
            {"output %", dispatch_.buffers[i].name, " is never stored to"}));
      }
    }
    return any ? OkStatus() : Error("expected at least one output, found none");
  }

  const Dispatch& dispatch_;
  // for each register, a mask of Dependence bits
  std::vector<uint8_t> dependences_;
  std::vector<bool>
      // for each buffer: true if a stage before the current one stores to it
      stored_;
};

}  // namespace

Status Verify(const Dispatch& dispatch) { return Verifier(dispatch).Run(); }

}  // namespace ember::tensor
