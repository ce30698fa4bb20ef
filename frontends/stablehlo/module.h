// A StableHLO module as a plain tree: functions, regions, operations, types and
// attributes, independent of the form (MLIR's text or its bytecode) that it was
// read from.
//
//   EMBER_ASSIGN_OR_RETURN(const Module module, ParseModule(text));
//   for (const Operation& operation : module.functions[0].body.operations)
//     operation.name;   // "stablehlo.add"
//   PrintModule(module);   // MLIR's generic form, which parses back
//
// SSA values are numbered per function (Function::values), the function's
// arguments first. A reader has resolved all names, so that each operand is
// defined before its use in the same region or in an enclosing region. Every
// region has one block.
//
// Names are those of the present StableHLO: the older dialect's "mhlo." reads
// as "stablehlo.". Owns everything but the bytes of constants, which `owner`
// keeps alive. Thread-compatible.
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

// Largest nesting depth of types, attributes and regions.
inline constexpr int kMaxDepth = 48;

// The value that represents '?' (an open dim) among dims.
inline constexpr int64_t kDynamic = -1;

struct Type {
  enum class Kind : uint8_t {
    kTensor,
    kUnranked,  // tensor<*xf32>
    // A scalar type such as f32, i64 or index: the type of a number in an
    // attribute.
    kScalar,
    kTuple,
    kToken,
    kFunction,
    kOther,  // A type of any other kind; `element` holds its whole text.
  };
  Kind kind = Kind::kOther;
  // Element type of tensors and scalars, as MLIR spells it: "f32", "i1",
  // "complex<f32>".
  std::string element;
  std::vector<int64_t> dims;
  // MLIR's encoding attribute of a tensor type, as text: what follows the
  // element type.
  std::string encoding;
  std::vector<Type> inputs;  // Types of the inputs of a function.
  // Types of the results of a function, or of the members of a tuple.
  std::vector<Type> results;

  bool is_tensor() const { return kind == Kind::kTensor; }
  bool operator==(const Type&) const = default;
};

// Returns a type as MLIR writes it, such as "tensor<2x?xf32>".
std::string ToString(const Type& type);
Type TensorOf(std::string element, std::vector<int64_t> dims);
// Returns the dtype of an element type; nullopt if Ember has none for it.
std::optional<DType> DTypeOf(std::string_view element);
// Returns the bytes of one element in a constant, also for complex numbers and
// for types without a dtype; nullopt if the type is unknown.
std::optional<int64_t> ElementBytes(std::string_view element);

// The elements of a constant: row-major and little-endian, with bools as one
// byte each.
struct Elements {
  std::shared_ptr<const void> owner;
  std::span<const uint8_t> bytes;
  // True if `bytes` hold only one element, which is the value of all elements.
  bool splat = false;
  // If not empty, the bytes are the module's resource of this name.
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
    kIntegers,    // array<i64: …>, in `integers` and `type`
    kNumbers,     // array<f32: …>, in `numbers` and `type`
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

// These functions make attributes of type i64: a number, and a list of numbers.
Attribute IntegerAttribute(int64_t value);
Attribute IntegersAttribute(std::vector<int64_t> values);

// Returns the attribute of this name; null if there is none.
const Attribute* FindAttribute(const AttributeList& attributes,
                               std::string_view name);

struct Region;

struct Operation {
  std::string name;
  std::vector<int> operands;
  std::vector<int> results;
  AttributeList attributes;
  std::vector<Region> regions;
  // Position of the operation in the text. For bytecode the line is the index
  // of the operation in the module, and the column is 0.
  int line = 0;
  int column = 0;
};

struct Region {
  std::vector<int> arguments;
  std::vector<Operation> operations;
};

struct Value {
  Type type;
  // The name of the value if it is an argument that has one; else "".
  std::string name;
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
  // The name of the program that wrote the bytecode file.
  std::string producer;
  AttributeList attributes;
  std::vector<Function> functions;
  // Resources by name, without the alignment that MLIR writes before each.
  std::map<std::string, Elements, std::less<>> resources;

  const Function* Find(std::string_view function) const;
  // Adds a function; returns false, without adding it, if there is already a
  // function of this name.
  bool Add(Function function);

 private:
  // Index of each function in `functions`, by name.
  std::map<std::string, size_t, std::less<>> numbers_;
};

// The size of a value: the number of values in it, itself included, and their
// nesting depth. Limits on the size bound the expansion of aliases. Each 64
// bytes of text count as a value, and so do 8 dims.
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
// Returns the size of a value's own texts and dims, without the values in it.
int64_t OwnTextSize(const Type& type);
int64_t OwnTextSize(const Attribute& attribute);
// Largest total size of the expanded aliases of one file.
inline constexpr int64_t kMaxNamedSize = 1 << 22;

std::string PrintModule(const Module& module);

}  // namespace ember::stablehlo

#endif  // EMBER_FRONTENDS_STABLEHLO_MODULE_H_
