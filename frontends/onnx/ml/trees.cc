// TreeEnsemble, TreeEnsembleClassifier, TreeEnsembleRegressor.
#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "frontends/onnx/ml/attributes.h"
#include "frontends/onnx/ml/families.h"
#include "frontends/onnx/ml/scores.h"
#include "frontends/onnx/ml/tree_table.h"

namespace ember::onnx {

using ops::Forest;

namespace {

// Returns operand 0 as rows of features, in the type in which they are compared
// with thresholds: f64 if `wide`, else that of the scores.
Tensor ReadFeatures(NodeContext& c, bool wide) {
  Tensor x = ReadRows(c);
  if (!x) return x;
  return Cast(x, wide ? DType::kF64 : ScoreType(x));
}

void ImportTreeEnsemble(NodeContext& c) {
  const TreeTable table = ReadTreeEnsemble(c);
  const int64_t aggregation = c.Integer("aggregate_function", Forest::kSum);
  const int64_t transform = c.Integer("post_transform", 0);
  if (aggregation < Forest::kAverage || aggregation > Forest::kMaximum) {
    return c.FailInvalid(
        "attribute 'aggregate_function': expected 0 to 3, "
        "found " +
        std::to_string(aggregation));
  }
  if (transform < 0 || transform > static_cast<int>(Transform::kProbit)) {
    return c.FailInvalid("attribute 'post_transform': expected 0 to 4, found " +
                         std::to_string(transform));
  }
  if (!c.ok()) return;
  Tensor x = ReadFeatures(c, table.wide);
  if (!x) return;
  const Forest forest(c.builder(), table, x, "attribute 'nodes_featureids'");
  if (!c.ok()) return;
  Tensor scores =
      forest.Aggregate(static_cast<Forest::Aggregation>(aggregation));
  scores = PostTransform(scores, static_cast<Transform>(transform));
  c.SetOutput(0, Cast(scores, c.Input(0).dtype()));
}

void ImportTreeEnsembleRegressor(NodeContext& c) {
  constexpr std::string_view kNames[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  const std::string name = c.String("aggregate_function", "SUM");
  const auto* found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames)) {
    return c.FailInvalid(
        "attribute 'aggregate_function': expected AVERAGE, SUM, MIN or MAX, "
        "found '" +
        name + "'");
  }
  const auto aggregation =
      static_cast<Forest::Aggregation>(found - std::begin(kNames));
  const int64_t targets = ReadTargets(c);
  const Transform transform = ReadTransform(c);
  const Numbers base = ReadNumbers(c, "base_values");
  const TreeTable table = ReadTreeNodes(c, "target", targets);
  if (!c.ok() ||
      (!base.empty() && !CheckCount(c, "base_values", base.size(), targets)))
    return;
  Tensor x = ReadFeatures(c, table.wide);
  if (!x) return;
  const Forest forest(c.builder(), table, x, "attribute 'nodes_featureids'");
  if (!c.ok()) return;
  Tensor scores = forest.Aggregate(aggregation);
  if (!base.empty())
    scores = scores + NumberVector(c, base.values, scores.dtype());
  c.SetOutput(0, Cast(PostTransform(scores, transform), DType::kF32));
}

// --- classifier ---

Tensor Column(Tensor x, int64_t column) {
  return SliceAxis(x, 1, Dim(column), Dim(1));
}

struct Classified {
  Tensor best;    // Index of the winning label of each row, i64 [N].
  Tensor scores;  // [N, E], transformed
};

class TreeClassifier {
 public:
  TreeClassifier(NodeContext& c, const TreeTable& table, const Forest& forest,
                 const Numbers& base, Transform transform)
      : c_(c),
        table_(table),
        forest_(forest),
        base_(base.values),
        transform_(transform),
        sums_(forest.Aggregate(Forest::kSum)) {
    for (const auto& leaf : table.leaves) {
      for (const TreeTable::Vote& vote : leaf) {
        voted_.insert(vote.target);
        all_positive_ = all_positive_ && vote.weight >= 0;
      }
    }
  }

  Classified Run() const {
    if (table_.targets > 2) return RunMany();
    return table_.targets == 2 ? RunTwo() : RunOne();
  }

 private:
  // Classifies among more than two classes: the class with the largest score
  // wins. If there are no base values and some vote is negative, only classes
  // that have votes can win.
  Classified RunMany() const {
    Tensor scores = sums_;
    if (!base_.empty()) scores = scores + NumberVector(c_, base_, Type());
    Tensor ranked = scores;
    if (base_.empty() && !all_positive_) ranked = OnlyVotedFor(scores);
    Tensor best = Apply("arg_reduce", {ranked},
                        {{"mode", std::string("maximum")},
                         {"axis", int64_t{1}},
                         {"last", int64_t{0}}});
    return {best, PostTransform(scores, transform_)};
  }

  Tensor OnlyVotedFor(Tensor scores) const {
    std::vector<Tensor> columns;
    bool all = true;
    for (int64_t i = 0; i < table_.targets; ++i) {
      Tensor column = Column(scores, i);
      if (!forest_.AlwaysVotedFor(i)) {
        all = false;
        column = Select(forest_.IsVotedFor(i), column,
                        column.Like(-std::numeric_limits<double>::infinity()));
      }
      columns.push_back(column);
    }
    return all ? scores : Concat(columns, 1);
  }

  // Classifies if there is one class: its label is the result for every row.
  Classified RunOne() const {
    Tensor score = sums_;
    if (!base_.empty()) score = score + base_.front();
    return {First(), PostTransform(score, transform_)};
  }

  // Classifies among two classes by one score, which is compared with 0.5 if at
  // most one class has votes and no vote is negative, else with 0.
  Classified RunTwo() const;

  Tensor First() const {
    Tensor zero = c_.Scalar(0, DType::kI64);
    return Broadcast(Unsqueeze(zero, {0}), {sums_.dim(0)});
  }
  DType Type() const { return sums_.dtype(); }

  NodeContext& c_;
  const TreeTable& table_;
  const Forest& forest_;
  const std::vector<double>& base_;
  const Transform transform_;
  const Tensor sums_;
  std::set<int64_t> voted_;
  bool all_positive_ = true;
};

// In cases that the specification leaves open, the result is that of ONNX
// Runtime. The second class wins by its own score. If only the first class has
// votes, their sum is the score of the second class; boosted trees are exported
// in this form.
Classified TreeClassifier::RunTwo() const {
  const bool only_first = voted_.count(1) == 0;
  const bool one_voted = voted_.size() <= 1;
  const double threshold = one_voted && all_positive_ ? 0.5 : 0;
  const auto decide = [&](Tensor score) {
    return Squeeze(Cast(Less(threshold, score), DType::kI64), {1});
  };
  Tensor first = Column(sums_, 0);
  Tensor second = Column(sums_, 1);
  if (base_.size() == 1 && (only_first || !one_voted)) first = first + base_[0];
  if (only_first && base_.size() < 2) {
    const SecondClass rule =
        all_positive_ ? SecondClass::kComplement : SecondClass::kNegation;
    return {decide(first), AddSecondClass(first, rule, transform_)};
  }
  if (base_.size() == 2) {
    first = first + base_[0];
    second = second + base_[1];
  }
  return {decide(second),
          PostTransform(Concat({first, second}, 1), transform_)};
}

void ImportTreeEnsembleClassifier(NodeContext& c) {
  const Labels labels =
      ReadLabels(c, "classlabels_strings", "classlabels_int64s");
  const Transform transform = ReadTransform(c);
  const Numbers base = ReadNumbers(c, "base_values");
  if (!c.ok()) return;
  const TreeTable table = ReadTreeNodes(c, "class", labels.size());
  if (!c.ok()) return;
  const bool one_for_two = labels.size() == 2 && base.size() == 1;
  if (!base.empty() && !one_for_two &&
      !CheckCount(c, "base_values", base.size(), labels.size()))
    return;
  Tensor x = ReadFeatures(c, table.wide);
  if (!x) return;
  const Forest forest(c.builder(), table, x, "attribute 'nodes_featureids'");
  if (!c.ok()) return;
  const Classified result =
      TreeClassifier(c, table, forest, base, transform).Run();
  c.SetOutput(0, Gather(labels.Vector(c), result.best, 0)
                     .Marked(labels.Vector(c).carried_type()));
  c.SetOutput(1, Cast(result.scores, DType::kF32));
}

constexpr OperatorRow kRows[] = {
    {"TreeEnsemble", 0, 1, 1, ImportTreeEnsemble, kMlDomain},
    {"TreeEnsembleClassifier", 0, 1, 1, ImportTreeEnsembleClassifier,
     kMlDomain},
    {"TreeEnsembleRegressor", 0, 1, 1, ImportTreeEnsembleRegressor, kMlDomain},
};

}  // namespace

std::span<const OperatorRow> MlTreeOperators() { return kRows; }

}  // namespace ember::onnx
