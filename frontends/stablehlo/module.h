// A StableHLO module as a plain tree: functions, regions, operations, types and
// attributes, whatever form (MLIR's text or its bytecode) it was read from.
//
//   EMBER_ASSIGN_OR_RETURN(const Module module, ParseModule(text));
//   for (const Operation& operation : module.functions[0].body.operations)
//     operation.name;   // "stablehlo.add"
//   PrintModule(module);   // MLIR's generic form, which parses back
//
// SSA values are numbers of their function (Function::values), arguments of the
// function first; a reader has resolved all names, so that each operand is
// defined before its use in the same region or in one around it. Every region
// has one block.
//
// Names are those of today's StableHLO: the older dialect's "mhlo." reads as
// "stablehlo.". Owns everything but the bytes of constants, which `owner`
// keeps. Thread-compatible.
//
// Source: the MLIR language reference and the StableHLO specification.
#ifndef EMBER_FRONTENDS_STABLEHLO_MODULE_H_
#define EMBER_FRONTENDS_STABLEHLO_MODULE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/dtype.h"

namespace ember::stablehlo {

// How deep types, attributes and regions may be in each other.
inline constexpr int kMaximumDepth = 48;

// Stands for '?' among dims.
inline constexpr int64_t kDynamic = -1;

struct Type {
  enum class Kind : uint8_t {
    kTensor,
    kUnranked,  // tensor<*xf32>
    kScalar,    // f32, i64, index: of numbers in attributes
    kTuple,
    kToken,
    kFunction,
    kOther,  // anything else; `element` is its text
  };
  Kind kind = Kind::kOther;
  // Of tensors and scalars, as MLIR spells it: "f32", "i1", "complex<f32>".
  std::string element;
  std::vector<int64_t> dims;
  // What follows the element type of a tensor, as written.
  std::string encoding;
  std::vector<Type> inputs;   // of functions
  std::vector<Type> results;  // of functions; members of a tuple

  bool is_tensor() const { return kind == Kind::kTensor; }
  bool operator==(const Type&) const = default;
};

// "tensor<2x?xf32>", as MLIR writes it.
std::string ToString(const Type& type);
Type TensorOf(std::string element, std::vector<int64_t> dims);
// Nullopt for element types that Ember has no dtype for.
std::optional<DType> DTypeOf(std::string_view element);
// Bytes of one element as constants hold it, complex numbers and types that
// have no dtype included; nullopt if not known.
std::optional<int64_t> ElementBytes(std::string_view element);

// A constant: row-major, little-endian, bool as one byte.
struct Elements {
  std::shared_ptr<const void> owner;
  std::span<const uint8_t> bytes;
  // One element stands for all.
  bool splat = false;
  // Not empty: the bytes are the module's resource of this name.
  std::string resource;
};

struct NamedAttribute;
using AttributeList = std::vector<NamedAttribute>;

struct Attribute {
  enum class Kind : uint8_t {
    kUnit,
    kBool,        // integer
    kInteger,     // integer, type
    kFloat,       // number, type
    kString,      // text
    kSymbol,      // text, of @text
    kType,        // type
    kArray,       // array
    kIntegers,    // integers, type: array<i64: …>
    kNumbers,     // numbers, type: array<f32: …>
    kDictionary,  // entries
    kElements,    // elements, type
    kEnum,        // text: #stablehlo<… TEXT>
    kStruct,      // text, entries: #stablehlo.text<…>
    kOther,       // text as written
  };
  Kind kind = Kind::kUnit;
  int64_t integer = 0;
  double number = 0;
  std::string text;
  Type type;
  std::vector<Attribute> array;
  std::vector<int64_t> integers;
  std::vector<double> numbers;
  AttributeList entries;
  std::shared_ptr<const Elements> elements;
};

struct NamedAttribute {
  std::string name;
  Attribute value;
};

// 64 bits each.
Attribute IntegerAttribute(int64_t value);
Attribute IntegersAttribute(std::vector<int64_t> values);

// Null if there is none of the name.
const Attribute* FindAttribute(const AttributeList& attributes,
                               std::string_view name);

struct Region;

struct Operation {
  std::string name;
  std::vector<int> operands;
  std::vector<int> results;
  AttributeList attributes;
  std::vector<Region> regions;
  // Where it is in the text; of bytecode, its number and 0.
  int line = 0;
  int column = 0;
};

struct Region {
  std::vector<int> arguments;
  std::vector<Operation> operations;
};

struct Value {
  Type type;
  std::string name;  // of arguments that have one
};

struct Function {
  std::string name;
  bool is_private = false;
  bool has_body = false;
  Type type;
  std::vector<AttributeList> argument_attributes;
  std::vector<AttributeList> result_attributes;
  std::vector<Value> values;
  Region body;
};

struct Module {
  std::string name;
  // Of bytecode: what wrote it.
  std::string producer;
  AttributeList attributes;
  std::vector<Function> functions;
  // Without the alignment that MLIR writes before each.
  std::map<std::string, Elements, std::less<>> resources;

  const Function* Find(std::string_view function) const;
  // False, and nothing is added, if there is one of the name.
  bool Add(Function function);

 private:
  std::map<std::string, size_t, std::less<>> numbers_;  // of functions
};

// How many values a value is with all that is in it, and how deep they are in
// each other: what names stand for may not grow without end. A text counts as a
// value for each 64 bytes, so do 8 dims.
struct Extent {
  int64_t size = 1;
  int depth = 1;

  void Add(const Extent& part) {
    size += part.size;
    depth = part.depth >= depth ? part.depth + 1 : depth;
  }
};
Extent ExtentOf(const Type& type);
Extent ExtentOf(const Attribute& attribute);
// What the texts and dims of a value itself count, without those of the values
// in it.
int64_t OwnTextSize(const Type& type);
int64_t OwnTextSize(const Attribute& attribute);
// Of all that names stand for in one file.
inline constexpr int64_t kMaximumNamedSize = 1 << 22;

std::string PrintModule(const Module& module);

}  // namespace ember::stablehlo

#endif  // EMBER_FRONTENDS_STABLEHLO_MODULE_H_
