// Finds the tests of templates (such as "is defined") by their names.
//
//   const TemplateTest test = FindTest("string");   // null if unknown
//   test(evaluator, Value("a"), {});                // true
//
// Thread-safe. Source: the documentation of Jinja, "List of Builtin Tests".
#ifndef EMBER_LLM_TEMPLATE_TESTS_H_
#define EMBER_LLM_TEMPLATE_TESTS_H_

#include <string_view>

#include "base/status.h"
#include "llm/template/value.h"

namespace ember::llm {

using TemplateTest = StatusOr<bool> (*)(Evaluator& evaluator,
                                        const Value& object,
                                        const Arguments& arguments);

TemplateTest FindTest(std::string_view name);

}  // namespace ember::llm

#endif  // EMBER_LLM_TEMPLATE_TESTS_H_
