#include "frontends/caffe/format.h"

#include "frontends/caffe/import.h"
#include "frontends/caffe/prototxt.h"
#include "frontends/caffe/weights.h"

namespace ember::caffe {
namespace {

bool Sniff(std::string_view contents) {
  return IsPrototxt(contents) || IsCaffemodel(contents);
}

constexpr std::string_view kExtensions[] = {".prototxt", ".caffemodel"};

}  // namespace

constinit const frontends::Format kFormat = {
    .name = "caffe",
    .title = "Caffe, with layers of SSD, Faster R-CNN and other forks",
    .extensions = kExtensions,
    .sniff = Sniff,
    .import = ImportModel,
    .inputs = ModelInputs,
};

}  // namespace ember::caffe
