// Groups the stages of a dispatch that run together, row by row. Stages of a
// group share a row space: the leading axes of each, flattened, have the same
// number of points. Every access to a buffer that the group writes touches only
// its own row. A chunk of rows then runs through all stages before the next
// chunk, on any worker, and a temporary needs memory for the rows of one chunk
// only.
#ifndef EMBER_VM_INTERPRETER_ROW_GROUPS_H_
#define EMBER_VM_INTERPRETER_ROW_GROUPS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "vm/interpreter/contraction.h"
#include "vm/interpreter/stage_analysis.h"

namespace ember::vm {

struct AnalyzedStage {
  StageAnalysis analysis;
  std::optional<ContractionAxes> contraction;
};

struct RowGroup {
  int first = 0;  // stages [first, last) of the dispatch
  int last = 0;
  int64_t rows = 0;
  std::vector<int>
      // for each stage the number of its spatial axes that make up the rows
      prefix;
  // buffers whose contents live in one chunk only
  std::vector<int> temporaries;
};

std::vector<RowGroup> FormRowGroups(const tensor::Dispatch& dispatch,
                                    const PlanHeader& header,
                                    const std::vector<AnalyzedStage>& stages);

}  // namespace ember::vm

#endif  // EMBER_VM_INTERPRETER_ROW_GROUPS_H_
