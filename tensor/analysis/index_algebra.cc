#include "tensor/analysis/index_algebra.h"

#include <algorithm>

#include "base/checked_math.h"
#include "tensor/range_rules.h"

namespace ember::tensor {

bool AffineForm::IsConstant() const {
  return opaque.empty() &&
         std::all_of(coefficients.begin(), coefficients.end(),
                     [](int64_t coefficient) { return coefficient == 0; });
}

// Computes the affine forms of a stage's registers, without checking that they
// do not wrap. If a coefficient overflows, the form is nullopt.
struct StageAnalysis::Builder {
  using Form = std::optional<AffineForm>;
  static constexpr size_t kMaxOpaque = 8;
  // Largest depth of an expression that is analysed. Values below that depth
  // become opaque terms: real indices are shallow, and recursion must not
  // exhaust the stack.
  static constexpr int kMaxDepth = 64;

  const StageAnalysis& analysis;
  // Number of nodes that may still be visited. A shared subexpression is
  // visited once per use, and the number of uses may be exponential.
  int budget = 2000;

  AffineForm Constant(int64_t value) const {
    return {value, std::vector<int64_t>(analysis.axis_extents_.size(), 0), {}};
  }

  AffineForm OpaqueOf(Register reg) const {
    AffineForm form = Constant(0);
    form.opaque.push_back({reg, 1, analysis.RangeOf(reg)});
    return form;
  }

  static Form Combine(AffineForm a, const AffineForm& b, int64_t scale) {
    const auto add = [scale](int64_t& to, int64_t value) {
      const std::optional<int64_t> product = CheckedMultiply(value, scale);
      const std::optional<int64_t> sum =
          product ? CheckedAdd(to, *product) : std::nullopt;
      if (sum) to = *sum;
      return sum.has_value();
    };
    if (!add(a.constant, b.constant)) return std::nullopt;
    for (size_t i = 0; i < a.coefficients.size(); ++i) {
      if (!add(a.coefficients[i], b.coefficients[i])) return std::nullopt;
    }
    for (const AffineForm::Opaque& term : b.opaque) {
      auto it = std::find_if(a.opaque.begin(), a.opaque.end(),
                             [&](const AffineForm::Opaque& other) {
                               return other.reg == term.reg;
                             });
      if (it == a.opaque.end())
        it = a.opaque.insert(it, {term.reg, 0, term.range});
      if (!add(it->coefficient, term.coefficient)) return std::nullopt;
      if (it->coefficient == 0) a.opaque.erase(it);
    }
    if (a.opaque.size() > kMaxOpaque) return std::nullopt;
    return a;
  }

  Form Scaled(const AffineForm& form, int64_t scale) const {
    return Combine(Constant(0), form, scale);
  }

  // Returns the form if it is proved not to wrap. Otherwise returns the
  // register as one opaque term.
  AffineForm Exact(Form form, Register reg) const {
    if (!form) return OpaqueOf(reg);
    if (form->IsConstant()) return *std::move(form);
    return analysis.RangeOf(*form).IsFull() ? OpaqueOf(reg) : *std::move(form);
  }

  AffineForm Make(Register reg, int depth) {
    const Instruction& instruction = analysis.dispatch_.instructions[reg];
    if (reg < analysis.dispatch_.header_end)
      return Constant(analysis.header_.value(reg));
    if (instruction.opcode == Opcode::kConstant) {
      return Constant(static_cast<int64_t>(instruction.immediate));
    }
    if (instruction.opcode == Opcode::kAxis) {
      AffineForm form = Constant(0);
      form.coefficients[instruction.immediate] = 1;
      return form;
    }
    if (depth > kMaxDepth || --budget < 0) return OpaqueOf(reg);
    switch (instruction.opcode) {
      case Opcode::kAdd:
      case Opcode::kSubtract:
        return Exact(Combine(Make(instruction.a, depth + 1),
                             Make(instruction.b, depth + 1),
                             instruction.opcode == Opcode::kAdd ? 1 : -1),
                     reg);
      case Opcode::kNegate:
        return Exact(Scaled(Make(instruction.a, depth + 1), -1), reg);
      case Opcode::kMultiply: {
        const AffineForm a = Make(instruction.a, depth + 1),
                         b = Make(instruction.b, depth + 1);
        if (b.IsConstant()) return Exact(Scaled(a, b.constant), reg);
        if (a.IsConstant()) return Exact(Scaled(b, a.constant), reg);
        return OpaqueOf(reg);
      }
      case Opcode::kFloorDivide:
      case Opcode::kModulo: {
        const AffineForm divisor = Make(instruction.b, depth + 1);
        if (!divisor.IsConstant() || divisor.constant <= 0)
          return OpaqueOf(reg);
        return Exact(Divide(Make(instruction.a, depth + 1), divisor.constant,
                            instruction.opcode),
                     reg);
      }
      default:
        return OpaqueOf(reg);
    }
  }

  // Returns the affine form of the quotient or remainder of x by the divisor.
  // If x = divisor * multiples + rest with rest in [0, divisor), the quotient
  // is `multiples` and the remainder is `rest`.
  Form Divide(const AffineForm& x, int64_t divisor, Opcode opcode) const {
    AffineForm multiples = Constant(FloorQuotient(x.constant, divisor));
    AffineForm rest = Constant(FloorRemainder(x.constant, divisor));
    for (size_t i = 0; i < x.coefficients.size(); ++i) {
      const int64_t coefficient = x.coefficients[i];
      (coefficient % divisor == 0 ? multiples : rest).coefficients[i] =
          coefficient % divisor == 0 ? coefficient / divisor : coefficient;
    }
    for (const AffineForm::Opaque& term : x.opaque) {
      if (term.coefficient % divisor == 0) {
        multiples.opaque.push_back(
            {term.reg, term.coefficient / divisor, term.range});
      } else {
        rest.opaque.push_back(term);
      }
    }
    const Interval range = analysis.RangeOf(rest);
    if (range.IsFull()) return std::nullopt;
    const int64_t bucket = FloorQuotient(range.low, divisor);
    if (bucket != FloorQuotient(range.high, divisor)) return std::nullopt;
    if (opcode == Opcode::kFloorDivide)
      return Combine(multiples, Constant(bucket), 1);
    return Combine(rest, Constant(bucket), -divisor);
  }
};

StageAnalysis::StageAnalysis(const Dispatch& dispatch, const Stage& stage,
                             const ConcreteHeader& header)
    : dispatch_(dispatch), stage_(stage), header_(header) {
  axis_extents_ = header.Extents(stage.spatial);
  for (int64_t extent : header.Extents(stage.reduction))
    axis_extents_.push_back(extent);
  ranges_.reserve(stage.end - stage.begin);
  for (Register reg = stage.begin; reg < stage.end; ++reg) {
    const Instruction& instruction = dispatch.instructions[reg];
    Interval range = RangeOfType(instruction.type);
    if (instruction.opcode == Opcode::kConstant) {
      range = RangeOfConstant(instruction.immediate, instruction.type);
    } else if (instruction.opcode == Opcode::kAxis) {
      range = {0,
               std::max<int64_t>(axis_extents_[instruction.immediate], 1) - 1};
    } else if (const int count = RegisterOperandCount(instruction.opcode);
               count > 0) {
      range = RangeOfResult(
          instruction.opcode, dispatch.instructions[instruction.a].type,
          instruction.type, RangeOf(instruction.a),
          count > 1 ? RangeOf(instruction.b) : Interval::Full(),
          count > 2 ? RangeOf(instruction.c) : Interval::Full());
    }
    ranges_.push_back(range);
  }
}

Interval StageAnalysis::RangeOf(Register reg) const {
  if (reg >= dispatch_.header_end) return ranges_[reg - stage_.begin];
  return RangeOfConstant(header_.bits(reg), dispatch_.instructions[reg].type);
}

std::optional<AffineForm> StageAnalysis::ToAffine(Register reg) const {
  if (dispatch_.instructions[reg].type != DType::kI64) return std::nullopt;
  return Builder{*this}.Make(reg, 0);
}

Interval StageAnalysis::RangeOf(const AffineForm& form) const {
  Interval range = Interval::Of(form.constant);
  const auto add = [&range](Interval factor, int64_t coefficient) {
    if (coefficient == 0) return true;
    const Interval product = factor * Interval::Of(coefficient);
    if (factor.IsFull() || product.IsFull()) return false;
    range = range + product;
    return !range.IsFull();
  };
  for (size_t i = 0; i < form.coefficients.size(); ++i) {
    const Interval axis{0, std::max<int64_t>(axis_extents_[i], 1) - 1};
    if (!add(axis, form.coefficients[i])) return Interval::Full();
  }
  for (const AffineForm::Opaque& term : form.opaque) {
    if (!add(term.range, term.coefficient)) return Interval::Full();
  }
  return range;
}

bool StageAnalysis::InBounds(const Buffer& buffer,
                             std::span<const Register> indices) const {
  for (size_t i = 0; i < indices.size(); ++i) {
    const Interval allowed{0, header_.value(buffer.extents[i]) - 1};
    if (allowed.high < 0) return false;
    if (RangeOf(indices[i]).Within(allowed)) continue;
    const std::optional<AffineForm> form = ToAffine(indices[i]);
    if (!form || !RangeOf(*form).Within(allowed)) return false;
  }
  return true;
}

bool StageAnalysis::InBounds(const Instruction& load) const {
  const Buffer& buffer = dispatch_.buffers[load.a];
  return InBounds(
      buffer,
      std::span(dispatch_.operands).subspan(load.b, buffer.extents.size()));
}

bool StageAnalysis::InBounds(const Store& store) const {
  return InBounds(dispatch_.buffers[store.buffer], store.indices);
}

}  // namespace ember::tensor
