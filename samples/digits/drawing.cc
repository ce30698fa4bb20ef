#include "samples/digits/drawing.h"

#include <algorithm>
#include <cmath>

namespace ember::digits {
namespace {

struct Point {
  float x, y;
};
using Stroke = std::vector<Point>;

// Returns points of an ellipse between two angles. Angles are in degrees,
// clockwise from the right, as y grows downwards.
Stroke Arc(Point center, float radius_x, float radius_y, float from, float to) {
  constexpr int kPieces = 12;
  Stroke stroke;
  for (int i = 0; i <= kPieces; ++i) {
    const float angle =
        (from + (to - from) * static_cast<float>(i) / kPieces) * 0.01745329f;
    stroke.push_back({center.x + radius_x * std::cos(angle),
                      center.y + radius_y * std::sin(angle)});
  }
  return stroke;
}

Stroke Join(Stroke first, const Stroke& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// Returns the strokes of a digit in a small font, in a box from (0, 0) to (1,
// 1). Some digits can be written in two ways, which `variant` chooses.
std::vector<Stroke> StrokesOf(int digit, bool variant) {
  switch (digit) {
    case 0:
      return {Arc({0.5f, 0.5f}, variant ? 0.27f : 0.36f, 0.5f, 0, 360)};
    case 1:
      if (variant) return {{{0.5f, 0}, {0.5f, 1}}};
      return {{{0.3f, 0.22f}, {0.55f, 0}, {0.55f, 1}}};
    case 2:
      return {Join(Arc({0.5f, 0.28f}, 0.34f, 0.28f, 190, 390),
                   {{0.15f, 1}, {0.87f, 1}})};
    case 3:
      return {Join(Arc({0.45f, 0.25f}, 0.32f, 0.25f, 200, 450),
                   Arc({0.45f, 0.74f}, 0.38f, 0.26f, 270, 520))};
    case 4:
      if (variant)
        return {{{0.22f, 0}, {0.18f, 0.6f}, {0.9f, 0.6f}},
                {{0.7f, 0.2f}, {0.7f, 1}}};
      return {{{0.66f, 1}, {0.66f, 0}, {0.1f, 0.68f}, {0.92f, 0.68f}}};
    case 5:
      return {
          {{0.84f, 0}, {0.24f, 0}, {0.2f, 0.44f}},
          Join({{0.2f, 0.44f}}, Arc({0.45f, 0.68f}, 0.37f, 0.32f, 240, 510))};
    case 6:
      return {Join({{0.7f, 0}, {0.38f, 0.3f}},
                   Arc({0.5f, 0.69f}, 0.34f, 0.31f, 200, 560))};
    case 7:
      if (variant) {
        return {{{0.12f, 0}, {0.86f, 0}, {0.42f, 1}},
                {{0.35f, 0.5f}, {0.8f, 0.5f}}};
      }
      return {{{0.12f, 0}, {0.86f, 0}, {0.36f, 1}}};
    case 8:
      return {Arc({0.5f, 0.24f}, 0.28f, 0.24f, 0, 360),
              Arc({0.5f, 0.74f}, 0.35f, 0.26f, 0, 360)};
    default:
      return {Join(Arc({0.5f, 0.31f}, 0.34f, 0.31f, 360, 0),
                   {{0.84f, 0.31f}, {0.66f, 1}})};
  }
}

// Maps the font's box into the image, with a random size, slant, rotation,
// position and a slight bend.
class Hand {
 public:
  explicit Hand(Random& random) {
    const float angle = random.Uniform(-0.22f, 0.22f);
    width_ = random.Uniform(12.0f, 18.0f);
    height_ = random.Uniform(16.0f, 21.0f);
    slant_ = random.Uniform(-0.25f, 0.25f);
    cosine_ = std::cos(angle);
    sine_ = std::sin(angle);
    center_ = {13.5f + random.Uniform(-2.5f, 2.5f),
               13.5f + random.Uniform(-2.5f, 2.5f)};
    bend_x_ = random.Uniform(-1.2f, 1.2f);
    bend_y_ = random.Uniform(-1.2f, 1.2f);
    phase_ = random.Uniform(0.0f, 6.28f);
  }
  Point Place(Point point) const {
    const float y = (point.y - 0.5f) * height_ +
                    bend_y_ * std::sin(3.0f * point.x + phase_);
    const float x = (point.x - 0.5f) * width_ - slant_ * y +
                    bend_x_ * std::sin(3.0f * point.y + phase_);
    return {center_.x + cosine_ * x - sine_ * y,
            center_.y + sine_ * x + cosine_ * y};
  }

 private:
  float width_, height_, slant_, cosine_, sine_, bend_x_, bend_y_, phase_;
  Point center_;
};

float SquaredDistance(Point p, Point a, Point b) {
  const float dx = b.x - a.x, dy = b.y - a.y;
  const float length = dx * dx + dy * dy;
  const float along =
      ((p.x - a.x) * dx + (p.y - a.y) * dy) / std::max(length, 1e-6f);
  const float t = std::clamp(along, 0.0f, 1.0f);
  const float ex = p.x - a.x - t * dx, ey = p.y - a.y - t * dy;
  return ex * ex + ey * ey;
}

// Draws a line from a to b. A pixel's value is the larger of its old value and
// the line's ink.
void DrawLine(Point a, Point b, float radius, Image& image) {
  const float reach = radius + 1.0f;
  const int left = std::max(0, static_cast<int>(std::min(a.x, b.x) - reach));
  const int right =
      std::min(kImageSize - 1, static_cast<int>(std::max(a.x, b.x) + reach));
  const int top = std::max(0, static_cast<int>(std::min(a.y, b.y) - reach));
  const int bottom =
      std::min(kImageSize - 1, static_cast<int>(std::max(a.y, b.y) + reach));
  for (int y = top; y <= bottom; ++y) {
    for (int x = left; x <= right; ++x) {
      const Point point = {static_cast<float>(x), static_cast<float>(y)};
      const float ink = radius + 0.5f - std::sqrt(SquaredDistance(point, a, b));
      float& pixel = image[y * kImageSize + x];
      pixel = std::max(pixel, std::min(ink, 1.0f));
    }
  }
}

}  // namespace

Image DrawDigit(int digit, Random& random) {
  Image image{};
  const Hand hand(random);
  const float radius = random.Uniform(0.6f, 1.6f);
  for (const Stroke& stroke : StrokesOf(digit, random.Below(2) == 1)) {
    for (size_t i = 0; i + 1 < stroke.size(); ++i) {
      DrawLine(hand.Place(stroke[i]), hand.Place(stroke[i + 1]), radius, image);
    }
  }
  const float contrast = random.Uniform(0.7f, 1.0f);
  const float noise = random.Uniform(0.0f, 0.12f);
  for (float& pixel : image) {
    pixel = std::clamp(pixel * contrast + noise * random.Normal(), 0.0f, 1.0f);
  }
  return image;
}

std::vector<std::string> ToText(const Image& image) {
  static constexpr char kShades[] = " .:-=+*#%@";
  std::vector<std::string> lines;
  for (int y = 0; y + 1 < kImageSize; y += 2) {
    std::string line;
    for (int x = 0; x < kImageSize; ++x) {
      const float ink =
          0.5f * (image[y * kImageSize + x] + image[(y + 1) * kImageSize + x]);
      line += kShades[std::clamp(static_cast<int>(ink * 10.0f), 0, 9)];
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace ember::digits
