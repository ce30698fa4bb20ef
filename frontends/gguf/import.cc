#include "frontends/gguf/import.h"

#include <set>
#include <string>
#include <utility>

#include "base/byte_cursor.h"
#include "base/one_line.h"
#include "frontends/gguf/gguf_file.h"
#include "frontends/gguf/model_metadata.h"
#include "frontends/language_models/build_model.h"
#include "frontends/metadata.h"
#include "frontends/model_bytes.h"
#include "frontends/model_errors.h"

namespace ember::gguf {
namespace {

using language_models::BlockFormat;
using language_models::ModelOptions;
using language_models::Weight;

// Returns the element type of a weight's constant: the float type itself, or u8
// for formats of packed blocks.
DType TypeOf(BlockFormat format) {
  switch (format) {
    case BlockFormat::kF32:
      return DType::kF32;
    case BlockFormat::kF16:
      return DType::kF16;
    case BlockFormat::kBF16:
      return DType::kBF16;
    default:
      return DType::kU8;
  }
}

class GgufTensors : public language_models::TensorSource {
 public:
  explicit GgufTensors(const GgufFile& file) : file_(file) {}

  StatusOr<Weight> Find(std::string_view name,
                        graph::GraphBuilder& builder) override;
  std::vector<std::string> Unused() const override;

 private:
  const GgufFile& file_;
  std::set<std::string_view> used_;
};

StatusOr<Weight> GgufTensors::Find(std::string_view name,
                                   graph::GraphBuilder& builder) {
  const GgufTensor* tensor = file_.FindTensor(name);
  if (tensor == nullptr) return Weight();
  used_.insert(tensor->name);
  if (!tensor->format) {
    std::string names;
    for (const auto& info : language_models::kBlockFormats)
      names += (names.empty() ? "" : ", ") + std::string(info.name);
    return UnimplementedError("tensor '" + OnOneLine(name) +
                              "': expected one of the types " + names +
                              ", found " + tensor->type_name);
  }
  const language_models::BlockFormatInfo& info = InfoOf(*tensor->format);
  const DType type = TypeOf(*tensor->format);
  std::vector<int64_t> dims = tensor->dims;
  if (info.elements > 1) {
    dims.back() /= info.elements;
    dims.push_back(info.bytes);
  }
  graph::Value* constant = builder.Constant(
      type, dims,
      frontends::AlignedData(tensor->bytes,
                             static_cast<size_t>(DTypeByteSize(type)),
                             file_.owner()));
  return Weight{.packed = {&builder, constant}, .format = *tensor->format};
}

std::vector<std::string> GgufTensors::Unused() const {
  std::vector<std::string> unused;
  for (const GgufTensor& tensor : file_.tensors()) {
    // Old files have a tensor of rotary frequencies. It is not reported as
    // unused, because the metadata gives the frequencies.
    if (used_.contains(tensor.name) || tensor.name.ends_with(".attn_rot_embd"))
      continue;
    unused.emplace_back(tensor.name);
  }
  return unused;
}

// Returns the graph's metadata: the length of the context, and the texts and
// numbers of the file that describe the model ("general.…").
graph::Metadata MetadataOf(const GgufFile& file, const ModelOptions& model) {
  frontends::MetadataCollector metadata("gguf");
  metadata.AddInteger("context_length", model.context);
  // `fixed_context` says that the length of the state must not change during a
  // run, because it decides which rotary factors apply: those for long
  // contexts, or the others.
  if (file.FindTensor("rope_factors_long.weight") != nullptr)
    metadata.AddInteger("fixed_context", 1);
  for (const auto& [key, value] : file.metadata()) {
    if (!key.starts_with("general.") || value.is_array) continue;
    if (value.type == ValueType::kString) {
      metadata.Add(key, AsText(value.bytes));
    } else if (const StatusOr<int64_t> integer = file.Integer(key);
               integer.ok()) {
      metadata.AddInteger(key, *integer);
    } else if (const StatusOr<double> number = file.Number(key); number.ok()) {
      metadata.AddNumber(key, static_cast<float>(*number));
    }
  }
  return std::move(metadata).Take();
}

StatusOr<graph::Graph> ImportFile(const GgufFile& file,
                                  const frontends::ImportOptions& options) {
  EMBER_ASSIGN_OR_RETURN(const ModelOptions model, ReadModelOptions(file));
  GgufTensors tensors(file);
  EMBER_ASSIGN_OR_RETURN(graph::Graph graph,
                         language_models::BuildModel(model, tensors, options));
  graph.set_metadata(MetadataOf(file, model));
  return graph;
}

StatusOr<std::shared_ptr<GgufFile>> Open(frontends::ModelFile& file) {
  return file.Parsed<GgufFile>([](const graph::ConstantData& contents) {
    return GgufFile::Open(contents.bytes, contents.owner);
  });
}

}  // namespace

StatusOr<graph::Graph> ImportModelBytes(std::span<const uint8_t> bytes,
                                        std::shared_ptr<const void> owner,
                                        const frontends::ImportOptions& options,
                                        std::string_view name) {
  const graph::ConstantData kept =
      frontends::KeptBytes(bytes, std::move(owner));
  const StatusOr<GgufFile> file = GgufFile::Open(kept.bytes, kept.owner);
  if (!file.ok()) return frontends::OfModel(file.status(), name);
  StatusOr<graph::Graph> graph = ImportFile(*file, options);
  if (!graph.ok()) return frontends::OfModel(graph.status(), name);
  return graph;
}

StatusOr<graph::Graph> ImportModel(frontends::ModelFile& file,
                                   const frontends::ImportOptions& options) {
  const auto parsed = Open(file);
  if (!parsed.ok()) return frontends::OfModel(parsed.status(), file.name());
  StatusOr<graph::Graph> graph = ImportFile(**parsed, options);
  if (!graph.ok()) return frontends::OfModel(graph.status(), file.name());
  return graph;
}

StatusOr<std::vector<frontends::InputInfo>> ModelInputs(
    frontends::ModelFile& file, const frontends::ImportOptions& /*options*/) {
  const auto parsed = Open(file);
  if (!parsed.ok()) return frontends::OfModel(parsed.status(), file.name());
  const StatusOr<ModelOptions> model = ReadModelOptions(**parsed);
  if (!model.ok()) return frontends::OfModel(model.status(), file.name());
  return language_models::ModelInputs(*model);
}

}  // namespace ember::gguf
