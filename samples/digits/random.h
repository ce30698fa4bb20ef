// A small random generator whose numbers are the same on every machine.
//
//   Random random(42);
//   float shift = random.Uniform(-2.0f, 2.0f);
//
// Thread-compatible.
#ifndef EMBER_SAMPLES_DIGITS_RANDOM_H_
#define EMBER_SAMPLES_DIGITS_RANDOM_H_

#include <cstdint>

namespace ember::digits {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  // splitmix64.
  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  float Uniform(float low, float high) {
    return low + (high - low) * static_cast<float>(Next() >> 40) * 0x1p-24f;
  }
  int Below(int bound) {
    return static_cast<int>(Next() % static_cast<uint64_t>(bound));
  }
  // Returns a number with mean 0 and deviation 1 that is nearly normally
  // distributed: the scaled sum of four uniform numbers.
  float Normal() {
    float sum = 0;
    for (int i = 0; i < 4; ++i) sum += Uniform(-1.0f, 1.0f);
    return sum * 0.866f;
  }

 private:
  uint64_t state_;
};

}  // namespace ember::digits

#endif  // EMBER_SAMPLES_DIGITS_RANDOM_H_
