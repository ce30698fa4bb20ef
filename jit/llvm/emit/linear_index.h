// Writes an index as a sum of terms, to find how it changes from lane to lane:
//
//   i0 * 64 + j * n + 3, in lanes of j   ->   (i0 * 64 + 3) + n * lane
//   (j floordiv 2) + i0                  ->   i0 + an irregular vector
//   (j floordiv 3) * 3 + (j mod 3)       ->   lane
//
// The terms are scalars, each computed in the outermost possible scope (see
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

// A factor of a term: constant * value; if `value` is empty, the constant
// alone.
struct Factor {
  int64_t constant = 1;
  ScopedValue value;
};

// A term factor * node, where the node is x floordiv n or x mod n for a
// positive constant n and an x that varies by lane. x floordiv n and x mod n
// are the digits of x in base n.
struct Digit {
  NodeId node = 0;
  Factor factor;
};

// An index as a sum of terms: uniform + constant + (per_lane + lane_constant) *
// lane + irregular + digits, modulo 2^64 like i64 arithmetic.
struct LinearIndex {
  // terms that are the same in all lanes and not constant
  std::vector<ScopedValue> uniform;
  int64_t constant = 0;
  // per_lane: the terms of the stride that are not constant. The stride is
  // multiplied by the lane's number.
  std::vector<ScopedValue> per_lane;
  int64_t lane_constant = 0;
  // terms that are vectors, because they have no constant stride from lane to
  // lane
  std::vector<ScopedValue> irregular;
  // Quotients and remainders that are not yet part of the other terms;
  // JoinDigits adds them.
  std::vector<Digit> digits;

  bool IsUniform() const {
    return per_lane.empty() && lane_constant == 0 && irregular.empty();
  }
  // True if the index is a sum that is the same in all lanes plus a constant
  // times the lane.
  bool HasConstantStride() const {
    return per_lane.empty() && irregular.empty();
  }
};

// An index of the form dividend floordiv divisor + rest, where only the
// dividend varies by lane.
struct ShiftedQuotient {
  NodeId dividend = 0;
  int64_t divisor = 1;
  LinearIndex rest;
};

class IndexLinearizer {
 public:
  // emit: a function that returns the value of a node, computed in the scope of
  // the node's depth.
  IndexLinearizer(const tensor::ExpressionPool& pool, Scopes& scopes,
                  Builder& builder, std::function<llvm::Value*(NodeId)> emit)
      : pool_(pool), scopes_(scopes), b_(builder), emit_(std::move(emit)) {}

  // Adds factor * id to the index, for an i64 node. Quotients and remainders
  // are kept in index.digits: the quotient and remainder of one value, as
  // indices of two dims of a buffer, often add up to a plain step through the
  // buffer.
  void Add(NodeId id, const Factor& factor, LinearIndex& index);
  // Adds index.digits to the other terms. A quotient and a remainder that add
  // up to a multiple of their dividend become that multiple; others are added
  // as they are.
  void JoinDigits(LinearIndex& index);
  // Returns the node as a sum of terms, without terms in `digits`.
  LinearIndex Of(NodeId id);
  // Returns the node as a quotient plus a rest; nullopt if it has no such form.
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
  // Returns the node's value as a term that is not taken apart.
  ScopedValue Atom(NodeId id);
  ScopedValue Product(ScopedValue a, ScopedValue b);

  const tensor::ExpressionPool& pool_;
  Scopes& scopes_;
  Builder& b_;
  std::function<llvm::Value*(NodeId)> emit_;
};

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_EMIT_LINEAR_INDEX_H_
