// Takes indices apart to find how they move from lane to lane:
//
//   i0 * 64 + j * n + 3, in lanes of j   ->   (i0 * 64 + 3) + n * lane
//   (j floordiv 2) + i0                  ->   i0 + an irregular vector
//   (j floordiv 3) * 3 + (j mod 3)       ->   lane
//
// The parts are scalars, each computed in the outermost possible scope (see
// jit/llvm/emit/scopes.h). Vectors of indices appear only where lanes are
// irregular.
#ifndef EMBER_JIT_LLVM_EMIT_LINEAR_INDEX_H_
#define EMBER_JIT_LLVM_EMIT_LINEAR_INDEX_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "jit/llvm/emit/ir.h"
#include "jit/llvm/emit/scopes.h"

namespace ember::jit::llvm_ir {

// The number constant * value; without a value, the constant itself.
struct Factor {
  int64_t constant = 1;
  ScopedValue value;
};

// factor * node, which is x floordiv n or x mod n, for a positive constant n
// and an x that varies by lane.
struct Digit {
  NodeId node = 0;
  Factor factor;
};

// An index as a sum of terms, modulo 2^64 like i64 arithmetic.
struct LinearIndex {
  // terms, besides the constant, that are the same in all lanes
  std::vector<ScopedValue> uniform;
  int64_t constant = 0;
  // terms, besides the constant, that are multiplied by the lane
  std::vector<ScopedValue> per_lane;
  int64_t lane_constant = 0;
  std::vector<ScopedValue> irregular;  // terms that are irregular vectors
  // Quotients and remainders that JoinDigits will add to the index.
  std::vector<Digit> digits;

  bool IsUniform() const {
    return per_lane.empty() && lane_constant == 0 && irregular.empty();
  }
  // True if the index is uniform + constant * lane.
  bool HasConstantStride() const {
    return per_lane.empty() && irregular.empty();
  }
};

// The index dividend floordiv divisor + rest, where only the dividend varies by
// lane.
struct ShiftedQuotient {
  NodeId dividend = 0;
  int64_t divisor = 1;
  LinearIndex rest;
};

class IndexLinearizer {
 public:
  // emit: returns the value of a node, computed in the scope of its depth.
  IndexLinearizer(const tensor::ExpressionPool& pool, Scopes& scopes,
                  Builder& builder, std::function<llvm::Value*(NodeId)> emit)
      : pool_(pool), scopes_(scopes), b_(builder), emit_(std::move(emit)) {}

  // Does index += factor * id, for an i64 node. Quotients and remainders in it
  // wait for others: digits of one value in several dims of a buffer may
  // together be steps through the buffer.
  void Add(NodeId id, const Factor& factor, LinearIndex& index);
  // Adds the waiting digits to the index. Digits that add up to a multiple of
  // their value are joined; others are added as they are.
  void JoinDigits(LinearIndex& index);
  // Returns the index of one node, with its digits joined.
  LinearIndex Of(NodeId id);
  // Returns the node as a quotient plus a rest; nothing if it has no such form.
  std::optional<ShiftedQuotient> QuotientOf(NodeId id);

  Factor Times(const Factor& a, int64_t constant);
  Factor Times(const Factor& a, ScopedValue value);
  ScopedValue ValueOf(const Factor& factor);
  // Returns the sum of the terms and the constant. Adds terms of outer scopes
  // first, so that their sums stay in those scopes.
  ScopedValue Sum(std::vector<ScopedValue> terms, int64_t constant);
  ScopedValue Rest(const LinearIndex& index) {
    return Sum(index.uniform, index.constant);
  }
  ScopedValue Stride(const LinearIndex& index) {
    return Sum(index.per_lane, index.lane_constant);
  }

 private:
  void AddProduct(NodeId id, const Factor& factor, LinearIndex& index);
  void AddAtom(NodeId id, const Factor& factor, LinearIndex& index);
  bool IsDigit(NodeId id);
  // Returns the node's value as an indivisible term of the sum.
  ScopedValue Atom(NodeId id);
  ScopedValue Product(ScopedValue a, ScopedValue b);

  const tensor::ExpressionPool& pool_;
  Scopes& scopes_;
  Builder& b_;
  std::function<llvm::Value*(NodeId)> emit_;
};

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_EMIT_LINEAR_INDEX_H_
