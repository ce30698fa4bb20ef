// Makes the random choices of the search. Equal seeds give equal choices on
// every machine.
//
//   Random random(seed);
//   if (random.Chance(0.3)) factor = random.Pick(factors);
//
// A value; not thread-safe.
#ifndef EMBER_TUNE_SPACE_RANDOM_H_
#define EMBER_TUNE_SPACE_RANDOM_H_

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace ember::tune {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}

  // Returns a random integer from 0 to limit - 1; `limit` is at least 1.
  size_t Below(size_t limit) { return static_cast<size_t>(engine_() % limit); }
  // Returns a random number in [0, 1).
  double Uniform() {
    constexpr int kBits = 53;
    return static_cast<double>(engine_() >> (64 - kBits)) /
           static_cast<double>(uint64_t{1} << kBits);
  }
  // Returns true with this probability.
  bool Chance(double probability) { return Uniform() < probability; }
  template <typename T>
  const T& Pick(const std::vector<T>& items) {
    return items[Below(items.size())];
  }
  template <typename T>
  void Shuffle(std::vector<T>& items) {
    for (size_t i = items.size(); i > 1; --i)
      std::swap(items[i - 1], items[Below(i)]);
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace ember::tune

#endif  // EMBER_TUNE_SPACE_RANDOM_H_
