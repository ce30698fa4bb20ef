#include "frontends/torchscript/testing/archive_builder.h"

#include <cstring>

namespace ember::torchscript {
namespace {

std::string Number(uint64_t value, int width) {
  std::string bytes;
  for (int i = 0; i < width; ++i)
    bytes += static_cast<char>(value >> (8 * i) & 0xff);
  return bytes;
}

std::string_view StorageName(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return "DoubleStorage";
    case DType::kF16:
      return "HalfStorage";
    case DType::kBF16:
      return "BFloat16Storage";
    case DType::kI64:
      return "LongStorage";
    case DType::kI32:
      return "IntStorage";
    case DType::kI16:
      return "ShortStorage";
    case DType::kI8:
      return "CharStorage";
    case DType::kU8:
      return "ByteStorage";
    case DType::kBool:
      return "BoolStorage";
    default:
      return "FloatStorage";
  }
}

std::vector<int64_t> RowMajor(const std::vector<int64_t>& dims) {
  std::vector<int64_t> strides(dims.size());
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= dims[i];
  }
  return strides;
}

std::string Tuple(const std::vector<int64_t>& values) {
  std::string text = "(";
  for (const int64_t value : values) text += PickleInteger(value);
  return text + "t";
}

}  // namespace

std::string PickleText(std::string_view text) {
  return "X" + Number(text.size(), 4) + std::string(text);
}

std::string PickleInteger(int64_t value) {
  return "\x8a\x08" + Number(static_cast<uint64_t>(value), 8);
}

std::string PickleFloat(double value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  std::string text = "G";
  for (int i = 7; i >= 0; --i)
    text += static_cast<char>(bits >> (8 * i) & 0xff);
  return text;
}

std::string PickleTensor(const std::string& key, DType dtype,
                         const std::vector<int64_t>& dims,
                         const std::vector<int64_t>& strides, int64_t offset) {
  std::string storage = "(" + PickleText("storage") + "ctorch\n" +
                        std::string(StorageName(dtype)) + "\n" +
                        PickleText(key) + PickleText("cpu") + PickleInteger(0) +
                        "tQ";
  return "ctorch._utils\n_rebuild_tensor_v2\n(" + storage +
         PickleInteger(offset) + Tuple(dims) + Tuple(strides) + "\x89" +
         "ccollections\nOrderedDict\n)RtR";
}

void ArchiveBuilder::Code(const std::string& text, const std::string& module) {
  std::string path = module;
  for (char& c : path)
    if (c == '.') c = '/';
  zip_.AddDeflated("net/code/" + path + ".py", text);
}

void ArchiveBuilder::Tensor(const std::string& name, DType dtype,
                            const std::vector<int64_t>& dims,
                            const std::vector<uint8_t>& bytes) {
  const std::string key = std::to_string(storages_++);
  zip_.Add("net/data/" + key, {bytes.begin(), bytes.end()});
  View(name, key, dtype, dims, RowMajor(dims), 0);
}

void ArchiveBuilder::View(const std::string& name, const std::string& key,
                          DType dtype, const std::vector<int64_t>& dims,
                          const std::vector<int64_t>& strides, int64_t offset) {
  attributes_ +=
      PickleText(name) + PickleTensor(key, dtype, dims, strides, offset);
}

void ArchiveBuilder::Integer(const std::string& name, int64_t value) {
  attributes_ += PickleText(name) + PickleInteger(value);
}
void ArchiveBuilder::Float(const std::string& name, double value) {
  attributes_ += PickleText(name) + PickleFloat(value);
}
void ArchiveBuilder::Flag(const std::string& name, bool value) {
  attributes_ += PickleText(name) + (value ? "\x88" : "\x89");
}
void ArchiveBuilder::None(const std::string& name) {
  attributes_ += PickleText(name) + "N";
}
void ArchiveBuilder::Pickled(const std::string& name,
                             const std::string& instructions) {
  attributes_ += PickleText(name) + instructions;
}

void ArchiveBuilder::Begin(const std::string& name,
                           const std::string& class_name) {
  const size_t dot = class_name.rfind('.');
  attributes_ += PickleText(name) + "c" + class_name.substr(0, dot) + "\n" +
                 class_name.substr(dot + 1) + "\n)\x81}(";
}
void ArchiveBuilder::End() { attributes_ += "ub"; }

void ArchiveBuilder::Constant(DType dtype, const std::vector<int64_t>& dims,
                              const std::vector<uint8_t>& bytes) {
  const std::string key = std::to_string(constant_storages_++);
  zip_.Add("net/constants/" + key, {bytes.begin(), bytes.end()});
  constants_ += PickleTensor(key, dtype, dims, RowMajor(dims), 0);
}

void ArchiveBuilder::TracedInput(DType dtype,
                                 const std::vector<int64_t>& dims) {
  int64_t count = DTypeByteSize(dtype);
  for (const int64_t dim : dims) count *= dim;
  const std::string key = std::to_string(traced_storages_++);
  zip_.Add("net/traced_inputs/" + key,
           std::string(static_cast<size_t>(count), '\0'));
  traced_ += PickleTensor(key, dtype, dims, RowMajor(dims), 0);
}

void ArchiveBuilder::Entry(const std::string& name,
                           const std::string& contents) {
  zip_.Add(name, contents);
}

std::string ArchiveBuilder::Finish() {
  const std::string start = "\x80\x02";
  zip_.Add("net/version", "10\n");
  zip_.Add("net/data.pkl",
           start + "c__torch__\nNet\n)\x81}(" + attributes_ + "ub.");
  zip_.Add("net/constants.pkl", start + "(" + constants_ + "t.");
  if (!traced_.empty()) {
    zip_.Add("net/traced_inputs.pkl",
             start + "}(" + PickleText("forward") + "](" + traced_ + "eu.");
  }
  return zip_.Finish();
}

}  // namespace ember::torchscript
