#include "frontends/stablehlo/format.h"

#include "frontends/stablehlo/bytecode.h"
#include "frontends/stablehlo/import.h"
#include "frontends/stablehlo/lexer.h"

namespace ember::stablehlo {
namespace {

// Limits of the search for the first function of a text, before which comments
// and aliases may come: tokens and bytes.
constexpr int kMaxTokens = 20'000;
constexpr size_t kMaxBytes = size_t{1} << 20;

// True for bytecode, and for MLIR's text that begins with a module, a function
// or a section of resources. Comments and aliases may come first.
bool Sniff(std::string_view contents) {
  if (IsBytecode(contents)) return true;
  const std::string_view front = contents.substr(0, kMaxBytes);
  if (front.find('\0') != std::string_view::npos) return false;
  MlirLexer lexer(front);
  if (lexer.AtEnd()) return false;
  if (lexer.Peek().Is("{-#")) return true;
  for (int i = 0; i < kMaxTokens && !lexer.AtEnd(); ++i) {
    const Token token = lexer.Next();
    if (token.kind == Token::kString)
      return token.text == "\"builtin.module\"" ||
             token.text == "\"func.func\"";
    if (token.kind == Token::kIdentifier) {
      if (token.text == "func.func") return true;
      if (token.text == "module" || token.text == "builtin.module" ||
          token.text == "func") {
        const Token& next = lexer.Peek();
        return next.Is("{") || next.Is("attributes") ||
               (next.kind == Token::kSigil && next.text[0] == '@') ||
               next.Is("public") || next.Is("private");
      }
      return false;
    }
    // Skips definitions of aliases, #name = … and !name = …, each on a line of
    // its own.
    if (token.kind != Token::kSigil ||
        (token.text[0] != '#' && token.text[0] != '!'))
      return false;
    const int line = token.line;
    while (!lexer.AtEnd() && lexer.Peek().line == line) lexer.Next();
  }
  return false;
}

constexpr std::string_view kExtensions[] = {".mlir", ".stablehlo", ".mlirbc",
                                            ".mlir.bc"};

}  // namespace

constinit const frontends::Format kFormat = {
    .name = "stablehlo",
    .title =
        "StableHLO 1.x, as MLIR's text or portable bytecode (JAX, "
        "TensorFlow, PyTorch/XLA)",
    .extensions = kExtensions,
    .sniff = Sniff,
    .import = ImportModel,
    .inputs = ModelInputs,
};

}  // namespace ember::stablehlo
