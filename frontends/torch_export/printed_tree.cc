#include "frontends/torch_export/printed_tree.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/one_line.h"

namespace ember::torch_export {
namespace {

using graph::Dim;

constexpr int kMaxDepth = 100;
constexpr int64_t kMaxPower = 8;

Dim Remainder(const Dim& a, const Dim& b) { return Modulo(a, b); }
Dim Quotient(const Dim& a, const Dim& b) { return FloorDivide(a, b); }

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), rest_(text) {}

  StatusOr<Dim> Parse() {
    EMBER_ASSIGN_OR_RETURN(Dim dim, ParseCall(0));
    SkipSpaces();
    if (!rest_.empty()) return Unexpected("the end");
    return dim;
  }

 private:
  using Combine = Dim (*)(const Dim&, const Dim&);
  struct Function {
    std::string_view name;
    Combine combine;
    // True if the function accepts any number of arguments, false if exactly
    // two.
    bool has_any_count;
  };

  // Returns the function that SymPy or PyTorch calls `name`; null if it is not
  // supported.
  static const Function* FindFunction(std::string_view name) {
    static constexpr Function kFunctions[] = {
        {"Add", [](const Dim& a, const Dim& b) { return a + b; }, true},
        {"Mul", [](const Dim& a, const Dim& b) { return a * b; }, true},
        {"Max", [](const Dim& a, const Dim& b) { return Maximum(a, b); }, true},
        {"Min", [](const Dim& a, const Dim& b) { return Minimum(a, b); }, true},
        {"Mod", Remainder, false},
        {"PythonMod", Remainder, false},
        {"FloorDiv", Quotient, false},
        {"CleanDiv", Quotient, false},
        {"CeilDiv", [](const Dim& a, const Dim& b) { return CeilDivide(a, b); },
         false},
    };
    for (const Function& function : kFunctions)
      if (function.name == name) return &function;
    return nullptr;
  }

  Status Unexpected(std::string_view wanted) const {
    return UnimplementedError("extent '" + OnOneLine(text_) + "': expected " +
                              std::string(wanted) + ", found '" +
                              OnOneLine(rest_.substr(0, 16)) + "'");
  }

  void SkipSpaces() {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
  }
  bool Accept(std::string_view token) {
    SkipSpaces();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  Status Expect(std::string_view token) {
    return Accept(token) ? OkStatus()
                         : Unexpected("'" + std::string(token) + "'");
  }
  std::string_view ReadName() {
    SkipSpaces();
    size_t size = 0;
    while (size < rest_.size() &&
           ((rest_[size] >= 'a' && rest_[size] <= 'z') ||
            (rest_[size] >= 'A' && rest_[size] <= 'Z') ||
            (rest_[size] >= '0' && rest_[size] <= '9') || rest_[size] == '_'))
      ++size;
    const std::string_view name = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return name;
  }

  // Parses a symbol, such as Symbol('s0', positive=True), from the text after
  // its '('.
  StatusOr<Dim> ParseSymbol() {
    EMBER_RETURN_IF_ERROR(Expect("'"));
    std::string name(ReadName());
    if (name.empty()) return Unexpected("the name of a symbol");
    // Names of symbols that begin with '_' are reserved for the compiler, so
    // such a name gets a letter in front.
    if (name.starts_with('_')) name = "d" + name;
    EMBER_RETURN_IF_ERROR(Expect("'"));
    while (Accept(",")) {
      (void)ReadName();
      EMBER_RETURN_IF_ERROR(Expect("="));
      (void)ReadName();
    }
    EMBER_RETURN_IF_ERROR(Expect(")"));
    return Dim::Symbol(name);
  }

  StatusOr<int64_t> ParseInteger() {
    SkipSpaces();
    int64_t value = 0;
    const char* const end = rest_.data() + rest_.size();
    const auto [stop, error] = std::from_chars(rest_.data(), end, value);
    if (error != std::errc()) return Unexpected("an integer of 64 bits");
    rest_.remove_prefix(static_cast<size_t>(stop - rest_.data()));
    EMBER_RETURN_IF_ERROR(Expect(")"));
    return value;
  }

  StatusOr<Dim> ParsePower(int depth) {
    EMBER_ASSIGN_OR_RETURN(const Dim base, ParseCall(depth + 1));
    EMBER_RETURN_IF_ERROR(Expect(","));
    if (!Accept("Integer(")) return Unexpected("a power from 1 to 8");
    EMBER_ASSIGN_OR_RETURN(const int64_t power, ParseInteger());
    EMBER_RETURN_IF_ERROR(Expect(")"));
    if (power < 1 || power > kMaxPower) {
      return UnimplementedError("extent '" + OnOneLine(text_) +
                                "': expected a power from 1 to 8, found " +
                                std::to_string(power));
    }
    Dim product = base;
    for (int64_t k = 1; k < power; ++k) product = product * base;
    return product;
  }

  StatusOr<Dim> ParseCall(int depth) {
    if (depth > kMaxDepth) {
      return UnimplementedError("an extent: expected at most " +
                                std::to_string(kMaxDepth) +
                                " calls within each other");
    }
    SkipSpaces();
    const std::string_view before = rest_;
    const std::string_view name = ReadName();
    if (name.empty() || !Accept("("))
      return Unexpected("a call, such as Integer(2)");
    if (name == "Symbol") return ParseSymbol();
    if (name == "Integer") {
      EMBER_ASSIGN_OR_RETURN(const int64_t value, ParseInteger());
      return Dim(value);
    }
    if (name == "Pow") return ParsePower(depth);
    const Function* const function = FindFunction(name);
    if (function == nullptr) {
      rest_ = before;
      return Unexpected(
          "Integer, Symbol, Add, Mul, Pow, Max, Min, Mod, FloorDiv, CleanDiv "
          "or CeilDiv");
    }
    std::optional<Dim> result;
    int count = 0;
    do {
      EMBER_ASSIGN_OR_RETURN(const Dim next, ParseCall(depth + 1));
      result = result ? function->combine(*result, next) : next;
      ++count;
    } while (Accept(","));
    EMBER_RETURN_IF_ERROR(Expect(")"));
    if (!function->has_any_count && count != 2) {
      return UnimplementedError(
          "extent '" + OnOneLine(text_) + "': expected two arguments of " +
          std::string(name) + ", found " + std::to_string(count));
    }
    return *std::move(result);
  }

  std::string_view text_;
  std::string_view rest_;
};

}  // namespace

bool IsPrintedTree(std::string_view text) {
  return text.find("Symbol(") != std::string_view::npos ||
         text.find("Integer(") != std::string_view::npos;
}

StatusOr<Dim> ParsePrintedTree(std::string_view text) {
  return Parser(text).Parse();
}

}  // namespace ember::torch_export
