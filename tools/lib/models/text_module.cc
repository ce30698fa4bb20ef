#include "tools/lib/models/text_module.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/concat.h"
#include "base/did_you_mean.h"
#include "base/one_line.h"
#include "tensor/dispatch.h"
#include "tensor/text/text.h"
#include "tools/lib/models/dispatch_module.h"
#include "vm/format/verifier.h"
#include "vm/isa/text.h"

namespace ember::tools {
namespace {

// Returns the text without blanks and comments at its beginning.
std::string_view Begin(std::string_view text) {
  while (true) {
    text.remove_prefix(
        std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    if (!text.starts_with("//")) return text;
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  }
}

bool IsDispatchText(std::string_view contents) {
  return Begin(contents).starts_with("dispatch @");
}

// Returns the dispatch named `entry`. If `entry` is empty, there must be only
// one.
StatusOr<const tensor::Dispatch*> Choose(
    const std::vector<tensor::Dispatch>& dispatches, const std::string& entry) {
  std::vector<std::string_view> names;
  std::string list;
  for (const tensor::Dispatch& dispatch : dispatches) {
    if (dispatch.name == entry) return &dispatch;
    names.push_back(dispatch.name);
    list += (list.empty() ? "" : ", ") + dispatch.name;
  }
  if (entry.empty() && dispatches.size() == 1) return dispatches.data();
  if (entry.empty()) {
    return InvalidArgumentError(
        Concat({"expected --entry=NAME for one of its dispatches, ", list}));
  }
  return InvalidArgumentError(
      Concat({"--entry: expected one of ", list, ", found '", OnOneLine(entry),
              "'", DidYouMean(entry, names)}));
}

// Determines the values of a dispatch's parameters from the dims that are given
// for its inputs.
class Parameters {
 public:
  Parameters(const tensor::Dispatch& dispatch, const DimsOfInputs& dims)
      : dispatch_(dispatch), dims_(dims), values_(dispatch.parameters.size()) {}

  // Returns the names of the parameters whose values are not known and are
  // assumed to be 1: "N, K".
  std::string Guessed() const {
    std::string text;
    for (size_t i = 0; i < values_.size(); ++i) {
      if (values_[i]) continue;
      text += (text.empty() ? "" : ", ") + dispatch_.parameters[i];
    }
    return text;
  }

  StatusOr<std::vector<int64_t>> Find() {
    std::vector<bool> is_dim(values_.size());
    for (uint32_t i = 0; i < dispatch_.input_count(); ++i) {
      const tensor::Buffer& input = dispatch_.buffers[i];
      const auto given = dims_.find(input.name);
      for (size_t axis = 0; axis < input.extents.size(); ++axis) {
        const tensor::Instruction& extent =
            dispatch_.instructions[input.extents[axis]];
        if (extent.opcode != tensor::Opcode::kParameter) continue;
        const auto parameter = static_cast<size_t>(extent.immediate);
        is_dim[parameter] = true;
        if (given == dims_.end() || axis >= given->second.size()) continue;
        EMBER_RETURN_IF_ERROR(Set(parameter, given->second[axis], input.name));
      }
    }
    std::vector<int64_t> found;
    for (size_t i = 0; i < values_.size(); ++i) {
      if (!is_dim[i]) {
        return InvalidArgumentError(
            Concat({"parameter ", dispatch_.parameters[i],
                    ": expected a dim of an input, whose value says it, found "
                    "none"}));
      }
      found.push_back(values_[i].value_or(1));
    }
    return found;
  }

 private:
  Status Set(size_t parameter, int64_t value, const std::string& input) {
    if (value < 0) return OkStatus();
    std::optional<int64_t>& known = values_[parameter];
    if (known.value_or(value) != value) {
      return InvalidArgumentError(
          Concat({"input '", input, "': expected ", *known, " for ",
                  dispatch_.parameters[parameter], ", found ", value}));
    }
    known = value;
    return OkStatus();
  }

  const tensor::Dispatch& dispatch_;
  const DimsOfInputs& dims_;
  std::vector<std::optional<int64_t>> values_;
};

StatusOr<vm::ModuleDefinition> Make(std::string_view contents,
                                    const std::string& name,
                                    const DimsOfInputs& dims,
                                    const std::string& entry) {
  if (!IsDispatchText(contents)) return vm::ParseModule(contents);
  EMBER_ASSIGN_OR_RETURN(const std::vector<tensor::Dispatch> dispatches,
                         tensor::ParseAll(contents));
  EMBER_ASSIGN_OR_RETURN(const tensor::Dispatch* const dispatch,
                         Choose(dispatches, entry));
  Parameters finder(*dispatch, dims);
  EMBER_ASSIGN_OR_RETURN(const std::vector<int64_t> parameters, finder.Find());
  StatusOr<vm::ModuleDefinition> module =
      ModuleOfDispatch(*dispatch, parameters, "dispatch");
  const std::string guessed = finder.Guessed();
  if (!module.ok() && !guessed.empty()) {
    return Status(module.status().code(),
                  Concat({module.status().message(), " (", guessed,
                          ": 1, as neither --shape nor --input gives another "
                          "number)"}));
  }
  if (module.ok()) module->source_name = name;
  return module;
}

}  // namespace

bool IsModuleText(std::string_view contents) {
  return IsDispatchText(contents) || Begin(contents).starts_with("module \"");
}

StatusOr<vm::ModuleDefinition> ModuleOfText(std::string_view contents,
                                            const std::string& name,
                                            const DimsOfInputs& dims,
                                            const std::string& entry) {
  StatusOr<vm::ModuleDefinition> module = Make(contents, name, dims, entry);
  if (!module.ok()) return module.status().WithContext(name);
  EMBER_RETURN_IF_ERROR(vm::VerifyModule(*module).WithContext(name));
  return module;
}

}  // namespace ember::tools
