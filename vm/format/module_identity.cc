#include "vm/format/module_identity.h"

#include <algorithm>
#include <string_view>
#include <type_traits>

#include "base/concat.h"
#include "base/hash.h"
#include "base/sha512.h"
#include "vm/format/byte_stream.h"

namespace ember::vm {
namespace {

// Appends values to the input of the digest, field by field. Structs are read
// with structured bindings, so that this file does not compile after a field
// was added to a struct: its author must decide if the field is part of the
// identity.
class Appender {
 public:
  template <typename... Fields>
  void All(const Fields&... fields) {
    (Add(fields), ...);
  }

  std::string Take() && { return std::move(writer_).Take(); }

 private:
  template <typename T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void Add(T value) {
    writer_.Number(value);
  }
  void Add(const std::string& text) { writer_.Text(text); }
  template <typename T>
  void Add(const std::vector<T>& items) {
    writer_.Number(static_cast<uint32_t>(items.size()));
    for (const T& item : items) Add(item);
  }

  void Add(const tensor::Instruction& in) {
    const auto& [opcode, type, a, b, c, immediate] = in;
    All(opcode, type, a, b, c, immediate);
  }
  void Add(const tensor::Buffer& buffer) {
    const auto& [name, type, kind, extents] = buffer;
    All(name, type, kind, extents);
  }
  void Add(const tensor::Axis& axis) {
    const auto& [name, extent] = axis;
    All(name, extent);
  }
  void Add(const tensor::Store& store) {
    const auto& [buffer, indices, update] = store;
    All(buffer, indices, update);
  }
  void Add(const tensor::Fold& fold) {
    const auto& [initial, results] = fold;
    All(initial, results);
  }
  void Add(const tensor::Stage& stage) {
    const auto& [spatial, reduction, combiner, begin, end, values, fold,
                 stores] = stage;
    All(spatial, reduction, combiner, begin, end, values, fold, stores);
  }
  void Add(const tensor::Dispatch& dispatch) {
    const auto& [name, parameters, buffers, instructions, operands, header_end,
                 stages] = dispatch;
    All(name, parameters, buffers, instructions, operands, header_end, stages);
  }
  void Add(const ProgramInstruction& in) {
    const auto& [opcode, a, b, c, immediate] = in;
    All(opcode, a, b, c, immediate);
  }
  void Add(const TensorSignature& signature) {
    const auto& [name, type, dims, logical_type] = signature;
    All(name, type, dims, logical_type);
  }
  void Add(const Program& program) {
    const auto& [name, symbols, parameters, inputs, results, integers, buffers,
                 instructions, operands, messages] = program;
    All(name, symbols, parameters, inputs, results, integers, buffers,
        instructions, operands, messages);
  }
  void Add(const Constant& constant) {
    const auto& [name, type, dims, owner, data, hash] = constant;
    All(name, type, dims, static_cast<uint64_t>(data.size()),
        hash != 0 ? hash : HashBytes(data));
    static_cast<void>(owner);
  }

  ByteWriter writer_;
};

}  // namespace

ModuleIdentity IdentityOf(const ModuleDefinition& module) {
  const auto& [producer, source_name, constants, dispatches, origins, programs,
               strings, natives, profile, metadata, signature] = module;
  static_cast<void>(producer), static_cast<void>(source_name);
  static_cast<void>(origins), static_cast<void>(natives);
  static_cast<void>(profile), static_cast<void>(metadata);
  static_cast<void>(signature);
  Appender appender;
  appender.All(std::string("Ember: identity of a module, 1"), constants,
               dispatches, programs, strings);
  const std::string bytes = std::move(appender).Take();
  Sha512 hash;
  hash.Add({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  const Sha512Digest digest = hash.Finish();
  ModuleIdentity identity;
  std::copy_n(digest.begin(), identity.size(), identity.begin());
  return identity;
}

std::string IdentityText(const ModuleIdentity& identity) {
  constexpr size_t kShown = 8;
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < kShown; ++i) {
    text += kDigits[identity[i] >> 4];
    text += kDigits[identity[i] & 15];
  }
  return text;
}

Status CheckIdentity(const ModuleIdentity& expected,
                     const ModuleIdentity& found) {
  if (expected == found) return OkStatus();
  return InvalidArgumentError(
      Concat({"expected kernels of this module (", IdentityText(expected),
              "), found those of another one (", IdentityText(found), ")"}));
}

}  // namespace ember::vm
