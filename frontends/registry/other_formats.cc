#include "frontends/registry/other_formats.h"

#include <string>

#include "frontends/protobuf_fields.h"

namespace ember::frontends {
namespace {

// Number of bytes at the front of a file in which Contains looks for a word
// that identifies a text format.
constexpr size_t kFront = size_t{1} << 16;

bool Contains(std::string_view contents, std::string_view word) {
  return contents.substr(0, kFront).find(word) != std::string_view::npos;
}

std::string_view WithoutSpace(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  return begin == std::string_view::npos ? "" : text.substr(begin);
}

bool IsJson(std::string_view contents) {
  return WithoutSpace(contents.substr(0, kFront)).starts_with('{');
}

// True for a FlatBuffers file with this identifier, which is in bytes 4 to 7.
bool HasIdentifier(std::string_view contents, std::string_view identifier) {
  return contents.size() > 8 && contents.substr(4).starts_with(identifier);
}

bool IsExecuTorch(std::string_view contents, std::string_view) {
  return HasIdentifier(contents, "ET1");
}

bool IsOrt(std::string_view contents, std::string_view) {
  return HasIdentifier(contents, "ORTM");
}

bool IsTensorFlowJs(std::string_view contents, std::string_view) {
  return IsJson(contents) && (Contains(contents, "\"modelTopology\"") ||
                              Contains(contents, "\"weightsManifest\""));
}

bool IsGgml(std::string_view contents, std::string_view) {
  for (const std::string_view magic : {"lmgg", "fmgg", "tjgg"})
    if (contents.starts_with(magic)) return true;
  return false;
}

// True for a file of Paddle, by its extension or its contents. A ProgramDesc
// begins with its first block, whose number is 0 and whose parent is -1 or 0.
// Newer versions write JSON with the word "pir".
bool IsPaddle(std::string_view contents, std::string_view path) {
  if (IsJson(contents)) return Contains(contents, "\"magic\":\"pir\"");
  if (path.ends_with(".pdmodel") || path.ends_with(".pdiparams")) return true;
  ProtobufFields program(
      {reinterpret_cast<const uint8_t*>(contents.data()), contents.size()});
  ProtobufField block, number, parent;
  if (!program.Next(block) || block.number != 1 ||
      block.type != WireType::kBytes)
    return false;
  ProtobufFields fields(block.bytes);
  return fields.Next(number) && number.number == 1 &&
         number.type == WireType::kVarint && number.value == 0 &&
         fields.Next(parent) && parent.number == 2 &&
         parent.type == WireType::kVarint && parent.value + 1 <= 1;
}

bool IsOpenVino(std::string_view contents, std::string_view) {
  return WithoutSpace(contents.substr(0, kFront)).starts_with('<') &&
         Contains(contents, "<net ") && Contains(contents, "<layers>");
}

bool IsNcnn(std::string_view contents, std::string_view) {
  constexpr std::string_view kBinary("\xdd\x85\x76\x00", 4);
  return contents.starts_with("7767517\n") ||
         contents.starts_with("7767517\r") || contents.starts_with(kBinary);
}

bool IsDarknet(std::string_view contents, std::string_view) {
  return Contains(contents, "[convolutional]") && Contains(contents, "[net]");
}

bool IsTrees(std::string_view contents, std::string_view) {
  return contents.starts_with("tree\nversion=") ||
         (IsJson(contents) && Contains(contents, "\"learner\""));
}

// True if the contents end with the magic number of TensorFlow's tables.
bool IsCheckpointIndex(std::string_view contents, std::string_view) {
  return contents.ends_with("\x57\xfb\x80\x8b\x24\x75\x47\xdb");
}

bool IsTensorRt(std::string_view contents, std::string_view path) {
  return contents.starts_with("ftrt") || contents.starts_with("ptrt") ||
         path.ends_with(".engine");
}

constexpr OtherFormat kOthers[] = {
    {"an ExecuTorch program (.pte)",
     "it is compiled for ExecuTorch: save the model with torch.export.save "
     "(.pt2) or torch.onnx.export",
     IsExecuTorch},
    {"a model of ONNX Runtime's own format (.ort)",
     "give the .onnx that it was made of", IsOrt},
    {"a TensorFlow.js model (model.json)",
     "give the Keras file or SavedModel that it was made of; a layers model "
     "becomes a Keras file by tensorflowjs_converter "
     "--input_format=tfjs_layers_model --output_format=keras",
     IsTensorFlowJs},
    {"a GGML file of before 2023-08 (llama.cpp)",
     "convert it to GGUF with convert_llama_ggml_to_gguf.py of llama.cpp",
     IsGgml},
    {"a PaddlePaddle model", "convert it to ONNX with paddle2onnx", IsPaddle},
    {"an OpenVINO model (.xml with .bin)",
     "give the model that it was converted from, which OpenVINO reads as ONNX, "
     "TensorFlow, TensorFlow Lite or PyTorch",
     IsOpenVino},
    {"an ncnn model (.param with .bin)",
     "give the model that it was converted from (ONNX, Caffe, TorchScript)",
     IsNcnn},
    {"a Darknet network (.cfg)", "convert it with its .weights to ONNX",
     IsDarknet},
    {"a model of trees of XGBoost or LightGBM",
     "compile it in Python with ember.compile, or convert it to ONNX with "
     "onnxmltools",
     IsTrees},
    {"the index of a TensorFlow checkpoint, which has weights and no model",
     "save the model as a SavedModel, or freeze its graph to a .pb",
     IsCheckpointIndex},
    {"an engine of TensorRT",
     "it is compiled for one GPU: give the model that it was made of",
     IsTensorRt},
};

}  // namespace

std::span<const OtherFormat> OtherFormats() { return kOthers; }

const OtherFormat* FindOtherFormat(std::string_view contents,
                                   std::string_view path) {
  for (const OtherFormat& other : kOthers)
    if (other.sniff(contents, path)) return &other;
  return nullptr;
}

}  // namespace ember::frontends
