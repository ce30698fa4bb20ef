// Finds the filters of templates by their names.
//
//   const TemplateFilter filter = FindFilter("upper");   // null if unknown
//   filter(evaluator, Value("a"), {});                   // "A"
//
// Thread-safe. Source: the documentation of Jinja, "List of Builtin Filters";
// tojson is that of the transformers library.
#ifndef EMBER_LLM_TEMPLATE_FILTERS_H_
#define EMBER_LLM_TEMPLATE_FILTERS_H_

#include <span>
#include <string_view>

#include "base/status.h"
#include "llm/template/value.h"

namespace ember::llm {

using TemplateFilter = StatusOr<Value> (*)(Evaluator& evaluator,
                                           const Value& object,
                                           const Arguments& arguments);

TemplateFilter FindFilter(std::string_view name);

struct FilterRow {
  std::string_view name;
  TemplateFilter filter;
};
// Return the tables of filters: those on texts and numbers, and those on
// sequences.
std::span<const FilterRow> TextFilters();
std::span<const FilterRow> SequenceFilters();

}  // namespace ember::llm

#endif  // EMBER_LLM_TEMPLATE_FILTERS_H_
