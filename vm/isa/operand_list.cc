#include "vm/isa/operand_list.h"

#include "vm/isa/library_functions.h"

namespace ember::vm {
namespace {

std::string DispatchLetters(const tensor::Dispatch& dispatch) {
  std::string letters(dispatch.parameters.size(), 'i');
  letters.append(dispatch.input_count(), 'b');
  letters.append(dispatch.output_count(), 'w');
  return letters;
}

std::string CallLetters(const Program& called) {
  std::string letters(called.parameters.size(), 'i');
  letters.append(called.inputs.size(), 'b');
  for (const TensorSignature& result : called.results) {
    letters += 'B';
    letters.append(result.dims.size(), 'I');
  }
  return letters;
}

}  // namespace

std::string ListLetters(const Program& program, const ModuleDefinition& module,
                        const ProgramInstruction& instruction) {
  switch (instruction.opcode) {
    case ProgramOpcode::kDispatch:
      return DispatchLetters(module.dispatches[instruction.a]);
    case ProgramOpcode::kLibraryCall:
      return std::string(LibraryInfoOf(instruction.a).operands);
    case ProgramOpcode::kCallProgram:
      return CallLetters(module.programs[instruction.a]);
    case ProgramOpcode::kResult:
      return std::string(program.results[instruction.a].dims.size(), 'i');
    default:
      return {};
  }
}

}  // namespace ember::vm
