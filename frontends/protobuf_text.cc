#include "frontends/protobuf_text.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <cctype>

#include "base/one_line.h"

namespace ember::frontends {
namespace {

constexpr int kMaxDepth = 32;

class Collector : public google::protobuf::io::ErrorCollector {
 public:
  explicit Collector(std::vector<UnknownField>* unknown) : unknown_(unknown) {}

  void AddError(int line, int column, const std::string& message) override {
    if (!error_.empty()) return;
    error_ = "line " + std::to_string(line + 1) + ", column " +
             std::to_string(column + 1) + ": " + OnOneLine(message);
  }
  // The parser calls AddWarning for an unknown field. Its message has the form:
  // Message type "ember.caffe.PoolingParameter" has no field named "foo".
  void AddWarning(int line, int /*column*/,
                  const std::string& message) override {
    if (unknown_ == nullptr) return;
    unknown_->push_back({.line = line + 1,
                         .type = Quoted(message, 0),
                         .field = Quoted(message, 1)});
  }
  const std::string& error() const { return error_; }

 private:
  // Returns the quoted name number `index` of a message, without the namespaces
  // in front of its last dot.
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

  std::vector<UnknownField>* unknown_;
  std::string error_;
};

bool IsWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::string_view WithoutByteOrderMark(std::string_view text) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  return text;
}

}  // namespace

ProtobufWords::ProtobufWords(std::string_view text)
    : rest_(WithoutByteOrderMark(text)) {}

std::string_view ProtobufWords::Next() {
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

std::string_view ProtobufWords::Take(size_t size) {
  const std::string_view taken = rest_.substr(0, size);
  rest_.remove_prefix(taken.size());
  return taken;
}

Status ReadProtobufText(std::string_view contents, std::string_view what,
                        google::protobuf::Message& message,
                        std::vector<UnknownField>* unknown) {
  if (contents.size() > kMaxProtobufText) {
    return InvalidArgumentError(
        "expected a " + std::string(what) + " of at most " +
        std::to_string(kMaxProtobufText) + " bytes, found " +
        std::to_string(contents.size()));
  }
  contents = WithoutByteOrderMark(contents);
  // The nesting depth is checked before protobuf's parser runs, because that
  // parser recurses even for fields that it skips, so deep nesting would
  // overflow the stack.
  ProtobufWords words(contents);
  while (!words.Next().empty()) {
    if (words.depth() <= kMaxDepth) continue;
    return InvalidArgumentError("expected a " + std::string(what) +
                                ": messages are more than " +
                                std::to_string(kMaxDepth) + " levels deep");
  }
  Collector collector(unknown);
  google::protobuf::io::ArrayInputStream stream(
      contents.data(), static_cast<int>(contents.size()));
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&collector);
  parser.AllowUnknownField(unknown != nullptr);
  parser.SetRecursionLimit(kMaxDepth);
  if (parser.Parse(&stream, &message)) return OkStatus();
  return InvalidArgumentError("expected a " + std::string(what) + ": " +
                              (collector.error().empty()
                                   ? std::string("found none")
                                   : collector.error()));
}

}  // namespace ember::frontends
