// Imports MIL's elementwise operations, activations and reductions.
#include <string>
#include <vector>

#include "frontends/coreml/mil_operation.h"

namespace ember::coreml {
namespace {

template <Tensor (*kFunction)(Tensor)>
void Unary(MilOperation& o) {
  o.SetOutput(0, kFunction(o.Input("x")));
}

template <Opcode kOpcode>
void Binary(MilOperation& o) {
  o.SetOutput(0, ops::Binary(kOpcode, o.Input("x"), o.Input("y")));
}

Tensor Same(Tensor x) { return x; }
void Log(MilOperation& o) {
  o.SetOutput(0, ops::Log(o.Input("x") + o.Number("epsilon", 1e-45)));
}
void Inverse(MilOperation& o) {
  o.SetOutput(0, ops::Reciprocal(o.Input("x") + o.Number("epsilon", 1e-4)));
}
void Rsqrt(MilOperation& o) {
  o.SetOutput(0, ops::Rsqrt(o.Input("x") + o.Number("epsilon", 1e-12)));
}
void Clip(MilOperation& o) {
  o.SetOutput(
      0, ops::Clip(o.Input("x"), o.Number("alpha", 0), o.Number("beta", 1)));
}
void Threshold(MilOperation& o) {
  o.SetOutput(0, Maximum(o.Input("x"), o.Number("alpha", 0)));
}

void Greater(MilOperation& o) {
  o.SetOutput(0, Less(o.Input("y"), o.Input("x")));
}
void GreaterEqual(MilOperation& o) {
  o.SetOutput(0, LessEqual(o.Input("y"), o.Input("x")));
}
void Xor(MilOperation& o) {
  o.SetOutput(0, Or(And(o.Input("x"), Not(o.Input("y"))),
                    And(Not(o.Input("x")), o.Input("y"))));
}
void FloorDivide(MilOperation& o) {
  const Tensor x = o.Input("x"), y = o.Input("y");
  o.SetOutput(0,
              x.is_float() ? Floor(x / y) : Binary(Opcode::kFloorDivide, x, y));
}
void FloorModulo(MilOperation& o) {
  o.SetOutput(0, Modulo(o.Input("x"), o.Input("y")));
}
void SelectBetween(MilOperation& o) {
  o.SetOutput(0, Select(Cast(o.Input("cond"), DType::kBool), o.Input("a"),
                        o.Input("b")));
}

void LeakyRelu(MilOperation& o) {
  o.SetOutput(0, ops::LeakyRelu(o.Input("x"), o.Number("alpha", 0.01)));
}
void Elu(MilOperation& o) {
  o.SetOutput(0, ops::Elu(o.Input("x"), o.Number("alpha", 1)));
}
void LinearActivation(MilOperation& o) {
  o.SetOutput(
      0, ops::Linear(o.Input("x"), o.Number("alpha", 1), o.Number("beta", 0)));
}
void SigmoidHard(MilOperation& o) {
  o.SetOutput(0, ops::HardSigmoid(o.Input("x"), o.Number("alpha", 0.2),
                                  o.Number("beta", 0.5)));
}
void ScaledTanh(MilOperation& o) {
  o.SetOutput(0, ops::ScaledTanh(o.Input("x"), o.Number("alpha", 1),
                                 o.Number("beta", 1)));
}
void ThresholdedRelu(MilOperation& o) {
  o.SetOutput(
      0, ops::ThresholdedReluInclusive(o.Input("x"), o.Number("alpha", 1)));
}
void Prelu(MilOperation& o) {
  if (!o.CheckRank("x", 3)) return;
  const Tensor x = o.Input("x");
  o.SetOutput(0,
              ops::LeakyRelu(x, ops::AlongAxis(o.Input("alpha"), 1, x.rank())));
}
void Gelu(MilOperation& o) {
  const std::string mode = o.Text("mode", "EXACT");
  const Tensor x = o.Input("x");
  if (mode == "EXACT") return o.SetOutput(0, ops::Gelu(x));
  if (mode == "TANH_APPROXIMATION") return o.SetOutput(0, ops::TanhGelu(x));
  if (mode == "SIGMOID_APPROXIMATION")
    return o.SetOutput(0, ops::Swish(x, 1.702));
  o.FailInvalid("mode: expected EXACT or an approximation, found '" + mode +
                "'");
}

void ClampedRelu(MilOperation& o) {
  const Tensor x = o.Input("x");
  o.SetOutput(
      0, Minimum(ops::LeakyRelu(x, o.Number("alpha", 0)), o.Number("beta", 0)));
}

// Imports softplus_parametric: alpha log(1 + exp(beta x)), with alpha and beta
// per channel.
void ParametricSoftplus(MilOperation& o) {
  if (!o.CheckRank("x", 3)) return;
  const Tensor x = o.Input("x");
  const auto along = [&](std::string_view name) {
    return ops::AlongAxis(o.Input(name), 1, x.rank());
  };
  if (!o.CheckRank("alpha", 1, 1) || !o.CheckRank("beta", 1, 1)) return;
  o.SetOutput(0, ops::ParametricSoftplus(x, along("alpha"), along("beta")));
}

void CastTo(MilOperation& o) {
  constexpr std::pair<std::string_view, DType> kTypes[] = {
      {"fp16", DType::kF16},  {"fp32", DType::kF32},  {"int32", DType::kI32},
      {"bool", DType::kBool}, {"int8", DType::kI8},   {"uint8", DType::kU8},
      {"int16", DType::kI16}, {"uint16", DType::kU16}};
  const std::string wanted = o.Text("dtype", "");
  for (const auto& [name, dtype] : kTypes)
    if (wanted == name) return o.SetOutput(0, Cast(o.Input("x"), dtype));
  o.FailUnsupported("dtype: found '" + wanted + "'");
}

template <typename Function>
void ReduceBy(MilOperation& o, const Function& function) {
  const Tensor x = o.Input("x");
  const std::vector<int64_t> axes = o.Axes("axes", x.rank());
  const bool keep = o.Flag("keep_dims", false);
  if (o.ok()) o.SetOutput(0, function(x, axes, keep));
}
void ReduceSum(MilOperation& o) {
  ReduceBy(o, [](Tensor x, const auto& axes, bool keep) {
    return Reduce(x, "sum", axes, keep);
  });
}
void ReduceMean(MilOperation& o) {
  ReduceBy(o, [](Tensor x, const auto& axes, bool keep) {
    return Mean(x, axes, keep);
  });
}
void ReduceMax(MilOperation& o) {
  ReduceBy(o, [](Tensor x, const auto& axes, bool keep) {
    return Reduce(x, "maximum", axes, keep);
  });
}
void ReduceMin(MilOperation& o) {
  ReduceBy(o, [](Tensor x, const auto& axes, bool keep) {
    return Reduce(x, "minimum", axes, keep);
  });
}
void ReduceProd(MilOperation& o) {
  ReduceBy(o, [](Tensor x, const auto& axes, bool keep) {
    return Reduce(x, "product", axes, keep);
  });
}
void ReduceL1(MilOperation& o) {
  ReduceBy(o, [](Tensor x, const auto& axes, bool keep) {
    return Reduce(Absolute(x), "sum", axes, keep);
  });
}
void ReduceL2(MilOperation& o) {
  ReduceBy(o, [](Tensor x, const auto& axes, bool keep) {
    return Sqrt(Reduce(x * x, "sum", axes, keep));
  });
}
void ReduceSumSquare(MilOperation& o) {
  ReduceBy(o, [](Tensor x, const auto& axes, bool keep) {
    return Reduce(x * x, "sum", axes, keep);
  });
}
void ReduceLogSum(MilOperation& o) {
  ReduceBy(o, [](Tensor x, const auto& axes, bool keep) {
    return ops::Log(Reduce(x, "sum", axes, keep));
  });
}
void ReduceLogSumExp(MilOperation& o) {
  ReduceBy(o, [](Tensor x, const auto& axes, bool keep) {
    const Tensor largest = Reduce(x, "maximum", axes, true);
    const Tensor y =
        ops::Log(Reduce(Exp(x - largest), "sum", axes, true)) + largest;
    return keep ? y : Squeeze(y, axes);
  });
}
void ReduceArg(MilOperation& o, const std::string& mode) {
  const Tensor x = o.Input("x");
  const int axis = o.Axis("axis", -1, x.rank());
  if (!o.ok()) return;
  const Tensor place = Cast(
      Apply("arg_reduce", {x},
            {{"mode", mode}, {"axis", int64_t{axis}}, {"last", int64_t{0}}}),
      DType::kI32);
  o.SetOutput(0, o.Flag("keep_dims", false) ? Unsqueeze(place, {axis}) : place);
}
void ReduceArgmax(MilOperation& o) { ReduceArg(o, "maximum"); }
void ReduceArgmin(MilOperation& o) { ReduceArg(o, "minimum"); }

constexpr MilRow kRows[] = {
    {"abs", Unary<ops::Absolute>},
    {"add", Binary<Opcode::kAdd>},
    {"acos", Unary<ops::Acos>},
    {"asin", Unary<ops::Asin>},
    {"atan", Unary<ops::Atan>},
    {"atanh", Unary<ops::Atanh>},
    {"cast", CastTo},
    {"ceil", Unary<ops::Ceil>},
    {"clamped_relu", ClampedRelu},
    {"clip", Clip},
    {"cos", Unary<ops::Cos>},
    {"cosh", Unary<ops::Cosh>},
    {"elu", Elu},
    {"equal", Binary<Opcode::kEqual>},
    {"erf", Unary<ops::Erf>},
    {"exp", Unary<ops::Exp>},
    {"exp2", Unary<ops::Exp2>},
    {"floor", Unary<ops::Floor>},
    {"floor_div", FloorDivide},
    {"gelu", Gelu},
    {"greater", Greater},
    {"greater_equal", GreaterEqual},
    {"identity", Unary<Same>},
    {"inverse", Inverse},
    {"leaky_relu", LeakyRelu},
    {"less", Binary<Opcode::kLess>},
    {"less_equal", Binary<Opcode::kLessEqual>},
    {"linear_activation", LinearActivation},
    {"log", Log},
    {"logical_and", Binary<Opcode::kAnd>},
    {"logical_not", Unary<ops::Not>},
    {"logical_or", Binary<Opcode::kOr>},
    {"logical_xor", Xor},
    {"maximum", Binary<Opcode::kMaximum>},
    {"minimum", Binary<Opcode::kMinimum>},
    {"mod", FloorModulo},
    {"mul", Binary<Opcode::kMultiply>},
    {"not_equal", Binary<Opcode::kNotEqual>},
    {"pow", Binary<Opcode::kPower>},
    {"prelu", Prelu},
    {"real_div", Binary<Opcode::kDivide>},
    {"reduce_argmax", ReduceArgmax},
    {"reduce_argmin", ReduceArgmin},
    {"reduce_l1_norm", ReduceL1},
    {"reduce_l2_norm", ReduceL2},
    {"reduce_log_sum", ReduceLogSum},
    {"reduce_log_sum_exp", ReduceLogSumExp},
    {"reduce_max", ReduceMax},
    {"reduce_mean", ReduceMean},
    {"reduce_min", ReduceMin},
    {"reduce_prod", ReduceProd},
    {"reduce_sum", ReduceSum},
    {"reduce_sum_square", ReduceSumSquare},
    {"relu", Unary<ops::Relu>},
    {"relu6", Unary<ops::Relu6>},
    {"round", Unary<ops::Round>},
    {"rsqrt", Rsqrt},
    {"scaled_tanh", ScaledTanh},
    {"select", SelectBetween},
    {"sigmoid", Unary<ops::Sigmoid>},
    {"sigmoid_hard", SigmoidHard},
    {"sign", Unary<ops::SignNanZero>},
    {"silu", Unary<ops::Silu>},
    {"sin", Unary<ops::Sin>},
    {"sinh", Unary<ops::Sinh>},
    {"softplus", Unary<ops::Softplus>},
    {"softplus_parametric", ParametricSoftplus},
    {"softsign", Unary<ops::Softsign>},
    {"sqrt", Unary<ops::Sqrt>},
    {"square", Unary<ops::Square>},
    {"sub", Binary<Opcode::kSubtract>},
    {"tan", Unary<ops::Tan>},
    {"tanh", Unary<ops::Tanh>},
    {"threshold", Threshold},
    {"thresholded_relu", ThresholdedRelu},
};

}  // namespace

std::span<const MilRow> MilElementwise() { return kRows; }

}  // namespace ember::coreml
