// Tests operators of complex numbers, and Fourier transforms. Operators that
// compute element by element on real numbers are in cases/.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <string>
#include <vector>

#include "tests/tensorflow/one_op.h"

namespace ember::tests {
namespace {

// A model cannot have complex inputs or results, so each test makes complex
// numbers inside the graph and takes them apart again.
TEST(Complex, ArithmeticAndParts) {
  const std::complex<double> a(1, 2), b(3, -4);
  const auto run = [&](const char* op, std::complex<double> expected) {
    SCOPED_TRACE(op);
    tensorflow::GraphMaker graph;
    for (const char* name : {"ar", "ai", "br", "bi"})
      graph.Placeholder(name, tensorflow::DT_FLOAT, {1});
    graph.Node("a", "Complex", {"ar", "ai"});
    graph.Node("b", "Complex", {"br", "bi"});
    graph.Node("y", op, {"a", "b"});
    graph.Node("conjugate", "Conj", {"y"});
    graph.Node("real", "Real", {"y"});
    graph.Node("imaginary", "Imag", {"conjugate"});
    graph.Node("absolute", "ComplexAbs", {"y"});
    graph.Node("angle", "Angle", {"y"});
    ExpectNumbers(
        RunBytes(graph.Finish(),
                 {F32({1}, {1}), F32({1}, {2}), F32({1}, {3}), F32({1}, {-4})}),
        {F32({1}, {expected.real()}), F32({1}, {-expected.imag()}),
         F32({1}, {std::abs(expected)}), F32({1}, {std::arg(expected)})});
  };
  run("Add", a + b);
  run("Sub", a - b);
  run("Mul", a * b);
}

TEST(Complex, FourierTransforms) {
  const std::vector<double> signal = {1, 2, -1, 0.5, 3, -2};
  const size_t n = signal.size();
  std::vector<std::complex<double>> spectrum(n);
  for (size_t k = 0; k < n; ++k) {
    for (size_t j = 0; j < n; ++j) {
      spectrum[k] +=
          signal[j] * std::polar(1.0, -2 * M_PI * static_cast<double>(j * k) /
                                          static_cast<double>(n));
    }
  }
  std::vector<double> real, imaginary;
  for (size_t k = 0; k < n / 2 + 1; ++k) {
    real.push_back(spectrum[k].real());
    imaginary.push_back(spectrum[k].imag());
  }
  tensorflow::GraphMaker graph;
  graph.Placeholder("x", tensorflow::DT_FLOAT, {6});
  graph.Add(tensorflow::MakeInts("length", {6}));
  graph.Node("spectrum", "RFFT", {"x", "length"});
  graph.Node("real", "Real", {"spectrum"});
  graph.Node("imaginary", "Imag", {"spectrum"});
  graph.Node("again", "IRFFT", {"spectrum", "length"});
  graph.Add(tensorflow::MakeScalar("zero", 0));
  graph.Node("complex", "Complex", {"x", "zero"});
  graph.Node("all", "FFT", {"complex"});
  graph.Node("back", "IFFT", {"all"});
  graph.Node("signal", "Real", {"back"});
  ExpectNumbers(RunBytes(graph.Finish(), {F32({6}, signal)}),
                {F32({4}, real), F32({4}, imaginary), F32({6}, signal),
                 F32({6}, signal)});
}

}  // namespace
}  // namespace ember::tests
