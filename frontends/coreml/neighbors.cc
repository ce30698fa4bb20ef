// Imports k nearest neighbours classifiers and regressors. A run computes the
// distances to all samples; the file's search index (such as a k-d tree) is not
// used.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/checked_math.h"
#include "base/one_line.h"
#include "frontends/coreml/tables.h"
#include "frontends/ops/compositions.h"

namespace ember::coreml {
namespace {

using ops::Dim;
using ops::Tensor;

constexpr int64_t kMaxNumbers = int64_t{1} << 28;

struct Labels {
  // The distinct labels, in the order in which they first occur among the
  // samples.
  std::vector<int64_t> distinct;
  std::vector<int64_t> of_sample;
  bool are_texts = false;
};

Labels ReadLabels(ModelContext& context, const ProtobufView& classifier) {
  Labels labels;
  labels.are_texts = classifier.Has(100) || classifier.Has(110);
  std::vector<int64_t> all = classifier.Message(101).Integers(1);
  for (const std::string& text : classifier.Message(100).Texts(1))
    all.push_back(context.builder.StringHandle(text));
  std::map<int64_t, int64_t> places;
  for (const int64_t label : all) {
    const auto [place, is_new] =
        places.emplace(label, static_cast<int64_t>(labels.distinct.size()));
    if (is_new) labels.distinct.push_back(label);
    labels.of_sample.push_back(place->second);
  }
  return labels;
}

StatusOr<Tensor> ReadSamples(ModelContext& context, const ProtobufView& index,
                             const Tensor& rows) {
  const int64_t width = index.Integer(1);
  const std::vector<ProtobufView> samples = index.Messages(2);
  const auto count = static_cast<int64_t>(samples.size());
  EMBER_RETURN_IF_ERROR(CheckColumns(rows, width, "numberOfDimensions"));
  const auto total = CheckedMultiply(count, width);
  if (!total || *total > kMaxNumbers)
    return UnimplementedError("samples of more than 2^28 numbers");
  std::vector<double> values;
  for (const ProtobufView& sample : samples) {
    const std::vector<double> numbers = sample.Floats(1);
    EMBER_RETURN_IF_ERROR(
        CheckColumns(rows, static_cast<int64_t>(numbers.size()), "samples"));
    values.insert(values.end(), numbers.begin(), numbers.end());
  }
  return Matrix(context.builder, values, count, width);
}

// Returns the neighbours' weights, 1 / distance. If some distances are 0, only
// the neighbours with distance 0 have a weight.
Tensor InverseWeights(const Tensor& distances) {
  const Tensor same = Equal(distances, 0);
  const Tensor exact = Cast(same, distances.dtype());
  const Tensor inverse = 1.0 / Select(same, distances.Like(1), distances);
  const Tensor any = Reduce(exact, "maximum", {1}, true);
  return Select(Equal(any, 0), inverse, exact);
}

// Adds the default label for each row, for a classifier without samples.
Status AddDefault(ModelContext& context, const ProtobufView& model,
                  const Labels& labels, const Tensor& rows,
                  Features& features) {
  const ProtobufView classifier = model.Message(kNeighbors);
  const int64_t label = labels.are_texts
                            ? context.builder.StringHandle(classifier.Text(110))
                            : classifier.Integer(111);
  const Tensor one(&context.builder,
                   context.builder.Integers(std::vector<int64_t>{label}));
  features[model.Message(kDescription).Text(11)] = {
      Broadcast(one, {rows.dim(0)}), labels.are_texts ? "string" : ""};
  return context.builder.status();
}

}  // namespace

Status ImportNeighbors(ModelContext& context, const ProtobufView& model,
                       Features& features) {
  const ProtobufView classifier = model.Message(kNeighbors);
  const ProtobufView index = classifier.Message(1);
  EMBER_ASSIGN_OR_RETURN(const Tensor rows, RowsOf(context, model, features));
  EMBER_RETURN_IF_ERROR(context.builder.status());
  const Labels labels = ReadLabels(context, classifier);
  const auto count = static_cast<int64_t>(index.Messages(2).size());
  if (count != static_cast<int64_t>(labels.of_sample.size())) {
    return DataLossError("expected a label for each of " +
                         std::to_string(count) + " samples, found " +
                         std::to_string(labels.of_sample.size()));
  }
  if (count == 0) return AddDefault(context, model, labels, rows, features);
  const int64_t wanted = classifier.Integer(2);
  if (wanted < 1) {
    return DataLossError("k: expected at least 1, found " +
                         std::to_string(wanted));
  }
  EMBER_ASSIGN_OR_RETURN(const Tensor samples,
                         ReadSamples(context, index, rows));
  const Tensor difference = Unsqueeze(rows, {1}) - samples;
  const Tensor distances = Reduce(difference * difference, "sum", {2}, false);
  EMBER_RETURN_IF_ERROR(context.builder.status());
  const std::vector<Tensor> nearest =
      ops::ApplyAll("top_k", {distances},
                    {{"axis", int64_t{1}},
                     {"k", ops::Shape{Dim(std::min(wanted, count))}},
                     {"largest", int64_t{0}}});
  EMBER_RETURN_IF_ERROR(context.builder.status());
  const Tensor weights =
      classifier.Has(210) ? InverseWeights(nearest[0])
                          : Broadcast(nearest[0].Like(1), nearest[0].shape());
  // Puts each neighbour's weight into the column of its class.
  const Tensor known(&context.builder,
                     context.builder.Integers(labels.of_sample));
  const Tensor classes = ops::IotaVector(
      context.builder, Dim(static_cast<int64_t>(labels.distinct.size())),
      DType::kI64);
  const Tensor votes =
      Cast(Equal(Unsqueeze(Gather(known, nearest[1], 0), {2}), classes),
           DType::kF64) *
      Unsqueeze(weights, {2});
  const Tensor sums = Reduce(votes, "sum", {1}, false);
  return AddChoice(context, model, labels.distinct, labels.are_texts,
                   sums / Reduce(sums, "sum", {1}, true), features);
}

}  // namespace ember::coreml
