#include "tests/soak/plot.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace ember::tests {
namespace {

constexpr double kWidth = 900, kPanel = 220, kLeft = 70, kRight = 20, kTop = 36,
                 kBottom = 28;
constexpr const char* kColours[] = {"#1f6fb4", "#d1495b", "#2a9d5c", "#8e5ea2"};

template <typename... Values>
std::string Format(const char* format, Values... values) {
  char text[400];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

// Returns the smallest of the numbers 1, 2 and 5 times a power of ten that is
// at least `value`.
double Round(double value) {
  if (!(value > 0)) return 1;
  const double unit = std::pow(10, std::floor(std::log10(value)));
  for (const double step : {1.0, 2.0, 5.0})
    if (value <= step * unit) return step * unit;
  return 10 * unit;
}

std::string Panel(const PlotPanel& panel, const std::vector<double>& times,
                  double top) {
  double most = 0;
  for (const PlotLine& line : panel.lines) {
    for (const double value : line.values) most = std::max(most, value);
  }
  const double high = Round(most);
  const double last = times.empty() ? 1 : std::max(times.back(), 1.0);
  const double height = kPanel - kTop - kBottom;
  const auto x = [&](double time) {
    return kLeft + time / last * (kWidth - kLeft - kRight);
  };
  const auto y = [&](double value) {
    return top + kTop + (1 - value / high) * height;
  };
  std::string svg =
      Format("<text x=\"%g\" y=\"%g\" font-weight=\"bold\">%s</text>\n", kLeft,
             top + 16, panel.title.c_str());
  for (int i = 0; i <= 4; ++i) {
    const double value = high * i / 4;
    svg += Format(
        "<line x1=\"%g\" x2=\"%g\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>"
        "<text x=\"%g\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n",
        kLeft, kWidth - kRight, y(value), y(value), kLeft - 6, y(value) + 4,
        value);
  }
  for (int i = 0; i <= 5; ++i) {
    svg += Format(
        "<text x=\"%.1f\" y=\"%g\" text-anchor=\"middle\">%.0f s</text>\n",
        x(last * i / 5), top + kPanel - 8, last * i / 5);
  }
  for (size_t k = 0; k < panel.lines.size(); ++k) {
    const PlotLine& line = panel.lines[k];
    const char* const colour = kColours[k % std::size(kColours)];
    svg += Format(
        "<text x=\"%g\" y=\"%g\" fill=\"%s\" text-anchor=\"end\">%s</text>\n"
        "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.2\" points=\"",
        kWidth - kRight - 110.0 * static_cast<double>(k), top + 16, colour,
        line.name.c_str(), colour);
    for (size_t i = 0; i < std::min(times.size(), line.values.size()); ++i)
      svg += Format("%.1f,%.1f ", x(times[i]), y(line.values[i]));
    svg += "\"/>\n";
  }
  return svg;
}

}  // namespace

std::string PlotOverTime(const std::vector<PlotPanel>& panels,
                         const std::vector<double>& times) {
  const double height = kPanel * static_cast<double>(panels.size());
  std::string svg = Format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
      kWidth, height);
  double top = 0;
  for (const PlotPanel& panel : panels) {
    svg += Panel(panel, times, top);
    top += kPanel;
  }
  return svg + "</svg>\n";
}

}  // namespace ember::tests
