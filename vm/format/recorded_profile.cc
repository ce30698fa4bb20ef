#include "vm/format/recorded_profile.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/concat.h"
#include "base/lexer.h"
#include "base/printer.h"
#include "vm/format/module_identity.h"
#include "vm/isa/limits.h"

namespace ember::vm {
namespace {

constexpr int64_t kVersion = 1;

class Parser {
 public:
  Parser(std::string_view text, const ModuleDefinition& module)
      : lexer_(text), module_(module) {
    for (uint32_t i = 0; i < module.dispatches.size(); ++i)
      numbers_.emplace(module.dispatches[i].name, i);
  }

  StatusOr<std::vector<DispatchProfile>> Run() {
    EMBER_RETURN_IF_ERROR(lexer_.Expect("profile"));
    EMBER_ASSIGN_OR_RETURN(const int64_t version,
                           lexer_.ExpectInteger("a version"));
    if (version != kVersion) {
      return UnimplementedError(Concat(
          {"expected a profile of version ", kVersion, ", found ", version}));
    }
    EMBER_RETURN_IF_ERROR(lexer_.Expect("of"));
    EMBER_ASSIGN_OR_RETURN(
        const Token module,
        lexer_.Expect(Token::kString, "the identity of a module"));
    const std::string own =
        Concat({"\"", IdentityText(IdentityOf(module_)), "\""});
    if (module.text != own) {
      return InvalidArgumentError(
          Concat({"expected a profile of this module (", own,
                  "), found one of another (", module.text, ")"}));
    }
    EMBER_RETURN_IF_ERROR(lexer_.Expect("{"));
    std::vector<DispatchProfile> profile;
    while (!lexer_.Accept("}")) {
      EMBER_ASSIGN_OR_RETURN(DispatchProfile dispatch, ReadDispatch());
      profile.push_back(std::move(dispatch));
    }
    if (!lexer_.AtEnd()) return lexer_.ExpectedError("the end");
    SortByTime(profile);
    return profile;
  }

 private:
  StatusOr<DispatchProfile> ReadDispatch() {
    EMBER_RETURN_IF_ERROR(lexer_.Expect("dispatch"));
    const Status unknown =
        lexer_.ExpectedError("a dispatch of the module that was not yet there");
    EMBER_ASSIGN_OR_RETURN(const Token name,
                           lexer_.ExpectSigil('@', "a dispatch"));
    const auto found = numbers_.find(std::string(name.name()));
    if (found == numbers_.end() || !seen_.insert(found->second).second)
      return unknown;
    DispatchProfile profile;
    profile.dispatch = found->second;
    EMBER_RETURN_IF_ERROR(lexer_.Expect("{"));
    do {
      if (profile.shapes.size() == kMaxProfileShapes) {
        return lexer_.ExpectedError(
            Concat({"'}' after ", kMaxProfileShapes, " shapes"}));
      }
      EMBER_ASSIGN_OR_RETURN(DispatchProfile::Shape shape,
                             ReadShape(profile.dispatch));
      profile.shapes.push_back(std::move(shape));
    } while (!lexer_.Accept("}"));
    return profile;
  }

  StatusOr<DispatchProfile::Shape> ReadShape(uint32_t dispatch) {
    DispatchProfile::Shape shape;
    EMBER_RETURN_IF_ERROR(lexer_.Expect("["));
    const size_t count = module_.dispatches[dispatch].parameters.size();
    for (size_t i = 0; i < count; ++i) {
      if (i > 0) EMBER_RETURN_IF_ERROR(lexer_.Expect(","));
      EMBER_ASSIGN_OR_RETURN(const int64_t value,
                             lexer_.ExpectInteger("a parameter"));
      shape.parameters.push_back(value);
    }
    EMBER_RETURN_IF_ERROR(lexer_.Expect("]"));
    EMBER_RETURN_IF_ERROR(lexer_.Expect(":"));
    EMBER_ASSIGN_OR_RETURN(shape.calls, ReadCount("calls"));
    EMBER_RETURN_IF_ERROR(lexer_.Expect(","));
    EMBER_ASSIGN_OR_RETURN(shape.ns, ReadCount("ns"));
    return shape;
  }

  StatusOr<int64_t> ReadCount(std::string_view unit) {
    const Status negative =
        lexer_.ExpectedError(Concat({"a number of ", unit, " from 0 up"}));
    EMBER_ASSIGN_OR_RETURN(
        const int64_t count,
        lexer_.ExpectInteger(Concat({"a number of ", unit})));
    if (count < 0) return negative;
    EMBER_RETURN_IF_ERROR(lexer_.Expect(unit));
    return count;
  }

  Lexer lexer_;
  const ModuleDefinition& module_;
  std::unordered_map<std::string, uint32_t> numbers_;
  std::unordered_set<uint32_t> seen_;
};

}  // namespace

std::string PrintRecordedProfile(const ModuleDefinition& module,
                                 const std::vector<DispatchProfile>& profile) {
  Printer printer;
  printer.Line("profile ", kVersion, " of \"", IdentityText(IdentityOf(module)),
               "\" {");
  {
    const Printer::Indent in_profile(printer);
    for (const DispatchProfile& dispatch : profile) {
      printer.Line("dispatch @", module.dispatches[dispatch.dispatch].name,
                   " {");
      for (const DispatchProfile::Shape& shape : dispatch.shapes) {
        const Printer::Indent in_dispatch(printer);
        std::string parameters;
        for (const int64_t value : shape.parameters) {
          parameters += (parameters.empty() ? "" : ", ");
          parameters += Concat({value});
        }
        printer.Line("[", parameters, "]: ", shape.calls, " calls, ", shape.ns,
                     " ns");
      }
      printer.Line("}");
    }
  }
  printer.Line("}");
  return std::move(printer).Take();
}

StatusOr<std::vector<DispatchProfile>> ParseRecordedProfile(
    std::string_view text, const ModuleDefinition& module) {
  return Parser(text, module).Run();
}

void SortByTime(std::vector<DispatchProfile>& profile) {
  for (DispatchProfile& dispatch : profile) {
    std::ranges::stable_sort(dispatch.shapes, [](const auto& a, const auto& b) {
      return a.ns > b.ns;
    });
  }
  std::ranges::stable_sort(profile, [](const auto& a, const auto& b) {
    return a.total_ns() > b.total_ns();
  });
}

}  // namespace ember::vm
