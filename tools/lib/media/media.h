// Makes inputs of vm-run from pictures and sounds, and shows its results as
// words and drawn pictures.
//
//   MediaFlags flags;
//   flags.Add(command_line);
//   EMBER_ASSIGN_OR_RETURN(Media media, Media::Start(flags, inputs));
//   ... BindInputs(..., media.Reader(*module))   // --input=@cat.jpg
//   EMBER_RETURN_IF_ERROR(media.Show(*module, results));
//
// Each picture or sound that is read gives one line on stderr, which says what
// was done to it. Not thread-safe.
#ifndef EMBER_TOOLS_LIB_MEDIA_MEDIA_H_
#define EMBER_TOOLS_LIB_MEDIA_MEDIA_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "tools/lib/cli/flags.h"
#include "tools/lib/media/detections.h"
#include "tools/lib/media/labels.h"
#include "tools/lib/media/picture.h"
#include "tools/lib/media/picture_input.h"
#include "vm/runtime/module.h"
#include "vm/runtime/tensor.h"

namespace ember::tools {

// The flags of pictures, sound and words.
struct MediaFlags {
  // Declares --image, --sound, --labels, --top, --draw, --boxes, --min-score,
  // in a group of their own. This object must outlive the parsing.
  void Add(Flags& flags);

  std::string image, sound, labels, draw, boxes = "auto";
  int64_t top = 0;
  double min_score = 0.5;
};

class Media {
 public:
  // Checks the flags, reads the labels and opens the picture and sound files
  // among `inputs`, the values of --input. All other work is done after the
  // model is compiled.
  static StatusOr<Media> Start(const MediaFlags& flags,
                               const std::vector<std::string>& inputs);

  // Returns a function that reads a file as the value of the module's input
  // `number`. It returns nothing if the file is neither a picture nor a sound.
  // The Media and the module must outlive the function.
  std::function<std::optional<StatusOr<vm::Tensor>>(const std::string& path,
                                                    size_t number)>
  Reader(const vm::Module& module);

  // Prints classes and detections, and writes the file of --draw.
  Status Show(const vm::Module& module, const std::vector<vm::Tensor>& results);

 private:
  StatusOr<vm::Tensor> ReadPictureInput(const vm::Module& module,
                                        const std::string& path, size_t number);
  StatusOr<vm::Tensor> ReadSoundInput(const vm::Module& module,
                                      const std::string& path, size_t number);
  // ShowClasses and ShowDetections return true if they printed something.
  bool ShowClasses(const vm::Module& module,
                   const std::vector<std::string>& names,
                   const std::vector<vm::Tensor>& results) const;
  bool ShowDetections(const std::optional<Detections>& detections) const;
  Status Draw(const std::optional<Detections>& detections,
              const std::vector<std::string>& names,
              const std::vector<vm::Tensor>& results) const;

  MediaFlags flags_;
  DetectionOptions detection_options_;
  Labels labels_;
  // The first picture that was read, on which results are drawn.
  std::optional<Picture> picture_;
  PictureView view_;
};

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_MEDIA_MEDIA_H_
