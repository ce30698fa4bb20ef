// Makes the JSON that vm-run prints: results, times, and the tables of
// --profile and --explain in one object.
//
//   JsonObject json;
//   json.Add("results", ResultsJson(module, results, /*has_elements=*/true));
//   json.Add("runs_ms", NumbersJson({12.5, 3.25}));
//   json.Print() ==
//       "{\"results\": [{\"name\": \"y\", \"type\": \"f32\", \"dims\": [2], "
//       "\"elements\": [0.5, 1]}],\n \"runs_ms\": [12.5, 3.25]}\n"
#ifndef EMBER_TOOLS_LIB_REPORT_RUN_JSON_H_
#define EMBER_TOOLS_LIB_REPORT_RUN_JSON_H_

#include <span>
#include <string>
#include <string_view>

#include "tools/lib/report/session_life.h"
#include "vm/runtime/module.h"
#include "vm/runtime/tensor.h"

namespace ember::tools {

class JsonObject {
 public:
  // Adds a member to the object. `value` is JSON text.
  void Add(std::string_view name, std::string_view json);
  std::string Print() const;

 private:
  std::string members_;
};

// Returns a list with an object for each result: name, type, dims and, if
// has_elements, its elements in row-major order. JSON has no infinities and no
// NaN; such an element is the text "inf", "-inf" or "nan".
std::string ResultsJson(const vm::Module& module,
                        std::span<const vm::Tensor> results, bool has_elements);
std::string NumbersJson(std::span<const double> numbers);
// Returns the milliseconds of the first run and of those after the warm-up.
std::string RunTimesJson(const SessionLife& life);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_REPORT_RUN_JSON_H_
