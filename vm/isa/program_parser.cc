#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "vm/isa/instruction_table.h"
#include "vm/isa/library_functions.h"
#include "vm/isa/program_text.h"
#include "vm/isa/text.h"

namespace ember::vm {
namespace {

bool IsDecimal(std::string_view text) {
  return !text.empty() && text.size() <= 9 &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return c >= '0' && c <= '9'; });
}

// Parses the number behind the letter in a token such as i12, b3 or L7.
bool NumberBehind(char letter, std::string_view text, uint32_t* number) {
  if (text.size() < 2 || text[0] != letter || !IsDecimal(text.substr(1)))
    return false;
  *number = 0;
  for (char c : text.substr(1))
    *number = *number * 10 + static_cast<uint32_t>(c - '0');
  return true;
}

class ProgramParser {
 public:
  ProgramParser(Lexer& lexer, const ModuleDefinition& module)
      : lexer_(lexer), module_(module) {}

  StatusOr<ParsedProgram> Parse() {
    EMBER_RETURN_IF_ERROR(lexer_.Expect("program"));
    EMBER_ASSIGN_OR_RETURN(program_.name,
                           ParseName(lexer_, "the program's name"));
    EMBER_RETURN_IF_ERROR(ParseNames("<", ">", program_.symbols));
    EMBER_RETURN_IF_ERROR(ParseNames("[", "]", program_.parameters));
    integers_used_ = static_cast<uint32_t>(program_.parameters.size());
    EMBER_RETURN_IF_ERROR(ParseSignatures(program_.inputs));
    EMBER_RETURN_IF_ERROR(lexer_.Expect("->"));
    EMBER_RETURN_IF_ERROR(ParseSignatures(program_.results));
    int64_t integers = -1, buffers = -1;
    EMBER_RETURN_IF_ERROR(ParseCount("integers", &integers));
    EMBER_RETURN_IF_ERROR(ParseCount("buffers", &buffers));
    EMBER_RETURN_IF_ERROR(lexer_.Expect("{"));
    while (!lexer_.Accept("}")) EMBER_RETURN_IF_ERROR(ParseLine());
    EMBER_RETURN_IF_ERROR(ResolveLabels());
    program_.integer_register_count =
        integers < 0 ? integers_used_ : static_cast<uint32_t>(integers);
    program_.buffer_register_count =
        buffers < 0 ? buffers_used_ : static_cast<uint32_t>(buffers);
    return ParsedProgram{std::move(program_), std::move(calls_)};
  }

 private:
  Status ParseNames(std::string_view open, std::string_view close,
                    std::vector<std::string>& names) {
    if (!lexer_.Accept(open)) return OkStatus();
    do {
      EMBER_ASSIGN_OR_RETURN(std::string name, ParseName(lexer_, "a symbol"));
      names.push_back(std::move(name));
    } while (lexer_.Accept(","));
    return lexer_.Expect(close);
  }

  Status ParseSignatures(std::vector<TensorSignature>& signatures) {
    EMBER_RETURN_IF_ERROR(lexer_.Expect("("));
    if (lexer_.Accept(")")) return OkStatus();
    do {
      TensorSignature signature;
      EMBER_ASSIGN_OR_RETURN(signature.name, ParseName(lexer_, "a name"));
      EMBER_RETURN_IF_ERROR(lexer_.Expect(":"));
      EMBER_ASSIGN_OR_RETURN(signature.type, ParseType(lexer_));
      EMBER_RETURN_IF_ERROR(lexer_.Expect("["));
      while (!lexer_.Accept("]")) {
        if (!signature.dims.empty()) EMBER_RETURN_IF_ERROR(lexer_.Expect(","));
        EMBER_ASSIGN_OR_RETURN(const int64_t dim, ParseDim());
        signature.dims.push_back(dim);
      }
      if (lexer_.Accept("as")) {
        EMBER_ASSIGN_OR_RETURN(signature.logical_type,
                               ParseName(lexer_, "a logical type"));
      }
      signatures.push_back(std::move(signature));
    } while (lexer_.Accept(","));
    return lexer_.Expect(")");
  }

  StatusOr<int64_t> ParseDim() {
    const Token token = lexer_.Peek();
    if (token.kind == Token::kInteger) return lexer_.ExpectInteger("an extent");
    uint32_t number = 0;
    if (token.kind == Token::kSigil && NumberBehind('$', token.text, &number)) {
      lexer_.Next();
      return -1 - static_cast<int64_t>(number);
    }
    EMBER_ASSIGN_OR_RETURN(const std::string name,
                           ParseName(lexer_, "an extent or a symbol"));
    const int64_t symbol = FindUnique(program_.symbols, name,
                                      [](const std::string& s) { return s; });
    if (symbol < 0)
      return ErrorAt(token,
                     "expected one of the program's symbols, found " + name);
    return -1 - symbol;
  }

  Status ParseCount(std::string_view what, int64_t* count) {
    if (!lexer_.Accept(what)) return OkStatus();
    const Token token = lexer_.Peek();
    EMBER_ASSIGN_OR_RETURN(*count,
                           lexer_.ExpectInteger("a number of registers"));
    if (*count >= 0 && *count <= UINT32_MAX) return OkStatus();
    return ErrorAt(token, "expected a number of registers");
  }

  Status ParseLine() {
    const Token first = lexer_.Peek();
    EMBER_RETURN_IF_ERROR(
        lexer_.Expect(Token::kIdentifier, "an instruction").status());
    uint32_t number = 0;
    if (first.Is("message")) return ParseMessage();
    if (NumberBehind('L', first.text, &number) && lexer_.Accept(":")) {
      labels_[number] = static_cast<int64_t>(program_.instructions.size());
      return OkStatus();
    }
    ProgramInstruction in;
    Token mnemonic = first;
    char target = '-';
    if (NumberBehind('i', first.text, &number)) target = 'I';
    if (NumberBehind('b', first.text, &number)) target = 'B';
    if (target != '-') {
      EMBER_RETURN_IF_ERROR(lexer_.Expect("="));
      in.a = number;
      Use(target, number);
      mnemonic = lexer_.Next();
    }
    EMBER_ASSIGN_OR_RETURN(in.opcode, FindOpcode(mnemonic, target));
    EMBER_RETURN_IF_ERROR(ParseOperands(in));
    program_.instructions.push_back(in);
    return OkStatus();
  }

  Status ParseMessage() {
    EMBER_ASSIGN_OR_RETURN(const Token token,
                           lexer_.Expect(Token::kString, "a message"));
    EMBER_ASSIGN_OR_RETURN(std::string message, StringValue(token));
    program_.messages.push_back(std::move(message));
    return OkStatus();
  }

  // Finds the opcode of an instruction by its name in the text. `target` is the
  // letter of the register before '='; '-' if there is none.
  static StatusOr<ProgramOpcode> FindOpcode(const Token& mnemonic,
                                            char target) {
    for (int i = 0; i < kProgramOpcodeCount; ++i) {
      const ProgramInstructionInfo info = InfoOf(static_cast<ProgramOpcode>(i));
      if (!mnemonic.Is(info.text)) continue;
      const char wanted = info.operands[0] == 'I' || info.operands[0] == 'B'
                              ? info.operands[0]
                              : '-';
      if (wanted == target) return static_cast<ProgramOpcode>(i);
      return ErrorAt(mnemonic, std::string(info.text) + ": expected " +
                                   (wanted == 'I'   ? "an integer register"
                                    : wanted == 'B' ? "a buffer register"
                                                    : "no register") +
                                   " before it");
    }
    return ErrorAt(mnemonic, "expected an instruction, found '" +
                                 std::string(mnemonic.text) + "'");
  }

  Status ParseOperands(ProgramInstruction& in) {
    switch (in.opcode) {
      case ProgramOpcode::kDispatch:
        return ParseDispatch(in);
      case ProgramOpcode::kCallProgram:
        return ParseCallProgram(in);
      case ProgramOpcode::kLibraryCall:
        return ParseCall(in);
      case ProgramOpcode::kResult:
        return ParseResult(in);
      default:
        break;
    }
    const std::string_view letters = InfoOf(in.opcode).operands;
    bool first = true;
    for (int field = 0; field < 4; ++field) {
      const char letter = letters[field];
      if (letter == '-' || letter == 'I' || letter == 'B') continue;
      if (!first) EMBER_RETURN_IF_ERROR(lexer_.Expect(","));
      first = false;
      EMBER_ASSIGN_OR_RETURN(const int64_t value, ParseField(letter));
      if (field == 3) {
        in.immediate = value;
      } else {
        (field == 0   ? in.a
         : field == 1 ? in.b
                      : in.c) = static_cast<uint32_t>(value);
      }
    }
    return OkStatus();
  }

  StatusOr<int64_t> ParseField(char letter) {
    switch (letter) {
      case 'i':
      case 'b':
      case 'u':
      case 'w': {
        EMBER_ASSIGN_OR_RETURN(const uint32_t reg, ParseRegister(letter));
        return int64_t{reg};
      }
      case 'y': {
        EMBER_ASSIGN_OR_RETURN(const DType type, ParseType(lexer_));
        return static_cast<int64_t>(type);
      }
      case 't': {
        uint32_t label = 0;
        const Token token = lexer_.Peek();
        if (!NumberBehind('L', token.text, &label))
          return lexer_.ExpectedError("a label");
        lexer_.Next();
        label_tokens_.emplace(label, token);
        return int64_t{label};
      }
      case 'n':
        return ParseReference(program_.inputs, "an input");
      case 'k':
        return ParseConstant();
      case 'm':
        return ParseNumber("the number of a message");
      default:
        return lexer_.ExpectInteger("a number");
    }
  }

  // Parses a number from 0 to 2^32 - 1, because it is stored in a field of 32
  // bits.
  StatusOr<int64_t> ParseNumber(std::string_view what) {
    const Token token = lexer_.Peek();
    EMBER_ASSIGN_OR_RETURN(const int64_t value, lexer_.ExpectInteger(what));
    if (value >= 0 && value <= UINT32_MAX) return value;
    return ErrorAt(token, "expected " + std::string(what));
  }

  StatusOr<int64_t> ParseConstant() {
    EMBER_ASSIGN_OR_RETURN(const int64_t number,
                           ParseNumber("the number of a constant"));
    if (!lexer_.Accept("(")) return number;
    EMBER_RETURN_IF_ERROR(ParseName(lexer_, "the constant's name").status());
    EMBER_RETURN_IF_ERROR(lexer_.Expect(")"));
    return number;
  }

  StatusOr<uint32_t> ParseRegister(char letter) {
    const char prefix = IsIntegerRegister(letter) ? 'i' : 'b';
    uint32_t number = 0;
    if (lexer_.Peek().kind != Token::kIdentifier ||
        !NumberBehind(prefix, lexer_.Peek().text, &number)) {
      return lexer_.ExpectedError(prefix == 'i' ? "an integer register"
                                                : "a buffer register");
    }
    lexer_.Next();
    Use(letter, number);
    return number;
  }

  void Use(char letter, uint32_t reg) {
    uint32_t& used = IsIntegerRegister(letter) ? integers_used_ : buffers_used_;
    used = std::max(used, reg + 1);
  }

  StatusOr<int64_t> ParseReference(
      const std::vector<TensorSignature>& signatures, std::string_view what) {
    const Token token = lexer_.Peek();
    if (token.kind == Token::kInteger) return ParseNumber(what);
    EMBER_ASSIGN_OR_RETURN(const std::string name, ParseName(lexer_, what));
    const auto get_name = [](const TensorSignature& s) -> const std::string& {
      return s.name;
    };
    const int64_t found = FindUnique(signatures, name, get_name);
    if (found < 0)
      return ErrorAt(
          token, "expected " + std::string(what) + ", found '" + name + "'");
    return found;
  }

  // Parses a register of the kind `letter` and appends its number to the
  // operand list.
  Status ParseListed(char letter) {
    EMBER_ASSIGN_OR_RETURN(const uint32_t reg, ParseRegister(letter));
    program_.operands.push_back(reg);
    return OkStatus();
  }

  Status ParseDispatch(ProgramInstruction& in) {
    const Token token = lexer_.Peek();
    EMBER_RETURN_IF_ERROR(
        lexer_.ExpectSigil('@', "a dispatch's name").status());
    const auto get_name = [](const tensor::Dispatch& d) -> const std::string& {
      return d.name;
    };
    const int64_t found =
        FindUnique(module_.dispatches, token.name(), get_name);
    if (found < 0) {
      return ErrorAt(token, "expected a dispatch of the module, found " +
                                std::string(token.text));
    }
    in.a = static_cast<uint32_t>(found);
    const tensor::Dispatch& dispatch = module_.dispatches[in.a];
    const size_t parameters = dispatch.parameters.size();
    const size_t inputs_end = parameters + dispatch.input_count();
    const size_t count = inputs_end + dispatch.output_count();
    in.b = static_cast<uint32_t>(program_.operands.size());
    in.c = static_cast<uint32_t>(count);
    EMBER_RETURN_IF_ERROR(lexer_.Expect("("));
    for (size_t i = 0; i < count; ++i) {
      if (i == inputs_end) {
        EMBER_RETURN_IF_ERROR(lexer_.Expect("->"));
      } else if (i == parameters && i > 0) {
        EMBER_RETURN_IF_ERROR(lexer_.Expect(";"));
      } else if (i > 0) {
        EMBER_RETURN_IF_ERROR(lexer_.Expect(","));
      }
      EMBER_RETURN_IF_ERROR(ParseListed(i < parameters ? 'i' : 'b'));
    }
    return lexer_.Expect(")");
  }

  Status ParseCall(ProgramInstruction& in) {
    const Token token = lexer_.Next();
    std::optional<LibraryFunctionInfo> info;
    for (uint32_t i = 0; i < kLibraryFunctionCount; ++i) {
      if (!token.Is(LibraryInfoOf(i).text)) continue;
      info = LibraryInfoOf(i);
      in.a = i;
    }
    if (!info) {
      return ErrorAt(token, "expected a library function, found '" +
                                std::string(token.text) + "'");
    }
    in.b = static_cast<uint32_t>(program_.operands.size());
    in.c = static_cast<uint32_t>(info->operands.size());
    EMBER_RETURN_IF_ERROR(lexer_.Expect("("));
    for (size_t i = 0; i < info->operands.size(); ++i) {
      if (i > 0) EMBER_RETURN_IF_ERROR(lexer_.Expect(","));
      EMBER_RETURN_IF_ERROR(ParseListed(info->operands[i]));
    }
    return lexer_.Expect(")");
  }

  // Parses registers of one kind, separated by commas, up to the first other
  // token. If `separator` is not empty, the list is present only if it begins
  // with the separator.
  Status ParseRegisterList(char letter, std::string_view separator) {
    const char prefix = IsIntegerRegister(letter) ? 'i' : 'b';
    if (!separator.empty() && !lexer_.Accept(separator)) return OkStatus();
    uint32_t number = 0;
    if (separator.empty() && !NumberBehind(prefix, lexer_.Peek().text, &number))
      return OkStatus();
    do {
      EMBER_RETURN_IF_ERROR(ParseListed(letter));
    } while (lexer_.Accept(","));
    return OkStatus();
  }

  // Parses the part of a call behind its mnemonic, such as "name(i0, i1; b0 ->
  // b1 [i2], b2 [])".
  Status ParseCallProgram(ProgramInstruction& in) {
    const Token name = lexer_.Peek();
    if (name.kind == Token::kInteger) {
      EMBER_ASSIGN_OR_RETURN(const int64_t number, ParseNumber("a program"));
      in.a = static_cast<uint32_t>(number);
    } else {
      EMBER_RETURN_IF_ERROR(ParseName(lexer_, "a program").status());
      calls_.push_back(
          {static_cast<uint32_t>(program_.instructions.size()), name});
    }
    in.b = static_cast<uint32_t>(program_.operands.size());
    EMBER_RETURN_IF_ERROR(lexer_.Expect("("));
    EMBER_RETURN_IF_ERROR(ParseRegisterList('i', ""));
    const bool has_parameters = program_.operands.size() > in.b;
    EMBER_RETURN_IF_ERROR(ParseRegisterList('b', has_parameters ? ";" : ""));
    if (lexer_.Accept("->")) {
      do {
        EMBER_RETURN_IF_ERROR(ParseListed('B'));
        EMBER_RETURN_IF_ERROR(lexer_.Expect("["));
        EMBER_RETURN_IF_ERROR(ParseRegisterList('I', ""));
        EMBER_RETURN_IF_ERROR(lexer_.Expect("]"));
      } while (lexer_.Accept(","));
    }
    in.c = static_cast<uint32_t>(program_.operands.size()) - in.b;
    return lexer_.Expect(")");
  }

  Status ParseResult(ProgramInstruction& in) {
    EMBER_ASSIGN_OR_RETURN(const int64_t result,
                           ParseReference(program_.results, "a result"));
    in.a = static_cast<uint32_t>(result);
    EMBER_RETURN_IF_ERROR(lexer_.Expect("="));
    EMBER_ASSIGN_OR_RETURN(in.b, ParseRegister('b'));
    in.c = static_cast<uint32_t>(program_.operands.size());
    EMBER_RETURN_IF_ERROR(lexer_.Expect("["));
    while (!lexer_.Accept("]")) {
      if (in.immediate > 0) EMBER_RETURN_IF_ERROR(lexer_.Expect(","));
      EMBER_RETURN_IF_ERROR(ParseListed('i'));
      ++in.immediate;
    }
    return OkStatus();
  }

  Status ResolveLabels() {
    for (const auto& [label, token] : label_tokens_) {
      if (labels_.count(label) == 0) {
        return ErrorAt(token, "expected a label of the program, found " +
                                  std::string(token.text));
      }
    }
    for (ProgramInstruction& in : program_.instructions) {
      if (InfoOf(in.opcode).operands[3] != 't') continue;
      in.immediate = labels_.at(static_cast<uint32_t>(in.immediate));
    }
    return OkStatus();
  }

  Lexer& lexer_;
  const ModuleDefinition& module_;
  Program program_;
  uint32_t integers_used_ = 0;
  uint32_t buffers_used_ = 0;
  std::map<uint32_t, int64_t> labels_;
  std::map<uint32_t, Token> label_tokens_;
  std::vector<CallReference> calls_;
};

}  // namespace

StatusOr<std::string> ParseName(Lexer& lexer, std::string_view what) {
  if (lexer.Peek().kind == Token::kString) return StringValue(lexer.Next());
  EMBER_ASSIGN_OR_RETURN(const Token token,
                         lexer.Expect(Token::kIdentifier, what));
  return std::string(token.text);
}

StatusOr<DType> ParseType(Lexer& lexer) {
  const std::optional<DType> type = DTypeFromName(lexer.Peek().text);
  if (!type) return lexer.ExpectedError("an element type");
  lexer.Next();
  return *type;
}

StatusOr<ParsedProgram> ParseProgramFrom(Lexer& lexer,
                                         const ModuleDefinition& module) {
  return ProgramParser(lexer, module).Parse();
}

Status ResolveCalls(std::span<const CallReference> calls,
                    const std::vector<Program>& programs, Program& caller) {
  const auto get_name = [](const Program& p) -> const std::string& {
    return p.name;
  };
  for (const CallReference& call : calls) {
    Lexer lexer(call.name.text);
    EMBER_ASSIGN_OR_RETURN(const std::string name,
                           ParseName(lexer, "a program"));
    const int64_t found = FindUnique(programs, name, get_name);
    if (found < 0) {
      return ErrorAt(call.name, "expected a program of the module, found " +
                                    std::string(call.name.text));
    }
    caller.instructions[call.instruction].a = static_cast<uint32_t>(found);
  }
  return OkStatus();
}

StatusOr<Program> ParseProgram(std::string_view text,
                               const ModuleDefinition& module) {
  Lexer lexer(text);
  EMBER_ASSIGN_OR_RETURN(ParsedProgram parsed, ParseProgramFrom(lexer, module));
  if (!lexer.AtEnd()) return lexer.ExpectedError("the end of the text");
  EMBER_RETURN_IF_ERROR(
      ResolveCalls(parsed.calls, module.programs, parsed.program));
  return std::move(parsed.program);
}

}  // namespace ember::vm
