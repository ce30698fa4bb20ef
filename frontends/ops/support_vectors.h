// Support vector machines: kernels, and classification by pairs of classes,
// with libsvm's formulas.
//
//   Tensor kernels = ApplyKernel(kernel, x, vectors);            // [N, V]
//   Tensor scores = Contract(kernels, weights, "nv,vp->np");     // of pairs
//   Tensor votes = PairVotes(scores, classes);                   // [N, K]
//
// Pairs are (0, 1), (0, 2), …, (1, 2), …: the first class wins if the score is
// above 0. Errors stay in the graph builder.
#ifndef EMBER_FRONTENDS_OPS_SUPPORT_VECTORS_H_
#define EMBER_FRONTENDS_OPS_SUPPORT_VECTORS_H_

#include <cstdint>
#include <vector>

#include "frontends/ops/tensor.h"

namespace ember::ops {

struct Kernel {
  enum Type : uint8_t { kLinear, kPolynomial, kRbf, kSigmoid };
  Type type = kLinear;
  double gamma = 0, offset = 0, degree = 0;
};

// Applies the kernel to rows [N, F] and vectors [V, F]: [N, V].
Tensor ApplyKernel(const Kernel& kernel, Tensor x, Tensor vectors);

struct ClassPair {
  int64_t first, second;
};
std::vector<ClassPair> PairsOf(int64_t classes);

// Returns [vectors, pairs], row by row: for each pair of classes, its
// coefficients for the support vectors of these two classes, and 0 for all
// other vectors. The vectors of a class are adjacent; sizes[class] is their
// number. There are two classes or more. coefficients: [classes - 1, vectors],
// for each vector one coefficient per other class, in the order of the classes.
std::vector<double> PairWeights(const std::vector<int64_t>& sizes,
                                const std::vector<double>& coefficients);

// Returns the number of pairs that each class wins, [N, classes]. scores: [N,
// pairs].
Tensor PairVotes(Tensor scores, int64_t classes);

// Returns the probabilities of the classes, [N, classes], that best fit the
// probabilities of the pairs, [N, pairs], by the second method of Wu, Lin and
// Weng.
Tensor CouplePairs(Tensor probabilities, int64_t classes);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_SUPPORT_VECTORS_H_
