// Computes RNN, GRU and LSTM by the equations of their specification, number by
// number.
//
//   Problem p = {.op = "GRU", .direction = "reverse"};
//   Data data(p);                                // the operands' values
//   std::vector<Numbers> y = Expected(p);        // Y, Y_h (and Y_c)
//
// A test aid; not thread-safe.
#ifndef EMBER_TESTS_ONNX_RECURRENT_REFERENCE_H_
#define EMBER_TESTS_ONNX_RECURRENT_REFERENCE_H_

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "tests/onnx/one_node.h"

namespace ember::tests {

using Values = std::vector<double>;
using Function = std::function<double(double)>;

inline double SigmoidOf(double x) { return 1 / (1 + std::exp(-x)); }
inline double TanhOf(double x) { return std::tanh(x); }

struct Problem {
  std::string op;
  int opset = 22;
  std::string direction = "forward";
  int steps = 4, batch = 3, input = 2, hidden = 3;
  int layout = 0;
  bool bias = true, initial = true, peepholes = false;
  // Operand sequence_lens: the length of each sequence. If the list is empty,
  // the operand is left out.
  std::vector<int> lengths = {};
  std::vector<std::string> names = {};
  Values alphas = {}, betas = {};
  // The functions that the activations `names` mean, for all directions.
  std::vector<Function> functions = {};
  double clip = 0;
  bool input_forget = false, linear = false;
  // True: the operator is DynamicQuantizeLSTM. The reference then supports only
  // a batch of 1.
  bool quantized = false;
  DType type = DType::kF32;
  bool known_weights = true;
  // True: the number of steps and the batch of the operand X are open dims.
  bool open_dims = false;

  int directions() const { return direction == "bidirectional" ? 2 : 1; }
  int gates() const { return op == "LSTM" ? 4 : op == "GRU" ? 3 : 1; }
  size_t states() const { return op == "LSTM" ? 2 : 1; }
};

// The operands' values. They are multiples of 1/64, which all float types
// represent. Quantized weights are multiples of their scales.
struct Data {
  explicit Data(const Problem& p);
  Values x, w, r, b, peepholes, initial[2];
};

// Returns the scale of quantized weights, by direction and unit.
double WeightScale(int direction, int unit);
double RecurrenceScale(int direction, int unit);

std::vector<Numbers> Expected(const Problem& p);

}  // namespace ember::tests

#endif  // EMBER_TESTS_ONNX_RECURRENT_REFERENCE_H_
