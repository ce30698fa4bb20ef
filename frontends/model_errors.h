// Errors about whole models, which are the same in all frontends: one line that
// begins with the model, and one list of all parts that are not supported.
//
//   UnsupportedParts missing("operators", "node");
//   for (const Node& node : nodes)
//     if (!IsKnown(node)) missing.Add(node.op, node.name, "it reads files");
//   EMBER_RETURN_IF_ERROR(missing.ToStatus());
//   // unsupported operators: ReadFile (node 'image', 2 nodes; it reads files)
//
// Names and places may contain anything; errors are one line. Not thread-safe.
#ifndef EMBER_FRONTENDS_MODEL_ERRORS_H_
#define EMBER_FRONTENDS_MODEL_ERRORS_H_

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "frontends/frontend.h"

namespace ember::frontends {

// Prefixes the message with the model: "model 'NAME': …".
Status OfModel(const Status& status, std::string_view name);

// Fails if the options name an entry. `why`: "a symbol has one function".
Status CheckNoEntry(const ImportOptions& options, std::string_view why);

// Says that the model has no such function. `what`: "signatures"; `entry` is
// empty if the user asked for none.
Status NoSuchEntry(std::string_view what, std::span<const std::string> names,
                   std::string_view entry);

// The parts of a model that cannot be imported, each once, with the first place
// that has it, how often it occurs, and the reason.
class UnsupportedParts {
 public:
  // `kind`: for example "operators"; `place`: for example "node".
  UnsupportedParts(std::string kind, std::string place)
      : kind_(std::move(kind)), place_(std::move(place)) {}

  // `reason` may be empty. The first place and reason of a name count.
  void Add(const std::string& name, std::string_view place,
           std::string_view reason);

  Status ToStatus() const;

 private:
  struct Use {
    std::string place, reason;
    int count = 0;
  };
  std::string kind_, place_;
  std::map<std::string, Use> uses_;
};

}  // namespace ember::frontends

#endif  // EMBER_FRONTENDS_MODEL_ERRORS_H_
