// The activation functions of recurrent layers, by name.
#include <algorithm>
#include <cctype>
#include <optional>

#include "frontends/onnx/operators/recurrent.h"
#include "frontends/ops/functions.h"

namespace ember::onnx {
namespace {

using Function = Tensor (*)(Tensor x, double alpha, double beta);

struct ActivationRow {
  std::string_view name;
  // Defaults of the function's parameters alpha and beta, which are those of
  // the ONNX operator of the same name; nullopt if the function has no such
  // parameter.
  std::optional<double> alpha, beta;
  Function function;
};

template <Tensor (*kFunction)(Tensor)>
Tensor Plain(Tensor x, double, double) {
  return kFunction(x);
}
template <Tensor (*kFunction)(Tensor, double)>
Tensor One(Tensor x, double alpha, double) {
  return kFunction(x, alpha);
}

constexpr ActivationRow kActivations[] = {
    {"Affine", 1.0, 0.0, ops::Linear},
    {"Elu", 1.0, std::nullopt, One<ops::Elu>},
    {"HardSigmoid", 0.2, 0.5, ops::HardSigmoid},
    {"LeakyRelu", 0.01, std::nullopt, One<ops::LeakyRelu>},
    {"Relu", std::nullopt, std::nullopt, Plain<ops::Relu>},
    {"ScaledTanh", 1.0, 1.0, ops::ScaledTanh},
    {"Sigmoid", std::nullopt, std::nullopt, Plain<ops::Sigmoid>},
    {"Softplus", std::nullopt, std::nullopt, Plain<ops::Softplus>},
    {"Softsign", std::nullopt, std::nullopt, Plain<ops::Softsign>},
    {"Tanh", std::nullopt, std::nullopt, Plain<ops::Tanh>},
    // ThresholdedRelu as an activation returns x for x >= alpha; the operator
    // of this name does so only for x > alpha.
    {"ThresholdedRelu", 1.0, std::nullopt, One<ops::ThresholdedReluInclusive>},
};

bool EqualNames(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  });
}

const ActivationRow* FindActivation(NodeContext& c, std::string_view name) {
  std::string known;
  for (const ActivationRow& row : kActivations) {
    if (EqualNames(row.name, name)) return &row;
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  c.FailInvalid("attribute 'activations': expected one of " + known +
                ", found '" + std::string(name) + "'");
  return nullptr;
}

// Distributes the values of the attribute activation_alpha or activation_beta:
// each function that has the parameter takes the next value.
class Parameters {
 public:
  explicit Parameters(std::optional<std::vector<double>> values)
      : values_(std::move(values).value_or(std::vector<double>())) {}
  double Next(std::optional<double> otherwise) {
    if (!otherwise) return 0;
    return next_ < values_.size() ? values_[next_++]
                                  : static_cast<float>(*otherwise);
  }

 private:
  std::vector<double> values_;
  size_t next_ = 0;
};

std::vector<std::string> ActivationNames(
    NodeContext& c, const std::vector<std::string>& defaults, int directions) {
  const size_t count = defaults.size() * static_cast<size_t>(directions);
  std::vector<std::string> names;
  if (const AttributeProto* attribute = c.FindAttribute("activations"))
    names.assign(attribute->strings().begin(), attribute->strings().end());
  if (names.empty()) {
    for (int i = 0; i < directions; ++i)
      names.insert(names.end(), defaults.begin(), defaults.end());
  }
  // Some models with one direction state the default of RNN, which has two
  // functions. The second is ignored.
  if (count == 1 && names.size() == 2) names.pop_back();
  if (names.size() != count) {
    c.FailInvalid("attribute 'activations': expected " + std::to_string(count) +
                  " names, found " + std::to_string(names.size()));
  }
  return names;
}

}  // namespace

std::vector<Activation> ReadActivations(
    NodeContext& c, const std::vector<std::string>& defaults, int directions) {
  const std::vector<std::string> names =
      ActivationNames(c, defaults, directions);
  std::optional<double> clip;
  if (c.HasAttribute("clip")) {
    clip = c.Float("clip", 0);
    if (!(*clip > 0))
      c.FailInvalid("attribute 'clip': expected a number above 0, found " +
                    std::to_string(*clip));
  }
  Parameters alphas(c.Floats("activation_alpha"));
  Parameters betas(c.Floats("activation_beta"));
  std::vector<Activation> activations;
  for (const std::string& name : names) {
    const ActivationRow* row = FindActivation(c, name);
    if (row == nullptr || !c.ok()) return {};
    const double alpha = alphas.Next(row->alpha);
    const double beta = betas.Next(row->beta);
    const Function function = row->function;
    activations.push_back([=](Tensor x) {
      return function(clip ? Clip(x, -*clip, *clip) : x, alpha, beta);
    });
  }
  return activations;
}

}  // namespace ember::onnx
