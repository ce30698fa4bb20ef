#include "vm/runtime/program/in_place.h"

#include <map>

#include "vm/interpreter/plan.h"
#include "vm/isa/instruction_table.h"

namespace ember::vm {
namespace {

constexpr size_t kNone = SIZE_MAX;

// Facts about the instructions of a program that use one buffer register.
struct Uses {
  size_t count = 0;  // number of uses; the instruction Release is not one
  size_t first = kNone;
  size_t writes = 0;
  // number of the Allocate instruction that writes the register; kNone if there
  // is none
  size_t allocation = kNone;
  // number of the program's input to which the register refers; kNone if there
  // is none
  size_t input = kNone;
};

class Finder {
 public:
  explicit Finder(const Module& module)
      : module_(module),
        program_(module.entry()),
        uses_(program_.buffer_register_count) {}

  std::vector<InPlaceAllocation> Run() {
    // No allocation is found in a program with branches, because its
    // instructions are not executed in the order of the list.
    for (size_t i = 0; i < program_.instructions.size(); ++i) {
      const ProgramOpcode opcode = program_.instructions[i].opcode;
      if (opcode == ProgramOpcode::kBranch ||
          opcode == ProgramOpcode::kBranchIf)
        return {};
      NoteUses(i);
    }
    std::vector<InPlaceAllocation> found;
    for (const DispatchSite& site : module_.sites())
      if (site.program == 0) Add(site, found);
    return found;
  }

 private:
  void NoteUse(uint32_t reg, size_t instruction) {
    Uses& uses = uses_[reg];
    ++uses.count;
    if (uses.first == kNone) uses.first = instruction;
  }

  void NoteUses(size_t number) {
    const ProgramInstruction& in = program_.instructions[number];
    if (in.opcode == ProgramOpcode::kRelease) return;
    const std::string_view letters = InfoOf(in.opcode).operands;
    for (int field = 0; field < 4; ++field) {
      const char letter = letters[static_cast<size_t>(field)];
      if (!IsBufferRegister(letter)) continue;
      const auto reg = static_cast<uint32_t>(FieldOf(in, field));
      if (letter == 'B') {
        ++uses_[reg].writes;
      } else {
        NoteUse(reg, number);
      }
    }
    switch (in.opcode) {
      case ProgramOpcode::kAllocate:
        uses_[in.a].allocation = number;
        break;
      case ProgramOpcode::kInputBuffer:
        uses_[in.a].input = in.b;
        ++readers_[in.b];
        break;
      case ProgramOpcode::kDispatch:
      case ProgramOpcode::kLibraryCall:
      case ProgramOpcode::kCallProgram:
        NoteList(in, number);
        break;
      default:
        break;
    }
  }

  // Notes the operands of an instruction's list as uses of buffer registers.
  // Operands that are integer registers are counted, too, because they are not
  // distinguished; then only fewer allocations are found.
  void NoteList(const ProgramInstruction& in, size_t number) {
    const uint32_t* const operands = program_.operands.data() + in.b;
    const size_t begin =
        in.opcode == ProgramOpcode::kDispatch
            ? module_.definition().dispatches[in.a].parameters.size()
            : 0;
    for (size_t i = begin; i < in.c; ++i) {
      if (operands[i] < uses_.size()) NoteUse(operands[i], number);
    }
  }

  void Add(const DispatchSite& site, std::vector<InPlaceAllocation>& found) {
    const ProgramInstruction& in = program_.instructions[site.instruction];
    const tensor::Dispatch& dispatch =
        module_.definition().dispatches[site.dispatch];
    const uint32_t* const buffers =
        program_.operands.data() + in.b + dispatch.parameters.size();
    const uint32_t inputs = dispatch.input_count();
    for (uint32_t i = 0; i < inputs; ++i) {
      const Uses& from = uses_[buffers[i]];
      if (from.input == kNone || from.writes != 1 || from.count != 1 ||
          readers_[static_cast<uint32_t>(from.input)] != 1)
        continue;
      for (uint32_t o = inputs; o < inputs + dispatch.output_count(); ++o) {
        const Uses& to = uses_[buffers[o]];
        if (to.allocation == kNone || to.writes != 1 ||
            to.first != site.instruction ||
            !MayAlias(dispatch, static_cast<int>(i), static_cast<int>(o)))
          continue;
        found.push_back({to.allocation, static_cast<uint32_t>(from.input)});
        break;
      }
    }
  }

  const Module& module_;
  const Program& program_;
  std::vector<Uses> uses_;  // the uses of each buffer register
  // for each input, the number of instructions that read its memory into a
  // register
  std::map<uint32_t, int> readers_;
};

}  // namespace

std::vector<InPlaceAllocation> FindInPlaceAllocations(const Module& module) {
  return Finder(module).Run();
}

}  // namespace ember::vm
