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

// Returns the status with a message that begins with the model: "model 'NAME':
// …".
Status OfModel(const Status& status, std::string_view name);

// Fails if the user selected an entry (a function of the model) although the
// format has no such choice. `why` is the reason that the error gives, for
// example "a symbol has one function".
Status CheckNoEntry(const ImportOptions& options, std::string_view why);

// Returns the error that the model has no function `entry`. `what`: what the
// format calls its functions, for example "signatures". `entry` is empty if the
// user named no function.
Status NoSuchEntry(std::string_view what, std::span<const std::string> names,
                   std::string_view entry);

// The parts of a model that cannot be imported, each once, with the first place
// that has it, how often it occurs, and the reason.
class UnsupportedParts {
 public:
  // Makes an empty list. `kind`: what is unsupported, for example "operators";
  // `place`: where it occurs, for example "node".
  UnsupportedParts(std::string kind, std::string place)
      : kind_(std::move(kind)), place_(std::move(place)) {}

  // Adds an unsupported part. `reason` may be empty. If a name is added several
  // times, the first place and reason are kept.
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
