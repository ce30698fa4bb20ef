// A dimension: an integer expression over symbols, kept in a canonical form so that equal
// expressions compare equal where the rules below can see it.
//
//   Dim n = Dim::Symbol("N");
//   (n * 2 + 1 - n).ToString() == "N + 1"
//
// Canonical form: a sum of products with integer coefficients, over atoms that are symbols or
// floordiv / mod / min / max of canonical forms. Symbols are extents and so never negative; a
// symbol is assumed at least 0 (and at least 1 where Range() says so). Immutable, cheap to copy,
// thread-safe. Overflow of constants is a check in arithmetic on trusted values; use the Checked
// builders in frontends for untrusted ones.
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
#include <vector>

#include "base/status.h"

namespace ember::graph {

class Dim {
 public:
  Dim() : Dim(0) {}
  Dim(int64_t constant);  // implicit: shapes read naturally
  static Dim Symbol(std::string_view name);

  bool is_constant() const;
  int64_t constant() const;  // checked: is_constant()
  std::optional<int64_t> AsConstant() const;

  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);
  friend Dim FloorDivide(const Dim& a, const Dim& b);
  friend Dim CeilDivide(const Dim& a, const Dim& b);
  friend Dim Modulo(const Dim& a, const Dim& b);
  friend Dim Minimum(const Dim& a, const Dim& b);
  friend Dim Maximum(const Dim& a, const Dim& b);
  friend bool operator==(const Dim& a, const Dim& b);
  friend bool operator!=(const Dim& a, const Dim& b) { return !(a == b); }

  // "2*S + 1", "floordiv(H + 1, 2)"; ParseDim reads it back.
  std::string ToString() const;
  std::set<std::string> Symbols() const;
  Dim Substitute(const std::map<std::string, Dim>& replacements) const;
  // The value under the bindings; error if a symbol is unbound, or on overflow or division by 0.
  StatusOr<int64_t> Evaluate(const std::map<std::string, int64_t>& bindings) const;

  // Visits the expression bottom-up for emission: leaves give values, then operations combine them.
  enum class Operation { kAdd, kMultiply, kFloorDivide, kModulo, kMinimum, kMaximum };
  template <typename T>
  T Fold(const std::function<T(int64_t)>& constant, const std::function<T(const std::string&)>& symbol,
         const std::function<T(Operation, T, T)>& combine) const;

 private:
  struct Node;
  explicit Dim(std::shared_ptr<const Node> node);
  std::shared_ptr<const Node> node_;
};

using Shape = std::vector<Dim>;

StatusOr<Dim> ParseDim(std::string_view text);
std::string ShapeToString(const Shape& shape);        // "[N, 3, 224]"
Dim ElementCount(const Shape& shape);                 // product; 1 for a scalar
bool IsConstant(const Shape& shape);

}  // namespace ember::graph

#endif  // EMBER_COMPILER_GRAPH_DIM_H_
