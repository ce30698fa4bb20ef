#include "frontends/keras/format.h"

#include "frontends/keras/import.h"

namespace ember::keras {
namespace {

constexpr std::string_view kExtensions[] = {".keras", ".h5", ".hdf5"};

}  // namespace

constinit const frontends::Format kFormat = {
    .name = "keras",
    .title = "Keras 2 and 3 (HDF5 and .keras archives)",
    .extensions = kExtensions,
    .sniff = IsModel,
    .import = ImportModel,
    .inputs = ModelInputs,
};

}  // namespace ember::keras
