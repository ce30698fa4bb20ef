#include "frontends/ops/einsum.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "frontends/ops/errors.h"
#include "frontends/ops/repeated_extent.h"

namespace ember::ops {
namespace {

// Labels of dims, one character per dim: a letter of the equation or, for a dim
// of the ellipsis, a character from '0' on.
using Labels = std::string;

struct Term {
  Labels labels;
  Tensor tensor;
};

struct Equation {
  std::vector<Labels> terms;
  Labels result;
  bool explicit_result = false;
};

Equation Split(std::string text) {
  std::erase(text, ' ');
  Equation equation;
  const size_t arrow = text.find("->");
  equation.explicit_result = arrow != std::string::npos;
  if (equation.explicit_result) equation.result = text.substr(arrow + 2);
  std::string terms = text.substr(0, arrow);
  size_t start = 0;
  for (size_t comma; (comma = terms.find(',', start)) != std::string::npos;
       start = comma + 1) {
    equation.terms.push_back(terms.substr(start, comma - start));
  }
  equation.terms.push_back(terms.substr(start));
  return equation;
}

bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Replaces "..." by the last `count` of the ellipsis labels; nullopt for
// characters that are neither letters nor an ellipsis.
std::optional<Labels> ExpandEllipsis(const std::string& term,
                                     const Labels& ellipsis, int count) {
  Labels labels;
  for (size_t i = 0; i < term.size(); ++i) {
    if (IsLetter(term[i])) {
      labels += term[i];
    } else if (term.compare(i, 3, "...") == 0) {
      labels += ellipsis.substr(ellipsis.size() - count);
      i += 2;
    } else {
      return std::nullopt;
    }
  }
  return labels;
}

int LetterCount(const std::string& term) {
  return static_cast<int>(std::count_if(term.begin(), term.end(), IsLetter));
}

bool HasEllipsis(const std::string& term) {
  return term.find("...") != std::string::npos;
}

bool Contains(const Labels& labels, char label) {
  return labels.find(label) != Labels::npos;
}

// Returns the labels of the result if the equation has none: those that occur
// once, in alphabetical order.
Labels ImplicitResult(const std::vector<Labels>& terms,
                      const Labels& ellipsis) {
  std::map<char, int> counts;
  for (const Labels& term : terms) {
    for (char label : term) ++counts[label];
  }
  Labels result = ellipsis;
  for (auto [label, count] : counts) {
    if (count == 1 && IsLetter(label)) result += label;
  }
  return result;
}

// Replaces each pair of equal labels, x[… i … i …], by its diagonal: elements
// off the diagonal become 0, and one of the two dims is summed.
Term TakeDiagonals(Term term) {
  for (size_t i = 0; i < term.labels.size(); ++i) {
    for (size_t j = i + 1; j < term.labels.size();) {
      if (term.labels[i] != term.labels[j]) {
        ++j;
        continue;
      }
      Tensor x = term.tensor;
      const int rank = x.rank();
      graph::GraphBuilder& builder = x.builder();
      Tensor row =
          AlongAxis(IotaVector(builder, x.dim(i), DType::kI64), i, rank);
      Tensor column =
          AlongAxis(IotaVector(builder, x.dim(j), DType::kI64), j, rank);
      x = Select(Equal(row, column), x, x.Like(0));
      term.tensor = Reduce(x, "sum", {static_cast<int64_t>(j)}, false);
      term.labels.erase(j, 1);
    }
  }
  return term;
}

// Sums over the dims of a term whose labels neither another term nor the result
// needs. Drops dims of 1 whose label has a larger extent elsewhere, as they
// would only broadcast.
Term DropLabels(Term term, const std::string& needed,
                const std::map<char, Dim>& extents) {
  std::vector<int64_t> summed;
  std::vector<int64_t> squeezed;
  Labels kept;
  for (size_t i = 0; i < term.labels.size(); ++i) {
    const char label = term.labels[i];
    if (term.tensor.dim(static_cast<int>(i)) == Dim(1) &&
        extents.at(label) != Dim(1)) {
      squeezed.push_back(static_cast<int64_t>(i));
    } else if (!Contains(needed, label)) {
      summed.push_back(static_cast<int64_t>(i));
    } else {
      kept += label;
    }
  }
  term.tensor = Reduce(term.tensor, "sum", summed, true);
  squeezed.insert(squeezed.end(), summed.begin(), summed.end());
  std::sort(squeezed.begin(), squeezed.end());
  if (!squeezed.empty()) term.tensor = Squeeze(term.tensor, squeezed);
  term.labels = kept;
  return term;
}

// Returns the tensor of a term with its dims in the order of `labels`. A label
// that the term lacks becomes a dim of 1.
Tensor AlignTo(const Term& term, const Labels& labels) {
  std::vector<int64_t> permutation;
  std::vector<int64_t> missing;
  for (size_t i = 0; i < labels.size(); ++i) {
    const size_t position = term.labels.find(labels[i]);
    if (position == Labels::npos) {
      missing.push_back(static_cast<int64_t>(i));
    } else {
      permutation.push_back(static_cast<int64_t>(position));
    }
  }
  Tensor moved = Transpose(term.tensor, permutation);
  return missing.empty() ? moved : Unsqueeze(moved, missing);
}

// Returns the text "a,b->result" that describes a contraction to the graph. The
// graph accepts only lower-case letters, so labels are renamed in order of
// first use.
std::string Spec(const Labels& a, const Labels& b, const Labels& result) {
  std::map<char, char> names;
  std::string spec;
  for (char c : a + "," + b + "->" + result) {
    if (c == ',' || c == '-' || c == '>') {
      spec += c;
      continue;
    }
    spec +=
        names.emplace(c, static_cast<char>('a' + names.size())).first->second;
  }
  return spec;
}

Term Multiply(const Term& a, const Term& b, const std::string& needed) {
  Labels all = a.labels;
  for (char label : b.labels) {
    if (!Contains(all, label)) all += label;
  }
  Labels result;
  for (char label : all) {
    if (Contains(needed, label)) result += label;
  }
  if (result.size() == all.size())
    return {all, AlignTo(a, all) * AlignTo(b, all)};
  return {result,
          Contract(a.tensor, b.tensor, Spec(a.labels, b.labels, result))};
}

std::string AllLabels(const std::vector<Term>& terms, size_t first,
                      const Labels& result) {
  std::string labels = result;
  for (size_t i = first; i < terms.size(); ++i) labels += terms[i].labels;
  return labels;
}

Status Refused(const std::string& equation, const std::string& reason) {
  return InvalidArgumentError("attribute 'equation' \"" + equation +
                              "\": " + reason);
}

// Parses the equation, and returns the operands as terms with labels, in which
// the ellipsis is expanded.
StatusOr<std::vector<Term>> Parse(const std::string& text,
                                  const std::vector<Tensor>& operands,
                                  Labels& result) {
  Equation equation = Split(text);
  if (equation.terms.size() != operands.size()) {
    return Refused(text, "expected one term per operand, found " +
                             std::to_string(equation.terms.size()) +
                             " terms and " + std::to_string(operands.size()) +
                             " operands");
  }
  int ellipsis_rank = 0;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!operands[i])
      return Refused(text, "input " + std::to_string(i) + " is missing");
    if (HasEllipsis(equation.terms[i])) {
      ellipsis_rank = std::max(
          ellipsis_rank, operands[i].rank() - LetterCount(equation.terms[i]));
    }
  }
  Labels ellipsis;
  for (int i = 0; i < ellipsis_rank; ++i) ellipsis += static_cast<char>(1 + i);
  std::vector<Term> terms;
  for (size_t i = 0; i < operands.size(); ++i) {
    const int covered =
        HasEllipsis(equation.terms[i])
            ? operands[i].rank() - LetterCount(equation.terms[i])
            : 0;
    const auto labels =
        covered < 0 ? std::nullopt
                    : ExpandEllipsis(equation.terms[i], ellipsis, covered);
    if (!labels || static_cast<int>(labels->size()) != operands[i].rank()) {
      return Refused(text, "term " + std::to_string(i) +
                               " does not fit an operand of shape " +
                               graph::ShapeToString(operands[i].shape()));
    }
    equation.terms[i] = *labels;
    terms.push_back({*labels, operands[i]});
  }
  result = ImplicitResult(equation.terms, ellipsis);
  if (!equation.explicit_result) return terms;
  const auto labels = ExpandEllipsis(equation.result, ellipsis, ellipsis_rank);
  if (!labels)
    return Refused(text, "expected letters and an ellipsis in the result");
  result = *labels;
  for (char label : result) {
    if (!Contains(AllLabels(terms, 0, ""), label) ||
        std::count(result.begin(), result.end(), label) > 1) {
      return Refused(text,
                     "expected every label of the result once, and in a term");
    }
  }
  return terms;
}

// Returns the extent of each label: the extent of a dim with this label that is
// not 1; else 1.
std::map<char, Dim> Extents(const std::vector<Term>& terms) {
  std::map<char, Dim> extents;
  for (const Term& term : terms) {
    for (size_t i = 0; i < term.labels.size(); ++i) {
      const Dim& dim = term.tensor.dim(static_cast<int>(i));
      auto [entry, added] = extents.emplace(term.labels[i], dim);
      if (!added && entry->second == Dim(1)) entry->second = dim;
    }
  }
  return extents;
}

// Two open dims with the same label may turn out to be 1 and more than 1 at run
// time. Such dims are broadcast to their common extent.
void RepeatUnits(graph::GraphBuilder& builder, std::vector<Term>& terms) {
  std::map<char, std::vector<Dim>> dims;
  for (const Term& term : terms) {
    for (size_t i = 0; i < term.labels.size(); ++i) {
      const Dim& dim = term.tensor.dim(static_cast<int>(i));
      std::vector<Dim>& known = dims[term.labels[i]];
      if (dim != Dim(1) && std::ranges::count(known, dim) == 0)
        known.push_back(dim);
    }
  }
  for (const auto& [label, known] : dims) {
    bool is_open = false;
    for (const Dim& a : known)
      for (const Dim& b : known) is_open |= builder.LeavesBroadcastOpen(a, b);
    if (!is_open) continue;
    const auto constant = std::ranges::find_if(known, &Dim::is_constant);
    Dim extent = constant == known.end() ? known.front() : *constant;
    for (const Dim& dim : known)
      if (!extent.is_constant() && dim != extent)
        extent = RepeatedExtent(builder, extent, dim);
    for (Term& term : terms) {
      for (size_t i = 0; i < term.labels.size(); ++i) {
        Shape shape = term.tensor.shape();
        if (term.labels[i] != label || shape[i].is_constant()) continue;
        shape[i] = extent;
        term.tensor = Broadcast(term.tensor, shape);
        if (!builder.status().ok()) return;
      }
    }
  }
}

}  // namespace

Tensor Einsum(graph::GraphBuilder& builder, const std::string& equation,
              const std::vector<Tensor>& operands) {
  Labels result;
  StatusOr<std::vector<Term>> parsed = Parse(equation, operands, result);
  if (!parsed.ok()) {
    Fail(builder, parsed.status());
    return {&builder, nullptr};
  }
  std::vector<Term>& terms = *parsed;
  RepeatUnits(builder, terms);
  if (!builder.status().ok()) return Tensor(&builder, nullptr);
  const std::map<char, Dim> extents = Extents(terms);
  if (extents.size() > 26) {
    FailUnsupported(builder,
                    "attribute 'equation': expected at most 26 labels");
    return Tensor(&builder, nullptr);
  }
  for (size_t i = 0; i < terms.size(); ++i) {
    if (!builder.status().ok()) return Tensor(&builder, nullptr);
    Labels needed = result;
    for (size_t j = 0; j < terms.size(); ++j) {
      if (j != i) needed += terms[j].labels;
    }
    terms[i] = DropLabels(TakeDiagonals(terms[i]), needed, extents);
  }
  Term product = terms.front();
  for (size_t i = 1; i < terms.size(); ++i) {
    if (!builder.status().ok()) return Tensor(&builder, nullptr);
    const std::string needed = AllLabels(terms, i + 1, result);
    product = DropLabels(Multiply(product, terms[i], needed), needed, extents);
  }
  return builder.status().ok() ? AlignTo(product, result)
                               : Tensor(&builder, nullptr);
}

}  // namespace ember::ops
