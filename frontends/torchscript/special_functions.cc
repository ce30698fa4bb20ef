// Imports special functions, functions of the sign bit, and window functions of
// signal processing.
#include <array>
#include <limits>
#include <numbers>
#include <span>

#include "frontends/torchscript/operator_table.h"
#include "frontends/torchscript/promotion.h"

namespace ember::torchscript {
namespace {

template <Tensor (*kFunction)(Tensor)>
Tensor FloatFunction(Call& c) {
  const Tensor x = AsFloat(c.tensor("self"));
  return c.ok() ? kFunction(x) : x;
}
// Imports a special function, which is computed in f64.
template <Tensor (*kFunction)(Tensor)>
Tensor InDouble(Call& c) {
  const Tensor x = AsFloat(c.tensor("self"));
  if (!c.ok()) return x;
  return ops::Cast(kFunction(ops::Cast(x, DType::kF64)), x.dtype());
}
Tensor NormalProbability(Tensor x) {
  return ops::Erfc(x * -std::numbers::sqrt2 * 0.5) * 0.5;
}
Tensor NormalQuantile(Tensor p) {
  return ops::ErfInverse(p * 2.0 - 1.0) * std::numbers::sqrt2;
}
Tensor ScaledErfComplement(Tensor x) { return ops::Exp(x * x) * ops::Erfc(x); }
Tensor Entropy(Call& c) {
  const Tensor x = AsFloat(c.tensor("self"));
  if (!c.ok()) return x;
  const Tensor positive = ops::Select(
      ops::Less(x, 0), x.Like(-std::numeric_limits<double>::infinity()),
      -x * ops::Log(x));
  return ops::Select(ops::Equal(x, 0), x.Like(0), positive);
}

struct Operands {
  Tensor a, b;
};
Operands Floats(Call& c) {
  const DType type = FloatResultType(c, {"self", "other"});
  return {c.scalar("self", type), c.scalar("other", type)};
}
Tensor XLog1p(Call& c) {
  const Operands x = Floats(c);
  if (!c.ok()) return x.a;
  return ops::Select(ops::Equal(x.a, 0), x.a.Like(0), x.a * ops::Log1p(x.b));
}
// Returns log2(2^a + 2^b).
Tensor LogAddExp2(Call& c) {
  const Operands x = Floats(c);
  if (!c.ok()) return x.a;
  const Tensor distance = ops::Absolute(x.a - x.b);
  const Tensor more =
      ops::Log1p(ops::Exp(distance * -std::numbers::ln2)) / std::numbers::ln2;
  return ops::Select(ops::Equal(x.a, x.b), x.a + 1.0,
                     ops::Maximum(x.a, x.b) + more);
}
Tensor TimesPowerOfTwo(Call& c) {
  const Operands x = Floats(c);
  return c.ok() ? x.a * ops::Power(x.b.Like(2), x.b) : x.a;
}
// Imports heaviside: returns 0 for elements below 0, 1 for elements above 0,
// and the second operand for elements equal to 0.
Tensor Heaviside(Call& c) {
  const DType type = ResultType(c, {"self", "values"});
  const Tensor x = c.scalar("self", type);
  const Tensor at_zero = c.scalar("values", type);
  if (!c.ok()) return x;
  const Tensor step = ops::Select(ops::Less(x, 0), x.Like(0), x.Like(1));
  return ops::Select(ops::Equal(x, 0), at_zero, step);
}
// True for negative elements. -0 is negative, which only its reciprocal shows.
Tensor SignBit(Call& c) {
  const Tensor x = c.tensor("self");
  if (!c.ok()) return x;
  const Tensor below = ops::Less(x, x.Like(0));
  if (!x.is_float()) return below;
  return ops::Or(below, ops::And(ops::Equal(x, 0), ops::Less(1.0 / x, 0)));
}
Tensor IsInfinity(Call& c, double sign) {
  const Tensor x = c.tensor("self");
  if (!c.ok()) return x;
  if (!x.is_float())
    return ops::Broadcast(c.Number(0, DType::kBool), x.shape());
  return ops::Equal(x, sign * std::numeric_limits<double>::infinity());
}
Tensor IsPositiveInfinity(Call& c) { return IsInfinity(c, 1); }
Tensor IsNegativeInfinity(Call& c) { return IsInfinity(c, -1); }
Tensor IsReal(Call& c) {
  return ops::Broadcast(c.Number(1, DType::kBool), c.tensor("self").shape());
}

Value Softmax(Call& c) { return Redirect(c, "aten::softmax"); }
Value LogSoftmax(Call& c) { return Redirect(c, "aten::log_softmax"); }
Value LogSumExp(Call& c) { return Redirect(c, "aten::logsumexp"); }
Value Sigmoid(Call& c) { return Redirect(c, "aten::sigmoid"); }
Value Logit(Call& c) { return Redirect(c, "aten::logit"); }
Value Log1p(Call& c) { return Redirect(c, "aten::log1p"); }
Value Erf(Call& c) { return Redirect(c, "aten::erf"); }
Value Exp2(Call& c) { return Redirect(c, "aten::exp2"); }
Value Sinc(Call& c) { return Redirect(c, "aten::sinc"); }
Value Xlogy(Call& c) { return Redirect(c, "aten::xlogy"); }
Value RoundTo(Call& c) { return Redirect(c, "aten::round"); }
Value Acosh(Call& c) { return Redirect(c, "aten::acosh"); }
Value Asinh(Call& c) { return Redirect(c, "aten::asinh"); }
Value Atanh(Call& c) { return Redirect(c, "aten::atanh"); }

// Returns a window of "window_length" elements. `elements` computes them
// from their indices and the length of the period. The period has
// as many elements as the window if it is periodic, else one less.
template <typename Function>
Tensor MakeWindow(Call& c, const Function& elements) {
  const Dim size = c.dim("window_length");
  const bool is_periodic =
      !c.value("periodic").is(Value::Kind::kBool) || c.flag("periodic");
  const DType type = c.dtype("dtype", DType::kF32);
  if (!c.ok()) return {};
  const Tensor i = IotaVector(c.builder(), size, DType::kF64);
  if (size == Dim(1)) return ops::Cast(i + 1.0, type);
  const Dim period = is_periodic ? size : size - Dim(1);
  const Tensor divisor =
      ops::Cast(ops::DimScalar(c.builder(), period), DType::kF64);
  return ops::Cast(elements(i, divisor), type);
}

// Returns a window that is a sum of cosines.
Tensor CosineWindow(Call& c, std::span<const double> factors) {
  return MakeWindow(c, [factors](Tensor i, Tensor period) {
    const Tensor angle = i * (2 * std::numbers::pi) / period;
    Tensor sum;
    for (size_t k = 0; k < factors.size(); ++k) {
      const double sign = k % 2 == 0 ? 1 : -1;
      const Tensor wave =
          ops::Cos(angle * static_cast<double>(k)) * (sign * factors[k]);
      sum = sum ? sum + wave : wave;
    }
    return sum;
  });
}
Tensor HannWindow(Call& c) { return CosineWindow(c, std::array{0.5, 0.5}); }
Tensor HammingWindow(Call& c) {
  return CosineWindow(c, std::array{0.54, 0.46});
}
Tensor HammingWindowOf(Call& c) {
  return CosineWindow(c, std::array{c.number("alpha"), 0.46});
}
Tensor HammingWindowOfBoth(Call& c) {
  return CosineWindow(c, std::array{c.number("alpha"), c.number("beta")});
}
Tensor BlackmanWindow(Call& c) {
  return CosineWindow(c, std::array{0.42, 0.5, 0.08});
}
Tensor BartlettWindow(Call& c) {
  return MakeWindow(c, [](Tensor i, Tensor period) {
    return 1.0 - ops::Absolute(i * 2.0 / period - 1.0);
  });
}

#define EMBER_TORCH_OPTIONS                          \
  "*, ScalarType? dtype=None, Layout? layout=None, " \
  "Device? device=None, bool? pin_memory=None)"
#define EMBER_TORCH_WINDOW(name, function)                                 \
  {#name                                                                   \
   "_window(int window_length, bool? periodic=None, " EMBER_TORCH_OPTIONS, \
   function}

constexpr OperatorRow kRows[] = {
    {"lgamma(Tensor self)", FloatFunction<ops::LogGamma>},
    {"special_gammaln(Tensor self)", FloatFunction<ops::LogGamma>},
    {"digamma(Tensor self)", FloatFunction<ops::Digamma>},
    {"special_digamma(Tensor self)", FloatFunction<ops::Digamma>},
    {"special_psi(Tensor self)", FloatFunction<ops::Digamma>},
    {"erfinv(Tensor self)", FloatFunction<ops::ErfInverse>},
    {"special_erfinv(Tensor self)", FloatFunction<ops::ErfInverse>},
    {"erfc(Tensor self)", FloatFunction<ops::Erfc>},
    {"special_erfc(Tensor self)", FloatFunction<ops::Erfc>},
    {"special_erfcx(Tensor self)", InDouble<ScaledErfComplement>},
    {"special_ndtr(Tensor self)", InDouble<NormalProbability>},
    {"special_ndtri(Tensor self)", InDouble<NormalQuantile>},
    {"special_entr(Tensor self)", Entropy},
    {"special_xlog1py(Operand self, Operand other)", XLog1p},
    {"special_xlogy(Operand self, Operand other)", Xlogy},
    {"special_softmax(Tensor self, int dim, ScalarType? dtype=None)", Softmax},
    {"special_log_softmax(Tensor self, int dim, *, ScalarType? dtype=None)",
     LogSoftmax},
    {"special_logsumexp(Tensor self, int[] dim, bool keepdim=False)",
     LogSumExp},
    {"special_expit(Tensor self)", Sigmoid},
    {"special_logit(Tensor self, float? eps=None)", Logit},
    {"special_log1p(Tensor self)", Log1p},
    {"special_erf(Tensor self)", Erf},
    {"special_exp2(Tensor self)", Exp2},
    {"special_sinc(Tensor self)", Sinc},
    {"special_round(Tensor self, *, int decimals=0)", RoundTo},
    {"arccosh(Tensor self)", Acosh},
    {"arcsinh(Tensor self)", Asinh},
    {"arctanh(Tensor self)", Atanh},
    {"logaddexp2(Tensor self, Tensor other)", LogAddExp2},
    {"ldexp(Tensor self, Tensor other)", TimesPowerOfTwo},
    {"heaviside(Tensor self, Tensor values)", Heaviside},
    {"signbit(Tensor self)", SignBit},
    {"isposinf(Tensor self)", IsPositiveInfinity},
    {"isneginf(Tensor self)", IsNegativeInfinity},
    {"isreal(Tensor self)", IsReal},
    EMBER_TORCH_WINDOW(hann, HannWindow),
    EMBER_TORCH_WINDOW(hamming, HammingWindow),
    {"hamming_window(int window_length, bool periodic, float "
     "alpha, " EMBER_TORCH_OPTIONS,
     HammingWindowOf},
    {"hamming_window(int window_length, bool periodic, float alpha, "
     "float beta, " EMBER_TORCH_OPTIONS,
     HammingWindowOfBoth},
    EMBER_TORCH_WINDOW(blackman, BlackmanWindow),
    EMBER_TORCH_WINDOW(bartlett, BartlettWindow),
};

}  // namespace

std::span<const OperatorRow> SpecialRows() { return kRows; }

}  // namespace ember::torchscript
