#include "frontends/caffe2/net.h"

#include <google/protobuf/io/coded_stream.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "frontends/protobuf_fields.h"
#include "frontends/protobuf_text.h"

namespace ember::caffe2 {
namespace {

using frontends::ProtobufField;
using frontends::ProtobufFields;
using frontends::WireType;

std::span<const uint8_t> AsBytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// Numbers of the fields of messages in caffe2.proto.
constexpr uint64_t kNetOperator = 2, kNetWorkers = 4, kNetLast = 9;
constexpr uint64_t kOperatorType = 4, kOperatorGradient = 9,
                   kOperatorVersion = 12;
constexpr uint64_t kOperatorArgument = 5;

// In an encoded Argument each float is this tag byte (field 5, wire type of
// four bytes) followed by the float's four bytes.
constexpr uint8_t kFloatTag = 5 << 3 | 5;
constexpr size_t kTaggedFloat = 1 + sizeof(float);

// Smallest message, in bytes, that ReadMessage reads itself; protobuf's parser
// reads smaller ones.
constexpr size_t kLarge = 4096;

bool IsOperator(std::span<const uint8_t> message) {
  ProtobufFields fields(message);
  ProtobufField field;
  bool has_type = false;
  while (fields.Next(field)) {
    const bool is_number =
        field.number == kOperatorGradient || field.number == kOperatorVersion;
    if (field.number > kOperatorVersion ||
        field.type != (is_number ? WireType::kVarint : WireType::kBytes))
      return false;
    has_type =
        has_type || (field.number == kOperatorType && !field.bytes.empty());
  }
  return has_type && !fields.damaged();
}

bool IsBinaryNet(std::string_view contents) {
  ProtobufFields fields(AsBytes(contents));
  ProtobufField field;
  bool has_operators = false;
  while (fields.Next(field)) {
    if (field.number > kNetLast ||
        field.type != (field.number == kNetWorkers ? WireType::kVarint
                                                   : WireType::kBytes))
      return false;
    if (field.number != kNetOperator) continue;
    if (!IsOperator(field.bytes)) return false;
    has_operators = true;
  }
  return has_operators && !fields.damaged();
}

// True if the contents are text that begins like a Caffe2 net and has
// operators.
bool IsTextNet(std::string_view contents) {
  static constexpr std::string_view kFields[] = {
      "name",          "op",  "type",           "num_workers",
      "device_option", "arg", "external_input", "external_output"};
  frontends::ProtobufWords words(contents);
  bool first = true;
  for (std::string_view word = words.Next(); !word.empty();
       word = words.Next()) {
    if (words.depth() > 0) continue;
    bool is_field = !first;
    for (const std::string_view field : kFields)
      is_field = is_field || field == word;
    if (!is_field) return false;
    first = false;
    if (word != "op") continue;
    const std::string_view next = words.Next();
    if (next == "{" || next == "<") return true;
  }
  return false;
}

// Parses encoded fields and merges them into the message. Returns false if they
// are damaged.
bool Merge(std::span<const uint8_t> encoding,
           google::protobuf::MessageLite& message) {
  google::protobuf::io::CodedInputStream stream(
      encoding.data(), static_cast<int>(encoding.size()));
  return message.MergeFromCodedStream(&stream) &&
         stream.ConsumedEntireMessage();
}

// Takes the floats at the front of `rest`, each with its tag, and appends them
// to the floats of the argument. Returns false if there are none.
bool TakeFloats(std::span<const uint8_t>& rest, Argument& argument) {
  size_t count = 0;
  while (rest.size() - count * kTaggedFloat >= kTaggedFloat &&
         rest[count * kTaggedFloat] == kFloatTag)
    ++count;
  if (count == 0) return false;
  auto& floats = *argument.mutable_floats();
  floats.Reserve(floats.size() + static_cast<int>(count));
  float* const to = floats.AddNAlreadyReserved(static_cast<int>(count));
  for (size_t i = 0; i < count; ++i)
    std::memcpy(to + i, &rest[i * kTaggedFloat + 1], sizeof(float));
  rest = rest.subspan(count * kTaggedFloat);
  return true;
}

bool ReadArgument(std::span<const uint8_t> rest, Argument& argument) {
  while (!rest.empty()) {
    if (rest[0] == kFloatTag) {
      if (!TakeFloats(rest, argument)) return false;
      continue;
    }
    ProtobufFields fields(rest);
    ProtobufField field;
    if (!fields.Next(field)) return Merge(rest, argument);
    if (!Merge(field.encoding, argument)) return false;
    rest = rest.subspan(field.encoding.size());
  }
  return true;
}

// Reads the large messages in field `number` with `read`, and all others with
// protobuf's parser. Returns false if the bytes do not parse.
template <typename Message, typename Read>
bool ReadMessage(std::span<const uint8_t> bytes, uint64_t number,
                 Message& message, Read read) {
  ProtobufFields fields(bytes);
  ProtobufField field;
  while (fields.Next(field)) {
    const bool is_large = field.number == number &&
                          field.type == WireType::kBytes &&
                          field.bytes.size() >= kLarge;
    if (is_large ? !read(field.bytes, message)
                 : !Merge(field.encoding, message))
      return false;
  }
  return !fields.damaged();
}

// Reads a net with its large messages read by functions of this file. Returns
// false if the bytes do not parse. protobuf's parser would grow the list of a
// weight's floats as it reads them, up to twice their bytes, in addition to the
// file.
bool ReadBinaryNet(std::span<const uint8_t> bytes, NetDef& net) {
  const auto read_argument = [](std::span<const uint8_t> part,
                                OperatorDef& op) {
    return ReadArgument(part, *op.add_arg());
  };
  const auto read_operator = [&](std::span<const uint8_t> part, NetDef& whole) {
    return ReadMessage(part, kOperatorArgument, *whole.add_op(), read_argument);
  };
  return ReadMessage(bytes, kNetOperator, net, read_operator);
}

}  // namespace

StatusOr<NetDef> ReadNet(std::string_view contents, std::string_view what) {
  NetDef net;
  if (IsTextNet(contents)) {
    EMBER_RETURN_IF_ERROR(
        frontends::ReadProtobufText(contents, what, net, nullptr));
    return net;
  }
  if (contents.size() > INT32_MAX || !ReadBinaryNet(AsBytes(contents), net)) {
    return DataLossError("expected the " + std::string(what) +
                         " of Caffe2 of "
                         "at most 2 GB, found " +
                         std::to_string(contents.size()) +
                         " bytes that do not parse as one");
  }
  return net;
}

bool IsNet(std::string_view contents) {
  return IsBinaryNet(contents) || IsTextNet(contents);
}

}  // namespace ember::caffe2
