#include <algorithm>
#include <set>

#include "vm/isa/instruction_table.h"
#include "vm/isa/library_functions.h"
#include "vm/isa/operand_list.h"
#include "vm/isa/program_text.h"
#include "vm/isa/text.h"

namespace ember::vm {
namespace {

class ProgramPrinter {
 public:
  ProgramPrinter(Printer& printer, const Program& program,
                 const ModuleDefinition& module)
      : printer_(printer), program_(program), module_(module) {}

  void Print() {
    printer_.Print("program ", NameText(program_.name));
    PrintNames("<", program_.symbols, ">");
    PrintNames("[", program_.parameters, "]");
    PrintSignatures(program_.inputs);
    printer_.Print(" -> ");
    PrintSignatures(program_.results);
    PrintRegisterCounts();
    printer_.Line(" {");
    PrintBody();
    printer_.Line("}");
  }

 private:
  void PrintNames(const char* open, const std::vector<std::string>& names,
                  const char* close) {
    if (names.empty()) return;
    printer_.Print(open);
    PrintJoined(printer_, names, [&](const std::string& name) {
      printer_.Print(NameText(name));
    });
    printer_.Print(close);
  }

  void PrintSignatures(const std::vector<TensorSignature>& signatures) {
    printer_.Print("(");
    PrintJoined(printer_, signatures, [&](const TensorSignature& signature) {
      printer_.Print(NameText(signature.name), ": ", DTypeName(signature.type),
                     "[");
      PrintJoined(printer_, signature.dims,
                  [&](int64_t dim) { PrintDim(dim); });
      printer_.Print("]");
      if (!signature.logical_type.empty())
        printer_.Print(" as ", NameText(signature.logical_type));
    });
    printer_.Print(")");
  }

  void PrintDim(int64_t dim) {
    if (dim >= 0) {
      printer_.Print(dim);
      return;
    }
    const int64_t symbol = -1 - dim;
    const std::string& name = program_.symbols[static_cast<size_t>(symbol)];
    if (FindUnique(program_.symbols, name,
                   [](const std::string& s) { return s; }) == symbol) {
      printer_.Print(NameText(name));
    } else {
      printer_.Print("$", symbol);
    }
  }

  // Prints the numbers of the program's registers. A number is left out if it
  // is the largest register in use plus one, because the parser then finds it.
  void PrintRegisterCounts() {
    uint32_t integers = static_cast<uint32_t>(program_.parameters.size());
    uint32_t buffers = 0;
    const auto use = [&](char letter, int64_t reg) {
      const uint32_t count = static_cast<uint32_t>(reg) + 1;
      if (IsIntegerRegister(letter)) integers = std::max(integers, count);
      if (IsBufferRegister(letter)) buffers = std::max(buffers, count);
    };
    for (const ProgramInstruction& in : program_.instructions) {
      const std::string_view letters = InfoOf(in.opcode).operands;
      for (int field = 0; field < 4; ++field)
        use(letters[field], FieldOf(in, field));
      ForEachListed(in, use);
    }
    if (integers != program_.integer_register_count) {
      printer_.Print(" integers ", program_.integer_register_count);
    }
    if (buffers != program_.buffer_register_count) {
      printer_.Print(" buffers ", program_.buffer_register_count);
    }
  }

  // Calls visit(letter, register) for each operand in the instruction's operand
  // list.
  template <typename Visit>
  void ForEachListed(const ProgramInstruction& in, const Visit& visit) {
    if (!HasOperandList(in.opcode)) return;
    const uint32_t* operand =
        program_.operands.data() + OperandListOf(in).first;
    for (char letter : ListLetters(program_, module_, in))
      visit(letter, *operand++);
  }

  void PrintBody() {
    std::set<int64_t> targets;
    for (const ProgramInstruction& in : program_.instructions) {
      if (InfoOf(in.opcode).operands[3] == 't') targets.insert(in.immediate);
    }
    {
      Printer::Indent indent(printer_);
      for (const std::string& message : program_.messages) {
        printer_.Line("message ", QuoteString(message));
      }
    }
    for (size_t i = 0; i < program_.instructions.size(); ++i) {
      if (targets.count(static_cast<int64_t>(i)) > 0)
        printer_.Line("L", i, ":");
      Printer::Indent indent(printer_);
      PrintInstruction(program_.instructions[i]);
      printer_.EndLine();
    }
  }

  void PrintInstruction(const ProgramInstruction& in) {
    const ProgramInstructionInfo& info = InfoOf(in.opcode);
    switch (in.opcode) {
      case ProgramOpcode::kDispatch:
        return PrintDispatch(in);
      case ProgramOpcode::kCallProgram:
        return PrintCallProgram(in);
      case ProgramOpcode::kLibraryCall: {
        printer_.Print("call ", LibraryInfoOf(in.a).text, "(");
        const char* separator = "";
        ForEachListed(in, [&](char letter, uint32_t reg) {
          printer_.Print(separator);
          PrintRegister(letter, reg);
          separator = ", ";
        });
        printer_.Print(")");
        return;
      }
      case ProgramOpcode::kResult:
        return PrintResult(in);
      default:
        break;
    }
    const bool has_target = info.operands[0] == 'I' || info.operands[0] == 'B';
    if (has_target) {
      PrintRegister(info.operands[0], in.a);
      printer_.Print(" = ");
    }
    printer_.Print(info.text);
    const char* separator = " ";
    for (int field = has_target ? 1 : 0; field < 4; ++field) {
      if (info.operands[field] == '-') continue;
      printer_.Print(separator);
      PrintField(info.operands[field], FieldOf(in, field));
      separator = ", ";
    }
  }

  void PrintRegister(char letter, int64_t reg) {
    printer_.Print(IsIntegerRegister(letter) ? "i" : "b", reg);
  }

  void PrintField(char letter, int64_t value) {
    switch (letter) {
      case 'i':
      case 'b':
      case 'u':
      case 'w':
        return PrintRegister(letter, value);
      case 'y':
        printer_.Print(DTypeName(static_cast<DType>(value)));
        return;
      case 't':
        printer_.Print("L", value);
        return;
      case 'n':
        return PrintReference(program_.inputs, value);
      case 'k': {
        const Constant& constant =
            module_.constants[static_cast<size_t>(value)];
        printer_.Print(value, " (", NameText(constant.name), ")");
        return;
      }
      default:
        printer_.Print(value);
        return;  // An immediate value and the number of a message are printed
                 // as plain numbers.
    }
  }

  // Prints the name of an item of a list, or its number if several items have
  // this name.
  template <typename Items>
  void PrintReference(const Items& items, int64_t number) {
    const std::string& name = items[static_cast<size_t>(number)].name;
    const auto get_name = [](const auto& s) -> const std::string& {
      return s.name;
    };
    if (FindUnique(items, name, get_name) == number) {
      printer_.Print(NameText(name));
    } else {
      printer_.Print(number);
    }
  }

  void PrintDispatch(const ProgramInstruction& in) {
    const tensor::Dispatch& dispatch = module_.dispatches[in.a];
    const size_t parameters = dispatch.parameters.size();
    const size_t inputs_end = parameters + dispatch.input_count();
    printer_.Print("dispatch @", dispatch.name, "(");
    size_t position = 0;
    ForEachListed(in, [&](char letter, uint32_t reg) {
      if (position == inputs_end) {
        printer_.Print(position == 0 ? "-> " : " -> ");
      } else if (position == parameters && position > 0) {
        printer_.Print("; ");
      } else if (position > 0) {
        printer_.Print(", ");
      }
      PrintRegister(letter, reg);
      ++position;
    });
    printer_.Print(")");
  }

  // Prints a call: its parameters, its inputs, "->", and each result with its
  // dims.
  void PrintCallProgram(const ProgramInstruction& in) {
    printer_.Print("call_program ");
    PrintReference(module_.programs, in.a);
    printer_.Print("(");
    char last = '(';
    ForEachListed(in, [&](char letter, uint32_t reg) {
      if (letter == 'B') {
        printer_.Print(last == '('   ? "-> "
                       : last == 'B' ? " [], "
                       : last == 'I' ? "], "
                                     : " -> ");
      } else if (letter == 'I') {
        printer_.Print(last == 'B' ? " [" : ", ");
      } else if (last != '(') {
        printer_.Print(last == letter ? ", " : "; ");
      }
      PrintRegister(letter, reg);
      last = letter;
    });
    printer_.Print(last == 'B' ? " [])" : last == 'I' ? "])" : ")");
  }

  void PrintResult(const ProgramInstruction& in) {
    printer_.Print("result ");
    PrintReference(program_.results, in.a);
    printer_.Print(" = b", in.b, " [");
    const char* separator = "";
    ForEachListed(in, [&](char, uint32_t reg) {
      printer_.Print(separator, "i", reg);
      separator = ", ";
    });
    printer_.Print("]");
  }

  Printer& printer_;
  const Program& program_;
  const ModuleDefinition& module_;
};

}  // namespace

std::string NameText(std::string_view name) {
  Lexer lexer(name);
  const Token token = lexer.Next();
  const bool bare = token.kind == Token::kIdentifier && token.text == name;
  return bare ? std::string(name) : QuoteString(name);
}

void PrintProgramTo(Printer& printer, const Program& program,
                    const ModuleDefinition& module) {
  ProgramPrinter(printer, program, module).Print();
}

std::string PrintProgram(const Program& program,
                         const ModuleDefinition& module) {
  Printer printer;
  PrintProgramTo(printer, program, module);
  return std::move(printer).Take();
}

}  // namespace ember::vm
