// A dispatch under construction: its expressions are still in the pool, in any
// order. The builder and the parser fill a draft and assemble it into the
// canonical flat form; schedules convert a dispatch to a draft to rewrite it.
#ifndef EMBER_TENSOR_BUILDER_DRAFT_H_
#define EMBER_TENSOR_BUILDER_DRAFT_H_

#include <string>
#include <vector>

#include "tensor/builder/expression_pool.h"
#include "tensor/dispatch.h"

namespace ember::tensor {

struct DraftBuffer {
  std::string name;
  DType type = DType::kF32;
  BufferKind kind = BufferKind::kInput;
  std::vector<NodeId> extents;
};

struct DraftAxis {
  std::string name;
  NodeId extent = 0;
};

struct DraftStore {
  uint32_t buffer = 0;
  std::vector<NodeId> indices;
  Update update = Update::kAssign;
};

struct DraftStage {
  std::vector<DraftAxis> spatial;
  std::vector<DraftAxis> reduction;
  Combiner combiner = Combiner::kNone;
  std::vector<NodeId> values;
  std::vector<NodeId> initial;  // initial values of the accumulators of a kFold
                                // stage
  std::vector<NodeId> results;  // next values of the accumulators of a kFold
                                // stage
  std::vector<DraftStore> stores;
};

struct Draft {
  std::string name;
  std::vector<std::string> parameters;
  std::vector<DraftBuffer> buffers;
  std::vector<DraftStage> stages;
  ExpressionPool pool;
  // True if the draft may contain raw instructions, which leave cases such as
  // division by 0 undefined (jit/loops/raw.h). Only loop nests may. A raw
  // instruction's node has the immediate 1.
  bool allows_raw = false;
  // Nodes that the text marks by wide(...): they may not fit 32 bits
  // (loops::LoopNest::wide). Only for loop nests.
  std::vector<NodeId> wide;
};

// Assembles the canonical form of the dispatch. Buffers are ordered as inputs,
// outputs, temporaries. The header holds every value that depends on parameters
// and constants only, except constants that stages use directly: each stage has
// its own copy of such a constant. Instructions are in post-order of first use:
// buffer extents, axis extents, then for each stage the store indices, the
// values, and the fold's initial values and results. Unused instructions and
// unused parameters are dropped. Equal drafts give equal dispatches, even if
// their nodes were made in another order.
Dispatch Assemble(const Draft& draft);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_BUILDER_DRAFT_H_
