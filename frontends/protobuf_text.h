// Reads protobuf messages in their text form.
//
//   std::vector<UnknownField> unknown;
//   EMBER_RETURN_IF_ERROR(
//       ReadProtobufText(contents, "prototxt", net, &unknown));
//
// Errors are one line that names line and column. Source: protobuf.dev, "Text
// Format Language Specification". Thread-safe. ProtobufWords does not own the
// text.
#ifndef EMBER_FRONTENDS_PROTOBUF_TEXT_H_
#define EMBER_FRONTENDS_PROTOBUF_TEXT_H_

#include <google/protobuf/message.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace ember::frontends {

// Largest size in bytes of a text that ReadProtobufText accepts.
inline constexpr size_t kMaxProtobufText = size_t{1} << 30;

// A field that the text contains although the message's type does not have it.
struct UnknownField {
  int line = 0;  // from 1
  std::string type, field;
};

// `what`: the expected kind of text, for errors. `unknown`: receives unknown
// fields; if null, they are errors. Messages may be 32 levels deep.
Status ReadProtobufText(std::string_view contents, std::string_view what,
                        google::protobuf::Message& message,
                        std::vector<UnknownField>* unknown);

// Reads the words and punctuation characters of a text one by one, and skips
// comments, strings, spaces and colons. It is used to recognise the format of a
// file.
class ProtobufWords {
 public:
  explicit ProtobufWords(std::string_view text);

  // Returns the next word; empty at the end. If the contents are not text, the
  // returned pieces equal no word of a real text.
  std::string_view Next();
  // Returns the nesting depth of brackets after the last returned word.
  int64_t depth() const { return depth_; }

 private:
  std::string_view Take(size_t size);

  std::string_view rest_;
  int64_t depth_ = 0;
};

}  // namespace ember::frontends

#endif  // EMBER_FRONTENDS_PROTOBUF_TEXT_H_
