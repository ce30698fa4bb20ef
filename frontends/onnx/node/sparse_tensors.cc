#include "frontends/onnx/node/sparse_tensors.h"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/node/tensor_proto.h"

namespace ember::onnx {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 30;

Status Invalid(const SparseTensorProto& sparse, const std::string& message) {
  return InvalidArgumentError("sparse tensor '" + sparse.values().name() +
                              "': " + message);
}

// Returns the number of elements that the sparse tensor has in dense form; an
// error if that form is above 1 GB.
StatusOr<int64_t> ElementsOf(const SparseTensorProto& sparse,
                             int64_t element_bytes) {
  int64_t elements = 1;
  for (const int64_t dim : sparse.dims()) {
    if (dim < 0 || (dim > 0 && elements > kMaxBytes / element_bytes / dim))
      return Invalid(sparse, "expected dims of up to 1 GB in all, found " +
                                 std::to_string(dim));
    elements *= dim;
  }
  return elements;
}

// Returns the row-major position of each given value in the dense tensor. The
// file states the positions directly or as tuples of indices.
StatusOr<std::vector<int64_t>> PositionsOf(const SparseTensorProto& sparse,
                                           int64_t count, int64_t elements) {
  EMBER_ASSIGN_OR_RETURN(const TensorBytes indices,
                         DecodeTensor(sparse.indices(), nullptr, nullptr));
  const auto rank = static_cast<int64_t>(sparse.dims_size());
  const bool tuples = indices.dims.size() == 2;
  const std::vector<int64_t> expected =
      tuples ? std::vector<int64_t>{count, rank} : std::vector<int64_t>{count};
  if (indices.dtype != DType::kI64 || indices.dims != expected)
    return Invalid(sparse, "expected i64 indices, one per value");
  std::vector<int64_t> numbers(indices.bytes.size() / sizeof(int64_t));
  if (!numbers.empty()) {
    std::memcpy(numbers.data(), indices.bytes.data(), indices.bytes.size());
  }
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < count; ++i) {
    int64_t position = 0;
    for (int64_t axis = 0; axis < (tuples ? rank : 1); ++axis) {
      const int64_t index = numbers[i * (tuples ? rank : 1) + axis];
      const int64_t extent =
          tuples ? sparse.dims(static_cast<int>(axis)) : elements;
      if (index < 0 || index >= extent)
        return Invalid(sparse, "expected indices from 0 to " +
                                   std::to_string(extent - 1) + ", found " +
                                   std::to_string(index));
      position = position * extent + index;
    }
    positions.push_back(position);
  }
  return positions;
}

StatusOr<TensorProto> MakeDense(const SparseTensorProto& sparse) {
  EMBER_ASSIGN_OR_RETURN(const TensorBytes values,
                         DecodeTensor(sparse.values(), nullptr, nullptr));
  if (values.carried_type != 0 || values.dims.size() != 1) {
    return Invalid(sparse,
                   "expected values in one dim, of a type of at least 8 bits");
  }
  const size_t size = DTypeByteSize(values.dtype);
  EMBER_ASSIGN_OR_RETURN(const int64_t elements,
                         ElementsOf(sparse, static_cast<int64_t>(size)));
  EMBER_ASSIGN_OR_RETURN(const std::vector<int64_t> positions,
                         PositionsOf(sparse, values.dims.front(), elements));
  std::string raw(static_cast<size_t>(elements) * size, '\0');
  for (size_t i = 0; i < positions.size(); ++i) {
    std::memcpy(raw.data() + static_cast<size_t>(positions[i]) * size,
                values.bytes.data() + i * size, size);
  }
  TensorProto dense;
  dense.set_name(sparse.values().name());
  dense.set_data_type(sparse.values().data_type());
  *dense.mutable_dims() = sparse.dims();
  dense.set_raw_data(std::move(raw));
  return dense;
}

Status ReplaceInGraph(GraphProto& graph);

Status ReplaceInNode(NodeProto& node) {
  for (AttributeProto& attribute : *node.mutable_attribute()) {
    if (attribute.has_g()) {
      EMBER_RETURN_IF_ERROR(ReplaceInGraph(*attribute.mutable_g()));
    }
    if (node.op_type() != "Constant" || attribute.name() != "sparse_value" ||
        !attribute.has_sparse_tensor()) {
      continue;
    }
    EMBER_ASSIGN_OR_RETURN(TensorProto dense,
                           MakeDense(attribute.sparse_tensor()));
    attribute.Clear();
    attribute.set_name("value");
    attribute.set_type(AttributeProto::TENSOR);
    *attribute.mutable_t() = std::move(dense);
  }
  return OkStatus();
}

Status ReplaceInGraph(GraphProto& graph) {
  for (const SparseTensorProto& sparse : graph.sparse_initializer()) {
    EMBER_ASSIGN_OR_RETURN(*graph.add_initializer(), MakeDense(sparse));
  }
  graph.clear_sparse_initializer();
  for (NodeProto& node : *graph.mutable_node()) {
    EMBER_RETURN_IF_ERROR(ReplaceInNode(node));
  }
  return OkStatus();
}

}  // namespace

Status ReplaceSparseTensors(ModelProto& model) {
  EMBER_RETURN_IF_ERROR(ReplaceInGraph(*model.mutable_graph()));
  for (FunctionProto& function : *model.mutable_functions()) {
    for (NodeProto& node : *function.mutable_node()) {
      EMBER_RETURN_IF_ERROR(ReplaceInNode(node));
    }
  }
  return OkStatus();
}

}  // namespace ember::onnx
