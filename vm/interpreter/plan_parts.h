// The parts of a plan of the strip interpreter: the stages of its dispatch in
// the form in which they run, and the memory that they need. Internal to plans.
//
//   PlanMemory memory(dispatch, options.budget, options.allocator);
//   PlanParts parts;
//   EMBER_RETURN_IF_ERROR(
//       BuildPlanParts(dispatch, header, options, memory, &parts));
//
// Errors: the budget does not grant memory, or a stage is refused. parts is
// unspecified then.
#ifndef EMBER_VM_INTERPRETER_PLAN_PARTS_H_
#define EMBER_VM_INTERPRETER_PLAN_PARTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "base/status.h"
#include "tensor/dispatch.h"
#include "vm/interpreter/contraction.h"
#include "vm/interpreter/plan.h"
#include "vm/interpreter/plan_memory.h"
#include "vm/interpreter/stage_analysis.h"
#include "vm/interpreter/strip_program.h"

namespace ember::vm {

// A stage in the form in which it runs: a strip program or a contraction.
struct Step {
  int stage = 0;
  StripProgram program;
  std::optional<Contraction> contraction;
  // The buffers of a stage that copies an input to the same positions of an
  // output (tensor/analysis/self_copy.h); -1 for other stages. If the caller
  // passes the same memory for both, the run skips the step.
  int copied_input = -1, copied_output = -1;
  int64_t rest = 1;  // number of points of the stage's strip program in one row
                     // of the group
  // A contraction of the group computes its flat rows (points of outer batch
  // and M axes) from begin / row_divisor * row_factor on, for the rows [begin,
  // end) of the group.
  int64_t row_divisor = 1;
  int64_t row_factor = 1;
  char* packed_b = nullptr;
  char* padded_a = nullptr;
  // true if operand B is constant, so that its packed copy is kept between runs
  bool keeps_packed = false;
  // State that the first run sets. has_padding: the padding of padded_a has
  // been written. packed: B has been packed and is kept. The first run does
  // this work.
  bool has_padding = false;
  bool packed = false;
};

// A temporary buffer of which only the rows of the current chunk are in memory.
struct ChunkBuffer {
  int buffer = 0;
  int64_t row_bytes = 0;
  int64_t scratch_offset = 0;
  // True if the chunk's rows are cleared before the stages run, because the
  // stages do not store to all elements.
  bool zero = false;
};

// A group of stages that run together, row by row (row_groups.h).
struct Group {
  int64_t rows = 0;
  // True if stores of different rows may overlap, so that all rows must run in
  // order in one chunk.
  bool ordered = false;
  std::vector<Step> steps;
  std::vector<ChunkBuffer> chunk_buffers;
  // Each chunk begins at a multiple of this number of rows.
  int64_t row_alignment = 1;
  int64_t preferred_rows =
      // Large chunks have a multiple of this number of rows.
      1;
  int64_t wanted_rows =
      // Smallest number of rows that a chunk should have: smaller chunks would
      // read the packed operands too often.
      0;
  // Largest number of rows of a chunk, which follows from the size of scratch
  // memory.
  int64_t most_rows = 0;
  int64_t step_scratch = 0;  // offset in bytes of the steps' scratch memory in
                             // the scratch memory of each worker
  double row_cost = 0;
};

// Memory of a temporary that is cleared before each run, because the stages do
// not store to all of its elements.
struct Zeroed {
  char* data = nullptr;
  int64_t bytes = 0;
};

struct PlanParts {
  std::vector<Group> groups;
  // Pointers to all buffers: first those of the dispatch, by number, then those
  // of contractions. Pointers to temporaries that are completely in memory are
  // set here; all others are null.
  std::vector<char*> buffers;
  std::vector<Zeroed> zeroed;
  PlanFacts facts;
  int io_count = 0;           // number of input and output buffers of the
                              // dispatch
  int64_t scratch_bytes = 0;  // number of bytes of scratch memory that each
                              // worker needs
  size_t register_count = 1;  // number of tile operands that each worker needs
                              // to run strip programs
};

Status BuildPlanParts(const tensor::Dispatch& dispatch,
                      const PlanHeader& header, const Plan::Options& options,
                      PlanMemory& memory, PlanParts* parts);

}  // namespace ember::vm

#endif  // EMBER_VM_INTERPRETER_PLAN_PARTS_H_
