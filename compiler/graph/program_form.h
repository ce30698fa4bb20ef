// Describes how a program runs an operator that no dispatch computes. It is a
// part of the operator's record (compiler/graph/operators.h); lowering emits
// the operation from it without knowing its name.
//
//   constexpr CallOperand kConcatCall[] = {CountOf(0), MemoryOf(0), MemoryOf(1),
//                                          ResultMemoryOf(0)};
//   {.name = "string_concat", …, .form = ProgramForm::kCall,
//    .call = {"string_concat", kConcatCall}}
//
// Plain values; numbers count operands, results and dims from 0.
#ifndef EMBER_COMPILER_GRAPH_PROGRAM_FORM_H_
#define EMBER_COMPILER_GRAPH_PROGRAM_FORM_H_

#include <cstdint>
#include <span>
#include <string_view>

namespace ember::graph {

enum class ProgramForm : uint8_t {
  // the program does nothing: dispatches compute the operator, or it is a
  // constant
  kNone,
  // reads elements of operand 0, which are the values of the symbols in
  // `defines`, and checks them (`message`)
  kSizes,
  // calls the program of the first region if operand 0 is true, else that of
  // the second
  kBranch,
  kLoop,  // calls the program of the region repeatedly
  kCall,  // calls a library function
};

// One operand of the call of a library function, in terms of the operation.
struct CallOperand {
  enum class Kind : uint8_t {
    // The values from here on are integers.
    kType,        // the dtype of an operand, as a number
    kResultType,  // the dtype of a result
    kCount,       // the number of elements of an operand
    kDim,         // extent `dim` of an operand
    // product of the operand's extents before the dim that an attribute names
    // (the axis)
    kBeforeAxis,
    kAxis,  // extent of the dim that an attribute names (the axis)
    // product of the operand's extents behind the dim that an attribute names
    // (the axis)
    kBehindAxis,
    kInteger,  // an attribute that is an integer
    kExtent,   // an attribute that is a shape of one dim
    // integer that the function writes: the value of the symbol that the
    // operation defines
    kFound,
    // The values from here on are memory.
    kMemory,  // memory of an operand
    // Memory of a result: given to the function, or allocated by it, as the
    // record's `result_memory` says.
    kResultMemory,
  };
  Kind kind;
  int number = 0;
  int dim = 0;
  std::string_view attribute = {};
};

constexpr CallOperand TypeOf(int operand) {
  return {CallOperand::Kind::kType, operand};
}
constexpr CallOperand ResultTypeOf(int result) {
  return {CallOperand::Kind::kResultType, result};
}
constexpr CallOperand CountOf(int operand) {
  return {CallOperand::Kind::kCount, operand};
}
constexpr CallOperand DimOf(int operand, int dim) {
  return {CallOperand::Kind::kDim, operand, dim};
}
constexpr CallOperand BeforeAxis(int operand, std::string_view attribute) {
  return {CallOperand::Kind::kBeforeAxis, operand, 0, attribute};
}
constexpr CallOperand AxisOf(int operand, std::string_view attribute) {
  return {CallOperand::Kind::kAxis, operand, 0, attribute};
}
constexpr CallOperand BehindAxis(int operand, std::string_view attribute) {
  return {CallOperand::Kind::kBehindAxis, operand, 0, attribute};
}
constexpr CallOperand IntegerIn(std::string_view attribute) {
  return {CallOperand::Kind::kInteger, 0, 0, attribute};
}
constexpr CallOperand ExtentIn(std::string_view attribute) {
  return {CallOperand::Kind::kExtent, 0, 0, attribute};
}
constexpr CallOperand Found() { return {CallOperand::Kind::kFound}; }
constexpr CallOperand MemoryOf(int operand) {
  return {CallOperand::Kind::kMemory, operand};
}
constexpr CallOperand ResultMemoryOf(int result) {
  return {CallOperand::Kind::kResultMemory, result};
}

struct LibraryCall {
  // Name of the function in vm/isa/library_functions.h.
  std::string_view function;
  // The operands in the order of the function's row.
  std::span<const CallOperand> operands;
};

}  // namespace ember::graph

#endif  // EMBER_COMPILER_GRAPH_PROGRAM_FORM_H_
