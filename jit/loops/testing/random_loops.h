// Makes random loops for a nest that is being generated. Internal to
// jit/loops/testing/random_nest.h.
#ifndef EMBER_JIT_LOOPS_TESTING_RANDOM_LOOPS_H_
#define EMBER_JIT_LOOPS_TESTING_RANDOM_LOOPS_H_

#include <functional>
#include <vector>

#include "jit/loops/loop_nest.h"
#include "jit/loops/testing/random_expressions.h"

namespace ember::loops {

// An index of a buffer for which loops are made: they run over its extent.
struct RandomDim {
  RandomExtent extent;
  bool in_register = false;  // true if the dim belongs to a register buffer
  bool is_last = false;      // true if the dim is the last one of its buffer
  // True if the dim gets an invocation loop: the loop over the dim, or one of
  // the loops into which that loop is split.
  bool in_invocations = false;
};

Statement If(NodeId condition, Block body);
Statement StoreStatement(std::vector<Store> stores);
Block BlockOf(Statement statement);
void Append(Block& block, Block&& more);

class RandomLoops {
 public:
  using Indices = std::vector<NodeId>;
  using MakeBody = std::function<Block(const Indices&)>;
  using MakeLoopBody = std::function<Block(NodeId)>;

  RandomLoops(const RandomNestOptions& options, RandomExpressions& make,
              LoopNest& nest)
      : options_(options), make_(make), nest_(nest) {}

  // Returns loops that visit every point of the dims once. Their order and
  // kinds are random; loops may be split or fused.
  Block Over(const std::vector<RandomDim>& dims, const MakeBody& make_body);
  // Returns loops like those of Over, but in the order of the dims and without
  // vector loops.
  Block InOrder(const std::vector<RandomDim>& dims, const MakeBody& make_body);

  Block Loop(LoopKind kind, const RandomExtent& extent,
             const MakeLoopBody& make_body);
  // Makes the body of a loop over a new variable, and returns the variable.
  NodeId InLoop(LoopKind kind, const RandomExtent& extent,
                const MakeLoopBody& make_body, Block& body);

 private:
  // The state of making loops over dims: the dims, the order of their loops,
  // and the indices that were made so far.
  struct Point {
    const std::vector<RandomDim>& dims;
    const std::vector<size_t>& order;
    const MakeBody& make_body;
    Indices indices;
  };

  uint64_t NewNumber();
  LoopKind AnyKind(const RandomExtent& extent);
  bool CanBeVector() const {
    return !in_vector_ && !no_vectors_ && !before_invocations_;
  }
  Block LoopsFrom(Point& point, size_t position);
  Block RegisterLoop(const RandomDim& dim, const MakeLoopBody& inner);
  Block FusedLoop(const RandomExtent& a, const RandomExtent& b,
                  const std::function<Block(NodeId, NodeId)>& inner);
  Block SplitLoop(const RandomExtent& extent, const MakeLoopBody& inner);
  Block InvocationLoop(const RandomDim& dim, const MakeLoopBody& inner);
  Block StepLoop(LoopKind kind, const RandomExtent& extent,
                 const RandomExtent& step, NodeId begin,
                 const MakeLoopBody& inner);

  const RandomNestOptions options_;
  RandomExpressions& make_;
  LoopNest& nest_;
  std::vector<uint64_t> free_numbers_;
  bool in_vector_ = false;
  bool no_vectors_ = false;
  // True while the loops made so far are outside of an invocation loop that is
  // still to be made. A vector loop may not be around it.
  bool before_invocations_ = false;
};

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_TESTING_RANDOM_LOOPS_H_
