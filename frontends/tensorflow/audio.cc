// Imports operators on sound, as TensorFlow's example of keyword spotting uses
// them: decoding of WAVE files, spectrograms, and coefficients on the mel
// scale.
//
// Source: RIFF and WAVE (IBM and Microsoft, 1991); Davis and Mermelstein,
// Comparison of parametric representations for monosyllabic word recognition
// (1980). The constants of the mel scale and of the window, and the limits, are
// those of TensorFlow's kernels.
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "frontends/ops/waves.h"
#include "frontends/tensorflow/operators.h"

namespace ember::tensorflow {
namespace {

double MelOf(double frequency) { return 1127 * std::log1p(frequency / 700); }
Tensor MelOf(Tensor frequency) { return Log1p(frequency / 700.0) * 1127.0; }

// Returns the weights of the filters of a mel scale, which are triangles: one
// row per frequency and one column per triangle, f64.
Tensor TrianglesOf(OperatorContext& c, int64_t frequencies, int64_t triangles,
                   double lowest, double highest, Tensor rate) {
  // A triangle begins and ends at the centers of the neighbouring triangles.
  std::vector<double> left, center, right;
  const double first = MelOf(lowest);
  const double step =
      (MelOf(highest) - first) / static_cast<double>(triangles + 1);
  for (int64_t i = 0; i < triangles; ++i) {
    left.push_back(first + step * static_cast<double>(i));
    center.push_back(first + step * static_cast<double>(i + 1));
    right.push_back(first + step * static_cast<double>(i + 2));
  }
  const auto row = [&](const std::vector<double>& values) {
    return Unsqueeze(c.Vector(DType::kF64, values), {0});
  };
  const Tensor number = Cast(
      AlongAxis(IotaVector(c.builder(), Dim(frequencies), DType::kI64), 0, 2),
      DType::kF64);
  const Tensor width = Cast(Reshape(rate, {}), DType::kF64) *
                       (0.5 / static_cast<double>(frequencies - 1));
  const Tensor begin = Floor(lowest / width + 1.5);
  const Tensor end = Floor(highest / width);
  const Tensor inside = And(LessEqual(begin, number), LessEqual(number, end));
  const Tensor mel = MelOf(number * width);
  const Tensor rising = (mel - row(left)) / (row(center) - row(left));
  const Tensor falling = (row(right) - mel) / (row(right) - row(center));
  // The first triangle also has all frequencies below it, and the last triangle
  // all frequencies above it.
  std::vector<double> begins = left, ends = right;
  begins.front() = -std::numeric_limits<double>::infinity();
  ends.back() = std::numeric_limits<double>::infinity();
  const Tensor is_rising =
      And(Less(row(begins), mel), LessEqual(mel, row(center)));
  const Tensor is_falling =
      And(Less(row(center), mel), LessEqual(mel, row(ends)));
  const Tensor weight =
      Select(is_rising, rising, Select(is_falling, falling, mel.Like(0)));
  return Select(inside, weight, mel.Like(0));
}

// Returns the integer, as i64, that `count` bytes from index `place` of `bytes`
// encode in little-endian order.
Tensor NumberAt(Tensor bytes, Tensor place, int count) {
  Tensor number;
  for (int i = 0; i < count; ++i) {
    const Tensor byte =
        Cast(Gather(bytes, place + static_cast<double>(i), 0), DType::kI64) *
        static_cast<double>(int64_t{1} << (8 * i));
    number = number ? number + byte : byte;
  }
  return number;
}

int64_t CodeOf(std::string_view name) {
  int64_t code = 0;
  for (size_t i = 0; i < name.size(); ++i)
    code |= static_cast<int64_t>(static_cast<uint8_t>(name[i])) << (8 * i);
  return code;
}

}  // namespace

// Imports DecodeWav. The operand is the bytes of a file, as u8. The result is
// NaN for a file that is no uncompressed sound of 16 bits.
void ImportDecodeWav(OperatorContext& c) {
  const int64_t channels = c.Integer("desired_channels", -1);
  const int64_t samples = c.Integer("desired_samples", -1);
  if (channels < 1 || channels > (1 << 10) || samples < 1 ||
      samples > (1 << 28)) {
    return c.FailUnsupported(
        "expected desired_channels and desired_samples that say how much "
        "sound there is, found " +
        std::to_string(channels) + " and " + std::to_string(samples) +
        ": cut the graph behind it (--entry='NODE,NODE:1->NODE')");
  }
  Tensor bytes = c.Input(0);
  if (!c.ok()) return;
  if (bytes.dtype() != DType::kU8 || bytes.rank() != 1) {
    return c.FailUnsupported(
        "expected a file that is an input of the model: cut the graph behind "
        "it (--entry='NODE,NODE:1->NODE')");
  }
  // Zeros are appended to the file, so that reading its header is in bounds.
  constexpr int64_t kHead = 64;
  const Dim size = bytes.dim(0);
  bytes = Pad(bytes, {Dim(0)}, {Dim(kHead)}, "constant", bytes.Like(0));
  const auto place = [&](int64_t at) {
    return c.Scalar(static_cast<double>(at), DType::kI64);
  };
  const auto is = [&](Tensor at, std::string_view name) {
    return Equal(NumberAt(bytes, at, static_cast<int>(name.size())),
                 static_cast<double>(CodeOf(name)));
  };
  const Tensor format_size = NumberAt(bytes, place(16), 4);
  const Tensor stored_channels = NumberAt(bytes, place(22), 2);
  const Tensor is_sound =
      And(And(And(is(place(0), "RIFF"), is(place(8), "WAVE")),
              is(place(12), "fmt ")),
          And(And(Equal(NumberAt(bytes, place(20), 2), 1),
                  Equal(NumberAt(bytes, place(34), 2), 16)),
              Less(0, stored_channels)));
  // The samples follow the first text "data" after the format chunk.
  const Tensor all = IotaVector(c.builder(), size, DType::kI64);
  const Tensor is_data =
      And(is(all, "data"), LessEqual(format_size + 20.0, all));
  const Tensor found = Apply("arg_reduce", {Cast(is_data, DType::kI32)},
                             {{"mode", std::string("maximum")},
                              {"axis", int64_t{0}},
                              {"last", int64_t{0}}});
  const Tensor begin = found + 8.0;
  const Tensor length = DimScalar(c.builder(), size);
  const Tensor end =
      Minimum(begin + NumberAt(bytes, Minimum(found + 4.0, length), 4), length);
  // If more channels are requested than the file has, the last channel of the
  // file is repeated.
  const Tensor channel = Minimum(
      AlongAxis(IotaVector(c.builder(), Dim(channels), DType::kI64), 1, 2),
      stored_channels - 1.0);
  const Tensor sample =
      AlongAxis(IotaVector(c.builder(), Dim(samples), DType::kI64), 0, 2);
  const Tensor at = begin + (sample * stored_channels + channel) * 2.0;
  const Tensor is_there = LessEqual(at + 2.0, end);
  const Tensor low = NumberAt(bytes, Select(is_there, at, at.Like(0)), 2);
  const Tensor signed_value = Select(Less(low, 32768), low, low - 65536.0);
  const Tensor value = Cast(signed_value, DType::kF32) * (1.0 / 32768);
  const Tensor sound = Select(is_there, value, value.Like(0));
  c.SetOutput(0, Select(is_sound, sound,
                        value.Like(std::numeric_limits<double>::quiet_NaN())));
  c.SetOutput(1, Cast(NumberAt(bytes, place(24), 4), DType::kI32));
}

// Imports AudioSpectrogram: converts samples [samples, channels] to spectra
// [channels, windows, frequencies].
void ImportAudioSpectrogram(OperatorContext& c) {
  if (!c.CheckRank(0, 2, 2)) return;
  const int64_t window = c.Integer("window_size", 0);
  const int64_t stride = c.Integer("stride", 0);
  if (!c.CheckRange("window_size", window, 2, 1 << 20) ||
      !c.CheckRange("stride", stride, 1, 1 << 20))
    return;
  int64_t length = 1;
  while (length < window) length *= 2;
  const Tensor x = Transpose(c.Input(0), {1, 0});
  const Dim count = FloorDivide(x.dim(1) - Dim(window), Dim(stride)) + Dim(1);
  const auto places = [&](const Dim& extent, int axis) {
    return AlongAxis(IotaVector(c.builder(), extent, DType::kI64), axis, 2);
  };
  const Tensor at =
      places(count, 0) * static_cast<double>(stride) + places(Dim(window), 1);
  std::vector<double> weights;
  for (int64_t i = 0; i < window; ++i) {
    weights.push_back(0.5 - 0.5 * std::cos(2 * M_PI * static_cast<double>(i) /
                                           static_cast<double>(window)));
  }
  const Tensor windows =
      Cast(Gather(x, at, 1), DType::kF64) * c.Vector(DType::kF64, weights);
  const ops::Waves waves = ops::MakeWaves(
      c.builder(), Dim(window), Dim(length / 2 + 1), Dim(length), DType::kF64);
  const Tensor real = MatMul(windows, waves.cosine);
  const Tensor imaginary = MatMul(windows, waves.sine);
  const Tensor squares = real * real + imaginary * imaginary;
  c.SetOutput(0,
              Cast(c.Flag("magnitude_squared", false) ? squares : Sqrt(squares),
                   DType::kF32));
}

// Imports Mfcc. Operands: the spectrogram [channels, windows, frequencies] and
// the number of samples in a second. Result: [channels, windows, coefficients].
void ImportMfcc(OperatorContext& c) {
  if (!c.CheckRank(0, 3, 3) || !c.CheckRank(1, 0, 1)) return;
  const Tensor x = c.Input(0);
  const int64_t triangles = c.Integer("filterbank_channel_count", 40);
  const int64_t coefficients = c.Integer("dct_coefficient_count", 13);
  const double lowest = c.Number("lower_frequency_limit", 20);
  const double highest = c.Number("upper_frequency_limit", 4000);
  const auto frequencies = c.Extent(x, 2);
  if (!frequencies || !c.CheckRange("frequencies", *frequencies, 2, 1 << 20) ||
      !c.CheckRange("filterbank_channel_count", triangles, 1, 1 << 12) ||
      !c.CheckRange("dct_coefficient_count", coefficients, 1, triangles))
    return;
  if (!(lowest >= 0 && lowest < highest))
    return c.FailInvalid(
        "expected a lower frequency limit below the upper one");
  constexpr double kFloor = 1e-12;
  const Tensor energy = MatMul(
      Sqrt(Cast(x, DType::kF64)),
      TrianglesOf(c, *frequencies, triangles, lowest, highest, c.Input(1)));
  const auto n = static_cast<double>(triangles);
  std::vector<double> cosines;
  for (int64_t j = 0; j < triangles; ++j) {
    for (int64_t i = 0; i < coefficients; ++i) {
      cosines.push_back(std::sqrt(2 / n) *
                        std::cos(M_PI / n * static_cast<double>(i) *
                                 (static_cast<double>(j) + 0.5)));
    }
  }
  const Tensor matrix = Reshape(c.Vector(DType::kF64, cosines),
                                {Dim(triangles), Dim(coefficients)});
  c.SetOutput(0,
              Cast(MatMul(Log(Maximum(energy, kFloor)), matrix), DType::kF32));
}

}  // namespace ember::tensorflow
