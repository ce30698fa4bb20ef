// embed_cpp MODEL.vmfb runs a model once, with ember.hpp, the C++17 wrapper of
// the C API.
//
// Inputs of f32 are filled with numbers from 0 to 1, and open dims are 1. The
// first elements of each result of f32 or i64 are printed.
#include <cstdint>
#include <cstdio>
#include <ember.hpp>
#include <string>
#include <vector>

namespace {

// An input of the model and the memory that the session reads in place. It must
// exist until the run has ended.
struct Input {
  std::vector<int64_t> dims;
  std::vector<float> elements;
};

// Makes an input, and prints its name and dims.
Input MakeInput(const ember::Module& module, int32_t index) {
  const EmberTensorInfo info = module.input_info(index).value();
  if (info.type != EMBER_F32) {
    throw ember::Error(EMBER_UNIMPLEMENTED,
                       std::string("input ") + info.name +
                           ": expected f32, the only type of this sample");
  }
  Input input;
  size_t count = 1;
  std::printf("input  %s [", info.name);
  for (int32_t d = 0; d < info.rank; ++d) {
    input.dims.push_back(info.dims[d] < 0 ? 1 : info.dims[d]);
    count *= static_cast<size_t>(input.dims.back());
    std::printf("%s%s", d == 0 ? "" : ", ",
                ember::Api().module_input_dim(module.get(), index, d));
  }
  std::printf("]\n");
  for (size_t i = 0; i < count; ++i)
    input.elements.push_back(static_cast<float>(i % 16) / 15);
  return input;
}

template <typename T>
void Print(const char* name, const ember::Elements<T>& elements) {
  constexpr size_t kShown = 10;
  std::printf("result %s:", name);
  for (size_t i = 0; i < elements.size() && i < kShown; ++i)
    std::printf(" %g", static_cast<double>(elements[i]));
  std::printf("\n");
}

// value() of a failed call throws ember::Error, whose text is one line.
void Run(const char* path) {
  const ember::Module module = ember::Module::Load(path).value();
  ember::Session session = ember::Session::Create(module).value();

  std::vector<Input> inputs;
  for (int32_t i = 0; i < module.input_count(); ++i)
    inputs.push_back(MakeInput(module, i));
  for (size_t i = 0; i < inputs.size(); ++i) {
    session
        .SetInput(static_cast<int32_t>(i),
                  ember::View<float>(inputs[i].elements, inputs[i].dims))
        .value();
  }
  session.Run().value();

  for (int32_t i = 0; i < module.result_count(); ++i) {
    const EmberTensorInfo info = module.result_info(i).value();
    if (info.type == EMBER_F32) Print(info.name, session.Get<float>(i).value());
    if (info.type == EMBER_I64)
      Print(info.name, session.Get<int64_t>(i).value());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s MODEL.vmfb\n", argv[0]);
    return 2;
  }
  try {
    Run(argv[1]);
  } catch (const ember::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  // Writing to stdout may have failed, for example because the disk is full.
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return 0;
  std::fprintf(stderr, "cannot write to stdout\n");
  return 1;
}
