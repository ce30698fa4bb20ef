// Describes the result of a classifier in words: the names and scores of the
// likeliest classes.
//
//   std::optional<std::string> text = TopText("scores", tensor, labels, 5);
//   // "scores: top 5 of 1000 (softmax)\n  0.932  281  tabby\n  ..."
//
// A result is of a classifier if all its dims but one are 1. A score is printed
// as it is if it can be a probability, that is if all scores are in [0, 1]; the
// scores of other floats go through softmax first, and the text says so.
// Integers of a quantised result become the numbers that they represent; all
// others are printed as they are.
#ifndef EMBER_TOOLS_LIB_MEDIA_CLASSIFY_H_
#define EMBER_TOOLS_LIB_MEDIA_CLASSIFY_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tools/lib/media/labels.h"
#include "vm/isa/module_definition.h"
#include "vm/runtime/tensor.h"

namespace ember::tools {

// The scale of a quantised result: an integer q represents the number (q -
// zero_point) * step.
struct ScoreScale {
  double step = 1;
  int64_t zero_point = 0;
};
// Returns the scale of the result with this number from the metadata entries
// tflite.output.N.scale and .zero_point; nothing if they are missing.
std::optional<ScoreScale> ScaleOfResult(
    std::span<const vm::MetadataEntry> metadata, size_t number);

// Returns the number of classes; nothing if the tensor does not look like the
// result of a classifier.
std::optional<int64_t> ClassCount(const vm::Tensor& result);

// Returns a text with a heading and the classes of the largest scores, at most
// `top`, one in each line; nothing if the tensor does not look like the result
// of a classifier.
std::optional<std::string> TopText(std::string_view name,
                                   const vm::Tensor& result,
                                   const Labels& labels, int64_t top,
                                   std::optional<ScoreScale> scale = {});

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_MEDIA_CLASSIFY_H_
