// Indices taken apart, to know how they move from lane to lane:
//
//   i0 * 64 + j * n + 3, in lanes of j   ->   (i0 * 64 + 3) + n * lane
//   (j floordiv 2) + i0                  ->   i0 + an irregular vector
//
// The parts are scalars, each computed in the outermost scope it can be (see
// jit/llvm/scopes.h); vectors of indices appear only where lanes are irregular.
#ifndef EMBER_JIT_LLVM_LINEAR_INDEX_H_
#define EMBER_JIT_LLVM_LINEAR_INDEX_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "jit/llvm/ir.h"
#include "jit/llvm/scopes.h"

namespace ember::jit {

// constant * value; no value: 1.
struct Factor {
  int64_t constant = 1;
  Placed value;
};

// Modulo 2^64, as i64 arithmetic is.
struct LinearIndex {
  std::vector<Placed> uniform;  // to be added, and the constant
  int64_t constant = 0;
  std::vector<Placed> per_lane;  // to be added, and the constant
  int64_t lane_constant = 0;
  std::vector<Placed> irregular;  // vectors, to be added

  bool IsUniform() const {
    return per_lane.empty() && lane_constant == 0 && irregular.empty();
  }
  // uniform + constant * lane
  bool HasConstantStride() const {
    return per_lane.empty() && irregular.empty();
  }
};

class IndexLinearizer {
 public:
  // emit: the value of a node, placed where the scopes say.
  IndexLinearizer(const tensor::ExpressionPool& pool, Scopes& scopes,
                  Builder& builder, std::function<llvm::Value*(NodeId)> emit)
      : pool_(pool), scopes_(scopes), b_(builder), emit_(std::move(emit)) {}

  // index += factor * id, an i64 node.
  void Add(NodeId id, const Factor& factor, LinearIndex& index);
  LinearIndex Of(NodeId id);

  Factor Times(const Factor& a, int64_t constant);
  Factor Times(const Factor& a, Placed value);
  Placed ValueOf(const Factor& factor);
  // Outer scopes first, so that what is added further out stays there.
  Placed Sum(std::vector<Placed> terms, int64_t constant);
  Placed Rest(const LinearIndex& index) {
    return Sum(index.uniform, index.constant);
  }
  Placed Stride(const LinearIndex& index) {
    return Sum(index.per_lane, index.lane_constant);
  }

 private:
  void AddProduct(NodeId id, const Factor& factor, LinearIndex& index);
  void AddAtom(NodeId id, const Factor& factor, LinearIndex& index);
  // The value in outer * id = in the sum: an atom of it.
  Placed Atom(NodeId id);
  Placed Product(Placed a, Placed b);

  const tensor::ExpressionPool& pool_;
  Scopes& scopes_;
  Builder& b_;
  std::function<llvm::Value*(NodeId)> emit_;
};

}  // namespace ember::jit

#endif  // EMBER_JIT_LLVM_LINEAR_INDEX_H_
