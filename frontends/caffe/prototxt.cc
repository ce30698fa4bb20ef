#include "frontends/caffe/prototxt.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "base/one_line.h"
#include "frontends/protobuf_text.h"

namespace ember::caffe {
namespace {

constexpr size_t kMaxUnknown = 32;

// Fields of any message that do not affect how a trained net runs. They are
// skipped.
constexpr std::string_view kTrainingFields[] = {
    "batch_sampler",
    "blob_share_mode",
    "blobs_lr",
    "debug_info",
    "decay_mult",
    "engine",
    "force_backward",
    "force_nd_im2col",
    "frozen",
    "loss_param",
    "loss_weight",
    "lr_mult",
    "momentum",
    "moving_average_fraction",
    "param",
    "phase",
    "propagate_down",
    "save_output_param",
    "share_in_parallel",
    "share_mode",
    "sparse",
    "stable_prod_grad",
    "std",
    "transform_param",
    "variance_norm",
    "visualize",
    "visualize_threshold",
    "weight_decay",
};
// Fields of fillers that do not affect how a trained net runs. They are skipped
// in fillers only, because other messages use these names differently.
constexpr std::string_view kFillerFields[] = {"min", "max", "mean"};

bool IsOneOf(std::string_view word, std::span<const std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

StatusOr<NetText> ReadPrototxt(std::string_view contents) {
  if (contents.size() > kMaxPrototxt) {
    return InvalidArgumentError(
        "expected a prototxt of at most " + std::to_string(kMaxPrototxt) +
        " bytes, found " + std::to_string(contents.size()));
  }
  NetText text;
  std::vector<frontends::UnknownField> unknown;
  EMBER_RETURN_IF_ERROR(
      frontends::ReadProtobufText(contents, "prototxt", text.net, &unknown));
  for (const frontends::UnknownField& field : unknown) {
    if (IsOneOf(field.field, kTrainingFields)) continue;
    if (field.type == "FillerParameter" && IsOneOf(field.field, kFillerFields))
      continue;
    if (text.unknown.size() >= kMaxUnknown) break;
    text.unknown.push_back("line " + std::to_string(field.line) + ": " +
                           field.type + " has no field '" +
                           OnOneLine(field.field) + "'");
  }
  return text;
}

bool IsPrototxt(std::string_view contents) {
  frontends::ProtobufWords words(contents.substr(0, kMaxPrototxt));
  bool first = true;
  for (std::string_view word = words.Next(); !word.empty();
       word = words.Next()) {
    if (words.depth() > 0) continue;
    static constexpr std::string_view kFirst[] = {
        "name",  "input",  "input_dim", "input_shape",
        "layer", "layers", "state",     "force_backward"};
    if (first && std::find(std::begin(kFirst), std::end(kFirst), word) ==
                     std::end(kFirst))
      return false;
    first = false;
    if (word != "layer" && word != "layers") continue;
    if (words.Next() == "{") return true;
  }
  return false;
}

}  // namespace ember::caffe
