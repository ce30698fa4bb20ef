// Protobuf messages as text, of whoever wrote them.
//
//   std::vector<UnknownField> unknown;
//   EMBER_RETURN_IF_ERROR(
//       ReadProtobufText(contents, "prototxt", net, &unknown));
//
// Errors are one line that names line and column. Source: protobuf.dev,
// "Text Format Language Specification". Thread-safe; words do not own.
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

inline constexpr size_t kMaximumProtobufText = size_t{1} << 30;  // bytes

// What the message's type does not have.
struct UnknownField {
  int line = 0;  // from 1
  std::string type, field;
};

// what: what the text was expected to be, for errors. unknown: null if unknown
// fields are errors. Messages may be 32 levels deep.
Status ReadProtobufText(std::string_view contents, std::string_view what,
                        google::protobuf::Message& message,
                        std::vector<UnknownField>* unknown);

// Words and other characters of a text, one by one, without comments, strings,
// spaces and colons; for telling formats apart.
class ProtobufWords {
 public:
  explicit ProtobufWords(std::string_view text);

  // Empty at the end. What is no text is a word that nobody expects.
  std::string_view Next();
  // Of brackets, behind the last word.
  int64_t depth() const { return depth_; }

 private:
  std::string_view Take(size_t size);

  std::string_view rest_;
  int64_t depth_ = 0;
};

}  // namespace ember::frontends

#endif  // EMBER_FRONTENDS_PROTOBUF_TEXT_H_
