// Tests vm-run with pictures and sounds as inputs, and checks the words that it
// prints and the pictures that it draws about results.
#include <gtest/gtest.h>

#include <string>

#include "frontends/onnx/testing/model_builder.h"
#include "tools/lib/media/decode.h"
#include "tools/lib/media/sound.h"
#include "tools/testing/cli_fixture.h"

namespace ember::tools {
namespace {

using onnx::ModelBuilder;

class MediaTest : public CliTest {
 protected:
  static void WriteModel(const std::string& name, ModelBuilder& model) {
    Write(name, model.proto().SerializeAsString());
  }
  // Writes a picture file whose pixels all have one colour.
  static void WritePicture(const std::string& name, int width, int height,
                           Rgb color) {
    StatusOr<Picture> picture = Picture::Make(width, height);
    ASSERT_TRUE(picture.ok());
    for (size_t i = 0; i < picture->pixels.size(); ++i)
      picture->pixels[i] = color[i % 3];
    const StatusOr<std::string> png = EncodePng(*picture);
    ASSERT_TRUE(png.ok());
    Write(name, *png);
  }
  static void ExpectContains(const std::string& command,
                             const std::string& text, int exit_status = 0) {
    const Outcome outcome = Run(command);
    EXPECT_NE(outcome.output.find(text), std::string::npos) << command << "\n"
                                                            << outcome.output;
    EXPECT_EQ(outcome.exit_status, exit_status) << outcome.output;
  }
};

// The model's three scores are the means of the picture's three channels.
void AddMeans(ModelBuilder& m) {
  m.Input("picture", {1, 3, 4, 4});
  m.Node("GlobalAveragePool", {"picture"}, {"scores"});
  m.Output("scores");
}

TEST_F(MediaTest, APictureBecomesWords) {
  ModelBuilder m;
  AddMeans(m);
  WriteModel("means.onnx", m);
  WritePicture("blue.png", 8, 6, {51, 0, 204});
  Write("names.txt", "red\ngreen\nblue\n");
  ExpectContains(
      "vm-run means.onnx --input=@blue.png --labels=names.txt --top=2",
      "scores: top 2 of 3\n"
      "    0.8000      2  blue\n"
      "    0.2000      0  red\n");
  ExpectContains(
      "vm-run means.onnx --input=picture=@blue.png --image=raw,order=bgr",
      "vm-run: input picture: blue.png 8x6 → 4x4, bilinear, BGR, x, from "
      "--image\n");
  ASSERT_EQ(Run("vm-compile means.onnx -o means.vmfb --metadata "
                "labels=@names.txt")
                .exit_status,
            0);
  ExpectContains("vm-run means.vmfb --input=@blue.png",
                 "scores: top 3 of 3\n    0.8000      2  blue\n");
}

TEST_F(MediaTest, ASoundBecomesSamples) {
  ModelBuilder m;
  m.Input("sound", {1, 40});
  m.Node("Identity", {"sound"}, {"copy"});
  m.Output("copy");
  WriteModel("copy.onnx", m);
  Write("short.wav", EncodeWav({8000, 1, std::vector<float>(10, 0.5f)}));
  ExpectContains("vm-run copy.onnx --input=@short.wav --sound=rate=8000",
                 "vm-run: input sound: short.wav 0.00 s, 8000 Hz (the rate of "
                 "--sound), silence added up to 40 samples (0.01 s)\n");
  ExpectContains("vm-run copy.onnx --input=@short.wav", "from 0 to 0.5");
  Write("odd.wav", "RIFF");
  ExpectContains("vm-run copy.onnx --input=@odd.wav",
                 "vm-run: odd.wav: expected a WAV file", 1);
}

TEST_F(MediaTest, BoxesAreDrawn) {
  ModelBuilder m;
  m.Input("picture", {1, 3, 40, 40});
  m.Floats("boxes", {2, 4}, {10, 10, 30, 30, 0, 0, 5, 5});
  m.Floats("scores", {2}, {0.9f, 0.2f});
  m.Node("ReduceMean", {"picture"}, {"mean"}, {{"keepdims", 0}});
  for (const std::string name : {"boxes", "scores"}) {
    m.Node("Add", {name, "mean"}, {"out_" + name});
    m.Output("out_" + name);
  }
  WriteModel("boxes.onnx", m);
  WritePicture("black.png", 80, 80, {0, 0, 0});
  ExpectContains("vm-run boxes.onnx --input=@black.png --draw=drawn.png",
                 "  0.900  class 0 at 20,20 to 60,60\n");
  const std::string png = Read("drawn.png");
  const StatusOr<Picture> drawn = DecodePicture(
      {reinterpret_cast<const uint8_t*>(png.data()), png.size()}, "drawn.png");
  ASSERT_TRUE(drawn.ok());
  EXPECT_EQ(drawn->width, 80);
  EXPECT_GT(drawn->height, 80) << "the legend is below";
  EXPECT_GT(drawn->at(60, 40)[0], 100) << "the right edge of the box";
  EXPECT_EQ(drawn->at(40, 40)[0], 0) << "inside of the box";
}

TEST_F(MediaTest, ClassesOfPixelsAreDrawn) {
  ModelBuilder m;
  m.Input("picture", {1, 3, 8, 8});
  m.Node("Identity", {"picture"}, {"classes"});
  m.Output("classes");
  WriteModel("pixels.onnx", m);
  WritePicture("green.png", 16, 16, {0, 255, 0});
  Write("names.txt", "red\ngreen\nblue\n");
  ExpectContains(
      "vm-run pixels.onnx --input=@green.png --draw=map.png "
      "--labels=names.txt",
      "  green: 100.0 %\n");
}

TEST_F(MediaTest, MistakesAreOneLine) {
  ModelBuilder m;
  AddMeans(m);
  WriteModel("means.onnx", m);
  WritePicture("blue.png", 8, 6, {51, 0, 204});
  ExpectError("vm-run means.onnx --input=@no.png",
              "vm-run: cannot open file 'no.png': No such file or directory");
  Write("bad.jpg", "\xff\xd8\xff\xe0 nothing");
  ExpectContains("vm-run means.onnx --input=@bad.jpg",
                 "vm-run: bad.jpg: cannot decode the JPEG: ", 1);
  ExpectError("vm-run means.onnx --image=imagenet",
              "vm-run: --image: expected a picture, --input=@FILE.png or "
              ".jpg, found none",
              2);
  ExpectError("vm-run means.onnx --draw=x.png",
              "vm-run: --draw: expected a picture, --input=@FILE.png or "
              ".jpg, found none",
              2);
  ExpectError("vm-run means.onnx --sound=rate=8000",
              "vm-run: --sound: expected a sound, --input=@FILE.wav, found "
              "none",
              2);
  ExpectError("vm-run means.onnx --input=@blue.png --draw=x.jpg",
              "vm-run: --draw: expected a file that ends in .png, found "
              "'x.jpg'",
              2);
  ExpectContains("vm-run means.onnx --input=@blue.png --draw=x.png",
                 "vm-run: --draw: expected boxes [N, 4] with scores [N] or "
                 "[N, C], rows [N, 7], or classes of pixels [C, H, W] or [H, "
                 "W], found scores: 1x3x1x1xf32; ",
                 1);
  Write("two.txt", "a\nb\nc\nd\ne");
  ExpectContains("vm-run means.onnx --input=@blue.png --labels=two.txt",
                 "vm-run: --labels: expected a result of a classifier with 5 "
                 "classes, as two.txt names, found scores: 1x3x1x1xf32\n",
                 1);
  ModelBuilder other;
  other.Input("x", {1, 7});
  other.Node("Identity", {"x"}, {"y"});
  other.Output("y");
  WriteModel("other.onnx", other);
  ExpectContains("vm-run other.onnx --input=@blue.png",
                 "vm-run: blue.png: input 'x': expected the shape of a "
                 "picture, ",
                 1);
}

}  // namespace
}  // namespace ember::tools
