// Links of groups: symbol tables (B-trees of version 1, local heaps), link
// messages, and dense storage (fractal heaps, B-trees of version 2).
#include <algorithm>
#include <utility>

#include "base/byte_cursor.h"
#include "frontends/hdf5/file.h"
#include "frontends/hdf5/message_types.h"

namespace ember::hdf5 {
namespace {

constexpr uint64_t kHardLink = 0;
// Cache type of a symbol table entry that is a soft link.
constexpr uint64_t kSoftSymbol = 2;
// Largest depth of a tree. Real trees are far less deep.
constexpr int kMaxDepth = 32;

Status Malformed(std::string_view what) {
  return DataLossError("HDF5 " + std::string(what) + ": malformed");
}

// Returns how many bytes an integer field takes that can hold any number from 0
// to `most`.
int WidthOf(uint64_t most) {
  int width = 1;
  while (most > 0xff) {
    most >>= 8;
    ++width;
  }
  return width;
}

int FloorLog2(uint64_t value) {
  int log = 0;
  while (value > 1) {
    value >>= 1;
    ++log;
  }
  return log;
}

}  // namespace

StatusOr<const File::Group*> File::GroupAt(uint64_t address) {
  const auto found = groups_.find(address);
  if (found != groups_.end()) return &found->second;
  EMBER_ASSIGN_OR_RETURN(Group group, ReadGroup(address));
  for (const Link& link : group.links)
    group.by_name.emplace(link.name, link.address);
  return &groups_.emplace(address, std::move(group)).first->second;
}

StatusOr<File::Group> File::ReadGroup(uint64_t address) {
  EMBER_ASSIGN_OR_RETURN(const Messages* const messages, Header(address));
  Group group;
  for (const Message& message : *messages) {
    ByteCursor in(message.data);
    if (message.type == kSymbolTable) {
      const uint64_t tree = Address(in);
      const uint64_t heap = Address(in);
      if (!in.ok()) return Malformed("symbol table message");
      EMBER_RETURN_IF_ERROR(ReadSymbolTable(tree, heap, group));
    } else if (message.type == kLinkMessage) {
      EMBER_RETURN_IF_ERROR(ReadLink(message.data, group));
    } else if (message.type == kLinkInfo) {
      in.Skip(1);
      if ((in.Unsigned(1) & 1) != 0) in.Skip(8);
      const uint64_t heap = Address(in);
      const uint64_t tree = Address(in);
      if (!in.ok()) return Malformed("link information message");
      if (!IsDefined(heap)) continue;
      EMBER_ASSIGN_OR_RETURN(const auto links, ReadDense(heap, tree));
      for (const std::span<const uint8_t> link : links)
        EMBER_RETURN_IF_ERROR(ReadLink(link, group));
    }
  }
  return group;
}

Status File::ReadLink(std::span<const uint8_t> message, Group& group) {
  ByteCursor in(message);
  if (in.Unsigned(1) != 1) return Malformed("link message");
  const uint64_t flags = in.Unsigned(1);
  const uint64_t kind = (flags & 0x08) != 0 ? in.Unsigned(1) : kHardLink;
  if ((flags & 0x04) != 0) in.Skip(8);
  if ((flags & 0x10) != 0) in.Skip(1);
  const uint64_t size = in.Unsigned(1 << (flags & 3));
  const std::string name(AsText(in.Take(size)));
  if (!in.ok()) return Malformed("link message");
  if (kind != kHardLink) return OkStatus();
  const uint64_t address = Address(in);
  if (!in.ok()) return Malformed("link message");
  group.links.push_back({name, address});
  return OkStatus();
}

Status File::ReadSymbolTable(uint64_t tree, uint64_t heap, Group& group) {
  EMBER_ASSIGN_OR_RETURN(const auto header, From(heap));
  ByteCursor in(header);
  if (!in.Matches("HEAP")) return Malformed("local heap");
  in.Skip(4);
  const uint64_t size = Length(in);
  Length(in);
  const uint64_t data = Address(in);
  if (!in.ok()) return Malformed("local heap");
  EMBER_ASSIGN_OR_RETURN(const auto names, At(data, size));
  return ReadSymbolTree(tree, -1, names, group);
}

// Reads the links below a node of a group's B-tree. `level`: the level that the
// node must have; -1 accepts any level, for the root.
Status File::ReadSymbolTree(uint64_t tree, int level,
                            std::span<const uint8_t> names, Group& group) {
  EMBER_ASSIGN_OR_RETURN(const auto rest, From(tree));
  ByteCursor in(rest);
  if (!in.Matches("TREE") || in.Unsigned(1) != 0)
    return Malformed("group's B-tree");
  const int found = static_cast<int>(in.Unsigned(1));
  const uint64_t entries = in.Unsigned(2);
  if ((level >= 0 && found != level) || found > kMaxDepth)
    return Malformed("group's B-tree");
  Address(in);
  Address(in);
  for (uint64_t i = 0; i < entries; ++i) {
    Length(in);  // The key.
    const uint64_t child = Address(in);
    if (!in.ok()) return Malformed("group's B-tree");
    EMBER_RETURN_IF_ERROR(Charge(16));
    EMBER_RETURN_IF_ERROR(found == 0
                              ? ReadSymbolNode(child, names, group)
                              : ReadSymbolTree(child, found - 1, names, group));
  }
  return OkStatus();
}

Status File::ReadSymbolNode(uint64_t address, std::span<const uint8_t> names,
                            Group& group) {
  EMBER_ASSIGN_OR_RETURN(const auto rest, From(address));
  ByteCursor in(rest);
  if (!in.Matches("SNOD")) return Malformed("symbol table node");
  in.Skip(2);
  const uint64_t count = in.Unsigned(2);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t name = Length(in);
    const uint64_t header = Address(in);
    const uint64_t kind = in.Unsigned(4);
    in.Skip(4 + 16);
    if (!in.ok() || name >= names.size()) return Malformed("symbol table node");
    const std::span<const uint8_t> rest_of_names = names.subspan(name);
    const auto end = std::find(rest_of_names.begin(), rest_of_names.end(), 0);
    const auto size = static_cast<size_t>(end - rest_of_names.begin());
    EMBER_RETURN_IF_ERROR(Charge(40 + size));
    if (kind == kSoftSymbol) continue;
    group.links.push_back(
        {std::string(AsText(rest_of_names.first(size))), header});
  }
  return OkStatus();
}

namespace {

// The layout of a fractal heap's managed objects: rows of blocks. The first two
// rows have blocks of the starting size; each further row has blocks of twice
// the size before it.
struct HeapLayout {
  uint64_t width = 0;  // Number of blocks in a row of the heap.
  // Bytes of a block in the heap's first two rows.
  uint64_t starting_size = 0;
  uint64_t largest_direct = 0;
  int offset_bytes = 0;  // Number of bytes that encode an offset into the heap.
  uint64_t block_header = 0;

  uint64_t BlockSize(uint64_t row) const {
    const uint64_t doubled = row == 0 ? 0 : row - 1;
    return doubled > 40 ? 0 : starting_size << doubled;
  }
  uint64_t DirectRows() const {
    return static_cast<uint64_t>(FloorLog2(largest_direct) -
                                 FloorLog2(starting_size)) +
           2;
  }
};

}  // namespace

StatusOr<std::vector<std::span<const uint8_t>>> File::ReadDense(
    uint64_t heap_address, uint64_t tree_address) {
  EMBER_ASSIGN_OR_RETURN(const auto rest, From(heap_address));
  ByteCursor in(rest);
  if (!in.Matches("FRHP") || in.Unsigned(1) != 0)
    return Malformed("fractal heap");
  const uint64_t id_size = in.Unsigned(2);
  const uint64_t filters = in.Unsigned(2);
  const uint64_t flags = in.Unsigned(1);
  const uint64_t largest_object = in.Unsigned(4);
  Length(in);  // Skips the header's fields on huge objects and free space.
  Address(in);
  Length(in);
  Address(in);
  for (int i = 0; i < 8; ++i) Length(in);
  HeapLayout layout;
  layout.width = in.Unsigned(2);
  layout.starting_size = Length(in);
  layout.largest_direct = Length(in);
  const uint64_t heap_bits = in.Unsigned(2);
  in.Skip(2);
  const uint64_t root = Address(in);
  const uint64_t rows = in.Unsigned(2);
  if (!in.ok() || layout.width == 0 || layout.starting_size == 0 ||
      layout.starting_size > (uint64_t{1} << 32) ||
      layout.largest_direct < layout.starting_size ||
      layout.largest_direct > (uint64_t{1} << 32) || heap_bits > 64)
    return Malformed("fractal heap");
  if (filters != 0) return UnimplementedError("HDF5 fractal heap with filters");
  layout.offset_bytes = static_cast<int>((heap_bits + 7) / 8);
  layout.block_header = static_cast<uint64_t>(5 + address_width_) +
                        static_cast<uint64_t>(layout.offset_bytes) +
                        ((flags & 2) != 0 ? 4 : 0);

  // A direct block: its offset in the heap, its size and its address.
  struct Block {
    uint64_t offset, size, address;
  };
  std::vector<Block> blocks;
  struct Pending {
    uint64_t address, offset, rows;
    int depth;
  };
  std::vector<Pending> pending;
  if (IsDefined(root)) {
    if (rows == 0) {
      blocks.push_back({0, layout.starting_size, root});
    } else {
      pending.push_back({root, 0, rows, 0});
    }
  }
  while (!pending.empty()) {
    const Pending at = pending.back();
    pending.pop_back();
    if (at.rows > 64 || at.depth > kMaxDepth) return Malformed("fractal heap");
    EMBER_ASSIGN_OR_RETURN(const auto bytes, From(at.address));
    ByteCursor entries(bytes);
    if (!entries.Matches("FHIB")) return Malformed("fractal heap");
    entries.Skip(1 +
                 static_cast<uint64_t>(address_width_ + layout.offset_bytes));
    uint64_t offset = at.offset;
    for (uint64_t row = 0; row < at.rows; ++row) {
      const uint64_t size = layout.BlockSize(row);
      if (size == 0) return Malformed("fractal heap");
      for (uint64_t column = 0; column < layout.width; ++column) {
        const uint64_t child = Address(entries);
        if (!entries.ok()) return Malformed("fractal heap");
        EMBER_RETURN_IF_ERROR(Charge(8));
        if (IsDefined(child)) {
          if (row < layout.DirectRows()) {
            blocks.push_back({offset, size, child});
          } else {
            const int child_rows =
                FloorLog2(size) -
                FloorLog2(layout.starting_size * layout.width) + 1;
            if (child_rows < 1) return Malformed("fractal heap");
            pending.push_back({child, offset, static_cast<uint64_t>(child_rows),
                               at.depth + 1});
          }
        }
        offset += size;
      }
    }
  }
  std::sort(blocks.begin(), blocks.end(),
            [](const Block& a, const Block& b) { return a.offset < b.offset; });

  // Reads the records of the B-tree, which hold IDs of heap objects.
  EMBER_ASSIGN_OR_RETURN(const auto tree_rest, From(tree_address));
  ByteCursor tree(tree_rest);
  if (!tree.Matches("BTHD") || tree.Unsigned(1) != 0)
    return Malformed("B-tree");
  const uint64_t type = tree.Unsigned(1);
  const uint64_t node_size = tree.Unsigned(4);
  const uint64_t record_size = tree.Unsigned(2);
  const uint64_t depth = tree.Unsigned(2);
  tree.Skip(2);
  const uint64_t root_node = Address(tree);
  const uint64_t root_records = tree.Unsigned(2);
  // A record of the tree of links by name is (hash, heap ID). A record of the
  // tree of attributes by name is (heap ID, flags, order, hash).
  const uint64_t id_at = type == 5 ? 4 : 0;
  if (!tree.ok() || (type != 5 && type != 8) || depth > kMaxDepth ||
      record_size < id_at + id_size || node_size < 10 + record_size)
    return Malformed("B-tree");
  // Largest numbers of records by level, where the leaves are level 0:
  // most[level] in one node, and total[level] in a node with all nodes below
  // it. A pointer to a node has a field for each of these two counts (at a leaf
  // only for the first), and the largest numbers determine how many bytes the
  // fields have.
  const auto address_width = static_cast<uint64_t>(address_width_);
  std::vector<uint64_t> most{(node_size - 10) / record_size};
  std::vector<uint64_t> total{most[0]};
  for (uint64_t level = 1; level <= depth; ++level) {
    const uint64_t pointer =
        address_width + static_cast<uint64_t>(WidthOf(most[0])) +
        (level > 1 ? static_cast<uint64_t>(WidthOf(total[level - 1])) : 0);
    if (node_size < 10 + pointer) return Malformed("B-tree");
    most.push_back((node_size - 10 - pointer) / (record_size + pointer));
    // The number saturates, because it would overflow for trees that are deeper
    // than any real one.
    const uint64_t below = total[level - 1];
    const uint64_t here = most[level];
    total.push_back(below > (uint64_t{1} << 48) / (here + 2)
                        ? uint64_t{1} << 48
                        : (here + 1) * below + here);
  }
  struct Node {
    uint64_t address, records, level;
  };
  std::vector<Node> nodes;
  if (IsDefined(root_node)) nodes.push_back({root_node, root_records, depth});
  std::vector<std::span<const uint8_t>> objects;
  while (!nodes.empty()) {
    const Node node = nodes.back();
    nodes.pop_back();
    EMBER_ASSIGN_OR_RETURN(const auto bytes, From(node.address));
    ByteCursor records(bytes);
    if (!records.Matches(node.level == 0 ? "BTLF" : "BTIN"))
      return Malformed("B-tree");
    records.Skip(2);
    for (uint64_t i = 0; i < node.records; ++i) {
      const std::span<const uint8_t> record = records.Take(record_size);
      if (!records.ok()) return Malformed("B-tree");
      EMBER_RETURN_IF_ERROR(Charge(record_size));
      ByteCursor id(record.subspan(id_at, id_size));
      const uint64_t kind = id.Unsigned(1) >> 4 & 3;
      if (kind != 0)
        return UnimplementedError("HDF5 fractal heap: a huge or tiny object");
      const uint64_t offset = id.Unsigned(layout.offset_bytes);
      const uint64_t size = id.Unsigned(
          WidthOf(std::min<uint64_t>(layout.largest_direct, largest_object)));
      auto block = std::upper_bound(
          blocks.begin(), blocks.end(), offset,
          [](uint64_t value, const Block& b) { return value < b.offset; });
      if (!id.ok() || block == blocks.begin()) return Malformed("fractal heap");
      --block;
      const uint64_t inside = offset - block->offset;
      if (inside >= block->size || size > block->size - inside)
        return Malformed("fractal heap");
      // A block of a heap holds many objects, so the bytes of each object are
      // charged against the read budget, not the block.
      EMBER_ASSIGN_OR_RETURN(const auto content, From(block->address));
      if (inside > content.size() || size > content.size() - inside)
        return Malformed("fractal heap");
      EMBER_RETURN_IF_ERROR(Charge(size));
      objects.push_back(content.subspan(inside, size));
    }
    if (node.level == 0) continue;
    for (uint64_t i = 0; i <= node.records; ++i) {
      const uint64_t child = Address(records);
      const uint64_t count = records.Unsigned(WidthOf(most[0]));
      if (node.level > 1)
        records.Skip(static_cast<uint64_t>(WidthOf(total[node.level - 1])));
      if (!records.ok()) return Malformed("B-tree");
      EMBER_RETURN_IF_ERROR(Charge(8));
      nodes.push_back({child, count, node.level - 1});
    }
  }
  return objects;
}

}  // namespace ember::hdf5
