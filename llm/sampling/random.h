// A small generator of random numbers whose sequence is the same on every
// machine and in every version.
//
//   Random random(42);
//   random.Uniform();   // in [0, 1)
//
// Thread-compatible. Source: Steele et al., Fast Splittable Pseudorandom Number
// Generators, 2014 (SplitMix64).
#ifndef EMBER_LLM_SAMPLING_RANDOM_H_
#define EMBER_LLM_SAMPLING_RANDOM_H_

#include <cstdint>

namespace ember::llm {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15;
    uint64_t mixed = state_;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    return mixed ^ mixed >> 31;
  }
  // Returns a random number in [0, 1), a multiple of 2^-53.
  double Uniform() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

 private:
  uint64_t state_;
};

}  // namespace ember::llm

#endif  // EMBER_LLM_SAMPLING_RANDOM_H_
