// Tests which differences the rule "unstable" excuses, and which not.
#include "tests/random_models/judge.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"
#include "tests/random_models/run_ours.h"
#include "vm/runtime/tensor.h"

namespace ember::tests {
namespace {

vm::Tensor Filled(DType type, const std::vector<double>& values) {
  auto tensor =
      vm::Tensor::Allocate(type, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i) {
    if (type == DType::kF64) {
      static_cast<double*>(tensor->data)[i] = values[i];
    } else {
      static_cast<float*>(tensor->data)[i] = static_cast<float>(values[i]);
    }
  }
  return *tensor;
}

double ElementOf(const vm::Tensor& tensor, int64_t i) {
  const auto index = static_cast<size_t>(i);
  return tensor.type == DType::kF64 ? tensor.elements<double>()[index]
                                    : tensor.elements<float>()[index];
}

// True if the result `got` of y = function(x) is excused.
bool Excused(DType type, const std::vector<double>& x,
             const std::function<double(double)>& function,
             const std::vector<double>& got) {
  RandomModel model;
  model.inputs.emplace_back("x", Filled(type, x));
  const ModelEngine run =
      [&](const RandomModel& moved) -> StatusOr<NamedTensors> {
    const vm::Tensor& operand = moved.inputs[0].second;
    std::vector<double> y;
    for (int64_t i = 0; i < operand.element_count(); ++i)
      y.push_back(function(ElementOf(operand, i)));
    return NamedTensors{{"y", Filled(type, y)}};
  };
  const NamedTensors want = *run(model);
  return IsUnstable(run, model, {{"y", Filled(type, got)}}, want);
}

double Itself(double x) { return x; }

// The wrong result is that of a LeakyRelu with f64 operands whose alpha is 0.01
// instead of 0.01f. No perturbation explains it.
TEST(Unstable, NoWrongDoubles) {
  EXPECT_FALSE(Excused(DType::kF64, {1, 2, -3, 5}, Itself,
                       {1, 2, -3 * (1 + 2.2e-8), 5}));
}

TEST(Unstable, NoWrongFloats) {
  EXPECT_FALSE(Excused(DType::kF32, {1, 2, -3, 5}, Itself, {1, 2, -3.01, 5}));
}

TEST(Unstable, SidesOfAStep) {
  const auto floor = [](double x) { return std::floor(x); };
  EXPECT_TRUE(Excused(DType::kF32, {1.5, 2, 3.5}, floor, {1, 1, 3}));
  EXPECT_FALSE(Excused(DType::kF32, {1.5, 2.5, 3.5}, floor, {1, 1, 3}));
}

// A sum whose terms cancel is excused if its difference is at most as large as
// the change that the perturbations cause.
TEST(Unstable, ByAsMuchAsItMoves) {
  const auto cancels = [](double x) { return (x - 1) * 1e4; };
  EXPECT_TRUE(Excused(DType::kF32, {1.0001}, cancels, {1.005}));
  EXPECT_FALSE(Excused(DType::kF32, {1.0001}, cancels, {1.5}));
}

// The operator returns the position of the first of several equal values.
// Rounding may make more values equal and so change the position. If the number
// of values changes, there is no result to compare.
TEST(Unstable, PlacesOfEqualValues) {
  RandomModel model;
  model.inputs.emplace_back(
      "x", Filled(DType::kF32, {0.5, 0.5, 1.0000001, 1, 0.5, 1}));
  const ModelEngine run =
      [](const RandomModel& moved) -> StatusOr<NamedTensors> {
    const vm::Tensor& x = moved.inputs[0].second;
    std::map<double, double> places;
    for (int64_t i = x.element_count(); i-- > 0;)
      places[std::round(ElementOf(x, i) * 4e6)] = static_cast<double>(i);
    if (places.size() > 3) return InvalidArgumentError("expected 3 values");
    std::vector<double> y;
    for (const auto& [value, place] : places) y.push_back(place);
    return NamedTensors{{"y", Filled(DType::kF32, y)}};
  };
  const NamedTensors want = *run(model);
  EXPECT_TRUE(
      IsUnstable(run, model, {{"y", Filled(DType::kF32, {0, 3, 2})}}, want));
}

// True if the result `got` of y = step(function(x)) is excused by the
// evaluator, which must return `want`.
bool ExcusedBehind(const char* domain, const char* function, const char* step,
                   double x, double want, double got) {
  RandomModel model;
  model.inputs.emplace_back("x", Filled(DType::kF32, {x}));
  model.proto.set_ir_version(8);
  model.proto.add_opset_import()->set_version(17);
  onnx::OperatorSetIdProto& contrib = *model.proto.add_opset_import();
  contrib.set_domain("com.microsoft");
  contrib.set_version(1);
  onnx::GraphProto& graph = *model.proto.mutable_graph();
  graph.set_name("g");
  const auto type = [](onnx::ValueInfoProto& value, const char* name) {
    value.set_name(name);
    auto& tensor = *value.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(onnx::TensorProto::FLOAT);
    tensor.mutable_shape()->add_dim()->set_dim_value(1);
  };
  type(*graph.add_input(), "x");
  type(*graph.add_output(), "y");
  for (const auto& [op_type, from, to] :
       {std::array{function, "x", "t"}, std::array{step, "t", "y"}}) {
    onnx::NodeProto& node = *graph.add_node();
    node.set_op_type(op_type);
    if (op_type == function) node.set_domain(domain);
    node.add_input(from);
    node.add_output(to);
  }
  const ModelEngine run = [](const RandomModel& moved) {
    return EvaluateModel(moved.proto, moved.inputs);
  };
  const StatusOr<NamedTensors> results = run(model);
  EXPECT_TRUE(results.ok()) << results.status().ToString();
  EXPECT_EQ(ElementOf((*results)[0].second, 0), want);
  return IsUnstable(run, model, {{"y", Filled(DType::kF32, {got})}}, *results);
}

// If Tanh is within one unit of 1, a small change of its operand does not
// change its result. The rounding of Tanh itself then decides the result of
// Floor.
TEST(Unstable, RoundingOfFlatFunctions) {
  EXPECT_TRUE(ExcusedBehind("", "Tanh", "Floor", 8.6, 0, 1));
  EXPECT_FALSE(ExcusedBehind("", "Tanh", "Floor", 2, 0, 1));
}

// Gelu is x times a factor. Where the factor is nearly 0, rounding makes the
// result a unit of x's last place or 0, so the result of Sign may differ there,
// and nowhere else.
TEST(Unstable, RoundingOfFlatFactors) {
  const auto excused = [](double x, double want, double got) {
    return ExcusedBehind("com.microsoft", "FastGelu", "Sign", x, want, got);
  };
  EXPECT_TRUE(excused(-5.1, -1, 0));
  EXPECT_TRUE(excused(-7.3, 0, -1));
  EXPECT_FALSE(excused(-2.3, -1, 0));
  EXPECT_FALSE(excused(0, 0, -1));
  EXPECT_FALSE(excused(3.1, 1, 0));
  // Perturbing an infinite operand changes nothing, so no difference of its
  // result is excused.
  EXPECT_FALSE(excused(INFINITY, 1, 0));
  EXPECT_FALSE(excused(3e38, 1, 0));
}

TEST(Unstable, NoWrongStrings) {
  const auto strings = [](const std::vector<std::string>& texts) {
    return NamedTensors{{"y", *vm::Tensor::OfStrings({2}, texts)}};
  };
  const NamedTensors want = strings({"a", ""});
  const ModelEngine run = [&](const RandomModel&) -> StatusOr<NamedTensors> {
    return want;
  };
  EXPECT_FALSE(IsUnstable(run, RandomModel(), strings({"a", "b"}), want));
}

// The other engine adds ones one by one in f32, so its sum ends at 2^24. Our
// result is nearer to the sum in f64 and is excused.
TEST(LessExact, WhatIsNearerToTheSameInDoubles) {
  RandomModel model;
  model.inputs.emplace_back("x", Filled(DType::kF32, {1}));
  const ModelEngine run =
      [](const RandomModel& moved) -> StatusOr<NamedTensors> {
    const DType type = moved.inputs[0].second.type;
    return NamedTensors{
        {"y", Filled(type, {type == DType::kF64 ? 3e7 : 0x1p24})}};
  };
  const NamedTensors want = *run(model);
  EXPECT_TRUE(
      IsLessExact(run, model, {{"y", Filled(DType::kF32, {3e7})}}, want));
  EXPECT_FALSE(
      IsLessExact(run, model, {{"y", Filled(DType::kF32, {2e7})}}, want));
}

TEST(Difference, BelowTheNormalNumbersByAFewLeastOnes) {
  const auto difference = [](double got, double want) {
    return Difference({{"y", Filled(DType::kF32, {got})}},
                      {{"y", Filled(DType::kF32, {want})}});
  };
  EXPECT_EQ(difference(8 * 0x1p-149, 9 * 0x1p-149), "");
  EXPECT_NE(difference(80 * 0x1p-149, 100 * 0x1p-149), "");
  EXPECT_NE(difference(8e-30, 9e-30), "");
}

}  // namespace
}  // namespace ember::tests
