#include "frontends/tensorflow/model_file.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <cctype>
#include <optional>

namespace ember::tensorflow {
namespace {

// Largest nesting depth of messages: deeper than any model's, shallow enough
// for the stack.
constexpr int kMaxDepth = 100;

// One field of a message: its number, its kind, and the contents of a field of
// kind 2. TakeField returns nullopt if there is none.
struct Field {
  uint64_t number = 0, kind = 0, value = 0;
  // The contents of the field; shorter than stated if the file is cut off.
  std::string_view contents;
};

bool TakeVarint(std::string_view& bytes, uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 127) << shift;
    if (byte < 128) return true;
  }
  return false;
}

std::optional<Field> TakeField(std::string_view& bytes) {
  Field field;
  uint64_t tag = 0;
  if (!TakeVarint(bytes, tag)) return std::nullopt;
  field.number = tag >> 3;
  field.kind = tag & 7;
  if (!TakeVarint(bytes, field.value)) return std::nullopt;
  if (field.kind == 2) {
    field.contents = bytes.substr(0, field.value);
    bytes.remove_prefix(field.contents.size());
  }
  return field;
}

bool IsPrintable(std::string_view text) {
  for (const char c : text)
    if (c < ' ' || c > '~') return false;
  return !text.empty();
}

// True if the message has a NodeDef's name (field 1) and operator (2), and up
// to them only fields of a NodeDef. Fields may be in any order: writers differ
// in it.
bool IsNode(std::string_view node) {
  constexpr uint64_t kLastField = 7;
  bool has_name = false, has_operator = false;
  while (const auto field = TakeField(node)) {
    if (field->kind != 2 || field->number == 0 || field->number > kLastField)
      return false;
    if (field->number > 2) continue;
    if (!IsPrintable(field->contents)) return false;
    (field->number == 1 ? has_name : has_operator) = true;
    if (has_name && has_operator) return true;
  }
  return false;
}

// True if the first node (field 1) of the message is a NodeDef, and the fields
// before it are a GraphDef's library (2), versions (3, 4) and debug information
// (5).
bool IsGraph(std::string_view graph) {
  while (const auto field = TakeField(graph)) {
    if (field->number == 1) return field->kind == 2 && IsNode(field->contents);
    const uint64_t kind = field->number == 3 ? 0 : 2;
    if (field->kind != kind || field->number == 0 || field->number > 5)
      return false;
  }
  return false;
}

// True if the message has a MetaGraphDef's graph (field 2), and before it only
// fields of a MetaGraphDef.
bool IsMetaGraph(std::string_view meta) {
  constexpr uint64_t kLastField = 7;
  while (const auto field = TakeField(meta)) {
    if (field->kind != 2 || field->number == 0 || field->number > kLastField)
      return false;
    if (field->number == 2) return IsGraph(field->contents);
  }
  return false;
}

// True if the message has a SavedModel's version (field 1) and a graph (2), in
// any order, and up to them nothing else.
bool IsSavedModel(std::string_view contents) {
  bool has_version = false, has_graph = false;
  while (const auto field = TakeField(contents)) {
    if (field->number == 1 && field->kind == 0 && field->value == 1) {
      has_version = true;
    } else if (field->number == 2 && field->kind == 2 &&
               (has_graph || IsMetaGraph(field->contents))) {
      has_graph = true;
    } else {
      return false;
    }
    if (has_version && has_graph) return true;
  }
  return false;
}

// Returns the first word of a text, with comments skipped.
std::string_view FirstWord(std::string_view text) {
  while (!text.empty()) {
    const size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos) return {};
    text.remove_prefix(begin);
    if (text.front() != '#') break;
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  }
  size_t end = 0;
  while (end < text.size() &&
         (std::isalnum(static_cast<unsigned char>(text[end])) != 0 ||
          text[end] == '_'))
    ++end;
  return text.substr(0, end);
}

// Collects the errors of protobuf's text parser, and keeps the first one as one
// line.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (!text_.empty()) return;
    text_ = "line " + std::to_string(line + 1) + ", column " +
            std::to_string(column + 1) + ": " + message;
  }
  void AddWarning(int, int, const std::string&) override {}
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

Status ParseText(google::protobuf::io::ZeroCopyInputStream& stream,
                 google::protobuf::Message& message) {
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  parser.AllowUnknownField(true);
  parser.AllowPartialMessage(true);
  parser.SetRecursionLimit(kMaxDepth);
  if (parser.Parse(&stream, &message)) return OkStatus();
  return DataLossError(
      "text of a TensorFlow graph: " +
      (error.text().empty() ? "it does not parse" : error.text()));
}

}  // namespace

FileKind KindOf(std::string_view contents) {
  if (IsSavedModel(contents)) return FileKind::kSavedModel;
  if (IsGraph(contents)) return FileKind::kGraph;
  const std::string_view word = FirstWord(contents);
  if (word == "saved_model_schema_version" || word == "meta_graphs")
    return FileKind::kSavedModelText;
  if (word == "node" || word == "versions" || word == "library")
    return FileKind::kGraphText;
  return FileKind::kNone;
}

Status ParseFile(std::span<const uint8_t> bytes, FileKind kind, GraphDef& graph,
                 SavedModel& saved) {
  constexpr int kPiece = 1 << 20;
  // Switches protobuf's log off: it would print errors in damaged text on
  // stderr, which are in the returned status anyway.
  [[maybe_unused]] static const auto* const kSilenced = [] {
    google::protobuf::SetLogHandler(nullptr);
    return "";
  }();
  if (kind == FileKind::kNone || bytes.size() > INT32_MAX) {
    return DataLossError(
        "expected a GraphDef or a SavedModel of at most 2 GB, "
        "found " +
        std::to_string(bytes.size()) + " bytes that begin otherwise");
  }
  google::protobuf::io::ArrayInputStream stream(
      bytes.data(), static_cast<int>(bytes.size()), kPiece);
  const bool whole =
      kind == FileKind::kSavedModel || kind == FileKind::kSavedModelText;
  google::protobuf::Message& message =
      whole ? static_cast<google::protobuf::Message&>(saved) : graph;
  if (kind == FileKind::kGraphText || kind == FileKind::kSavedModelText)
    return ParseText(stream, message);
  if (message.ParseFromZeroCopyStream(&stream)) return OkStatus();
  return DataLossError(std::string("expected a ") +
                       (whole ? "SavedModel" : "GraphDef") + ", found " +
                       std::to_string(bytes.size()) +
                       " bytes that do not parse as one");
}

}  // namespace ember::tensorflow
