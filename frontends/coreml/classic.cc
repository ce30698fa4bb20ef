// Imports models of tables: trees, linear models, and preparation of features.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/one_line.h"
#include "frontends/coreml/labels.h"
#include "frontends/coreml/tables.h"
#include "frontends/ops/forest.h"
#include "frontends/ops/functions.h"

namespace ember::coreml {
namespace {

using ops::Concat;
using ops::Dim;
using ops::Forest;
using ops::Shape;
using ops::Tensor;
using ops::TreeTable;

// Largest number of scores or categories of a model. It is above that of any
// sensible model.
constexpr int64_t kMaxTargets = 1 << 20;

// ---- trees

// Numbers of the fields of TreeEnsembleParameters and of its nodes.
constexpr uint64_t kNodes = 1, kDimensions = 2, kBase = 3;
constexpr uint64_t kTree = 1, kNode = 2, kBehavior = 3, kFeature = 10,
                   kValue = 11, kTrueChild = 12, kFalseChild = 13,
                   kMissingIsTrue = 14, kVotes = 20;
constexpr int64_t kLeaf = 6;

// True if a tree node with this behavior takes its true branch when the
// comparison of the feature with the node's value has this outcome (below,
// equal, above, NaN).
bool Holds(int64_t behavior, TreeTable::Outcome outcome) {
  switch (behavior) {
    case 0:
      return outcome != TreeTable::kAbove;
    case 1:
      return outcome == TreeTable::kBelow;
    case 2:
      return outcome != TreeTable::kBelow;
    case 3:
      return outcome == TreeTable::kAbove;
    case 4:
      return outcome == TreeTable::kEqual;
    default:
      return outcome != TreeTable::kEqual;
  }
}

StatusOr<TreeTable> ReadTrees(const ProtobufView& ensemble) {
  TreeTable table;
  table.wide = true;
  table.targets = ensemble.Integer(kDimensions, 1);
  if (table.targets < 1 || table.targets > kMaxTargets) {
    return DataLossError("numPredictionDimensions: expected a value in [1, " +
                         std::to_string(kMaxTargets) + "], found " +
                         std::to_string(table.targets));
  }
  using Id = std::pair<int64_t, int64_t>;
  const std::vector<ProtobufView> nodes = ensemble.Messages(kNodes);
  // Maps (tree, node) to the node's number in the tree table, which has all
  // branches of all trees first, then all leaves.
  std::map<Id, int64_t> numbers;
  std::vector<const ProtobufView*> branches, leaves;
  for (const ProtobufView& node : nodes)
    (node.Integer(kBehavior) == kLeaf ? leaves : branches).push_back(&node);
  const auto id_of = [](const ProtobufView& node) {
    return Id{node.Integer(kTree), node.Integer(kNode)};
  };
  const auto text_of = [](const Id& id) {
    return "node " + std::to_string(id.second) + " of tree " +
           std::to_string(id.first);
  };
  for (const auto* list : {&branches, &leaves}) {
    for (const ProtobufView* node : *list) {
      const Id id = id_of(*node);
      if (!numbers.emplace(id, static_cast<int64_t>(numbers.size())).second)
        return DataLossError("expected nodes of different numbers, found " +
                             text_of(id) + " twice");
    }
  }
  std::vector<bool> is_child(numbers.size(), false);
  for (const ProtobufView* node : branches) {
    const int64_t behavior = node->Integer(kBehavior);
    if (behavior < 0 || behavior > kLeaf) {
      return DataLossError(text_of(id_of(*node)) +
                           ": expected a behavior below 6, found " +
                           std::to_string(behavior));
    }
    int64_t children[2];
    for (int side = 0; side < 2; ++side) {
      const Id id{node->Integer(kTree),
                  node->Integer(side == 0 ? kFalseChild : kTrueChild)};
      const auto found = numbers.find(id);
      if (found == numbers.end()) {
        return DataLossError(
            text_of(id_of(*node)) +
            ": expected its child to be there: " + text_of(id));
      }
      children[side] = found->second;
      is_child[static_cast<size_t>(found->second)] = true;
    }
    TreeTable::Branch branch;
    branch.feature = node->Integer(kFeature);
    branch.threshold = node->Double(kValue);
    for (const TreeTable::Outcome outcome :
         {TreeTable::kBelow, TreeTable::kEqual, TreeTable::kAbove})
      branch.children[outcome] = children[Holds(behavior, outcome) ? 1 : 0];
    branch.children[TreeTable::kNan] =
        children[node->Flag(kMissingIsTrue) ? 1 : 0];
    table.branches.push_back(branch);
  }
  for (const ProtobufView* node : leaves) {
    std::vector<TreeTable::Vote>& votes = table.leaves.emplace_back();
    for (const ProtobufView& vote : node->Messages(kVotes)) {
      const int64_t target = vote.Integer(1);
      if (target < 0 || target >= table.targets) {
        return DataLossError(text_of(id_of(*node)) +
                             ": expected a vote for one of " +
                             std::to_string(table.targets) +
                             " dimensions, found " + std::to_string(target));
      }
      votes.push_back({target, vote.Double(2)});
    }
  }
  for (const auto& [id, number] : numbers)
    if (!is_child[static_cast<size_t>(number)]) table.roots.push_back(number);
  return table;
}

// Returns the scores of a tree ensemble: the votes of all trees plus the base
// values, [N, dimensions].
StatusOr<Tensor> TreeScores(ModelContext& context, const ProtobufView& model,
                            uint64_t kind, const Features& features) {
  const ProtobufView ensemble = model.Message(kind).Message(1);
  EMBER_ASSIGN_OR_RETURN(const TreeTable table, ReadTrees(ensemble));
  EMBER_ASSIGN_OR_RETURN(const Tensor rows, RowsOf(context, model, features));
  EMBER_RETURN_IF_ERROR(context.builder.status());
  const Forest forest(context.builder, table, rows, "branchFeatureIndex");
  Tensor scores = forest.Aggregate(Forest::kSum);
  const std::vector<double> base = ensemble.Doubles(kBase);
  if (!base.empty()) {
    if (static_cast<int64_t>(base.size()) != table.targets) {
      return DataLossError("basePredictionValue: expected " +
                           std::to_string(table.targets) + " values, found " +
                           std::to_string(base.size()));
    }
    scores = scores + Vector(context.builder, base);
  }
  EMBER_RETURN_IF_ERROR(context.builder.status());
  return scores;
}

// Applies a transform: none, softmax, logistic, or softmax with an added class
// of score 0.
StatusOr<Tensor> Transformed(Tensor scores, int64_t transform) {
  switch (transform) {
    case 0:
      return scores;
    case 1:
      return Softmax(scores, 1);
    case 2:
      return ops::Sigmoid(scores);
    case 3: {
      const Tensor zero = Broadcast(scores.Like(0), {scores.dim(0), Dim(1)});
      return Softmax(Concat({zero, scores}, 1), 1);
    }
    default:
      return UnimplementedError(
          "postEvaluationTransform: expected 0 to 3, "
          "found " +
          std::to_string(transform));
  }
}

Status ImportTreeRegressor(ModelContext& context, const ProtobufView& model,
                           Features& features) {
  EMBER_ASSIGN_OR_RETURN(Tensor scores,
                         TreeScores(context, model, kTreeRegressor, features));
  EMBER_ASSIGN_OR_RETURN(
      scores, Transformed(scores, model.Message(kTreeRegressor).Integer(2)));
  return SetRows(model, scores, features);
}

Status ImportTreeClassifier(ModelContext& context, const ProtobufView& model,
                            Features& features) {
  const ProtobufView classifier = model.Message(kTreeClassifier);
  EMBER_ASSIGN_OR_RETURN(Tensor scores,
                         TreeScores(context, model, kTreeClassifier, features));
  EMBER_ASSIGN_OR_RETURN(scores, Transformed(scores, classifier.Integer(2)));
  // A single score belongs to the second of two classes; the first class gets 1
  // minus the score.
  if (scores.dim(1) == Dim(1)) scores = Concat({1.0 - scores, scores}, 1);
  return AddClasses(context, model, classifier, scores, features);
}

// ---- linear models

// Returns the scores of a linear model, [N, targets]: the products of the
// features with the rows of weights, plus the offsets.
StatusOr<Tensor> LinearScores(ModelContext& context, const ProtobufView& model,
                              uint64_t kind, const Features& features) {
  const ProtobufView glm = model.Message(kind);
  EMBER_ASSIGN_OR_RETURN(const Tensor rows, RowsOf(context, model, features));
  std::vector<double> weights;
  size_t width = 0;
  const std::vector<ProtobufView> lists = glm.Messages(1);
  for (const ProtobufView& list : lists) {
    const std::vector<double> values = list.Doubles(1);
    if (weights.empty()) width = values.size();
    if (values.size() != width || width == 0)
      return DataLossError(
          "weights: expected rows of one length, found others");
    weights.insert(weights.end(), values.begin(), values.end());
  }
  if (lists.empty()) return DataLossError("weights: expected some, found none");
  EMBER_RETURN_IF_ERROR(context.builder.status());
  if (rows.dim(1) != Dim(static_cast<int64_t>(width))) {
    return DataLossError("weights: expected " + rows.dim(1).ToString() +
                         " values per row, found " + std::to_string(width));
  }
  const Dim targets(static_cast<int64_t>(lists.size()));
  Tensor scores = Contract(rows,
                           Reshape(Vector(context.builder, weights),
                                   {targets, Dim(static_cast<int64_t>(width))}),
                           "nf,tf->nt");
  const std::vector<double> offsets = glm.Doubles(2);
  if (!offsets.empty()) {
    if (offsets.size() != lists.size())
      return DataLossError("offset: expected " + std::to_string(lists.size()) +
                           " values, found " + std::to_string(offsets.size()));
    scores = scores + Vector(context.builder, offsets);
  }
  EMBER_RETURN_IF_ERROR(context.builder.status());
  return scores;
}

// Returns the normal distribution's probability below x.
Tensor Probit(Tensor x) { return (Erf(x * M_SQRT1_2) + 1.0) * 0.5; }

Status ImportGlmRegressor(ModelContext& context, const ProtobufView& model,
                          Features& features) {
  EMBER_ASSIGN_OR_RETURN(Tensor scores,
                         LinearScores(context, model, kGlmRegressor, features));
  const int64_t transform = model.Message(kGlmRegressor).Integer(3);
  if (transform == 1) scores = ops::Sigmoid(scores);
  if (transform == 2) scores = Probit(scores);
  if (transform < 0 || transform > 2)
    return UnimplementedError(
        "postEvaluationTransform: expected 0 to 2, found " +
        std::to_string(transform));
  return SetRows(model, scores, features);
}

Status ImportGlmClassifier(ModelContext& context, const ProtobufView& model,
                           Features& features) {
  const ProtobufView glm = model.Message(kGlmClassifier);
  EMBER_ASSIGN_OR_RETURN(
      Tensor scores, LinearScores(context, model, kGlmClassifier, features));
  const bool probit = glm.Integer(3) == 1;
  const bool one_versus_rest = glm.Integer(4) == 1;
  if (scores.dim(1) == Dim(1)) {
    const Tensor p = probit ? Probit(scores) : ops::Sigmoid(scores);
    scores = Concat({1.0 - p, p}, 1);
  } else if (one_versus_rest) {
    scores = probit ? Probit(scores) : ops::Sigmoid(scores);
    scores = scores / Reduce(scores, "sum", {1}, /*keep=*/true);
  } else if (!probit) {
    EMBER_ASSIGN_OR_RETURN(scores, Transformed(scores, 3));
  } else {
    return UnimplementedError(
        "postEvaluationTransform: probit of several classes beside a reference "
        "is not supported");
  }
  return AddClasses(context, model, glm, scores, features);
}

// ---- features

// Returns the parameter `values` to combine with rows: one value for all
// columns, or one per column. If the list is empty, the value is `otherwise`.
StatusOr<Tensor> PerColumn(ModelContext& context,
                           const std::vector<double>& values, double otherwise,
                           const Tensor& rows, std::string_view what) {
  if (values.empty()) return rows.Like(otherwise);
  if (values.size() == 1) return rows.Like(values[0]);
  if (rows.dim(1) != Dim(static_cast<int64_t>(values.size()))) {
    return DataLossError(std::string(what) + ": expected one value or " +
                         rows.dim(1).ToString() + ", found " +
                         std::to_string(values.size()));
  }
  return Vector(context.builder, values);
}

Status ImportScaler(ModelContext& context, const ProtobufView& model,
                    Features& features) {
  EMBER_ASSIGN_OR_RETURN(const Tensor rows, RowsOf(context, model, features));
  EMBER_RETURN_IF_ERROR(context.builder.status());
  const ProtobufView scaler = model.Message(kScaler);
  EMBER_ASSIGN_OR_RETURN(
      const Tensor shift,
      PerColumn(context, scaler.Doubles(1), 0, rows, "shiftValue"));
  EMBER_ASSIGN_OR_RETURN(
      const Tensor scale,
      PerColumn(context, scaler.Doubles(2), 1, rows, "scaleValue"));
  return SetRows(model, (rows + shift) * scale, features);
}

Status ImportImputer(ModelContext& context, const ProtobufView& model,
                     Features& features) {
  EMBER_ASSIGN_OR_RETURN(const Tensor rows, RowsOf(context, model, features));
  EMBER_RETURN_IF_ERROR(context.builder.status());
  const ProtobufView imputer = model.Message(kImputer);
  if (imputer.Has(3) || imputer.Has(13))
    return UnimplementedError("an imputer of texts is not supported");
  std::vector<double> values = imputer.Message(4).Doubles(1);
  for (const int64_t value : imputer.Message(5).Integers(1))
    values.push_back(static_cast<double>(value));
  if (imputer.Has(1)) values = {imputer.Double(1)};
  if (imputer.Has(2)) values = {static_cast<double>(imputer.Integer(2))};
  EMBER_ASSIGN_OR_RETURN(const Tensor imputed,
                         PerColumn(context, values, 0, rows, "imputedValue"));
  Tensor missing = NotEqual(rows, rows);
  if (imputer.Has(11) && !std::isnan(imputer.Double(11)))
    missing = Equal(rows, imputer.Double(11));
  if (imputer.Has(12))
    missing = Equal(rows, static_cast<double>(imputer.Integer(12)));
  return SetRows(model, Select(missing, imputed, rows), features);
}

Status ImportNormalizer(ModelContext& context, const ProtobufView& model,
                        Features& features) {
  EMBER_ASSIGN_OR_RETURN(const Tensor rows, RowsOf(context, model, features));
  EMBER_RETURN_IF_ERROR(context.builder.status());
  Tensor norm;
  switch (model.Message(kNormalizer).Integer(1)) {
    case 0:
      norm = Reduce(Absolute(rows), "maximum", {1}, true);
      break;
    case 1:
      norm = Reduce(Absolute(rows), "sum", {1}, true);
      break;
    case 2:
      norm = Sqrt(Reduce(rows * rows, "sum", {1}, true));
      break;
    default:
      return DataLossError(
          "normType: expected 0 to 2, found " +
          std::to_string(model.Message(kNormalizer).Integer(1)));
  }
  // The normalizer divides each row by its norm. A row of zeros is divided by 1
  // instead, so it stays zeros.
  return SetRows(model, rows / Select(Equal(norm, 0), norm.Like(1), norm),
                 features);
}

Status ImportOneHot(ModelContext& context, const ProtobufView& model,
                    Features& features) {
  const ProtobufView encoder = model.Message(kOneHotEncoder);
  const std::vector<Feature> inputs =
      FeaturesOf(model.Message(kDescription), 1);
  if (inputs.size() != 1 || !IsColumn(inputs[0]))
    return UnimplementedError("a one-hot encoder of other than one column");
  EMBER_ASSIGN_OR_RETURN(const Tensor column,
                         FindFeature(features, inputs[0].name));
  std::vector<int64_t> categories = encoder.Message(2).Integers(1);
  for (const std::string& text : encoder.Message(1).Texts(1))
    categories.push_back(context.builder.StringHandle(text));
  const Tensor known(&context.builder, context.builder.Integers(categories));
  const Tensor equal =
      Equal(Unsqueeze(Cast(column, DType::kI64), {1}), Unsqueeze(known, {0}));
  EMBER_RETURN_IF_ERROR(context.builder.status());
  // A value that is none of the known categories fails the run, unless the
  // encoder ignores such values.
  if (encoder.Integer(11) == 0) {
    const Tensor all =
        Reduce(Reduce(equal, "maximum", {1}, false), "minimum", {0}, false);
    context.builder.Require(all.value(),
                            "a value of '" + OnOneLine(inputs[0].name) +
                                "' that is none of the model's categories");
  }
  return SetRows(model, Cast(equal, DType::kF64), features);
}

Status ImportVectorizer(ModelContext& context, const ProtobufView& model,
                        Features& features) {
  const std::vector<Feature> inputs =
      FeaturesOf(model.Message(kDescription), 1);
  std::vector<Tensor> parts;
  for (const ProtobufView& column :
       model.Message(kFeatureVectorizer).Messages(1)) {
    const std::string name = column.Text(1);
    EMBER_ASSIGN_OR_RETURN(const Tensor value, FindFeature(features, name));
    const auto feature =
        std::find_if(inputs.begin(), inputs.end(),
                     [&](const Feature& input) { return input.name == name; });
    parts.push_back(
        AsRows(value, feature != inputs.end() && IsColumn(*feature)));
  }
  if (parts.empty()) return DataLossError("expected columns, found none");
  EMBER_RETURN_IF_ERROR(context.builder.status());
  return SetRows(model, parts.size() == 1 ? parts[0] : Concat(parts, 1),
                 features);
}

Status ImportExtractor(ModelContext& context, const ProtobufView& model,
                       Features& features) {
  EMBER_ASSIGN_OR_RETURN(const Tensor rows, RowsOf(context, model, features));
  EMBER_RETURN_IF_ERROR(context.builder.status());
  const std::vector<int64_t> indices =
      model.Message(kArrayFeatureExtractor).Integers(1);
  for (const int64_t index : indices) {
    if (index < 0 ||
        (rows.dim(1).is_constant() && index >= rows.dim(1).constant())) {
      return DataLossError("extractIndex: expected values below " +
                           rows.dim(1).ToString() + ", found " +
                           std::to_string(index));
    }
  }
  const Tensor which(&context.builder, context.builder.Integers(indices));
  return SetRows(model, Gather(rows, which, 1), features);
}

Status ImportIdentity(ModelContext& /*context*/, const ProtobufView& model,
                      Features& features) {
  const ProtobufView description = model.Message(kDescription);
  const std::vector<Feature> inputs = FeaturesOf(description, 1);
  const std::vector<Feature> outputs = FeaturesOf(description, 10);
  if (inputs.size() != outputs.size())
    return DataLossError("expected as many outputs as inputs");
  for (size_t i = 0; i < inputs.size(); ++i) {
    EMBER_RETURN_IF_ERROR(FindFeature(features, inputs[i].name).status());
    features[outputs[i].name] = features[inputs[i].name];
  }
  return OkStatus();
}

struct ClassicRow {
  uint64_t kind;
  Status (*import)(ModelContext&, const ProtobufView&, Features&);
};
constexpr ClassicRow kRows[] = {
    {kTreeRegressor, ImportTreeRegressor},
    {kTreeClassifier, ImportTreeClassifier},
    {kGlmRegressor, ImportGlmRegressor},
    {kGlmClassifier, ImportGlmClassifier},
    {kSvmRegressor, ImportSvmRegressor},
    {kSvmClassifier, ImportSvmClassifier},
    {kNeighbors, ImportNeighbors},
    {kScaler, ImportScaler},
    {kImputer, ImportImputer},
    {kNormalizer, ImportNormalizer},
    {kOneHotEncoder, ImportOneHot},
    {kFeatureVectorizer, ImportVectorizer},
    {kDictionaryVectorizer, ImportDictionaryVectorizer},
    {kCategoricalMapping, ImportCategoricalMapping},
    {kSuppression, ImportSuppression},
    {kArrayFeatureExtractor, ImportExtractor},
    {kIdentity, ImportIdentity},
};

}  // namespace

bool IsClassic(uint64_t kind) {
  return std::any_of(std::begin(kRows), std::end(kRows),
                     [&](const ClassicRow& row) { return row.kind == kind; });
}

Status ImportClassic(ModelContext& context, const ProtobufView& model,
                     uint64_t kind, Features& features) {
  context.steps.Expect(1);
  EMBER_RETURN_IF_ERROR(context.steps.Begin(KindName(kind)));
  context.builder.SetOrigin(std::string(KindName(kind)));
  for (const ClassicRow& row : kRows)
    if (row.kind == kind) return row.import(context, model, features);
  return UnimplementedError("unsupported " + std::string(KindName(kind)));
}

Status AddClasses(ModelContext& context, const ProtobufView& model,
                  const ProtobufView& labels, Tensor scores,
                  Features& features) {
  std::vector<int64_t> values = labels.Message(101).Integers(1);
  const bool texts = labels.Has(100);
  if (texts) {
    for (const std::string& text : labels.Message(100).Texts(1))
      values.push_back(context.builder.StringHandle(text));
  }
  EMBER_RETURN_IF_ERROR(
      AddChoice(context, model, values, texts, scores, features));
  // Gives the probabilities the classes' labels as keys, so that a later
  // DictVectorizer can read them as a dictionary.
  const auto found = features.find(model.Message(kDescription).Text(12));
  if (found == features.end()) return OkStatus();
  found->second.keys = labels.Message(100).Texts(1);
  for (const int64_t label : labels.Message(101).Integers(1))
    if (!texts) found->second.keys.push_back(std::to_string(label));
  return OkStatus();
}

Status AddChoice(ModelContext& context, const ProtobufView& model,
                 const std::vector<int64_t>& values, bool are_texts,
                 Tensor scores, Features& features) {
  EMBER_ASSIGN_OR_RETURN(const Tensor label,
                         BestLabel(context.builder, scores, values));
  const ProtobufView description = model.Message(kDescription);
  const std::string predicted = description.Text(11);
  const std::string probabilities = description.Text(12);
  if (!predicted.empty())
    features[predicted] = {label, are_texts ? "string" : ""};
  if (!probabilities.empty()) features[probabilities] = {scores, ""};
  return context.builder.status();
}

StatusOr<Tensor> FindFeature(const Features& features,
                             const std::string& name) {
  const auto found = features.find(name);
  if (found != features.end()) return found->second.value;
  return DataLossError("expected a feature '" + OnOneLine(name) +
                       "', found none");
}

}  // namespace ember::coreml
