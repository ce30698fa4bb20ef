// Reads HDF5 files, as far as models are stored in them: groups, attributes
// that are strings, and datasets of numbers.
//
//   EMBER_ASSIGN_OR_RETURN(std::shared_ptr<File> file,
//                          File::Open(mapped->bytes(), mapped));
//   EMBER_ASSIGN_OR_RETURN(const Object root, file->Root());
//   EMBER_ASSIGN_OR_RETURN(std::optional<Object> dense,
//                          root.Find("model_weights/dense"));
//   EMBER_ASSIGN_OR_RETURN(auto names, dense->Strings("weight_names"));
//
// Ember has its own reader because files come from strangers and libhdf5 trusts
// them: Debian 12's h5dump (1.10.8) ended five of 300 copies of a small model,
// each with up to eight bytes changed, with a segmentation fault. libhdf5 also
// brings 30 shared libraries (curl, OpenSSL, LDAP …), and copies data that can
// stay mapped.
//
// It reads superblocks 0 to 3 (also after a user block), object headers 1 and
// 2, groups as symbol tables, links and dense links, compact and dense
// attributes, datasets that are compact, contiguous or chunked with a B-tree of
// version 1 or as a single chunk, and the filters deflate, shuffle and
// Fletcher-32 (whose checksum is not compared). These are errors that name the
// feature: other indices of chunks, other filters, external and virtual
// storage, shared header messages. Soft and external links are left out.
//
// Source: HDF5 File Format Specification Version 3.0 (The HDF Group).
//
// Contiguous little-endian data stay in the file's memory, which Dataset's
// `owner` keeps alive. Every read is checked against the file's end. The memory
// and time for structures, names, strings and chunks are bounded by a multiple
// of the file's size, however they refer to each other. Errors are one line.
// Not thread-safe: a File caches the structures that it has read.
#ifndef EMBER_FRONTENDS_HDF5_FILE_H_
#define EMBER_FRONTENDS_HDF5_FILE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_cursor.h"
#include "base/dtype.h"
#include "base/status.h"

namespace ember::hdf5 {

class File;

struct Dataset {
  DType dtype = DType::kF32;
  std::vector<int64_t> dims;
  // `bytes`: the elements, row-major and little-endian, which `owner` keeps
  // alive.
  std::shared_ptr<const void> owner;
  std::span<const uint8_t> bytes;
};

// A group or a dataset. It is a value type, and is valid as long as its File.
class Object {
 public:
  // Returns the names in a group, in the order of the file; empty for a
  // dataset.
  StatusOr<std::vector<std::string>> Names() const;
  // Finds an object by a path relative to this group, such as "a/b"; nullopt if
  // there is no such object.
  StatusOr<std::optional<Object>> Find(std::string_view path) const;
  // Returns the strings of an attribute (one if it is a scalar); nullopt if
  // there is no such attribute. Fails if it is not of strings.
  StatusOr<std::optional<std::vector<std::string>>> Strings(
      std::string_view attribute) const;
  StatusOr<bool> IsDataset() const;
  // Reads a dataset of numbers; booleans have the type kBool.
  StatusOr<Dataset> Read() const;

 private:
  friend class File;
  Object(File* file, uint64_t address) : file_(file), address_(address) {}
  File* file_;
  uint64_t address_;
};

class File {
 public:
  // `owner` keeps the bytes alive. Objects point to the result, so it must not
  // be copied or moved.
  static StatusOr<std::shared_ptr<File>> Open(
      std::span<const uint8_t> bytes, std::shared_ptr<const void> owner);
  // True if the contents have the signature of an HDF5 file.
  static bool IsFile(std::string_view contents);

  StatusOr<Object> Root() { return Object(this, root_); }

 private:
  friend class Object;
  struct Message {
    uint64_t type = 0;
    bool shared = false;
    std::span<const uint8_t> data;
  };
  using Messages = std::vector<Message>;
  struct Link {
    std::string name;
    uint64_t address = 0;
  };
  struct Group {
    std::vector<Link> links;
    std::map<std::string, uint64_t, std::less<>> by_name;
  };
  // An element's type.
  struct Type {
    enum class Kind : uint8_t {
      kInteger,
      kFloat,
      kBool,
      kText,
      kVlenText,
      kOther
    };
    Kind kind = Kind::kOther;
    uint64_t size = 0;
    bool is_signed = false;
    bool is_big_endian = false;
    // If `kind` is kOther: the number of the type's class in HDF5.
    uint64_t description = 0;
  };
  // The parts of the message that defines an attribute; they point into the
  // file.
  struct AttributeParts {
    std::string_view name;
    // True if the attribute's type is stored elsewhere (a shared message).
    bool is_shared = false;
    std::span<const uint8_t> type, space, data;
  };
  using AttributesByName = std::map<std::string_view, AttributeParts>;
  struct Attribute {
    Type type;
    std::vector<int64_t> dims;
    std::span<const uint8_t> data;
  };
  struct Filter {
    uint64_t id = 0;
    // Bytes of an element, which the filter shuffle needs; unused by other
    // filters.
    uint64_t element_size = 0;
  };

  File(std::span<const uint8_t> bytes, std::shared_ptr<const void> owner);
  Status ReadSuperblock();
  // Returns the bytes at an address, charged against the budget of the file.
  StatusOr<std::span<const uint8_t>> At(uint64_t address, uint64_t size);
  // Returns the bytes from the address to the end of the file; not charged.
  StatusOr<std::span<const uint8_t>> From(uint64_t address) const;
  Status Charge(uint64_t size);
  bool IsDefined(uint64_t address) const;
  uint64_t Address(ByteCursor& in) const;
  uint64_t Length(ByteCursor& in) const;

  // header.cc: object headers.
  StatusOr<const Messages*> Header(uint64_t address);
  StatusOr<Messages> ReadHeader(uint64_t address);
  // The layout of the fields before a header message, which depends on the
  // header's version: the type (`type_width` bytes), two bytes of size, one
  // byte of flags, and `unused` bytes.
  struct MessageLayout {
    int type_width = 2;
    uint64_t unused = 3;
    uint64_t prefix() const {
      return static_cast<uint64_t>(type_width) + 3 + unused;
    }
  };
  Status ReadMessages(std::span<const uint8_t> block,
                      const MessageLayout& layout, Messages& messages,
                      std::vector<std::pair<uint64_t, uint64_t>>& more);
  static const Message* FindMessage(const Messages& messages, uint64_t type);

  // These functions read the links, names, heaps and trees of groups. They are
  // defined in groups.cc.
  StatusOr<const Group*> GroupAt(uint64_t address);
  StatusOr<Group> ReadGroup(uint64_t address);
  Status ReadSymbolTable(uint64_t tree, uint64_t heap, Group& group);
  Status ReadSymbolTree(uint64_t tree, int level,
                        std::span<const uint8_t> names, Group& group);
  Status ReadSymbolNode(uint64_t address, std::span<const uint8_t> names,
                        Group& group);
  Status ReadLink(std::span<const uint8_t> message, Group& group);
  // Returns the objects of a fractal heap that the records of a B-tree of
  // version 2 name: dense links (type 5) and dense attributes (type 8).
  StatusOr<std::vector<std::span<const uint8_t>>> ReadDense(uint64_t heap,
                                                            uint64_t tree);

  // attributes.cc
  StatusOr<std::optional<Attribute>> FindAttribute(uint64_t address,
                                                   std::string_view name);
  // Returns the attributes of an object; if several have the same name, only
  // the first.
  StatusOr<const AttributesByName*> AttributesAt(uint64_t address);
  StatusOr<AttributesByName> ReadAttributes(uint64_t address);
  static StatusOr<AttributeParts> TakeApart(std::span<const uint8_t> message);
  StatusOr<Attribute> ReadAttribute(const AttributeParts& parts) const;
  StatusOr<Type> ReadType(std::span<const uint8_t> message) const;
  StatusOr<std::vector<int64_t>> ReadDims(
      std::span<const uint8_t> message) const;
  StatusOr<std::vector<std::string>> ReadTexts(const Attribute& attribute);
  StatusOr<std::string> ReadVlenText(std::span<const uint8_t> reference);

  // datasets.cc
  StatusOr<Dataset> DatasetAt(uint64_t address);
  StatusOr<Dataset> ReadDataset(uint64_t address);
  StatusOr<std::vector<Filter>> ReadFilters(
      std::span<const uint8_t> message) const;
  // Returns one chunk's bytes, `size` of them, after undoing the filters.
  StatusOr<std::vector<uint8_t>> Unfilter(std::span<const uint8_t> stored,
                                          const std::vector<Filter>& filters,
                                          uint64_t mask, uint64_t size) const;
  struct Chunks;
  Status ReadChunkTree(uint64_t tree, int level, const Chunks& chunks,
                       std::vector<uint8_t>& result);
  Status CopyChunk(const Chunks& chunks, std::span<const uint64_t> offset,
                   std::span<const uint8_t> stored, uint64_t mask,
                   std::vector<uint8_t>& result);

  std::span<const uint8_t> bytes_;
  std::shared_ptr<const void> owner_;
  uint64_t base_ = 0;
  int address_width_ = 8;
  int length_width_ = 8;
  uint64_t root_ = 0;
  uint64_t budget_ = 0;
  std::map<uint64_t, Messages> headers_;
  std::map<uint64_t, Group> groups_;
  std::map<uint64_t, AttributesByName> attributes_;
  std::map<uint64_t, Dataset> datasets_;
};

}  // namespace ember::hdf5

#endif  // EMBER_FRONTENDS_HDF5_FILE_H_
