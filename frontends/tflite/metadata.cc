#include "frontends/tflite/metadata.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/byte_cursor.h"
#include "frontends/archive/zip_archive.h"
#include "frontends/archive/zip_metadata.h"
#include "frontends/metadata.h"
#include "frontends/model_bytes.h"
#include "frontends/tflite/metadata_schema_generated.h"

namespace ember::tflite {
namespace {

using metadata_schema::AssociatedFileType;

constexpr std::string_view kParsed = "TFLITE_METADATA";
// Limits of FlatBuffers' verifier for the metadata: nesting depth of tables,
// and their number. Real models are far below.
constexpr uint32_t kMaxDepth = 32, kMaxTables = 1 << 16;
// Largest number of items of one list that are read, because vectors may name
// one table many times.
constexpr uint32_t kMaxItems = 4096;

// Returns the text without the zero bytes that writers append to buffers as
// padding.
std::string_view WithoutPadding(std::string_view text) {
  while (text.ends_with('\0')) text.remove_suffix(1);
  return text;
}

template <typename T, typename Function>
void ForEach(const flatbuffers::Vector<flatbuffers::Offset<T>>* items,
             Function&& function) {
  const uint32_t count =
      items == nullptr ? 0 : std::min(items->size(), kMaxItems);
  for (uint32_t i = 0; i < count; ++i) function(*items->Get(i), i);
}

class Reader {
 public:
  Reader(const Model& model, std::span<const uint8_t> file)
      : model_(model), file_(file) {}

  graph::Metadata Read() && {
    metadata_.Add("description", ViewOf(model_.root().description()));
    AddQuantization();
    OpenArchive();
    ForEach(model_.root().metadata(),
            [&](const schema::Metadata& entry, uint32_t) { AddEntry(entry); });
    if (archive_) {
      for (const std::string& name : archive_->names()) {
        if (!used_.contains(name))
          archive::AddZipEntry(*archive_, name, "file." + name, metadata_);
      }
    }
    return std::move(metadata_).Take();
  }

 private:
  // Adds scale and zero point of the inputs and outputs of the first subgraph
  // that are quantised as a whole.
  void AddQuantization() {
    const auto* graphs = model_.root().subgraphs();
    if (graphs == nullptr || graphs->size() == 0) return;
    const schema::SubGraph& graph = *graphs->Get(0);
    AddQuantization(graph, graph.inputs(), "input.");
    AddQuantization(graph, graph.outputs(), "output.");
  }

  void AddQuantization(const schema::SubGraph& graph,
                       const flatbuffers::Vector<int32_t>* numbers,
                       const std::string& prefix) {
    const auto* tensors = graph.tensors();
    const uint32_t count = numbers == nullptr || tensors == nullptr
                               ? 0
                               : std::min(numbers->size(), kMaxItems);
    for (uint32_t i = 0; i < count; ++i) {
      const auto number = static_cast<uint32_t>(numbers->Get(i));
      if (number >= tensors->size()) continue;
      const auto* quantization = tensors->Get(number)->quantization();
      if (quantization == nullptr || quantization->scale() == nullptr ||
          quantization->scale()->size() != 1)
        continue;
      const auto* zeros = quantization->zero_point();
      const std::string key = prefix + std::to_string(i);
      AddNumbers(key + ".scale", quantization->scale());
      metadata_.AddInteger(
          key + ".zero_point",
          zeros == nullptr || zeros->size() == 0 ? 0 : zeros->Get(0));
    }
  }

  // Opens the ZIP archive that metadata tools append to the model. Offsets in
  // the archive count from the file's beginning.
  void OpenArchive() {
    StatusOr<archive::ZipArchive> archive =
        archive::ZipArchive::Open(file_, model_.owner());
    // Most models have no archive of associated files, so a failure to open one
    // is not reported.
    if (archive.ok()) archive_.emplace(*std::move(archive));
  }

  void AddEntry(const schema::Metadata& entry) {
    const auto* buffers = model_.root().buffers();
    const std::string name(ViewOf(entry.name()));
    if (buffers == nullptr || entry.buffer() >= buffers->size()) {
      metadata_.LeaveOut(name, "expected one of the model's buffers");
      return;
    }
    const auto* data = buffers->Get(entry.buffer())->data();
    if (data == nullptr) return;
    const std::span<const uint8_t> bytes(data->data(), data->size());
    if (name == kParsed) return AddParsed(bytes);
    metadata_.Add("metadata." + name, WithoutPadding(AsText(bytes)));
  }

  void AddParsed(std::span<const uint8_t> bytes) {
    const graph::ConstantData aligned =
        frontends::AlignedData(bytes, 8, model_.owner());
    flatbuffers::Verifier verifier(aligned.bytes.data(), aligned.bytes.size(),
                                   kMaxDepth, kMaxTables);
    if (!metadata_schema::VerifyModelMetadataBuffer(verifier)) {
      metadata_.LeaveOut(kParsed, "expected metadata (M001), found " +
                                      std::to_string(bytes.size()) +
                                      " bytes that do not verify as it");
      return;
    }
    const auto& root = *metadata_schema::GetModelMetadata(aligned.bytes.data());
    metadata_.Add("name", ViewOf(root.name()));
    // The model itself may have a description already, so the description in
    // the metadata has another key.
    metadata_.Add("metadata_description", ViewOf(root.description()));
    metadata_.Add("version", ViewOf(root.version()));
    metadata_.Add("author", ViewOf(root.author()));
    metadata_.Add("license", ViewOf(root.license()));
    ForEach(root.subgraph_metadata(),
            [&](const metadata_schema::SubGraphMetadata& graph, uint32_t i) {
              const std::string prefix =
                  i == 0 ? "" : "subgraph." + std::to_string(i) + ".";
              AddTensors(graph.input_tensor_metadata(), prefix + "input.");
              AddTensors(graph.output_tensor_metadata(), prefix + "output.");
            });
  }

  void AddTensors(
      const flatbuffers::Vector<
          flatbuffers::Offset<metadata_schema::TensorMetadata>>* tensors,
      const std::string& prefix) {
    ForEach(tensors,
            [&](const metadata_schema::TensorMetadata& tensor, uint32_t i) {
              AddTensor(tensor, prefix + std::to_string(i) + ".");
            });
  }

  void AddTensor(const metadata_schema::TensorMetadata& tensor,
                 const std::string& prefix) {
    if (metadata_.full()) return;
    metadata_.Add(prefix + "name", ViewOf(tensor.name()));
    metadata_.Add(prefix + "description", ViewOf(tensor.description()));
    if (const metadata_schema::Stats* stats = tensor.stats()) {
      AddNumbers(prefix + "min", stats->min());
      AddNumbers(prefix + "max", stats->max());
    }
    if (const metadata_schema::Content* content = tensor.content()) {
      const auto* image = content->content_properties_as_ImageProperties();
      if (image != nullptr) {
        const char* space =
            metadata_schema::EnumNameColorSpaceType(image->color_space());
        metadata_.Add(prefix + "color_space", space);
      }
      const auto* audio = content->content_properties_as_AudioProperties();
      if (audio != nullptr) {
        metadata_.AddInteger(prefix + "sample_rate", audio->sample_rate());
        metadata_.AddInteger(prefix + "channels", audio->channels());
      }
    }
    ForEach(tensor.process_units(),
            [&](const metadata_schema::ProcessUnit& unit, uint32_t) {
              AddProcessUnit(unit, prefix);
            });
    ForEach(tensor.associated_files(),
            [&](const metadata_schema::AssociatedFile& file, uint32_t) {
              AddTensorFile(file, prefix);
            });
  }

  void AddProcessUnit(const metadata_schema::ProcessUnit& unit,
                      const std::string& prefix) {
    if (const auto* normalization = unit.options_as_NormalizationOptions()) {
      AddNumbers(prefix + "mean", normalization->mean());
      AddNumbers(prefix + "std", normalization->std());
    }
    if (const auto* threshold = unit.options_as_ScoreThresholdingOptions())
      metadata_.AddNumber(prefix + "score_threshold",
                          threshold->global_score_threshold());
  }

  // Adds a file of the archive that belongs to a tensor. If the purpose of the
  // file is known, the key names the purpose.
  void AddTensorFile(const metadata_schema::AssociatedFile& file,
                     const std::string& prefix) {
    std::string key;
    switch (file.type()) {
      case AssociatedFileType::TENSOR_AXIS_LABELS:
        key = "labels";
        break;
      case AssociatedFileType::TENSOR_VALUE_LABELS:
        key = "value_labels";
        break;
      case AssociatedFileType::TENSOR_AXIS_SCORE_CALIBRATION:
        key = "score_calibration";
        break;
      case AssociatedFileType::VOCABULARY:
        key = "vocabulary";
        break;
      default:
        return;
    }
    key = prefix + key;
    if (file.locale() != nullptr && file.locale()->size() > 0)
      key += "." + std::string(ViewOf(file.locale()));
    const std::string name(ViewOf(file.name()));
    if (!archive_) {
      metadata_.LeaveOut(key, "expected a ZIP archive with '" + name +
                                  "' behind the model, found none");
      return;
    }
    archive::AddZipEntry(*archive_, name, key, metadata_);
    used_.insert(name);
  }

  // Adds numbers as one text, separated by spaces, such as "123.675 116.28
  // 103.53".
  void AddNumbers(const std::string& name,
                  const flatbuffers::Vector<float>* numbers) {
    std::string text;
    const uint32_t count =
        numbers == nullptr ? 0 : std::min(numbers->size(), kMaxItems);
    for (uint32_t i = 0; i < count; ++i)
      text += (i == 0 ? "" : " ") + frontends::NumberText(numbers->Get(i));
    metadata_.Add(name, text);
  }

  const Model& model_;
  const std::span<const uint8_t> file_;
  frontends::MetadataCollector metadata_{"tflite"};
  std::optional<archive::ZipArchive> archive_;
  // Names of the files that have been added under a key of their own.
  std::set<std::string, std::less<>> used_;
};

}  // namespace

graph::Metadata MetadataOf(const Model& model, std::span<const uint8_t> file) {
  return Reader(model, file).Read();
}

}  // namespace ember::tflite
