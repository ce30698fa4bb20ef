#include "tools/lib/report/run_json.h"

#include <cmath>
#include <cstddef>
#include <sstream>
#include <vector>

#include "base/dtype.h"
#include "tools/lib/cli/json.h"
#include "tools/lib/tensors/elements.h"

namespace ember::tools {
namespace {

std::string ElementJson(const vm::Tensor& tensor, int64_t index) {
  if (tensor.strings != nullptr)
    return JsonString((*tensor.strings)[static_cast<size_t>(index)]);
  const std::string text = ElementText(tensor, index);
  const bool is_number = std::isfinite(FloatElement(tensor, index));
  return is_number ? text : JsonString(text);
}

}  // namespace

void JsonObject::Add(std::string_view name, std::string_view json) {
  while (json.ends_with('\n')) json.remove_suffix(1);
  if (!members_.empty()) members_ += ",\n ";
  members_ += JsonString(name) + ": ";
  members_ += json;
}

std::string JsonObject::Print() const { return "{" + members_ + "}\n"; }

std::string ResultsJson(const vm::Module& module,
                        std::span<const vm::Tensor> results,
                        bool has_elements) {
  std::string text = "[";
  for (size_t i = 0; i < results.size(); ++i) {
    const vm::Tensor& result = results[i];
    if (i > 0) text += ",\n  ";
    text +=
        "{\"name\": " + JsonString(module.results()[i].name) + ", \"type\": ";
    text += JsonString(result.strings != nullptr ? "string"
                                                 : DTypeName(result.type));
    text += ", \"dims\": [";
    for (size_t axis = 0; axis < result.dims.size(); ++axis)
      text += (axis > 0 ? ", " : "") + std::to_string(result.dims[axis]);
    text += "]";
    if (has_elements) {
      text += ", \"elements\": [";
      for (int64_t at = 0; at < result.element_count(); ++at)
        text += (at > 0 ? ", " : "") + ElementJson(result, at);
      text += "]";
    }
    text += "}";
  }
  return text + "]";
}

std::string RunTimesJson(const SessionLife& life) {
  std::vector<double> times = MillisecondsOf(life);
  if (life.warm_up_runs > 1 && times.size() > life.warm_up_runs) {
    times.erase(times.begin() + 1,
                times.begin() + static_cast<ptrdiff_t>(life.warm_up_runs));
  }
  return NumbersJson(times);
}

std::string NumbersJson(std::span<const double> numbers) {
  std::ostringstream text;
  text << "[";
  for (size_t i = 0; i < numbers.size(); ++i)
    text << (i > 0 ? ", " : "") << numbers[i];
  text << "]";
  return text.str();
}

}  // namespace ember::tools
