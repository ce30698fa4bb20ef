// Groups the stages of a dispatch that run together, row by row. The stages of
// a group have the same number of rows: a row of a stage is a point of its
// leading axes, flattened. Every access to a buffer that the group writes stays
// within the row that is being computed. A chunk of rows then runs through all
// stages before the next chunk, on any worker, so a temporary needs memory only
// for the rows of one chunk.
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
  int first = 0;  // the group consists of the stages [first, last) of the
                  // dispatch
  int last = 0;
  int64_t rows = 0;
  std::vector<int>
      // for each stage, the number of its leading spatial axes that form the
      // rows
      prefix;
  // temporary buffers of which only the rows of one chunk are kept in memory
  std::vector<int> temporaries;
};

std::vector<RowGroup> FormRowGroups(const tensor::Dispatch& dispatch,
                                    const PlanHeader& header,
                                    const std::vector<AnalyzedStage>& stages);

}  // namespace ember::vm

#endif  // EMBER_VM_INTERPRETER_ROW_GROUPS_H_
