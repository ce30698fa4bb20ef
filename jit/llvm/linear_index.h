// Indices taken apart, to know how they move from lane to lane:
//
//   i0 * 64 + j * n + 3, in lanes of j   ->   (i0 * 64 + 3) + n * lane
//   (j floordiv 2) + i0                  ->   i0 + an irregular vector
//   (j floordiv 3) * 3 + (j mod 3)       ->   lane
//
// The parts are scalars, each computed in the outermost scope it can be (see
// jit/llvm/scopes.h); vectors of indices appear only where lanes are irregular.
#ifndef EMBER_JIT_LLVM_LINEAR_INDEX_H_
#define EMBER_JIT_LLVM_LINEAR_INDEX_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "jit/llvm/ir.h"
#include "jit/llvm/scopes.h"

namespace ember::jit {

// constant * value; no value: 1.
struct Factor {
  int64_t constant = 1;
  Placed value;
};

// factor * node, which is x floordiv n or x mod n, for a positive constant n
// and an x that varies by lane.
struct Digit {
  NodeId node = 0;
  Factor factor;
};

// Modulo 2^64, as i64 arithmetic is.
struct LinearIndex {
  std::vector<Placed> uniform;  // to be added, and the constant
  int64_t constant = 0;
  std::vector<Placed> per_lane;  // to be added, and the constant
  int64_t lane_constant = 0;
  std::vector<Placed> irregular;  // vectors, to be added
  std::vector<Digit> digits;      // to be added, until they are joined

  bool IsUniform() const {
    return per_lane.empty() && lane_constant == 0 && irregular.empty();
  }
  // uniform + constant * lane
  bool HasConstantStride() const {
    return per_lane.empty() && irregular.empty();
  }
};

// dividend floordiv divisor + rest, where only the dividend varies by lane.
struct ShiftedQuotient {
  NodeId dividend = 0;
  int64_t divisor = 1;
  LinearIndex rest;
};

class IndexLinearizer {
 public:
  // emit: the value of a node, placed where the scopes say.
  IndexLinearizer(const tensor::ExpressionPool& pool, Scopes& scopes,
                  Builder& builder, std::function<llvm::Value*(NodeId)> emit)
      : pool_(pool), scopes_(scopes), b_(builder), emit_(std::move(emit)) {}

  // index += factor * id, an i64 node. Digits of it wait for others: those of
  // one value in several dims of a buffer may be steps through it.
  void Add(NodeId id, const Factor& factor, LinearIndex& index);
  // Adds the digits that wait: those of one value together where they are it
  // again, times something; else each as it is.
  void JoinDigits(LinearIndex& index);
  // Of one node, its digits joined.
  LinearIndex Of(NodeId id);
  // nullopt: the node has no such form.
  std::optional<ShiftedQuotient> QuotientOf(NodeId id);

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
  bool IsDigit(NodeId id);
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
