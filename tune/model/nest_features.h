// Describes a loop nest by numbers, from which cost models predict its time.
//
//   const std::vector<float> features =
//       NestFeatures(nest, parameters, CpuModel::Of(target));
//   FeatureNames()[0];   // the name of features[0]
//
// Every nest has the same features in the same order. Counts, bytes and sizes
// are logarithms, log2(1 + x). The last features describe the target, so that
// what is learnt about one target helps on another. The values depend only on
// the nest's structure, not on names, and are the same on every machine.
//
// Thread-safe. Takes time linear in the size of the nest.
#ifndef EMBER_TUNE_MODEL_NEST_FEATURES_H_
#define EMBER_TUNE_MODEL_NEST_FEATURES_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "jit/loops/loop_nest.h"
#include "jit/target/cpu_model.h"
#include "jit/target/gpu_model.h"

namespace ember::tune {

// This version is raised when features change in meaning or number. Files that
// contain features, or models that were trained on them, have it in their
// header.
inline constexpr int kFeatureVersion = 1;

// Returns the names of the features, all different, in the order in which
// NestFeatures returns them: "operations", "lane_share", ….
std::span<const std::string_view> FeatureNames();

// Returns the features of a nest. `parameters` are the values of the nest's
// parameters. `cpu.cores` is the number of threads that will run the kernel.
std::vector<float> NestFeatures(const loops::LoopNest& nest,
                                std::span<const int64_t> parameters,
                                const jit::CpuModel& cpu);
std::vector<float> NestFeatures(const loops::LoopNest& nest,
                                std::span<const int64_t> parameters,
                                const jit::GpuModel& gpu);

// Returns the features of a nest for a CPU or a GPU, given by its target text.
std::vector<float> NestFeatures(const loops::LoopNest& nest,
                                std::span<const int64_t> parameters,
                                std::string_view target);

}  // namespace ember::tune

#endif  // EMBER_TUNE_MODEL_NEST_FEATURES_H_
