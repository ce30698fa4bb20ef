// Parses operations of MLIR's text: the body of one function.
//
//   OperationParser parser(attributes, function);
//   EMBER_RETURN_IF_ERROR(parser.ParseBody(function.body));
//
// Both forms are read: the generic one, which all operations share, and the
// pretty one that a dialect prints. pretty_forms.h says how pretty forms differ
// between operations.
//
// Errors are one line with line and column. Not thread-safe.
#ifndef EMBER_FRONTENDS_STABLEHLO_OPERATION_PARSER_H_
#define EMBER_FRONTENDS_STABLEHLO_OPERATION_PARSER_H_

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "frontends/stablehlo/attribute_parser.h"
#include "frontends/stablehlo/module.h"
#include "frontends/stablehlo/pretty_forms.h"

namespace ember::stablehlo {

class OperationParser {
 public:
  // The attribute parser and the function must outlive this parser. Values are
  // added to `function`.
  OperationParser(AttributeParser& attributes, Function& function)
      : attributes_(attributes),
        lexer_(attributes.lexer()),
        function_(function),
        scopes_(1) {}

  // Adds a value to the function, which following operations can use by this
  // name.
  StatusOr<int> Define(const Token& name, const Type& type);
  // Parses the body of a function, { operations }. The values that are defined
  // already are the arguments of the body.
  Status ParseBody(Region& region);
  // Parses the rest of a region after '{': the label ^bb(arguments) if present,
  // operations, and '}'.
  Status ParseBlock(Region& region);

 private:
  struct ResultName {
    Token token;
    int count = 1;
  };

  Status ParseOperations(Region& region);
  StatusOr<Operation> ParseOperation();
  // Parses a region, { … }, with these arguments.
  Status ParseRegion(Region& region,
                     std::span<const std::pair<Token, Type>> arguments);
  Status ParseGeneric(Operation& operation, const Token& at,
                      std::vector<Type>& results);
  Status ParseMoreAttributes(Operation& operation);
  Status ParsePretty(Operation& operation, const Token& at,
                     std::vector<Type>& results);
  Status ParseItem(Operation& operation, const PrettyForm& form);
  Status ParseKeyword(Operation& operation, const PrettyForm& form);
  Status ParseTrailingTypes(Operation& operation, const PrettyForm& form,
                            const Token& at, std::vector<Type>& results);
  Status ParseReduce(Operation& operation, const Token& at,
                     std::vector<Type>& results);
  Status ParseReducer(Operation& operation);
  Status ParseWhile(Operation& operation, const Token& at,
                    std::vector<Type>& results);
  Status ParseRanges(Operation& operation);
  Status ParseWindow(Operation& operation);
  // Parses a function type, (types) -> types, and checks its inputs against the
  // operands.
  Status ParseFunctionType(const Operation& operation, const Token& at,
                           std::vector<Type>& results);
  Status CheckOperand(const Operation& operation, size_t index,
                      const Type& type, const Token& at) const;
  Status CheckOperands(const Operation& operation,
                       const std::vector<Type>& types, const Token& at) const;

  StatusOr<int> ParseOperand();
  Status ParseOperands(Operation& operation, std::string_view close);
  const Type& TypeOf(int value) const {
    return function_.values[static_cast<size_t>(value)].type;
  }
  int AddValue(const Type& type);

  AttributeParser& attributes_;
  MlirLexer& lexer_;
  Function& function_;
  // Names that are visible, by enclosing region, outermost first. Each name has
  // the index of its first value and the number of its values.
  std::vector<std::map<std::string_view, std::pair<int, int>>> scopes_;
  // Number of words without a keyword (such as EQ in compare) that the parser
  // has read in the current operation.
  size_t words_ = 0;
};

}  // namespace ember::stablehlo

#endif  // EMBER_FRONTENDS_STABLEHLO_OPERATION_PARSER_H_
