#include <csetjmp>
#include <cstdio>
// This include must come first, because jpeglib.h uses FILE without including
// <cstdio>.
#include <jerror.h>
#include <jpeglib.h>

#include "tools/lib/media/decoders.h"

namespace ember::tools::internal {
namespace {

constexpr int kMaxScans = 100;
constexpr long kMaxMemory = long{512} << 20;

// The state of one decoding. libjpeg reports an error by longjmp, which skips
// destructors. So the functions that call libjpeg own no objects with a
// destructor.
struct Decoder {
  jpeg_decompress_struct jpeg;
  jpeg_error_mgr errors;
  jpeg_progress_mgr progress;
  std::jmp_buf stop;
  char message[JMSG_LENGTH_MAX];
};

Decoder& DecoderOf(j_common_ptr jpeg) {
  return *static_cast<Decoder*>(jpeg->client_data);
}

[[noreturn]] void StopAtError(j_common_ptr jpeg) {
  Decoder& decoder = DecoderOf(jpeg);
  jpeg->err->format_message(jpeg, decoder.message);
  std::longjmp(decoder.stop, 1);
}

// Treats libjpeg's warnings about damaged data as errors. Three warnings about
// odd headers are ignored, because such files decode correctly.
void StopAtDamage(j_common_ptr jpeg, int level) {
  if (level >= 0) return;
  const int code = jpeg->err->msg_code;
  if (code == JWRN_EXTRANEOUS_DATA || code == JWRN_ADOBE_XFORM ||
      code == JWRN_JFIF_MAJOR)
    return;
  StopAtError(jpeg);
}

void StopAtManyScans(j_common_ptr jpeg) {
  if (reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number <= kMaxScans)
    return;
  Decoder& decoder = DecoderOf(jpeg);
  std::snprintf(decoder.message, sizeof(decoder.message),
                "expected at most %d scans of a progressive JPEG, found more",
                kMaxScans);
  std::longjmp(decoder.stop, 1);
}

void Start(Decoder& decoder) {
  decoder.jpeg.err = jpeg_std_error(&decoder.errors);
  decoder.jpeg.client_data = &decoder;
  decoder.errors.error_exit = StopAtError;
  decoder.errors.emit_message = StopAtDamage;
  decoder.progress.progress_monitor = StopAtManyScans;
}

// Reads the JPEG's header. Returns false after an error.
bool ReadHead(Decoder& decoder, const uint8_t* bytes, size_t size) {
  if (setjmp(decoder.stop) != 0) return false;
  jpeg_create_decompress(&decoder.jpeg);
  decoder.jpeg.client_data = &decoder;
  decoder.jpeg.progress = &decoder.progress;
  decoder.jpeg.mem->max_memory_to_use = kMaxMemory;
  jpeg_mem_src(&decoder.jpeg, bytes, size);
  jpeg_save_markers(&decoder.jpeg, JPEG_APP0 + 1, 0xffff);
  jpeg_read_header(&decoder.jpeg, TRUE);
  const J_COLOR_SPACE stored = decoder.jpeg.jpeg_color_space;
  decoder.jpeg.out_color_space =
      stored == JCS_CMYK || stored == JCS_YCCK ? JCS_CMYK : JCS_RGB;
  return true;
}

// Converts a row of CMYK pixels to RGB. Adobe's programs store the four values
// inverted.
void ConvertCmyk(const uint8_t* row, int width, bool is_inverted, uint8_t* to) {
  for (int x = 0; x < width; ++x) {
    const int black = is_inverted ? row[4 * x + 3] : 255 - row[4 * x + 3];
    for (int channel = 0; channel < 3; ++channel) {
      const int ink = row[4 * x + channel];
      const int light = is_inverted ? ink : 255 - ink;
      to[3 * x + channel] = static_cast<uint8_t>((light * black + 127) / 255);
    }
  }
}

// Reads all pixels. `row` is a buffer for one row of four channels. Returns
// false after an error.
bool ReadPixels(Decoder& decoder, uint8_t* row, uint8_t* pixels) {
  if (setjmp(decoder.stop) != 0) return false;
  jpeg_decompress_struct& jpeg = decoder.jpeg;
  jpeg_start_decompress(&jpeg);
  const size_t row_bytes = size_t{jpeg.output_width} * 3;
  while (jpeg.output_scanline < jpeg.output_height) {
    uint8_t* const to = pixels + jpeg.output_scanline * row_bytes;
    const bool is_cmyk = jpeg.out_color_space == JCS_CMYK;
    JSAMPROW target = is_cmyk ? row : to;
    jpeg_read_scanlines(&jpeg, &target, 1);
    if (is_cmyk) {
      ConvertCmyk(row, static_cast<int>(jpeg.output_width),
                  jpeg.saw_Adobe_marker != 0, to);
    }
  }
  jpeg_finish_decompress(&jpeg);
  return true;
}

uint32_t Number(std::span<const uint8_t> bytes, size_t at, size_t count,
                bool is_big) {
  uint32_t value = 0;
  for (size_t i = 0; i < count; ++i)
    value = value << 8 | bytes[at + (is_big ? i : count - 1 - i)];
  return value;
}

}  // namespace

int ExifOrientation(std::span<const uint8_t> segment) {
  // An EXIF segment is "Exif", two zero bytes, and a TIFF file. The TIFF file's
  // first directory has entries of 12 bytes, one of which is the orientation.
  constexpr size_t kHead = 6, kEntry = 12;
  constexpr uint32_t kOrientation = 0x112;
  if (segment.size() < kHead + 8 || segment[0] != 'E' || segment[1] != 'x' ||
      segment[2] != 'i' || segment[3] != 'f')
    return 1;
  const std::span<const uint8_t> tiff = segment.subspan(kHead);
  const bool is_big = tiff[0] == 'M';
  const size_t directory = Number(tiff, 4, 4, is_big);
  if (directory > tiff.size() || tiff.size() - directory < 2) return 1;
  const size_t count = Number(tiff, directory, 2, is_big);
  for (size_t i = 0; i < count; ++i) {
    const size_t at = directory + 2 + i * kEntry;
    if (at + kEntry > tiff.size()) return 1;
    if (Number(tiff, at, 2, is_big) != kOrientation) continue;
    const uint32_t value = Number(tiff, at + 8, 2, is_big);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

StatusOr<Picture> Upright(Picture picture, int orientation) {
  if (orientation <= 1 || orientation > 8) return picture;
  const bool swaps = orientation >= 5;
  EMBER_ASSIGN_OR_RETURN(Picture upright,
                         Picture::Make(swaps ? picture.height : picture.width,
                                       swaps ? picture.width : picture.height));
  // Each EXIF orientation is a combination of three operations on the stored
  // picture: mirroring its columns, mirroring its rows, and swapping both axes.
  const bool flips_columns = orientation == 2 || orientation == 3 ||
                             orientation == 7 || orientation == 8;
  const bool flips_rows = orientation == 3 || orientation == 4 ||
                          orientation == 6 || orientation == 7;
  for (int y = 0; y < upright.height; ++y) {
    for (int x = 0; x < upright.width; ++x) {
      int column = swaps ? y : x, row = swaps ? x : y;
      if (flips_columns) column = picture.width - 1 - column;
      if (flips_rows) row = picture.height - 1 - row;
      for (int channel = 0; channel < 3; ++channel)
        upright.at(x, y)[channel] = picture.at(column, row)[channel];
    }
  }
  return upright;
}

StatusOr<Picture> DecodeJpeg(std::span<const uint8_t> bytes,
                             const DecodeOptions& options) {
  struct Owner {
    ~Owner() { jpeg_destroy_decompress(&decoder.jpeg); }
    Decoder decoder = {};
  } owner;
  Decoder& decoder = owner.decoder;
  Start(decoder);
  const auto error = [&decoder] { return DataLossError(decoder.message); };
  if (!ReadHead(decoder, bytes.data(), bytes.size())) return error();
  EMBER_ASSIGN_OR_RETURN(
      Picture picture,
      NewPicture(decoder.jpeg.image_width, decoder.jpeg.image_height, options));
  int orientation = 1;
  for (const jpeg_marker_struct* marker = decoder.jpeg.marker_list;
       marker != nullptr && orientation == 1; marker = marker->next) {
    if (marker->marker == JPEG_APP0 + 1)
      orientation = ExifOrientation({marker->data, marker->data_length});
  }
  std::vector<uint8_t> row(static_cast<size_t>(picture.width) * 4);
  if (!ReadPixels(decoder, row.data(), picture.pixels.data())) return error();
  if (!options.upright) return picture;
  return Upright(std::move(picture), orientation);
}

}  // namespace ember::tools::internal
