#include "frontends/tflite/model.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/one_line.h"

namespace ember::tflite {
namespace {

// Limits of the verifier, which bound the work that a small file can cause.
// Real models are far below.
constexpr uint32_t kMaxDepth = 64, kMaxTables = 10'000'000;
constexpr int kMaxRank = 16;
// Each table counts as this many bytes towards the limit, in addition to its
// contents.
constexpr uint64_t kTableBytes = 64;
// Largest value of a buffer's offset field that means "no offset": the buffer's
// data is then inside of the FlatBuffer, not behind it.
constexpr uint64_t kNoOffset = 1;

Status Malformed(std::string message) {
  return DataLossError(std::move(message));
}

std::string Quoted(std::string_view text) {
  return "'" + OnOneLine(text) + "'";
}

template <typename T>
uint64_t BytesIn(const flatbuffers::Vector<T>* vector) {
  return vector == nullptr ? 0 : uint64_t{vector->size()} * sizeof(T);
}
uint64_t BytesIn(const flatbuffers::String* text) {
  return text == nullptr ? 0 : text->size();
}

// Returns the number of elements; nullopt if a dim is negative or the product
// overflows.
std::optional<int64_t> ElementCount(std::span<const int32_t> shape) {
  int64_t count = 1;
  for (const int32_t dim : shape) {
    if (dim < 0 || __builtin_mul_overflow(count, int64_t{dim}, &count))
      return std::nullopt;
  }
  return count;
}

}  // namespace

std::string_view ViewOf(const flatbuffers::String* text) {
  return text == nullptr ? std::string_view()
                         : std::string_view(text->c_str(), text->size());
}

std::string TextOf(const flatbuffers::String* text) {
  return OnOneLine(ViewOf(text));
}

std::string NameOfTensor(const schema::Tensor& tensor) {
  return TextOf(tensor.name());
}

std::optional<DType> DTypeOf(schema::TensorType type) {
  switch (type) {
    case schema::TensorType::FLOAT32:
      return DType::kF32;
    case schema::TensorType::FLOAT16:
      return DType::kF16;
    case schema::TensorType::BFLOAT16:
      return DType::kBF16;
    case schema::TensorType::FLOAT64:
      return DType::kF64;
    case schema::TensorType::BOOL:
      return DType::kBool;
    case schema::TensorType::INT4:
    case schema::TensorType::INT8:
      return DType::kI8;
    case schema::TensorType::INT16:
      return DType::kI16;
    case schema::TensorType::INT32:
      return DType::kI32;
    case schema::TensorType::INT64:
    case schema::TensorType::STRING:
      return DType::kI64;
    case schema::TensorType::UINT8:
      return DType::kU8;
    case schema::TensorType::UINT16:
      return DType::kU16;
    case schema::TensorType::UINT32:
      return DType::kU32;
    case schema::TensorType::UINT64:
      return DType::kU64;
    case schema::TensorType::COMPLEX64:
    case schema::TensorType::COMPLEX128:
    case schema::TensorType::RESOURCE:
    case schema::TensorType::VARIANT:
      break;
  }
  return std::nullopt;
}

std::string TypeName(schema::TensorType type) {
  const char* name = schema::EnumNameTensorType(type);
  return name != nullptr && *name != '\0'
             ? name
             : "number " + std::to_string(static_cast<int>(type));
}

std::vector<int64_t> IntegersOf(const flatbuffers::Vector<int64_t>* vector) {
  std::vector<int64_t> integers(vector == nullptr ? 0 : vector->size());
  if (!integers.empty()) {
    std::memcpy(integers.data(), vector->Data(),
                integers.size() * sizeof(int64_t));
  }
  return integers;
}

std::optional<Quantization> QuantizationOf(const schema::Tensor& tensor) {
  const schema::QuantizationParameters* parameters = tensor.quantization();
  if (parameters == nullptr) return std::nullopt;
  const auto scales = SpanOf(parameters->scale());
  if (scales.empty()) return std::nullopt;
  Quantization result;
  result.scales.assign(scales.begin(), scales.end());
  result.zero_points = IntegersOf(parameters->zero_point());
  // A file with several scales may have a single zero point, which then applies
  // to all slices.
  result.zero_points.resize(scales.size(), result.zero_points.empty()
                                               ? 0
                                               : result.zero_points.front());
  result.axis = parameters->quantized_dimension();
  return result;
}

bool Model::IsModel(std::string_view contents) {
  return contents.size() >= 8 && contents.substr(4, 4) == "TFL3";
}

StatusOr<std::shared_ptr<const Model>> Model::Read(
    std::span<const uint8_t> bytes, std::shared_ptr<const void> owner) {
  const std::string found = std::to_string(bytes.size()) + " bytes";
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                              bytes.size());
  if (!IsModel(text)) {
    return Malformed("expected a TensorFlow Lite model (TFL3), found " + found +
                     " of something else");
  }
  // FlatBuffers' verifier accepts less than 2 GiB. A larger file has only
  // weights beyond that size, so its first part is verified.
  const size_t size =
      std::min(bytes.size(), size_t{FLATBUFFERS_MAX_BUFFER_SIZE - 1});
  flatbuffers::Verifier verifier(bytes.data(), size, kMaxDepth, kMaxTables);
  if (!schema::VerifyModelBuffer(verifier)) {
    return Malformed("expected a TensorFlow Lite model, found " + found +
                     " whose tables do not verify");
  }
  std::shared_ptr<Model> model(new Model(bytes, std::move(owner)));
  model->root_ = schema::GetModel(bytes.data());
  EMBER_RETURN_IF_ERROR(model->Check());
  return std::shared_ptr<const Model>(std::move(model));
}

Model::Model(std::span<const uint8_t> bytes, std::shared_ptr<const void> owner)
    : bytes_(bytes),
      owner_(std::move(owner)),
      budget_(16 * bytes.size() + (1 << 20)) {}

Status Model::Charge(uint64_t bytes) {
  if (bytes > budget_) {
    return Malformed(
        "expected tables that take about as much as the file's " +
        std::to_string(bytes_.size()) +
        " bytes, found tables that are named so often that they take many "
        "times as much");
  }
  budget_ -= bytes;
  return OkStatus();
}

Status Model::ChargeTensor(const schema::Tensor& tensor) {
  uint64_t bytes = kTableBytes + BytesIn(tensor.name()) +
                   BytesIn(tensor.shape()) + BytesIn(tensor.shape_signature());
  if (const schema::QuantizationParameters* q = tensor.quantization())
    bytes += BytesIn(q->scale()) + BytesIn(q->zero_point());
  return Charge(bytes);
}

Status Model::ChargeOperator(const schema::Operator& op) {
  uint64_t bytes = kTableBytes + BytesIn(op.inputs()) + BytesIn(op.outputs()) +
                   BytesIn(op.intermediates()) + BytesIn(op.custom_options());
  if (const auto* o = op.builtin_options_as_VarHandleOptions())
    bytes += BytesIn(o->container()) + BytesIn(o->shared_name());
  if (const auto* o = op.builtin_options_as_ReshapeOptions())
    bytes += BytesIn(o->new_shape());
  if (const auto* o = op.builtin_options_as_SqueezeOptions())
    bytes += BytesIn(o->squeeze_dims());
  if (const auto* o = op.builtin_options_as_BucketizeOptions())
    bytes += BytesIn(o->boundaries());
  const auto* codes = root_->operator_codes();
  if (codes != nullptr && op.opcode_index() < codes->size())
    bytes += BytesIn(codes->Get(op.opcode_index())->custom_code());
  return Charge(bytes);
}

Status Model::Check() {
  if (root_->version() != 3) {
    return UnimplementedError("expected version 3 of the format, found " +
                              std::to_string(root_->version()));
  }
  if (root_->subgraphs() == nullptr || root_->subgraphs()->size() == 0)
    return Malformed("expected a model with subgraphs, found none");
  if (root_->buffers() != nullptr) {
    for (const schema::Buffer* buffer : *root_->buffers()) {
      EMBER_RETURN_IF_ERROR(Charge(kTableBytes));
      const uint64_t offset = buffer->offset(), size = buffer->size();
      if (offset > kNoOffset &&
          (offset > bytes_.size() || size > bytes_.size() - offset)) {
        return Malformed("buffer: expected data within the file's " +
                         std::to_string(bytes_.size()) + " bytes, found " +
                         std::to_string(size) + " from " +
                         std::to_string(offset) + " on");
      }
    }
  }
  for (int i = 0; i < subgraph_count(); ++i) {
    const Status status = CheckSubgraph(i);
    if (!status.ok())
      return status.WithContext("subgraph " + std::to_string(i));
  }
  return CheckSignatures();
}

Status Model::CheckTensor(const schema::Tensor& tensor) const {
  const auto shape = SpanOf(tensor.shape());
  const auto signature = SpanOf(tensor.shape_signature());
  const std::string name = "tensor " + Quoted(NameOfTensor(tensor));
  const std::optional<int64_t> count = ElementCount(shape);
  if (shape.size() > kMaxRank || !count) {
    return Malformed(name + ": expected at most " + std::to_string(kMaxRank) +
                     " dims, none negative, whose product is 64 bits");
  }
  const bool open = std::any_of(signature.begin(), signature.end(),
                                [](int32_t dim) { return dim < -1; });
  if (open || (!signature.empty() && signature.size() != shape.size())) {
    return Malformed(name +
                     ": expected a shape signature of as many dims as the "
                     "shape, each -1 or more");
  }
  const size_t buffers =
      root_->buffers() == nullptr ? 0 : root_->buffers()->size();
  if (tensor.buffer() != 0 && tensor.buffer() >= buffers) {
    return Malformed(name + ": expected one of " + std::to_string(buffers) +
                     " buffers, found number " +
                     std::to_string(tensor.buffer()));
  }
  if (const std::optional<Quantization> q = QuantizationOf(tensor)) {
    const bool positive = std::all_of(
        q->scales.begin(), q->scales.end(),
        [](float scale) { return scale >= 0 && std::isfinite(scale); });
    const auto* zero_points = tensor.quantization()->zero_point();
    const size_t given = zero_points == nullptr ? 0 : zero_points->size();
    const bool fits =
        q->per_tensor() ||
        (q->axis >= 0 && q->axis < static_cast<int>(shape.size()) &&
         static_cast<int64_t>(q->scales.size()) ==
             shape[static_cast<size_t>(q->axis)]);
    const bool in_range = std::all_of(
        q->zero_points.begin(), q->zero_points.end(), [](int64_t zero) {
          return zero >= -(int64_t{1} << 31) && zero < (int64_t{1} << 31);
        });
    if (!positive || !fits || !in_range ||
        (given > 1 && given != q->scales.size())) {
      return Malformed(name +
                       ": expected quantization by finite scales, one or as "
                       "many as its dim has slices, and as many zero points");
    }
  }
  const std::span<const uint8_t> bytes = BytesOf(tensor);
  const std::optional<DType> dtype = DTypeOf(tensor.type());
  if (bytes.empty() || !dtype || tensor.sparsity() != nullptr ||
      tensor.type() == schema::TensorType::STRING) {
    return OkStatus();
  }
  int64_t expected = 0;
  if (__builtin_mul_overflow(*count, int64_t{DTypeByteSize(*dtype)}, &expected))
    expected = -1;
  if (tensor.type() == schema::TensorType::INT4)
    expected = *count / 2 + *count % 2;
  if (static_cast<int64_t>(bytes.size()) != expected) {
    return Malformed(name + ": expected " + std::to_string(expected) +
                     " bytes of data, found " + std::to_string(bytes.size()));
  }
  return OkStatus();
}

Status Model::CheckSubgraph(int index) {
  const schema::SubGraph& graph = subgraph(index);
  EMBER_RETURN_IF_ERROR(
      Charge(kTableBytes + BytesIn(graph.inputs()) + BytesIn(graph.outputs())));
  const int64_t tensors =
      graph.tensors() == nullptr ? 0 : graph.tensors()->size();
  const auto check = [&](std::span<const int32_t> indices, int64_t least,
                         const std::string& what) {
    for (const int32_t tensor : indices) {
      if (tensor >= least && tensor < tensors) continue;
      return Malformed(what + ": expected one of " + std::to_string(tensors) +
                       " tensors, found number " + std::to_string(tensor));
    }
    return OkStatus();
  };
  if (graph.tensors() != nullptr) {
    for (const schema::Tensor* tensor : *graph.tensors()) {
      EMBER_RETURN_IF_ERROR(ChargeTensor(*tensor));
      EMBER_RETURN_IF_ERROR(CheckTensor(*tensor));
    }
  }
  EMBER_RETURN_IF_ERROR(check(SpanOf(graph.inputs()), 0, "inputs"));
  EMBER_RETURN_IF_ERROR(check(SpanOf(graph.outputs()), 0, "outputs"));
  const auto codes =
      root_->operator_codes() == nullptr ? 0 : root_->operator_codes()->size();
  int number = 0;
  for (const schema::Operator* op : OperatorsOf(index)) {
    EMBER_RETURN_IF_ERROR(ChargeOperator(*op));
    const std::string what = "operator " + std::to_string(number++);
    if (op->opcode_index() >= codes) {
      return Malformed(what + ": expected one of " + std::to_string(codes) +
                       " codes, found number " +
                       std::to_string(op->opcode_index()));
    }
    EMBER_RETURN_IF_ERROR(check(SpanOf(op->inputs()), -1, what + ", inputs"));
    EMBER_RETURN_IF_ERROR(check(SpanOf(op->outputs()), 0, what + ", outputs"));
    EMBER_RETURN_IF_ERROR(
        check(SpanOf(op->intermediates()), -1, what + ", intermediates"));
    const uint64_t offset = op->large_custom_options_offset();
    const uint64_t size = op->large_custom_options_size();
    if (offset > kNoOffset &&
        (offset > bytes_.size() || size > bytes_.size() - offset))
      return Malformed(what + ": expected custom options within the file");
  }
  return OkStatus();
}

Status Model::CheckSignatures() {
  if (root_->signature_defs() == nullptr) return OkStatus();
  for (const schema::SignatureDef* signature : *root_->signature_defs()) {
    EMBER_RETURN_IF_ERROR(
        Charge(kTableBytes + BytesIn(signature->signature_key())));
    for (const auto* maps : {signature->inputs(), signature->outputs()}) {
      if (maps == nullptr) continue;
      for (const schema::TensorMap* map : *maps)
        EMBER_RETURN_IF_ERROR(Charge(kTableBytes + BytesIn(map->name())));
    }
    const std::string what =
        "signature " + Quoted(TextOf(signature->signature_key()));
    if (signature->subgraph_index() >=
        static_cast<uint32_t>(subgraph_count())) {
      return Malformed(what + ": expected one of " +
                       std::to_string(subgraph_count()) +
                       " subgraphs, found number " +
                       std::to_string(signature->subgraph_index()));
    }
  }
  return OkStatus();
}

std::span<const int32_t> Model::InputsOf(int index) const {
  return SpanOf(subgraph(index).inputs());
}
std::span<const int32_t> Model::OutputsOf(int index) const {
  return SpanOf(subgraph(index).outputs());
}

std::vector<const schema::Operator*> Model::OperatorsOf(int index) const {
  std::vector<const schema::Operator*> operators;
  if (subgraph(index).operators() != nullptr) {
    for (const schema::Operator* op : *subgraph(index).operators())
      operators.push_back(op);
  }
  return operators;
}

schema::BuiltinOperator Model::CodeOf(const schema::Operator& op) const {
  const schema::OperatorCode& code =
      *root_->operator_codes()->Get(op.opcode_index());
  // The operator's code is the larger of two fields. Files from before the
  // second field existed have 0 in it. Newer files have the code in the second
  // field and, if it fits, in the first one, too. The first is never below 0:
  // NOLINTNEXTLINE(bugprone-signed-char-misuse)
  const int old_code = code.deprecated_builtin_code();
  return static_cast<schema::BuiltinOperator>(
      std::max(old_code, static_cast<int>(code.builtin_code())));
}

std::string Model::NameOf(const schema::Operator& op) const {
  const schema::BuiltinOperator code = CodeOf(op);
  if (code == schema::BuiltinOperator::CUSTOM) {
    return TextOf(
        root_->operator_codes()->Get(op.opcode_index())->custom_code());
  }
  const char* name = schema::EnumNameBuiltinOperator(code);
  return name != nullptr && *name != '\0'
             ? name
             : "operator number " + std::to_string(static_cast<int>(code));
}

std::span<const uint8_t> Model::CustomOptions(
    const schema::Operator& op) const {
  if (op.large_custom_options_offset() > kNoOffset) {
    return bytes_.subspan(op.large_custom_options_offset(),
                          op.large_custom_options_size());
  }
  return SpanOf(op.custom_options());
}

std::span<const uint8_t> Model::BytesOf(const schema::Tensor& tensor) const {
  if (tensor.buffer() == 0 || root_->buffers() == nullptr) return {};
  const schema::Buffer& buffer = *root_->buffers()->Get(tensor.buffer());
  if (buffer.offset() > kNoOffset)
    return bytes_.subspan(buffer.offset(), buffer.size());
  return SpanOf(buffer.data());
}

}  // namespace ember::tflite
