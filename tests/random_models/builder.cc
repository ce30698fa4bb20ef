#include "tests/random_models/builder.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "frontends/onnx/node/tensor_proto.h"
#include "tools/lib/tensors/elements.h"

namespace ember::tests {
namespace {

using onnx::TensorProto;

// The extents from which those of dims are drawn: small and odd ones, powers of
// two and their neighbours.
constexpr int64_t kExtents[] = {1,  1,  1,  2,  2,  3,  3,  4,   4,  5,  5,
                                6,  7,  8,  8,  9,  10, 12, 13,  15, 16, 17,
                                24, 28, 31, 32, 33, 64, 65, 100, 128};

int64_t Product(const Dims& dims) {
  int64_t product = 1;
  for (const int64_t dim : dims) product *= dim;
  return product;
}

void SetType(onnx::ValueInfoProto& info, const std::string& name,
             const Value& value) {
  info.set_name(name);
  auto& tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(value.type);
  tensor.mutable_shape();
  for (const int64_t dim : value.dims())
    tensor.mutable_shape()->add_dim()->set_dim_value(dim);
}

void SetContents(TensorProto& proto, const Value& value) {
  proto.set_data_type(value.type);
  for (const int64_t dim : value.dims()) proto.add_dims(dim);
  if (value.tensor.strings) {
    for (const std::string& text : *value.tensor.strings)
      proto.add_string_data(text);
    return;
  }
  proto.set_raw_data(value.tensor.data,
                     static_cast<size_t>(value.tensor.byte_size));
}

// Adds the names of all values that a node reads, also in its subgraphs.
void CollectUses(const onnx::NodeProto& node, std::set<std::string>& uses) {
  for (const std::string& input : node.input()) uses.insert(input);
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (!attribute.has_g()) continue;
    for (const onnx::NodeProto& inner : attribute.g().node())
      CollectUses(inner, uses);
    for (const onnx::ValueInfoProto& output : attribute.g().output())
      uses.insert(output.name());
  }
}

}  // namespace

int64_t Value::count() const { return Product(tensor.dims); }

Builder::Builder(ModelState& state, Builder* outer)
    : state_(state),
      depth_(outer == nullptr ? 0 : outer->depth_ + 1),
      graph_(outer == nullptr ? state.main : own_) {
  if (outer == nullptr) return;
  values_ = outer->values_;
  graph_.set_name(NewName("g"));
}

int32_t Builder::TypeOf(char letter) {
  switch (letter) {
    case 'f':
      return TensorProto::FLOAT;
    case 'd':
      return TensorProto::DOUBLE;
    case 'h':
      return TensorProto::FLOAT16;
    case 'b':
      return TensorProto::BFLOAT16;
    case 'c':
      return TensorProto::INT8;
    case 's':
      return TensorProto::INT16;
    case 'i':
      return TensorProto::INT32;
    case 'l':
      return TensorProto::INT64;
    case 'C':
      return TensorProto::UINT8;
    case 'S':
      return TensorProto::UINT16;
    case 'I':
      return TensorProto::UINT32;
    case 'L':
      return TensorProto::UINT64;
    case '?':
      return TensorProto::BOOL;
    case 't':
      return TensorProto::STRING;
    default:
      EMBER_CHECK(false) << "no type has the letter " << letter;
  }
  return 0;
}

int32_t Builder::Type(std::string_view letters) {
  return TypeOf(letters[static_cast<size_t>(
      random().Between(0, static_cast<int64_t>(letters.size()) - 1))]);
}

int64_t Builder::Extent() {
  if (random().Chance(0.005)) return 0;
  return kExtents[random().Between(0, std::size(kExtents) - 1)];
}

Dims Builder::Shape(int64_t rank) {
  Dims dims;
  int64_t left = state_.most_elements;
  for (int64_t i = 0; i < rank; ++i) {
    int64_t extent = Extent();
    while (extent > left) extent = (extent + 1) / 2;
    dims.push_back(extent);
    left /= std::max<int64_t>(extent, 1);
  }
  random().Shuffle(dims);
  return dims;
}

int Builder::Axis(const Value& value) {
  const int64_t rank = std::max<int64_t>(value.rank(), 1);
  const bool negative = opset() >= 13 && random().Chance(0.4);
  return static_cast<int>(random().Between(0, rank - 1) -
                          (negative ? rank : 0));
}

bool Builder::Fits(const Value& value, const Range& range) {
  if (!value.is_finite) return false;
  if (range.loose) return value.low >= -1000 && value.high <= 1000;
  return value.low >= range.low && value.high <= range.high;
}

Value Builder::MakeValue(std::string name, vm::Tensor tensor, bool constant) {
  Value value;
  value.name = std::move(name);
  value.type = tensor.strings ? int32_t{TensorProto::STRING}
                              : onnx::DTypeToOnnx(tensor.type);
  value.tensor = std::move(tensor);
  value.is_constant = constant;
  if (value.tensor.strings) return value;
  const int64_t count = value.count();
  for (int64_t i = 0; i < count; ++i) {
    const double element = tools::FloatElement(value.tensor, i);
    if (!std::isfinite(element)) value.is_finite = false;
    value.low = i == 0 ? element : std::min(value.low, element);
    value.high = i == 0 ? element : std::max(value.high, element);
  }
  return value;
}

vm::Tensor Builder::Fill(int32_t type, const Dims& dims, const Range& range) {
  if (type == TensorProto::STRING) {
    static const auto* const kWords = new std::vector<std::string>{
        "a", "b", "ab", "", "Ab c", "x y z", "the cat", "über", "12", "-3.5"};
    std::vector<std::string> strings;
    for (int64_t i = 0; i < Product(dims); ++i)
      strings.push_back(random().Pick(*kWords));
    auto tensor = vm::Tensor::OfStrings(dims, std::move(strings));
    EMBER_CHECK(tensor.ok()) << tensor.status().ToString();
    return *std::move(tensor);
  }
  const StatusOr<DType> dtype = onnx::DTypeFromOnnx(type);
  EMBER_CHECK(dtype.ok()) << dtype.status().ToString();
  auto tensor = vm::Tensor::Allocate(*dtype, dims);
  EMBER_CHECK(tensor.ok()) << tensor.status().ToString();
  double low = range.low, high = range.high;
  const bool is_float = IsFloat(*dtype);
  if (*dtype == DType::kBool) {
    low = 0;
    high = 1;
  } else if (!is_float && range.loose) {
    low = IsSigned(*dtype) ? -6 : 0;
    high = 9;
  }
  if (KindOf(*dtype) == DTypeKind::kUnsigned) low = std::max(low, 0.0);
  // Some float tensors have only multiples of a quarter, which make sums exact
  // and produce ties.
  const bool is_coarse = is_float && random().Chance(0.12);
  for (int64_t i = 0; i < tensor->element_count(); ++i) {
    if (!is_float) {
      tools::SetIntegerElement(*tensor, i,
                               random().Between(static_cast<int64_t>(low),
                                                static_cast<int64_t>(high)));
      continue;
    }
    double element = random().Real(low, high);
    if (is_coarse) element = std::clamp(std::round(element * 4) / 4, low, high);
    tools::SetFloatElement(*tensor, i, element);
  }
  return *std::move(tensor);
}

std::string Builder::NewName(const char* prefix) {
  return prefix + std::to_string(state_.next_name++);
}

std::string Builder::Constant(vm::Tensor tensor) {
  Value value = MakeValue(NewName("c"), std::move(tensor), true);
  // A constant of a subgraph is a Constant node in the subgraph, or an
  // initializer of the main graph.
  if (random().Chance(0.15) && opset() >= 9) {
    onnx::NodeProto& node = *graph_.add_node();
    node.set_op_type("Constant");
    node.add_output(value.name);
    onnx::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name("value");
    attribute.set_type(onnx::AttributeProto::TENSOR);
    SetContents(*attribute.mutable_t(), value);
  } else {
    const bool is_main = depth_ == 0 || random().Chance(0.5);
    onnx::GraphProto& graph = is_main ? state_.main : graph_;
    if (is_main) state_.shared.push_back(value);
    TensorProto& initializer = *graph.add_initializer();
    initializer.set_name(value.name);
    SetContents(initializer, value);
  }
  values_.push_back(value);
  return value.name;
}

Value Builder::New(int32_t type, const Dims& dims, Range range, Source source) {
  if (type == TensorProto::BFLOAT16) {
    const Value wide = New(TensorProto::FLOAT, dims, range, source);
    const std::string name =
        Node("Cast", {wide.name}, {{"to", int{TensorProto::BFLOAT16}}});
    if (Flush()) return *Find(name);
    return wide;
  }
  vm::Tensor tensor = Fill(type, dims, range);
  if (source == Source::kConstant ||
      (source == Source::kAny && random().Chance(state_.constants))) {
    Constant(std::move(tensor));
    return values_.back();
  }
  Value value = MakeValue(NewName("x"), std::move(tensor), false);
  SetType(*state_.main.add_input(), value.name, value);
  state_.inputs.emplace_back(value.name, value.tensor);
  state_.shared.push_back(value);
  values_.push_back(value);
  return value;
}

const Value* Builder::Choose(const std::vector<const Value*>& candidates) {
  if (candidates.empty()) return nullptr;
  // Newer values are drawn more often, so that nodes form chains and do not all
  // use the same few values.
  const auto most = static_cast<int64_t>(candidates.size()) - 1;
  const int64_t a = random().Between(0, most), b = random().Between(0, most);
  return candidates[static_cast<size_t>(std::max(a, b))];
}

Value Builder::Operand(int32_t type, const Dims& dims, Range range,
                       Source source) {
  std::vector<const Value*> same, reshapable;
  for (const Value& value : values_) {
    if (value.type != type || !Fits(value, range)) continue;
    if (source == Source::kConstant && !value.is_constant) continue;
    if (value.dims() == dims) {
      same.push_back(&value);
    } else if (source == Source::kAny && !value.is_constant &&
               value.count() == Product(dims) && value.count() > 0) {
      reshapable.push_back(&value);
    }
  }
  if (!same.empty() && random().Chance(0.7)) return *Choose(same);
  if (!reshapable.empty() && opset() >= 5 && random().Chance(0.25)) {
    const std::string from = Choose(reshapable)->name;
    const std::string name = Node("Reshape", {from, Integers(dims)});
    if (Flush()) return *Find(name);
  }
  return New(type, dims, range, source);
}

Value Builder::Pick(std::string_view letters, int64_t least_rank,
                    int64_t most_rank, Range range) {
  std::set<int32_t> types;
  for (const char letter : letters) types.insert(TypeOf(letter));
  std::vector<const Value*> same, reshapable;
  for (const Value& value : values_) {
    if (types.count(value.type) == 0 || !Fits(value, range)) continue;
    // Constants are mostly skipped, because nodes on constants are folded and
    // test little of the code that runs.
    if (value.is_constant && !random().Chance(0.2)) continue;
    if (value.count() > 4 * state_.most_elements) continue;
    if (value.rank() >= least_rank && value.rank() <= most_rank) {
      same.push_back(&value);
    } else if (value.count() > 0) {
      reshapable.push_back(&value);
    }
  }
  if (!same.empty() && random().Chance(0.85)) return *Choose(same);
  if (!reshapable.empty() && opset() >= 5 && random().Chance(0.6)) {
    const Value from = *Choose(reshapable);
    Dims dims;
    int64_t left = from.count();
    const int64_t rank =
        random().Between(std::max<int64_t>(least_rank, 1), most_rank);
    for (int64_t i = 0; i + 1 < rank; ++i) {
      std::vector<int64_t> divisors;
      for (int64_t d = 1; d <= std::min<int64_t>(left, 64); ++d)
        if (left % d == 0) divisors.push_back(d);
      dims.push_back(random().Pick(divisors));
      left /= dims.back();
    }
    dims.push_back(left);
    random().Shuffle(dims);
    if (least_rank <= rank) {
      const std::string name = Node("Reshape", {from.name, Integers(dims)});
      if (Flush()) return *Find(name);
    }
  }
  const int64_t rank = random().Between(
      least_rank, std::max(least_rank, std::min<int64_t>(most_rank, 4)));
  return New(Type(letters), Shape(rank), range,
             random().Chance(0.85) ? Source::kInput : Source::kAny);
}

std::string Builder::Integers(const std::vector<int64_t>& values,
                              int32_t type) {
  const StatusOr<DType> dtype = onnx::DTypeFromOnnx(type);
  auto tensor =
      vm::Tensor::Allocate(*dtype, {static_cast<int64_t>(values.size())});
  EMBER_CHECK(tensor.ok()) << tensor.status().ToString();
  for (size_t i = 0; i < values.size(); ++i)
    tools::SetIntegerElement(*tensor, static_cast<int64_t>(i), values[i]);
  return Constant(*std::move(tensor));
}

std::string Builder::Integer(int64_t value, int32_t type) {
  auto tensor = vm::Tensor::Allocate(*onnx::DTypeFromOnnx(type), {});
  EMBER_CHECK(tensor.ok()) << tensor.status().ToString();
  tools::SetIntegerElement(*tensor, 0, value);
  return Constant(*std::move(tensor));
}

std::string Builder::Scalar(int32_t type, double value) {
  const StatusOr<DType> dtype = onnx::DTypeFromOnnx(type);
  if (!IsFloat(*dtype)) return Integer(static_cast<int64_t>(value), type);
  auto tensor = vm::Tensor::Allocate(*dtype, {});
  EMBER_CHECK(tensor.ok()) << tensor.status().ToString();
  tools::SetFloatElement(*tensor, 0, value);
  return Constant(*std::move(tensor));
}

Names Builder::Nodes(const std::string& op, const Names& inputs, int results,
                     const Attributes& attributes, const std::string& domain) {
  onnx::ModelBuilder other;
  Names names;
  for (int i = 0; i < results; ++i) names.push_back(NewName("v"));
  pending_.push_back(other.Node(op, inputs, names, attributes));
  pending_.back().set_name(NewName("n"));
  if (!domain.empty()) pending_.back().set_domain(domain);
  return names;
}

std::string Builder::Node(const std::string& op, const Names& inputs,
                          const Attributes& attributes,
                          const std::string& domain) {
  return Nodes(op, inputs, 1, attributes, domain)[0];
}

const Value* Builder::Find(const std::string& name) const {
  for (const Value& value : values_)
    if (value.name == name) return &value;
  return nullptr;
}

RandomModel Builder::ModelOfPending() {
  RandomModel model;
  model.proto.set_ir_version(10);
  model.proto.add_opset_import()->set_version(state_.opset);
  std::set<std::string> domains, uses, made;
  onnx::GraphProto& graph = *model.proto.mutable_graph();
  graph.set_name("part");
  for (const onnx::NodeProto& node : pending_) {
    *graph.add_node() = node;
    CollectUses(node, uses);
    for (const std::string& output : node.output()) made.insert(output);
  }
  AddDomains(model.proto, state_.ml_opset);
  const auto add = [&](const Value& value) {
    // A value may occur both in values_ and in state_.shared but must be
    // declared only once.
    if (uses.erase(value.name) == 0) return;
    if (value.is_constant) {
      TensorProto& initializer = *graph.add_initializer();
      initializer.set_name(value.name);
      SetContents(initializer, value);
    } else {
      SetType(*graph.add_input(), value.name, value);
      model.inputs.emplace_back(value.name, value.tensor);
    }
  };
  std::for_each(values_.begin(), values_.end(), add);
  std::for_each(state_.shared.begin(), state_.shared.end(), add);
  for (const std::string& name : made) {
    if (!name.empty() && hidden_.count(name) == 0)
      graph.add_output()->set_name(name);
  }
  return model;
}

void Builder::Drop() {
  pending_.clear();
  hidden_.clear();
}

bool Builder::Flush() {
  if (pending_.empty()) return true;
  RandomModel model = ModelOfPending();
  StatusOr<NamedTensors> results = [&]() -> StatusOr<NamedTensors> {
    EMBER_ASSIGN_OR_RETURN(auto module,
                           Engine::Compile(model.proto, Engine::AllPasses()));
    return state_.engine.Run(module, model.inputs, 0);
  }();
  if (!results.ok()) {
    state_.refused.push_back(
        {std::move(model), std::string(results.status().message()), recipe_});
    Drop();
    return false;
  }
  for (onnx::NodeProto& node : pending_) {
    state_.operators.insert(node.domain() + "::" + node.op_type());
    graph_.add_node()->Swap(&node);
  }
  for (auto& [name, tensor] : *results) {
    values_.push_back(MakeValue(name, std::move(tensor), false));
    results_.push_back(name);
  }
  Drop();
  return true;
}

}  // namespace ember::tests
