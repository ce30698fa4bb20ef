// Chooses which branch of an If to import, if its branches give values of
// different ranks or types and its condition is only known at run time: a graph
// has no value that could be either. The rest of the model decides which branch
// it can use. If importing it fails, the import starts again with another
// choice.
//
//   BranchChoices choices;
//   do {
//     graph = GraphImporter(…, choices).Import();   // asks Find and Choose
//   } while (!graph.ok() && choices.Next());
//
// Not thread-safe.
#ifndef EMBER_FRONTENDS_ONNX_IMPORT_BRANCH_CHOICES_H_
#define EMBER_FRONTENDS_ONNX_IMPORT_BRANCH_CHOICES_H_

#include <optional>
#include <string>
#include <vector>

namespace ember::onnx {

class BranchChoices {
 public:
  // Returns true if the then branch is chosen for the If with this origin,
  // false if the else branch is; nullopt if no branch is chosen yet.
  std::optional<bool> Find(const std::string& origin) const;
  // Records the first choice for an If. `then`: true if the then branch is to
  // be tried first.
  void Choose(const std::string& origin, bool then);
  // True if an import with other choices may succeed although the present
  // import failed.
  bool open() const;
  // Moves to the next combination of choices; the latest choice changes first.
  // Returns false if no combination is left, or if too many were tried.
  bool Next();

 private:
  struct Choice {
    std::string origin;
    bool then = true;
    bool changed = false;
  };
  std::vector<Choice> choices_;
  int tried_ = 1;
};

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_IMPORT_BRANCH_CHOICES_H_
