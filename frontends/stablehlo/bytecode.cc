#include "frontends/stablehlo/bytecode.h"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "base/one_line.h"
#include "frontends/stablehlo/bytecode_attributes.h"
#include "frontends/stablehlo/bytecode_cursor.h"

namespace ember::stablehlo {
namespace {

constexpr std::string_view kMagic = "ML\xefR";
constexpr uint64_t kNewestVersion = 6;
// Versions of the bytecode format, named by the feature that they introduced:
// version numbers of dialects (1), regions as sections of their own (2), use
// orders of the arguments of blocks (3), the count of operation names (4),
// properties (5).
constexpr uint64_t kVersioned = 1, kLazyRegions = 2, kUseListOrders = 3,
                   kCountedNames = 4, kProperties = 5;

enum Section : uint8_t {
  kStringSection = 0,
  kDialectSection = 1,
  kAttrTypeSection = 2,
  kAttrTypeOffsetSection = 3,
  kIrSection = 4,
  kDialectVersionsSection = 7,
  kPropertiesSection = 8,
  kSectionCount = 9,
};

// Bits of an operation that say which of its parts are present.
constexpr uint8_t kHasAttributes = 1, kHasResults = 2, kHasOperands = 4,
                  kHasSuccessors = 8, kHasRegions = 16, kHasUseLists = 32,
                  kHasProperties = 64;

struct OperationName {
  std::string text;
  bool is_registered = true;
};

// Returns the present name of an operation with its dialect, such as
// "stablehlo.dot_general" for "vhlo.dot_general_v2".
std::string FullName(std::string_view dialect, std::string_view name) {
  if (dialect != "vhlo" && dialect != "mhlo")
    return std::string(dialect) + "." + std::string(name);
  if (dialect == "vhlo") {
    const size_t version = name.rfind("_v");
    if (version != std::string_view::npos) name = name.substr(0, version);
    if (name == "func" || name == "call" || name == "return")
      return "func." + std::string(name);
  }
  return "stablehlo." + std::string(name);
}

class BytecodeReader {
 public:
  BytecodeReader(std::string_view contents, std::shared_ptr<const void> owner)
      : bytes_(AsBytes(contents)), owner_(std::move(owner)) {}

  StatusOr<Module> Read() {
    EMBER_RETURN_IF_ERROR(ReadSections());
    EMBER_RETURN_IF_ERROR(ReadStrings());
    EMBER_RETURN_IF_ERROR(ReadDialects());
    EMBER_RETURN_IF_ERROR(ReadOffsets());
    EMBER_RETURN_IF_ERROR(ReadProperties());
    BytecodeCursor ir(sections_[kIrSection]);
    const uint64_t block = ir.Varint();
    if (!ir.ok() || block >> 1 != 1 || (block & 1) != 0)
      return DataLossError("expected one module in the bytecode");
    EMBER_RETURN_IF_ERROR(ReadTop(ir, 0));
    return std::move(module_);
  }

 private:
  // The fields of an encoded operation that precede its regions.
  struct Header {
    Operation operation;
    std::vector<Type> results;
    // The numbers of the operands, which are indices of Scope::values.
    std::vector<uint64_t> operands;
    uint64_t regions = 0;
    bool isolated = false;
  };
  // The values that operations of a region refer to by number. The numbers of a
  // region continue those of the enclosing regions.
  struct Scope {
    Function* function = nullptr;
    // Index in the function of each numbered value; -1 if the value is not
    // defined yet.
    std::vector<int> values;
    size_t next = 0;
  };

  static Status Damaged(std::string_view what) {
    return DataLossError("bytecode: damaged " + std::string(what));
  }

  // Returns the contents of the section that begins at the cursor.
  StatusOr<std::pair<uint8_t, std::span<const uint8_t>>> ReadSection(
      BytecodeCursor& cursor, size_t base) {
    const uint8_t id = cursor.Byte();
    const uint64_t length = cursor.Varint();
    if ((id & 0x80) != 0) {
      const uint64_t alignment = cursor.Varint();
      if (alignment == 0 || alignment > 4096 ||
          (alignment & (alignment - 1)) != 0)
        return Damaged("alignment of a section");
      while (cursor.ok() && (base + cursor.position()) % alignment != 0)
        cursor.Byte();
    }
    const auto data = cursor.Take(length);
    if (!cursor.ok()) return Damaged("section");
    return std::pair(static_cast<uint8_t>(id & 0x7f), data);
  }

  size_t OffsetOf(std::span<const uint8_t> part) const {
    return static_cast<size_t>(part.data() - bytes_.data());
  }

  Status ReadSections() {
    BytecodeCursor cursor(bytes_);
    cursor.Take(kMagic.size());
    version_ = cursor.Varint();
    module_.producer = std::string(cursor.Terminated());
    if (!cursor.ok()) return Damaged("header");
    if (version_ > kNewestVersion)
      return UnimplementedError(
          "bytecode: expected version 0 to " + std::to_string(kNewestVersion) +
          " of the format, found " + std::to_string(version_));
    while (!cursor.AtEnd()) {
      EMBER_ASSIGN_OR_RETURN(const auto section, ReadSection(cursor, 0));
      if (section.first < kSectionCount)
        sections_[section.first] = section.second;
    }
    return OkStatus();
  }

  Status ReadStrings() {
    BytecodeCursor cursor(sections_[kStringSection]);
    const uint64_t count = cursor.Count();
    std::vector<uint64_t> sizes(count);
    for (uint64_t i = count; i-- > 0;) sizes[i] = cursor.Varint();
    for (const uint64_t size : sizes) {
      const auto text = cursor.Take(size);
      if (!cursor.ok() || text.empty()) return Damaged("strings");
      // The string is stored with a final zero byte, which is removed.
      strings_.push_back(AsText(text.first(text.size() - 1)));
    }
    return cursor.ok() ? OkStatus() : Damaged("strings");
  }

  StatusOr<std::string_view> String(uint64_t number) const {
    if (number < strings_.size()) return strings_[number];
    return Damaged("string number");
  }

  Status ReadDialects() {
    BytecodeCursor cursor(sections_[kDialectSection]);
    const size_t base = OffsetOf(sections_[kDialectSection]);
    const uint64_t count = cursor.Count();
    for (uint64_t i = 0; i < count; ++i) {
      uint64_t name = cursor.Varint();
      if (version_ >= kVersioned) {
        if ((name & 1) != 0)
          EMBER_RETURN_IF_ERROR(ReadSection(cursor, base).status());
        name >>= 1;
      }
      EMBER_ASSIGN_OR_RETURN(dialects_.emplace_back(), String(name));
    }
    if (version_ >= kCountedNames) cursor.Varint();
    while (cursor.ok() && !cursor.AtEnd()) {
      const uint64_t dialect = cursor.Varint();
      const uint64_t names = cursor.Count();
      if (dialect >= dialects_.size()) return Damaged("dialect number");
      for (uint64_t i = 0; i < names; ++i) {
        uint64_t number = cursor.Varint();
        OperationName name;
        if (version_ >= kProperties) {
          name.is_registered = (number & 1) != 0;
          number >>= 1;
        }
        EMBER_ASSIGN_OR_RETURN(const std::string_view text, String(number));
        name.text = FullName(dialects_[dialect], text);
        names_.push_back(std::move(name));
      }
    }
    return cursor.ok() ? OkStatus() : Damaged("dialects");
  }

  Status ReadOffsets() {
    BytecodeCursor cursor(sections_[kAttrTypeOffsetSection]);
    BytecodeCursor data(sections_[kAttrTypeSection]);
    const uint64_t attribute_count = cursor.Varint();
    const uint64_t type_count = cursor.Varint();
    const uint64_t size = sections_[kAttrTypeOffsetSection].size();
    if (!cursor.ok() || attribute_count > size || type_count > size)
      return Damaged("attributes");
    std::vector<EncodedEntry> attributes, types;
    for (auto [entries, count] : {std::pair(&attributes, attribute_count),
                                  std::pair(&types, type_count)}) {
      while (entries->size() < count) {
        const uint64_t dialect = cursor.Varint();
        const uint64_t group = cursor.Count();
        if (!cursor.ok() || dialect >= dialects_.size() || group == 0)
          return Damaged("attributes");
        for (uint64_t i = 0; i < group; ++i) {
          const uint64_t entry = cursor.Varint();
          const auto bytes = data.Take(entry >> 1);
          if (!data.ok()) return Damaged("attributes");
          entries->push_back({.dialect = dialects_[dialect],
                              .bytes = bytes,
                              .is_text = (entry & 1) == 0});
        }
      }
    }
    attributes_ = std::make_unique<BytecodeAttributes>(
        std::move(attributes), std::move(types), strings_, owner_);
    return OkStatus();
  }

  Status ReadProperties() {
    BytecodeCursor cursor(sections_[kPropertiesSection]);
    if (cursor.AtEnd()) return OkStatus();
    const uint64_t count = cursor.Count();
    for (uint64_t i = 0; i < count; ++i)
      properties_.push_back(cursor.Take(cursor.Varint()));
    return cursor.ok() ? OkStatus() : Damaged("properties");
  }

  // Adds the properties of an operation as attributes.
  Status AddProperties(const OperationName& name, uint64_t number,
                       AttributeList& attributes) {
    if (number >= properties_.size()) return Damaged("property number");
    BytecodeCursor cursor(properties_[number]);
    if (!name.is_registered) {
      EMBER_ASSIGN_OR_RETURN(Attribute all,
                             attributes_->GetAttribute(cursor.Varint()));
      for (auto& entry : all.entries) attributes.push_back(std::move(entry));
      return OkStatus();
    }
    struct Property {
      std::string_view name;
      bool is_optional;
    };
    static constexpr Property kModule[] = {{"sym_name", true},
                                           {"sym_visibility", true}};
    static constexpr Property kFunction[] = {{"arg_attrs", true},
                                             {"function_type", false},
                                             {"res_attrs", true},
                                             {"sym_name", false},
                                             {"sym_visibility", true}};
    std::span<const Property> layout;
    if (name.text == "builtin.module") layout = kModule;
    if (name.text == "func.func") layout = kFunction;
    if (layout.empty() && name.text == "func.call") {
      static constexpr Property kCall[] = {{"callee", false}};
      layout = kCall;
    }
    if (layout.empty())
      return UnimplementedError(
          "bytecode: the properties of '" + OnOneLine(name.text) +
          "' are known to its dialect only; expected a portable artifact "
          "(vhlo), or text");
    for (const Property& property : layout) {
      uint64_t value = cursor.Varint();
      if (property.is_optional) {
        if ((value & 1) == 0) continue;
        value >>= 1;
      }
      attributes.emplace_back(std::string(property.name), Attribute());
      EMBER_ASSIGN_OR_RETURN(attributes.back().value,
                             attributes_->GetAttribute(value));
    }
    return cursor.ok() ? OkStatus() : Damaged("properties");
  }

  StatusOr<Header> ReadHeader(BytecodeCursor& cursor) {
    Header header;
    const uint64_t number = cursor.Varint();
    const uint8_t mask = cursor.Byte();
    cursor.Varint();  // Skips the operation's location.
    if (!cursor.ok() || number >= names_.size()) return Damaged("operation");
    const OperationName& name = names_[number];
    header.operation.name = name.text;
    header.operation.line = ++operations_;
    if ((mask & kHasAttributes) != 0) {
      EMBER_ASSIGN_OR_RETURN(Attribute attributes,
                             attributes_->GetAttribute(cursor.Varint()));
      header.operation.attributes = std::move(attributes.entries);
    }
    if ((mask & kHasProperties) != 0)
      EMBER_RETURN_IF_ERROR(
          AddProperties(name, cursor.Varint(), header.operation.attributes));
    if ((mask & kHasResults) != 0) {
      const uint64_t count = cursor.Count();
      for (uint64_t i = 0; i < count; ++i) {
        EMBER_ASSIGN_OR_RETURN(header.results.emplace_back(),
                               attributes_->GetType(cursor.Varint()));
      }
    }
    if ((mask & kHasOperands) != 0) {
      const uint64_t count = cursor.Count();
      for (uint64_t i = 0; i < count; ++i)
        header.operands.push_back(cursor.Varint());
    }
    if ((mask & kHasSuccessors) != 0)
      return UnimplementedError("bytecode: '" + OnOneLine(name.text) +
                                "' has successors; expected one block in a "
                                "region");
    if ((mask & kHasUseLists) != 0)
      EMBER_RETURN_IF_ERROR(SkipUseLists(cursor, header.results.size()));
    if ((mask & kHasRegions) != 0) {
      const uint64_t regions = cursor.Varint();
      header.regions = regions >> 1;
      header.isolated = (regions & 1) != 0;
    }
    return cursor.ok() ? StatusOr<Header>(std::move(header))
                       : Damaged("operation");
  }

  // Skips the orders in which values are used, which do not change the program.
  static Status SkipUseLists(BytecodeCursor& cursor, size_t values) {
    const uint64_t lists = values == 1 ? 1 : cursor.Count();
    for (uint64_t i = 0; i < lists; ++i) {
      if (values != 1) cursor.Varint();
      const uint64_t encoding = cursor.Varint();
      for (uint64_t k = 0; k < encoding >> 1 && cursor.ok(); ++k)
        cursor.Varint();
    }
    return cursor.ok() ? OkStatus() : Damaged("order of uses");
  }

  // Reads a module or a function.
  Status ReadTop(BytecodeCursor& cursor, int depth) {
    if (depth > kMaxDepth) return Damaged("modules in each other");
    EMBER_ASSIGN_OR_RETURN(const Header header, ReadHeader(cursor));
    const Operation& operation = header.operation;
    const bool is_module = operation.name == "builtin.module";
    if (!is_module && operation.name != "func.func")
      return UnimplementedError(
          "bytecode: expected modules and functions, "
          "found '" +
          OnOneLine(operation.name) + "'");
    if (header.regions != 1) return Damaged("module or function");
    BytecodeCursor inside;
    BytecodeCursor* region = &cursor;
    if (header.isolated && version_ >= kLazyRegions) {
      EMBER_ASSIGN_OR_RETURN(inside, Isolated(cursor));
      region = &inside;
    }
    if (!is_module) return ReadFunction(operation, *region);
    if (depth == 0) {
      for (const auto& [key, value] : operation.attributes) {
        if (key == "sym_name")
          module_.name = value.text;
        else if (key != "sym_visibility")
          module_.attributes.emplace_back(key, value);
      }
    }
    const uint64_t blocks = region->Varint();
    const uint64_t values = blocks == 0 ? 0 : region->Varint();
    if (blocks > 1 || values != 0) return Damaged("module");
    if (blocks == 0) return OkStatus();
    const uint64_t block = region->Varint();
    if (!region->ok() || (block & 1) != 0) return Damaged("module");
    for (uint64_t i = 0; i < block >> 1; ++i)
      EMBER_RETURN_IF_ERROR(ReadTop(*region, depth + 1));
    return OkStatus();
  }

  Status ReadFunction(const Operation& operation, BytecodeCursor& cursor) {
    Function function;
    for (const auto& [key, value] : operation.attributes) {
      if (key == "sym_name") {
        function.name = value.text;
      } else if (key == "function_type") {
        function.type = value.type;
      } else if (key == "sym_visibility") {
        function.is_private = !value.text.empty() && value.text != "public";
      } else if (key == "arg_attrs" || key == "res_attrs") {
        auto& lists = key == "arg_attrs" ? function.argument_attributes
                                         : function.result_attributes;
        for (const Attribute& list : value.array) lists.push_back(list.entries);
      }
    }
    if (function.type.kind != Type::Kind::kFunction) return Damaged("function");
    function.argument_attributes.resize(function.type.inputs.size());
    function.result_attributes.resize(function.type.results.size());
    Scope scope;
    scope.function = &function;
    EMBER_RETURN_IF_ERROR(ReadRegion(cursor, scope, function.body, 0));
    function.has_body = !function.body.operations.empty();
    if (function.has_body &&
        function.body.arguments.size() != function.type.inputs.size())
      return Damaged("arguments of a function");
    return module_.Add(std::move(function)) ? OkStatus()
                                            : Damaged("function's name");
  }

  Status Define(const Type& type, Scope& scope, std::vector<int>& defined) {
    if (scope.next >= scope.values.size()) return Damaged("number of values");
    const int value = static_cast<int>(scope.function->values.size());
    scope.function->values.push_back({.type = type, .name = ""});
    scope.values[scope.next++] = value;
    defined.push_back(value);
    return OkStatus();
  }

  Status ReadRegion(BytecodeCursor& cursor, Scope& scope, Region& region,
                    int depth) {
    if (depth > kMaxDepth) return Damaged("regions in each other");
    const uint64_t blocks = cursor.Varint();
    if (blocks == 0 && cursor.ok()) return OkStatus();
    const uint64_t values = cursor.Count();
    const uint64_t block = cursor.Varint();
    if (!cursor.ok()) return Damaged("region");
    if (blocks != 1)
      return UnimplementedError(
          "bytecode: expected one block in a region, "
          "found " +
          std::to_string(blocks));
    // A value is counted by its region and by each enclosing region, and takes
    // at least one byte of the file. The sum of the counts is therefore
    // bounded.
    region_values_ += values;
    if (region_values_ > (kMaxDepth + 1) * bytes_.size())
      return Damaged("number of values");
    const size_t before = scope.values.size();
    const size_t next = std::exchange(scope.next, before);
    scope.values.resize(before + values, -1);
    if ((block & 1) != 0)
      EMBER_RETURN_IF_ERROR(ReadArguments(cursor, scope, region));
    const uint64_t count = block >> 1;
    for (uint64_t i = 0; i < count; ++i) {
      EMBER_ASSIGN_OR_RETURN(Header header, ReadHeader(cursor));
      Operation& operation = header.operation;
      for (const uint64_t operand : header.operands) {
        if (operand >= scope.values.size() || scope.values[operand] < 0)
          return DataLossError("bytecode: operation " +
                               std::to_string(operation.line) + " '" +
                               OnOneLine(operation.name) +
                               "': expected values that are defined before");
        operation.operands.push_back(scope.values[operand]);
      }
      for (const Type& type : header.results)
        EMBER_RETURN_IF_ERROR(Define(type, scope, operation.results));
      EMBER_RETURN_IF_ERROR(
          ReadInner(header, cursor, scope, operation, depth + 1));
      region.operations.push_back(std::move(operation));
    }
    scope.values.resize(before);
    scope.next = next;
    return OkStatus();
  }

  // Reads the regions of an operation. An isolated region, which uses no values
  // of enclosing regions, counts its values from 0 and is in a section of its
  // own.
  Status ReadInner(const Header& header, BytecodeCursor& cursor, Scope& scope,
                   Operation& operation, int depth) {
    Scope own;
    own.function = scope.function;
    BytecodeCursor section;
    BytecodeCursor* inside = &cursor;
    if (header.isolated && header.regions > 0 && version_ >= kLazyRegions) {
      EMBER_ASSIGN_OR_RETURN(section, Isolated(cursor));
      inside = &section;
    }
    for (uint64_t k = 0; k < header.regions; ++k)
      EMBER_RETURN_IF_ERROR(ReadRegion(*inside, header.isolated ? own : scope,
                                       operation.regions.emplace_back(),
                                       depth));
    return OkStatus();
  }

  // Returns the section that holds the regions of an isolated operation.
  StatusOr<BytecodeCursor> Isolated(BytecodeCursor& cursor) {
    // Padding of nested sections would be relative to the file's beginning,
    // which is unknown here; no writer emits such padding.
    EMBER_ASSIGN_OR_RETURN(const auto section, ReadSection(cursor, 0));
    if (section.first != kIrSection) return Damaged("region");
    return BytecodeCursor(section.second);
  }

  Status ReadArguments(BytecodeCursor& cursor, Scope& scope, Region& region) {
    const uint64_t count = cursor.Count();
    for (uint64_t i = 0; i < count; ++i) {
      uint64_t type = cursor.Varint();
      bool has_location = true;
      if (version_ >= kCountedNames) {
        has_location = (type & 1) != 0;
        type >>= 1;
      }
      if (has_location) cursor.Varint();
      EMBER_ASSIGN_OR_RETURN(const Type read, attributes_->GetType(type));
      EMBER_RETURN_IF_ERROR(Define(read, scope, region.arguments));
    }
    if (version_ >= kUseListOrders && cursor.Byte() != 0)
      EMBER_RETURN_IF_ERROR(SkipUseLists(cursor, count));
    return cursor.ok() ? OkStatus() : Damaged("arguments");
  }

  std::span<const uint8_t> bytes_;
  std::shared_ptr<const void> owner_;
  uint64_t version_ = 0;
  std::array<std::span<const uint8_t>, kSectionCount> sections_;
  std::vector<std::string_view> strings_, dialects_;
  std::vector<OperationName> names_;
  std::vector<std::span<const uint8_t>> properties_;
  std::unique_ptr<BytecodeAttributes> attributes_;
  int operations_ = 0;
  // Sum of the value counts of all regions read so far.
  uint64_t region_values_ = 0;
  Module module_;
};

}  // namespace

bool IsBytecode(std::string_view contents) {
  return contents.starts_with(kMagic);
}

StatusOr<Module> ReadBytecode(std::string_view contents,
                              std::shared_ptr<const void> owner) {
  return BytecodeReader(contents, std::move(owner)).Read();
}

}  // namespace ember::stablehlo
