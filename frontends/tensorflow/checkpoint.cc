#include "frontends/tensorflow/checkpoint.h"

#include <cstdio>
#include <optional>
#include <utility>

#include "base/one_line.h"
#include "frontends/tensorflow/checksum.h"
#include "frontends/tensorflow/data_types.h"
#include "frontends/tensorflow/sorted_table.h"

namespace ember::tensorflow {
namespace {

constexpr int kMaxShards = 1 << 12;

std::string ShardName(const std::string& prefix, int shard, int count) {
  char text[64];
  std::snprintf(text, sizeof(text), ".data-%05d-of-%05d", shard, count);
  return prefix + text;
}

}  // namespace

StatusOr<std::shared_ptr<const Checkpoint>> Checkpoint::Open(
    const std::string& prefix) {
  std::shared_ptr<Checkpoint> checkpoint(new Checkpoint);
  checkpoint->name_ = prefix.substr(prefix.rfind('/') + 1) + ".index";
  const Status status = checkpoint->Read(prefix);
  if (!status.ok())
    return status.WithContext("'" + OnOneLine(checkpoint->name_) + "'");
  return std::shared_ptr<const Checkpoint>(std::move(checkpoint));
}

Status Checkpoint::Read(const std::string& prefix) {
  EMBER_ASSIGN_OR_RETURN(const MappedFile index,
                         MappedFile::Open(prefix + ".index"));
  EMBER_ASSIGN_OR_RETURN(entries_, ReadSortedTable(index.bytes()));
  BundleHeaderProto header;
  const auto found = entries_.find("");
  if (found == entries_.end() || !header.ParseFromString(found->second))
    return DataLossError("expected the header of a checkpoint, found none");
  if (header.endianness() != 0)
    return UnimplementedError("expected little-endian numbers, found big");
  if (header.num_shards() < 0 || header.num_shards() > kMaxShards) {
    return DataLossError("expected 0 to " + std::to_string(kMaxShards) +
                         " files of data, found " +
                         std::to_string(header.num_shards()));
  }
  for (int i = 0; i < header.num_shards(); ++i) {
    EMBER_ASSIGN_OR_RETURN(
        MappedFile shard,
        MappedFile::Open(ShardName(prefix, i, header.num_shards())));
    shards_.push_back(std::move(shard));
  }
  return OkStatus();
}

StatusOr<CheckpointTensor> Checkpoint::Find(const std::string& key) const {
  const std::string where =
      "'" + OnOneLine(name_) + "': tensor '" + OnOneLine(key) + "'";
  const auto found = entries_.find(key);
  if (found == entries_.end() || key.empty())
    return NotFoundError(where + ": not there");
  BundleEntryProto entry;
  if (!entry.ParseFromString(found->second))
    return DataLossError(where + ": expected a tensor's entry");
  if (entry.slices_size() > 0)
    return UnimplementedError(where + ": it was saved in slices");
  const std::optional<DType> dtype = DTypeOf(entry.dtype());
  if (!dtype || entry.dtype() == DT_STRING) {
    return UnimplementedError(where + ": type " + TypeName(entry.dtype()) +
                              " is not supported");
  }
  CheckpointTensor tensor;
  tensor.dtype = *dtype;
  EMBER_ASSIGN_OR_RETURN(tensor.dims, ConstantDims(entry.shape()));
  int64_t size = DTypeByteSize(*dtype);
  for (const int64_t dim : tensor.dims) {
    if (__builtin_mul_overflow(size, dim, &size))
      return DataLossError(where + ": expected a size of 63 bits");
  }
  if (entry.shard_id() < 0 || entry.shard_id() >= std::ssize(shards_)) {
    return DataLossError(
        where + ": expected one of " + std::to_string(shards_.size()) +
        " files of data, found number " + std::to_string(entry.shard_id()));
  }
  const std::span<const uint8_t> shard =
      shards_[static_cast<size_t>(entry.shard_id())].bytes();
  const auto total = static_cast<int64_t>(shard.size());
  if (entry.size() != size || entry.offset() < 0 || entry.offset() > total ||
      size > total - entry.offset()) {
    return DataLossError(where + ": expected " + std::to_string(size) +
                         " bytes within the " + std::to_string(total) +
                         " of its file, found " + std::to_string(entry.size()) +
                         " at " + std::to_string(entry.offset()));
  }
  tensor.bytes = shard.subspan(static_cast<size_t>(entry.offset()),
                               static_cast<size_t>(size));
  if (MaskedChecksum(tensor.bytes) != entry.crc32c())
    return DataLossError(where + ": the checksum is wrong: it is damaged");
  tensor.owner = shared_from_this();
  return tensor;
}

}  // namespace ember::tensorflow
