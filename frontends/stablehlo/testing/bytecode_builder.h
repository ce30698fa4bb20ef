// Makes bytecode files in memory, like the writer of portable artifacts: one
// function of the dialect vhlo.
//
//   BytecodeBuilder b;
//   const int type = b.Type("\x09");
//
// A test aid; not thread-safe.
#ifndef EMBER_FRONTENDS_STABLEHLO_TESTING_BYTECODE_BUILDER_H_
#define EMBER_FRONTENDS_STABLEHLO_TESTING_BYTECODE_BUILDER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ember::stablehlo {

std::string Varint(uint64_t value);
std::string SignedVarint(int64_t value);

class BytecodeBuilder {
 public:
  using Named = std::vector<std::pair<std::string, int>>;  // name, attribute

  int String(std::string_view text);
  // These functions add an attribute or type of vhlo by its encoding, and
  // return its number.
  int Attribute(std::string encoding);
  int Type(const std::string& encoding);

  int Enum(int code, int value) {
    return Attribute(Varint(code) + Varint(value));
  }
  int Text(std::string_view text) {
    return Attribute(Varint(14) + Varint(String(text)));
  }
  int Integers(const std::vector<int64_t>& values);  // tensor<kxi64>
  int TypeAttribute(int type) { return Attribute(Varint(17) + Varint(type)); }
  int Tensor(const std::vector<int64_t>& dims, int element);
  int Function(const std::vector<int>& inputs, const std::vector<int>& results);
  int List(const std::vector<int>& attributes);
  int Dictionary(const Named& entries);

  // Returns the encoding of an operation of the open block. `regions`:
  // encodings of regions.
  std::string Operation(const std::string& name, const Named& attributes,
                        const std::vector<int>& result_types,
                        const std::vector<int>& operands,
                        const std::vector<std::string>& regions = {});
  // Returns the encoding of a region. `values`: number of values that the
  // region defines.
  static std::string Region(const std::vector<int>& arguments, int values,
                            const std::vector<std::string>& operations);
  // Returns a file whose module has one function with this region.
  std::string Finish(int function_type, const std::string& region);

 private:
  int Builtin(std::string encoding);

  struct Entry {
    bool builtin;
    std::string encoding;
  };
  std::vector<std::string> strings_, names_;
  std::vector<Entry> attributes_;
  std::vector<std::string> types_;
};

}  // namespace ember::stablehlo

#endif  // EMBER_FRONTENDS_STABLEHLO_TESTING_BYTECODE_BUILDER_H_
