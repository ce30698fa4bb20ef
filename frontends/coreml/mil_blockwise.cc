// MIL's compressed constants since iOS 18. Packed numbers have a shape, which
// is divided into blocks; each block has its own scale, offset or table. The
// extents of a block are those of the numbers divided by those of the scales
// (or offsets, or tables).
#include <optional>
#include <string>
#include <vector>

#include "compiler/graph/builder/constant_folding.h"
#include "frontends/coreml/mil_packed.h"

namespace ember::coreml {

std::optional<Bytes> DataOf(MilOperation& o, std::string_view name) {
  const Tensor value = o.Input(name);
  if (!o.ok()) return std::nullopt;
  const graph::ConstantData* data = graph::ConstantDataOf(value.value());
  if (data != nullptr) return data->bytes;
  o.FailInvalid(std::string(name) + ": expected a constant, found none");
  return std::nullopt;
}

namespace {

// Maps each packed number of a shape to the block that contains it.
struct Blocks {
  std::vector<int64_t> shape;    // Shape of the packed numbers.
  std::vector<int64_t> extents;  // numbers per block
  std::vector<int64_t> counts;   // Blocks per dim.
  int64_t count = 1;             // Numbers in all.

  // Returns the index of the block that contains a number; `number` is its
  // index in row-major order.
  int64_t BlockOf(int64_t number) const {
    int64_t block = 0, step = 1;
    for (size_t i = shape.size(); i-- > 0;) {
      block += number % shape[i] / extents[i] * step;
      step *= counts[i];
      number /= shape[i];
    }
    return block;
  }
};

std::optional<std::vector<int64_t>> ShapeOf(MilOperation& o, const Tensor& x) {
  return o.Extents(x, 0, x.rank());
}

// Returns the blocks of a shape; nullopt after an error. `blocks` is the shape
// of a value that has one element per block; it has as many dims as `shape`.
std::optional<Blocks> BlocksOf(MilOperation& o, std::string_view name,
                               const std::vector<int64_t>& shape,
                               const std::vector<int64_t>& blocks) {
  Blocks result{shape, {}, blocks};
  bool fits = shape.size() == blocks.size();
  for (size_t i = 0; fits && i < shape.size(); ++i) {
    fits = blocks[i] > 0 && shape[i] > 0 && shape[i] % blocks[i] == 0;
    if (!fits) break;
    result.extents.push_back(shape[i] / blocks[i]);
    result.count *= shape[i];
  }
  if (fits) return result;
  o.FailInvalid(
      std::string(name) + ": expected dims that divide those of the numbers, " +
      graph::ShapeToString({shape.begin(), shape.end()}) + ", found " +
      graph::ShapeToString({blocks.begin(), blocks.end()}));
  return std::nullopt;
}

// Returns the input `name`, which has one number per block, as f32. Fails
// unless its shape is that of `scale`.
Tensor PerBlock(MilOperation& o, std::string_view name, const Tensor& scale) {
  const Tensor numbers = Cast(o.Input(name), DType::kF32);
  if (o.ok() && numbers.shape() != scale.shape()) {
    o.FailInvalid(std::string(name) + ": expected " +
                  graph::ShapeToString(scale.shape()) + ", found " +
                  graph::ShapeToString(numbers.shape()));
  }
  return numbers;
}

// Computes (data - offset) * scale; scale and offset have one element per
// block.
void ShiftScale(MilOperation& o) {
  const Tensor data = o.Input("data"), scale = o.Input("scale");
  if (!o.ok()) return;
  const auto shape = ShapeOf(o, data), counts = ShapeOf(o, scale);
  if (!shape || !counts) return;
  const auto blocks = BlocksOf(o, "scale", *shape, *counts);
  if (!blocks) return;
  if (2 * shape->size() > static_cast<size_t>(kMaxRank))
    return o.FailUnsupported("data: expected a rank of at most 8, found " +
                             std::to_string(shape->size()));
  Shape split, per_block;
  for (size_t i = 0; i < shape->size(); ++i) {
    split.insert(split.end(), {Dim((*counts)[i]), Dim(blocks->extents[i])});
    per_block.insert(per_block.end(), {Dim((*counts)[i]), Dim(1)});
  }
  const auto of_blocks = [&](std::string_view name) {
    return Reshape(PerBlock(o, name, scale), per_block);
  };
  Tensor y = Reshape(Cast(data, DType::kF32), split);
  if (o.Has("offset")) y = y - of_blocks("offset");
  y = y * of_blocks("scale");
  if (o.ok()) o.SetOutput(0, Cast(Reshape(y, data.shape()), scale.dtype()));
}

// Returns the positions of the mask's nonzero bytes. Fails unless their count
// equals `numbers`.
std::optional<std::vector<int64_t>> Marked(MilOperation& o, Bytes mask,
                                           const Tensor& numbers) {
  std::vector<int64_t> places;
  for (size_t i = 0; i < mask.size(); ++i)
    if (mask[i] != 0) places.push_back(static_cast<int64_t>(i));
  if (numbers.rank() == 1 &&
      numbers.dim(0) == Dim(static_cast<int64_t>(places.size())))
    return places;
  o.FailInvalid("expected " + std::to_string(places.size()) +
                " numbers as the mask says, found " +
                graph::ShapeToString(numbers.shape()));
  return std::nullopt;
}

// A sparse constant: a mask, and the numbers at the positions where the mask is
// 1. All other numbers are 0.
struct Sparse {
  Tensor mask, numbers;
  std::vector<int64_t> shape, places;
};

std::optional<Sparse> ReadSparse(MilOperation& o, std::string_view mask,
                                 std::string_view numbers) {
  Sparse sparse{o.Input(mask), o.Input(numbers), {}, {}};
  if (!o.ok()) return std::nullopt;
  const auto data = DataOf(o, mask);
  const auto shape = ShapeOf(o, sparse.mask);
  if (!data || !shape) return std::nullopt;
  if (DTypeByteSize(sparse.mask.dtype()) != 1) {
    o.FailInvalid(std::string(mask) + ": expected one of bits");
    return std::nullopt;
  }
  auto places = Marked(o, *data, sparse.numbers);
  if (!places) return std::nullopt;
  sparse.shape = *shape;
  sparse.places = *std::move(places);
  return sparse;
}

// Computes (data - offset) * scale like ShiftScale, for a sparse constant whose
// mask selects the numbers.
void SparseShiftScale(MilOperation& o) {
  const auto sparse = ReadSparse(o, "data_mask", "nonzero_data");
  if (!sparse) return;
  const Tensor scale = o.Input("scale");
  if (!o.ok()) return;
  const auto counts = ShapeOf(o, scale);
  if (!counts) return;
  const auto blocks = BlocksOf(o, "scale", sparse->shape, *counts);
  if (!blocks) return;
  std::vector<int64_t> of;
  for (const int64_t place : sparse->places)
    of.push_back(blocks->BlockOf(place));
  const Tensor which = o.Wrap(o.builder().Integers(of));
  Dim count(1);
  for (const int64_t dim : blocks->counts) count = count * Dim(dim);
  const auto each = [&](std::string_view name) {
    return Gather(Reshape(PerBlock(o, name, scale), {count}), which, 0);
  };
  Tensor y = Cast(sparse->numbers, DType::kF32);
  if (o.Has("offset")) y = y - each("offset");
  y = y * each("scale");
  if (!o.ok()) return;
  o.SetOutput(0, sparse->mask);
  o.SetOutput(1, Cast(y, scale.dtype()));
}

// Lookup tables whose entries are vectors. Each block of packed indices has its
// own table.
struct Tables {
  Blocks blocks;
  Bytes data;
  DType dtype = DType::kF32;
  int64_t size = 1;   // Number of vectors in a table.
  int64_t width = 1;  // Number of elements of a vector.

  // Returns the position in the tables' data of the first element of the vector
  // that `index` selects for the given packed number; -1 if the index is
  // outside of the table.
  int64_t Find(int64_t number, int64_t index) const {
    if (index < 0 || index >= size) return -1;
    return (blocks.BlockOf(number) * size + index) * width;
  }
};

std::optional<Tables> ReadTables(MilOperation& o,
                                 const std::vector<int64_t>& shape) {
  const auto data = DataOf(o, "lut");
  if (!data) return std::nullopt;
  const Tensor lut = o.Input("lut");
  auto dims = ShapeOf(o, lut);
  if (!dims) return std::nullopt;
  if (dims->size() != shape.size() + 2) {
    o.FailInvalid("lut: expected rank " + std::to_string(shape.size() + 2) +
                  ", found " + std::to_string(dims->size()));
    return std::nullopt;
  }
  Tables tables;
  tables.data = *data;
  tables.dtype = lut.dtype();
  tables.width = dims->back();
  dims->pop_back();
  tables.size = dims->back();
  dims->pop_back();
  if (tables.width < 1 || tables.size < 1) {
    o.FailInvalid("lut: expected numbers, found none");
    return std::nullopt;
  }
  const auto blocks = BlocksOf(o, "lut", shape, *dims);
  if (!blocks) return std::nullopt;
  tables.blocks = *blocks;
  return tables;
}

// Reads indices of one byte each from the constant input `name`; nullopt after
// an error.
std::optional<Bytes> ReadIndices(MilOperation& o, std::string_view name) {
  const auto indices = DataOf(o, name);
  if (!indices) return std::nullopt;
  if (o.Input(name).dtype() == DType::kU8) return indices;
  o.FailInvalid(std::string(name) +
                ": expected unsigned numbers of at most 8 bits, found " +
                std::string(DTypeName(o.Input(name).dtype())));
  return std::nullopt;
}

void LookUpInBlocks(MilOperation& o) {
  const auto indices = ReadIndices(o, "indices");
  if (!indices) return;
  const auto shape = ShapeOf(o, o.Input("indices"));
  if (!shape) return;
  const auto tables = ReadTables(o, *shape);
  if (!tables) return;
  const int64_t width = tables->width;
  int axis = 0;
  if (width > 1) {
    axis = o.Axis("vector_axis", 0, static_cast<int>(shape->size()));
    if (!o.ok() || !o.CheckRange("vectors of lut", width, 1, 64)) return;
  }
  // An index becomes `width` elements along `axis`, so the result's extent
  // there is `width` times that of the indices. `inner`: number of indices in
  // one step along that axis.
  int64_t inner = 1;
  for (size_t i = static_cast<size_t>(axis) + 1; i < shape->size(); ++i)
    inner *= (*shape)[i];
  Result result{*shape, tables->blocks.count * width};
  if (width > 1) result.shape[static_cast<size_t>(axis)] *= width;
  SetPicked(o, 0, result, tables->data, tables->dtype, [&](int64_t i) {
    const int64_t vector = i / inner % width;
    const int64_t number = i / (inner * width) * inner + i % inner;
    const int64_t place =
        tables->Find(number, (*indices)[static_cast<size_t>(number)]);
    return place < 0 ? place : place + vector;
  });
}

void LookUpSparse(MilOperation& o) {
  const auto sparse = ReadSparse(o, "indices_mask", "indices_nonzero_data");
  if (!sparse) return;
  const auto indices = ReadIndices(o, "indices_nonzero_data");
  if (!indices) return;
  const auto tables = ReadTables(o, sparse->shape);
  if (!tables) return;
  if (tables->width != 1)
    return o.FailUnsupported("lut: expected vectors of one number, found " +
                             std::to_string(tables->width));
  const auto count = static_cast<int64_t>(sparse->places.size());
  o.SetOutput(0, sparse->mask);
  SetPicked(o, 1, {{count}, count}, tables->data, tables->dtype,
            [&](int64_t i) {
              return tables->Find(sparse->places[static_cast<size_t>(i)],
                                  (*indices)[static_cast<size_t>(i)]);
            });
}

constexpr MilRow kRows[] = {
    {"constexpr_blockwise_shift_scale", ShiftScale},
    {"constexpr_lut_to_sparse", LookUpSparse},
    {"constexpr_sparse_blockwise_shift_scale", SparseShiftScale},
};

}  // namespace

void BlockwiseLookUp(MilOperation& o) { LookUpInBlocks(o); }

void MaskedToDense(MilOperation& o) {
  const auto sparse = ReadSparse(o, "mask", "nonzero_data");
  const auto numbers = DataOf(o, "nonzero_data");
  if (!sparse || !numbers) return;
  Result result{sparse->shape};
  for (const int64_t dim : sparse->shape) result.count *= dim;
  size_t next = 0;
  SetPicked(o, 0, result, *numbers, sparse->numbers.dtype(), [&](int64_t i) {
    if (next == sparse->places.size() || sparse->places[next] != i)
      return int64_t{-1};
    return static_cast<int64_t>(next++);
  });
}

std::span<const MilRow> MilBlockwise() { return kRows; }

}  // namespace ember::coreml
