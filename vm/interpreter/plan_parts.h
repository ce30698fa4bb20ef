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
  int64_t rest = 1;  // number of points per row of a strip program
  // Rows [begin, end) of the group are flat rows [begin / row_divisor *
  // row_factor, ...) of the contraction.
  int64_t row_divisor = 1;
  int64_t row_factor = 1;
  char* packed_b = nullptr;
  char* padded_a = nullptr;
  // true: operand B is constant, and stays packed between runs
  bool keeps_packed = false;
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
  // true: cleared first, because some elements are not stored to
  bool zero = false;
};

// Stages that run together, row by row (row_groups.h).
struct Group {
  int64_t rows = 0;
  // true: stores may overlap, so all rows run in one chunk
  bool ordered = false;
  std::vector<Step> steps;
  std::vector<ChunkBuffer> chunk_buffers;
  // chunks begin at multiples of this number of rows
  int64_t row_alignment = 1;
  int64_t preferred_rows =
      // chunks have a multiple of this number of rows if they are large enough
      1;
  int64_t wanted_rows =
      // smallest useful number of rows of a chunk: smaller chunks read packed
      // operands too often
      0;
  // largest number of rows of a chunk, from the scratch size
  int64_t most_rows = 0;
  int64_t step_scratch = 0;  // offset in bytes of the steps' own scratch
  double row_cost = 0;
};

// A temporary that is cleared before each run.
struct Zeroed {
  char* data = nullptr;
  int64_t bytes = 0;
};

struct PlanParts {
  std::vector<Group> groups;
  // Pointers to buffers: those of the dispatch by their number, then those of
  // contractions. Temporaries that are held in full are filled in, others are
  // null.
  std::vector<char*> buffers;
  std::vector<Zeroed> zeroed;
  PlanFacts facts;
  int io_count = 0;           // number of inputs and outputs
  int64_t scratch_bytes = 0;  // bytes of scratch memory per worker
  size_t slot_count = 1;      // number of operands of strips per worker
};

Status BuildPlanParts(const tensor::Dispatch& dispatch,
                      const PlanHeader& header, const Plan::Options& options,
                      PlanMemory& memory, PlanParts* parts);

}  // namespace ember::vm

#endif  // EMBER_VM_INTERPRETER_PLAN_PARTS_H_
