// Finds the methods of texts, dicts and lists by their names.
//
//   std::optional<Value> strip = FindMethod(Value(" a "), "strip");
//   evaluator.Call(*strip, {});   // "a"
//
// Methods that would change a value only return an error, as in the sandbox
// that the transformers library uses. Thread-safe. Source: the documentation of
// Python.
#ifndef EMBER_LLM_TEMPLATE_METHODS_H_
#define EMBER_LLM_TEMPLATE_METHODS_H_

#include <optional>
#include <string_view>

#include "llm/template/value.h"

namespace ember::llm {

// Returns the method as a function that is bound to the value, or nothing if
// the value has no such method.
std::optional<Value> FindMethod(const Value& object, std::string_view name);

// Returns the method of texts with this name; null if there is none.
using TextMethod = StatusOr<Value> (*)(Evaluator& evaluator,
                                       const std::string& text,
                                       const Arguments& arguments);
TextMethod FindTextMethod(std::string_view name);

}  // namespace ember::llm

#endif  // EMBER_LLM_TEMPLATE_METHODS_H_
