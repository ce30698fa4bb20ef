// Imports support vector machines, with the parameters that libsvm trains.
#include "frontends/ops/support_vectors.h"

#include <algorithm>
#include <string>

#include "base/checked_math.h"
#include "base/one_line.h"
#include "frontends/coreml/tables.h"
#include "frontends/ops/functions.h"

namespace ember::coreml {
namespace {

using ops::Concat;
using ops::Dim;
using ops::Kernel;
using ops::Tensor;

// Largest number of classes. Matrices with a row for each pair of classes grow
// with the square of this number.
constexpr int64_t kMaxClasses = 256;
// Largest number of elements of a matrix. A matrix may be larger than its form
// in the file, because sparse vectors are made dense, and each pair has its own
// weights.
constexpr int64_t kMaxNumbers = int64_t{1} << 26;

Status WrongCount(std::string_view what, size_t expected, size_t found) {
  return DataLossError(std::string(what) + ": expected " +
                       std::to_string(expected) + " values, found " +
                       std::to_string(found));
}

StatusOr<Kernel> ReadKernel(const ProtobufView& kernel) {
  if (kernel.Has(2)) {
    return Kernel{.type = Kernel::kRbf, .gamma = kernel.Message(2).Double(1)};
  }
  if (kernel.Has(3)) {
    const ProtobufView polynomial = kernel.Message(3);
    return Kernel{.type = Kernel::kPolynomial,
                  .gamma = polynomial.Double(3),
                  .offset = polynomial.Double(2),
                  .degree = static_cast<double>(polynomial.Integer(1))};
  }
  if (kernel.Has(4)) {
    return Kernel{.type = Kernel::kSigmoid,
                  .gamma = kernel.Message(4).Double(1),
                  .offset = kernel.Message(4).Double(2)};
  }
  if (kernel.Has(1)) return Kernel{};
  return DataLossError("kernel: expected one, found none");
}

struct Vectors {
  std::vector<double> values;
  int64_t count = 0;
};

// Reads support vectors, sparse or dense, as vectors of the length of a feature
// row. Indices of sparse vectors count from 1.
StatusOr<Vectors> ReadVectors(const ProtobufView& machine, uint64_t sparse,
                              const Tensor& rows) {
  if (!rows.dim(1).is_constant())
    return UnimplementedError("support vectors beside features of open size");
  const int64_t width = rows.dim(1).constant();
  const bool is_sparse = machine.Has(sparse);
  const std::vector<ProtobufView> messages =
      machine.Message(is_sparse ? sparse : sparse + 1).Messages(1);
  Vectors vectors;
  vectors.count = static_cast<int64_t>(messages.size());
  const auto total = CheckedMultiply(vectors.count, width);
  if (!total || *total > kMaxNumbers)
    return UnimplementedError("support vectors of more than 2^26 numbers");
  for (const ProtobufView& message : messages) {
    if (!is_sparse) {
      const std::vector<double> values = message.Doubles(1);
      EMBER_RETURN_IF_ERROR(CheckColumns(
          rows, static_cast<int64_t>(values.size()), "support vectors"));
      vectors.values.insert(vectors.values.end(), values.begin(), values.end());
      continue;
    }
    const size_t start = vectors.values.size();
    vectors.values.resize(start + static_cast<size_t>(width), 0);
    for (const ProtobufView& node : message.Messages(1)) {
      const int64_t index = node.Integer(1);
      if (index < 1 || index > width) {
        return DataLossError("support vectors: expected an index in [1, " +
                             std::to_string(width) + "], found " +
                             std::to_string(index));
      }
      vectors.values[start + static_cast<size_t>(index - 1)] = node.Double(2);
    }
  }
  if (vectors.count == 0)
    return DataLossError("support vectors: expected some, found none");
  return vectors;
}

// Returns [N, vectors].
StatusOr<Tensor> Kernels(ModelContext& context, const ProtobufView& machine,
                         const Vectors& vectors, const Tensor& rows) {
  EMBER_ASSIGN_OR_RETURN(const Kernel kernel, ReadKernel(machine.Message(1)));
  return ops::ApplyKernel(kernel, rows,
                          Matrix(context.builder, vectors.values, vectors.count,
                                 rows.dim(1).constant()));
}

// Returns the decision values of all pairs of classes, [N, pairs]. The caller
// has checked that `machine` has coefficients for all pairs.
StatusOr<Tensor> PairScores(ModelContext& context, const ProtobufView& machine,
                            const Tensor& rows,
                            const std::vector<int64_t>& sizes) {
  EMBER_ASSIGN_OR_RETURN(const Vectors vectors, ReadVectors(machine, 3, rows));
  int64_t total = 0;
  for (const int64_t size : sizes) {
    if (size < 0 || size > vectors.count - total) {
      return DataLossError(
          "numberOfSupportVectorsPerClass: expected sizes of " +
          std::to_string(vectors.count) + " vectors, found " +
          std::to_string(size));
    }
    total += size;
  }
  if (total != vectors.count) {
    return WrongCount("support vectors", static_cast<size_t>(total),
                      static_cast<size_t>(vectors.count));
  }
  std::vector<double> coefficients;
  const std::vector<ProtobufView> lists = machine.Messages(5);
  if (lists.size() != sizes.size() - 1)
    return WrongCount("coefficients", sizes.size() - 1, lists.size());
  for (const ProtobufView& list : lists) {
    const std::vector<double> alpha = list.Doubles(1);
    if (static_cast<int64_t>(alpha.size()) != vectors.count) {
      return WrongCount("coefficients", static_cast<size_t>(vectors.count),
                        alpha.size());
    }
    coefficients.insert(coefficients.end(), alpha.begin(), alpha.end());
  }
  const std::vector<double> rho = machine.Doubles(6);
  if (vectors.count > kMaxNumbers / static_cast<int64_t>(rho.size()))
    return UnimplementedError("weights of pairs of more than 2^26 numbers");
  const Tensor weights =
      Matrix(context.builder, ops::PairWeights(sizes, coefficients),
             vectors.count, static_cast<int64_t>(rho.size()));
  EMBER_ASSIGN_OR_RETURN(const Tensor kernels,
                         Kernels(context, machine, vectors, rows));
  return Contract(kernels, weights, "nv,vp->np") - Vector(context.builder, rho);
}

// Returns the probabilities of the classes. For two classes they are the
// probability p of the pair, and 1 - p. For more classes they are fitted to the
// probabilities of all pairs.
Tensor Probabilities(ModelContext& context, const ProtobufView& machine,
                     const Tensor& scores, int64_t classes) {
  constexpr double kSmallest = 1e-7;
  const Tensor a = Vector(context.builder, machine.Doubles(7));
  const Tensor b = Vector(context.builder, machine.Doubles(8));
  const Tensor pairs = Minimum(
      Maximum(ops::Sigmoid(-(scores * a + b)), kSmallest), 1 - kSmallest);
  if (classes == 2) return Concat({pairs, 1.0 - pairs}, 1);
  return ops::CouplePairs(pairs, classes);
}

}  // namespace

Status ImportSvmRegressor(ModelContext& context, const ProtobufView& model,
                          Features& features) {
  const ProtobufView machine = model.Message(kSvmRegressor);
  EMBER_ASSIGN_OR_RETURN(const Tensor rows, RowsOf(context, model, features));
  EMBER_RETURN_IF_ERROR(context.builder.status());
  EMBER_ASSIGN_OR_RETURN(const Vectors vectors, ReadVectors(machine, 2, rows));
  const std::vector<double> alpha = machine.Message(4).Doubles(1);
  if (static_cast<int64_t>(alpha.size()) != vectors.count) {
    return WrongCount("coefficients", static_cast<size_t>(vectors.count),
                      alpha.size());
  }
  EMBER_ASSIGN_OR_RETURN(const Tensor kernels,
                         Kernels(context, machine, vectors, rows));
  const Tensor weights = Matrix(context.builder, alpha, vectors.count, 1);
  return SetRows(model,
                 Contract(kernels, weights, "nv,vt->nt") - machine.Double(5),
                 features);
}

Status ImportSvmClassifier(ModelContext& context, const ProtobufView& model,
                           Features& features) {
  const ProtobufView machine = model.Message(kSvmClassifier);
  EMBER_ASSIGN_OR_RETURN(const Tensor rows, RowsOf(context, model, features));
  EMBER_RETURN_IF_ERROR(context.builder.status());
  const std::vector<int64_t> sizes = machine.Integers(2);
  const auto classes = static_cast<int64_t>(sizes.size());
  if (classes < 2 || classes > kMaxClasses) {
    return UnimplementedError("numberOfSupportVectorsPerClass: expected 2 to " +
                              std::to_string(kMaxClasses) + " classes, found " +
                              std::to_string(classes));
  }
  const size_t pairs = ops::PairsOf(classes).size();
  const size_t found = machine.Doubles(6).size();
  if (found != pairs) return WrongCount("rho", pairs, found);
  const bool has_probabilities = machine.Has(7);
  for (const uint64_t field : {7, 8}) {
    const size_t count = machine.Doubles(field).size();
    if (count != (has_probabilities ? pairs : 0)) {
      return WrongCount(field == 7 ? "probA" : "probB",
                        has_probabilities ? pairs : 0, count);
    }
  }
  EMBER_ASSIGN_OR_RETURN(const Tensor scores,
                         PairScores(context, machine, rows, sizes));
  EMBER_RETURN_IF_ERROR(context.builder.status());
  if (has_probabilities) {
    return AddClasses(context, model, machine,
                      Probabilities(context, machine, scores, classes),
                      features);
  }
  EMBER_RETURN_IF_ERROR(AddClasses(context, model, machine,
                                   ops::PairVotes(scores, classes), features));
  // A model without probabilities labels a row by votes: each pair of classes
  // votes for one of them, and the class with the most votes is the label.
  const ProtobufView description = model.Message(kDescription);
  const std::string probabilities = description.Text(12);
  features.erase(probabilities);
  for (const Feature& output : FeaturesOf(description, 10)) {
    if (output.name == probabilities) {
      return UnimplementedError("output '" + OnOneLine(probabilities) +
                                "': expected probA and probB for "
                                "probabilities, found none");
    }
  }
  return OkStatus();
}

}  // namespace ember::coreml
