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
  std::string_view contents;  // shorter if the file is cut off
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

// True if the graph begins with a node that begins with name (1) and op (2).
// Every file that was written in the order of the fields has them in this
// order.
bool BeginsWithNode(std::string_view graph) {
  auto node = TakeField(graph);
  while (node && node->kind == 2 &&
         (node->number == 2 || node->number == 4))  // library, versions
    node = TakeField(graph);
  if (!node || node->kind != 2 || node->number != 1) return false;
  std::string_view rest = node->contents;
  const auto name = TakeField(rest);
  const auto op = TakeField(rest);
  return name && op && name->number == 1 && name->kind == 2 &&
         op->number == 2 && op->kind == 2 && IsPrintable(name->contents) &&
         IsPrintable(op->contents);
}

bool IsSavedModel(std::string_view contents) {
  const auto version = TakeField(contents);
  if (!version || version->number != 1 || version->kind != 0 ||
      version->value != 1)
    return false;
  const auto meta = TakeField(contents);
  if (!meta || meta->number != 2 || meta->kind != 2) return false;
  std::string_view rest = meta->contents;
  for (int i = 0; i < 2; ++i) {
    const auto field = TakeField(rest);
    if (!field || field->kind != 2) return false;
    if (field->number == 2) return BeginsWithNode(field->contents);
    if (field->number != 1) return false;
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

// Keeps the first error, as one line.
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
  if (BeginsWithNode(contents)) return FileKind::kGraph;
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
  // Silences the library, which would report damaged text on stderr; the status
  // has the error.
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
