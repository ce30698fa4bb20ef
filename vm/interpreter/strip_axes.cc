#include "vm/interpreter/strip_axes.h"

#include <algorithm>

#include "base/rounding.h"

namespace ember::vm {

using tensor::Combiner;
using tensor::Instruction;
using tensor::Opcode;
using tensor::Register;

namespace {

class UseCollector {
 public:
  UseCollector(const StageAnalysis& analysis, StripUses& uses)
      : analysis_(analysis),
        uses_(uses),
        seen_(analysis.values.size(), false) {}

  // Visits the instructions that compute a register, and notes their loads and
  // forms. It does not use recursion, because a file may contain a chain of any
  // number of instructions.
  void Visit(Register r) {
    stack_.push_back(r);
    VisitStack();
  }

  // Visits an access that is not the value of a register, such as a store.
  void VisitAccess(const Access& access) {
    AddAccess(access);
    VisitStack();
  }

 private:
  void VisitStack() {
    while (!stack_.empty()) {
      const Register next = stack_.back();
      stack_.pop_back();
      const size_t size = stack_.size();
      VisitOne(next);
      // The new entries of the stack are reversed, so that the first operand is
      // visited first.
      std::reverse(stack_.begin() + static_cast<ptrdiff_t>(size), stack_.end());
    }
  }

  void VisitOne(Register r) {
    if (analysis_.IsHeader(r)) return;
    const size_t index = r - analysis_.stage().begin;
    if (seen_[index]) return;
    seen_[index] = true;
    const StageValue& value = analysis_.values[index];
    if (value.affine) {
      if (value.axes != 0) uses_.forms.push_back(&value.form);
      return;
    }
    uses_.data.push_back(r);
    const Instruction& instruction = analysis_.dispatch->instructions[r];
    if (value.access >= 0) {
      uses_.loads.push_back(&analysis_.accesses[value.access]);
      AddAccess(analysis_.accesses[value.access]);
      if (instruction.opcode == Opcode::kPad) stack_.push_back(instruction.c);
      return;
    }
    analysis_.dispatch->ForEachOperand(
        instruction, [&](Register operand) { stack_.push_back(operand); });
  }

  void AddAccess(const Access& access) {
    uses_.forms.push_back(&access.offset);
    for (const Guard& guard : access.guards) uses_.forms.push_back(&guard.form);
    for (const DynamicIndex& dim : access.dynamic) {
      if (dim.affine) {
        uses_.forms.push_back(&dim.form);
      } else {
        stack_.push_back(dim.index);
      }
    }
  }

  const StageAnalysis& analysis_;
  StripUses& uses_;
  std::vector<bool> seen_;
  std::vector<Register> stack_;  // registers that are still to be visited
};

bool CanCollapse(const StripUses& uses, int outer, int inner,
                 int64_t inner_extent) {
  for (const Affine* form : uses.forms) {
    if (form->coefficients[outer] != form->coefficients[inner] * inner_extent)
      return false;
  }
  return true;
}

void CollapseList(const StageAnalysis& analysis, const StripUses& uses,
                  std::span<const int> list, int segment, StripAxes& result) {
  const size_t first = result.axes.size();
  for (int axis : list) {
    const int64_t extent = analysis.axes[axis].extent;
    if (extent == 1) continue;
    if (result.axes.size() > first &&
        CanCollapse(uses, result.innermost.back(), axis, extent)) {
      for (size_t outer = 0; outer < analysis.axes.size(); ++outer) {
        if (result.masks.back() >> outer & 1) result.steps[outer] *= extent;
      }
      result.axes.back().extent *= extent;
      result.innermost.back() = axis;
      result.steps[axis] = 1;
      result.masks.back() |= 1u << axis;
      continue;
    }
    result.axes.push_back({extent, segment});
    result.steps[axis] = 1;
    result.innermost.push_back(axis);
    result.masks.push_back(1u << axis);
  }
}

// Estimates the nanoseconds per element of a load in which neighbouring columns
// and rows have these distances in memory.
double LoadCost(int64_t column_step, int64_t row_step, int64_t columns) {
  if (column_step == 0) return 0.02;
  if (column_step == 1)
    return 0.1 + (row_step != 0 ? 0.5 / static_cast<double>(columns) : 0);
  return std::abs(column_step) < 16 ? 0.5 : 1.2;
}

struct TileChoice {
  int row = -1;
  int column = -1;
  int64_t max_rows = 1;
  int64_t max_columns = 1;
  bool transposes = false;
  double cost = 1e30;
};

class TileChooser {
 public:
  TileChooser(const StripSpec& spec, const StripUses& uses,
              const StripAxes& axes, int op_count)
      : spec_(spec), uses_(uses), axes_(axes), op_count_(op_count) {
    tile_elements_ =
        std::clamp<int64_t>(kTileBytes / (4 * (std::max(op_count, 0) + 1)),
                            kFewestTileElements, kTileElements);
  }

  TileChoice Choose() {
    const int count = static_cast<int>(axes_.axes.size());
    const bool reduces = count > axes_.spatial_count;
    const bool horizontal = reduces && spec_.combiner != Combiner::kFold;
    Consider(-1, -1);
    for (int column = 0; column < (horizontal ? count : axes_.spatial_count);
         ++column) {
      Consider(-1, column);
      // Inner axes are considered first as rows, because callers divide outer
      // axes into ranges.
      for (int row = axes_.spatial_count - 1; row >= 0; --row) {
        if (row != column) Consider(row, column);
      }
    }
    return best_;
  }

  TileChoice Fixed(int row, int column) {
    Consider(row, column);
    return best_;
  }

 private:
  // True if, for some load, neighbouring rows of a tile are adjacent in memory
  // and neighbouring columns are not. Square tiles then use all of each cache
  // line that they read.
  bool Transposes(int row, int column) const {
    if (row < 0 || column < 0) return false;
    for (const Access* load : uses_.loads) {
      if (axes_.Coefficient(load->offset, row) == 1 &&
          std::abs(axes_.Coefficient(load->offset, column)) > 1) {
        return true;
      }
    }
    return false;
  }

  int64_t ExtentOf(int axis) const {
    const LoopAxis& loop = axes_.axes[axis];
    if (loop.segment < 0 || spec_.most_points.empty()) return loop.extent;
    return std::min(loop.extent, spec_.most_points[loop.segment]);
  }

  // Reduces `most`, the largest size of a tile along an axis, such that the
  // axis is divided into tiles of nearly equal sizes.
  static void Even(int64_t extent, int64_t& most) {
    if (extent <= most) return;
    const int64_t tiles = DivideRoundingUp(extent, most);
    const int64_t even = DivideRoundingUp(extent, tiles);
    most = most >= 64 ? std::min((even + 15) / 16 * 16, most) : even;
  }

  void Consider(int row, int column) {
    TileChoice choice;
    choice.row = row;
    choice.column = column;
    if (column >= 0) {
      choice.max_columns =
          std::clamp<int64_t>(ExtentOf(column), 1, tile_elements_);
    }
    choice.transposes = Transposes(row, column);
    if (choice.transposes)
      choice.max_columns = std::min<int64_t>(choice.max_columns, 32);
    if (row >= 0) {
      choice.max_rows = std::clamp<int64_t>(
          ExtentOf(row), 1,
          std::max<int64_t>(tile_elements_ / choice.max_columns, 1));
    }
    if (row >= 0 && choice.transposes)
      choice.max_rows = std::min<int64_t>(choice.max_rows, 32);
    if (column >= 0) Even(ExtentOf(column), choice.max_columns);
    if (row >= 0) Even(ExtentOf(row), choice.max_rows);
    choice.cost = Cost(choice);
    if (choice.cost < best_.cost) best_ = choice;
  }

  double Cost(const TileChoice& choice) const {
    const double rows = static_cast<double>(choice.max_rows);
    const double columns = static_cast<double>(choice.max_columns);
    const bool horizontal = choice.column >= axes_.spatial_count;
    double cost = 0;
    for (const Access* load : uses_.loads) cost += AccessCost(*load, choice);
    for (const StripStore& store : spec_.stores) {
      const double one = AccessCost(store.access, choice);
      cost += horizontal ? one / columns : one;
    }
    const double overhead = (10.0 + 2.0 * rows) / (rows * columns);
    const double ops = std::max(op_count_, 0) + 1.0;
    cost += ops * (0.1 + overhead);
    if (spec_.combiner != Combiner::kNone)
      cost += horizontal ? 0.2 + 8.0 / columns : 0.1;
    return cost;
  }

  double AccessCost(const Access& access, const TileChoice& choice) const {
    if (!access.dynamic.empty()) {
      bool columns = false;
      for (const DynamicIndex& dim : access.dynamic) {
        columns |= !dim.affine || axes_.Varies(dim.form, choice.column);
      }
      return columns ? 2.0 : 1.0;
    }
    const int64_t column_step = axes_.Coefficient(access.offset, choice.column);
    const int64_t row_step = axes_.Coefficient(access.offset, choice.row);
    double cost = LoadCost(column_step, row_step, choice.max_columns);
    if (choice.transposes && row_step == 1 && std::abs(column_step) > 1)
      cost = 0.4;
    for (const Guard& guard : access.guards) {
      if (axes_.Varies(guard.form, choice.row) &&
          axes_.Varies(guard.form, choice.column)) {
        cost += 4.0;
      } else if (axes_.Varies(guard.form, choice.column)) {
        cost += 0.1;
      }
    }
    return cost;
  }

  const StripSpec& spec_;
  const StripUses& uses_;
  const StripAxes& axes_;
  const int op_count_;
  int64_t tile_elements_ = 0;
  TileChoice best_;
};

}  // namespace

bool StripAxes::Describes(const Affine& form) const {
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t unit = form.coefficients[innermost[i]];
    for (int axis = 0; axis < kMaxAxes; ++axis) {
      if ((masks[i] >> axis & 1) &&
          form.coefficients[axis] != unit * steps[axis]) {
        return false;
      }
    }
  }
  return true;
}

StripUses CollectUses(const StageAnalysis& analysis, const StripSpec& spec) {
  StripUses uses;
  UseCollector collector(analysis, uses);
  for (Register r : spec.values) collector.Visit(r);
  if (spec.source != nullptr) {
    uses.loads.push_back(spec.source);
    collector.VisitAccess(*spec.source);
  }
  if (spec.fold != nullptr) {
    for (Register r : spec.fold->initial) collector.Visit(r);
    for (Register r : spec.fold->results) collector.Visit(r);
  }
  for (const StripStore& store : spec.stores)
    collector.VisitAccess(store.access);
  return uses;
}

StripAxes CollapseAxes(const StageAnalysis& analysis, const StripSpec& spec,
                       const StripUses& uses) {
  StripAxes result;
  uint32_t taken = 0;
  for (size_t s = 0; s < spec.segments.size(); ++s) {
    for (int axis : spec.segments[s]) taken |= 1u << axis;
    CollapseList(analysis, uses, spec.segments[s], static_cast<int>(s), result);
  }
  result.spatial_count = static_cast<int>(result.axes.size());
  std::vector<int> reduction;
  for (size_t axis = 0; axis < analysis.axes.size(); ++axis) {
    if (analysis.axes[axis].reduction && !(taken >> axis & 1)) {
      reduction.push_back(static_cast<int>(axis));
    }
  }
  if (spec.combiner != Combiner::kNone)
    CollapseList(analysis, uses, reduction, -1, result);
  return result;
}

void ChooseTile(const StripSpec& spec, const StripUses& uses,
                const StripAxes& axes, StripProgram& program) {
  TileChooser chooser(
      spec, uses, axes,
      static_cast<int>(uses.data.size()) - static_cast<int>(uses.loads.size()));
  TileChoice choice;
  if (spec.ordered) {
    const int column = axes.spatial_count - 1;
    const bool fits =
        column >= 1 && axes.axes[column].extent <= kFewestTileElements;
    choice = chooser.Fixed(fits ? column - 1 : -1, column);
  } else {
    choice = chooser.Choose();
  }
  program.row_axis = choice.row;
  program.column_axis = choice.column;
  program.max_rows = choice.max_rows;
  program.max_columns = choice.max_columns;
  program.cost_per_point = choice.cost;
  if (spec.combiner == Combiner::kFold) {
    program.mode = StripMode::kFold;
  } else if (spec.combiner != Combiner::kNone) {
    program.mode = choice.column >= axes.spatial_count ? StripMode::kHorizontal
                                                       : StripMode::kVertical;
  }
}

}  // namespace ember::vm
