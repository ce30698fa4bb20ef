// A TensorFlow Lite file that has been checked, so that the rest of the
// frontend reads only within range.
//
//   EMBER_ASSIGN_OR_RETURN(std::shared_ptr<const Model> model,
//                          Model::Read(file.bytes(), owner));
//   for (const schema::Operator* op : model->OperatorsOf(0))
//     model->NameOf(*op);   // "CONV_2D"
//
// Checked: FlatBuffers' own structure (with limits on depth and tables), the
// version, that every index is in range, that shapes are not negative and that
// constants have as many bytes as their types say. Weights stay in the file's
// memory. Errors are one line. Immutable.
#ifndef EMBER_FRONTENDS_TFLITE_MODEL_H_
#define EMBER_FRONTENDS_TFLITE_MODEL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"
#include "frontends/tflite/schema_generated.h"

namespace ember::tflite {

// The relation of stored integers to the numbers that they represent: real =
// scale * (stored - zero_point). There is one scale, or one per slice of
// `axis`.
struct Quantization {
  std::vector<float> scales;
  std::vector<int64_t> zero_points;  // The zero points, one for each scale.
  int axis = 0;

  bool per_tensor() const { return scales.size() == 1; }
  float scale() const { return scales.front(); }
  int64_t zero_point() const { return zero_points.front(); }
  bool operator==(const Quantization&) const = default;
};

class Model {
 public:
  // Checks a model. `owner` keeps the bytes alive.
  static StatusOr<std::shared_ptr<const Model>> Read(
      std::span<const uint8_t> bytes, std::shared_ptr<const void> owner);
  // True if the contents have the file identifier.
  static bool IsModel(std::string_view contents);

  const schema::Model& root() const { return *root_; }
  int subgraph_count() const {
    return static_cast<int>(root_->subgraphs()->size());
  }
  const schema::SubGraph& subgraph(int index) const {
    return *root_->subgraphs()->Get(static_cast<uint32_t>(index));
  }
  const schema::Tensor& tensor(int subgraph_index, int index) const {
    return *subgraph(subgraph_index)
                .tensors()
                ->Get(static_cast<uint32_t>(index));
  }
  std::span<const int32_t> InputsOf(int subgraph) const;
  std::span<const int32_t> OutputsOf(int subgraph) const;
  std::vector<const schema::Operator*> OperatorsOf(int subgraph) const;

  // Returns the number of the builtin operator, from whichever field of the
  // file has it; CUSTOM for custom operators.
  schema::BuiltinOperator CodeOf(const schema::Operator& op) const;
  // Returns the name of an operator on one line: that of a builtin operator,
  // such as "CONV_2D", or the name of a custom operator.
  std::string NameOf(const schema::Operator& op) const;
  std::span<const uint8_t> CustomOptions(const schema::Operator& op) const;

  // Returns the bytes of a constant tensor; empty for other tensors.
  std::span<const uint8_t> BytesOf(const schema::Tensor& tensor) const;
  bool IsConstant(const schema::Tensor& tensor) const {
    return tensor.buffer() != 0 && !BytesOf(tensor).empty();
  }
  const std::shared_ptr<const void>& owner() const { return owner_; }

 private:
  Model(std::span<const uint8_t> bytes, std::shared_ptr<const void> owner);
  Status Check();
  Status CheckSubgraph(int index);
  Status CheckTensor(const schema::Tensor& tensor) const;
  Status CheckSignatures();
  // Charges bytes against a budget, each time that another object refers to an
  // object. This bounds memory and time for a model by a multiple of its file's
  // size.
  Status Charge(uint64_t bytes);
  Status ChargeTensor(const schema::Tensor& tensor);
  Status ChargeOperator(const schema::Operator& op);

  std::span<const uint8_t> bytes_;
  std::shared_ptr<const void> owner_;
  const schema::Model* root_ = nullptr;
  uint64_t budget_;
};

// Returns the elements of a vector that may be absent. Elements of 8 bytes need
// IntegersOf: a verified file aligns vectors to 4 bytes only, whatever their
// elements are.
template <typename T>
  requires(alignof(T) <= sizeof(flatbuffers::uoffset_t))
std::span<const T> SpanOf(const flatbuffers::Vector<T>* vector) {
  if (vector == nullptr) return {};
  return {vector->data(), vector->size()};
}
std::vector<int64_t> IntegersOf(const flatbuffers::Vector<int64_t>* vector);
std::string_view ViewOf(const flatbuffers::String* text);
// Returns a text of the file, converted to one line.
std::string TextOf(const flatbuffers::String* text);
std::string NameOfTensor(const schema::Tensor& tensor);

// Returns the dtype in which a tensor type is held; nullopt for types without
// one: complex numbers, resources. Strings are handles (i64 numbers of interned
// strings), and 4-bit integers are held in i8.
std::optional<DType> DTypeOf(schema::TensorType type);
std::string TypeName(schema::TensorType type);

// Returns the quantization of a tensor that has scales; else nullopt.
std::optional<Quantization> QuantizationOf(const schema::Tensor& tensor);

}  // namespace ember::tflite

#endif  // EMBER_FRONTENDS_TFLITE_MODEL_H_
