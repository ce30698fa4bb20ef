// The names of the results of operators that have several. Functions refer to
// results by these names ("node:indices:0").
#ifndef EMBER_FRONTENDS_TENSORFLOW_OPERATOR_NAMES_H_
#define EMBER_FRONTENDS_TENSORFLOW_OPERATOR_NAMES_H_

#include <string_view>

namespace ember::tensorflow {

// Returns "values,indices" for TopKV2; empty if there is one result or one
// list.
std::string_view ResultNamesOf(std::string_view op);

}  // namespace ember::tensorflow

#endif  // EMBER_FRONTENDS_TENSORFLOW_OPERATOR_NAMES_H_
