// run MODEL.vmfb [SEED]: draws digits with strokes like handwriting, lets the
// compiled model recognise them, and prints the drawings and the results. It is
// also the example of how an application embeds the runtime: it links only
// vm/runtime and hal/cpu, no compiler.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "hal/cpu/device.h"
#include "samples/digits/drawing.h"
#include "vm/runtime/module.h"
#include "vm/runtime/session.h"
#include "vm/runtime/tensor.h"

namespace ember::digits {
namespace {

constexpr int kClasses = 10;

// --- functions that embed the runtime ---

StatusOr<std::unique_ptr<vm::Session>> OpenModel(const std::string& path) {
  EMBER_ASSIGN_OR_RETURN(std::shared_ptr<const vm::Module> module,
                         vm::Module::Load(path));
  EMBER_ASSIGN_OR_RETURN(std::shared_ptr<hal::Device> device,
                         hal::CreateCpuDevice({}));
  return vm::Session::Create(std::move(module), {.device = std::move(device)});
}

// Returns ten probabilities for each image, image by image. The model accepts
// any number of images in one run.
StatusOr<std::vector<float>> Recognise(vm::Session& session,
                                       const std::vector<Image>& images) {
  const vm::Tensor input = vm::Tensor::Borrow(
      DType::kF32,
      {static_cast<int64_t>(images.size()), 1, kImageSize, kImageSize},
      images.data());
  std::vector<vm::Tensor> results;
  EMBER_RETURN_IF_ERROR(session.Run({&input, 1}, &results));
  if (results.empty() || results[0].type != DType::kF32 ||
      results[0].element_count() !=
          static_cast<int64_t>(images.size()) * kClasses) {
    return InvalidArgumentError("this module is not the digits model");
  }
  const std::span<const float> scores =
      std::as_const(results[0]).elements<float>();
  return std::vector<float>(scores.begin(), scores.end());
}

// --- functions that print the results ---

std::vector<int> TopThree(const float* probabilities) {
  std::vector<int> order = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  std::partial_sort(
      order.begin(), order.begin() + 3, order.end(),
      [&](int a, int b) { return probabilities[a] > probabilities[b]; });
  order.resize(3);
  return order;
}

std::string Bar(int digit, float probability) {
  constexpr int kWidth = 24;
  const auto filled = static_cast<int>(std::lround(probability * kWidth));
  char percent[16];
  std::snprintf(percent, sizeof(percent), " %5.1f%%",
                static_cast<double>(probability) * 100);
  std::string bar;
  for (int i = 0; i < kWidth; ++i) bar += i < filled ? "█" : "·";
  return std::to_string(digit) + "  " + bar + percent;
}

void Show(int drawn, const Image& image, const float* probabilities) {
  std::vector<std::string> lines = ToText(image);
  const std::vector<int> top = TopThree(probabilities);
  lines[4] += "    drawn as " + std::to_string(drawn) + ", recognised as " +
              std::to_string(top[0]) + (top[0] == drawn ? "" : "  (wrong)");
  for (size_t i = 0; i < top.size(); ++i)
    lines[6 + i] += "    " + Bar(top[i], probabilities[top[i]]);
  for (std::string& line : lines) {
    line.erase(line.find_last_not_of(' ') + 1);
    std::printf("%s\n", line.c_str());
  }
}

Status Run(const std::string& path, uint64_t seed) {
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<vm::Session> session,
                         OpenModel(path));
  Random random(seed);
  std::vector<int> digits(1000);
  std::vector<Image> images;
  for (int& digit : digits) {
    digit = random.Below(kClasses);
    images.push_back(DrawDigit(digit, random));
  }

  const auto start = std::chrono::steady_clock::now();
  EMBER_ASSIGN_OR_RETURN(const std::vector<float> scores,
                         Recognise(*session, images));
  const std::chrono::duration<double, std::micro> time =
      std::chrono::steady_clock::now() - start;
  int correct = 0;
  size_t least_sure = 0;
  const auto sureness = [&scores](size_t i) {
    const float* of_image = &scores[i * kClasses];
    return of_image[TopThree(of_image)[0]];
  };
  for (size_t i = 0; i < images.size(); ++i) {
    correct += TopThree(&scores[i * kClasses])[0] == digits[i];
    if (sureness(i) < sureness(least_sure)) least_sure = i;
  }

  Show(digits[0], images[0], &scores[0]);
  Show(digits[1], images[1], &scores[kClasses]);
  std::printf("The drawing that the model is least sure of, of %zu:\n",
              images.size());
  Show(digits[least_sure], images[least_sure], &scores[least_sure * kClasses]);
  std::printf("%d of %zu new drawings recognised, %.1f µs each.\n", correct,
              images.size(), time.count() / static_cast<double>(images.size()));
  if (correct * 10 < static_cast<int>(images.size()) * 9) {
    return InternalError(
        "expected at least 90% of the drawings to be recognised");
  }
  return OkStatus();
}

int Main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "usage: run MODEL.vmfb [SEED]\n");
    return 2;
  }
  // `bazel run` starts programs in another folder. This variable holds the
  // user's folder.
  const char* folder = std::getenv("BUILD_WORKING_DIRECTORY");
  const std::string path = folder != nullptr && argv[1][0] != '/'
                               ? std::string(folder) + "/" + argv[1]
                               : std::string(argv[1]);
  const uint64_t seed = argc == 3 ? std::strtoull(argv[2], nullptr, 10) : 2026;
  if (Status status = Run(path, seed); !status.ok()) {
    std::fprintf(stderr, "run: %s\n", std::string(status.message()).c_str());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace ember::digits

int main(int argc, char** argv) { return ember::digits::Main(argc, argv); }
