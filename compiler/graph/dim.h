// A dimension: an integer expression over symbols, kept in a canonical form so
// that equal expressions compare equal where the rules below can see it.
//
//   Dim n = Dim::Symbol("N");
//   (n * 2 + 1 - n).ToString() == "N + 1"
//   FloorDivide(n * 6 + 3, 3) == n * 2 + 1
//
// Canonical form: a sum of products with integer coefficients, over atoms that
// are symbols or floordiv / mod / min / max of canonical forms. Symbols are
// extents, so they are at least 0. Divisors are assumed to be non-zero: (N * H)
// / N is H.
//
// Immutable, cheap to copy, thread-safe. Arithmetic never fails and never
// wraps. A result that leaves 64 bits, divides by the constant 0 or grows past
// a thousand terms is the invalid dim. The invalid dim equals only itself and
// makes every expression that contains it invalid. Graph::Add and
// Graph::AddInput refuse types with invalid dims, so shapes of an untrusted
// model need no other overflow checks.
#ifndef EMBER_COMPILER_GRAPH_DIM_H_
#define EMBER_COMPILER_GRAPH_DIM_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"

namespace ember {
class Lexer;
}

namespace ember::graph {

class Dim {
 public:
  Dim() = default;  // A dim that is made without an argument is the constant 0.
  Dim(int64_t constant)
      // The conversion from a number is implicit, so that shapes can be written
      // with numbers.
      : value_(constant) {}
  // Makes a symbol. Characters that an identifier cannot have are replaced by
  // "_hh" (their hex code), so "batch size" becomes "batch_20size".
  static Dim Symbol(std::string_view name);
  static Dim Invalid();

  bool is_valid() const;
  bool is_constant() const { return node_ == nullptr; }
  // Returns the value of a constant dim. If is_constant() is false, a check
  // fails.
  int64_t constant() const;
  std::optional<int64_t> AsConstant() const;

  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  // Returns the quotient rounded down, also for negative values. Exact
  // quotients of sums of products are found: (N*H + H) / H is N + 1.
  friend Dim FloorDivide(const Dim& a, const Dim& b);
  friend Dim CeilDivide(const Dim& a, const Dim& b);
  // Returns the remainder a - b * FloorDivide(a, b), which has the divisor's
  // sign.
  friend Dim Modulo(const Dim& a, const Dim& b);
  friend Dim Minimum(const Dim& a, const Dim& b);
  friend Dim Maximum(const Dim& a, const Dim& b);
  friend bool operator==(const Dim& a, const Dim& b);
  friend bool operator!=(const Dim& a, const Dim& b) { return !(a == b); }

  // Return bounds that hold for all values of the symbols (each at least 0);
  // nullopt if none is known.
  std::optional<int64_t> LowerBound() const;
  std::optional<int64_t> UpperBound() const;

  // Returns a text such as "2*S + 1" or "floordiv(H + 1, 2)", which ParseDim
  // reads back.
  std::string ToString() const;
  std::set<std::string> Symbols() const;
  Dim Substitute(const std::map<std::string, Dim>& replacements) const;
  // Returns the value of the dim for these values of symbols. Errors: a symbol
  // without a value, overflow, division by 0.
  StatusOr<int64_t> Evaluate(
      const std::map<std::string, int64_t>& bindings) const;

  // Visits the expression bottom-up for emission: leaves give values, and
  // operations combine them. The dim must be valid.
  enum class Operation {
    kAdd,
    kMultiply,
    kFloorDivide,
    kModulo,
    kMinimum,
    kMaximum
  };
  template <typename T>
  T Fold(const std::function<T(int64_t)>& constant,
         const std::function<T(const std::string&)>& symbol,
         const std::function<T(Operation, T, T)>& combine) const {
    std::vector<T> values;
    for (const Step& step : Steps()) {
      switch (step.kind) {
        case Step::kConstant:
          values.push_back(constant(step.value));
          break;
        case Step::kSymbol:
          values.push_back(symbol(step.symbol));
          break;
        case Step::kOperation: {
          T b = std::move(values.back());
          values.pop_back();
          T a = std::move(values.back());
          values.pop_back();
          values.push_back(combine(step.operation, std::move(a), std::move(b)));
          break;
        }
      }
    }
    return std::move(values.back());
  }

 private:
  struct Node;  // The terms of the sum, for a dim that is not constant.
  friend struct DimAlgebra;

  // One step of evaluating the expression in postfix order: it pushes a
  // constant or a symbol, or applies an operation to the last values.
  struct Step {
    enum Kind { kConstant, kSymbol, kOperation } kind;
    int64_t value = 0;
    std::string symbol;
    Operation operation = Operation::kAdd;
  };
  std::vector<Step> Steps() const;

  explicit Dim(std::shared_ptr<const Node> node) : node_(std::move(node)) {}

  int64_t value_ = 0;  // The value of a constant dim; used if node_ is null.
  std::shared_ptr<const Node> node_;
};

using Shape = std::vector<Dim>;

// Parses a dim. Reads ToString's form, and more: + - * and parentheses, / for
// floordiv, % for mod, and the functions floordiv, ceildiv, mod, min, max, and
// names. Errors say what was expected.
StatusOr<Dim> ParseDim(std::string_view text);
StatusOr<Dim> ParseDim(
    // The lexer of the surrounding text. Its tokens are consumed up to the
    // first one that does not belong to the dim.
    Lexer& lexer);
// Returns the shape as a text such as "[N, 3, 224]".
std::string ShapeToString(const Shape& shape);
// Returns the number of elements: the product of the dims, 1 for a scalar.
Dim ElementCount(const Shape& shape);
bool IsConstant(const Shape& shape);

}  // namespace ember::graph

#endif  // EMBER_COMPILER_GRAPH_DIM_H_
