// Makes names different from each other: the second "x" becomes "x_2".
//
//   UniqueNames names;
//   names.Take("x");   // "x"
//   names.Take("x");   // "x_2"
//
// Taking the same name many times is as fast as taking different ones: each
// name remembers the last number that was added to it. Not thread-safe.
#ifndef EMBER_BASE_UNIQUE_NAMES_H_
#define EMBER_BASE_UNIQUE_NAMES_H_

#include <map>
#include <set>
#include <string>

namespace ember {

class UniqueNames {
 public:
  // Makes an object in which no name is taken. `first` is the number of the
  // first suffix: with 2, the second use of "x" becomes "x_2".
  explicit UniqueNames(int first = 2) : before_first_(first - 1) {}

  // Marks a name as taken. The name may have been taken before.
  void Reserve(const std::string& name) { taken_.insert(name); }
  // Returns the name if it is free, else the name with the next number that is
  // free, and marks it as taken.
  std::string Take(const std::string& name) {
    if (taken_.insert(name).second) return name;
    return TakeNumbered(name);
  }
  // Returns the name with a suffix, the next free number, even if the name
  // alone is free. Marks the result as taken.
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
  // for each name, the number of the last suffix that was added to it
  std::map<std::string, int> last_;
};

}  // namespace ember

#endif  // EMBER_BASE_UNIQUE_NAMES_H_
