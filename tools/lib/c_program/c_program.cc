#include "tools/lib/c_program/c_program.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/file.h"
#include "jit/c_like/identifiers.h"
#include "jit/llvm/compiler.h"
#include "jit/llvm/library/full_compiler.h"
#include "tools/lib/c_program/input_dims.h"
#include "tools/lib/cli/command_line_error.h"
#include "tools/lib/cli/paths.h"
#include "vm/runtime/dispatch/tiering.h"

namespace ember::tools {
namespace {

constexpr std::string_view kEnding = ".c";
constexpr int kTier = 2;

bool IsNameOfC(std::string_view name) {
  return !name.empty() &&
         std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
         std::ranges::all_of(name, [](char c) {
           return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
         });
}

std::string HeaderPath(const std::string& path) {
  return path.substr(0, path.size() - kEnding.size()) + ".h";
}

// Makes the kernels of all dispatch steps. Steps with the same dispatch,
// constants and parameters share one.
class KernelMaker {
 public:
  KernelMaker(const std::shared_ptr<const vm::Module>& module,
              const jit::CompileTarget& target)
      : module_(module), target_(target) {}

  Status Run(const StraightLine& line, Progress* progress) {
    EMBER_ASSIGN_OR_RETURN(compiler_, jit::llvm_ir::NewFullCompiler());
    EMBER_ASSIGN_OR_RETURN(packer_, jit::llvm_ir::NewLlvmCompiler());
    kernel_of_step_.resize(line.steps.size());
    for (size_t i = 0; i < line.steps.size(); ++i) {
      const LineStep& step = line.steps[i];
      if (step.kind != LineStep::Kind::kDispatch) continue;
      const vm::DispatchSite& site = module_->sites()[step.site];
      const std::pair key(site.group, step.parameters);
      const auto [found, is_new] = numbers_.try_emplace(key, kernels_.size());
      kernel_of_step_[i] = found->second;
      if (!is_new) continue;
      EMBER_RETURN_IF_ERROR(CheckCount(site));
      EMBER_RETURN_IF_ERROR(ReportStep(
          progress,
          {"kernels", module_->definition().dispatches[site.dispatch].name,
           static_cast<int64_t>(i), static_cast<int64_t>(line.steps.size())}));
      vm::KernelRequest request = vm::RequestFor(module_, site.group);
      request.target = target_.target;
      request.tier = kTier;
      request.parameters = step.parameters;
      EMBER_ASSIGN_OR_RETURN(CKernel kernel,
                             MakeCKernel(request, *compiler_, packer_.get()));
      kernels_.push_back(std::move(kernel));
    }
    return OkStatus();
  }

  const std::vector<CKernel>& kernels() const { return kernels_; }
  const std::vector<size_t>& kernel_of_step() const { return kernel_of_step_; }

 private:
  // A dispatch in a loop may have another parameter in each iteration, and a
  // kernel for each would need too much flash.
  Status CheckCount(const vm::DispatchSite& site) {
    constexpr int kMaxKernels = 16;
    if (++counts_[site.group] <= kMaxKernels) return OkStatus();
    constexpr std::string_view kAdvice =
        " different parameters in the iterations of a loop, found more; export "
        "the model without control flow";
    return UnimplementedError(Concat(
        {"dispatch @", module_->definition().dispatches[site.dispatch].name,
         ": expected at most ", kMaxKernels, kAdvice}));
  }

  const std::shared_ptr<const vm::Module>& module_;
  const jit::CompileTarget& target_;
  std::unique_ptr<jit::ObjectCompiler> compiler_;
  std::unique_ptr<jit::Compiler> packer_;
  std::map<std::pair<uint32_t, std::vector<int64_t>>, size_t> numbers_;
  std::map<uint32_t, int> counts_;  // for each group, its number of kernels
  std::vector<CKernel> kernels_;
  std::vector<size_t> kernel_of_step_;
};

}  // namespace

StatusOr<CProgramNames> CProgramNamesFor(const std::string& path,
                                         const std::string& function) {
  const std::string file = path.substr(path.rfind('/') + 1);
  if (!file.ends_with(kEnding) || file.size() == kEnding.size()) {
    return CommandLineError(
        "-o: expected the name of a C file such as model.c with "
        "--emit=c-program, found '" +
        path + "'");
  }
  CProgramNames names = {.function = function, .header = HeaderPath(file)};
  if (!function.empty() && !IsNameOfC(function)) {
    return CommandLineError("--symbol: expected a name of C, found '" +
                            function + "'");
  }
  if (!function.empty()) return names;
  names.function = jit::c_like::Identifier(
      std::string_view(file).substr(0, file.size() - kEnding.size()));
  if (!IsNameOfC(names.function)) names.function = "model_" + names.function;
  return names;
}

StatusOr<CProgramText> MakeCProgram(
    const std::shared_ptr<const vm::Module>& module,
    const jit::CompileTarget& target, std::span<const NamedShape> shapes,
    const CProgramNames& names, Progress* progress) {
  EMBER_ASSIGN_OR_RETURN(std::vector<std::vector<int64_t>> dims,
                         InputDims(*module, shapes));
  EMBER_ASSIGN_OR_RETURN(const StraightLine line,
                         StraightLineOf(*module, std::move(dims)));
  KernelMaker maker(module, target);
  EMBER_RETURN_IF_ERROR(maker.Run(line, progress));
  std::vector<int64_t> scratch_bytes(line.steps.size());
  for (size_t i = 0; i < line.steps.size(); ++i) {
    if (line.steps[i].kind == LineStep::Kind::kDispatch) {
      scratch_bytes[i] =
          maker.kernels()[maker.kernel_of_step()[i]].scratch_bytes;
    }
  }
  const MemoryLayout layout = LayOutMemory(line, scratch_bytes);
  return WriteCText({.module = *module,
                     .line = line,
                     .layout = layout,
                     .kernels = maker.kernels(),
                     .kernel_of_step = maker.kernel_of_step()},
                    names);
}

Status WriteCProgram(const CProgramText& text, const std::string& path) {
  EMBER_RETURN_IF_ERROR(WriteFileAtomically(UserPath(path), text.source));
  const std::string header = HeaderPath(path);
  EMBER_RETURN_IF_ERROR(WriteFileAtomically(UserPath(header), text.header));
  const auto print = [](const char* what, int64_t bytes, const char* of) {
    std::printf("%-8s %10lld bytes %s\n", what, static_cast<long long>(bytes),
                of);
  };
  std::printf("%s: %zu bytes; its header is %s\n", path.c_str(),
              text.source.size(), header.c_str());
  const CProgramNeeds& needs = text.needs;
  print("flash:", needs.constants,
        "of constants; the C compiler decides how much code is");
  print("RAM:", needs.arena, "of arena");
  print("RAM:", needs.inputs, "of inputs, in the caller's memory");
  print("RAM:", needs.results, "of results, in the caller's memory");
  print("stack:", needs.arrays, "of arrays at most, in one kernel at a time");
  return OkStatus();
}

}  // namespace ember::tools
