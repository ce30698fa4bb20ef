#include "frontends/tflite/operator_table.h"

#include <iterator>
#include <string>

namespace ember::tflite {
namespace {

constexpr std::string_view kHashTables =
    "there are no hash tables here: look keys up before the model, and make "
    "what you find an input";
constexpr std::string_view kOld =
    "it is of models from before TensorFlow 2: convert the model again";
constexpr std::string_view kRandom =
    "random numbers differ from run to run: make them an input of the model";
constexpr std::string_view kStableHlo =
    "TensorFlow Lite's interpreter does not run it either: convert the model "
    "to TensorFlow Lite's own operators";

using enum Quantized;

constexpr std::optional<ComplexNumbers> ComplexNumbersOf(
    std::string_view name) {
#define EMBER_NAME(op) \
  if (name == #op) return ComplexNumbers::kByParts;
  EMBER_TFLITE_COMPLEX_BY_PARTS(EMBER_NAME)
#undef EMBER_NAME
#define EMBER_NAME(op) \
  if (name == #op) return ComplexNumbers::kWhole;
  EMBER_TFLITE_COMPLEX(EMBER_NAME)
#undef EMBER_NAME
  return std::nullopt;
}

constexpr OperatorRow kBuiltin[] = {
#define EMBER_ROW(code, name, minimum, maximum, quantized, function) \
  {#name, minimum, maximum, quantized, function, "", ComplexNumbersOf(#name)},
#define EMBER_CONTROL(code, name, minimum, maximum) {#name, minimum, maximum},
#define EMBER_NO(code, op, why) {.name = #op, .reason = why},
    EMBER_TFLITE_OPERATORS(EMBER_ROW, EMBER_CONTROL, EMBER_NO)
#undef EMBER_ROW
#undef EMBER_CONTROL
#undef EMBER_NO
};

constexpr OperatorRow kCustom[] = {
#define EMBER_ROW(name, minimum, maximum, quantized, function) \
  {name, minimum, maximum, quantized, function},
    EMBER_TFLITE_CUSTOM_OPERATORS(EMBER_ROW)
#undef EMBER_ROW
};

// Checks at compile time that each number of the format has its row, in the
// order of the numbers.
constexpr int kCodes[] = {
#define EMBER_ROW(code, name, ...) \
  (static_cast<int>(schema::BuiltinOperator::name) == code ? code : -1),
    EMBER_TFLITE_OPERATORS(EMBER_ROW, EMBER_ROW, EMBER_ROW)
#undef EMBER_ROW
};
constexpr bool IsComplete() {
  for (int i = 0; i < static_cast<int>(std::size(kCodes)); ++i) {
    if (kCodes[i] != i) return false;
  }
  return std::size(kCodes) ==
         static_cast<size_t>(schema::BuiltinOperator::MAX) + 1;
}
static_assert(IsComplete(), "an operator of schema.fbs has no row");

}  // namespace

std::span<const OperatorRow> BuiltinOperators() { return kBuiltin; }
std::span<const OperatorRow> CustomOperators() { return kCustom; }

const OperatorRow* FindRow(const Model& model, const schema::Operator& op) {
  const schema::BuiltinOperator code = model.CodeOf(op);
  if (code == schema::BuiltinOperator::CUSTOM) {
    const std::string name = model.NameOf(op);
    for (const OperatorRow& row : kCustom) {
      if (row.name == name) return &row;
    }
    return nullptr;
  }
  const auto number = static_cast<size_t>(code);
  return number < std::size(kBuiltin) ? &kBuiltin[number] : nullptr;
}

}  // namespace ember::tflite
