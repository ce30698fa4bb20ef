// Imports Fourier transforms, and arithmetic of complex numbers.
#include "frontends/ops/fourier.h"

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/ops/sampling.h"
#include "frontends/ops/windows.h"
#include "frontends/torchscript/complex_values.h"
#include "frontends/torchscript/operator_table.h"
#include "frontends/torchscript/promotion.h"
#include "frontends/torchscript/views.h"

namespace ember::torchscript {
namespace {

using ops::ComplexParts;

ComplexParts Parts(Call& c, std::string_view name) {
  return PartsOf(c.machine(), c.value(name));
}
Value Complex(Call& c, const Tensor& real, const Tensor& imaginary) {
  return NewComplex(c.machine(), {real, imaginary});
}

// Returns a view of all elements of `self`. If `can_write` is false, writes to
// the view are errors.
Value SameElements(Call& c, bool can_write) {
  Cell& cell = *c.value("self").cell;
  const Shape strides = c.machine().StridesOf(cell);
  if (!c.ok()) return {};
  std::function<Tensor(Tensor, Tensor)> write;
  if (can_write) write = [](Tensor, Tensor part) { return part; };
  return c.machine().NewView(
      cell, strides, [](Tensor base) { return base; }, std::move(write));
}
Value ViewAsReal(Call& c) { return SameElements(c, true); }
Value ViewAsComplex(Call& c) {
  const Tensor x = c.tensor("self");
  if (!c.CheckRank("self", x, 1)) return {};
  if (x.dim(-1) != Dim(2) || !x.is_float()) {
    c.FailInvalid("self: expected floats with a last dim of 2, found " +
                  Describe(c.value("self")));
    return {};
  }
  Value view = SameElements(c, true);
  if (view.is_tensor()) view.cell->is_complex = true;
  return view;
}
Value NewFromParts(Call& c) {
  return Complex(c, c.tensor("real"), c.tensor("imag"));
}
Value FromPolar(Call& c) {
  const Tensor size = c.tensor("abs");
  const Tensor angle = c.tensor("angle");
  if (!c.ok()) return {};
  return Complex(c, size * ops::Cos(angle), size * ops::Sin(angle));
}
Value PartView(Call& c, int part) {
  const Tensor x = c.tensor("self");
  if (!c.ok()) return {};
  return SelectedView(c, "self", x.rank() - 1, Dim(part));
}
Value RealPart(Call& c) { return PartView(c, 0); }
Value ImaginaryPart(Call& c) { return PartView(c, 1); }
// Returns the conjugates of complex numbers, whose real and imaginary parts are
// the last dim.
Tensor Conjugated(Tensor x) {
  const int last = x.rank() - 1;
  return ops::Concat({ops::SliceAxis(x, last, Dim(0), Dim(1)),
                      -ops::SliceAxis(x, last, Dim(1), Dim(1))},
                     last);
}
// Returns the conjugate, which is a view in PyTorch.
Value Conjugate(Call& c) {
  Cell& cell = *c.value("self").cell;
  const Shape strides = c.machine().StridesOf(cell);
  if (!c.ok()) return {};
  Value view =
      c.machine().NewView(cell, strides, Conjugated,
                          [](Tensor, Tensor part) { return Conjugated(part); });
  view.cell->is_complex = true;
  return view;
}
Value ConjugateCopy(Call& c) {
  const Tensor x = c.tensor("self");
  return c.ok() ? c.machine().NewComplex(Conjugated(x)) : Value();
}
// Imports resolve_conj. PyTorch copies the result of conj and returns other
// tensors as they are. If it is not known which case applies, the result is a
// view that must not be written to.
Value Resolved(Call& c) {
  if (c.value("self").cell->base == nullptr) return c.value("self");
  Value view = SameElements(c, false);
  if (view.is_tensor()) view.cell->is_complex = true;
  return view;
}
Tensor Size(Call& c) {
  const ComplexParts x = Parts(c, "self");
  if (!c.ok()) return x.real;
  Machine& machine = c.machine();
  return CallTensorRow(c, "aten::hypot",
                       {{"self", machine.NewTensor(x.real)},
                        {"other", machine.NewTensor(x.imaginary)}});
}
Tensor Angle(Call& c) {
  const ComplexParts x = Parts(c, "self");
  return c.ok() ? ops::Binary(Opcode::kAtan2, x.imaginary, x.real) : x.real;
}
// Imports angle for real numbers: pi for negative ones, NaN for NaN, else 0.
Tensor RealAngle(Call& c) {
  const Tensor x = AsFloat(c.tensor("self"));
  if (!c.ok()) return x;
  const Tensor angle = ops::Select(ops::Less(x, 0), x.Like(M_PI), x.Like(0));
  return ops::Select(ops::IsNan(x), x, angle);
}

Value Multiply(Call& c) {
  const ComplexParts a = Parts(c, "self");
  const ComplexParts b = Parts(c, "other");
  if (!c.ok()) return {};
  return Complex(c, a.real * b.real - a.imaginary * b.imaginary,
                 a.real * b.imaginary + a.imaginary * b.real);
}
// Returns the complex argument `complex` times the real argument `real`, or
// divided by it if `divides`.
Value Scaled(Call& c, std::string_view complex, std::string_view real,
             bool divides) {
  const ComplexParts x = Parts(c, complex);
  const Tensor factor = c.scalar(real, x.real.dtype());
  if (!c.ok()) return {};
  return divides ? Complex(c, x.real / factor, x.imaginary / factor)
                 : Complex(c, x.real * factor, x.imaginary * factor);
}
Value MultiplyByReal(Call& c) { return Scaled(c, "self", "other", false); }
Value MultiplyReal(Call& c) { return Scaled(c, "other", "self", false); }
Value DivideByReal(Call& c) { return Scaled(c, "self", "other", true); }
Value Divide(Call& c) {
  const ComplexParts a = Parts(c, "self");
  const ComplexParts b = Parts(c, "other");
  if (!c.ok()) return {};
  const Tensor size = b.real * b.real + b.imaginary * b.imaginary;
  return Complex(c, (a.real * b.real + a.imaginary * b.imaginary) / size,
                 (a.imaginary * b.real - a.real * b.imaginary) / size);
}
Value Exponential(Call& c) {
  const ComplexParts x = Parts(c, "self");
  if (!c.ok()) return {};
  const Tensor size = ops::Exp(x.real);
  return Complex(c, size * ops::Cos(x.imaginary), size * ops::Sin(x.imaginary));
}
Value MatMul(Call& c) {
  const ComplexParts a = Parts(c, "self");
  const ComplexParts b = Parts(c, "other");
  if (!c.CheckRank("self", a.real, 1) || !c.CheckRank("other", b.real, 1))
    return {};
  return Complex(
      c, ops::MatMul(a.real, b.real) - ops::MatMul(a.imaginary, b.imaginary),
      ops::MatMul(a.real, b.imaginary) + ops::MatMul(a.imaginary, b.real));
}

// Transforms.
enum class Norm : uint8_t { kNone, kRoot, kWhole };
// Reads the argument `norm`, a name that says by which number a transform of n
// points is divided: 1 (kNone), the root of n (kRoot) or n (kWhole).
Norm NormOf(Call& c, bool inverse) {
  const std::string name = c.has("norm") ? c.text("norm") : "backward";
  if (name == "ortho") return Norm::kRoot;
  if (name == "backward") return inverse ? Norm::kWhole : Norm::kNone;
  if (name == "forward") return inverse ? Norm::kNone : Norm::kWhole;
  c.FailInvalid("norm: expected backward, ortho or forward, found '" + name +
                "'");
  return Norm::kNone;
}
ComplexParts Divided(Call& c, const ComplexParts& x, const Dim& points,
                     Norm norm) {
  if (norm == Norm::kNone || !c.ok()) return x;
  const DType type = x.real.dtype();
  Tensor factor = ops::Cast(ops::DimScalar(c.builder(), points), type);
  if (norm == Norm::kRoot) factor = ops::Sqrt(factor);
  return {x.real / factor, x.imaginary ? x.imaginary / factor : x.imaginary};
}
ComplexParts AsFloats(const ComplexParts& x) {
  return {AsFloat(x.real), x.imaginary};
}
enum class Kind : uint8_t { kComplex, kToHalf, kFromHalf };
// Transforms x along several axes; `lengths` has one length for each. kToHalf
// returns, and kFromHalf accepts, only the first half of the last axis of the
// spectrum, which determines a real signal.
ComplexParts Transformed(Call& c, ComplexParts x,
                         const std::vector<int64_t>& axes, const Shape& lengths,
                         Kind kind, bool inverse, Norm norm) {
  Dim points(1);
  for (const Dim& length : lengths) points = points * length;
  const auto last = axes.size() - 1;
  if (kind == Kind::kToHalf) {
    const Dim bins = FloorDivide(lengths[last], Dim(2)) + Dim(1);
    x = ops::FourierTransform(x, static_cast<int>(axes[last]), lengths[last],
                              bins, inverse);
  }
  const size_t count = kind == Kind::kComplex ? axes.size() : last;
  for (size_t i = 0; i < count && c.ok(); ++i) {
    x = ops::FourierTransform(x, static_cast<int>(axes[i]), lengths[i],
                              lengths[i], inverse);
  }
  if (kind == Kind::kFromHalf && c.ok()) {
    const auto axis = static_cast<int>(axes[last]);
    const Dim bins = FloorDivide(lengths[last], Dim(2)) + Dim(1);
    x.real = ops::WithLength(x.real, axis, bins);
    if (x.imaginary) x.imaginary = ops::WithLength(x.imaginary, axis, bins);
    x = {ops::RealFourierInverse(x, axis, lengths[last]), {}};
  }
  return Divided(c, x, points, norm);
}
// The axes along which a call transforms, and the length for each. A call
// states one axis (n, dim) or several (s, dim). Without these arguments, the
// axes are the last `standard` axes, or all.
struct TransformAxes {
  std::vector<int64_t> axes;
  Shape lengths;
};
std::optional<TransformAxes> TransformAxesOf(Call& c, const Tensor& x,
                                             int standard, bool is_half) {
  TransformAxes transform;
  bool has_several = false;
  for (const SchemaParameter& parameter : c.schema().parameters)
    has_several |= parameter.name == "s";
  Shape given;
  if (has_several) {
    if (c.has("s")) given = c.dims("s");
    if (c.has("dim")) {
      transform.axes = c.integers("dim");
    } else {
      const auto count = !given.empty() ? static_cast<int>(given.size())
                         : standard > 0 ? standard
                                        : x.rank();
      for (int i = count; i > 0; --i) transform.axes.push_back(-i);
    }
  } else {
    if (c.has("n")) given = {c.dim("n")};
    transform.axes = {c.integer("dim")};
  }
  for (int64_t& axis : transform.axes)
    axis = NormalAxis(c.machine(), axis, x.rank());
  if (!c.CheckRank("self", x, 1)) return std::nullopt;
  if (transform.axes.empty() ||
      (!given.empty() && given.size() != transform.axes.size())) {
    c.FailInvalid("expected at least one dim, and as many lengths as dims");
    return std::nullopt;
  }
  for (size_t i = 0; i < transform.axes.size(); ++i) {
    const Dim extent = x.dim(static_cast<int>(transform.axes[i]));
    const bool is_last = i + 1 == transform.axes.size();
    if (!given.empty() && given[i] != Dim(-1))
      transform.lengths.push_back(given[i]);
    else
      transform.lengths.push_back(
          is_half && is_last ? (extent - Dim(1)) * Dim(2) : extent);
  }
  return c.ok() ? std::optional(transform) : std::nullopt;
}
template <Kind kind, bool inverse, int standard>
Value Transform(Call& c) {
  const ComplexParts x = AsFloats(Parts(c, "self"));
  const Norm norm = NormOf(c, inverse);
  if (!c.ok()) return {};
  const std::optional<TransformAxes> transform =
      TransformAxesOf(c, x.real, standard, kind == Kind::kFromHalf);
  if (!transform) return {};
  const ComplexParts y = Transformed(c, x, transform->axes, transform->lengths,
                                     kind, inverse, norm);
  if (kind == Kind::kFromHalf) return c.machine().NewTensor(y.real);
  return NewComplex(c.machine(), y);
}

// The functions below import the forms of the transforms that programs of
// torch.export call (_fft_c2c and others).
Norm NormOfNumber(Call& c) {
  const int64_t number = c.integer("normalization");
  return number == 1 ? Norm::kRoot : number == 2 ? Norm::kWhole : Norm::kNone;
}
std::vector<int64_t> AxesOf(Call& c, const Tensor& x) {
  std::vector<int64_t> axes = c.integers("dim");
  for (int64_t& axis : axes) axis = NormalAxis(c.machine(), axis, x.rank());
  if (axes.empty()) c.FailInvalid("dim: expected at least one dim");
  return axes;
}
Shape ExtentsOf(const Tensor& x, const std::vector<int64_t>& axes) {
  Shape lengths;
  for (const int64_t axis : axes)
    lengths.push_back(x.dim(static_cast<int>(axis)));
  return lengths;
}
Value RealToComplex(Call& c) {
  const ComplexParts x = AsFloats(Parts(c, "self"));
  const std::vector<int64_t> axes = AxesOf(c, x.real);
  const Norm norm = NormOfNumber(c);
  const Kind kind = c.flag("onesided") ? Kind::kToHalf : Kind::kComplex;
  if (!c.ok()) return {};
  return NewComplex(c.machine(),
                    Transformed(c, x, axes, ExtentsOf(x.real, axes), kind,
                                /*inverse=*/false, norm));
}
Value ComplexToReal(Call& c) {
  const ComplexParts x = Parts(c, "self");
  const std::vector<int64_t> axes = AxesOf(c, x.real);
  const Norm norm = NormOfNumber(c);
  if (!c.ok()) return {};
  Shape lengths = ExtentsOf(x.real, axes);
  lengths.back() = c.dim("last_dim_size");
  return c.machine().NewTensor(
      Transformed(c, x, axes, lengths, Kind::kFromHalf, /*inverse=*/true, norm)
          .real);
}
Value ComplexToComplex(Call& c) {
  const ComplexParts x = Parts(c, "self");
  const std::vector<int64_t> axes = AxesOf(c, x.real);
  const Norm norm = NormOfNumber(c);
  const bool inverse = !c.flag("forward");
  if (!c.ok()) return {};
  return NewComplex(c.machine(),
                    Transformed(c, x, axes, ExtentsOf(x.real, axes),
                                Kind::kComplex, inverse, norm));
}

// Imports fftshift and its inverse ifftshift, which swap the two halves of
// axes.
Tensor ShiftedHalves(Call& c, bool inverse) {
  const Tensor x = c.tensor("self");
  const std::vector<int64_t> axes = c.axes("dim", x.rank());
  if (!c.ok()) return x;
  Tensor y = x;
  for (const int64_t axis : axes) {
    const auto at = static_cast<int>(axis);
    const Dim extent = y.dim(at);
    const Dim low = inverse ? FloorDivide(extent, Dim(2))
                            : extent - FloorDivide(extent, Dim(2));
    y = Concat({ops::SliceAxis(y, at, low, extent - low),
                ops::SliceAxis(y, at, Dim(0), low)},
               at);
  }
  return y;
}
Tensor Shift(Call& c) { return ShiftedHalves(c, false); }
Tensor ShiftBack(Call& c) { return ShiftedHalves(c, true); }
// Imports fftfreq and rfftfreq: returns the frequency of each bin of a
// transform of n points that are a distance d apart.
Tensor Frequencies(Call& c, bool is_half) {
  const Dim n = c.dim("n");
  const double d = c.number("d");
  const DType type = c.dtype("dtype", DType::kF32);
  if (!c.ok()) return {};
  const Dim bins = is_half ? FloorDivide(n, Dim(2)) + Dim(1) : n;
  Tensor i = IotaVector(c.builder(), bins, DType::kF64);
  const Tensor count = ops::Cast(ops::DimScalar(c.builder(), n), DType::kF64);
  if (!is_half) {
    const Tensor half =
        ops::Cast(ops::DimScalar(c.builder(), FloorDivide(n + Dim(1), Dim(2))),
                  DType::kF64);
    i = ops::Select(ops::Less(i, half), i, i - count);
  }
  return ops::Cast(i / (count * d), type);
}
Tensor AllFrequencies(Call& c) { return Frequencies(c, false); }
Tensor HalfFrequencies(Call& c) { return Frequencies(c, true); }

// Short-time transforms.
struct ShortTime {
  int64_t points = 0, hop = 0;
  Tensor window;  // [points]
};
// Reads the arguments of a short-time transform. A window that is shorter than
// a frame is padded with zeros on both sides. Returns nullopt after an error.
std::optional<ShortTime> ReadShortTime(Call& c, DType type) {
  ShortTime frame;
  frame.points = c.integer("n_fft");
  frame.hop = c.has("hop_length") ? c.integer("hop_length") : frame.points / 4;
  const int64_t length =
      c.has("win_length") ? c.integer("win_length") : frame.points;
  if (!c.ok()) return std::nullopt;
  if (frame.points < 1 || frame.points > ops::kMaxWindow || frame.hop < 1 ||
      frame.hop > ops::kMaxWindow || length < 1 || length > frame.points) {
    c.FailInvalid(
        "expected an n_fft and a hop_length of 1 or more, and a win_length of "
        "1 to n_fft");
    return std::nullopt;
  }
  Tensor window = c.has("window")
                      ? c.scalar("window", type)
                      : ops::Broadcast(c.Number(1, type), {Dim(length)});
  if (!c.CheckRank("window", window, 1, 1)) return std::nullopt;
  const int64_t low = (frame.points - length) / 2;
  if (length < frame.points) {
    window = ops::Pad(window, {Dim(low)}, {Dim(frame.points - length - low)},
                      "constant", window.Like(0));
  }
  frame.window = window;
  return frame;
}
Value Stft(Call& c, bool is_centered, const std::string& mode) {
  Tensor x = c.tensor("self");
  if (!c.CheckRank("self", x, 1, 2)) return {};
  x = AsFloat(x);
  const std::optional<ShortTime> frame = ReadShortTime(c, x.dtype());
  const bool is_half = !c.has("onesided") || c.flag("onesided");
  if (!frame) return {};
  const bool is_batched = x.rank() == 2;
  if (!is_batched) x = ops::Unsqueeze(x, {0});
  Machine& machine = c.machine();
  if (is_centered) {
    const Value pad = Value::Int(Dim(frame->points / 2));
    x = CallTensorRow(c, "aten::pad",
                      {{"self", machine.NewTensor(x)},
                       {"pad", machine.NewList({pad, pad})},
                       {"mode", Value::Text(Value::Kind::kString, mode)}});
  }
  // Cuts the signal into frames, [batch, frames, points].
  const Tensor frames = CallTensorRow(c, "aten::unfold",
                                      {{"self", machine.NewTensor(x)},
                                       {"dimension", Value::Int(Dim(1))},
                                       {"size", Value::Int(Dim(frame->points))},
                                       {"step", Value::Int(Dim(frame->hop))}});
  if (!c.ok()) return {};
  const Dim points(frame->points);
  const Dim bins = is_half ? Dim(frame->points / 2 + 1) : points;
  ComplexParts y = ops::FourierTransform({frames * frame->window, {}}, 2,
                                         points, bins, /*inverse=*/false);
  if (c.flag("normalized")) y = Divided(c, y, points, Norm::kRoot);
  const auto arranged = [&](const Tensor& part) {
    const Tensor transposed = ops::Transpose(part, {0, 2, 1});
    return is_batched ? transposed : ops::Squeeze(transposed, {0});
  };
  if (!c.ok()) return {};
  const Value complex = Complex(c, arranged(y.real), arranged(y.imaginary));
  // If return_complex is false or absent, as in archives of old versions, the
  // result is a real tensor whose last dim has the real and imaginary parts.
  const bool is_complex = c.has("return_complex") && c.flag("return_complex");
  if (is_complex || !c.ok()) return complex;
  return machine.NewTensor(machine.Read(*complex.cell));
}
Value StftPlain(Call& c) { return Stft(c, false, ""); }
Value StftCentered(Call& c) {
  return Stft(c, c.flag("center"), c.text("pad_mode"));
}

// Inverts a short-time transform: adds up the overlapping frames, and divides
// by the sum of the squares of their windows.
Value Istft(Call& c) {
  ComplexParts x = Parts(c, "self");
  const bool is_complex = c.value("self").is_complex();
  if (!is_complex) {
    const Tensor both = c.tensor("self");
    if (!c.CheckRank("self", both, 3, 4)) return {};
    x = PartsOf(c.machine(), c.machine().NewComplex(both));
  }
  if (!c.CheckRank("self", x.real, 2, 3)) return {};
  if (c.flag("return_complex")) {
    c.FailUnsupported("return_complex: expected False");
    return {};
  }
  const bool is_batched = x.real.rank() == 3;
  if (!is_batched)
    x = {ops::Unsqueeze(x.real, {0}), ops::Unsqueeze(x.imaginary, {0})};
  const std::optional<ShortTime> frame = ReadShortTime(c, x.real.dtype());
  if (!frame) return {};
  const Dim points(frame->points);
  const Dim count = x.real.dim(2);
  const bool is_half =
      c.has("onesided") ? c.flag("onesided") : x.real.dim(1) != points;
  // Transforms each column of the spectrum back to a frame, [batch, points,
  // frames].
  const Norm norm = c.flag("normalized") ? Norm::kRoot : Norm::kWhole;
  const Tensor frames = Transformed(c, x, {1}, {points},
                                    is_half ? Kind::kFromHalf : Kind::kComplex,
                                    /*inverse=*/true, norm)
                            .real;
  if (!c.ok()) return {};
  const Tensor weight = ops::AlongAxis(frame->window, 1, 3);
  const Dim whole = points + Dim(frame->hop) * (count - Dim(1));
  ops::Window window = ops::WindowOf({1, frame->points});
  window.strides = {1, frame->hop};
  const auto added = [&](const Tensor& parts) {
    return ops::Squeeze(ops::ColumnsToImage(parts, {Dim(1), whole}, window),
                        {1, 2});
  };
  const Tensor sum = added(frames * weight);
  const Tensor squares =
      added(ops::Broadcast(weight * weight, {Dim(1), points, count}));
  if (!c.ok()) return {};
  const Dim start(c.flag("center") ? frame->points / 2 : 0);
  Dim size = whole - start - start;
  const auto cut = [&](const Tensor& y) {
    Tensor part = ops::SliceAxis(y, 1, start, whole - start);
    return ops::WithLength(part, 1, size);
  };
  if (c.has("length")) size = c.dim("length");
  Tensor y = cut(sum);
  Tensor weights = cut(squares);
  // The sum and its weight are 0 where no frame covers the signal. Such a
  // weight is replaced by 1, so that the result is 0 instead of NaN.
  weights = ops::Select(ops::Equal(weights, 0), weights.Like(1), weights);
  y = y / weights;
  return c.machine().NewTensor(is_batched ? y : ops::Squeeze(y, {0}));
}

#define EMBER_TORCH_FFT "(any self, int? n=None, int dim=-1, str? norm=None)"
#define EMBER_TORCH_FFT2 \
  "(any self, int[]? s=None, int[]? dim=None, str? norm=None)"
#define EMBER_TORCH_OPTIONS                          \
  "*, ScalarType? dtype=None, Layout? layout=None, " \
  "Device? device=None, bool? pin_memory=None)"

constexpr OperatorRow kRows[] = {
    {"view_as_real(Complex self)", ViewAsReal},
    {"view_as_complex(Tensor self)", ViewAsComplex},
    {"complex(Tensor real, Tensor imag)", NewFromParts},
    {"polar(Tensor abs, Tensor angle)", FromPolar},
    {"real(Complex self)", RealPart},
    {"imag(Complex self)", ImaginaryPart},
    {"abs(Complex self)", Size},
    {"angle(Complex self)", Angle},
    {"angle(Tensor self)", RealAngle},
    {"conj(Complex self)", Conjugate},
    {"_conj(Complex self)", Conjugate},
    {"conj_physical(Complex self)", ConjugateCopy},
    {"resolve_conj(Complex self)", Resolved},
    {"resolve_neg(Complex self)", Resolved},
    {"mul(Complex self, Complex other)", Multiply},
    {"mul(Complex self, Operand other)", MultiplyByReal},
    {"mul(Operand self, Complex other)", MultiplyReal},
    {"div(Complex self, Complex other)", Divide},
    {"div(Complex self, Operand other)", DivideByReal},
    {"exp(Complex self)", Exponential},
    {"matmul(Complex self, Complex other)", MatMul},
    {"fft_fft" EMBER_TORCH_FFT, Transform<Kind::kComplex, false, 1>},
    {"fft_ifft" EMBER_TORCH_FFT, Transform<Kind::kComplex, true, 1>},
    {"fft_rfft" EMBER_TORCH_FFT, Transform<Kind::kToHalf, false, 1>},
    {"fft_irfft" EMBER_TORCH_FFT, Transform<Kind::kFromHalf, true, 1>},
    {"fft_fft2" EMBER_TORCH_FFT2, Transform<Kind::kComplex, false, 2>},
    {"fft_ifft2" EMBER_TORCH_FFT2, Transform<Kind::kComplex, true, 2>},
    {"fft_rfft2" EMBER_TORCH_FFT2, Transform<Kind::kToHalf, false, 2>},
    {"fft_irfft2" EMBER_TORCH_FFT2, Transform<Kind::kFromHalf, true, 2>},
    {"fft_fftn" EMBER_TORCH_FFT2, Transform<Kind::kComplex, false, 0>},
    {"fft_ifftn" EMBER_TORCH_FFT2, Transform<Kind::kComplex, true, 0>},
    {"fft_rfftn" EMBER_TORCH_FFT2, Transform<Kind::kToHalf, false, 0>},
    {"fft_irfftn" EMBER_TORCH_FFT2, Transform<Kind::kFromHalf, true, 0>},
    {"_fft_r2c(any self, int[] dim, int normalization, bool onesided)",
     RealToComplex},
    {"_fft_c2r(any self, int[] dim, int normalization, int last_dim_size)",
     ComplexToReal},
    {"_fft_c2c(any self, int[] dim, int normalization, bool forward)",
     ComplexToComplex},
    {"fft_fftshift(Tensor self, int[]? dim=None)", Shift},
    {"fft_ifftshift(Tensor self, int[]? dim=None)", ShiftBack},
    {"fft_fftfreq(int n, float d=1, " EMBER_TORCH_OPTIONS, AllFrequencies},
    {"fft_rfftfreq(int n, float d=1, " EMBER_TORCH_OPTIONS, HalfFrequencies},
    {"stft(Tensor self, int n_fft, int? hop_length=None, "
     "int? win_length=None, Tensor? window=None, bool normalized=False, "
     "bool? onesided=None, bool? return_complex=None)",
     StftPlain},
    {"stft(Tensor self, int n_fft, int? hop_length=None, "
     "int? win_length=None, Tensor? window=None, bool center=True, "
     "str pad_mode='reflect', bool normalized=False, bool? onesided=None, "
     "bool? return_complex=None)",
     StftCentered},
    {"istft(any self, int n_fft, int? hop_length=None, int? win_length=None, "
     "Tensor? window=None, bool center=True, bool normalized=False, "
     "bool? onesided=None, int? length=None, bool return_complex=False)",
     Istft},
};

}  // namespace

std::span<const OperatorRow> FourierRows() { return kRows; }

}  // namespace ember::torchscript
