#include "frontends/caffe2/net.h"

#include <cstdint>
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

// Field numbers of caffe2.proto.
constexpr uint64_t kNetOperator = 2, kNetWorkers = 4, kNetLast = 9;
constexpr uint64_t kOperatorType = 4, kOperatorGradient = 9,
                   kOperatorVersion = 12;

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

// Whether text begins as a net does, and has operators.
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

}  // namespace

StatusOr<NetDef> ReadNet(std::string_view contents, std::string_view what) {
  NetDef net;
  if (IsTextNet(contents)) {
    EMBER_RETURN_IF_ERROR(
        frontends::ReadProtobufText(contents, what, net, nullptr));
    return net;
  }
  if (contents.size() > INT32_MAX ||
      !net.ParseFromArray(contents.data(), static_cast<int>(contents.size()))) {
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
