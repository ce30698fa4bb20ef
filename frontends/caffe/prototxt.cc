#include "frontends/caffe/prototxt.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <cctype>
#include <iterator>

#include "base/one_line.h"

namespace ember::caffe {
namespace {

// A net's messages are five levels deep.
constexpr int kMaximumDepth = 32;
constexpr size_t kMaximumUnknown = 32;

// Of any message: what changes nothing when a trained net is run.
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
// Of fillers alone: other messages mean something by these names.
constexpr std::string_view kFillerFields[] = {"min", "max", "mean"};

class Collector : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (!error_.empty()) return;
    error_ = "line " + std::to_string(line + 1) + ", column " +
             std::to_string(column + 1) + ": " + OnOneLine(message);
  }
  // Message type "ember.caffe.PoolingParameter" has no field named "foo".
  void AddWarning(int line, int /*column*/,
                  const std::string& message) override {
    const std::string type = Quoted(message, 0);
    const std::string field = Quoted(message, 1);
    const auto is = [&](std::string_view name) { return name == field; };
    if (std::any_of(std::begin(kTrainingFields), std::end(kTrainingFields), is))
      return;
    if (type == "FillerParameter" &&
        std::any_of(std::begin(kFillerFields), std::end(kFillerFields), is))
      return;
    if (unknown_.size() >= kMaximumUnknown) return;
    unknown_.push_back("line " + std::to_string(line + 1) + ": " + type +
                       " has no field '" + OnOneLine(field) + "'");
  }
  const std::string& error() const { return error_; }
  std::vector<std::string>& unknown() { return unknown_; }

 private:
  // The text in the index-th pair of quotes, behind its last dot.
  static std::string Quoted(const std::string& message, int index) {
    size_t begin = 0;
    for (int quote = 0; quote <= 2 * index; ++quote) {
      begin = message.find('"', begin);
      if (begin == std::string::npos) return message;
      ++begin;
    }
    const size_t end = std::min(message.find('"', begin), message.size());
    const std::string text = message.substr(begin, end - begin);
    const size_t dot = text.rfind('.');
    return dot == std::string::npos ? text : text.substr(dot + 1);
  }

  std::string error_;
  std::vector<std::string> unknown_;
};

bool IsWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::string_view WithoutByteOrderMark(std::string_view text) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  return text;
}

// Words and other characters of a text, one by one, without comments, strings,
// spaces and colons.
class Words {
 public:
  explicit Words(std::string_view text) : rest_(WithoutByteOrderMark(text)) {}

  // Empty at the end. What is no text is a word that nobody expects.
  std::string_view Next() {
    while (!rest_.empty()) {
      const char c = rest_.front();
      size_t size = 1;
      if (c == '#') {
        size = rest_.find('\n');
      } else if (c == '"' || c == '\'') {
        size = 1;
        while (size < rest_.size() && rest_[size] != c)
          size += rest_[size] == '\\' ? 2 : 1;
        ++size;
      } else if (IsWord(c)) {
        while (size < rest_.size() && IsWord(rest_[size])) ++size;
        return Take(size);
      } else if (c != ' ' && c != '\n' && c != '\t' && c != '\r' && c != ':' &&
                 c != ',' && c != ';') {
        if (c == '{' || c == '<' || c == '[') ++depth_;
        if (c == '}' || c == '>' || c == ']') --depth_;
        return Take(1);
      }
      Take(size);
    }
    return {};
  }
  // Of brackets, behind the last word.
  int64_t depth() const { return depth_; }

 private:
  std::string_view Take(size_t size) {
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(taken.size());
    return taken;
  }

  std::string_view rest_;
  int64_t depth_ = 0;
};

}  // namespace

StatusOr<NetText> ReadPrototxt(std::string_view contents) {
  if (contents.size() > kMaximumPrototxt) {
    return InvalidArgumentError(
        "expected a prototxt of at most " + std::to_string(kMaximumPrototxt) +
        " bytes, found " + std::to_string(contents.size()));
  }
  contents = WithoutByteOrderMark(contents);
  // The parser recurses for fields that it passes over, too.
  Words words(contents);
  while (!words.Next().empty()) {
    if (words.depth() <= kMaximumDepth) continue;
    return InvalidArgumentError("expected a prototxt: messages are more than " +
                                std::to_string(kMaximumDepth) + " levels deep");
  }
  NetText text;
  Collector collector;
  google::protobuf::io::ArrayInputStream stream(
      contents.data(), static_cast<int>(contents.size()));
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&collector);
  parser.AllowUnknownField(true);
  parser.SetRecursionLimit(kMaximumDepth);
  if (!parser.Parse(&stream, &text.net)) {
    return InvalidArgumentError("expected a prototxt: " +
                                (collector.error().empty()
                                     ? std::string("found none")
                                     : collector.error()));
  }
  text.unknown = std::move(collector.unknown());
  return text;
}

bool IsPrototxt(std::string_view contents) {
  Words words(contents.substr(0, kMaximumPrototxt));
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
