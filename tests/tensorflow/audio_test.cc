// Compares sound files, spectrograms and coefficients on the mel scale with
// their definitions in plain loops.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/tensorflow/one_op.h"

namespace ember::tests {
namespace {

using tensorflow::DT_STRING;
using tensorflow::Flag;
using tensorflow::Float;
using tensorflow::GraphMaker;
using tensorflow::Int;

std::string Bytes(int64_t value, int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += static_cast<char>((value >> (8 * i)) & 0xff);
  return text;
}

std::string Chunk(const std::string& name, const std::string& contents) {
  return name + Bytes(static_cast<int64_t>(contents.size()), 4) + contents;
}

// Returns a WAV file with these samples. It has a further chunk between the
// header and the samples, which readers must skip.
std::string FileOf(const std::vector<int>& samples, int channels, int rate,
                   int bits = 16) {
  std::string data;
  for (const int sample : samples) data += Bytes(sample, 2);
  const std::string format = Bytes(1, 2) + Bytes(channels, 2) + Bytes(rate, 4) +
                             Bytes(rate * 2 * channels, 4) +
                             Bytes(2 * channels, 2) + Bytes(bits, 2);
  return Chunk("RIFF", "WAVE" + Chunk("fmt ", format) + Chunk("LIST", "abcd") +
                           Chunk("data", data));
}

StatusOr<std::vector<Numbers>> Decoded(const std::string& file, int channels,
                                       int samples) {
  GraphMaker graph;
  graph.Placeholder("file", DT_STRING, {});
  graph.Node(
      "wave", "DecodeWav", {"file"},
      {Int("desired_channels", channels), Int("desired_samples", samples)});
  std::vector<double> bytes;
  for (const char c : file)
    bytes.push_back(static_cast<double>(static_cast<uint8_t>(c)));
  return RunBytes(graph.Finish(),
                  {{DType::kU8, {static_cast<int64_t>(bytes.size())}, bytes}},
                  {.entry = "->wave,wave:1"});
}

TEST(Audio, Files) {
  const auto parts = [](const std::vector<double>& values) {
    std::vector<double> scaled;
    for (const double value : values) scaled.push_back(value / 32768);
    return scaled;
  };
  const Numbers rate{DType::kI32, {}, {16000}};
  const std::string two = FileOf({1, -2, 300, -400, 32767, -32768}, 2, 16000);
  // The three cases decode the whole file, a part of it, and more than it has.
  // In the last case, missing channels repeat the last channel, and missing
  // samples are zeros.
  ExpectNumbers(Decoded(two, 2, 3),
                {F32({3, 2}, parts({1, -2, 300, -400, 32767, -32768})), rate});
  ExpectNumbers(Decoded(two, 1, 2), {F32({2, 1}, parts({1, 300})), rate});
  ExpectNumbers(Decoded(two, 3, 4),
                {F32({4, 3}, parts({1, -2, -2, 300, -400, -400, 32767, -32768,
                                    -32768, 0, 0, 0})),
                 rate});
  for (const std::string& wrong :
       {FileOf({1, 2}, 1, 16000, 8), std::string("RIFF"), std::string("x")}) {
    const auto results = Decoded(wrong, 1, 2);
    ASSERT_TRUE(results.ok()) << results.status().ToString();
    for (const double value : (*results)[0].values)
      EXPECT_TRUE(std::isnan(value)) << wrong.size();
  }
  const auto open = Decoded(two, 1, -1);
  ASSERT_FALSE(open.ok());
  EXPECT_NE(open.status().message().find("expected desired_channels and "
                                         "desired_samples"),
            std::string_view::npos);
}

double Mel(double frequency) { return 1127 * std::log1p(frequency / 700); }

TEST(Audio, SpectrogramsAndCoefficients) {
  constexpr int kSamples = 40, kWindow = 12, kStride = 5, kLength = 16,
                kBins = 9, kFrames = 1 + (kSamples - kWindow) / kStride,
                kRate = 1000, kTriangles = 5, kCoefficients = 4;
  std::vector<double> sound;
  for (int i = 0; i < kSamples; ++i)
    sound.push_back(std::sin(i * 0.7) + 0.3 * std::cos(i * 1.9));
  std::vector<double> squares, roots;
  for (int frame = 0; frame < kFrames; ++frame) {
    for (int k = 0; k < kBins; ++k) {
      double real = 0, imaginary = 0;
      for (int i = 0; i < kWindow; ++i) {
        const double x = sound[static_cast<size_t>(frame * kStride + i)] *
                         (0.5 - 0.5 * std::cos(2 * M_PI * i / kWindow));
        real += x * std::cos(2 * M_PI * i * k / kLength);
        imaginary -= x * std::sin(2 * M_PI * i * k / kLength);
      }
      squares.push_back(real * real + imaginary * imaginary);
      roots.push_back(std::sqrt(squares.back()));
    }
  }
  for (const bool squared : {false, true}) {
    OneOp spectrogram("AudioSpectrogram");
    spectrogram.Input(F32({kSamples, 1}, sound));
    spectrogram.Attribute(Int("window_size", kWindow))
        .Attribute(Int("stride", kStride))
        .Attribute(Flag("magnitude_squared", squared));
    ExpectNumbers(spectrogram.Run(),
                  {F32({1, kFrames, kBins}, squared ? squares : roots)});
  }

  // The mel filter bank consists of triangles. A frequency counts for the
  // triangle that rises at the frequency and for the one that falls, from the
  // lower frequency limit on.
  const double low = 60, high = 450;
  std::vector<double> centers;
  for (int i = 0; i <= kTriangles; ++i)
    centers.push_back(Mel(low) +
                      (Mel(high) - Mel(low)) / (kTriangles + 1) * (i + 1));
  const double width = 0.5 * kRate / (kBins - 1);
  const int first = static_cast<int>(1.5 + low / width);
  const int last = static_cast<int>(high / width);
  std::vector<double> expected;
  for (int frame = 0; frame < kFrames; ++frame) {
    std::vector<double> energies(kTriangles, 0);
    for (int k = first; k <= last; ++k) {
      int above = 0;
      while (above < kTriangles &&
             centers[static_cast<size_t>(above)] < Mel(k * width))
        ++above;
      const double right = centers[static_cast<size_t>(above)];
      const double left =
          above == 0 ? Mel(low) : centers[static_cast<size_t>(above) - 1];
      const double share = (right - Mel(k * width)) / (right - left);
      const double value = roots[static_cast<size_t>(frame * kBins + k)];
      if (above > 0) energies[static_cast<size_t>(above) - 1] += value * share;
      if (above < kTriangles)
        energies[static_cast<size_t>(above)] += value - value * share;
    }
    for (int i = 0; i < kCoefficients; ++i) {
      double sum = 0;
      for (int j = 0; j < kTriangles; ++j) {
        sum += std::log(std::max(energies[static_cast<size_t>(j)], 1e-12)) *
               std::sqrt(2.0 / kTriangles) *
               std::cos(M_PI / kTriangles * i * (j + 0.5));
      }
      expected.push_back(sum);
    }
  }
  OneOp mfcc("Mfcc");
  mfcc.Input(F32({1, kFrames, kBins}, squares));
  mfcc.Input({DType::kI32, {}, {kRate}});
  mfcc.Attribute(Float("lower_frequency_limit", 60))
      .Attribute(Float("upper_frequency_limit", 450))
      .Attribute(Int("filterbank_channel_count", kTriangles))
      .Attribute(Int("dct_coefficient_count", kCoefficients));
  ExpectNumbers(mfcc.Run(), {F32({1, kFrames, kCoefficients}, expected)});
}

}  // namespace
}  // namespace ember::tests
