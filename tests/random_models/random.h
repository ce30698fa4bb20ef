// Draws random choices from a seed, the same on every machine.
//
//   Random random(seed);
//   const int64_t extent = random.Between(1, 9);
//   if (random.Chance(0.1)) ...
//
// Not thread-safe.
#ifndef EMBER_TESTS_RANDOM_MODELS_RANDOM_H_
#define EMBER_TESTS_RANDOM_MODELS_RANDOM_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ember::tests {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}

  // Returns the next number of the generator, which is splitmix64.
  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // Returns a number from low to high, both included. Returns `low` if `high`
  // is less.
  int64_t Between(int64_t low, int64_t high) {
    if (high <= low) return low;
    const uint64_t count = static_cast<uint64_t>(high - low) + 1;
    return low + static_cast<int64_t>(Next() % count);
  }
  double Real(double low, double high) {
    return low + (high - low) * static_cast<double>(Next() >> 11) * 0x1.0p-53;
  }
  bool Chance(double probability) { return Real(0, 1) < probability; }
  template <typename T>
  const T& Pick(const std::vector<T>& choices) {
    return choices[static_cast<size_t>(Next() % choices.size())];
  }
  template <typename T>
  void Shuffle(std::vector<T>& values) {
    for (size_t i = values.size(); i > 1; --i)
      std::swap(values[i - 1], values[static_cast<size_t>(Next() % i)]);
  }

 private:
  uint64_t state_;
};

}  // namespace ember::tests

#endif  // EMBER_TESTS_RANDOM_MODELS_RANDOM_H_
