#include "frontends/safetensors/model_tensors.h"

#include <memory>
#include <optional>
#include <utility>

#include "base/one_line.h"
#include "frontends/model_bytes.h"

namespace ember::safetensors {
namespace {

using language_models::BlockFormat;
using language_models::Weight;
using ops::Dim;
using ops::Shape;
using ops::SliceAxis;
using ops::Tensor;

// Returns the stored name of one expert's tensor: `pattern` with the expert's
// number in place of '#'.
std::string OfExpert(const std::string& pattern, size_t expert) {
  std::string name = pattern;
  name.replace(name.find('#'), 1, std::to_string(expert));
  return name;
}

std::optional<BlockFormat> FormatOf(DType type) {
  if (type == DType::kF32) return BlockFormat::kF32;
  if (type == DType::kF16) return BlockFormat::kF16;
  if (type == DType::kBF16) return BlockFormat::kBF16;
  return std::nullopt;
}

Tensor FloatVector(graph::GraphBuilder& builder,
                   const std::vector<float>& values) {
  const std::span<const uint8_t> bytes(
      reinterpret_cast<const uint8_t*>(values.data()),
      values.size() * sizeof(float));
  return {&builder,
          builder.Constant(DType::kF32, {static_cast<int64_t>(values.size())},
                           graph::ConstantData::Copy(bytes))};
}

Tensor Squeezed(Tensor x) {
  Shape shape;
  for (const Dim& dim : x.shape())
    if (dim != Dim(1)) shape.push_back(dim);
  return ops::Reshape(x, shape);
}

}  // namespace

HubTensors::HubTensors(const ModelConfig& config,
                       const std::vector<SafetensorsFile>& files)
    : config_(config) {
  for (const SafetensorsFile& file : files)
    for (const auto& [name, tensor] : file.tensors())
      stored_.emplace(name, Stored{&tensor, file.owner()});
}

StatusOr<Tensor> HubTensors::Constant(const std::string& name,
                                      const Stored& stored,
                                      graph::GraphBuilder& builder) {
  used_.insert(name);
  const StoredTensor& tensor = *stored.tensor;
  if (!tensor.type || !FormatOf(*tensor.type)) {
    return UnimplementedError("tensor '" + OnOneLine(name) +
                              "': expected the type F32, F16 or BF16, found " +
                              tensor.type_name);
  }
  for (const int64_t dim : tensor.dims) {
    if (dim > 0) continue;
    return InvalidArgumentError("tensor '" + OnOneLine(name) +
                                "': expected dims above 0, found 0");
  }
  const auto alignment = static_cast<size_t>(DTypeByteSize(*tensor.type));
  return Tensor(&builder,
                builder.Constant(*tensor.type, tensor.dims,
                                 frontends::AlignedData(tensor.bytes, alignment,
                                                        stored.owner)));
}

// Joins the tensors of all experts along a new first dim.
StatusOr<Tensor> HubTensors::Stack(const std::string& pattern,
                                   graph::GraphBuilder& builder) {
  std::vector<Tensor> experts;
  for (size_t i = 0;; ++i) {
    const std::string name = OfExpert(pattern, i);
    const auto found = stored_.find(name);
    if (found == stored_.end()) break;
    EMBER_ASSIGN_OR_RETURN(const Tensor one,
                           Constant(name, found->second, builder));
    experts.push_back(ops::Unsqueeze(one, {0}));
    const bool is_same = one.shape() == ops::Squeeze(experts[0], {0}).shape() &&
                         one.dtype() == experts[0].dtype();
    if (is_same) continue;
    return InvalidArgumentError(
        "tensor '" + OnOneLine(name) +
        "': expected the shape and type of the first expert's, found others");
  }
  return ops::Concat(experts, 0);
}

// Reorders the rows of queries, keys and values, which Falcon stores for each
// group of heads: [groups, heads of a group + 2, size, …].
Tensor HubTensors::Ungroup(Tensor x) const {
  const language_models::ModelOptions& o = config_.options;
  const int64_t groups = o.layers.front().kv_heads;
  if (x.rank() < 1 || groups < 1) return x;
  const int64_t heads = o.layers.front().heads / groups;
  if (x.dim(0) != Dim(groups * (heads + 2) * o.key_size)) return x;
  Shape split{groups, heads + 2, o.key_size};
  split.insert(split.end(), x.shape().begin() + 1, x.shape().end());
  const Tensor all = ops::Reshape(x, split);
  auto part = [&](int64_t begin, int64_t count) {
    Shape shape = x.shape();
    shape[0] = Dim(groups * count * o.key_size);
    return ops::Reshape(SliceAxis(all, 1, Dim(begin), Dim(count)), shape);
  };
  return ops::Concat({part(0, heads), part(heads, 1), part(heads + 1, 1)}, 0);
}

StatusOr<Weight> HubTensors::Changed(const StoredName& stored,
                                     graph::GraphBuilder& builder) {
  Tensor x;
  if (stored.change == Change::kStack) {
    if (!stored_.contains(OfExpert(stored.name, 0))) return Weight();
    EMBER_ASSIGN_OR_RETURN(x, Stack(stored.name, builder));
  } else {
    const auto found = stored_.find(stored.name);
    if (found == stored_.end()) return Weight();
    EMBER_ASSIGN_OR_RETURN(x, Constant(stored.name, found->second, builder));
  }
  switch (stored.change) {
    case Change::kNone:
    case Change::kStack:
      break;
    case Change::kTranspose:
      if (x.rank() == 2) x = ops::Transpose(x, {1, 0});
      break;
    case Change::kAddOne:
      x = ops::Cast(x, DType::kF32) + 1.0;
      break;
    case Change::kSqueeze:
      x = Squeezed(x);
      break;
    case Change::kUngroup:
      x = Ungroup(x);
      break;
  }
  return Weight{.packed = x,
                .format = FormatOf(x.dtype()).value_or(BlockFormat::kF32)};
}

StatusOr<Weight> HubTensors::Find(std::string_view name,
                                  graph::GraphBuilder& builder) {
  if (name == "rope_factors_short.weight" && !config_.short_factors.empty())
    return Weight{.packed = FloatVector(builder, config_.short_factors)};
  if (name == "rope_factors_long.weight" && !config_.long_factors.empty())
    return Weight{.packed = FloatVector(builder, config_.long_factors)};
  for (const StoredName& stored :
       StoredNames(config_.options.architecture->name, name)) {
    EMBER_ASSIGN_OR_RETURN(const Weight weight, Changed(stored, builder));
    if (weight) return weight;
  }
  return Weight();
}

std::vector<std::string> HubTensors::Unused() const {
  std::vector<std::string> unused;
  for (const auto& [name, stored] : stored_) {
    if (!used_.contains(name) && !IsWithoutMeaning(name))
      unused.emplace_back(name);
  }
  return unused;
}

}  // namespace ember::safetensors
