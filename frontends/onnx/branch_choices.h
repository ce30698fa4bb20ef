// Which branch to import of an If whose branches give values of different ranks
// or types while its condition is only known when running: a graph has no value
// that is either. The rest of the model tells which one it can use, at the
// latest by failing to import; then the import starts anew.
//
//   BranchChoices choices;
//   do {
//     graph = GraphImporter(…, choices).Import();   // asks Find and Choose
//   } while (!graph.ok() && choices.Next());
//
// Not thread-safe.
#ifndef EMBER_FRONTENDS_ONNX_BRANCH_CHOICES_H_
#define EMBER_FRONTENDS_ONNX_BRANCH_CHOICES_H_

#include <optional>
#include <string>
#include <vector>

namespace ember::onnx {

class BranchChoices {
 public:
  // True: the then branch of the node of that origin. nullopt: not chosen yet.
  std::optional<bool> Find(const std::string& origin) const;
  // `then`: the branch to try first.
  void Choose(const std::string& origin, bool then);
  // Whether an import with other choices may succeed where this one did not.
  bool open() const;
  // The next combination to try, the latest choice changed first; false if
  // there is none, or too many were tried.
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

#endif  // EMBER_FRONTENDS_ONNX_BRANCH_CHOICES_H_
