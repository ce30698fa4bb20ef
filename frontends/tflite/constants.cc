#include "frontends/tflite/constants.h"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace ember::tflite {
namespace {

// Largest size of a sparse tensor once it is dense.
constexpr int64_t kMaxDenseBytes = int64_t{1} << 31;

int64_t Count(const schema::Tensor& tensor) {
  int64_t count = 1;
  for (const int32_t dim : SpanOf(tensor.shape())) count *= dim;
  return count;
}

std::vector<int64_t> ShapeOf(const schema::Tensor& tensor) {
  const auto shape = SpanOf(tensor.shape());
  return {shape.begin(), shape.end()};
}

// Unpacks 4-bit integers in two's complement: two in a byte, the lower half
// first.
std::vector<uint8_t> Unpacked(std::span<const uint8_t> bytes, int64_t count) {
  std::vector<uint8_t> values;
  for (int64_t i = 0; i < count; ++i) {
    const uint8_t pair = bytes[static_cast<size_t>(i / 2)];
    const auto half = static_cast<uint8_t>(i % 2 == 0 ? pair & 15 : pair >> 4);
    values.push_back(half < 8 ? half : static_cast<uint8_t>(half | 0xF0));
  }
  return values;
}

int32_t Little32(std::span<const uint8_t> bytes, size_t at) {
  int32_t value;
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

// Reads strings: their count, the offsets of all strings and of their end, then
// the bytes.
StatusOr<std::vector<std::string>> Strings(std::span<const uint8_t> bytes,
                                           int64_t expected) {
  const auto malformed = [] {
    return DataLossError(
        "expected strings as a count, offsets and bytes in order");
  };
  if (bytes.size() < 4) return malformed();
  const int64_t count = Little32(bytes, 0);
  if (count != expected || count < 0 ||
      static_cast<int64_t>(bytes.size()) < 4 * (count + 2))
    return malformed();
  std::vector<std::string> strings;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t begin = Little32(bytes, static_cast<size_t>(4 * (i + 1)));
    const int64_t end = Little32(bytes, static_cast<size_t>(4 * (i + 2)));
    if (begin < 4 * (count + 2) || end < begin ||
        end > static_cast<int64_t>(bytes.size()))
      return malformed();
    strings.emplace_back(reinterpret_cast<const char*>(bytes.data()) + begin,
                         static_cast<size_t>(end - begin));
  }
  return strings;
}

std::vector<int64_t> Indices(schema::SparseIndexVector kind,
                             const void* vector) {
  const auto values = [](const auto* elements) {
    const auto span = SpanOf(elements);
    return std::vector<int64_t>(span.begin(), span.end());
  };
  if (vector == nullptr) return {};
  switch (kind) {
    case schema::SparseIndexVector::Int32Vector:
      return values(static_cast<const schema::Int32Vector*>(vector)->values());
    case schema::SparseIndexVector::Uint16Vector:
      return values(static_cast<const schema::Uint16Vector*>(vector)->values());
    case schema::SparseIndexVector::Uint8Vector:
      return values(static_cast<const schema::Uint8Vector*>(vector)->values());
    default:
      return {};
  }
}

// Reads a tree of levels, each dense or compressed, whose leaves are the
// elements in order. A level is a dim. A dim that is divided into blocks has
// two levels: one for the blocks, and one for the positions within a block.
class SparseReader {
 public:
  SparseReader(const schema::Tensor& tensor, std::span<const uint8_t> bytes,
               int width)
      : sparsity_(*tensor.sparsity()),
        bytes_(bytes),
        width_(static_cast<size_t>(width)),
        shape_(ShapeOf(tensor)) {}

  StatusOr<std::vector<uint8_t>> Read() {
    int64_t count = 1;
    for (const int64_t dim : shape_) {
      if (__builtin_mul_overflow(count, dim, &count)) return Malformed();
    }
    // A sparse tensor without elements is malformed, as no data can belong to
    // it.
    if (count == 0) return Malformed();
    if (count > kMaxDenseBytes / static_cast<int64_t>(width_)) {
      return ResourceExhaustedError(
          "sparse tensor: expected at most 2 GB once it is dense");
    }
    EMBER_RETURN_IF_ERROR(ReadLevels());
    dense_.assign(static_cast<size_t>(count) * width_, 0);
    EMBER_RETURN_IF_ERROR(Walk(0, 0));
    if (next_ * width_ != bytes_.size()) return Malformed();
    return std::move(dense_);
  }

 private:
  struct Level {
    // Number of the dim of this level. The block dims are numbered after the
    // tensor's own dims.
    size_t dim = 0;
    bool compressed = false;
    int64_t size = 0;
    std::vector<int64_t> segments, indices;
  };

  static Status Malformed() {
    return DataLossError(
        "sparse tensor: expected levels that its shape, blocks and data fit");
  }

  Status ReadLevels() {
    const auto order = SpanOf(sparsity_.traversal_order());
    const auto blocks = SpanOf(sparsity_.block_map());
    const auto* metadata = sparsity_.dim_metadata();
    const size_t rank = shape_.size();
    // A dim is divided into blocks at most once, so there are at most twice as
    // many levels as dims. This bounds Walk's recursion.
    if (metadata == nullptr || metadata->size() != order.size() ||
        blocks.size() > rank || order.size() != rank + blocks.size())
      return Malformed();
    std::vector<bool> seen(order.size()), has_blocks(rank);
    block_size_.assign(rank, 1);
    for (size_t i = 0; i < order.size(); ++i) {
      if (order[i] < 0 || order[i] >= static_cast<int32_t>(order.size()) ||
          seen[static_cast<size_t>(order[i])])
        return Malformed();
      seen[static_cast<size_t>(order[i])] = true;
      const schema::DimensionMetadata& info =
          *metadata->Get(static_cast<uint32_t>(i));
      Level level;
      level.dim = static_cast<size_t>(order[i]);
      level.compressed = info.format() == schema::DimensionType::SPARSE_CSR;
      level.size = info.dense_size();
      if (level.compressed) {
        level.segments =
            Indices(info.array_segments_type(), info.array_segments());
        level.indices =
            Indices(info.array_indices_type(), info.array_indices());
      }
      if (level.dim >= rank) {
        const int32_t owner = blocks[level.dim - rank];
        if (owner < 0 || owner >= static_cast<int32_t>(rank) ||
            has_blocks[static_cast<size_t>(owner)] || level.compressed ||
            level.size < 1)
          return Malformed();
        has_blocks[static_cast<size_t>(owner)] = true;
        block_owner_.resize(blocks.size());
        block_owner_[level.dim - rank] = static_cast<size_t>(owner);
        block_size_[static_cast<size_t>(owner)] = level.size;
      }
      levels_.push_back(std::move(level));
    }
    // A dim's extent is its block size times the number of blocks. Therefore
    // each node that Walk visits is an element, or has an entry in the lists of
    // a compressed level.
    for (const Level& level : levels_) {
      if (level.dim >= rank) continue;
      const int64_t block = block_size_[level.dim], dim = shape_[level.dim];
      if (dim % block != 0 || (!level.compressed && level.size != dim / block))
        return Malformed();
    }
    place_.assign(order.size(), 0);
    return OkStatus();
  }

  // Visits the nodes of level `depth` below one parent node. `segment`: number
  // of the parent in the previous level.
  Status Walk(size_t depth, int64_t segment) {
    if (depth == levels_.size()) return Put();
    const Level& level = levels_[depth];
    int64_t begin = 0, end = level.size;
    if (level.compressed) {
      if (segment < 0 || segment + 1 >= std::ssize(level.segments))
        return Malformed();
      begin = level.segments[static_cast<size_t>(segment)];
      end = level.segments[static_cast<size_t>(segment) + 1];
      if (begin < 0 || end < begin || end > std::ssize(level.indices))
        return Malformed();
    }
    for (int64_t i = begin; i < end; ++i) {
      place_[level.dim] =
          level.compressed ? level.indices[static_cast<size_t>(i)] : i;
      const int64_t below = level.compressed ? i : segment * level.size + i;
      EMBER_RETURN_IF_ERROR(Walk(depth + 1, below));
    }
    return OkStatus();
  }

  Status Put() {
    const size_t rank = shape_.size();
    std::vector<int64_t> index(rank);
    for (size_t i = 0; i < rank; ++i) index[i] = place_[i] * block_size_[i];
    for (size_t b = 0; b < block_owner_.size(); ++b)
      index[block_owner_[b]] += place_[rank + b];
    int64_t flat = 0;
    for (size_t i = 0; i < rank; ++i) {
      if (index[i] < 0 || index[i] >= shape_[i]) return Malformed();
      flat = flat * shape_[i] + index[i];
    }
    if ((next_ + 1) * width_ > bytes_.size()) return Malformed();
    std::memcpy(dense_.data() + static_cast<size_t>(flat) * width_,
                bytes_.data() + next_ * width_, width_);
    ++next_;
    return OkStatus();
  }

  const schema::SparsityParameters& sparsity_;
  const std::span<const uint8_t> bytes_;
  const size_t width_;
  const std::vector<int64_t> shape_;
  std::vector<Level> levels_;
  std::vector<size_t> block_owner_;
  std::vector<int64_t> block_size_, place_;
  std::vector<uint8_t> dense_;
  size_t next_ = 0;
};

StatusOr<graph::ConstantData> Unpack(const schema::Tensor& tensor,
                                     std::span<const uint8_t> bytes,
                                     DType dtype) {
  if (tensor.sparsity() == nullptr)
    return graph::ConstantData::Copy(Unpacked(bytes, Count(tensor)));
  if (tensor.type() == schema::TensorType::INT4)
    return UnimplementedError("sparse tensors of 4-bit integers");
  SparseReader reader(tensor, bytes, DTypeByteSize(dtype));
  EMBER_ASSIGN_OR_RETURN(const std::vector<uint8_t> dense, reader.Read());
  return graph::ConstantData::Copy(dense);
}

}  // namespace

StatusOr<ops::Tensor> ConstantTensor(const Model& model,
                                     const schema::Tensor& tensor,
                                     UnpackedConstants& unpacked,
                                     graph::GraphBuilder& builder) {
  const std::optional<DType> dtype = DTypeOf(tensor.type());
  if (!dtype) {
    return UnimplementedError("type " + TypeName(tensor.type()) +
                              " is not supported");
  }
  const std::span<const uint8_t> bytes = model.BytesOf(tensor);
  graph::ConstantData data{.owner = model.owner(), .bytes = bytes};
  if (tensor.type() == schema::TensorType::STRING) {
    EMBER_ASSIGN_OR_RETURN(const std::vector<std::string> strings,
                           Strings(bytes, Count(tensor)));
    std::vector<int64_t> handles;
    for (const std::string& text : strings)
      handles.push_back(builder.StringHandle(text));
    const auto* begin = reinterpret_cast<const uint8_t*>(handles.data());
    data = graph::ConstantData::Copy({begin, handles.size() * sizeof(int64_t)});
  } else if ((tensor.sparsity() != nullptr && !bytes.empty()) ||
             tensor.type() == schema::TensorType::INT4) {
    const auto found = unpacked.find(&tensor);
    if (found != unpacked.end()) {
      data = found->second;
    } else {
      EMBER_ASSIGN_OR_RETURN(data, Unpack(tensor, bytes, *dtype));
      unpacked.emplace(&tensor, data);
    }
  }
  ops::Tensor constant(
      &builder, builder.Constant(*dtype, ShapeOf(tensor), std::move(data)));
  EMBER_RETURN_IF_ERROR(builder.status());
  return constant;
}

}  // namespace ember::tflite
