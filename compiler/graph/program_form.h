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
  // The program runs no code for the operation: dispatches compute it, or it is
  // a constant.
  kNone,
  // The program reads the elements of operand 0, which become the values of the
  // symbols in `defines`, and checks them. `message` is the text of the error.
  kSizes,
  // The program calls the program of the first region if operand 0 is true,
  // otherwise that of the second region.
  kBranch,
  // The operation is a loop: the program calls the program of the region once
  // for each iteration.
  kLoop,
  // The program calls a function of the VM's library; the record's `call` says
  // which, with which operands.
  kCall,
};

// Describes one operand of a library call by the operation's operands, results
// or attributes.
struct CallOperand {
  enum class Kind : uint8_t {
    // The kinds from kType to kFound pass an integer to the function.
    kType,        // passes the dtype of an operand, as a number
    kResultType,  // passes the dtype of a result, as a number
    kCount,       // passes the number of elements of an operand
    kDim,         // passes the extent of dim `dim` of an operand
    // Passes the product of the operand's extents before the axis, which an
    // attribute names.
    kBeforeAxis,
    kAxis,  // passes the extent of the axis that an attribute names
    // Passes the product of the operand's extents after the axis, which an
    // attribute names.
    kBehindAxis,
    kInteger,  // passes an attribute that is an integer
    kExtent,   // passes the only dim of an attribute that is a shape
    // Passes a register into which the function writes an integer: the value of
    // the symbol with index `number` among those that the operation defines.
    kFound,
    // The kinds from kMemory on pass memory to the function.
    kMemory,  // passes the memory of an operand
    // Passes the memory of a result. The record's `result_memory` says whether
    // the function gets the memory or allocates it.
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
constexpr CallOperand Found(int symbol = 0) {
  return {CallOperand::Kind::kFound, symbol};
}
constexpr CallOperand MemoryOf(int operand) {
  return {CallOperand::Kind::kMemory, operand};
}
constexpr CallOperand ResultMemoryOf(int result) {
  return {CallOperand::Kind::kResultMemory, result};
}

struct LibraryCall {
  // Name of the function, a row of vm/isa/library_functions.h.
  std::string_view function;
  // The operands in the order in which the function's row in
  // library_functions.h lists them.
  std::span<const CallOperand> operands;
};

}  // namespace ember::graph

#endif  // EMBER_COMPILER_GRAPH_PROGRAM_FORM_H_
