#include "tests/random_models/judge.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "frontends/onnx/node/tensor_proto.h"
#include "tests/random_models/generator.h"
#include "tests/random_models/random.h"
#include "tools/lib/tensors/compare.h"
#include "tools/lib/tensors/elements.h"

namespace ember::tests {
namespace {

using onnx::TensorProto;

// Number of perturbed runs of a model. If a quarter of the perturbations cross
// a discontinuity, all of them miss it in one of a thousand cases.
constexpr uint64_t kPerturbations = 24;

double FactorOf(DType type) {
  // Results of 16 bits may differ by more: ONNX Runtime rounds to 16 bits after
  // every node, our engine only at the end of a dispatch.
  return type == DType::kF16 || type == DType::kBF16 ? 4 : 1;
}

// Allowed difference of subnormal numbers, in units of the smallest subnormal
// number. Below the normal range each rounding has an error of up to half a
// unit, however small the value is. A product of some dozens of factors is
// rounded some dozens of times, so its error is a few units.
constexpr double kSubnormalSteps = 8;

double LeastOf(DType type) {
  switch (type) {
    case DType::kF16:
      return 0x1p-24;
    case DType::kBF16:
      return 0x1p-133;
    case DType::kF32:
      return 0x1p-149;
    case DType::kF8E4M3FN:
      return 0x1p-9;
    case DType::kF8E5M2:
      return 0x1p-16;
    default:
      return 0x1p-1074;
  }
}

const vm::Tensor* Find(const NamedTensors& tensors, const std::string& name) {
  for (const auto& [other, tensor] : tensors)
    if (other == name) return &tensor;
  return nullptr;
}

// Returns the largest magnitude of all elements. Fill values such as a mask's
// -3e38 do not count.
double SizeOf(const vm::Tensor& tensor) {
  double size = 0;
  for (int64_t i = 0; i < tensor.element_count(); ++i) {
    const double element = std::abs(tools::FloatElement(tensor, i));
    if (element < 1e30) size = std::max(size, element);
  }
  return size;
}

tools::Comparison CompareResults(const vm::Tensor& got,
                                 const vm::Tensor& want) {
  tools::Tolerance tolerance{.rtol = 0, .atol = 0};
  if (IsFloat(want.type)) {
    tolerance.rtol = FactorOf(want.type) * tools::TierTolerance(want.type);
    tolerance.atol = std::max(tolerance.rtol * SizeOf(want) / 10,
                              kSubnormalSteps * LeastOf(want.type));
  }
  return tools::Compare(got, want, tolerance);
}

// Functions with bounded results that are nearly constant somewhere. There a
// small change of the operand does not change the result, although engines
// round its last bit differently. So the judge rounds their results once more.
constexpr std::string_view kFlatFunctions[] = {
    "Atan", "Cos", "Erf", "Sigmoid", "Sin", "Softmax", "Tanh"};

// Functions of the form x * f(x), where the factor f(x) is from 0 to 1 and
// nearly constant at both ends. Where the factor is nearly 0, engines compute
// it as 1 + (nearly -1), so that the result is some units of x's last place, or
// 0.
constexpr std::string_view kFlatFactors[] = {"BiasGelu", "FastGelu", "Gelu",
                                             "GemmFastGelu", "QuickGelu"};

bool IsOneOf(std::span<const std::string_view> names,
             const onnx::NodeProto& node) {
  return std::ranges::find(names, node.op_type()) != names.end();
}

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

// Appends a node with two operands, and returns its result's name.
std::string Append(Nodes& nodes, const char* op_type, const std::string& left,
                   const std::string& right, const std::string& result) {
  onnx::NodeProto& added = *nodes.Add();
  added.set_op_type(op_type);
  added.add_input(left);
  added.add_input(right);
  added.add_output(result);
  return result;
}

// Appends a copy of `node` whose result has a new name, and returns that name.
// The caller then computes a changed value under the old name.
std::string AppendExact(Nodes& nodes, const onnx::NodeProto& node) {
  const std::string exact = node.output(0) + "_exact";
  *nodes.Add() = node;
  nodes.rbegin()->set_output(0, exact);
  return exact;
}

// Appends `node`, and rounds its result y once more in y's own type, which
// changes it by a unit or two in its last place: (y + y^n) - y^n.
void AddRoundedOnceMore(const onnx::NodeProto& node, uint64_t n, Nodes& nodes) {
  const std::string& name = node.output(0);
  const std::string exact = AppendExact(nodes, node);
  std::string power = exact;
  for (uint64_t i = 2; i <= n; ++i)
    power =
        Append(nodes, "Mul", power, exact, name + "_power" + std::to_string(i));
  Append(nodes, "Add", exact, power, name + "_sum");
  Append(nodes, "Sub", name + "_sum", power, name);
}

// Appends `node`, which is x times a flat factor, and changes its result by
// units of x's last place (0 has none): by the rounding error of the last
// addition in x + ... + x, n times. If that is not finite, nothing is changed.
void AddRoundedAsOperand(const onnx::NodeProto& node, uint64_t n,
                         Nodes& nodes) {
  const std::string& name = node.output(0);
  const std::string exact = AppendExact(nodes, node);
  int inputs = 1;
  std::string x = node.input(0);
  if (node.op_type() == "GemmFastGelu")
    x = Append(nodes, "MatMul", x, node.input(inputs++), name + "_product");
  if (inputs < node.input_size() && !node.input(inputs).empty())
    x = Append(nodes, "Add", x, node.input(inputs), name + "_operand");
  std::string sum = x, before;
  for (uint64_t i = 2; i <= n; ++i) {
    before = sum;
    sum = Append(nodes, "Add", sum, x, name + "_times" + std::to_string(i));
  }
  Append(nodes, "Sub", sum, before, name + "_last");
  Append(nodes, "Sub", name + "_last", x, name + "_off");
  Append(nodes, "Add", exact, name + "_off", name + "_moved");
  Append(nodes, "Sub", name + "_off", name + "_off", name + "_zero");
  onnx::NodeProto& is_lost = *nodes.Add();
  is_lost.set_op_type("IsNaN");
  is_lost.add_input(name + "_zero");
  is_lost.add_output(name + "_lost");
  Append(nodes, "Where", name + "_lost", exact, name);
  nodes.rbegin()->add_input(name + "_moved");
}

// Changes elements by a unit or two in the last place of the type in which they
// were probably computed. For half of the seeds equal elements change by the
// same amount, so that as many elements stay equal (and results of Unique keep
// their size); for the other half each element changes independently. Results
// of flat functions are changed, too.
class Perturbation {
 public:
  explicit Perturbation(uint64_t seed)
      : random_(seed),
        moves_equals_alike_(seed % 2 == 0),
        salt_(seed << 48),
        power_(2 + seed / 2 % 4) {}

  void Apply(vm::Tensor& tensor) {
    if (tensor.strings || !IsFloat(tensor.type)) return;
    const double unit = tensor.type == DType::kF64   ? 2e-15
                        : tensor.type == DType::kF32 ? 1e-6
                                                     : 2e-3;
    for (int64_t i = 0; i < tensor.element_count(); ++i) {
      const double element = tools::FloatElement(tensor, i);
      tools::SetFloatElement(tensor, i, element * (1 + Part(element) * unit));
    }
  }

  void Apply(TensorProto& proto) {
    const auto dtype = onnx::DTypeFromOnnx(proto.data_type());
    if (!dtype.ok() || !IsFloat(*dtype) || !proto.has_raw_data()) return;
    std::vector<int64_t> dims(proto.dims().begin(), proto.dims().end());
    auto tensor = vm::Tensor::Allocate(*dtype, dims);
    if (!tensor.ok()) return;
    std::memcpy(tensor->data, proto.raw_data().data(), proto.raw_data().size());
    Apply(*tensor);
    proto.set_raw_data(tensor->data, static_cast<size_t>(tensor->byte_size));
  }

  void Apply(onnx::GraphProto& graph) {
    for (TensorProto& initializer : *graph.mutable_initializer())
      Apply(initializer);
    Nodes nodes;
    for (onnx::NodeProto& node : *graph.mutable_node()) {
      for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
        if (attribute.has_g()) Apply(*attribute.mutable_g());
        if (attribute.has_t()) Apply(*attribute.mutable_t());
      }
      if (IsOneOf(kFlatFunctions, node)) {
        AddRoundedOnceMore(node, power_, nodes);
      } else if (IsOneOf(kFlatFactors, node)) {
        AddRoundedAsOperand(node, power_ + 1, nodes);
      } else {
        *nodes.Add() = std::move(node);
      }
    }
    *graph.mutable_node() = std::move(nodes);
  }

 private:
  // Returns a random change from -1 to 1, as a multiple of a unit in the last
  // place.
  double Part(double element) {
    if (!moves_equals_alike_) return random_.Real(-1, 1);
    return Random(std::bit_cast<uint64_t>(element) ^ salt_).Real(-1, 1);
  }

  Random random_;
  bool moves_equals_alike_;
  uint64_t salt_;
  uint64_t power_;
};

RandomModel Perturbed(const RandomModel& model, uint64_t seed) {
  RandomModel copy = model;
  Perturbation perturbation(seed);
  perturbation.Apply(*copy.proto.mutable_graph());
  for (auto& [name, tensor] : copy.inputs) {
    if (tensor.strings) continue;
    auto own = vm::Tensor::Allocate(tensor.type, tensor.dims);
    if (!own.ok()) continue;
    std::memcpy(own->data, tensor.data, static_cast<size_t>(tensor.byte_size));
    perturbation.Apply(*own);
    tensor = *own;
  }
  return copy;
}

bool AreAlike(const vm::Tensor& a, const vm::Tensor& b) {
  return a.type == b.type && a.dims == b.dims && !a.strings == !b.strings;
}

// Returns the largest distance of an element from its expected value; infinity
// if one of them is not a number.
double LargestDistance(const vm::Tensor& got, const vm::Tensor& want) {
  if (!AreAlike(got, want)) return INFINITY;
  if (want.strings) return *got.strings == *want.strings ? 0 : INFINITY;
  double largest = 0;
  for (int64_t i = 0; i < want.element_count(); ++i) {
    const double g = tools::FloatElement(got, i);
    const double w = tools::FloatElement(want, i);
    if (g == w || (std::isnan(g) && std::isnan(w))) continue;
    const double distance = std::abs(g - w);
    largest = std::max(largest, std::isnan(distance) ? INFINITY : distance);
  }
  return largest;
}

// Returns a flag for each element: true if `got` differs from `want`. All flags
// are true if the dims differ.
std::vector<bool> Marks(const vm::Tensor& got, const vm::Tensor& want) {
  const auto count = static_cast<size_t>(want.element_count());
  if (!AreAlike(got, want))
    return std::vector<bool>(std::max<size_t>(count, 1), true);
  std::vector<bool> marks(count);
  if (want.strings) {
    for (size_t i = 0; i < count; ++i)
      marks[i] = (*got.strings)[i] != (*want.strings)[i];
    return marks;
  }
  double size = 0;
  for (size_t i = 0; i < count; ++i) {
    const double w = tools::FloatElement(want, static_cast<int64_t>(i));
    if (std::isfinite(w)) size = std::max(size, std::abs(w));
  }
  const double tolerance =
      tools::TierTolerance(want.type) * FactorOf(want.type);
  for (size_t i = 0; i < count; ++i) {
    const double g = tools::FloatElement(got, static_cast<int64_t>(i));
    const double w = tools::FloatElement(want, static_cast<int64_t>(i));
    if (g == w || (std::isnan(g) && std::isnan(w))) continue;
    marks[i] = !(std::abs(g - w) <= tolerance * (std::abs(w) + size / 10) / 3);
  }
  return marks;
}

// True if a difference is explained by instability: most of the elements that
// differ are among those that perturbations change, and they differ by not much
// more than the perturbations change them. Not all of them need be, as a few
// perturbations do not reach every discontinuity.
bool AreUnstable(const NamedTensors& got, const NamedTensors& want,
                 const std::vector<NamedTensors>& moved) {
  for (const auto& [name, tensor] : want) {
    const vm::Tensor* other = Find(got, name);
    if (other == nullptr) return false;
    if (CompareResults(*other, tensor).equal) continue;
    const std::vector<bool> differs = Marks(*other, tensor);
    std::vector<bool> moves(differs.size());
    double movement = 0;
    for (const NamedTensors& results : moved) {
      const vm::Tensor* variant = Find(results, name);
      if (variant == nullptr) return false;
      movement = std::max(movement, LargestDistance(*variant, tensor));
      const std::vector<bool> marks = Marks(*variant, tensor);
      for (size_t i = 0; i < std::min(marks.size(), moves.size()); ++i)
        moves[i] = moves[i] || marks[i];
    }
    const auto differing = std::count(differs.begin(), differs.end(), true);
    const auto moving = std::count(moves.begin(), moves.end(), true);
    if (moving == 0 || differing > 4 * moving + 2) return false;
    if (LargestDistance(*other, tensor) > 4 * movement) return false;
  }
  return true;
}

// True if each element of our result agrees with `wide`, or is a hundred times
// nearer to it than ONNX Runtime's own result is.
bool IsMoreExact(const NamedTensors& got, const NamedTensors& want,
                 const NamedTensors& wide) {
  for (const auto& [name, tensor] : want) {
    const vm::Tensor* ours = Find(got, name);
    const vm::Tensor* exact = Find(wide, name);
    if (ours == nullptr || exact == nullptr || ours->dims != tensor.dims ||
        exact->dims != tensor.dims || ours->type != tensor.type)
      return false;
    if (!IsFloat(tensor.type) || tensor.strings) {
      if (!CompareResults(*ours, *exact).equal) return false;
      continue;
    }
    const double rtol =
        FactorOf(tensor.type) * tools::TierTolerance(tensor.type);
    const double atol = rtol * SizeOf(*exact) / 10;
    for (int64_t i = 0; i < tensor.element_count(); ++i) {
      const double is = tools::FloatElement(*exact, i);
      const double g = tools::FloatElement(*ours, i);
      const double w = tools::FloatElement(tensor, i);
      if (g == is || (std::isnan(g) && std::isnan(is))) continue;
      const double distance = std::abs(g - is);
      if (!(distance <= atol + rtol * std::abs(is)) &&
          !(distance <= std::abs(w - is) / 100))
        return false;
    }
  }
  return true;
}

void Widen(TensorProto& proto) {
  if (proto.data_type() != TensorProto::FLOAT) return;
  const StatusOr<onnx::TensorBytes> bytes =
      onnx::DecodeTensor(proto, nullptr, nullptr);
  if (!bytes.ok()) return;
  proto.clear_raw_data();
  proto.clear_float_data();
  proto.set_data_type(TensorProto::DOUBLE);
  for (size_t i = 0; i < bytes->bytes.size(); i += sizeof(float)) {
    float element;
    std::memcpy(&element, bytes->bytes.data() + i, sizeof element);
    proto.add_double_data(element);
  }
}

void Widen(onnx::ValueInfoProto& info) {
  auto& type = *info.mutable_type()->mutable_tensor_type();
  if (type.elem_type() == TensorProto::FLOAT)
    type.set_elem_type(TensorProto::DOUBLE);
}

void Widen(onnx::GraphProto& graph) {
  for (TensorProto& initializer : *graph.mutable_initializer())
    Widen(initializer);
  for (onnx::ValueInfoProto& info : *graph.mutable_input()) Widen(info);
  for (onnx::ValueInfoProto& info : *graph.mutable_output()) Widen(info);
  for (onnx::NodeProto& node : *graph.mutable_node()) {
    for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) Widen(*attribute.mutable_g());
      if (attribute.has_t()) Widen(*attribute.mutable_t());
      const bool is_type = attribute.name() == "to" ||
                           attribute.name() == "dtype" ||
                           attribute.name() == "output_datatype";
      if (is_type && attribute.i() == TensorProto::FLOAT)
        attribute.set_i(TensorProto::DOUBLE);
    }
  }
}

// Returns the model with f64 instead of f32.
RandomModel Widened(const RandomModel& model) {
  RandomModel copy = model;
  // Unused nodes are removed first, because their operators may have no version
  // for f64.
  RemoveDeadNodesInside(*copy.proto.mutable_graph());
  Widen(*copy.proto.mutable_graph());
  for (auto& [name, tensor] : copy.inputs) {
    if (tensor.type != DType::kF32) continue;
    auto wide = vm::Tensor::Allocate(DType::kF64, tensor.dims);
    if (!wide.ok()) continue;
    for (int64_t i = 0; i < tensor.element_count(); ++i)
      tools::SetFloatElement(*wide, i, tools::FloatElement(tensor, i));
    tensor = *wide;
  }
  return copy;
}

}  // namespace

std::string Difference(const NamedTensors& got, const NamedTensors& want) {
  if (got.size() != want.size()) {
    return "got " + std::to_string(got.size()) + " results, want " +
           std::to_string(want.size());
  }
  for (const auto& [name, tensor] : want) {
    const vm::Tensor* other = Find(got, name);
    if (other == nullptr) return "no result '" + name + "'";
    const tools::Comparison comparison = CompareResults(*other, tensor);
    if (!comparison.equal) return "'" + name + "' " + comparison.message;
  }
  return "";
}

bool IsUnstable(const ModelEngine& run, const RandomModel& model,
                const NamedTensors& got, const NamedTensors& want) {
  std::vector<NamedTensors> moved;
  for (uint64_t i = 1; i <= kPerturbations; ++i) {
    StatusOr<NamedTensors> results = run(Perturbed(model, i));
    if (results.ok()) moved.push_back(*std::move(results));
  }
  return AreUnstable(got, want, moved);
}

bool IsLessExact(const ModelEngine& run, const RandomModel& model,
                 const NamedTensors& got, const NamedTensors& want) {
  const StatusOr<NamedTensors> wide = run(Widened(model));
  return wide.ok() && IsMoreExact(got, want, *wide);
}

StatusOr<std::string> Explain(OrtProcess& ort, const RandomModel& model,
                              const NamedTensors& got,
                              const NamedTensors& want) {
  EMBER_ASSIGN_OR_RETURN(const std::vector<OrtResult> optimised,
                         ort.Run({&model}, "all"));
  if (optimised[0].outcome == OrtResult::kResults &&
      Difference(got, optimised[0].results).empty())
    return std::string("itself");
  std::vector<RandomModel> variants;
  for (uint64_t i = 1; i <= kPerturbations; ++i)
    variants.push_back(Perturbed(model, i));
  std::vector<const RandomModel*> pointers;
  for (const RandomModel& variant : variants) pointers.push_back(&variant);
  EMBER_ASSIGN_OR_RETURN(const std::vector<OrtResult> results,
                         ort.Run(pointers));
  std::vector<NamedTensors> moved;
  for (const OrtResult& result : results)
    if (result.outcome == OrtResult::kResults) moved.push_back(result.results);
  if (AreUnstable(got, want, moved)) return std::string("unstable");
  const RandomModel widened = Widened(model);
  EMBER_ASSIGN_OR_RETURN(const std::vector<OrtResult> wide,
                         ort.Run({&widened}));
  if (wide[0].outcome == OrtResult::kResults &&
      IsMoreExact(got, want, wide[0].results))
    return std::string("less exact");
  return std::string();
}

}  // namespace ember::tests
