#include "tools/lib/media/picture_input.h"

#include "gtest/gtest.h"
#include "tools/lib/tensors/elements.h"
#include "tools/lib/tensors/spec.h"
#include "vm/isa/model_metadata.h"

namespace ember::tools {
namespace {

Picture Filled(int width, int height, Rgb color) {
  StatusOr<Picture> picture = Picture::Make(width, height);
  EXPECT_TRUE(picture.ok());
  for (size_t i = 0; i < picture->pixels.size(); ++i)
    picture->pixels[i] = color[i % 3];
  return *std::move(picture);
}

vm::TensorSignature Input(DType type, std::vector<int64_t> dims) {
  return {.name = "data", .type = type, .dims = std::move(dims)};
}

PictureOptions Options(std::string_view text) {
  PictureOptions options;
  const Status status = ParsePictureOptions(text, options);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return options;
}

PictureInput Make(const Picture& picture, const vm::TensorSignature& input,
                  std::string_view options = "") {
  StatusOr<PictureInput> made =
      MakePictureInput(picture, input, Options(options));
  EXPECT_TRUE(made.ok()) << made.status().ToString();
  return made.ok() ? *std::move(made) : PictureInput();
}

std::string Error(std::string_view text) {
  PictureOptions options;
  return std::string(ParsePictureOptions(text, options).message());
}

TEST(PictureInputTest, LayoutFollowsTheShape) {
  const Picture picture = Filled(8, 6, {51, 102, 255});
  const PictureInput first = Make(picture, Input(DType::kF32, {1, 3, 2, 4}));
  EXPECT_EQ(first.tensor.TypeText(), "1x3x2x4xf32");
  EXPECT_FLOAT_EQ(first.tensor.elements<float>()[0], 0.2f);
  EXPECT_FLOAT_EQ(first.tensor.elements<float>()[8], 0.4f);
  EXPECT_FLOAT_EQ(first.tensor.elements<float>()[23], 1.0f);
  EXPECT_EQ(first.text,
            "8x6 → 4x2, bilinear, RGB, x/255 (a guess: --image=imagenet, "
            "caffe, tf, unit, raw or mean=...)");
  const PictureInput last = Make(picture, Input(DType::kF32, {1, 2, 4, 3}));
  EXPECT_EQ(last.tensor.TypeText(), "1x2x4x3xf32");
  EXPECT_FLOAT_EQ(last.tensor.elements<float>()[1], 0.4f);
  EXPECT_EQ(Make(picture, Input(DType::kF32, {3, 2, 4})).tensor.TypeText(),
            "3x2x4xf32");
  EXPECT_EQ(Make(picture, Input(DType::kF32, {2, 4})).tensor.TypeText(),
            "2x4xf32");
}

TEST(PictureInputTest, OpenDimsAreThePictures) {
  const Picture picture = Filled(8, 6, {1, 2, 3});
  EXPECT_EQ(
      Make(picture, Input(DType::kF32, {-1, 3, -2, -3})).tensor.TypeText(),
      "1x3x6x8xf32");
  EXPECT_EQ(Make(picture, Input(DType::kU8, {-1, -2, -3, 3}), "crop=4x2")
                .tensor.TypeText(),
            "1x2x4x3xu8");
}

TEST(PictureInputTest, IntegersArePixels) {
  const Picture picture = Filled(2, 2, {0, 100, 255});
  const PictureInput bytes = Make(picture, Input(DType::kU8, {1, 2, 2, 3}));
  EXPECT_EQ(IntegerElement(bytes.tensor, 1), 100);
  const PictureInput quantised = Make(picture, Input(DType::kI8, {1, 2, 2, 3}));
  EXPECT_EQ(IntegerElement(quantised.tensor, 0), -128);
  EXPECT_EQ(IntegerElement(quantised.tensor, 2), 127);
  EXPECT_NE(quantised.text.find("x - 128"), std::string::npos)
      << quantised.text;
  const PictureInput clamped =
      Make(picture, Input(DType::kU8, {1, 2, 2, 3}), "scale=2");
  EXPECT_EQ(IntegerElement(clamped.tensor, 1), 200);
  EXPECT_EQ(IntegerElement(clamped.tensor, 2), 255);
}

TEST(PictureInputTest, NormalisedValuesAreQuantised) {
  std::vector<vm::MetadataEntry> metadata;
  vm::SetMetadata("tflite.input.0.scale", "0.5", metadata);
  vm::SetMetadata("tflite.input.0.zero_point", "-3", metadata);
  const vm::TensorSignature input = Input(DType::kI8, {1, 2, 2, 3});
  const Picture picture = Filled(2, 2, {0, 51, 255});
  PictureOptions options = PictureOptionsOfModel(metadata, 0, input);
  const StatusOr<PictureInput> pixels =
      MakePictureInput(picture, input, options);
  ASSERT_TRUE(pixels.ok());
  EXPECT_EQ(IntegerElement(pixels->tensor, 1), 51 - 128);
  ASSERT_TRUE(ParsePictureOptions("scale=1/51,mean=1", options).ok());
  const StatusOr<PictureInput> made = MakePictureInput(picture, input, options);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(IntegerElement(made->tensor, 0), -5) << "-1 / 0.5 - 3";
  EXPECT_EQ(IntegerElement(made->tensor, 1), -3);
  EXPECT_EQ(IntegerElement(made->tensor, 2), 5);
  EXPECT_NE(made->text.find("quantised as the model says"), std::string::npos);
}

TEST(PictureInputTest, GreyIsPillows) {
  const PictureInput made =
      Make(Filled(1, 1, {17, 53, 108}), Input(DType::kU8, {1, 1, 1, 1}));
  EXPECT_EQ(IntegerElement(made.tensor, 0), 49);
  EXPECT_NE(made.text.find("grey"), std::string::npos) << made.text;
}

TEST(PictureInputTest, PresetsAndOrder) {
  const Picture picture = Filled(1, 1, {255, 0, 51});
  const auto values = [&](std::string_view options) {
    const PictureInput made =
        Make(picture, Input(DType::kF32, {1, 3, 1, 1}), options);
    const auto elements = made.tensor.elements<float>();
    return std::vector<float>(elements.begin(), elements.end());
  };
  EXPECT_EQ(values("raw"), (std::vector<float>{255, 0, 51}));
  EXPECT_EQ(values("raw,order=bgr"), (std::vector<float>{51, 0, 255}));
  EXPECT_EQ(values("caffe"), (std::vector<float>{51 - 104, -117, 255 - 123}));
  EXPECT_FLOAT_EQ(values("tf")[0], 1);
  EXPECT_FLOAT_EQ(values("tf")[1], -1);
  EXPECT_FLOAT_EQ(values("imagenet")[0], (1 - 0.485f) / 0.229f);
  EXPECT_FLOAT_EQ(values("mean=5,10,20,std=10")[2], 3.1f);
  EXPECT_FLOAT_EQ(values("scale=1/255,mean=0.5,std=0.5")[2], -0.6f);
}

TEST(PictureInputTest, WaysToFit) {
  // The left half of the picture is black, the right half is white.
  Picture picture = Filled(8, 4, {0, 0, 0});
  for (int y = 0; y < 4; ++y)
    for (int x = 4; x < 8; ++x) std::fill_n(picture.at(x, y), 3, 255);
  const vm::TensorSignature input = Input(DType::kU8, {1, 4, 4, 3});
  const PictureInput crop = Make(picture, input, "fit=crop,filter=nearest");
  EXPECT_EQ(crop.view.left, 2);
  EXPECT_EQ(crop.view.x_scale, 1);
  EXPECT_EQ(IntegerElement(crop.tensor, 3), 0);
  EXPECT_EQ(IntegerElement(crop.tensor, 6), 255);
  const PictureInput pad = Make(picture, input, "fit=pad,filter=nearest");
  EXPECT_EQ(pad.view.x_scale, 2);
  EXPECT_EQ(IntegerElement(pad.tensor, 9), 255) << "first row, last column";
  EXPECT_EQ(IntegerElement(pad.tensor, 3 * 4 * 3 + 9), 0) << "last row";
  const PictureInput stretched = Make(picture, input);
  EXPECT_EQ(stretched.view.x_scale, 2);
  EXPECT_EQ(stretched.view.y_scale, 1);
  const PictureInput cut = Make(picture, input, "resize=8,crop=4");
  EXPECT_EQ(cut.view.left, 3) << "16x8 pixels, columns 6 to 9";
  EXPECT_EQ(cut.view.top, 1);
  EXPECT_EQ(cut.text.find("8x4 → 4x4, shorter side to 8, centre cropped"), 0u)
      << cut.text;
}

TEST(PictureInputTest, BatchesRepeatThePicture) {
  const PictureInput made =
      Make(Filled(2, 2, {9, 9, 9}), Input(DType::kU8, {2, 2, 2, 3}));
  EXPECT_EQ(IntegerElement(made.tensor, 23), 9);
  EXPECT_NE(made.text.find("2 times"), std::string::npos) << made.text;
}

TEST(PictureInputTest, OtherInputsAreRefused) {
  const Picture picture = Filled(2, 2, {0, 0, 0});
  const auto error = [&](std::vector<int64_t> dims) {
    const StatusOr<PictureInput> made = MakePictureInput(
        picture, Input(DType::kF32, std::move(dims)), PictureOptions());
    return made.ok() ? "" : std::string(made.status().message());
  };
  EXPECT_EQ(error({1, 7, 8, 9})
                .find("input 'data': expected the shape of a "
                      "picture, 1x3xHxW, 1xHxWx3 or HxW (1 or 3 "
                      "channels), found 1x7x8x9; "),
            0u)
      << error({1, 7, 8, 9});
  EXPECT_NE(error({10}), "");
  EXPECT_NE(error({1, 784}), "");
  EXPECT_NE(error({}), "");
  EXPECT_NE(error({1, 1, 3, 4, 4}), "");
}

TEST(PictureOptionsTest, MistakesAreNamed) {
  EXPECT_EQ(Error("imagnet"),
            "--image: expected imagenet, caffe, tf, unit, raw, or KEY=VALUE, "
            "found 'imagnet'; did you mean 'imagenet'?");
  EXPECT_EQ(Error("croop=3").find("--image: unknown key 'croop'; did you mean "
                                  "'crop'?"),
            0u)
      << Error("croop=3");
  for (const char* text :
       {"crop=0", "crop=3x", "resize=99999999", "std=0", "std=1,0,1", "mean=a",
        "mean=1,2", "mean=1,2,3,4", "1", "raw,1", "fit=x", "filter=x",
        "order=rbg", "layout=x", "scale=inf", "scale=1/0", "", ","})
    EXPECT_EQ(Error(text).empty(), std::string_view(text).empty()) << text;
}

TEST(PictureOptionsTest, MeanOfAFile) {
  const std::string path = ::testing::TempDir() + "/mean.npy";
  RandomTensors random(0);
  const StatusOr<NamedTensor> mean =
      ReadTensorSpec("3x1x2xf32=1,3,10,30,100,300", random);
  ASSERT_TRUE(mean.ok());
  ASSERT_TRUE(WriteTensorFile(path, "mean", mean->tensor).ok());
  EXPECT_EQ(Options("mean=@" + path).mean, (std::vector<double>{2, 20, 200}));
}

TEST(PictureOptionsTest, MetadataSaysHow) {
  std::vector<vm::MetadataEntry> metadata;
  vm::SetMetadata("tflite.input.0.mean", "127.5", metadata);
  vm::SetMetadata("tflite.input.0.std", "127.5 127.5 127.5", metadata);
  const vm::TensorSignature input = Input(DType::kF32, {1, 8, 8, 3});
  const PictureOptions tflite = PictureOptionsOfModel(metadata, 0, input);
  EXPECT_TRUE(tflite.is_normalisation_known);
  EXPECT_EQ(tflite.mean, std::vector<double>{127.5});
  EXPECT_EQ(tflite.FormulaText(), "(x - 127.5) / 127.5,127.5,127.5");
  EXPECT_FALSE(
      PictureOptionsOfModel(metadata, 1, input).is_normalisation_known);
  vm::SetMetadata("onnx.metadata.Image.BitmapPixelFormat", "Bgr8", metadata);
  vm::SetMetadata("onnx.metadata.Image.NominalPixelRange", "Normalized_0_1",
                  metadata);
  const PictureOptions windows = PictureOptionsOfModel(metadata, 1, input);
  EXPECT_TRUE(windows.is_bgr);
  EXPECT_EQ(windows.FormulaText(), "x/255");
}

}  // namespace
}  // namespace ember::tools
