// Names that are all different: the second "x" is "x_2".
//
//   UniqueNames names;
//   names.Take("x");   // "x"
//   names.Take("x");   // "x_2"
//
// Takes about as long for names that are all alike as for others: each name
// remembers the last number that was added to it. Not thread-safe.
#ifndef EMBER_BASE_UNIQUE_NAMES_H_
#define EMBER_BASE_UNIQUE_NAMES_H_

#include <map>
#include <set>
#include <string>

namespace ember {

class UniqueNames {
 public:
  // first: the first number that is added to a name.
  explicit UniqueNames(int first = 2) : before_first_(first - 1) {}

  // Of several alike one.
  void Reserve(const std::string& name) { taken_.insert(name); }
  // The name, or if it is taken the name with the next number that makes it one
  // that is not; taken from then on.
  std::string Take(const std::string& name) {
    if (taken_.insert(name).second) return name;
    return TakeNumbered(name);
  }
  // With a number in any case.
  std::string TakeNumbered(const std::string& name) {
    int& last = last_.try_emplace(name, before_first_).first->second;
    while (true) {
      std::string numbered = name + "_" + std::to_string(++last);
      if (taken_.insert(numbered).second) return numbered;
    }
  }

 private:
  int before_first_;
  std::set<std::string> taken_;
  std::map<std::string, int> last_;  // number, by the name without it
};

}  // namespace ember

#endif  // EMBER_BASE_UNIQUE_NAMES_H_
