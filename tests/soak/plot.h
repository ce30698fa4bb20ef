// Plots lines over time as an SVG, one panel below the other, for people.
//
//   std::string svg = PlotOverTime({{"memory (MB)", {{"resident", rss}}}},
//                                  seconds);
#ifndef EMBER_TESTS_SOAK_PLOT_H_
#define EMBER_TESTS_SOAK_PLOT_H_

#include <string>
#include <vector>

namespace ember::tests {

struct PlotLine {
  std::string name;
  std::vector<double> values;  // The line's values, one for each time.
};

struct PlotPanel {
  std::string title;  // Title of the panel, with the unit of its values.
  std::vector<PlotLine> lines;
};

// Returns the SVG. `times` are seconds, ascending. The axis of values begins at
// 0.
std::string PlotOverTime(const std::vector<PlotPanel>& panels,
                         const std::vector<double>& times);

}  // namespace ember::tests

#endif  // EMBER_TESTS_SOAK_PLOT_H_
