// Defines operators on strings, which are i64 handles here. Equal strings have
// equal handles, so moving and comparing them works as for integers. The rest
// are library functions that the program calls.
#include "compiler/graph/operators/support.h"
#include "compiler/graph/operators/symbols.h"

namespace ember::graph {
namespace {

Status CheckHandles(const Operation& operation) {
  for (const Value* operand : operation.operands()) {
    if (operand->dtype() == DType::kI64) continue;
    return Mismatch("expected strings as i64 handles, found ",
                    DTypeName(operand->dtype()));
  }
  return OkStatus();
}

Status CheckHandle(const Operation& operation, std::string_view attribute,
                   int64_t lowest) {
  const int64_t handle = IntegerOf(operation, attribute);
  if (handle >= lowest) return OkStatus();
  return Mismatch(attribute, ": expected a handle, found ",
                  std::to_string(handle));
}

InferredTypes InferSameStrings(const Operation& operation) {
  EMBER_RETURN_IF_ERROR(CheckHandles(operation));
  return OneType(DType::kI64, operation.operand(0)->shape());
}

InferredTypes InferConcat(const Operation& operation) {
  const Value& a = *operation.operand(0);
  const Value& b = *operation.operand(1);
  if (a.shape() != b.shape()) {
    return Mismatch("expected operands of one shape, found ",
                    ShapeToString(a.shape()), " and ",
                    ShapeToString(b.shape()));
  }
  return InferSameStrings(operation);
}

InferredTypes InferSplit(const Operation& operation) {
  EMBER_RETURN_IF_ERROR(CheckHandles(operation));
  EMBER_RETURN_IF_ERROR(CheckHandle(operation, "delimiter", -1));
  const Shape& defines = ShapeOf(operation, "defines");
  EMBER_RETURN_IF_ERROR(CheckLength(defines.size(), "defines", 1));
  const std::set<std::string> symbols = defines[0].Symbols();
  if (symbols.size() != 1 || defines[0] != Dim::Symbol(*symbols.begin())) {
    return Mismatch("defines: expected a symbol, found ",
                    defines[0].ToString());
  }
  const Shape& shape = operation.operand(0)->shape();
  Shape parts = shape;
  parts.push_back(defines[0]);
  return std::vector<TensorType>{{DType::kI64, parts}, {DType::kI64, shape}};
}

InferredTypes InferToNumber(const Operation& operation) {
  EMBER_RETURN_IF_ERROR(CheckHandles(operation));
  return OneType(operation.attributes().Get<DType>("dtype"),
                 operation.operand(0)->shape());
}

InferredTypes InferFromNumber(const Operation& operation) {
  return OneType(DType::kI64, operation.operand(0)->shape());
}

InferredTypes InferMatch(const Operation& operation) {
  EMBER_RETURN_IF_ERROR(CheckHandles(operation));
  EMBER_RETURN_IF_ERROR(CheckHandle(operation, "pattern", 0));
  return OneType(DType::kBool, operation.operand(0)->shape());
}

constexpr AttributeSpec kSplitAttributes[] = {
    {"defines", AttributeKind::kShape, true,
     "The symbol for the most parts of a string."},
    {"delimiter", AttributeKind::kInteger, true,
     "Its handle; -1, or that of the empty string: white space."},
    {"most", AttributeKind::kInteger, true,
     "Splits per string at most; -1: any number."},
};
constexpr AttributeSpec kToNumberAttributes[] = {
    {"dtype", AttributeKind::kDType, true, "Type of the numbers."},
};
constexpr AttributeSpec kMatchAttributes[] = {
    {"pattern", AttributeKind::kInteger, true,
     "The handle of the expression, in RE2's syntax."},
};

constexpr CallOperand kUnaryCall[] = {CountOf(0), MemoryOf(0),
                                      ResultMemoryOf(0)};
constexpr CallOperand kBinaryCall[] = {CountOf(0), MemoryOf(0), MemoryOf(1),
                                       ResultMemoryOf(0)};
constexpr CallOperand kSplitCall[] = {
    CountOf(0),        IntegerIn("delimiter"), IntegerIn("most"), MemoryOf(0),
    ResultMemoryOf(0), ResultMemoryOf(1),      Found(),
};
constexpr CallOperand kToNumberCall[] = {ResultTypeOf(0), CountOf(0),
                                         MemoryOf(0), ResultMemoryOf(0)};
constexpr CallOperand kFromNumberCall[] = {TypeOf(0), CountOf(0), MemoryOf(0),
                                           ResultMemoryOf(0)};
constexpr CallOperand kMatchCall[] = {CountOf(0), IntegerIn("pattern"),
                                      MemoryOf(0), ResultMemoryOf(0)};

const OperatorRecord kRecords[] = {
    {.name = "string_concat",
     .doc = "Each string of a followed by its string of b.",
     .minimum_operands = 2,
     .maximum_operands = 2,
     .trait = OperatorTrait::kProgram,
     .result_memory = ResultMemory::kGiven,
     .form = ProgramForm::kCall,
     .call = {"string_concat", kBinaryCall},
     .infer = InferConcat},
    {.name = "string_lower",
     .doc = "Each string in lower case.",
     .minimum_operands = 1,
     .maximum_operands = 1,
     .trait = OperatorTrait::kProgram,
     .result_memory = ResultMemory::kGiven,
     .form = ProgramForm::kCall,
     .call = {"string_lower", kUnaryCall},
     .infer = InferSameStrings},
    {.name = "string_upper",
     .doc = "Each string in upper case.",
     .minimum_operands = 1,
     .maximum_operands = 1,
     .trait = OperatorTrait::kProgram,
     .result_memory = ResultMemory::kGiven,
     .form = ProgramForm::kCall,
     .call = {"string_upper", kUnaryCall},
     .infer = InferSameStrings},
    {.name = "string_split",
     .doc = "The parts of each string along a new last dim, filled up with "
            "empty strings; and how many parts each has.",
     .minimum_operands = 1,
     .maximum_operands = 1,
     .attributes = kSplitAttributes,
     .trait = OperatorTrait::kProgram,
     .result_memory = ResultMemory::kFirstMade,
     .form = ProgramForm::kCall,
     .call = {"string_split", kSplitCall},
     .infer = InferSplit},
    {.name = "string_to_number",
     .doc = "The numbers that strings write.",
     .minimum_operands = 1,
     .maximum_operands = 1,
     .attributes = kToNumberAttributes,
     .trait = OperatorTrait::kProgram,
     .result_memory = ResultMemory::kGiven,
     .form = ProgramForm::kCall,
     .call = {"string_to_number", kToNumberCall},
     .infer = InferToNumber},
    {.name = "number_to_string",
     .doc = "Numbers as decimal text.",
     .minimum_operands = 1,
     .maximum_operands = 1,
     .trait = OperatorTrait::kProgram,
     .result_memory = ResultMemory::kGiven,
     .form = ProgramForm::kCall,
     .call = {"number_to_string", kFromNumberCall},
     .infer = InferFromNumber},
    {.name = "regex_full_match",
     .doc = "True where a regular expression matches the whole string.",
     .minimum_operands = 1,
     .maximum_operands = 1,
     .attributes = kMatchAttributes,
     .trait = OperatorTrait::kProgram,
     .result_memory = ResultMemory::kGiven,
     .form = ProgramForm::kCall,
     .call = {"regex_full_match", kMatchCall},
     .infer = InferMatch},
    {.name = "string_rank",
     .doc = "The place of each string among the different strings of x, in "
            "the order of their bytes.",
     .minimum_operands = 1,
     .maximum_operands = 1,
     .trait = OperatorTrait::kProgram,
     .result_memory = ResultMemory::kGiven,
     .form = ProgramForm::kCall,
     .call = {"string_rank", kUnaryCall},
     .infer = InferSameStrings},
};

}  // namespace

std::span<const OperatorRecord> StringOperators() { return kRecords; }

}  // namespace ember::graph
