// Defines elementwise operators: one record per arithmetic row of the dispatch
// instruction table, and select, cast, bitcast.
#include <string>

#include "compiler/graph/operators/support.h"

namespace ember::graph {
namespace {

using tensor::InstructionGroup;
using tensor::InstructionInfo;
using tensor::Opcode;

std::string_view KindsName(tensor::OperandKinds kinds) {
  switch (kinds) {
    case tensor::OperandKinds::kAny:
      return "any type";
    case tensor::OperandKinds::kNumeric:
      return "numbers";
    case tensor::OperandKinds::kFloatOnly:
      return "floats";
    case tensor::OperandKinds::kIntegerOnly:
      return "integers";
    case tensor::OperandKinds::kBoolOrInteger:
      return "bool or integers";
  }
  return "";
}

InferredTypes InferInstruction(const Operation& operation) {
  const InstructionInfo& info = InfoOf(operation.record().opcode);
  const DType dtype = operation.operand(0)->dtype();
  if (!AcceptsType(info.kinds, dtype)) {
    return Mismatch("operand 0: expected ", KindsName(info.kinds), ", found ",
                    DTypeName(dtype));
  }
  Shape shape = operation.operand(0)->shape();
  for (int i = 1; i < operation.operand_count(); ++i) {
    EMBER_RETURN_IF_ERROR(CheckSameDType(operation, 0, i));
    EMBER_ASSIGN_OR_RETURN(
        shape, BroadcastShapes(shape, operation.operand(i)->shape()));
  }
  const bool is_bool = info.group == InstructionGroup::kClassify ||
                       info.group == InstructionGroup::kCompare;
  return OneType(is_bool ? DType::kBool : dtype, std::move(shape));
}

// Loads the operand's element that broadcasting reads for the result's element
// at `indices`.
Scalar LoadBroadcast(ElementContext& context, int operand, Indices indices) {
  const Shape& shape = context.operation().operand(operand)->shape();
  const size_t offset = indices.size() - shape.size();
  std::vector<Scalar> own;
  for (size_t i = 0; i < shape.size(); ++i) {
    own.push_back(IsOne(shape[i]) ? context.Index(0) : indices[offset + i]);
  }
  return context.Load(operand, own);
}

Scalar DefineUnary(ElementContext& context, Indices indices) {
  return Unary(context.operation().record().opcode,
               LoadBroadcast(context, 0, indices));
}

Scalar DefineBinary(ElementContext& context, Indices indices) {
  const Scalar a = LoadBroadcast(context, 0, indices);
  const Scalar b = LoadBroadcast(context, 1, indices);
  return Binary(context.operation().record().opcode, a, b);
}

InferredTypes InferSelect(const Operation& operation) {
  if (operation.operand(0)->dtype() != DType::kBool) {
    return Mismatch("operand 0: expected bool, found ",
                    DTypeName(operation.operand(0)->dtype()));
  }
  EMBER_RETURN_IF_ERROR(CheckSameDType(operation, 1, 2));
  EMBER_ASSIGN_OR_RETURN(Shape shape,
                         BroadcastShapes(operation.operand(1)->shape(),
                                         operation.operand(2)->shape()));
  EMBER_ASSIGN_OR_RETURN(shape,
                         BroadcastShapes(operation.operand(0)->shape(), shape));
  return OneType(operation.operand(1)->dtype(), std::move(shape));
}

Scalar DefineSelect(ElementContext& context, Indices indices) {
  const Scalar condition = LoadBroadcast(context, 0, indices);
  const Scalar a = LoadBroadcast(context, 1, indices);
  const Scalar b = LoadBroadcast(context, 2, indices);
  return Select(condition, a, b);
}

InferredTypes InferCast(const Operation& operation) {
  return OneType(operation.attributes().Get<DType>("dtype"),
                 operation.operand(0)->shape());
}

Scalar DefineCast(ElementContext& context, Indices indices) {
  return Cast(context.Load(0, indices),
              context.operation().attributes().Get<DType>("dtype"));
}

InferredTypes InferBitcast(const Operation& operation) {
  const DType from = operation.operand(0)->dtype();
  const auto to = operation.attributes().Get<DType>("dtype");
  if (DTypeByteSize(from) != DTypeByteSize(to) || from == DType::kBool ||
      to == DType::kBool) {
    return Mismatch("dtype: expected a type of the width of ", DTypeName(from),
                    ", found ", DTypeName(to));
  }
  return OneType(to, operation.operand(0)->shape());
}

Scalar DefineBitcast(ElementContext& context, Indices indices) {
  return Bitcast(context.Load(0, indices),
                 context.operation().attributes().Get<DType>("dtype"));
}

constexpr AttributeSpec kDTypeAttributes[] = {
    {"dtype", AttributeKind::kDType, true, "The type of the result."},
};

const OperatorRecord kOtherRecords[] = {
    {.name = "select",
     .doc = "b where the bool a is true, else c.",
     .minimum_operands = 3,
     .maximum_operands = 3,
     .trait = OperatorTrait::kElementwise,
     .result_memory = ResultMemory::kGiven,
     .infer = InferSelect,
     .definition = {.element = DefineSelect}},
    {.name = "cast",
     .doc = "Converts: floats round to nearest even, float to integer "
            "truncates and saturates (NaN "
            "gives 0), integers wrap, to bool is != 0.",
     .minimum_operands = 1,
     .maximum_operands = 1,
     .attributes = kDTypeAttributes,
     .trait = OperatorTrait::kElementwise,
     .result_memory = ResultMemory::kGiven,
     .is_affine = true,
     .infer = InferCast,
     .definition = {.element = DefineCast}},
    {.name = "bitcast",
     .doc = "The bits as another type of the same width.",
     .minimum_operands = 1,
     .maximum_operands = 1,
     .attributes = kDTypeAttributes,
     .trait = OperatorTrait::kElementwise,
     .result_memory = ResultMemory::kGiven,
     .infer = InferBitcast,
     .definition = {.element = DefineBitcast}},
};

// Converts a name such as FloorDivide to floor_divide.
std::string SnakeCase(std::string_view name) {
  std::string result;
  for (char c : name) {
    const bool upper = c >= 'A' && c <= 'Z';
    if (upper && !result.empty()) result += '_';
    result += upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return result;
}

struct Row {
  std::string name;
  Opcode opcode;
  std::string_view doc;
};

// The rows own the operator names that the records view, so the rows and
// records live equally long.
const std::vector<Row>& Rows() {
  static const auto* const rows = new std::vector<Row>{
#define EMBER_ROW(name, text, kinds, doc) {text, Opcode::k##name, doc},
      EMBER_FOR_EACH_UNARY_INSTRUCTION(EMBER_ROW)
          EMBER_FOR_EACH_CLASSIFY_INSTRUCTION(EMBER_ROW)
#undef EMBER_ROW
#define EMBER_ROW(name, text, notation, kinds, doc) \
  {SnakeCase(#name), Opcode::k##name, doc},
              EMBER_FOR_EACH_BINARY_INSTRUCTION(EMBER_ROW)
                  EMBER_FOR_EACH_COMPARE_INSTRUCTION(EMBER_ROW)
#undef EMBER_ROW
  };
  return *rows;
}

bool IsAffine(Opcode opcode) {
  return opcode == Opcode::kAdd || opcode == Opcode::kSubtract ||
         opcode == Opcode::kMultiply || opcode == Opcode::kNegate;
}

std::vector<OperatorRecord> MakeRecords() {
  std::vector<OperatorRecord> records(std::begin(kOtherRecords),
                                      std::end(kOtherRecords));
  for (const Row& row : Rows()) {
    const int operands = tensor::RegisterOperandCount(row.opcode);
    records.push_back(
        {.name = row.name,
         .doc = row.doc,
         .minimum_operands = operands,
         .maximum_operands = operands,
         .trait = OperatorTrait::kElementwise,
         .result_memory = ResultMemory::kGiven,
         .is_affine = IsAffine(row.opcode),
         .infer = InferInstruction,
         .definition = {.element = operands == 1 ? DefineUnary : DefineBinary},
         .is_instruction = true,
         .opcode = row.opcode});
  }
  return records;
}

}  // namespace

std::span<const OperatorRecord> ElementwiseOperators() {
  static const auto* const records =
      new std::vector<OperatorRecord>(MakeRecords());
  return *records;
}

}  // namespace ember::graph
