// Assembles a program: registers, instructions, integer expressions of dims.
//
//   ProgramBuilder b("main");
//   // Emits arithmetic, once per expression.
//   uint32_t size = b.DimRegister(ByteSize(type));
//   uint32_t memory = b.NewBuffer();
//   b.Emit({vm::ProgramOpcode::kAllocate, memory, size});
#ifndef EMBER_COMPILER_LOWERING_PROGRAM_BUILDER_H_
#define EMBER_COMPILER_LOWERING_PROGRAM_BUILDER_H_

#include <map>
#include <string>

#include "compiler/graph/dim.h"
#include "vm/isa/module_definition.h"

namespace ember::compiler {

class ProgramBuilder {
 public:
  explicit ProgramBuilder(std::string name) { program_.name = std::move(name); }

  void Emit(vm::ProgramInstruction instruction) {
    program_.instructions.push_back(instruction);
  }
  uint32_t NewBuffer() { return program_.buffer_register_count++; }
  uint32_t NewInteger() { return program_.integer_register_count++; }
  // Declares that this register holds the value of a symbol, so that
  // expressions can use it. Called once for each symbol.
  void BindSymbol(const std::string& symbol, uint32_t integer_register) {
    registers_[graph::Dim::Symbol(symbol).ToString()] = integer_register;
  }
  bool IsBound(const std::string& symbol) const {
    return registers_.contains(graph::Dim::Symbol(symbol).ToString());
  }
  // Returns a register that holds the value of the expression. The first call
  // for an expression emits the instructions that compute it. All its symbols
  // must be bound.
  uint32_t DimRegister(const graph::Dim& dim);
  // Appends operands of an instruction to the program's operand list and
  // returns the position of the first one.
  uint32_t AddOperands(const std::vector<uint32_t>& operands);
  // Returns the number of the symbol in the program's signature, which lists it
  // if it is new.
  int64_t SymbolNumber(const std::string& symbol);

  vm::Program& program() { return program_; }

 private:
  uint32_t IntegerRegister(int64_t value);
  vm::Program program_;
  // For each expression that was computed, by its text: the register that holds
  // its value.
  std::map<std::string, uint32_t> registers_;
};

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_LOWERING_PROGRAM_BUILDER_H_
