// The parts of a plan of the strip interpreter: the stages of its dispatch as
// they run, and the memory that they need. Internal to plans.
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

// One stage as it runs: a strip program or a contraction.
struct Step {
  int stage = 0;
  StripProgram program;
  std::optional<Contraction> contraction;
  int64_t rest = 1;  // points per row of a strip program
  // Rows [begin, end) of the group are flat rows [begin / row_divisor *
  // row_factor, ...) of the contraction.
  int64_t row_divisor = 1;
  int64_t row_factor = 1;
  char* packed_b = nullptr;
  char* padded_a = nullptr;
  bool keeps_packed = false;  // true: B is constant
  // Work that is done once, by the first run: the padding of padded_a, and a
  // packed_b that is kept.
  bool has_padding = false;
  bool packed = false;
};

// A temporary that holds the rows of one chunk.
struct ChunkBuffer {
  int buffer = 0;
  int64_t row_bytes = 0;
  int64_t scratch_offset = 0;
  bool zero = false;  // true: some elements are not stored to
};

// Stages that run together, row by row (row_groups.h).
struct Group {
  int64_t rows = 0;
  bool ordered = false;  // stores may overlap: one chunk
  std::vector<Step> steps;
  std::vector<ChunkBuffer> chunk_buffers;
  int64_t row_alignment = 1;  // chunks begin at multiples of it
  int64_t preferred_rows =
      1;  // chunks are multiples of it if they are large enough
  int64_t wanted_rows =
      0;                  // chunks of fewer rows read packed operands too often
  int64_t most_rows = 0;  // limit per chunk, from the scratch size
  int64_t step_scratch = 0;  // offset of the steps' own scratch
  double row_cost = 0;
};

// A temporary to clear before each run.
struct Zeroed {
  char* data = nullptr;
  int64_t bytes = 0;
};

struct PlanParts {
  std::vector<Group> groups;
  // Pointers by number of the dispatch's buffers, then those of contractions.
  // Temporaries that are held in full are filled in, others are null.
  std::vector<char*> buffers;
  std::vector<Zeroed> zeroed;
  PlanFacts facts;
  int io_count = 0;           // number of inputs and outputs
  int64_t scratch_bytes = 0;  // per worker
  size_t slot_count = 1;      // operands of strips, per worker
};

Status BuildPlanParts(const tensor::Dispatch& dispatch,
                      const PlanHeader& header, const Plan::Options& options,
                      PlanMemory& memory, PlanParts* parts);

}  // namespace ember::vm

#endif  // EMBER_VM_INTERPRETER_PLAN_PARTS_H_
