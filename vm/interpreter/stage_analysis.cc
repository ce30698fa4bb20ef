#include "vm/interpreter/stage_analysis.h"

#include <algorithm>
#include <string>

#include "base/concat.h"
#include "tensor/range_rules.h"

namespace ember::vm {

using tensor::Dispatch;
using tensor::Instruction;
using tensor::Interval;
using tensor::Opcode;
using tensor::Register;

namespace {

// A request to split an axis into two, outer and inner: the axis's index is
// then outer * inner_extent + inner.
struct Split {
  int axis = -1;
  int64_t inner_extent = 0;
};

class Analyzer {
 public:
  Analyzer(const Dispatch& dispatch, const PlanHeader& header, int number)
      : dispatch_(dispatch), header_(header), stage_(dispatch.stages[number]) {
    result_.dispatch = &dispatch;
    result_.header = &header;
    result_.number = number;
  }

  StatusOr<StageAnalysis> Run() {
    EMBER_RETURN_IF_ERROR(SetAxes());
    for (;;) {
      AnalyzeValues();
      if (split_.axis < 0) break;
      ApplySplit();
    }
    EMBER_RETURN_IF_ERROR(AnalyzeAccesses());
    result_.needs_order = NeedsOrder();
    return std::move(result_);
  }

 private:
  Status SetAxes() {
    const size_t count = stage_.spatial.size() + stage_.reduction.size();
    if (count > kMaxAxes) {
      return UnimplementedError(Concat(
          {Where(), ": ", count, " axes; the interpreter takes ", kMaxAxes}));
    }
    result_.spatial_count = static_cast<int>(stage_.spatial.size());
    for (size_t i = 0; i < count; ++i) {
      const bool reduction = i >= stage_.spatial.size();
      const tensor::Axis& axis =
          reduction ? stage_.reduction[i - stage_.spatial.size()]
                    : stage_.spatial[i];
      const int64_t extent = static_cast<int64_t>(header_.values[axis.extent]);
      empty_ |= extent == 0;
      stores_nothing_ |= extent == 0 && !reduction;
      result_.axes.push_back({extent, reduction});
      Affine form;
      if (extent != 1) form.coefficients[i] = 1;
      axis_forms_.push_back(form);
    }
    return OkStatus();
  }

  std::string Where() const {
    return Concat({"dispatch @", dispatch_.name, ": stage ", result_.number});
  }

  // --- forms ---

  StageValue FromConstant(int64_t value) const {
    StageValue v;
    v.affine = -kMaxReach <= value && value <= kMaxReach;
    v.form.constant = v.affine ? value : 0;
    v.range = Interval::Of(value);
    return v;
  }

  StageValue ValueOf(Register r) const {
    if (r >= dispatch_.header_end) return result_.values[r - stage_.begin];
    const DType type = dispatch_.instructions[r].type;
    if (type == DType::kI64)
      return FromConstant(static_cast<int64_t>(header_.values[r]));
    StageValue v;
    v.range = tensor::RangeOfType(type);
    return v;
  }

  Interval RangeOf(const Affine& form) const {
    Interval range = Interval::Of(form.constant);
    for (size_t i = 0; i < result_.axes.size(); ++i) {
      if (form.coefficients[i] == 0) continue;
      range = range +
              Interval::Of(form.coefficients[i]) *
                  Interval{0, std::max<int64_t>(result_.axes[i].extent - 1, 0)};
    }
    return range;
  }

  // Computes a += scale * b. Returns false if the result might exceed
  // kMaxReach.
  bool AddScaled(Affine& a, const Affine& b, int64_t scale) const {
    int64_t product;
    bool fits = !__builtin_mul_overflow(b.constant, scale, &product) &&
                !__builtin_add_overflow(a.constant, product, &a.constant);
    for (int i = 0; i < kMaxAxes; ++i) {
      fits &= !__builtin_mul_overflow(b.coefficients[i], scale, &product) &&
              !__builtin_add_overflow(a.coefficients[i], product,
                                      &a.coefficients[i]);
    }
    return fits && IsWithinReach(a);
  }

  bool IsWithinReach(const Affine& form) const {
    uint64_t reach = Magnitude(form.constant);
    for (size_t i = 0; i < result_.axes.size(); ++i) {
      const auto extent =
          static_cast<uint64_t>(std::max<int64_t>(result_.axes[i].extent, 1));
      uint64_t term;
      if (__builtin_mul_overflow(Magnitude(form.coefficients[i]), extent,
                                 &term) ||
          __builtin_add_overflow(reach, term, &reach)) {
        return false;
      }
    }
    return reach <= static_cast<uint64_t>(kMaxReach);
  }

  static uint64_t Magnitude(int64_t value) {
    const auto bits = static_cast<uint64_t>(value);
    return value < 0 ? 0 - bits : bits;
  }

  void SetAffine(StageValue& value, const Affine& form) const {
    value.affine = true;
    value.form = form;
    value.range = RangeOf(form);
    value.axes = 0;
    for (size_t i = 0; i < result_.axes.size(); ++i) {
      if (form.coefficients[i] != 0) value.axes |= 1u << i;
    }
  }

  // Finds an affine form `quotient` such that x = divisor * quotient + rest
  // with 0 <= rest < divisor at every point. Returns false if there is none
  // that it can find.
  bool DivideAffine(const Affine& x, int64_t divisor, Affine& quotient) {
    Affine rest;
    quotient = {};
    for (size_t i = 0; i < result_.axes.size(); ++i) {
      (x.coefficients[i] % divisor == 0 ? quotient : rest).coefficients[i] =
          x.coefficients[i];
      quotient.coefficients[i] /= divisor;
    }
    rest.constant = x.constant;
    const Interval range =
        tensor::FloorDivide(RangeOf(rest), Interval::Of(divisor));
    if (range.IsConstant()) {
      quotient.constant = range.low;
      return true;
    }
    ConsiderSplit(rest, divisor);
    return false;
  }

  void ConsiderSplit(const Affine& rest, int64_t divisor) {
    if (split_.axis >= 0 || result_.axes.size() >= kMaxAxes) return;
    for (size_t i = 0; i < result_.axes.size(); ++i) {
      const int64_t coefficient = rest.coefficients[i];
      if (coefficient <= 0 || divisor % coefficient != 0) continue;
      const int64_t inner = divisor / coefficient;
      if (inner > 1 && inner < result_.axes[i].extent &&
          result_.axes[i].extent % inner == 0) {
        split_ = {static_cast<int>(i), inner};
        return;
      }
    }
  }

  void ApplySplit() {
    const int axis = split_.axis;
    const int64_t inner = split_.inner_extent;
    StageAxis& outer = result_.axes[axis];
    outer.extent /= inner;
    result_.axes.insert(result_.axes.begin() + axis + 1,
                        StageAxis{inner, outer.reduction});
    if (axis < result_.spatial_count) ++result_.spatial_count;
    for (Affine& form : axis_forms_) {
      const int64_t coefficient = form.coefficients[axis];
      for (int i = kMaxAxes - 1; i > axis + 1; --i)
        form.coefficients[i] = form.coefficients[i - 1];
      form.coefficients[axis + 1] = coefficient;
      form.coefficients[axis] = coefficient * inner;
    }
    split_ = {};
  }

  // --- values ---

  void AnalyzeValues() {
    result_.values.assign(stage_.end - stage_.begin, StageValue());
    for (uint32_t i = stage_.begin; i < stage_.end; ++i) {
      result_.values[i - stage_.begin] =
          AnalyzeInstruction(dispatch_.instructions[i]);
    }
  }

  StageValue AnalyzeInstruction(const Instruction& instruction) {
    StageValue value;
    if (instruction.opcode == Opcode::kAxis) {
      SetAffine(value, axis_forms_[instruction.immediate]);
      return value;
    }
    if (instruction.opcode == Opcode::kConstant) {
      if (instruction.type == DType::kI64) {
        return FromConstant(static_cast<int64_t>(instruction.immediate));
      }
      value.range =
          tensor::RangeOfConstant(instruction.immediate, instruction.type);
      return value;
    }
    if (instruction.opcode == Opcode::kAccumulator ||
        instruction.opcode == Opcode::kElement) {
      value.axes = kAccumulatorBit;
      value.range = tensor::RangeOfType(instruction.type);
      return value;
    }
    dispatch_.ForEachOperand(
        instruction, [&](Register r) { value.axes |= ValueOf(r).axes; });
    const bool access = instruction.opcode == Opcode::kLoad ||
                        instruction.opcode == Opcode::kPad;
    if (access) {
      value.range = tensor::RangeOfType(instruction.type);
      return value;
    }
    const int count = tensor::RegisterOperandCount(instruction.opcode);
    const StageValue a = ValueOf(instruction.a);
    const StageValue b = count > 1 ? ValueOf(instruction.b) : StageValue();
    const StageValue c = count > 2 ? ValueOf(instruction.c) : StageValue();
    value.range = tensor::RangeOfResult(
        instruction.opcode,
        dispatch_.instructions[count == 3 ? instruction.b : instruction.a].type,
        instruction.type, a.range, b.range, c.range);
    if (instruction.type == DType::kI64)
      Combine(instruction.opcode, a, b, value);
    return value;
  }

  void Combine(Opcode opcode, const StageValue& a, const StageValue& b,
               StageValue& value) {
    if (opcode == Opcode::kNegate && a.affine) {
      Affine form;
      if (AddScaled(form, a.form, -1)) SetAffine(value, form);
      return;
    }
    if (!a.affine || !b.affine) return;
    const bool a_constant = a.range.IsConstant(),
               b_constant = b.range.IsConstant();
    Affine form = a.form;
    switch (opcode) {
      case Opcode::kAdd:
        if (AddScaled(form, b.form, 1)) SetAffine(value, form);
        return;
      case Opcode::kSubtract:
        if (AddScaled(form, b.form, -1)) SetAffine(value, form);
        return;
      case Opcode::kMultiply:
        form = {};
        if (b_constant && AddScaled(form, a.form, b.range.low)) {
          SetAffine(value, form);
        } else if (form = {};
                   a_constant && AddScaled(form, b.form, a.range.low)) {
          SetAffine(value, form);
        }
        return;
      case Opcode::kDivide:
        // If the value may be negative, its quotient gets no affine form,
        // because truncating and flooring division then differ.
        if (a.range.low < 0) return;
        [[fallthrough]];
      case Opcode::kFloorDivide:
        if (b_constant && b.range.low > 0 &&
            DivideAffine(a.form, b.range.low, form)) {
          SetAffine(value, form);
        }
        return;
      case Opcode::kRemainder:
        if (a.range.low < 0) return;
        [[fallthrough]];
      case Opcode::kModulo: {
        if (!b_constant || b.range.low <= 0) return;
        Affine quotient;
        if (DivideAffine(a.form, b.range.low, quotient) &&
            AddScaled(form, quotient, -b.range.low)) {
          SetAffine(value, form);
        }
        return;
      }
      case Opcode::kMinimum:
        if (a.range.high <= b.range.low) SetAffine(value, a.form);
        if (b.range.high <= a.range.low) SetAffine(value, b.form);
        return;
      case Opcode::kMaximum:
        if (a.range.low >= b.range.high) SetAffine(value, a.form);
        if (b.range.low >= a.range.high) SetAffine(value, b.form);
        return;
      default:
        return;
    }
  }

  // --- accesses ---

  Status AnalyzeAccesses() {
    for (uint32_t i = stage_.begin; i < stage_.end; ++i) {
      const Instruction& instruction = dispatch_.instructions[i];
      const bool pad = instruction.opcode == Opcode::kPad;
      if (!pad && instruction.opcode != Opcode::kLoad) continue;
      const size_t rank = dispatch_.buffers[instruction.a].extents.size();
      Access access;
      EMBER_RETURN_IF_ERROR(
          MakeAccess(static_cast<int>(instruction.a),
                     std::span(dispatch_.operands.data() + instruction.b, rank),
                     pad, empty_, access));
      result_.values[i - stage_.begin].access =
          static_cast<int>(result_.accesses.size());
      result_.accesses.push_back(std::move(access));
    }
    for (const tensor::Store& store : stage_.stores) {
      Access access;
      // The store is analysed even if the stage sums up no terms, because its
      // result (0) must be stored.
      EMBER_RETURN_IF_ERROR(MakeAccess(static_cast<int>(store.buffer),
                                       store.indices, false, stores_nothing_,
                                       access));
      result_.stores.push_back(std::move(access));
    }
    return OkStatus();
  }

  // Analyses an access with these indices. `pads` is true for a Pad, which may
  // be out of bounds. `never` is true if the access is never executed, so that
  // its indices need not be in bounds.
  Status MakeAccess(int buffer, std::span<const Register> indices, bool pads,
                    bool never, Access& access) {
    access.buffer = buffer;
    const std::vector<int64_t>& extents = header_.extents[buffer];
    std::vector<DynamicIndex> dims(extents.size());
    Affine offset;  // sum of the indices that are affine, each times its stride
                    // in the buffer
    bool all_affine = true, fits = true;
    int64_t stride = 1;
    for (int d = static_cast<int>(extents.size()) - 1; d >= 0; --d) {
      const StageValue value = ValueOf(indices[d]);
      dims[d] = {value.affine, value.form, indices[d], d, stride, extents[d]};
      all_affine &= value.affine;
      if (value.affine) fits &= AddScaled(offset, value.form, stride);
      stride *= std::max<int64_t>(extents[d], 1);
    }
    for (const DynamicIndex& dim : dims) {
      const Interval inside{0, dim.extent - 1};
      const StageValue value = ValueOf(dim.index);
      const bool proved = dim.extent > 0 && value.range.Within(inside);
      if (!proved && !pads && !never && dim.affine) {
        return InvalidArgumentError(
            Concat({Where(), ": buffer %", dispatch_.buffers[buffer].name,
                    ": index ", dim.dimension, " runs from ", value.range.low,
                    " to ", value.range.high, ", extent is ", dim.extent}));
      }
      // An access has either guards or dynamic indices. If one index is not
      // affine, the others that are not proved in bounds become dynamic
      // indices, too. If the offset might exceed kMaxReach (`fits` is false),
      // all do.
      if (!fits || !dim.affine || (!proved && !all_affine)) {
        access.dynamic.push_back(dim);
      } else {
        AddScaled(access.offset, dim.form, dim.stride);
        if (!proved && pads)
          access.guards.push_back(
              {dim.form, dim.extent, dim.dimension, dim.stride});
      }
    }
    return OkStatus();
  }

  // True if two points of the stage may store to the same element, so that
  // their order matters.
  bool NeedsOrder() const {
    for (const Access& store : result_.stores) {
      if (!store.dynamic.empty()) return true;
      // for each axis with several points: the absolute value of its
      // coefficient in the store's offset, and its extent
      std::vector<std::pair<int64_t, int64_t>> terms;
      for (int i = 0; i < result_.spatial_count; ++i) {
        if (result_.axes[i].extent <= 1) continue;
        terms.push_back(
            {std::abs(store.offset.coefficients[i]), result_.axes[i].extent});
      }
      std::sort(terms.begin(), terms.end());
      int64_t reach = 0;
      for (const auto& [coefficient, extent] : terms) {
        if (coefficient <= reach) return true;
        reach += coefficient * (extent - 1);
      }
    }
    return false;
  }

  const Dispatch& dispatch_;
  const PlanHeader& header_;
  const tensor::Stage& stage_;
  StageAnalysis result_;
  // for each axis of the dispatch's stage, its form in terms of the axes into
  // which it was split
  std::vector<Affine> axis_forms_;
  Split split_;
  // true if the stage has no points at which values are evaluated
  bool empty_ = false;
  bool stores_nothing_ = false;
};

}  // namespace

int64_t StageAnalysis::SpatialPoints() const {
  int64_t points = 1;
  for (const StageAxis& axis : axes) points *= axis.reduction ? 1 : axis.extent;
  return points;
}

int64_t StageAnalysis::ReductionPoints() const {
  int64_t points = 1;
  for (const StageAxis& axis : axes) points *= axis.reduction ? axis.extent : 1;
  return points;
}

std::optional<bool> StageAnalysis::StoresAllOf(int buffer) const {
  for (const tensor::Store& store : stage().stores) {
    if (static_cast<int>(store.buffer) != buffer) continue;
    return store.update == tensor::Update::kAssign && !needs_order &&
           SpatialPoints() == header->elements[buffer];
  }
  return std::nullopt;
}

StatusOr<StageAnalysis> StageAnalysis::Make(const Dispatch& dispatch,
                                            const PlanHeader& header,
                                            int stage) {
  return Analyzer(dispatch, header, stage).Run();
}

}  // namespace ember::vm
