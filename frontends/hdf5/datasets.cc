// Reads datasets: their layouts, filters and element types.
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/byte_cursor.h"
#include "frontends/hdf5/file.h"
#include "frontends/hdf5/message_types.h"

namespace ember::hdf5 {
namespace {

constexpr uint64_t kDeflate = 1;
constexpr uint64_t kShuffle = 2;
constexpr uint64_t kFletcher32 = 3;
constexpr int kMaxDepth = 32;
// Largest factor by which deflated data can expand (1032), rounded up.
constexpr uint64_t kMaxInflation = 1100;

Status Malformed(std::string_view what) {
  return DataLossError("HDF5 " + std::string(what) + ": malformed");
}

std::optional<DType> IntegerType(uint64_t size, bool is_signed) {
  switch (size) {
    case 1:
      return is_signed ? DType::kI8 : DType::kU8;
    case 2:
      return is_signed ? DType::kI16 : DType::kU16;
    case 4:
      return is_signed ? DType::kI32 : DType::kU32;
    case 8:
      return is_signed ? DType::kI64 : DType::kU64;
    default:
      return std::nullopt;
  }
}

std::optional<DType> FloatType(uint64_t size) {
  return size == 2   ? std::optional(DType::kF16)
         : size == 4 ? std::optional(DType::kF32)
         : size == 8 ? std::optional(DType::kF64)
                     : std::nullopt;
}

}  // namespace

struct File::Chunks {
  std::vector<uint64_t> dims;   // Extents of the dataset, in elements.
  std::vector<uint64_t> chunk;  // Extents of a chunk, in elements.
  uint64_t element_size = 0;
  uint64_t chunk_bytes = 0;
  std::vector<Filter> filters;
};

StatusOr<bool> Object::IsDataset() const {
  EMBER_ASSIGN_OR_RETURN(const File::Messages* const messages,
                         file_->Header(address_));
  return File::FindMessage(*messages, kLayout) != nullptr;
}

StatusOr<std::vector<File::Filter>> File::ReadFilters(
    std::span<const uint8_t> message) const {
  ByteCursor in(message);
  const uint64_t version = in.Unsigned(1);
  const uint64_t count = in.Unsigned(1);
  if (version != 1 && version != 2) return Malformed("filters");
  if (version == 1) in.Skip(6);
  std::vector<Filter> filters;
  for (uint64_t i = 0; i < count; ++i) {
    Filter filter;
    filter.id = in.Unsigned(2);
    const uint64_t name = version == 1 || filter.id >= 256 ? in.Unsigned(2) : 0;
    in.Skip(2);
    const uint64_t values = in.Unsigned(2);
    in.Skip(version == 1 ? (name + 7) / 8 * 8 : name);
    for (uint64_t v = 0; v < values; ++v) {
      const uint64_t value = in.Unsigned(4);
      if (v == 0 && filter.id == kShuffle) filter.element_size = value;
    }
    if (version == 1 && values % 2 == 1) in.Skip(4);
    if (!in.ok()) return Malformed("filters");
    if (filter.id != kDeflate && filter.id != kShuffle &&
        filter.id != kFletcher32) {
      return UnimplementedError(
          "HDF5 filter " + std::to_string(filter.id) +
          ": expected deflate, shuffle or fletcher32 (save the model without "
          "compression)");
    }
    // A filter may occur once. A list that names one filter many times would
    // cost the time and memory of a whole chunk for each.
    for (const Filter& before : filters) {
      if (before.id != filter.id) continue;
      return UnimplementedError(
          "HDF5 filters: expected each at most once, found number " +
          std::to_string(filter.id) + " twice");
    }
    filters.push_back(filter);
  }
  return filters;
}

StatusOr<std::vector<uint8_t>> File::Unfilter(
    std::span<const uint8_t> stored, const std::vector<Filter>& filters,
    uint64_t mask, uint64_t size) const {
  std::vector<uint8_t> bytes(stored.begin(), stored.end());
  // Undoes the filters in reverse order: the one that the writer applied last
  // comes first.
  for (size_t i = filters.size(); i-- > 0;) {
    if (i < 32 && (mask >> i & 1) != 0) continue;
    const Filter& filter = filters[i];
    if (filter.id == kDeflate) {
      // The buffer has four bytes more than the chunk: a Fletcher-32 checksum
      // may have been appended before the data were deflated.
      std::vector<uint8_t> inflated(size + 4);
      uLongf length = static_cast<uLongf>(inflated.size());
      if (uncompress(inflated.data(), &length, bytes.data(),
                     static_cast<uLong>(bytes.size())) != Z_OK)
        return Malformed("chunk of deflated data");
      inflated.resize(length);
      bytes = std::move(inflated);
    } else if (filter.id == kFletcher32) {
      if (bytes.size() < 4) return Malformed("chunk with a checksum");
      bytes.resize(bytes.size() - 4);
    } else if (filter.element_size > 1) {
      const uint64_t width = filter.element_size;
      const uint64_t count = bytes.size() / width;
      std::vector<uint8_t> plain(bytes);
      for (uint64_t byte = 0; byte < width && count > 0; ++byte) {
        for (uint64_t e = 0; e < count; ++e)
          plain[e * width + byte] = bytes[byte * count + e];
      }
      bytes = std::move(plain);
    }
  }
  if (bytes.size() != size) return Malformed("chunk");
  return bytes;
}

Status File::CopyChunk(const Chunks& chunks, std::span<const uint64_t> offset,
                       std::span<const uint8_t> stored, uint64_t mask,
                       std::vector<uint8_t>& result) {
  EMBER_ASSIGN_OR_RETURN(
      const std::vector<uint8_t> bytes,
      Unfilter(stored, chunks.filters, mask, chunks.chunk_bytes));
  const size_t rank = chunks.dims.size();
  // Extents of the part of the chunk that lies within the dataset.
  std::vector<uint64_t> extents(rank);
  for (size_t i = 0; i < rank; ++i) {
    if (offset[i] >= chunks.dims[i]) return Malformed("chunk's place");
    extents[i] = std::min(chunks.chunk[i], chunks.dims[i] - offset[i]);
  }
  // Copies the elements of the chunk that lie within the dataset, one row of
  // the last dim at a time.
  std::vector<uint64_t> at(rank, 0);
  while (true) {
    uint64_t from = 0, to = 0;
    for (size_t i = 0; i < rank; ++i) {
      from = from * chunks.chunk[i] + at[i];
      to = to * chunks.dims[i] + offset[i] + at[i];
    }
    std::memcpy(result.data() + to * chunks.element_size,
                bytes.data() + from * chunks.element_size,
                extents[rank - 1] * chunks.element_size);
    size_t axis = rank - 1;
    while (axis > 0 && ++at[axis - 1] == extents[axis - 1]) {
      at[axis - 1] = 0;
      --axis;
    }
    if (axis == 0) return OkStatus();
  }
}

// Reads the chunks below a node of a B-tree. `level`: the level that the node
// must have; -1 accepts any level, for the root.
Status File::ReadChunkTree(uint64_t tree, int level, const Chunks& chunks,
                           std::vector<uint8_t>& result) {
  EMBER_ASSIGN_OR_RETURN(const auto rest, From(tree));
  ByteCursor in(rest);
  if (!in.Matches("TREE") || in.Unsigned(1) != 1)
    return Malformed("chunks' B-tree");
  const int found = static_cast<int>(in.Unsigned(1));
  const uint64_t entries = in.Unsigned(2);
  if ((level >= 0 && found != level) || found > kMaxDepth)
    return Malformed("chunks' B-tree");
  Address(in);
  Address(in);
  for (uint64_t i = 0; i < entries; ++i) {
    const uint64_t size = in.Unsigned(4);
    const uint64_t mask = in.Unsigned(4);
    std::vector<uint64_t> offset;
    for (size_t d = 0; d <= chunks.dims.size(); ++d)
      offset.push_back(in.Unsigned(8));
    const uint64_t child = Address(in);
    if (!in.ok()) return Malformed("chunks' B-tree");
    // Writing a chunk to the result is charged against the read budget, too,
    // because a tree may name the same chunk many times.
    EMBER_RETURN_IF_ERROR(Charge(16 + chunks.chunk_bytes / 64));
    if (found > 0) {
      EMBER_RETURN_IF_ERROR(ReadChunkTree(child, found - 1, chunks, result));
      continue;
    }
    EMBER_ASSIGN_OR_RETURN(const auto stored, At(child, size));
    EMBER_RETURN_IF_ERROR(CopyChunk(chunks, offset, stored, mask, result));
  }
  return OkStatus();
}

namespace {

// Converts big-endian elements of `width` bytes to little-endian, in place.
void SwapBytes(std::span<uint8_t> bytes, uint64_t width) {
  for (size_t i = 0; i + width <= bytes.size(); i += width)
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(i),
                 bytes.begin() + static_cast<std::ptrdiff_t>(i + width));
}

}  // namespace

StatusOr<Dataset> File::DatasetAt(uint64_t address) {
  const auto found = datasets_.find(address);
  if (found != datasets_.end()) return found->second;
  EMBER_ASSIGN_OR_RETURN(Dataset dataset, ReadDataset(address));
  return datasets_.emplace(address, std::move(dataset)).first->second;
}

StatusOr<Dataset> File::ReadDataset(uint64_t address) {
  EMBER_ASSIGN_OR_RETURN(const Messages* const messages, Header(address));
  const Message* const type_message = FindMessage(*messages, kDatatype);
  const Message* const space = FindMessage(*messages, kDataspace);
  const Message* const layout = FindMessage(*messages, kLayout);
  if (type_message == nullptr || space == nullptr || layout == nullptr)
    return DataLossError("expected a dataset, found a group");
  if (type_message->shared || space->shared || layout->shared)
    return UnimplementedError("HDF5 dataset with a shared type");
  if (FindMessage(*messages, kExternalFiles) != nullptr)
    return UnimplementedError("HDF5 dataset in an external file");
  EMBER_ASSIGN_OR_RETURN(const Type type, ReadType(type_message->data));
  Dataset dataset;
  std::optional<DType> dtype;
  if (type.kind == Type::Kind::kBool) dtype = DType::kBool;
  if (type.kind == Type::Kind::kInteger)
    dtype = IntegerType(type.size, type.is_signed);
  if (type.kind == Type::Kind::kFloat) dtype = FloatType(type.size);
  if (!dtype) {
    return UnimplementedError(
        "expected numbers of 8 to 64 bits, found HDF5 type class " +
        std::to_string(type.description) + " of " + std::to_string(type.size) +
        " bytes");
  }
  dataset.dtype = *dtype;
  EMBER_ASSIGN_OR_RETURN(dataset.dims, ReadDims(space->data));
  uint64_t size = type.size;
  for (const int64_t dim : dataset.dims) size *= static_cast<uint64_t>(dim);
  if (size > (uint64_t{1} << 40)) return Malformed("dataspace");
  if (size == 0) return dataset;

  ByteCursor in(layout->data);
  const uint64_t version = in.Unsigned(1);
  uint64_t kind = 0, data = 0, stored_size = size;
  std::span<const uint8_t> compact;
  std::vector<uint64_t> chunk;
  // Number of the kind of chunk index in layout version 4; 0 means the B-tree
  // of older versions.
  uint64_t chunk_index = 0;
  uint64_t single_mask = 0;
  if (version == 1 || version == 2) {
    const uint64_t rank = in.Unsigned(1);
    kind = in.Unsigned(1);
    in.Skip(5);
    if (kind != 0) data = Address(in);
    for (uint64_t i = 0; i < rank; ++i) chunk.push_back(in.Unsigned(4));
    if (kind == 2) chunk.push_back(in.Unsigned(4));
    if (kind == 0) compact = in.Take(in.Unsigned(4));
  } else if (version == 3 || version == 4) {
    kind = in.Unsigned(1);
    if (kind == 0) {
      compact = in.Take(in.Unsigned(2));
    } else if (kind == 1) {
      data = Address(in);
      stored_size = Length(in);
    } else if (kind == 2 && version == 3) {
      const uint64_t rank = in.Unsigned(1);
      data = Address(in);
      for (uint64_t i = 0; i < rank; ++i) chunk.push_back(in.Unsigned(4));
    } else if (kind == 2) {
      const uint64_t flags = in.Unsigned(1);
      const uint64_t rank = in.Unsigned(1);
      const uint64_t width = in.Unsigned(1);
      if (width > 8) return Malformed("layout");
      for (uint64_t i = 0; i < rank; ++i)
        chunk.push_back(in.Unsigned(static_cast<int>(width)));
      chunk_index = in.Unsigned(1);
      if (chunk_index == 1 && (flags & 2) != 0) {
        stored_size = Length(in);
        single_mask = in.Unsigned(4);
      }
      data = Address(in);
    }
  } else {
    return UnimplementedError("HDF5 layout of version " +
                              std::to_string(version));
  }
  if (!in.ok()) return Malformed("layout");
  if (kind != 0 && !IsDefined(data))
    return DataLossError("HDF5 dataset: expected data, found none written");

  if (kind == 0 || kind == 1) {
    std::span<const uint8_t> bytes = compact;
    if (kind == 1) {
      EMBER_ASSIGN_OR_RETURN(const auto rest, From(data));
      bytes = rest.first(std::min<uint64_t>(stored_size, rest.size()));
    }
    if (bytes.size() < size) {
      return DataLossError("HDF5 dataset: expected " + std::to_string(size) +
                           " bytes, found " + std::to_string(bytes.size()));
    }
    dataset.bytes = bytes.first(size);
    dataset.owner = owner_;
  } else if (kind == 2) {
    Chunks chunks;
    chunks.element_size = type.size;
    chunks.chunk_bytes = type.size;
    for (const int64_t dim : dataset.dims)
      chunks.dims.push_back(static_cast<uint64_t>(dim));
    // In the layout message of a chunked dataset the chunk's extents are
    // followed by the size of an element in bytes.
    if (chunk.size() != chunks.dims.size() + 1 || chunk.back() != type.size ||
        chunks.dims.empty())
      return Malformed("layout");
    chunk.pop_back();
    for (const uint64_t extent : chunk) {
      if (extent == 0 || extent > (uint64_t{1} << 32) ||
          chunks.chunk_bytes > (uint64_t{1} << 32) / extent)
        return Malformed("layout");
      chunks.chunk_bytes *= extent;
    }
    chunks.chunk = chunk;
    if (const Message* filters = FindMessage(*messages, kFilters)) {
      EMBER_ASSIGN_OR_RETURN(chunks.filters, ReadFilters(filters->data));
    }
    // Upper bound of the bytes to which all contents of the file can inflate. A
    // larger dataset or chunk is an error.
    const uint64_t most = bytes_.size() * kMaxInflation;
    if (size > most || chunks.chunk_bytes > most) return Malformed("layout");
    // The size of the result is charged against the read budget, too: several
    // datasets may share their chunks, and a dataset without chunks reads
    // nothing.
    EMBER_RETURN_IF_ERROR(Charge(size / 128));
    auto result = std::make_shared<std::vector<uint8_t>>(size);
    if (chunk_index == 0) {
      EMBER_RETURN_IF_ERROR(ReadChunkTree(data, -1, chunks, *result));
    } else if (chunk_index == 1) {
      if (chunks.filters.empty()) stored_size = chunks.chunk_bytes;
      EMBER_ASSIGN_OR_RETURN(const auto stored, At(data, stored_size));
      EMBER_RETURN_IF_ERROR(
          CopyChunk(chunks, std::vector<uint64_t>(chunks.dims.size(), 0),
                    stored, single_mask, *result));
    } else {
      return UnimplementedError(
          "HDF5 dataset: chunks indexed as by libver='latest' (save the model "
          "without compression)");
    }
    dataset.bytes = *result;
    dataset.owner = result;
  } else {
    return UnimplementedError("HDF5 virtual dataset");
  }
  if (type.is_big_endian && type.size > 1) {
    EMBER_RETURN_IF_ERROR(Charge(size));
    auto swapped = std::make_shared<std::vector<uint8_t>>(dataset.bytes.begin(),
                                                          dataset.bytes.end());
    SwapBytes(*swapped, type.size);
    dataset.bytes = *swapped;
    dataset.owner = swapped;
  }
  return dataset;
}

}  // namespace ember::hdf5
