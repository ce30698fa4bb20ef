// A dispatch while it is made: its expressions are still in the pool, in any
// order. The builder and the parser fill a draft and assemble it into the
// canonical flat form; schedules take a dispatch apart into a draft to rewrite
// it.
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
  std::vector<NodeId> initial;  // initial accumulators of kFold
  std::vector<NodeId> results;  // next accumulators of kFold
  std::vector<DraftStore> stores;
};

struct Draft {
  std::string name;
  std::vector<std::string> parameters;
  std::vector<DraftBuffer> buffers;
  std::vector<DraftStage> stages;
  ExpressionPool pool;
  // True if instructions may be raw, as in loop nests (jit/loops/raw.h). The
  // nodes of raw instructions have the immediate 1.
  bool allows_raw = false;
};

// Assembles the canonical form. Buffers: inputs, outputs, temporaries. Header:
// every value that depends on parameters and constants only, except constants
// that stages use directly; each stage has its own copy of those. Instructions
// are in post-order of first use: buffer extents, axis extents, then per stage
// store indices, values, initial values and results of the fold. Unused
// instructions and unused parameters are dropped. Equal drafts give the same
// dispatch, also if they were written in another order.
Dispatch Assemble(const Draft& draft);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_BUILDER_DRAFT_H_
