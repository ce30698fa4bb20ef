#include "tensor/verifier/structure.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/concat.h"
#include "tensor/names.h"

namespace ember::tensor {
namespace {

// Largest numbers of instructions, operands, buffers and so on of a dispatch.
// They are far above the needs of any operator. They are small enough that
// planning and compiling, which may take n^2 steps, end within seconds.
constexpr size_t kMaxInstructions = size_t{1} << 17;
constexpr size_t kMaxOperands = size_t{1} << 20;
constexpr size_t kMaxItems = 4096;
constexpr size_t kMaxRank = 16;
constexpr size_t kMaxAxes = 32;
constexpr size_t kMaxValues = 256;

std::string Quoted(std::string_view name) {
  // The name is cut, and unprintable characters are replaced, because names of
  // untrusted dispatches may contain anything.
  std::string text = "'";
  for (char c : name.substr(0, 64)) text += c >= 0x20 && c < 0x7f ? c : '?';
  return Concat({text, "'"});
}

Status Error(std::string message) {
  return InvalidArgumentError(std::move(message));
}
Status Limit(const char* what, size_t found, size_t limit) {
  if (found <= limit) return OkStatus();
  return Error(
      Concat({"expected at most ", limit, " ", what, ", found ", found}));
}
Status Mismatch(const ConcatPiece& what, const ConcatPiece& expected,
                const ConcatPiece& found) {
  return Error(Concat({what, ": expected ", expected, ", found ", found}));
}

Status CheckLimits(const Dispatch& dispatch) {
  EMBER_RETURN_IF_ERROR(
      Limit("instructions", dispatch.instructions.size(), kMaxInstructions));
  EMBER_RETURN_IF_ERROR(
      Limit("operand list entries", dispatch.operands.size(), kMaxOperands));
  EMBER_RETURN_IF_ERROR(Limit("buffers", dispatch.buffers.size(), kMaxItems));
  EMBER_RETURN_IF_ERROR(
      Limit("parameters", dispatch.parameters.size(), kMaxItems));
  EMBER_RETURN_IF_ERROR(Limit("stages", dispatch.stages.size(), kMaxItems));
  for (const Buffer& buffer : dispatch.buffers) {
    EMBER_RETURN_IF_ERROR(
        Limit("dims in a buffer", buffer.extents.size(), kMaxRank));
  }
  for (const Stage& stage : dispatch.stages) {
    EMBER_RETURN_IF_ERROR(Limit("axes in a stage",
                                stage.spatial.size() + stage.reduction.size(),
                                kMaxAxes));
    EMBER_RETURN_IF_ERROR(
        Limit("values in a stage", stage.values.size(), kMaxValues));
    EMBER_RETURN_IF_ERROR(
        Limit("stores in a stage", stage.stores.size(), kMaxValues));
  }
  return OkStatus();
}

Status CheckNames(const Dispatch& dispatch) {
  if (!IsSigilName(dispatch.name)) {
    return Mismatch("name", "a name", Quoted(dispatch.name));
  }
  std::set<std::string_view> parameters, buffers;
  for (const std::string& name : dispatch.parameters) {
    if (!IsPlainName(name))
      return Mismatch("parameter", "a name", Quoted(name));
    if (!parameters.insert(name).second)
      return Error(Concat({"two parameters named ", Quoted(name)}));
  }
  for (const Buffer& buffer : dispatch.buffers) {
    if (!IsSigilName(buffer.name))
      return Mismatch("buffer", "a name", Quoted(buffer.name));
    if (!buffers.insert(buffer.name).second) {
      return Error(Concat({"two buffers named ", Quoted(buffer.name)}));
    }
  }
  for (const Stage& stage : dispatch.stages) {
    std::set<std::string_view> axes;
    for (const std::vector<Axis>* list : {&stage.spatial, &stage.reduction}) {
      for (const Axis& axis : *list) {
        if (!IsPlainName(axis.name))
          return Mismatch("axis", "a name", Quoted(axis.name));
        if (parameters.count(axis.name) != 0) {
          return Error(Concat(
              {"axis ", Quoted(axis.name), " has the name of a parameter"}));
        }
        if (!axes.insert(axis.name).second) {
          return Error(
              Concat({"two axes of a stage named ", Quoted(axis.name)}));
        }
      }
    }
  }
  return OkStatus();
}

Status CheckRanges(const Dispatch& dispatch) {
  size_t position = dispatch.header_end;
  if (position > dispatch.instructions.size()) {
    return Mismatch("end of the header",
                    Concat({"at most ", dispatch.instructions.size()}),
                    position);
  }
  for (size_t i = 0; i < dispatch.stages.size(); ++i) {
    const Stage& stage = dispatch.stages[i];
    const std::string where = Concat({"instructions of stage ", i});
    if (stage.begin != position || stage.end < stage.begin) {
      return Mismatch(where, Concat({"a range from ", position}),
                      Concat({stage.begin, "..", stage.end}));
    }
    position = stage.end;
    if (position > dispatch.instructions.size()) {
      return Mismatch(where,
                      Concat({"an end at most ", dispatch.instructions.size()}),
                      position);
    }
  }
  if (position != dispatch.instructions.size()) {
    return Mismatch("instructions", Concat({position, " in header and stages"}),
                    dispatch.instructions.size());
  }
  return OkStatus();
}

Status CheckBufferKinds(const Dispatch& dispatch) {
  BufferKind last = BufferKind::kInput;
  for (const Buffer& buffer : dispatch.buffers) {
    const std::string what = Concat({"buffer %", buffer.name});
    if (!IsValidDType(static_cast<uint8_t>(buffer.type))) {
      return Mismatch(what, "an element type", static_cast<int>(buffer.type));
    }
    if (static_cast<uint8_t>(buffer.kind) >
        static_cast<uint8_t>(BufferKind::kTemporary)) {
      return Mismatch(what, "a kind", static_cast<int>(buffer.kind));
    }
    if (buffer.kind < last) {
      return Error(
          Concat({what, ": expected inputs, then outputs, then temporaries"}));
    }
    last = buffer.kind;
  }
  return OkStatus();
}

}  // namespace

Status CheckStructure(const Dispatch& dispatch) {
  EMBER_RETURN_IF_ERROR(CheckLimits(dispatch));
  EMBER_RETURN_IF_ERROR(CheckNames(dispatch));
  EMBER_RETURN_IF_ERROR(CheckRanges(dispatch));
  return CheckBufferKinds(dispatch);
}

}  // namespace ember::tensor
