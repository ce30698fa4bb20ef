#include "tests/onnx/recurrent_reference.h"

#include <algorithm>
#include <utility>

namespace ember::tests {
namespace {

Values SomeValues(int count, int number) {
  Values values;
  for (int i = 0; i < count; ++i)
    values.push_back(((i * 37 + number * 29 + i * i * 3) % 129 - 64) / 64.0);
  return values;
}

// Quantizes numbers to 8 bits in the range from their smallest to their largest
// value, which is extended to contain 0, and dequantizes them again.
Values Quantized(const Values& values) {
  const double low =
      std::min(0.0, *std::min_element(values.begin(), values.end()));
  const double high =
      std::max(0.0, *std::max_element(values.begin(), values.end()));
  const double scale = (high - low) / 255;
  const double zero = std::clamp(std::nearbyint(-low / scale), 0.0, 255.0);
  Values result;
  for (double value : values) {
    const double steps = std::nearbyint(value / scale) + zero;
    result.push_back((std::clamp(steps, 0.0, 255.0) - zero) * scale);
  }
  return result;
}

// Makes weights that int8 represents exactly: a weight n / 64 becomes n times
// the scale of its unit.
void Rescale(Values& weights, int directions, int units,
             double (*scale)(int, int)) {
  const size_t rows = weights.size() / static_cast<size_t>(directions * units);
  for (size_t i = 0; i < weights.size(); ++i) {
    const int unit = static_cast<int>(i / rows);
    weights[i] *= 64 * scale(unit / units, unit % units);
  }
}

// Computes the recurrence step by step for one sequence in one direction.
class Sequence {
 public:
  Sequence(const Problem& p, const Data& data, int direction, int row)
      : p_(p), data_(data), direction_(direction), row_(row) {
    for (size_t s = 0; s < p.states(); ++s) {
      Values state(p.hidden);
      for (int j = 0; p.initial && j < p.hidden; ++j)
        state[j] = data.initial[s][StateIndex(j)];
      states_.push_back(std::move(state));
    }
    functions_ = p.functions;
    if (functions_.empty()) {
      const std::vector<Function> defaults =
          p.op == "LSTM"  ? std::vector<Function>{SigmoidOf, TanhOf, TanhOf}
          : p.op == "GRU" ? std::vector<Function>{SigmoidOf, TanhOf}
                          : std::vector<Function>{TanhOf};
      for (int d = 0; d < p.directions(); ++d)
        functions_.insert(functions_.end(), defaults.begin(), defaults.end());
    }
    per_direction_ = functions_.size() / static_cast<size_t>(p.directions());
  }

  // Returns the index of unit j in a state of the shape [directions, batch,
  // hidden], or [batch, directions, hidden] if layout is 1.
  int StateIndex(int j) const {
    const int row = p_.layout == 0 ? direction_ * p_.batch + row_
                                   : row_ * p_.directions() + direction_;
    return row * p_.hidden + j;
  }
  int OutputIndex(int t, int j) const {
    const int row = p_.layout == 0
                        ? (t * p_.directions() + direction_) * p_.batch + row_
                        : (row_ * p_.steps + t) * p_.directions() + direction_;
    return row * p_.hidden + j;
  }

  void Run(Values& y) {
    const int length = p_.lengths.empty() ? p_.steps : p_.lengths[row_];
    // The specification does not define the state of an empty sequence. The
    // expected state is zero, as in ONNX Runtime.
    if (length == 0 && p_.steps > 0)
      states_.assign(states_.size(), Values(p_.hidden));
    for (int i = 0; i < length; ++i) {
      const bool reverse = p_.direction == "reverse" || direction_ == 1;
      const int t = reverse ? length - 1 - i : i;
      Step(t);
      for (int j = 0; j < p_.hidden; ++j) y[OutputIndex(t, j)] = states_[0][j];
    }
  }
  const Values& state(size_t s) const { return states_[s]; }

 private:
  double Activate(size_t number, double x) const {
    if (p_.clip > 0) x = std::clamp(x, -p_.clip, p_.clip);
    return functions_[static_cast<size_t>(direction_) * per_direction_ +
                      number](x);
  }
  // Returns, for unit j of gate number `gate`, the product of W with the input
  // of step t, plus the bias.
  double InputPart(int t, int gate, int j) const {
    const int unit = (direction_ * p_.gates() + gate) * p_.hidden + j;
    const int row = p_.layout == 0 ? t * p_.batch + row_ : row_ * p_.steps + t;
    const Values& x = p_.quantized ? Quantized(data_.x) : data_.x;
    double sum = Bias(gate, j);
    for (int i = 0; i < p_.input; ++i)
      sum += data_.w[unit * p_.input + i] * x[row * p_.input + i];
    return sum;
  }
  double RecurrentPart(const Values& state, int gate, int j) const {
    const Values& h = p_.quantized ? Quantized(state) : state;
    const int unit = (direction_ * p_.gates() + gate) * p_.hidden + j;
    double sum = Bias(p_.gates() + gate, j);
    for (int i = 0; i < p_.hidden; ++i)
      sum += data_.r[unit * p_.hidden + i] * h[i];
    return sum;
  }
  double Bias(int gate, int j) const {
    if (!p_.bias) return 0;
    return data_.b[(direction_ * 2 * p_.gates() + gate) * p_.hidden + j];
  }
  double Peephole(int gate, int j) const {
    if (!p_.peepholes) return 0;
    return data_.peepholes[(direction_ * 3 + gate) * p_.hidden + j];
  }

  void Step(int t) {
    if (p_.op == "LSTM") {
      LstmStep(t);
    } else if (p_.op == "GRU") {
      GruStep(t);
    } else {
      Values next(p_.hidden);
      for (int j = 0; j < p_.hidden; ++j) next[j] = Activate(0, Gate(t, 0, j));
      states_[0] = next;
    }
  }
  double Gate(int t, int gate, int j) const {
    return InputPart(t, gate, j) + RecurrentPart(states_[0], gate, j);
  }

  void LstmStep(int t) {
    Values h(p_.hidden), c(p_.hidden);
    const Values& before = states_[1];
    for (int j = 0; j < p_.hidden; ++j) {
      const double in = Activate(0, Gate(t, 0, j) + Peephole(0, j) * before[j]);
      const double forget =
          p_.input_forget
              ? 1 - in
              : Activate(0, Gate(t, 2, j) + Peephole(2, j) * before[j]);
      c[j] = forget * before[j] + in * Activate(1, Gate(t, 3, j));
      h[j] = Activate(0, Gate(t, 1, j) + Peephole(1, j) * c[j]) *
             Activate(2, c[j]);
    }
    states_ = {h, c};
  }

  void GruStep(int t) {
    const Values& before = states_[0];
    Values update(p_.hidden), reset(p_.hidden), masked(p_.hidden);
    for (int j = 0; j < p_.hidden; ++j) {
      update[j] = Activate(0, Gate(t, 0, j));
      reset[j] = Activate(0, Gate(t, 1, j));
      masked[j] = reset[j] * before[j];
    }
    Values next(p_.hidden);
    for (int j = 0; j < p_.hidden; ++j) {
      const double recurrent = p_.linear
                                   ? reset[j] * RecurrentPart(before, 2, j)
                                   : RecurrentPart(masked, 2, j);
      const double hidden = Activate(1, InputPart(t, 2, j) + recurrent);
      next[j] = (1 - update[j]) * hidden + update[j] * before[j];
    }
    states_[0] = next;
  }

  const Problem& p_;
  const Data& data_;
  const int direction_, row_;
  std::vector<Values> states_;
  std::vector<Function> functions_;
  size_t per_direction_ = 0;
};

}  // namespace

double WeightScale(int direction, int) { return 1 / (64.0 - 16 * direction); }
double RecurrenceScale(int, int unit) { return 1 / (64.0 + unit % 3); }

Data::Data(const Problem& p)
    : x(SomeValues(p.steps * p.batch * p.input, 1)),
      w(SomeValues(p.directions() * p.gates() * p.hidden * p.input, 2)),
      r(SomeValues(p.directions() * p.gates() * p.hidden * p.hidden, 3)),
      b(SomeValues(p.directions() * 2 * p.gates() * p.hidden, 4)),
      peepholes(SomeValues(p.directions() * 3 * p.hidden, 5)),
      initial{SomeValues(p.directions() * p.batch * p.hidden, 6),
              SomeValues(p.directions() * p.batch * p.hidden, 7)} {
  if (!p.quantized) return;
  const int units = p.gates() * p.hidden;
  Rescale(w, p.directions(), units, WeightScale);
  Rescale(r, p.directions(), units, RecurrenceScale);
}
std::vector<Numbers> Expected(const Problem& p) {
  const Data data(p);
  const int state_count = p.directions() * p.batch * p.hidden;
  Values y(p.steps * state_count);
  std::vector<Values> last(p.states(), Values(state_count));
  for (int d = 0; d < p.directions(); ++d) {
    for (int b = 0; b < p.batch; ++b) {
      Sequence sequence(p, data, d, b);
      sequence.Run(y);
      for (size_t s = 0; s < p.states(); ++s) {
        for (int j = 0; j < p.hidden; ++j)
          last[s][sequence.StateIndex(j)] = sequence.state(s)[j];
      }
    }
  }
  std::vector<int64_t> y_dims = {p.steps, p.directions(), p.batch, p.hidden};
  std::vector<int64_t> dims = {p.directions(), p.batch, p.hidden};
  if (p.layout == 1) {
    y_dims = {p.batch, p.steps, p.directions(), p.hidden};
    dims = {p.batch, p.directions(), p.hidden};
  }
  std::vector<Numbers> expected = {{p.type, y_dims, y}};
  for (Values& state : last) expected.push_back({p.type, dims, state});
  return expected;
}

}  // namespace ember::tests
