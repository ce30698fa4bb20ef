// Draws digits the way a hand would: strokes of a small font, bent, turned,
// shifted, thick or thin, with noise. The sample's model is trained and tested
// on these drawings.
//
//   Random random(7);
//   Image image = DrawDigit(3, random);       // 28x28, 0 = paper, 1 = ink
//   std::vector<std::string> lines = ToText(image);
//
// The same random state gives the same image. Thread-safe.
#ifndef EMBER_SAMPLES_DIGITS_DRAWING_H_
#define EMBER_SAMPLES_DIGITS_DRAWING_H_

#include <array>
#include <string>
#include <vector>

#include "samples/digits/random.h"

namespace ember::digits {

inline constexpr int kImageSize = 28;
using Image = std::array<float, kImageSize * kImageSize>;

Image DrawDigit(int digit, Random& random);

// Returns half as many lines as rows, because a character is about twice as
// high as wide. Each line is kImageSize columns wide.
std::vector<std::string> ToText(const Image& image);

}  // namespace ember::digits

#endif  // EMBER_SAMPLES_DIGITS_DRAWING_H_
