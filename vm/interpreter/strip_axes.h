// The loop axes of a strip program: it finds which axes of a stage collapse
// into one, and which two become the rows and columns of tiles.
#ifndef EMBER_VM_INTERPRETER_STRIP_AXES_H_
#define EMBER_VM_INTERPRETER_STRIP_AXES_H_

#include <vector>

#include "vm/interpreter/strip_program.h"

namespace ember::vm {

struct StripAxes {
  std::vector<LoopAxis> axes;
  std::vector<int>
      // for each loop axis its innermost analysis axis with a coefficient
      innermost;
  // for each loop axis a bit mask of its analysis axes
  std::vector<uint32_t> masks;
  // Per analysis axis: the number of steps along the innermost analysis axis of
  // its loop axis that one step along it is worth.
  int64_t steps[kMaxAxes] = {};
  int spatial_count = 0;

  // True if one coefficient per loop axis describes the form: if several axes
  // are one loop axis, the form depends only on their flat index.
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
// Sets mode, row_axis, column_axis, max_rows, max_columns and cost_per_point of
// the program.
void ChooseTile(const StripSpec& spec, const StripUses& uses,
                const StripAxes& axes, StripProgram& program);

}  // namespace ember::vm

#endif  // EMBER_VM_INTERPRETER_STRIP_AXES_H_
