#include "compiler/graph/dim.h"

#include <algorithm>

#include "base/checked_math.h"
#include "base/hash.h"
#include "compiler/graph/dim_terms.h"

namespace ember::graph {
namespace {

// Limits on the number of terms of a dim, of factors of a term, and of bytes of
// an atom's text. A dim beyond a limit is invalid. No model needs larger
// expressions, and a hostile model could make expressions grow exponentially.
constexpr size_t kMaxTerms = 1024;
constexpr size_t kMaxFactors = 16;
constexpr size_t kMaxAtomText = 2048;

bool IsIdentifierCharacter(char c, bool first) {
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_') return true;
  return !first && c >= '0' && c <= '9';
}

std::string Identifier(std::string_view name) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string result;
  for (char c : name) {
    if (IsIdentifierCharacter(c, result.empty())) {
      result += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      result += {'_', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  // A symbol whose name the text form of dispatches would read as a bool or a
  // number gets a '_' at its end.
  if (result == "true" || result == "false" || result == "inf" ||
      result == "nan")
    result += '_';
  constexpr size_t kLongest = 100;
  if (result.size() > kLongest) {
    result = result.substr(0, kLongest - 20) + "_" +
             std::to_string(HashString(result));
  }
  return result.empty() ? "_" : result;
}

std::string_view FunctionName(AtomKind kind) {
  switch (kind) {
    case AtomKind::kSymbol:
      break;
    case AtomKind::kFloorDivide:
      return "floordiv";
    case AtomKind::kModulo:
      return "mod";
    case AtomKind::kMinimum:
      return "min";
    case AtomKind::kMaximum:
      return "max";
  }
  return "";
}

Dim::Operation OperationOf(AtomKind kind) {
  switch (kind) {
    case AtomKind::kFloorDivide:
      return Dim::Operation::kFloorDivide;
    case AtomKind::kModulo:
      return Dim::Operation::kModulo;
    case AtomKind::kMinimum:
      return Dim::Operation::kMinimum;
    default:
      return Dim::Operation::kMaximum;
  }
}

Dim Negate(const Dim& a) { return a * Dim(-1); }

}  // namespace

int CompareFactors(const std::vector<AtomPointer>& a,
                   const std::vector<AtomPointer>& b) {
  if (a.size() != b.size()) return a.size() > b.size() ? -1 : 1;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    if (const int order = a[i]->text.compare(b[i]->text); order != 0)
      return order;
  }
  return 0;
}

std::optional<std::vector<AtomPointer>> DivideFactors(
    const std::vector<AtomPointer>& a, const std::vector<AtomPointer>& b) {
  std::vector<AtomPointer> quotient;
  size_t next = 0;
  for (const AtomPointer& factor : a) {
    if (next < b.size() && factor->text == b[next]->text) {
      ++next;
    } else {
      quotient.push_back(factor);
    }
  }
  if (next < b.size()) return std::nullopt;
  return quotient;
}

Terms DimAlgebra::TermsOf(const Dim& dim) {
  if (dim.node_ != nullptr) return dim.node_->terms;
  if (dim.value_ == 0) return {};
  return {Term{dim.value_, {}}};
}

Dim DimAlgebra::FromTerms(Terms terms) {
  std::stable_sort(terms.begin(), terms.end(),
                   [](const Term& a, const Term& b) {
                     return CompareFactors(a.factors, b.factors) < 0;
                   });
  Terms merged;
  for (Term& term : terms) {
    if (term.factors.size() > kMaxFactors) return Dim::Invalid();
    if (!merged.empty() &&
        CompareFactors(merged.back().factors, term.factors) == 0) {
      const auto sum = CheckedAdd(merged.back().coefficient, term.coefficient);
      if (!sum) return Dim::Invalid();
      merged.back().coefficient = *sum;
    } else {
      merged.push_back(std::move(term));
    }
  }
  std::erase_if(merged, [](const Term& term) { return term.coefficient == 0; });
  if (merged.empty()) return Dim(0);
  if (merged.size() == 1 && merged[0].factors.empty())
    return Dim(merged[0].coefficient);
  if (merged.size() > kMaxTerms) return Dim::Invalid();
  return Dim(std::make_shared<const Dim::Node>(Dim::Node{std::move(merged)}));
}

Dim DimAlgebra::FromAtom(AtomKind kind, const Dim& a, const Dim& b) {
  std::string text(FunctionName(kind));
  text += "(" + a.ToString() + ", " + b.ToString() + ")";
  if (text.size() > kMaxAtomText) return Dim::Invalid();
  auto atom = std::make_shared<const Atom>(Atom{kind, std::move(text), a, b});
  return FromTerms({Term{1, {std::move(atom)}}});
}

Dim DimAlgebra::FromSymbol(std::string name) {
  if (name.size() > kMaxAtomText) return Dim::Invalid();
  auto atom = std::make_shared<const Atom>(
      Atom{AtomKind::kSymbol, std::move(name), {}, {}});
  return FromTerms({Term{1, {std::move(atom)}}});
}

const Atom* DimAlgebra::AsAtom(const Dim& dim) {
  if (dim.node_ == nullptr || dim.node_->terms.size() != 1) return nullptr;
  const Term& term = dim.node_->terms[0];
  if (term.coefficient != 1 || term.factors.size() != 1) return nullptr;
  return term.factors[0].get();
}

bool DimAlgebra::Equal(const Dim& a, const Dim& b) {
  if (a.is_constant() || b.is_constant()) {
    return a.is_constant() && b.is_constant() && a.value_ == b.value_;
  }
  if (a.node_ == b.node_) return true;
  if (a.node_->invalid != b.node_->invalid) return false;
  const Terms& left = a.node_->terms;
  const Terms& right = b.node_->terms;
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const Term& x, const Term& y) {
                      return x.coefficient == y.coefficient &&
                             CompareFactors(x.factors, y.factors) == 0;
                    });
}

Dim Dim::Symbol(std::string_view name) {
  return DimAlgebra::FromSymbol(Identifier(name));
}

Dim Dim::Invalid() {
  static const auto* const node = new std::shared_ptr<const Node>(
      std::make_shared<const Node>(Node{.terms = {}, .invalid = true}));
  return Dim(*node);
}

bool Dim::is_valid() const { return node_ == nullptr || !node_->invalid; }

int64_t Dim::constant() const {
  EMBER_CHECK(is_constant()) << ToString() << " is not a constant";
  return value_;
}

std::optional<int64_t> Dim::AsConstant() const {
  if (!is_constant()) return std::nullopt;
  return value_;
}

bool operator==(const Dim& a, const Dim& b) { return DimAlgebra::Equal(a, b); }

Dim operator+(const Dim& a, const Dim& b) {
  if (!a.is_valid() || !b.is_valid()) return Dim::Invalid();
  if (a.is_constant() && b.is_constant()) {
    const auto sum = CheckedAdd(a.value_, b.value_);
    return sum ? Dim(*sum) : Dim::Invalid();
  }
  Terms terms = DimAlgebra::TermsOf(a);
  for (Term& term : DimAlgebra::TermsOf(b)) terms.push_back(std::move(term));
  return DimAlgebra::FromTerms(std::move(terms));
}

Dim operator-(const Dim& a, const Dim& b) { return a + Negate(b); }

Dim operator*(const Dim& a, const Dim& b) {
  if (!a.is_valid() || !b.is_valid()) return Dim::Invalid();
  if (a.is_constant() && b.is_constant()) {
    const auto product = CheckedMultiply(a.value_, b.value_);
    return product ? Dim(*product) : Dim::Invalid();
  }
  const Terms left = DimAlgebra::TermsOf(a), right = DimAlgebra::TermsOf(b);
  if (left.size() * right.size() > kMaxTerms) return Dim::Invalid();
  Terms terms;
  for (const Term& x : left) {
    for (const Term& y : right) {
      const auto coefficient = CheckedMultiply(x.coefficient, y.coefficient);
      if (!coefficient) return Dim::Invalid();
      Term term{*coefficient, x.factors};
      term.factors.insert(term.factors.end(), y.factors.begin(),
                          y.factors.end());
      std::sort(term.factors.begin(), term.factors.end(),
                [](const AtomPointer& p, const AtomPointer& q) {
                  return p->text < q->text;
                });
      terms.push_back(std::move(term));
    }
  }
  return DimAlgebra::FromTerms(std::move(terms));
}

std::string Dim::ToString() const {
  if (is_constant()) return std::to_string(value_);
  if (!is_valid()) return "invalid dim";
  std::string text;
  for (const Term& term : node_->terms) {
    const bool negative = term.coefficient < 0;
    if (text.empty()) {
      if (negative) text += "-";
    } else {
      text += negative ? " - " : " + ";
    }
    std::string magnitude = std::to_string(term.coefficient);
    if (negative) magnitude.erase(0, 1);
    if (term.factors.empty() || magnitude != "1") {
      text += magnitude;
      if (!term.factors.empty()) text += "*";
    }
    for (size_t i = 0; i < term.factors.size(); ++i) {
      if (i > 0) text += "*";
      text += term.factors[i]->text;
    }
  }
  return text;
}

std::set<std::string> Dim::Symbols() const {
  std::set<std::string> symbols;
  if (!is_valid()) return symbols;
  for (const Step& step : Steps()) {
    if (step.kind == Step::kSymbol) symbols.insert(step.symbol);
  }
  return symbols;
}

std::vector<Dim::Step> Dim::Steps() const {
  EMBER_CHECK(is_valid()) << "an invalid dim has no value";
  if (is_constant()) return {{Step::kConstant, value_, {}, Operation::kAdd}};
  std::vector<Step> steps;
  auto append_atom = [&steps](const Atom& atom) {
    if (atom.kind == AtomKind::kSymbol) {
      steps.push_back({Step::kSymbol, 0, atom.text, Operation::kAdd});
      return;
    }
    for (const Dim* operand : {&atom.a, &atom.b}) {
      for (Step& step : operand->Steps()) steps.push_back(std::move(step));
    }
    steps.push_back({Step::kOperation, 0, {}, OperationOf(atom.kind)});
  };
  bool first_term = true;
  for (const Term& term : node_->terms) {
    bool empty = true;
    if (term.coefficient != 1 || term.factors.empty()) {
      steps.push_back({Step::kConstant, term.coefficient, {}, Operation::kAdd});
      empty = false;
    }
    for (const AtomPointer& factor : term.factors) {
      append_atom(*factor);
      if (!empty)
        steps.push_back({Step::kOperation, 0, {}, Operation::kMultiply});
      empty = false;
    }
    if (!first_term)
      steps.push_back({Step::kOperation, 0, {}, Operation::kAdd});
    first_term = false;
  }
  return steps;
}

Dim Dim::Substitute(const std::map<std::string, Dim>& replacements) const {
  if (is_constant() || !is_valid()) return *this;
  return Fold<Dim>([](int64_t value) { return Dim(value); },
                   [&](const std::string& symbol) {
                     const auto found = replacements.find(symbol);
                     return found == replacements.end() ? Symbol(symbol)
                                                        : found->second;
                   },
                   [](Operation operation, const Dim& a, const Dim& b) {
                     switch (operation) {
                       case Operation::kAdd:
                         return a + b;
                       case Operation::kMultiply:
                         return a * b;
                       case Operation::kFloorDivide:
                         return FloorDivide(a, b);
                       case Operation::kModulo:
                         return Modulo(a, b);
                       case Operation::kMinimum:
                         return Minimum(a, b);
                       case Operation::kMaximum:
                         return Maximum(a, b);
                     }
                     return Dim::Invalid();
                   });
}

StatusOr<int64_t> Dim::Evaluate(
    const std::map<std::string, int64_t>& bindings) const {
  if (is_constant()) return value_;
  if (!is_valid())
    return InvalidArgumentError(
        "invalid dim: its arithmetic overflows 64 bits");
  for (const std::string& symbol : Symbols()) {
    if (!bindings.contains(symbol)) {
      return InvalidArgumentError("dim '" + ToString() + "': symbol '" +
                                  symbol + "' has no value");
    }
  }
  std::map<std::string, Dim> replacements;
  for (const auto& [name, value] : bindings)
    replacements.emplace(name, Dim(value));
  const Dim result = Substitute(replacements);
  if (!result.is_constant()) {
    return InvalidArgumentError(
        "dim '" + ToString() +
        "': its arithmetic overflows 64 bits or divides by 0");
  }
  return result.value_;
}

std::string ShapeToString(const Shape& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ", ";
    text += shape[i].ToString();
  }
  return text + "]";
}

Dim ElementCount(const Shape& shape) {
  Dim count = 1;
  for (const Dim& dim : shape) count = count * dim;
  return count;
}

bool IsConstant(const Shape& shape) {
  return std::all_of(shape.begin(), shape.end(),
                     [](const Dim& dim) { return dim.is_constant(); });
}

}  // namespace ember::graph
