#include "tools/lib/report/native_kernels_table.h"

#include <vector>

#include "hal/cpu/target.h"
#include "tools/lib/report/table.h"
#include "vm/format/kernel_image_text.h"
#include "vm/format/native_kernels.h"
#include "vm/format/native_section.h"
#include "vm/format/recorded_profile.h"

namespace ember::tools {
namespace {

std::string ShapeOf(const vm::KernelImage& image) {
  if (image.shape.empty()) return image.parameter_count == 0 ? "" : "all";
  return vm::ShapeText(image.shape);
}

std::string ConstantsText(const vm::NativeKernel& kernel) {
  std::string text;
  for (size_t i = 0; i < kernel.constants.size(); ++i) {
    if (kernel.constants[i].constant < 0) continue;
    text += (text.empty() ? "%" : ", %") + kernel.image.buffers[i].name;
  }
  return text;
}

int64_t PackedBytes(const vm::NativeKernel& kernel) {
  size_t bytes = 0;
  for (const std::span<const uint8_t> buffer : kernel.packed)
    bytes += buffer.size();
  return static_cast<int64_t>(bytes);
}

std::string SectionText(const vm::NativeSection& section) {
  std::string text = "target " + section.target + ": " +
                     std::to_string(section.data.size()) + " bytes";
  const std::string missing = hal::MissingFeatures(section.target);
  text += missing.empty()
              ? ", runs here\n"
              : ", not for this machine, which lacks " + missing + "\n";
  const auto parts = vm::SplitNativeSection(section.data);
  if (!parts.ok()) return text + parts.status().ToString() + "\n";
  const auto kernels = vm::ReadNativeKernels(*parts, section.owner);
  if (!kernels.ok()) return text + kernels.status().ToString() + "\n";
  Table table({"dispatch", "tier", "code bytes", "packed bytes", "phases",
               "prologue", "parameters", "constants"});
  for (const vm::NativeKernel& kernel : *kernels) {
    const vm::KernelImage& image = kernel.image;
    table.AddRow({image.dispatch, static_cast<int64_t>(image.tier),
                  static_cast<int64_t>(image.code.bytes.size()),
                  PackedBytes(kernel),
                  static_cast<int64_t>(image.phases.size()) -
                      static_cast<int64_t>(image.prologue_count),
                  static_cast<int64_t>(image.prologue_count), ShapeOf(image),
                  ConstantsText(kernel)});
  }
  return text + table.Print(TableFormat::kMarkdown);
}

}  // namespace

std::string NativeKernelsTable(const vm::ModuleDefinition& module) {
  std::string text;
  if (!module.profile.empty()) {
    text = "// What --tier=auto compiles first.\n" +
           vm::PrintRecordedProfile(module, module.profile);
  }
  if (module.natives.empty())
    return text + "no native kernels (vm-prejit makes some)\n";
  for (const vm::NativeSection& section : module.natives) {
    if (!text.empty()) text += "\n";
    text += SectionText(section);
  }
  return text;
}

}  // namespace ember::tools
