// Imports special functions, functions of the sign bit, and window functions of
// signal processing.
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>

#include "compiler/graph/builder/control_flow.h"
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
// Imports digamma. At 0 PyTorch returns -infinity, and at -0 infinity.
Tensor Digamma(Tensor x) {
  return ops::Select(ops::Equal(x, 0), -1.0 / x, ops::Digamma(x));
}
// Evaluates a Chebyshev series at x / 2. The first coefficient is that of the
// highest order.
Tensor Chebyshev(const Tensor& x, std::span<const double> coefficients) {
  Tensor last = x.Like(0);
  Tensor before = last;
  Tensor sum = x.Like(coefficients[0]);
  for (const double coefficient : coefficients.subspan(1)) {
    before = last;
    last = sum;
    sum = x * last - before + coefficient;
  }
  return (sum - before) * 0.5;
}
// Chebyshev coefficients of the modified Bessel function I0: kBesselNear of
// exp(-x) I0(x) for x up to 8, kBesselFar of exp(-x) sqrt(x) I0(x) above it.
// Source: Moshier's Cephes (i0).
constexpr double kBesselNear[] = {
    -4.4153416464793395e-18, 3.3307945188222384e-17,  -2.431279846547955e-16,
    1.715391285555133e-15,   -1.1685332877993451e-14, 7.676185498604936e-14,
    -4.856446783111929e-13,  2.95505266312964e-12,    -1.726826291441556e-11,
    9.675809035373237e-11,   -5.189795601635263e-10,  2.6598237246823866e-09,
    -1.300025009986248e-08,  6.046995022541919e-08,   -2.670793853940612e-07,
    1.1173875391201037e-06,  -4.4167383584587505e-06, 1.6448448070728896e-05,
    -5.754195010082104e-05,  0.00018850288509584165,  -0.0005763755745385824,
    0.0016394756169413357,   -0.004324309995050576,   0.010546460394594998,
    -0.02373741480589947,    0.04930528423967071,     -0.09490109704804764,
    0.17162090152220877,     -0.3046826723431984,     0.6767952744094761};
constexpr double kBesselFar[] = {
    -7.233180487874754e-18,  -4.830504485944182e-18,  4.46562142029676e-17,
    3.461222867697461e-17,   -2.8276239805165836e-16, -3.425485619677219e-16,
    1.7725601330565263e-15,  3.8116806693526224e-15,  -9.554846698828307e-15,
    -4.150569347287222e-14,  1.54008621752141e-14,    3.8527783827421426e-13,
    7.180124451383666e-13,   -1.7941785315068062e-12, -1.3215811840447713e-11,
    -3.1499165279632416e-11, 1.1889147107846439e-11,  4.94060238822497e-10,
    3.3962320257083865e-09,  2.266668990498178e-08,   2.0489185894690638e-07,
    2.8913705208347567e-06,  6.889758346916825e-05,   0.0033691164782556943,
    0.8044904110141088};
// Returns I0(x) exp(-|x|).
Tensor ScaledBessel(Tensor given) {
  const Tensor x = ops::Absolute(given);
  const Tensor near = Chebyshev(x * 0.5 - 2.0, kBesselNear);
  const Tensor large = ops::Maximum(x, 8);
  const Tensor far =
      Chebyshev(32.0 / large - 2.0, kBesselFar) / ops::Sqrt(large);
  return ops::Select(ops::LessEqual(x, 8), near, far);
}
Tensor Bessel(Tensor x) { return ops::Exp(ops::Absolute(x)) * ScaledBessel(x); }
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
// Imports logaddexp2: log2(2^a + 2^b), computed without overflow.
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
// Imports nextafter: the float next to the first operand in the direction of
// the second. As floats of one sign are ordered like their bits, 1 is added to
// or subtracted from the bits.
Tensor NextAfter(Call& c) {
  const Operands x = Floats(c);
  if (!c.ok()) return x.a;
  const DType type = x.a.dtype();
  const int bytes = DTypeByteSize(type);
  const DType bits_type = bytes == 8   ? DType::kI64
                          : bytes == 4 ? DType::kI32
                                       : DType::kI16;
  const Tensor bits = Apply("bitcast", {x.a}, {{"dtype", bits_type}});
  const Tensor is_up = ops::Less(x.a, x.b);
  const Tensor from_zero = ops::Equal(is_up, ops::Less(0, x.a));
  const Tensor one = bits.Like(1);
  const Tensor sign = bits.Like(-std::ldexp(1.0, 8 * bytes - 1));
  const Tensor beside =
      ops::Select(ops::Equal(x.a, 0), ops::Select(is_up, one, sign + one),
                  ops::Select(from_zero, bits + one, bits - one));
  const Tensor next = Apply("bitcast", {beside}, {{"dtype", type}});
  const Tensor is_unordered = ops::Or(ops::IsNan(x.a), ops::IsNan(x.b));
  return ops::Select(is_unordered, x.a + x.b,
                     ops::Select(ops::Equal(x.a, x.b), x.b, next));
}

// Returns the greatest common divisor of two tensors of integers, by Euclid's
// algorithm: (a, b) becomes (b, a mod b) until all b are 0.
Tensor GreatestDivisor(Call& c, const Operands& x) {
  graph::GraphBuilder& builder = c.builder();
  const auto is_open = [](const Tensor& b) {
    const Tensor differs = ops::Cast(ops::NotEqual(b, 0), DType::kU8);
    return ops::Cast(ops::Reduce(differs, "maximum", AllAxes(b), false),
                     DType::kBool)
        .value();
  };
  graph::LoopRequest request;
  request.carried = {ops::Absolute(x.a).value(), ops::Absolute(x.b).value()};
  request.conditional = true;
  request.condition = is_open(x.b);
  const auto body = [&](graph::Region& region,
                        const graph::LoopInputs& in) -> graph::LoopOutputs {
    const Tensor a(&region.builder(), in.carried[0]);
    const Tensor b(&region.builder(), in.carried[1]);
    const Tensor is_done = ops::Equal(b, 0);
    const Tensor divisor = ops::Select(is_done, b.Like(1), b);
    const Tensor rest =
        ops::Select(is_done, b, ops::Binary(Opcode::kRemainder, a, divisor));
    return {.proceed = is_open(rest),
            .carried = {ops::Select(is_done, a, b).value(), rest.value()}};
  };
  const std::vector<graph::Value*> results =
      graph::BuildLoop(builder, request, body);
  return {&builder, results.empty() ? nullptr : results[0]};
}
Operands WholeNumbers(Call& c) {
  const DType type = ResultType(c, {"self", "other"});
  Operands x = {c.scalar("self", type), c.scalar("other", type)};
  if (c.ok() && !IsInteger(type)) {
    c.FailInvalid("expected integers, found " + std::string(DTypeName(type)));
  }
  BroadcastTogether(c, x.a, x.b);
  return x;
}
Tensor Gcd(Call& c) {
  const Operands x = WholeNumbers(c);
  return c.ok() ? GreatestDivisor(c, x) : x.a;
}
Tensor Lcm(Call& c) {
  const Operands x = WholeNumbers(c);
  if (!c.ok()) return x.a;
  const Tensor divisor = GreatestDivisor(c, x);
  const Tensor multiple = ops::Absolute(x.a / ops::Maximum(divisor, 1) * x.b);
  return ops::Select(ops::Equal(divisor, 0), divisor, multiple);
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
// Imports signbit: true for negative elements and for -0, which is recognised
// by its reciprocal, -infinity.
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

// Makes a window function of "window_length" points. `elements` computes the
// points from their indices and the period, which is the number of points if
// the window is periodic, else one less.
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

// Makes a window function that is a sum of cosines, such as Hann's or
// Blackman's. factors[k] belongs to cos(2 pi k i / period).
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
    {"digamma(Tensor self)", FloatFunction<Digamma>},
    {"special_digamma(Tensor self)", FloatFunction<Digamma>},
    {"special_psi(Tensor self)", FloatFunction<Digamma>},
    {"erfinv(Tensor self)", FloatFunction<ops::ErfInverse>},
    {"special_erfinv(Tensor self)", FloatFunction<ops::ErfInverse>},
    {"erfc(Tensor self)", FloatFunction<ops::Erfc>},
    {"special_erfc(Tensor self)", FloatFunction<ops::Erfc>},
    {"special_erfcx(Tensor self)", InDouble<ScaledErfComplement>},
    {"special_ndtr(Tensor self)", InDouble<NormalProbability>},
    {"special_ndtri(Tensor self)", InDouble<NormalQuantile>},
    {"i0(Tensor self)", InDouble<Bessel>},
    {"special_i0(Tensor self)", InDouble<Bessel>},
    {"special_i0e(Tensor self)", InDouble<ScaledBessel>},
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
    {"nextafter(Tensor self, Tensor other)", NextAfter},
    {"gcd(Tensor self, Tensor other)", Gcd},
    {"lcm(Tensor self, Tensor other)", Lcm},
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
