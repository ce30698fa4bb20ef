// Computes the loop axes of a strip program: which axes of a stage can be
// combined into one loop axis, and which two loop axes are the rows and columns
// of tiles.
#ifndef EMBER_VM_INTERPRETER_STRIP_AXES_H_
#define EMBER_VM_INTERPRETER_STRIP_AXES_H_

#include <vector>

#include "vm/interpreter/strip_program.h"

namespace ember::vm {

struct StripAxes {
  std::vector<LoopAxis> axes;
  std::vector<int>
      // for each loop axis, the innermost of the stage's axes in it that has a
      // nonzero coefficient
      innermost;
  // for each loop axis, a bit mask of the axes of the analysis that it combines
  std::vector<uint32_t> masks;
  // For each axis of the analysis, which is a part of a loop axis: the number
  // of points of the loop axis between two neighbouring points of the axis.
  int64_t steps[kMaxAxes] = {};
  int spatial_count = 0;

  // True if the form can be described by one coefficient per loop axis: if a
  // loop axis combines several axes, the form must depend only on their flat
  // index.
  bool Describes(const Affine& form) const;

  int64_t Coefficient(const Affine& form, int axis) const {
    return axis < 0 ? 0 : form.coefficients[innermost[axis]];
  }
  bool Varies(const Affine& form, int axis) const {
    return Coefficient(form, axis) != 0;
  }
};

StripAxes CollapseAxes(const StageAnalysis& analysis, const StripSpec& spec,
                       const StripUses& uses);
// Chooses the tile: sets mode, row_axis, column_axis, max_rows, max_columns and
// cost_per_point of the program.
void ChooseTile(const StripSpec& spec, const StripUses& uses,
                const StripAxes& axes, StripProgram& program);

}  // namespace ember::vm

#endif  // EMBER_VM_INTERPRETER_STRIP_AXES_H_
