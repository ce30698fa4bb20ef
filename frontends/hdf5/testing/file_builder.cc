#include "frontends/hdf5/testing/file_builder.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace ember::hdf5 {
namespace {

std::string Number(uint64_t value, int width) {
  std::string bytes;
  for (int i = 0; i < width; ++i) {
    bytes += static_cast<char>(value & 0xff);
    value >>= 8;
  }
  return bytes;
}

std::string Message(uint64_t type, const std::string& data) {
  return Number(type, 1) + Number(data.size(), 2) + Number(0, 1) + data;
}

std::string Dataspace(const std::vector<int64_t>& dims) {
  std::string data = Number(2, 1) + Number(dims.size(), 1) + Number(0, 1) +
                     Number(dims.empty() ? 0 : 1, 1);
  for (const int64_t dim : dims) data += Number(static_cast<uint64_t>(dim), 8);
  return data;
}

std::string TextType(uint64_t size) {
  return Number(0x13, 1) + Number(0, 3) + Number(size, 4);
}

std::string VlenTextType() {
  return Number(0x19, 1) + Number(1, 3) + Number(16, 4) + TextType(1);
}

std::string NumberType(DType dtype) {
  const auto size = static_cast<uint64_t>(DTypeByteSize(dtype));
  if (dtype == DType::kBool) {
    return Number(0x18, 1) + Number(2, 3) + Number(1, 4) +
           NumberType(DType::kI8) + std::string("FALSE\0\0\0TRUE\0\0\0\0", 16) +
           Number(0x0100, 2);
  }
  if (!IsFloat(dtype)) {
    return Number(0x10, 1) + Number(IsSigned(dtype) ? 8 : 0, 3) +
           Number(size, 4) + Number(0, 2) + Number(size * 8, 2);
  }
  const uint64_t exponent = size == 2 ? 5 : size == 4 ? 8 : 11;
  const uint64_t mantissa = size * 8 - 1 - exponent;
  return Number(0x11, 1) + Number(0x20, 1) + Number(size * 8 - 1, 1) +
         Number(0, 1) + Number(size, 4) + Number(0, 2) + Number(size * 8, 2) +
         Number(mantissa, 1) + Number(exponent, 1) + Number(0, 1) +
         Number(mantissa, 1) + Number((uint64_t{1} << (exponent - 1)) - 1, 4);
}

std::string AttributeMessage(const std::string& name, const std::string& type,
                             const std::string& space,
                             const std::string& data) {
  return Message(12, Number(3, 1) + Number(0, 1) + Number(name.size() + 1, 2) +
                         Number(type.size(), 2) + Number(space.size(), 2) +
                         Number(0, 1) + name + '\0' + type + space + data);
}

void Align(std::string& out) { out.resize((out.size() + 7) / 8 * 8, '\0'); }

}  // namespace

struct FileBuilder::Node {
  std::vector<std::pair<std::string, std::string>> texts;
  std::vector<std::pair<std::string, std::vector<std::string>>> lists;
  std::vector<std::pair<std::string, std::unique_ptr<Node>>> links;
  bool is_dataset = false;
  // Numbers of the filters of a chunked dataset.
  std::optional<std::vector<int>> filters;
  DType dtype = DType::kF32;
  std::vector<int64_t> dims;
  std::string bytes;
};

FileBuilder::FileBuilder() : root_(std::make_unique<Node>()) {}
FileBuilder::~FileBuilder() = default;

FileBuilder::Node& FileBuilder::At(const std::string& path) {
  Node* at = root_.get();
  size_t begin = 0;
  while (begin < path.size()) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string name = path.substr(begin, end - begin);
    begin = end + 1;
    auto found =
        std::find_if(at->links.begin(), at->links.end(),
                     [&](const auto& link) { return link.first == name; });
    if (found == at->links.end()) {
      at->links.emplace_back(name, std::make_unique<Node>());
      found = at->links.end() - 1;
    }
    at = found->second.get();
  }
  return *at;
}

void FileBuilder::Text(const std::string& path, const std::string& name,
                       const std::string& text) {
  At(path).texts.emplace_back(name, text);
}

void FileBuilder::Texts(const std::string& path, const std::string& name,
                        const std::vector<std::string>& texts) {
  At(path).lists.emplace_back(name, texts);
}

void FileBuilder::Dataset(const std::string& path, DType dtype,
                          const std::vector<int64_t>& dims,
                          const std::string& bytes) {
  Node& node = At(path);
  node.is_dataset = true;
  node.dtype = dtype;
  node.dims = dims;
  node.bytes = bytes;
}

void FileBuilder::Chunk(const std::string& path, DType dtype,
                        const std::vector<int64_t>& dims,
                        const std::vector<int>& filters,
                        const std::string& stored) {
  Dataset(path, dtype, dims, stored);
  At(path).filters = filters;
}

// Writes children first, so that their addresses are known. Returns the
// header's address.
uint64_t FileBuilder::Write(const Node& node, std::string& out) {
  std::string messages;
  for (const auto& [name, child] : node.links) {
    const uint64_t address = Write(*child, out);
    messages +=
        Message(6, Number(1, 1) + Number(0, 1) + Number(name.size(), 1) + name +
                       Number(address, 8));
  }
  for (const auto& [name, text] : node.texts) {
    Align(out);
    const uint64_t heap = out.size();
    std::string object = Number(1, 2) + Number(1, 2) + Number(0, 4) +
                         Number(text.size(), 8) + text;
    Align(object);
    object += Number(0, 16);
    out += "GCOL" + Number(1, 1) + Number(0, 3) +
           Number(16 + object.size(), 8) + object;
    messages += AttributeMessage(
        name, VlenTextType(), Dataspace({}),
        Number(text.size(), 4) + Number(heap, 8) + Number(1, 4));
  }
  for (const auto& [name, texts] : node.lists) {
    size_t longest = 1;
    for (const std::string& text : texts)
      longest = std::max(longest, text.size());
    std::string data;
    for (std::string text : texts) {
      text.resize(longest, '\0');
      data += text;
    }
    messages +=
        AttributeMessage(name, TextType(longest),
                         Dataspace({static_cast<int64_t>(texts.size())}), data);
  }
  if (node.filters) {
    const auto [chunk, is_new] = chunks_.emplace(node.bytes, out.size());
    if (is_new) out += node.bytes;
    std::string filters = Number(2, 1) + Number(node.filters->size(), 1);
    for (const int filter : *node.filters) {
      // The last number of a filter's description is the size in bytes of the
      // elements, which shuffle needs.
      filters += Number(static_cast<uint64_t>(filter), 2) + Number(0, 2) +
                 Number(1, 2) + Number(4, 4);
    }
    std::string layout = Number(4, 1) + Number(2, 1) + Number(2, 1) +
                         Number(node.dims.size() + 1, 1) + Number(8, 1);
    for (const int64_t dim : node.dims)
      layout += Number(static_cast<uint64_t>(dim), 8);
    layout += Number(static_cast<uint64_t>(DTypeByteSize(node.dtype)), 8) +
              Number(1, 1) + Number(node.bytes.size(), 8) + Number(0, 4) +
              Number(chunk->second, 8);
    messages += Message(1, Dataspace(node.dims));
    messages += Message(3, NumberType(node.dtype));
    messages += Message(11, filters);
    messages += Message(8, layout);
  } else if (node.is_dataset) {
    Align(out);
    const uint64_t data = out.size();
    out += node.bytes;
    messages += Message(1, Dataspace(node.dims));
    messages += Message(3, NumberType(node.dtype));
    messages += Message(8, Number(3, 1) + Number(1, 1) + Number(data, 8) +
                               Number(node.bytes.size(), 8));
  }
  Align(out);
  const uint64_t header = out.size();
  out += "OHDR" + Number(2, 1) + Number(2, 1) + Number(messages.size(), 4) +
         messages + Number(0, 4);
  return header;
}

std::string FileBuilder::Finish() {
  constexpr uint64_t kSuperblock = 48;
  std::string out(kSuperblock, '\0');
  const uint64_t root = Write(*root_, out);
  const std::string superblock =
      std::string("\x89HDF\r\n\x1a\n", 8) + Number(2, 1) + Number(8, 1) +
      Number(8, 1) + Number(0, 1) + Number(0, 8) + Number(~uint64_t{0}, 8) +
      Number(out.size(), 8) + Number(root, 8) + Number(0, 4);
  out.replace(0, kSuperblock, superblock);
  return out;
}

}  // namespace ember::hdf5
