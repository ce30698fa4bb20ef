#include "compiler/lowering/program_builder.h"

#include <algorithm>

namespace ember::compiler {

using graph::Dim;
using vm::ProgramOpcode;

uint32_t ProgramBuilder::IntegerRegister(int64_t value) {
  const auto [entry, inserted] =
      registers_.try_emplace(std::to_string(value), 0);
  if (inserted) {
    entry->second = NewInteger();
    Emit({ProgramOpcode::kInteger, entry->second, 0, 0, value});
  }
  return entry->second;
}

uint32_t ProgramBuilder::DimRegister(const Dim& dim) {
  if (dim.is_constant()) return IntegerRegister(dim.constant());
  const std::string text = dim.ToString();
  if (const auto known = registers_.find(text); known != registers_.end())
    return known->second;
  const uint32_t result = dim.Fold<uint32_t>(
      [&](int64_t value) { return IntegerRegister(value); },
      [&](const std::string& symbol) {
        const auto bound = registers_.find(Dim::Symbol(symbol).ToString());
        EMBER_CHECK(bound != registers_.end()) << "unbound symbol " << symbol;
        return bound->second;
      },
      [&](Dim::Operation operation, uint32_t a, uint32_t b) {
        ProgramOpcode opcode = ProgramOpcode::kAdd;
        switch (operation) {
          case Dim::Operation::kAdd:
            opcode = ProgramOpcode::kAdd;
            break;
          case Dim::Operation::kMultiply:
            opcode = ProgramOpcode::kMultiply;
            break;
          case Dim::Operation::kFloorDivide:
            opcode = ProgramOpcode::kFloorDivide;
            break;
          case Dim::Operation::kModulo:
            opcode = ProgramOpcode::kModulo;
            break;
          case Dim::Operation::kMinimum:
            opcode = ProgramOpcode::kMinimum;
            break;
          case Dim::Operation::kMaximum:
            opcode = ProgramOpcode::kMaximum;
            break;
        }
        const uint32_t target = NewInteger();
        Emit({opcode, target, a, b, 0});
        return target;
      });
  registers_[text] = result;
  return result;
}

uint32_t ProgramBuilder::AddOperands(const std::vector<uint32_t>& operands) {
  const auto first = static_cast<uint32_t>(program_.operands.size());
  program_.operands.insert(program_.operands.end(), operands.begin(),
                           operands.end());
  return first;
}

int64_t ProgramBuilder::SymbolNumber(const std::string& symbol) {
  auto& symbols = program_.symbols;
  const auto found = std::find(symbols.begin(), symbols.end(), symbol);
  if (found != symbols.end()) return found - symbols.begin();
  symbols.push_back(symbol);
  return static_cast<int64_t>(symbols.size()) - 1;
}

}  // namespace ember::compiler
