// Makes random statements that store to buffers, with the loops around them.
// Internal to jit/loops/testing/random_nest.h.
#ifndef EMBER_JIT_LOOPS_TESTING_RANDOM_STATEMENTS_H_
#define EMBER_JIT_LOOPS_TESTING_RANDOM_STATEMENTS_H_

#include <vector>

#include "jit/loops/loop_nest.h"
#include "jit/loops/testing/random_expressions.h"
#include "jit/loops/testing/random_loops.h"
#include "jit/loops/testing/random_nest.h"

namespace ember::loops {

// Makes statements that store to buffers. Their expressions read the buffers in
// RandomExpressions::readable. A returned block is empty if no statement fits.
class RandomStatements {
 public:
  RandomStatements(const RandomNestOptions& options, RandomExpressions& make,
                   RandomLoops& loops, LoopNest& nest)
      : options_(options), make_(make), loops_(loops), nest_(nest) {}

  // Returns any update that the type supports, including a plain store.
  tensor::Update AnyUpdate(DType type);

  // --- Statements that store to every element. ---

  // Stores to each element of the buffers once, by one statement. The buffers
  // have equal extents. If `update` is an assignment, no element is left out.
  Block Map(const std::vector<RandomBuffer>& buffers, tensor::Update update);
  // Stores a small value to each element (RandomExpressions::SmallValue), so
  // that later sums of the elements are exact.
  Block FillSmall(const RandomBuffer& buffer);
  // Makes statements that update each element several times, one after the
  // other or by all invocations of a loop together.
  Block Reduce(const RandomBuffer& buffer);
  // Adds dot products of few factors to the elements of an i32 buffer. Does
  // nothing if there are no inputs that can be factors.
  Block SumOfDots(const RandomBuffer& buffer);

  // --- Statements that store to some elements. ---

  // Makes a statement that stores to elements at random indices: either updates
  // in any order, or assignments in a serial order.
  Block Scatter(const RandomBuffer& buffer);

 private:
  using Indices = RandomLoops::Indices;

  int Below(int limit) { return make_.Below(limit); }
  bool Chance(int one_in) { return make_.Chance(one_in); }
  NodeId Integer(int64_t value) { return make_.Integer(value); }

  std::vector<RandomDim> DimsOf(const RandomBuffer& buffer);
  Block Over(const std::vector<RandomDim>& dims,
             const std::vector<RandomBuffer>& stored,
             const RandomLoops::MakeBody& make_body);
  Store To(const RandomBuffer& buffer, const Indices& inner, NodeId value,
           tensor::Update update);
  Block MaybeIf(Block block);
  Block Combine(const RandomBuffer& buffer);
  Block ReduceExactly(const RandomBuffer& buffer,
                      const std::vector<RandomDim>& dims, int64_t steps);

  const RandomNestOptions options_;
  RandomExpressions& make_;
  RandomLoops& loops_;
  LoopNest& nest_;
};

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_TESTING_RANDOM_STATEMENTS_H_
