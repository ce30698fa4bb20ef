#include "tensor/text/expression_printer.h"

#include <algorithm>

#include "tensor/text/literal.h"
#include "tensor/text/tables.h"

namespace ember::tensor {
namespace {

constexpr uint32_t kMaxSize = 1u << 20;
// Largest depth of a printed expression. A deeper subexpression gets a name and
// a line of its own, so that printing and parsing do not exhaust the stack, and
// lines stay readable.
constexpr uint32_t kMaxDepth = 24;

bool IsLeaf(Opcode opcode) {
  return opcode == Opcode::kConstant || opcode == Opcode::kParameter ||
         opcode == Opcode::kAxis || opcode == Opcode::kAccumulator ||
         opcode == Opcode::kElement;
}

}  // namespace

std::vector<uint32_t> ExpressionPrinter::ChooseNames(
    std::span<const uint32_t> values,
    const std::function<uint32_t(uint32_t)>& uses, uint32_t inline_size,
    std::string_view prefix, uint32_t& next) {
  std::vector<uint32_t> named;
  std::unordered_map<uint32_t, uint32_t> sizes;
  for (uint32_t number : values) {
    const PrintedValue value = source_.Value(number);
    if (IsLeaf(value.opcode) || names_.contains(number)) continue;
    const bool loads =
        value.opcode == Opcode::kLoad || value.opcode == Opcode::kPad;
    uint32_t size = 1, depth = 1;
    for (uint32_t operand : value.operands) {
      const bool has_name = names_.contains(operand);
      const auto inlined = sizes.find(operand);
      const bool is_leaf = has_name || inlined == sizes.end();
      // A load counts only those of its index expressions that are no plain
      // axes, constants or named values.
      const uint32_t leaf = loads ? 0 : 1;
      size = std::min(kMaxSize, size + (is_leaf ? leaf : inlined->second));
      if (has_name) continue;
      const auto deep = depths_.find(operand);
      depth = std::max(depth, deep == depths_.end() ? 1 : deep->second + 1);
    }
    sizes[number] = size;
    depths_[number] = depth;
    const bool shared = uses(number) > 1 && size > inline_size;
    if (uses(number) > 0 && (shared || depth >= kMaxDepth)) {
      names_[number] = "%" + std::string(prefix) + std::to_string(next++);
      named.push_back(number);
    }
  }
  return named;
}

const std::string& ExpressionPrinter::NameOf(uint32_t value) const {
  static const std::string* const kNone = new std::string();
  const auto it = names_.find(value);
  return it == names_.end() ? *kNone : it->second;
}

void ExpressionPrinter::PrintValue(uint32_t value,
                                   std::optional<DType> expected,
                                   int precedence) {
  if (const std::string& name = NameOf(value); !name.empty()) {
    printer_.Print(name);
  } else {
    PrintDefinition(value, expected, precedence);
  }
}

void ExpressionPrinter::PrintDefinition(uint32_t number,
                                        std::optional<DType> expected,
                                        int precedence) {
  const PrintedValue value = source_.Value(number);
  const bool is_marked = value.is_raw || value.vector != 0;
  if (value.is_wide) printer_.Print(kWideWord, "(");
  if (value.is_raw) printer_.Print("raw(");
  if (value.vector != 0) printer_.Print(kVectorWord, value.vector, "(");
  PrintInstruction(value, expected,
                   value.is_wide || is_marked ? 0 : precedence);
  if (is_marked) printer_.Print(")");
  if (value.is_wide) printer_.Print(")");
}

void ExpressionPrinter::PrintInstruction(const PrintedValue& value,
                                         std::optional<DType> expected,
                                         int precedence) {
  switch (InfoOf(value.opcode).group) {
    case InstructionGroup::kStructural:
      return PrintStructural(value, expected);
    case InstructionGroup::kUnary:
      return PrintCall(value, expected);
    case InstructionGroup::kClassify:
      return PrintCall(value, std::nullopt);
    case InstructionGroup::kBinary:
      return PrintBinary(value, expected, precedence);
    case InstructionGroup::kCompare:
      return PrintBinary(value, std::nullopt, precedence);
  }
}

void ExpressionPrinter::PrintIndices(std::span<const uint32_t> indices) {
  printer_.Print("[");
  PrintJoined(printer_, indices,
              [&](uint32_t index) { PrintValue(index, DType::kI64); });
  printer_.Print("]");
}

void ExpressionPrinter::PrintElement(uint32_t buffer,
                                     std::span<const uint32_t> indices) {
  printer_.Print("%", source_.BufferName(buffer));
  PrintIndices(indices);
}

void ExpressionPrinter::PrintHeader(std::span<const std::string> parameters,
                                    std::span<const uint32_t> named) {
  if (parameters.empty() && named.empty()) return;
  printer_.Print("<");
  PrintJoined(printer_, parameters,
              [&](const std::string& name) { printer_.Print(name); });
  if (!parameters.empty() && !named.empty()) printer_.Print(", ");
  PrintJoined(printer_, named, [&](uint32_t value) {
    printer_.Print(NameOf(value), " = ");
    PrintDefinition(value, std::nullopt, kSumPrecedence);
  });
  printer_.Print(">");
}

// Returns the types that the parser will expect for two operands of one type:
// if one of them is a literal, it takes the type of the other.
ExpressionPrinter::PairTypes ExpressionPrinter::TypesOfPair(
    uint32_t a, uint32_t b, std::optional<DType> expected) const {
  const DType type = source_.TypeOf(a);
  if (IsConstant(a) && !IsConstant(b)) return {type, expected};
  return {expected, type};
}

void ExpressionPrinter::PrintBinary(const PrintedValue& value,
                                    std::optional<DType> expected,
                                    int precedence) {
  const uint32_t a = value.operands[0], b = value.operands[1];
  const PairTypes types = TypesOfPair(a, b, expected);
  const InstructionInfo& info = InfoOf(value.opcode);
  if (info.notation == Notation::Prefix) {
    printer_.Print(info.text, "(");
    PrintValue(a, types.left);
    printer_.Print(", ");
    PrintValue(b, types.right);
    printer_.Print(")");
    return;
  }
  const int own = PrecedenceOf(value.opcode);
  const bool compares = own == kComparePrecedence;
  if (own < precedence) printer_.Print("(");
  PrintValue(a, types.left, compares ? own + 1 : own);
  printer_.Print(" ", info.text, " ");
  PrintValue(b, types.right, own + 1);
  if (own < precedence) printer_.Print(")");
}

void ExpressionPrinter::PrintCall(const PrintedValue& value,
                                  std::optional<DType> expected) {
  printer_.Print(InfoOf(value.opcode).text, "(");
  PrintJoined(printer_, value.operands,
              [&](uint32_t operand) { PrintValue(operand, expected); });
  printer_.Print(")");
}

void ExpressionPrinter::PrintSelect(const PrintedValue& value,
                                    std::optional<DType> expected) {
  const uint32_t b = value.operands[1], c = value.operands[2];
  const PairTypes types = TypesOfPair(b, c, expected);
  printer_.Print("select(");
  PrintValue(value.operands[0], DType::kBool);
  printer_.Print(", ");
  PrintValue(b, types.left);
  printer_.Print(", ");
  PrintValue(c, types.right);
  printer_.Print(")");
}

void ExpressionPrinter::PrintPad(const PrintedValue& value) {
  printer_.Print("pad(");
  PrintElement(value.buffer,
               std::span(value.operands).first(value.operands.size() - 1));
  printer_.Print(", ");
  PrintValue(value.operands.back(), value.type);
  for (size_t dim = 0; value.tests != 0 && dim + 1 < value.operands.size();
       ++dim) {
    printer_.Print(", ", kTestNames[value.tests >> (2 * dim) & 3]);
  }
  printer_.Print(")");
}

void ExpressionPrinter::PrintStructural(const PrintedValue& value,
                                        std::optional<DType> expected) {
  switch (value.opcode) {
    case Opcode::kConstant:
      return PrintConstant(value, expected);
    case Opcode::kLoad:
      return PrintElement(value.buffer, value.operands);
    case Opcode::kPad:
      return PrintPad(value);
    case Opcode::kSelect:
      return PrintSelect(value, expected);
    case Opcode::kCast:
    case Opcode::kBitcast:
      if (value.opcode == Opcode::kBitcast) printer_.Print("bitcast_");
      printer_.Print(DTypeName(value.type), "(");
      PrintValue(value.operands[0], std::nullopt);
      printer_.Print(")");
      return;
    default:
      printer_.Print(source_.LeafName(value));
      return;
  }
}

void ExpressionPrinter::PrintConstant(const PrintedValue& value,
                                      std::optional<DType> expected) {
  printer_.Print(FormatLiteral(value.immediate, value.type));
  if (value.type == DType::kBool) return;
  // If the parser expects no type, it gives an integer literal the type i64 and
  // a literal that looks like a float the type f32.
  const DType plain = IsFloat(value.type) ? DType::kF32 : DType::kI64;
  if (value.type == expected.value_or(plain)) return;
  printer_.Print(":", DTypeName(value.type));
}

}  // namespace ember::tensor
