#include "tools/lib/media/media.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/file.h"
#include "base/one_line.h"
#include "tools/lib/cli/command_line_error.h"
#include "tools/lib/cli/output_path.h"
#include "tools/lib/cli/standard_streams.h"
#include "tools/lib/media/class_map.h"
#include "tools/lib/media/classify.h"
#include "tools/lib/media/decode.h"
#include "tools/lib/media/draw.h"
#include "tools/lib/media/picture_options.h"
#include "tools/lib/media/sound.h"
#include "tools/lib/media/sound_input.h"
#include "tools/lib/tensors/spec.h"

namespace ember::tools {
namespace {

constexpr int64_t kDefaultTop = 5;

// Returns the file of a value of --input that may be a picture or a sound,
// [NAME=]@FILE; "" if the value gives a tensor's type.
std::string FileOf(const std::string& spec) {
  const StatusOr<NamedPath> path = ParsePathSpec(spec);
  if (!path.ok()) return "";
  const bool has_type =
      path->name && (path->name->find('=') != std::string::npos ||
                     ParseTensorType(*path->name));
  return has_type ? "" : path->path;
}

enum class MediaKind { kPicture, kSound, kOther };

// Returns the kind of a file, decided by its name, or by its contents if it is
// stdin.
StatusOr<MediaKind> KindOf(const std::string& path) {
  if (path != kStandardStream) {
    if (HasPictureName(path)) return MediaKind::kPicture;
    return HasSoundName(path) ? MediaKind::kSound : MediaKind::kOther;
  }
  EMBER_ASSIGN_OR_RETURN(const std::string name, StdinFile("--input"));
  EMBER_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(name));
  if (IsPicture(file.bytes())) return MediaKind::kPicture;
  return IsSound(file.bytes()) ? MediaKind::kSound : MediaKind::kOther;
}

void Say(const std::string& file, const std::string& input,
         const std::string& text) {
  std::fprintf(stderr, "vm-run: input %s: %s %s\n", OnOneLine(input).c_str(),
               OnOneLine(file).c_str(), OnOneLine(text).c_str());
}

// Returns the bytes of a file, u8[n].
StatusOr<vm::Tensor> ReadFileBytes(const std::string& path,
                                   const std::string& input) {
  EMBER_ASSIGN_OR_RETURN(const std::string name, InputPath("--input", path));
  EMBER_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(name));
  const std::span<const uint8_t> bytes = file.bytes();
  EMBER_ASSIGN_OR_RETURN(
      vm::Tensor tensor,
      vm::Tensor::Allocate(DType::kU8, {static_cast<int64_t>(bytes.size())}));
  if (!bytes.empty()) std::memcpy(tensor.data, bytes.data(), bytes.size());
  Say(path, input,
      std::to_string(bytes.size()) + " bytes, which the model decodes");
  return tensor;
}

BoxOrder OrderOf(const std::string& name) {
  if (name == "xyxy") return BoxOrder::kXyxy;
  if (name == "yxyx") return BoxOrder::kYxyx;
  if (name == "xywh") return BoxOrder::kXywh;
  if (name == "cxcywh") return BoxOrder::kCxcywh;
  return BoxOrder::kAuto;
}

std::string TypesText(const std::vector<std::string>& names,
                      const std::vector<vm::Tensor>& results) {
  constexpr size_t kMaxShown = 8;
  std::string text;
  for (size_t i = 0; i < results.size() && i < kMaxShown; ++i) {
    text +=
        (text.empty() ? "" : ", ") + names[i] + ": " + results[i].TypeText();
  }
  return results.size() > kMaxShown ? text + " ..." : text;
}

// Returns the labels of a result that is the values of a map: the texts in the
// result NAME.keys, which has one for each value.
Labels KeysOf(const std::string& name, const std::vector<std::string>& names,
              const std::vector<vm::Tensor>& results) {
  for (size_t i = 0; i < results.size(); ++i) {
    if (names[i] == name + ".keys" && results[i].strings != nullptr)
      return {*results[i].strings, names[i]};
  }
  return {};
}

Status NothingToDraw(const std::vector<std::string>& names,
                     const std::vector<vm::Tensor>& results) {
  return InvalidArgumentError(
      "--draw: expected boxes [N, 4] with scores [N] or [N, C], rows [N, 7], "
      "or classes of pixels [C, H, W] or [H, W], found " +
      TypesText(names, results) +
      "; a model's own encoding of boxes (YOLO) is not decoded: export it with "
      "NonMaxSuppression");
}

}  // namespace

void MediaFlags::Add(Flags& flags) {
  flags.Group("Pictures, sound and words");
  flags.Add("image", &image, "LIST",
            "Says how --input=@cat.jpg becomes a tensor: imagenet, caffe, tf, "
            "unit (0 to 1) or raw (0 to\n"
            "255), or items such as resize=256,crop=224,mean=0.5,std=0.5,"
            "scale=1/255,order=bgr,\n"
            "fit=stretch|crop|pad,filter=bicubic,layout=nhwc; later ones win "
            "over earlier ones and over\n"
            "the model's metadata. stderr says what was done.");
  flags.Add("sound", &sound, "LIST",
            "Says how --input=@yes.wav becomes a tensor: rate=16000 "
            "resamples, start=0.5 and seconds=1\n"
            "cut. Channels are mixed to one.");
  flags.Add("labels", &labels, "FILE",
            "Names the classes: a label in each line, or JSON. Without it the "
            "model's metadata does.");
  flags.Add("top", &top, "N",
            "Prints the N classes with the highest scores. 0: 5 if there are "
            "labels, else none.");
  flags.Add("draw", &draw, "FILE.png",
            "Draws boxes or classes of pixels on the picture of --input, with "
            "a legend.");
  flags.AddChoice("boxes", &boxes, {"auto", "xyxy", "yxyx", "xywh", "cxcywh"},
                  "Says what the four numbers of a box are. auto: xyxy, or "
                  "yxyx in models of TensorFlow.");
  flags.Add("min-score", &min_score, "X",
            "Leaves out boxes with a lower score.");
}

StatusOr<Media> Media::Start(const MediaFlags& flags,
                             const std::vector<std::string>& inputs) {
  Media media;
  media.flags_ = flags;
  bool has_picture = false, has_sound = false;
  std::vector<std::string> files;
  for (const std::string& spec : inputs) {
    const std::string path = FileOf(spec);
    EMBER_ASSIGN_OR_RETURN(const MediaKind kind, KindOf(path));
    if (kind == MediaKind::kOther) continue;
    files.push_back(path);
    (kind == MediaKind::kPicture ? has_picture : has_sound) = true;
    // Files are opened before the model is compiled, so that a missing file is
    // reported at once.
    EMBER_ASSIGN_OR_RETURN(const std::string file, InputPath("--input", path));
    EMBER_RETURN_IF_ERROR(MappedFile::Open(file).status());
  }
  const std::pair<std::string_view, const std::string*> for_pictures[] = {
      {"--image", &flags.image}, {"--draw", &flags.draw}};
  for (const auto& [name, value] : for_pictures) {
    if (value->empty() || has_picture) continue;
    return CommandLineError(std::string(name) +
                            ": expected a picture, --input=@FILE.png or .jpg, "
                            "found none");
  }
  if (!flags.sound.empty() && !has_sound) {
    return CommandLineError(
        "--sound: expected a sound, --input=@FILE.wav, found none");
  }
  if (!flags.draw.empty() && !flags.draw.ends_with(".png")) {
    return CommandLineError(
        "--draw: expected a file that ends in .png, found '" + flags.draw +
        "'");
  }
  if (flags.top < 0) {
    return CommandLineError("--top: expected at least 0, found " +
                            std::to_string(flags.top));
  }
  EMBER_RETURN_IF_ERROR(CheckOutputFile("--draw", flags.draw, files));
  PictureOptions picture_options;
  EMBER_RETURN_IF_ERROR(ParsePictureOptions(flags.image, picture_options));
  SoundOptions sound_options;
  EMBER_RETURN_IF_ERROR(ParseSoundOptions(flags.sound, sound_options));
  if (!flags.labels.empty()) {
    StatusOr<Labels> labels = ReadLabels(flags.labels);
    if (!labels.ok()) return labels.status().WithContext("--labels");
    media.labels_ = *std::move(labels);
  }
  media.detection_options_.order = OrderOf(flags.boxes);
  media.detection_options_.min_score = flags.min_score;
  return media;
}

std::function<std::optional<StatusOr<vm::Tensor>>(const std::string& path,
                                                  size_t number)>
Media::Reader(const vm::Module& module) {
  return [this, &module](const std::string& path,
                         size_t number) -> std::optional<StatusOr<vm::Tensor>> {
    const StatusOr<MediaKind> kind = KindOf(path);
    if (!kind.ok()) return kind.status();
    if (*kind == MediaKind::kPicture)
      return ReadPictureInput(module, path, number);
    if (*kind == MediaKind::kSound) return ReadSoundInput(module, path, number);
    return std::nullopt;
  };
}

StatusOr<vm::Tensor> Media::ReadPictureInput(const vm::Module& module,
                                             const std::string& path,
                                             size_t number) {
  const vm::TensorSignature& input = module.inputs()[number];
  // A list of bytes is the file itself: such a model decodes it.
  if (input.type == DType::kU8 && input.dims.size() == 1)
    return ReadFileBytes(path, input.name);
  PictureOptions options =
      PictureOptionsOfModel(module.definition().metadata, number, input);
  EMBER_RETURN_IF_ERROR(ParsePictureOptions(flags_.image, options));
  EMBER_ASSIGN_OR_RETURN(Picture picture, ReadPicture(path));
  StatusOr<PictureInput> made = MakePictureInput(picture, input, options);
  if (!made.ok()) return made.status().WithContext(path);
  Say(path, input.name, made->text);
  if (!picture_) {
    picture_ = std::move(picture);
    view_ = made->view;
  }
  return std::move(made->tensor);
}

StatusOr<vm::Tensor> Media::ReadSoundInput(const vm::Module& module,
                                           const std::string& path,
                                           size_t number) {
  const vm::TensorSignature& input = module.inputs()[number];
  SoundOptions options =
      SoundOptionsOfModel(module.definition().metadata, number);
  EMBER_RETURN_IF_ERROR(ParseSoundOptions(flags_.sound, options));
  EMBER_ASSIGN_OR_RETURN(const Sound sound, ReadWav(path));
  StatusOr<SoundInput> made = MakeSoundInput(sound, input, options);
  if (!made.ok()) return made.status().WithContext(path);
  Say(path, input.name, made->text);
  return std::move(made->tensor);
}

bool Media::ShowClasses(const vm::Module& module,
                        const std::vector<std::string>& names,
                        const std::vector<vm::Tensor>& results) const {
  bool has_shown = false;
  for (size_t i = 0; i < results.size(); ++i) {
    const std::optional<int64_t> classes = ClassCount(results[i]);
    if (!classes) continue;
    Labels labels = labels_;
    if (flags_.labels.empty() && picture_) {
      Labels keys = KeysOf(names[i], names, results);
      if (!keys.empty()) labels = std::move(keys);
    }
    if (labels.empty() ? flags_.top == 0 : !labels.Fits(*classes)) continue;
    const std::optional<std::string> text = TopText(
        names[i], results[i], labels, flags_.top > 0 ? flags_.top : kDefaultTop,
        ScaleOfResult(module.definition().metadata, i));
    if (!text) continue;
    std::fputs(text->c_str(), stdout);
    has_shown = true;
  }
  return has_shown;
}

bool Media::ShowDetections(const std::optional<Detections>& detections) const {
  if (!detections || (labels_.empty() && flags_.draw.empty())) return false;
  const size_t count = detections->found.size();
  std::printf("%zu detection%s with a score of at least %g, from %s\n", count,
              count == 1 ? "" : "s", flags_.min_score,
              OnOneLine(detections->form).c_str());
  for (const Detection& one : detections->found) {
    std::printf(
        "  %6.3f  %s at %ld,%ld to %ld,%ld\n", one.score,
        OnOneLine(labels_.Name(one.number, detections->classes)).c_str(),
        std::lround(one.left), std::lround(one.top), std::lround(one.right),
        std::lround(one.bottom));
  }
  return true;
}

Status Media::Draw(const std::optional<Detections>& detections,
                   const std::vector<std::string>& names,
                   const std::vector<vm::Tensor>& results) const {
  Picture drawn = *picture_;
  std::vector<LegendEntry> legend;
  if (detections) {
    legend = DrawDetections(*detections, labels_, drawn);
  } else {
    const std::optional<ClassMap> map = FindClassMap(names, results, view_);
    if (!map) return NothingToDraw(names, results);
    const std::vector<int32_t> numbers =
        OnPicture(*map, view_, drawn.width, drawn.height);
    legend = DrawClasses(numbers, map->classes, labels_, drawn);
    std::printf("classes of pixels, from %s\n", OnOneLine(map->form).c_str());
    for (const LegendEntry& entry : legend)
      std::printf("  %s\n", OnOneLine(entry.text).c_str());
  }
  EMBER_ASSIGN_OR_RETURN(drawn, WithLegend(drawn, legend));
  EMBER_ASSIGN_OR_RETURN(const std::string png, EncodePng(drawn));
  return WriteUserFile(flags_.draw, png);
}

Status Media::Show(const vm::Module& module,
                   const std::vector<vm::Tensor>& results) {
  std::vector<std::string> names;
  for (const vm::TensorSignature& result : module.results())
    names.push_back(result.name);
  if (labels_.empty())
    labels_ = LabelsOfModel(module.definition().metadata, results.size());
  std::optional<Detections> detections;
  const auto find = [&] {
    detections = FindDetections(names, results, view_, detection_options_);
  };
  // A detector's list of scores looks like a classifier's result. So with
  // --draw, boxes are looked for first.
  if (!flags_.draw.empty()) find();
  bool has_shown = !detections && ShowClasses(module, names, results);
  if (picture_ && !has_shown && !detections) find();
  has_shown |= ShowDetections(detections);
  if (!flags_.draw.empty()) return Draw(detections, names, results);
  if (has_shown || (flags_.labels.empty() && flags_.top == 0))
    return OkStatus();
  return InvalidArgumentError(
      std::string(flags_.labels.empty() ? "--top" : "--labels") +
      ": expected a result of a classifier" +
      (labels_.empty() ? std::string()
                       : " with " + std::to_string(labels_.names.size()) +
                             " classes, as " + labels_.source + " names") +
      ", found " + TypesText(names, results));
}

}  // namespace ember::tools
