// Prints scalar expressions for the text forms of dispatches and loop nests. It
// is the inverse of tensor/text/expression_parser.h. Internal to text forms.
//
// Each value has a number, such as its register or node; a source object
// describes the value with a given number. Values that are used more than once,
// or are deep, get names, so that the text stays small and readable:
//
//   ExpressionPrinter expressions(source, printer);
//   for (uint32_t value : expressions.ChooseNames(order, uses, 3, "t", next)) {
//     printer.Print("let ", expressions.NameOf(value), " = ");
//     expressions.PrintDefinition(value);
//     printer.EndLine();
//   }
//   expressions.PrintValue(root, DType::kF32);
//
// Not thread-safe. Source and printer must outlive it.
#ifndef EMBER_TENSOR_TEXT_EXPRESSION_PRINTER_H_
#define EMBER_TENSOR_TEXT_EXPRESSION_PRINTER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/printer.h"
#include "tensor/dispatch.h"

namespace ember::tensor {

struct PrintedValue {
  Opcode opcode = Opcode::kConstant;
  DType type = DType::kI64;
  uint64_t immediate = 0;
  uint32_t buffer = 0;   // number of the buffer of a Load or Pad
  bool is_raw = false;   // True if the value is printed as raw(...); see
                         // tensor/text/expression_parser.h.
  uint32_t vector = 0;   // A Load or Pad is printed as vec4(...) if this is 4,
                         // and without a mark if it is 0.
  bool is_wide = false;  // True if the value is printed as wide(...).
  // the bounds tests of a Pad: for each dim two bits, an index in kTestNames;
  // 0: no tests are printed
  uint64_t tests = 0;
  // Operands of the value. A Load has its indices, a Pad its indices and then
  // the default value, an Axis none.
  std::vector<uint32_t> operands;
};

class ExpressionSource {
 public:
  virtual ~ExpressionSource() = default;
  virtual PrintedValue Value(uint32_t number) const = 0;
  virtual DType TypeOf(uint32_t number) const = 0;
  virtual Opcode OpcodeOf(uint32_t number) const = 0;
  // Returns the name of a Parameter, Axis, Accumulator or Element.
  virtual std::string LeafName(const PrintedValue& leaf) const = 0;
  virtual std::string_view BufferName(uint32_t buffer) const = 0;
};

class ExpressionPrinter {
 public:
  ExpressionPrinter(const ExpressionSource& source, Printer& printer)
      : source_(source), printer_(printer) {}

  // Gives names (%t0, %t1 and so on) to some of `values`, in which operands
  // come before their users: to those that are used more than once and have
  // more than inline_size instructions, and to those that are too deeply nested
  // for one line. `next` is the number of the first new name and is increased.
  // Returns the values that got names, in order.
  std::vector<uint32_t> ChooseNames(
      std::span<const uint32_t> values,
      const std::function<uint32_t(uint32_t)>& uses, uint32_t inline_size,
      std::string_view prefix, uint32_t& next);
  // Returns the name that ChooseNames gave the value; empty if it gave none.
  const std::string& NameOf(uint32_t value) const;
  void ForgetName(uint32_t value) { names_.erase(value); }

  // Prints a value, by its name if it has one. `expected` is the type that the
  // parser will give to a literal without a written type.
  void PrintValue(uint32_t value, std::optional<DType> expected,
                  int precedence = 0);
  // Prints the value's expression, even if the value has a name.
  void PrintDefinition(uint32_t value,
                       std::optional<DType> expected = std::nullopt,
                       int precedence = 0);
  // Prints indices in brackets, such as "[i, j]".
  void PrintIndices(std::span<const uint32_t> indices);
  // Prints an element of a buffer, such as "%y[i, j]".
  void PrintElement(uint32_t buffer, std::span<const uint32_t> indices);
  // Prints a header such as "<N, M, %h0 = N * M>". Prints nothing if there are
  // no parameters and no named values.
  void PrintHeader(std::span<const std::string> parameters,
                   std::span<const uint32_t> named);

 private:
  bool IsConstant(uint32_t value) const {
    return source_.OpcodeOf(value) == Opcode::kConstant;
  }
  struct PairTypes {
    std::optional<DType> left;
    std::optional<DType> right;
  };
  void PrintInstruction(const PrintedValue& value,
                        std::optional<DType> expected, int precedence);
  PairTypes TypesOfPair(uint32_t a, uint32_t b,
                        std::optional<DType> expected) const;
  void PrintStructural(const PrintedValue& value,
                       std::optional<DType> expected);
  void PrintBinary(const PrintedValue& value, std::optional<DType> expected,
                   int precedence);
  void PrintCall(const PrintedValue& value, std::optional<DType> expected);
  void PrintSelect(const PrintedValue& value, std::optional<DType> expected);
  void PrintConstant(const PrintedValue& value, std::optional<DType> expected);
  void PrintPad(const PrintedValue& value);

  const ExpressionSource& source_;
  Printer& printer_;
  std::unordered_map<uint32_t, std::string> names_;
  std::unordered_map<uint32_t, uint32_t> depths_;
};

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_TEXT_EXPRESSION_PRINTER_H_
