#include "frontends/ops/support_vectors.h"

#include <numeric>

#include "frontends/ops/compositions.h"

namespace ember::ops {
namespace {

// Returns numbers as a constant [rows, columns] of a float type.
Tensor Matrix(const Tensor& like, const std::vector<double>& values,
              int64_t rows, int64_t columns) {
  const auto constant = [&](DType dtype, const auto& numbers) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(numbers.data());
    return Tensor(&like.builder(),
                  like.builder().Constant(
                      dtype, {rows, columns},
                      graph::ConstantData::Copy(
                          {bytes, numbers.size() * sizeof(numbers[0])})));
  };
  if (like.dtype() == DType::kF32)
    return constant(DType::kF32,
                    std::vector<float>(values.begin(), values.end()));
  return Cast(constant(DType::kF64, values), like.dtype());
}

// Returns the matrix Q of the quadratic form pᵀQp that CouplePairs minimises,
// [N, K, K]: Q_ii = Σ r_ji², Q_ij = -r_ji r_ij, where r_ij is the probability
// of class i against class j.
Tensor CouplingMatrix(Tensor probability, int64_t classes) {
  // `all` has the probabilities of all pairs, then their complements 1 - p,
  // then a 0, from which the matrix of r_ij (with a diagonal of 0) is gathered.
  const std::vector<ClassPair> pairs = PairsOf(classes);
  const auto count = static_cast<int64_t>(pairs.size());
  Tensor zero = Broadcast(probability.Like(0), {probability.dim(0), Dim(1)});
  Tensor all = Concat({probability, 1.0 - probability, zero}, 1);
  std::vector<int64_t> places(classes * classes, 2 * count);
  std::vector<int64_t> transposed = places;
  for (int64_t p = 0; p < count; ++p) {
    const auto [i, j] = pairs[p];
    places[i * classes + j] = transposed[j * classes + i] = p;
    places[j * classes + i] = transposed[i * classes + j] = count + p;
  }
  graph::GraphBuilder& builder = probability.builder();
  const auto gathered = [&](const std::vector<int64_t>& from) {
    return Gather(all,
                  Reshape(Tensor(&builder, builder.Integers(from)),
                          {Dim(classes), Dim(classes)}),
                  1);
  };
  Tensor r = gathered(places);
  Tensor back = gathered(transposed);
  Tensor diagonal = Reduce(r * r, "sum", {1}, true);
  Tensor row = IotaVector(builder, Dim(classes), DType::kI64);
  return Select(Equal(Unsqueeze(row, {1}), row), diagonal, -(r * back));
}

}  // namespace

Tensor ApplyKernel(const Kernel& kernel, Tensor x, Tensor vectors) {
  if (kernel.type == Kernel::kRbf) {
    // The RBF kernel uses |x - v|². It is computed from the differences,
    // because |x|² - 2xv + |v|² would cancel.
    Tensor difference = Unsqueeze(x, {1}) - vectors;
    Tensor square = Reduce(difference * difference, "sum", {2}, false);
    return Exp(square * -kernel.gamma);
  }
  Tensor product = Contract(x, vectors, "nf,vf->nv");
  if (kernel.type == Kernel::kLinear) return product;
  product = product * kernel.gamma + kernel.offset;
  if (kernel.type == Kernel::kSigmoid) return Tanh(product);
  if (kernel.degree == 2) return product * product;
  if (kernel.degree == 3) return product * product * product;
  return Power(product, kernel.degree);
}

std::vector<ClassPair> PairsOf(int64_t classes) {
  std::vector<ClassPair> pairs;
  for (int64_t i = 0; i < classes; ++i) {
    for (int64_t j = i + 1; j < classes; ++j) pairs.push_back({i, j});
  }
  return pairs;
}

std::vector<double> PairWeights(const std::vector<int64_t>& sizes,
                                const std::vector<double>& coefficients) {
  std::vector<int64_t> starts(sizes.size(), 0);
  std::partial_sum(sizes.begin(), sizes.end() - 1, starts.begin() + 1);
  const int64_t vectors = starts.back() + sizes.back();
  const std::vector<ClassPair> pairs =
      PairsOf(static_cast<int64_t>(sizes.size()));
  std::vector<double> weights(vectors * pairs.size(), 0);
  for (size_t p = 0; p < pairs.size(); ++p) {
    const auto [i, j] = pairs[p];
    const auto copy = [&](int64_t own, int64_t row) {
      for (int64_t v = starts[own]; v < starts[own] + sizes[own]; ++v)
        weights[v * pairs.size() + p] = coefficients[row * vectors + v];
    };
    copy(i, j - 1);
    copy(j, i);
  }
  return weights;
}

Tensor PairVotes(Tensor scores, int64_t classes) {
  const std::vector<ClassPair> pairs = PairsOf(classes);
  std::vector<double> first(pairs.size() * classes, 0);
  std::vector<double> second = first;
  for (size_t p = 0; p < pairs.size(); ++p) {
    first[p * classes + pairs[p].first] = 1;
    second[p * classes + pairs[p].second] = 1;
  }
  const auto count = static_cast<int64_t>(pairs.size());
  Tensor wins = Cast(Less(0, scores), scores.dtype());
  return Contract(wins, Matrix(scores, first, count, classes), "np,pk->nk") +
         Contract(1.0 - wins, Matrix(scores, second, count, classes),
                  "np,pk->nk");
}

// Minimises pᵀQp over the probabilities p, one class after the other, for
// kSweeps sweeps. Rows whose error is small enough do not change any more. More
// sweeps were never seen to change a result.
Tensor CouplePairs(Tensor probabilities, int64_t classes) {
  constexpr int kSweeps = 8;
  const double tolerance = 0.005 / static_cast<double>(classes);
  Tensor q = CouplingMatrix(probabilities, classes);
  Tensor row = IotaVector(q.builder(), Dim(classes), DType::kI64);
  Tensor identity = Cast(Equal(Unsqueeze(row, {1}), row), q.dtype());
  // The descent keeps Qp and p side by side. A step for class i changes both by
  // a multiple of row i of `rows`: Q and the identity side by side.
  Tensor rows = Concat({q, Broadcast(identity, q.shape())}, 2);
  const auto column = [](Tensor x, int64_t i) {
    return SliceAxis(x, 1, Dim(i), Dim(1));
  };
  Tensor p = Broadcast(q.Like(1.0 / static_cast<double>(classes)),
                       {q.dim(0), Dim(classes)});
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    Tensor qp = Contract(q, p, "nij,nj->ni");
    Tensor pqp = Reduce(p * qp, "sum", {1}, true);
    Tensor error = Reduce(Absolute(qp - pqp), "maximum", {1}, true);
    Tensor state = Concat({qp, p}, 1);
    for (int64_t i = 0; i < classes; ++i) {
      Tensor direction = Squeeze(column(rows, i), {1});
      Tensor curvature = column(direction, i);
      Tensor slope = column(state, i);
      Tensor step = (pqp - slope) / curvature;
      Tensor sum = step + 1.0;
      pqp = (pqp + step * (step * curvature + slope * 2.0)) / (sum * sum);
      state = (state + step * direction) / sum;
    }
    Tensor next = SliceAxis(state, 1, Dim(classes), Dim(classes));
    p = Select(Less(error, tolerance), p, next);
  }
  return p;
}

}  // namespace ember::ops
