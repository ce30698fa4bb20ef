#include "compiler/passes/sink_transposes.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>

#include "compiler/graph/operators.h"
#include "compiler/graph/operators/contract_spec.h"
#include "compiler/passes/element_order.h"
#include "compiler/passes/permutation.h"
#include "compiler/passes/queries.h"
#include "compiler/passes/rewriter.h"

namespace ember::compiler {
namespace {

using graph::Attributes;
using graph::ContractSpec;
using graph::Dim;
using graph::Graph;
using graph::Operation;
using graph::OperatorTrait;
using graph::Shape;
using graph::Value;

// A part of a reshape (a "run"): the neighbouring dims [from_begin, from_end)
// of the operand become the dims [to_begin, to_end) of the result, with the
// same elements.
struct Run {
  size_t from_begin, from_end, to_begin, to_end;
};

// Moves transposes from operands to results. Each function that rewrites an
// operation adds new operations before it and returns the value that replaces
// its result, or null if the rule does not apply.
class Sinker {
 public:
  explicit Sinker(Graph& graph) : graph_(graph) {}

  StatusOr<bool> RunOnce() {
    bool changed = false;
    for (Operation* operation : graph_.Operations()) {
      rewriter_.StartAt(operation);
      EMBER_ASSIGN_OR_RETURN(Value * replacement, Rewrite(*operation));
      if (replacement == nullptr || !IsProved(*operation, replacement))
        continue;
      rewriter_.Replace(operation, replacement);
      changed = true;
    }
    return changed;
  }

 private:
  // True if the replacement is proved to hold the same elements as the
  // operation's result. The proof is required for rules that move elements by
  // other movements, because they rely on dims of extent 1 and on runs of dims.
  // The other rules only permute whole dims.
  static bool IsProved(const Operation& operation, const Value* replacement) {
    const bool moves = operation.name() == "transpose" ||
                       operation.name() == "reshape" ||
                       operation.record().trait == OperatorTrait::kElementwise;
    return !moves || HoldSameElements(operation.result(), replacement);
  }

  static const Permutation* PermutationOf(const Value* value) {
    const Operation* producer = value->producer();
    if (producer == nullptr || producer->name() != "transpose") return nullptr;
    return &producer->attributes().Get<Permutation>("permutation");
  }

  StatusOr<Value*> Rewrite(const Operation& operation) {
    if (operation.results().size() != 1) return nullptr;
    const std::string_view name = operation.name();
    if (name == "transpose") return RewriteTranspose(operation);
    if (name == "contract") return RewriteContract(operation);
    if (operation.record().trait == OperatorTrait::kElementwise)
      return RewriteElementwise(operation);
    if (operation.operand_count() == 0) return nullptr;
    const Permutation* permutation = PermutationOf(operation.operand(0));
    if (permutation == nullptr) return nullptr;
    if (name == "reduce") return RewriteReduce(operation, *permutation);
    if (name == "reduce_window")
      return RewriteReduceWindow(operation, *permutation);
    if (name == "slice") return RewriteSlice(operation, *permutation);
    if (name == "pad") return RewritePad(operation, *permutation);
    if (name == "assume") return RewriteAssume(operation, *permutation);
    if (name == "concat") return RewriteConcat(operation, *permutation);
    if (name == "reshape") return RewriteReshape(operation, *permutation);
    if (name == "gather") return RewriteGather(operation, *permutation);
    return nullptr;
  }

  Value* Source(const Operation& operation, int operand = 0) {
    return operation.operand(operand)->producer()->operand(0);
  }

  // Rewrites a transpose of a transpose as one transpose, and a transpose that
  // moves only dims of extent 1 as a reshape.
  StatusOr<Value*> RewriteTranspose(const Operation& operation) {
    const auto& permutation =
        operation.attributes().Get<Permutation>("permutation");
    if (IsIdentity(permutation)) return operation.operand(0);
    if (const Permutation* inner = PermutationOf(operation.operand(0))) {
      return rewriter_.Transpose(Source(operation),
                                 Compose(*inner, permutation));
    }
    if (MovesOnlyUnitDims(operation.operand(0)->shape(), permutation)) {
      return rewriter_.Reshape(operation.operand(0),
                               operation.result()->shape());
    }
    return nullptr;
  }

  static bool MovesOnlyUnitDims(const Shape& shape,
                                const Permutation& permutation) {
    int64_t last = -1;
    for (int64_t source : permutation) {
      if (shape[source] == Dim(1)) continue;
      if (source < last) return false;
      last = source;
    }
    return true;
  }

  // Rewrites an elementwise operation f(T(a), T(b), constant) as T(f(a, b,
  // T⁻¹(constant))), where T is a transpose.
  StatusOr<Value*> RewriteElementwise(const Operation& operation) {
    const Permutation* permutation = nullptr;
    const int rank = operation.result()->rank();
    for (const Value* operand : operation.operands()) {
      const Permutation* candidate = PermutationOf(operand);
      if (candidate == nullptr || static_cast<int>(candidate->size()) != rank)
        continue;
      if (permutation != nullptr && *permutation != *candidate) return nullptr;
      permutation = candidate;
    }
    if (permutation == nullptr) return nullptr;
    const Permutation chosen = *permutation;
    const Permutation inverse = Inverse(chosen);
    for (const Value* operand : operation.operands()) {
      if (!CanTransposeFreely(*operand, inverse)) return nullptr;
    }
    std::vector<Value*> operands;
    for (Value* operand : operation.operands()) {
      EMBER_ASSIGN_OR_RETURN(Value * moved, TransposeFreely(operand, inverse));
      operands.push_back(moved);
    }
    EMBER_ASSIGN_OR_RETURN(Value * result,
                           rewriter_.MakeLike(operation, std::move(operands),
                                              operation.attributes()));
    return rewriter_.Transpose(result, chosen);
  }

  // Returns the shape with as many dims of extent 1 in front that it has `rank`
  // dims.
  static Shape Extended(const Shape& shape, size_t rank) {
    Shape extended(rank - shape.size(), Dim(1));
    extended.insert(extended.end(), shape.begin(), shape.end());
    return extended;
  }

  static bool CanTransposeFreely(const Value& value,
                                 const Permutation& permutation) {
    if (PermutationOf(&value) != nullptr &&
        value.rank() == static_cast<int>(permutation.size())) {
      // The value is a transpose. Its permutation need not be compared, because
      // the caller has checked that all operands have the same one.
      return true;
    }
    const Operation* producer = value.producer();
    if (producer != nullptr && producer->name() == "constant") return true;
    return MovesOnlyUnitDims(Extended(value.shape(), permutation.size()),
                             permutation);
  }

  StatusOr<Value*> TransposeFreely(Value* value,
                                   const Permutation& permutation) {
    if (value->rank() == 0) return value;
    const Permutation* inner = PermutationOf(value);
    if (inner != nullptr && inner->size() == permutation.size()) {
      return value->producer()->operand(0);
    }
    const Shape extended = Extended(value->shape(), permutation.size());
    if (MovesOnlyUnitDims(extended, permutation)) {
      const Shape moved = Permute(extended, permutation);
      if (moved == value->shape()) return value;
      return rewriter_.Reshape(value, moved);
    }
    if (extended != value->shape()) {
      EMBER_ASSIGN_OR_RETURN(value, rewriter_.Reshape(value, extended));
    }
    return rewriter_.Transpose(value, permutation);
  }

  // Rewrites a contraction of transposed operands as the same contraction with
  // permuted labels.
  StatusOr<Value*> RewriteContract(const Operation& operation) {
    if (PermutationOf(operation.operand(0)) == nullptr &&
        PermutationOf(operation.operand(1)) == nullptr) {
      return nullptr;
    }
    ContractSpec spec = SpecOf(operation);
    std::string* const labels[2] = {&spec.a, &spec.b};
    std::vector<Value*> operands = OperandsOf(operation);
    for (int i = 0; i < 2; ++i) {
      const Permutation* permutation = PermutationOf(operands[i]);
      if (permutation == nullptr) continue;
      std::string moved(labels[i]->size(), ' ');
      for (size_t d = 0; d < moved.size(); ++d)
        moved[(*permutation)[d]] = (*labels[i])[d];
      *labels[i] = moved;
      operands[i] = operands[i]->producer()->operand(0);
    }
    Attributes attributes = operation.attributes();
    attributes.Set("spec", spec.ToString());
    return rewriter_.MakeLike(operation, std::move(operands),
                              std::move(attributes));
  }

  StatusOr<Value*> RewriteReduce(const Operation& operation,
                                 const Permutation& permutation) {
    std::vector<int64_t> axes;
    for (int64_t axis :
         operation.attributes().Get<std::vector<int64_t>>("axes")) {
      axes.push_back(permutation[axis]);
    }
    std::sort(axes.begin(), axes.end());
    Attributes attributes = operation.attributes();
    attributes.Set("axes", axes);
    EMBER_ASSIGN_OR_RETURN(Value * result,
                           rewriter_.MakeLike(operation, {Source(operation)},
                                              std::move(attributes)));
    // The transpose to apply after the reduction. `rest` has an entry for each
    // dim that is kept, in the order in which the original result has them: the
    // number of that dim in the new result.
    Permutation rest;
    for (int64_t source : permutation) {
      if (std::find(axes.begin(), axes.end(), source) != axes.end()) continue;
      rest.push_back(
          source - std::count_if(axes.begin(), axes.end(),
                                 [&](int64_t axis) { return axis < source; }));
    }
    return rewriter_.Transpose(result, rest);
  }

  StatusOr<Value*> RewriteReduceWindow(const Operation& operation,
                                       const Permutation& permutation) {
    const Permutation inverse = Inverse(permutation);
    Attributes attributes = operation.attributes();
    for (std::string_view name : {"window", "strides", "dilations"}) {
      attributes.Set(
          name, Permute(attributes.Get<std::vector<int64_t>>(name), inverse));
    }
    for (std::string_view name : {"low", "high"}) {
      attributes.Set(name, Permute(attributes.Get<Shape>(name), inverse));
    }
    EMBER_ASSIGN_OR_RETURN(Value * result,
                           rewriter_.MakeLike(operation, {Source(operation)},
                                              std::move(attributes)));
    return rewriter_.Transpose(result, permutation);
  }

  StatusOr<Value*> RewriteSlice(const Operation& operation,
                                const Permutation& permutation) {
    const Permutation inverse = Inverse(permutation);
    Attributes attributes = operation.attributes();
    attributes.Set("starts", Permute(attributes.Get<Shape>("starts"), inverse));
    attributes.Set(
        "steps",
        Permute(attributes.Get<std::vector<int64_t>>("steps"), inverse));
    attributes.Set("sizes", Permute(attributes.Get<Shape>("sizes"), inverse));
    EMBER_ASSIGN_OR_RETURN(Value * result,
                           rewriter_.MakeLike(operation, {Source(operation)},
                                              std::move(attributes)));
    return rewriter_.Transpose(result, permutation);
  }

  StatusOr<Value*> RewritePad(const Operation& operation,
                              const Permutation& permutation) {
    const Permutation inverse = Inverse(permutation);
    Attributes attributes = operation.attributes();
    attributes.Set("low", Permute(attributes.Get<Shape>("low"), inverse));
    attributes.Set("high", Permute(attributes.Get<Shape>("high"), inverse));
    std::vector<Value*> operands = OperandsOf(operation);
    operands[0] = Source(operation);
    EMBER_ASSIGN_OR_RETURN(Value * result,
                           rewriter_.MakeLike(operation, std::move(operands),
                                              std::move(attributes)));
    return rewriter_.Transpose(result, permutation);
  }

  StatusOr<Value*> RewriteAssume(const Operation& operation,
                                 const Permutation& permutation) {
    Attributes attributes = operation.attributes();
    attributes.Set(
        "shape", Permute(attributes.Get<Shape>("shape"), Inverse(permutation)));
    EMBER_ASSIGN_OR_RETURN(Value * result,
                           rewriter_.MakeLike(operation, {Source(operation)},
                                              std::move(attributes)));
    return rewriter_.Transpose(result, permutation);
  }

  StatusOr<Value*> RewriteConcat(const Operation& operation,
                                 const Permutation& permutation) {
    const Permutation inverse = Inverse(permutation);
    for (const Value* operand : operation.operands()) {
      const Permutation* other = PermutationOf(operand);
      if (other != nullptr ? *other != permutation
                           : !CanTransposeFreely(*operand, inverse)) {
        return nullptr;
      }
    }
    std::vector<Value*> operands;
    for (Value* operand : operation.operands()) {
      EMBER_ASSIGN_OR_RETURN(Value * moved, TransposeFreely(operand, inverse));
      operands.push_back(moved);
    }
    Attributes attributes = operation.attributes();
    attributes.Set("axis", permutation[attributes.Get<int64_t>("axis")]);
    EMBER_ASSIGN_OR_RETURN(Value * result,
                           rewriter_.MakeLike(operation, std::move(operands),
                                              std::move(attributes)));
    return rewriter_.Transpose(result, permutation);
  }

  // Rewrites a gather from a transposed value. It applies to indices that are a
  // scalar or a vector.
  StatusOr<Value*> RewriteGather(const Operation& operation,
                                 const Permutation& permutation) {
    if (operation.operand(1)->rank() > 1) return nullptr;
    const int64_t axis =
        permutation[operation.attributes().Get<int64_t>("axis")];
    Attributes attributes = operation.attributes();
    attributes.Set("axis", axis);
    const bool dropped = operation.operand(1)->rank() == 0;
    EMBER_ASSIGN_OR_RETURN(
        Value * result,
        rewriter_.MakeLike(operation, {Source(operation), operation.operand(1)},
                           std::move(attributes)));
    if (!dropped) return rewriter_.Transpose(result, permutation);
    Permutation rest;
    for (int64_t source : permutation) {
      if (source != axis) rest.push_back(source - (source > axis ? 1 : 0));
    }
    return rewriter_.Transpose(result, rest);
  }

  // Rewrites reshape(T(x)) where the reshape splits and merges only runs of
  // dims that lie together, in the same order, in x: it reshapes those runs in
  // x, then transposes the runs.
  StatusOr<Value*> RewriteReshape(const Operation& operation,
                                  const Permutation& permutation) {
    const Shape& from = operation.operand(0)->shape();
    const Shape& to = operation.result()->shape();
    std::vector<Run> runs = MatchRuns(from, to);
    if (runs.empty()) return nullptr;
    const Shape source_shape = Permute(from, Inverse(permutation));
    bool in_order = true;
    for (const Run& run : runs) {
      if (!LiesTogether(run, from, source_shape, permutation)) return nullptr;
      in_order &= IsInOrder(run, from, permutation);
    }
    // If the dims of a run are neighbours in x but in another order (as in a
    // channel shuffle), a transpose of x first puts them into order. The rest
    // of the permutation then moves past the reshape.
    if (!in_order) {
      const Permutation inner = OrderRuns(runs, from, permutation);
      const Permutation rest = Compose(Inverse(inner), permutation);
      // `rest` is what remains of the permutation: it moves whole runs, so it
      // can move past the reshape. If nothing remains, the rewrite gains
      // nothing.
      if (IsIdentity(rest)) return nullptr;
      EMBER_ASSIGN_OR_RETURN(Value * ordered,
                             rewriter_.Transpose(Source(operation), inner));
      return SinkThroughReshape(operation, ordered, rest, runs);
    }
    return SinkThroughReshape(operation, Source(operation), permutation, runs);
  }

  StatusOr<Value*> SinkThroughReshape(const Operation& operation, Value* source,
                                      const Permutation& permutation,
                                      const std::vector<Run>& runs) {
    const Shape& from = operation.operand(0)->shape();
    const Shape& to = operation.result()->shape();
    // The numbers of the runs in the order in which their dims occur in the
    // operand before the transpose.
    std::vector<size_t> order(runs.size());
    for (size_t r = 0; r < order.size(); ++r) order[r] = r;
    const auto first_source = [&](size_t run) {
      for (size_t d = runs[run].from_begin; d < runs[run].from_end; ++d) {
        if (from[d] != Dim(1)) return permutation[d];
      }
      return permutation[runs[run].from_begin];
    };
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return first_source(a) < first_source(b);
    });
    Shape shape;
    // For each run, the number of its first dim in the value that is reshaped
    // before the new transpose.
    std::vector<int64_t> position(runs.size());
    for (size_t r : order) {
      position[r] = static_cast<int64_t>(shape.size());
      shape.insert(shape.end(), to.begin() + runs[r].to_begin,
                   to.begin() + runs[r].to_end);
    }
    Permutation result_permutation;
    for (size_t r = 0; r < runs.size(); ++r) {
      for (size_t d = runs[r].to_begin; d < runs[r].to_end; ++d) {
        result_permutation.push_back(
            position[r] + static_cast<int64_t>(d - runs[r].to_begin));
      }
    }
    EMBER_ASSIGN_OR_RETURN(Value * reshaped, rewriter_.Reshape(source, shape));
    return rewriter_.Transpose(reshaped, result_permutation);
  }

  // Splits two shapes of equal element count into the smallest runs of dims
  // that correspond to each other. Returns an empty list if symbolic dims hide
  // the correspondence.
  static std::vector<Run> MatchRuns(const Shape& from, const Shape& to) {
    std::vector<Run> runs;
    size_t i = 0, j = 0;
    while (i < from.size() && j < to.size()) {
      Run run{i, i + 1, j, j + 1};
      Dim left = from[i], right = to[j];
      while (left != right) {
        if (!left.is_constant() || !right.is_constant()) return {};
        if (left.constant() < right.constant()) {
          if (run.from_end == from.size()) return {};
          left = left * from[run.from_end++];
        } else {
          if (run.to_end == to.size()) return {};
          right = right * to[run.to_end++];
        }
      }
      runs.push_back(run);
      i = run.from_end;
      j = run.to_end;
    }
    if (runs.empty()) return {};
    // Dims after the last run must all have extent 1; otherwise the shapes do
    // not correspond.
    for (; i < from.size(); ++i) {
      if (from[i] != Dim(1)) return {};
    }
    for (; j < to.size(); ++j) {
      if (to[j] != Dim(1)) return {};
    }
    runs.back().from_end = from.size();
    runs.back().to_end = to.size();
    return runs;
  }

  // True if the dims of the run, apart from those of extent 1, are neighbours
  // in the operand of the transpose, in any order.
  static bool LiesTogether(const Run& run, const Shape& from,
                           const Shape& source_shape,
                           const Permutation& permutation) {
    int64_t first = -1, last = -1, count = 0;
    for (size_t d = run.from_begin; d < run.from_end; ++d) {
      if (from[d] == Dim(1)) continue;
      const int64_t source = permutation[d];
      first = count == 0 ? source : std::min(first, source);
      last = std::max(last, source);
      ++count;
    }
    int64_t between = 0;
    for (int64_t source = first; count > 0 && source <= last; ++source) {
      between += source_shape[source] != Dim(1);
    }
    return between == count;
  }

  static bool IsInOrder(const Run& run, const Shape& from,
                        const Permutation& permutation) {
    int64_t last = -1;
    for (size_t d = run.from_begin; d < run.from_end; ++d) {
      if (from[d] == Dim(1)) continue;
      if (permutation[d] < last) return false;
      last = permutation[d];
    }
    return true;
  }

  // Returns a permutation for the transpose's operand. It sorts the dims inside
  // each run into the order that the reshape needs and does not move whole
  // runs. Dims of extent 1 may be anywhere, so they are not moved.
  static Permutation OrderRuns(const std::vector<Run>& runs, const Shape& from,
                               const Permutation& permutation) {
    Permutation order(permutation.size());
    for (size_t d = 0; d < order.size(); ++d)
      order[d] = static_cast<int64_t>(d);
    for (const Run& run : runs) {
      std::vector<int64_t> wanted;
      for (size_t d = run.from_begin; d < run.from_end; ++d) {
        if (from[d] != Dim(1)) wanted.push_back(permutation[d]);
      }
      std::vector<int64_t> places = wanted;
      std::sort(places.begin(), places.end());
      for (size_t i = 0; i < places.size(); ++i) order[places[i]] = wanted[i];
    }
    return order;
  }

  Graph& graph_;
  Rewriter rewriter_{graph_};
};

}  // namespace

Status SinkTransposes(Graph& graph) {
  // Largest number of rounds. Each rewrite moves a transpose past an operation,
  // so the number of rounds is bounded by the longest path; this limit only
  // guards against a rule that undoes another.
  const size_t limit = graph.operations().size() + 16;
  for (size_t round = 0; round < limit; ++round) {
    EMBER_ASSIGN_OR_RETURN(bool changed, Sinker(graph).RunOnce());
    if (!changed) return OkStatus();
  }
  return OkStatus();
}

}  // namespace ember::compiler
