#include "tests/torchscript/one_operator.h"

#include <gtest/gtest.h>

#include "frontends/torchscript/import.h"
#include "frontends/torchscript/testing/archive_builder.h"
#include "tests/formats/numbers.h"

namespace ember::tests {

namespace {

// Writes the class whose forward takes `count` tensors and has this body.
void WriteCode(const std::string& body, size_t count,
               torchscript::ArchiveBuilder* archive) {
  std::string code = "class Net(Module):\n  def forward(self: __torch__.Net";
  for (size_t i = 0; i < count; ++i)
    code += ",\n    x" + std::to_string(i) + ": Tensor";
  code += ") -> Tensor:\n    ";
  for (const char c : body) code += c == '\n' ? "\n    " : std::string(1, c);
  archive->Code(code + "\n");
}

}  // namespace

std::string TorchArchive(const std::string& body,
                         const std::vector<Numbers>& inputs) {
  torchscript::ArchiveBuilder archive;
  for (const Numbers& input : inputs)
    archive.TracedInput(input.type, input.dims);
  WriteCode(body, inputs.size(), &archive);
  return archive.Finish();
}

std::string ScriptedTorchArchive(const std::string& body, size_t count) {
  torchscript::ArchiveBuilder archive;
  WriteCode(body, count, &archive);
  return archive.Finish();
}

StatusOr<std::vector<Numbers>> RunTorchArchive(
    const std::string& archive, const std::vector<Numbers>& inputs,
    const frontends::ImportOptions& options) {
  return RunOnNumbers(
      torchscript::ImportModelBytes(
          {reinterpret_cast<const uint8_t*>(archive.data()), archive.size()},
          nullptr, options),
      inputs);
}

StatusOr<std::vector<Numbers>> RunTorch(const std::string& body,
                                        const std::vector<Numbers>& inputs) {
  return RunTorchArchive(TorchArchive(body, inputs), inputs);
}

void ExpectTorch(const std::string& expression,
                 const std::vector<Numbers>& inputs,
                 const std::vector<Numbers>& expected, double tolerance) {
  SCOPED_TRACE(expression);
  ExpectNumbers(RunTorch("return " + expression, inputs), expected, tolerance);
}

}  // namespace ember::tests
