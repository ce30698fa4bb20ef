// Makes the tensor of an input from a picture.
//
//   EMBER_ASSIGN_OR_RETURN(PictureInput made,
//                          MakePictureInput(cat, signature, options));
//   made.text   // "640x480 → 224x224, shorter side to 256, centre cropped, ..."
//
// The input's shape says the layout: [N, C, H, W], [N, H, W, C], without N, or
// [H, W], with C 1 (grey: 0.299 R + 0.587 G + 0.114 B) or 3. Dims that the
// model leaves open are those of the picture. If N is not 1, each picture of
// the batch is the same. Floats are normalised as the options say, by x/255 if
// they say nothing. Integers of 8 bits are the pixels themselves if the options
// say nothing: u8 as they are, i8 less 128, as quantised models have them.
#ifndef EMBER_TOOLS_LIB_MEDIA_PICTURE_INPUT_H_
#define EMBER_TOOLS_LIB_MEDIA_PICTURE_INPUT_H_

#include <string>

#include "base/status.h"
#include "tools/lib/media/picture.h"
#include "tools/lib/media/picture_options.h"
#include "vm/isa/module_definition.h"
#include "vm/runtime/tensor.h"

namespace ember::tools {

// Maps points of the input to points of the picture from which it was made: x
// in the picture is left + x_scale * x in the input, and y likewise.
struct PictureView {
  double left = 0, top = 0, x_scale = 1, y_scale = 1;
  int width = 0, height = 0;  // size of the input in pixels
};

struct PictureInput {
  vm::Tensor tensor;
  PictureView view;
  std::string text;  // one line that says what was done to the picture
};

// Makes the tensor of an input from a picture. Error: the input cannot take a
// picture; the message says what was expected.
StatusOr<PictureInput> MakePictureInput(const Picture& picture,
                                        const vm::TensorSignature& input,
                                        const PictureOptions& options);

// Resizes and crops a picture to the input's size. A width or height of 0 is
// open and keeps the picture's own. `text` receives a description of what was
// done.
StatusOr<Picture> FitPicture(const Picture& picture, int64_t width,
                             int64_t height, const PictureOptions& options,
                             PictureView& view, std::string& text);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_MEDIA_PICTURE_INPUT_H_
