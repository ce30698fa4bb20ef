#include "base/hash.h"
#include "tensor/text/text.h"
#include "vm/isa/limits.h"
#include "vm/isa/model_metadata.h"
#include "vm/isa/program_text.h"
#include "vm/isa/text.h"

namespace ember::vm {
namespace {

std::string HashText(uint64_t hash) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string text = "0x";
  for (int shift = 60; shift >= 0; shift -= 4) text += kHex[hash >> shift & 15];
  return text;
}

void PrintConstant(Printer& printer, const Constant& constant,
                   const ModuleTextOptions& options) {
  printer.Print("constant ", NameText(constant.name), ": ",
                DTypeName(constant.type), "[");
  PrintJoined(printer, constant.dims, [&](int64_t dim) { printer.Print(dim); });
  const int64_t most = options.inline_constant_bytes;
  if (most < 0 || static_cast<int64_t>(constant.data.size()) <= most) {
    printer.Line("] = ", ConstantValuesText(constant));
  } else {
    printer.Line("] elided ", HashText(HashBytes(constant.data)));
  }
}

class ModuleParser {
 public:
  explicit ModuleParser(std::string_view text) : text_(text), lexer_(text) {}

  StatusOr<ModuleDefinition> Parse() {
    EMBER_RETURN_IF_ERROR(lexer_.Expect("module"));
    EMBER_ASSIGN_OR_RETURN(module_.producer, ParseName(lexer_, "the producer"));
    EMBER_RETURN_IF_ERROR(lexer_.Expect("from"));
    EMBER_ASSIGN_OR_RETURN(module_.source_name,
                           ParseName(lexer_, "the source's name"));
    while (!lexer_.AtEnd()) EMBER_RETURN_IF_ERROR(ParsePart());
    for (size_t i = 0; i < calls_.size(); ++i) {
      EMBER_RETURN_IF_ERROR(
          ResolveCalls(calls_[i], module_.programs, module_.programs[i]));
    }
    return std::move(module_);
  }

 private:
  Status ParsePart() {
    const Token& token = lexer_.Peek();
    if (token.Is("constant")) return ParseConstant();
    if (token.Is("origin")) return ParseOrigin();
    if (token.Is("dispatch")) return ParseDispatch();
    if (token.Is("strings")) return ParseStrings();
    if (token.Is("metadata")) return ParseMetadata();
    if (!token.Is("program")) {
      return lexer_.ExpectedError(
          "constant, strings, metadata, origin, dispatch or program");
    }
    EMBER_ASSIGN_OR_RETURN(ParsedProgram parsed,
                           ParseProgramFrom(lexer_, module_));
    if (module_.programs.size() == kMaxPrograms) {
      return InvalidArgumentError("module: expected at most " +
                                  std::to_string(kMaxPrograms) +
                                  " programs, found more");
    }
    module_.programs.push_back(std::move(parsed.program));
    calls_.push_back(std::move(parsed.calls));
    return OkStatus();
  }

  Status ParseConstant() {
    lexer_.Next();
    Constant constant;
    EMBER_ASSIGN_OR_RETURN(constant.name,
                           ParseName(lexer_, "the constant's name"));
    EMBER_RETURN_IF_ERROR(lexer_.Expect(":"));
    EMBER_ASSIGN_OR_RETURN(constant.type, ParseType(lexer_));
    EMBER_RETURN_IF_ERROR(lexer_.Expect("["));
    while (!lexer_.Accept("]")) {
      if (!constant.dims.empty()) EMBER_RETURN_IF_ERROR(lexer_.Expect(","));
      EMBER_ASSIGN_OR_RETURN(const int64_t dim,
                             lexer_.ExpectInteger("an extent"));
      constant.dims.push_back(dim);
    }
    if (lexer_.Peek().Is("elided")) {
      return ErrorAt(
          lexer_.Peek(),
          "constant '" + constant.name +
              "': expected its values in the text, found only their hash "
              "(vm-dump --values prints them)");
    }
    EMBER_RETURN_IF_ERROR(lexer_.Expect("="));
    EMBER_RETURN_IF_ERROR(ParseConstantValues(lexer_, constant));
    module_.constants.push_back(std::move(constant));
    return OkStatus();
  }

  Status ParseStrings() {
    lexer_.Next();
    EMBER_RETURN_IF_ERROR(lexer_.Expect("["));
    for (bool first = true; !lexer_.Accept("]"); first = false) {
      if (!first) EMBER_RETURN_IF_ERROR(lexer_.Expect(","));
      EMBER_ASSIGN_OR_RETURN(const Token token,
                             lexer_.Expect(Token::kString, "a string"));
      EMBER_ASSIGN_OR_RETURN(std::string text, StringValue(token));
      module_.strings.push_back(std::move(text));
    }
    return OkStatus();
  }

  Status ParseMetadata() {
    lexer_.Next();
    const Token at = lexer_.Peek();
    EMBER_ASSIGN_OR_RETURN(const std::string key, ParseName(lexer_, "a key"));
    EMBER_RETURN_IF_ERROR(lexer_.Expect("="));
    EMBER_ASSIGN_OR_RETURN(const std::string value,
                           ParseName(lexer_, "a value"));
    if (FindMetadata(module_.metadata, key) != nullptr)
      return ErrorAt(at, "expected each key once, found it again");
    SetMetadata(key, value, module_.metadata);
    return OkStatus();
  }

  Status ParseOrigin() {
    lexer_.Next();
    EMBER_ASSIGN_OR_RETURN(origin_,
                           ParseName(lexer_, "the origin of a dispatch"));
    return OkStatus();
  }

  // Parses a dispatch with the parser for dispatches. The text of the dispatch
  // ends with the brace that closes its first brace.
  Status ParseDispatch() {
    const Token first = lexer_.Peek();
    const char* begin = first.text.data();
    const char* end = begin;
    int depth = 0;
    bool entered = false;
    while (!lexer_.AtEnd() && !(entered && depth == 0)) {
      const Token token = lexer_.Next();
      end = token.text.data() + token.text.size();
      depth += token.Is("{") - token.Is("}");
      entered |= token.Is("{");
    }
    StatusOr<tensor::Dispatch> dispatch = tensor::Parse(
        std::string_view(begin, static_cast<size_t>(end - begin)));
    if (!dispatch.ok()) {
      return dispatch.status().WithContext("dispatch at line " +
                                           std::to_string(first.line));
    }
    module_.dispatches.push_back(*std::move(dispatch));
    module_.dispatch_origins.push_back(std::exchange(origin_, std::string()));
    return OkStatus();
  }

  std::string_view text_;
  Lexer lexer_;
  ModuleDefinition module_;
  std::string origin_;
  // for each program, its calls of other programs, whose numbers are set when
  // all programs have been parsed
  std::vector<std::vector<CallReference>> calls_;
};

}  // namespace

std::string PrintModule(const ModuleDefinition& module,
                        const ModuleTextOptions& options) {
  Printer printer;
  printer.Line("module ", QuoteString(module.producer), " from ",
               QuoteString(module.source_name));
  if (!module.constants.empty()) printer.EndLine();
  for (const Constant& constant : module.constants)
    PrintConstant(printer, constant, options);
  if (!module.strings.empty()) {
    printer.Print("strings [");
    PrintJoined(printer, module.strings, [&](const std::string& text) {
      printer.Print(QuoteString(text));
    });
    printer.Line("]");
  }
  for (const MetadataEntry& entry : module.metadata) {
    printer.Line("metadata ", QuoteString(entry.key), " = ",
                 QuoteString(entry.value));
  }
  for (size_t i = 0; i < module.dispatches.size(); ++i) {
    printer.EndLine();
    if (i < module.dispatch_origins.size() &&
        !module.dispatch_origins[i].empty()) {
      printer.Line("origin ", QuoteString(module.dispatch_origins[i]));
    }
    printer.Print(tensor::Print(module.dispatches[i]));
  }
  for (const Program& program : module.programs) {
    printer.EndLine();
    PrintProgramTo(printer, program, module);
  }
  return std::move(printer).Take();
}

StatusOr<ModuleDefinition> ParseModule(std::string_view text) {
  return ModuleParser(text).Parse();
}

}  // namespace ember::vm
