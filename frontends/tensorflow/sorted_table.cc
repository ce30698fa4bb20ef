#include "frontends/tensorflow/sorted_table.h"

#include <snappy-c.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "frontends/tensorflow/checksum.h"

namespace ember::tensorflow {
namespace {

using Bytes = std::span<const uint8_t>;
using Entries = std::map<std::string, std::string, std::less<>>;

constexpr uint64_t kMagic = 0xdb4775248b80fb57u;
constexpr size_t kFooterBytes = 48;
// Largest ratio of a table's size to its file's. Compression and shared parts
// of keys make a table larger than its file; this is far more than any
// checkpoint needs.
constexpr int64_t kMaxExpansion = 64;
// Bytes of the trailer of a block: one for the compression, four for the
// checksum.
constexpr size_t kTrailerBytes = 5;

Status Malformed(const std::string& what) {
  return DataLossError("index: " + what);
}

uint32_t Little32(const uint8_t* bytes) {
  uint32_t value;
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}

// Reads a varint. Returns false at the end of the bytes, and for a number of
// more than 64 bits.
bool TakeVarint(Bytes& bytes, uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const uint8_t byte = bytes.front();
    bytes = bytes.subspan(1);
    value |= static_cast<uint64_t>(byte & 127) << shift;
    if (byte < 128) return true;
  }
  return false;
}

// The location of a block in the file.
struct Handle {
  uint64_t offset = 0, size = 0;
};
bool TakeHandle(Bytes& bytes, Handle& handle) {
  return TakeVarint(bytes, handle.offset) && TakeVarint(bytes, handle.size);
}

class TableReader {
 public:
  explicit TableReader(Bytes bytes)
      : bytes_(bytes),
        limit_(std::min<int64_t>(
            kMaxTableBytes,
            kMaxExpansion * static_cast<int64_t>(bytes.size()) + (1 << 20))) {}

  StatusOr<Entries> Read() {
    if (bytes_.size() < kFooterBytes) {
      return Malformed("expected a footer of 48 bytes, found " +
                       std::to_string(bytes_.size()) + " bytes");
    }
    Bytes footer = bytes_.last(kFooterBytes);
    uint64_t magic;
    std::memcpy(&magic, footer.data() + kFooterBytes - 8, sizeof(magic));
    Handle meta, index;
    if (magic != kMagic || !TakeHandle(footer, meta) ||
        !TakeHandle(footer, index))
      return Malformed("expected the footer of a sorted table, found none");
    EMBER_ASSIGN_OR_RETURN(const std::string blocks, ReadBlock(index));
    EMBER_RETURN_IF_ERROR(
        ForEach(blocks, [&](const std::string&, std::string_view value) {
          return AddBlock(value);
        }));
    return std::move(entries_);
  }

 private:
  StatusOr<std::string> ReadBlock(const Handle& handle) {
    if (handle.offset > bytes_.size() ||
        handle.size > bytes_.size() - handle.offset ||
        kTrailerBytes > bytes_.size() - handle.offset - handle.size) {
      return Malformed("expected blocks within its " +
                       std::to_string(bytes_.size()) + " bytes, found one at " +
                       std::to_string(handle.offset) + " of " +
                       std::to_string(handle.size) + " bytes");
    }
    const Bytes block = bytes_.subspan(handle.offset, handle.size);
    const uint8_t* trailer = block.data() + block.size();
    const Bytes checked(block.data(), block.size() + 1);
    if (MaskedChecksum(checked) != Little32(trailer + 1))
      return Malformed("the checksum of a block is wrong: the file is damaged");
    const auto* begin = reinterpret_cast<const char*>(block.data());
    std::string contents;
    if (*trailer == 0) {
      contents.assign(begin, block.size());
    } else if (*trailer == 1) {
      size_t size = 0;
      if (snappy_uncompressed_length(begin, block.size(), &size) != SNAPPY_OK ||
          size > static_cast<size_t>(limit_ - total_))
        return TooMuch();
      contents.resize(size);
      if (snappy_uncompress(begin, block.size(), contents.data(), &size) !=
          SNAPPY_OK)
        return Malformed("a compressed block is damaged");
    } else {
      return Malformed("expected blocks as they are or by Snappy, found kind " +
                       std::to_string(*trailer));
    }
    EMBER_RETURN_IF_ERROR(Charge(contents.size()));
    return contents;
  }

  // Calls `function` for each entry of a block. An entry has the number of
  // bytes that its key shares with the key before it, the rest of the key, and
  // the value. Restart points and their number follow the entries.
  template <typename Function>
  Status ForEach(const std::string& block, const Function& function) {
    const auto malformed = [] {
      return Malformed("expected blocks of keys and values in order");
    };
    if (block.size() < 4) return malformed();
    const auto* data = reinterpret_cast<const uint8_t*>(block.data());
    const uint64_t restarts = Little32(data + block.size() - 4);
    if (restarts > (block.size() - 4) / 4) return malformed();
    Bytes rest(data, block.size() - 4 - restarts * 4);
    std::string key;
    bool first = true;
    while (!rest.empty()) {
      uint64_t shared = 0, own = 0, size = 0;
      if (!TakeVarint(rest, shared) || !TakeVarint(rest, own) ||
          !TakeVarint(rest, size) || shared > key.size() || own > rest.size() ||
          size > rest.size() - own)
        return malformed();
      // Charges the whole key against the table's limit of bytes: the file
      // holds the part that keys share once, but each key in memory has a copy
      // of it.
      EMBER_RETURN_IF_ERROR(Charge(shared + own + size));
      std::string next = key.substr(0, shared);
      next.append(reinterpret_cast<const char*>(rest.data()), own);
      if (!first && next <= key) return malformed();
      key = std::move(next);
      first = false;
      EMBER_RETURN_IF_ERROR(function(
          key, std::string_view(
                   reinterpret_cast<const char*>(rest.data()) + own, size)));
      rest = rest.subspan(own + size);
    }
    return OkStatus();
  }

  Status AddBlock(std::string_view handle_text) {
    Bytes encoded(reinterpret_cast<const uint8_t*>(handle_text.data()),
                  handle_text.size());
    Handle handle;
    if (!TakeHandle(encoded, handle))
      return Malformed("expected the places of blocks");
    EMBER_ASSIGN_OR_RETURN(const std::string block, ReadBlock(handle));
    return ForEach(block, [&](const std::string& key, std::string_view value) {
      entries_.emplace(key, value);
      return OkStatus();
    });
  }

  Status TooMuch() const {
    return Malformed("expected blocks, keys and values of at most " +
                     std::to_string(limit_) + " bytes in all, found more");
  }
  Status Charge(uint64_t bytes) {
    if (bytes > static_cast<uint64_t>(limit_ - total_)) return TooMuch();
    total_ += static_cast<int64_t>(bytes);
    return OkStatus();
  }

  const Bytes bytes_;
  const int64_t limit_;
  int64_t total_ = 0;
  Entries entries_;
};

}  // namespace

StatusOr<Entries> ReadSortedTable(Bytes bytes) {
  return TableReader(bytes).Read();
}

}  // namespace ember::tensorflow
