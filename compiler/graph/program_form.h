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
  kNone,    // nothing: dispatches compute the operator, or it is a constant
  kSizes,   // reads elements of operand 0, which are the values of the symbols
            // in `defines`, and checks them (`message`)
  kBranch,  // calls the program of its first region if operand 0 holds, else
            // that of the second
  kLoop,    // calls the program of its region repeatedly
  kCall,    // calls a library function
};

// One operand of the call of a library function, in terms of the operation.
struct CallOperand {
  enum class Kind : uint8_t {
    // Integers.
    kType,        // the dtype of an operand, as a number
    kResultType,  // the dtype of a result
    kCount,       // the number of elements of an operand
    kDim,         // extent `dim` of an operand
    kBeforeAxis,  // product of the operand's extents before the dim that the
                  // attribute names …
    kAxis,        // … the extent of that dim …
    kBehindAxis,  // … and the product of those behind it
    kInteger,     // an attribute that is an integer
    kExtent,      // an attribute that is a shape of one dim
    kFound,       // written by the function: the value of the symbol that the
                  // operation defines
    // Memory.
    kMemory,  // memory of an operand
    // memory of a result: given to the function, or allocated by it, as the
    // record's `result_memory` says
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
  // The function's name in vm/isa/library_functions.h.
  std::string_view function;
  // The operands in the order of that row.
  std::span<const CallOperand> operands;
};

}  // namespace ember::graph

#endif  // EMBER_COMPILER_GRAPH_PROGRAM_FORM_H_
