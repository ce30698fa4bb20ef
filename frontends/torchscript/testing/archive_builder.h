// Makes TorchScript archives for tests: code as text, and the attributes of a
// module of class __torch__.Net.
//
//   ArchiveBuilder archive;
//   archive.Code("class Net(Module):\n  weight : Tensor\n  def forward(…");
//   archive.Tensor("weight", DType::kF32, {2}, bytes);
//   const std::string contents = archive.Finish();
//
// A test aid; not thread-safe.
#ifndef EMBER_FRONTENDS_TORCHSCRIPT_TESTING_ARCHIVE_BUILDER_H_
#define EMBER_FRONTENDS_TORCHSCRIPT_TESTING_ARCHIVE_BUILDER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "frontends/archive/testing/zip_builder.h"

namespace ember::torchscript {

// Return instructions of a pickle that push a value, as the bytes of a string.
std::string PickleText(std::string_view text);
std::string PickleInteger(int64_t value);
std::string PickleFloat(double value);
std::string PickleTensor(const std::string& key, DType dtype,
                         const std::vector<int64_t>& dims,
                         const std::vector<int64_t>& strides, int64_t offset);

class ArchiveBuilder {
 public:
  // Sets the text of code/__torch__.py. `module` selects another file, such as
  // "__torch__.sub".
  void Code(const std::string& text, const std::string& module = "__torch__");

  // The functions from Tensor to Begin add an attribute to the object that was
  // begun last and has not ended, at first the module.
  void Tensor(const std::string& name, DType dtype,
              const std::vector<int64_t>& dims,
              const std::vector<uint8_t>& bytes);
  // Adds a tensor that shares the storage of another one.
  void View(const std::string& name, const std::string& key, DType dtype,
            const std::vector<int64_t>& dims,
            const std::vector<int64_t>& strides, int64_t offset);
  void Integer(const std::string& name, int64_t value);
  void Float(const std::string& name, double value);
  void Flag(const std::string& name, bool value);
  void None(const std::string& name);
  // Adds an attribute whose value the given pickle instructions make.
  void Pickled(const std::string& name, const std::string& instructions);
  // Begins an attribute that is an object. Its attributes follow until End.
  void Begin(const std::string& name, const std::string& class_name);
  void End();

  // Adds a constant tensor of the code. The code refers to the first one as
  // CONSTANTS.c0, to the next one as CONSTANTS.c1, and so on.
  void Constant(DType dtype, const std::vector<int64_t>& dims,
                const std::vector<uint8_t>& bytes);
  // Adds an input with which forward was traced.
  void TracedInput(DType dtype, const std::vector<int64_t>& dims);

  // Adds any other entry to the archive.
  void Entry(const std::string& name, const std::string& contents);

  std::string Finish();

 private:
  archive::ZipBuilder zip_;
  std::string attributes_, constants_, traced_;
  int storages_ = 0, constant_storages_ = 0, traced_storages_ = 0;
};

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_TESTING_ARCHIVE_BUILDER_H_
