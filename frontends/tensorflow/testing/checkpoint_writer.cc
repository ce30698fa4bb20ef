#include "frontends/tensorflow/testing/checkpoint_writer.h"

#include <snappy-c.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/check.h"
#include "base/file.h"
#include "frontends/tensorflow/checksum.h"

namespace ember::tensorflow {
namespace {

void AddVarint(std::string& text, uint64_t value) {
  while (value >= 128) {
    text += static_cast<char>(value | 128);
    value >>= 7;
  }
  text += static_cast<char>(value);
}

template <typename T>
void AddLittle(std::string& text, T value) {
  char bytes[sizeof(value)];
  std::memcpy(bytes, &value, sizeof(value));
  text.append(bytes, sizeof(value));
}

using Entries = std::vector<std::pair<std::string, std::string>>;

std::string MakeBlock(const Entries& entries) {
  std::string block, before;
  for (const auto& [key, value] : entries) {
    size_t shared = 0;
    while (shared < std::min(before.size(), key.size()) &&
           before[shared] == key[shared])
      ++shared;
    AddVarint(block, shared);
    AddVarint(block, key.size() - shared);
    AddVarint(block, value.size());
    block += key.substr(shared) + value;
    before = key;
  }
  // Appends the block's list of restart points: one, at offset 0, and their
  // number.
  AddLittle<uint32_t>(block, 0);
  AddLittle<uint32_t>(block, 1);
  return block;
}

// Appends the block and its trailer; returns its location.
std::string AddBlock(std::string& file, std::string block, bool compress) {
  if (compress) {
    std::string smaller(snappy_max_compressed_length(block.size()), '\0');
    size_t size = smaller.size();
    EMBER_CHECK(snappy_compress(block.data(), block.size(), smaller.data(),
                                &size) == SNAPPY_OK);
    block = smaller.substr(0, size);
  }
  std::string handle;
  AddVarint(handle, file.size());
  AddVarint(handle, block.size());
  block += static_cast<char>(compress ? 1 : 0);
  const uint32_t checksum = MaskedChecksum(
      {reinterpret_cast<const uint8_t*>(block.data()), block.size()});
  file += block;
  AddLittle(file, checksum);
  return handle;
}

}  // namespace

std::string MakeSortedTable(const std::map<std::string, std::string>& entries,
                            bool compress) {
  const Entries all(entries.begin(), entries.end());
  const auto half = static_cast<std::ptrdiff_t>(all.size() / 2);
  std::string file;
  Entries index;
  for (const Entries& part : {Entries(all.begin(), all.begin() + half),
                              Entries(all.begin() + half, all.end())}) {
    if (part.empty()) continue;
    index.emplace_back(part.back().first,
                       AddBlock(file, MakeBlock(part), compress));
  }
  const std::string meta = AddBlock(file, MakeBlock({}), compress);
  std::string footer = meta + AddBlock(file, MakeBlock(index), compress);
  footer.resize(40);
  AddLittle<uint64_t>(footer, 0xdb4775248b80fb57u);
  return file + footer;
}

TestCheckpoint MakeCheckpoint(
    const std::map<std::string, TestVariable>& variables, bool compress) {
  TestCheckpoint checkpoint;
  BundleHeaderProto header;
  header.set_num_shards(1);
  std::map<std::string, std::string> entries{{"", header.SerializeAsString()}};
  for (const auto& [name, variable] : variables) {
    BundleEntryProto entry;
    entry.set_dtype(variable.type);
    entry.mutable_shape();
    for (const int64_t dim : variable.dims)
      entry.mutable_shape()->add_dim()->set_size(dim);
    entry.set_offset(static_cast<int64_t>(checkpoint.data.size()));
    entry.set_size(static_cast<int64_t>(variable.bytes.size()));
    entry.set_crc32c(
        MaskedChecksum({reinterpret_cast<const uint8_t*>(variable.bytes.data()),
                        variable.bytes.size()}));
    entries[name] = entry.SerializeAsString();
    checkpoint.data += variable.bytes;
  }
  checkpoint.index = MakeSortedTable(entries, compress);
  return checkpoint;
}

void WriteSavedModel(const std::string& folder, const SavedModel& model,
                     const TestCheckpoint& checkpoint) {
  std::filesystem::create_directories(folder + "/variables");
  const std::string prefix = folder + "/variables/variables";
  for (const auto& [path, contents] :
       {std::pair(folder + "/saved_model.pb", model.SerializeAsString()),
        std::pair(prefix + ".index", checkpoint.index),
        std::pair(prefix + ".data-00000-of-00001", checkpoint.data)}) {
    const Status status = WriteFileAtomically(path, contents);
    EMBER_CHECK(status.ok()) << status.ToString();
  }
}

}  // namespace ember::tensorflow
