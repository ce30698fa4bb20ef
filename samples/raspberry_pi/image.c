#include "image.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMaxPixelsPerSide = 1 << 14 };

/* Reads a number of the header, after white space and comments. Returns -1 if
 * there is none. */
static int ReadNumber(FILE* file) {
  int c = getc(file), number = 0, digits = 0;
  while (isspace(c) || c == '#') {
    if (c == '#') {
      while (c != '\n' && c != EOF) c = getc(file);
    } else {
      c = getc(file);
    }
  }
  for (; isdigit(c) && digits < 7; ++digits) {
    number = number * 10 + (c - '0');
    c = getc(file);
  }
  /* Only one white space character is read after the number, because pixels
   * may follow it. */
  return digits > 0 && isspace(c) ? number : -1;
}

static const char* ReadPixels(FILE* file, Image* image) {
  const int letter = getc(file), kind = getc(file);
  int shades;
  size_t size;
  if (letter != 'P' || (kind != '5' && kind != '6'))
    return "expected a binary PPM (P6) or PGM (P5)";
  image->channels = kind == '6' ? 3 : 1;
  image->width = ReadNumber(file);
  image->height = ReadNumber(file);
  shades = ReadNumber(file);
  if (image->width < 1 || image->width > kMaxPixelsPerSide ||
      image->height < 1 || image->height > kMaxPixelsPerSide) {
    return "expected a width and height of 1 to 16384";
  }
  if (shades != 255) return "expected 255 shades";
  size = (size_t)image->width * (size_t)image->height * (size_t)image->channels;
  image->pixels = malloc(size);
  if (image->pixels == NULL) return "there is no memory for it";
  if (fread(image->pixels, 1, size, file) != size)
    return "it ends before its last pixel";
  return NULL;
}

const char* ReadImage(const char* path, Image* image) {
  FILE* const file = fopen(path, "rb");
  const char* error;
  image->pixels = NULL;
  if (file == NULL) return "it cannot be opened";
  error = ReadPixels(file, image);
  fclose(file);
  if (error != NULL) FreeImage(image);
  return error;
}

void FreeImage(Image* image) {
  free(image->pixels);
  image->pixels = NULL;
}

static float PixelAt(const Image* image, int y, int x, int channel) {
  const unsigned char* pixel =
      image->pixels +
      ((size_t)y * (size_t)image->width + (size_t)x) * (size_t)image->channels;
  if (image->channels == 1) return pixel[0];
  if (channel >= 0) return pixel[channel];
  return 0.299f * pixel[0] + 0.587f * pixel[1] + 0.114f * pixel[2];
}

/* A row of `from` pixels is resized to `to` pixels. Returns the first old pixel
 * that the new pixel `i` covers. */
static int FirstCovered(int i, int from, int to) {
  return (int)((long long)i * from / to);
}

/* Returns one past the last old pixel that the new pixel `i` covers. A new
 * pixel covers at least one old pixel. */
static int EndCovered(int i, int from, int to) {
  const int first = FirstCovered(i, from, to);
  const int end = FirstCovered(i + 1, from, to);
  return end > first ? end : first + 1;
}

float SampleImage(const Image* image, int width, int height, int y, int x,
                  int channel) {
  const int end_y = EndCovered(y, image->height, height);
  const int end_x = EndCovered(x, image->width, width);
  float sum = 0;
  int count = 0, row, column;
  for (row = FirstCovered(y, image->height, height); row < end_y; ++row) {
    for (column = FirstCovered(x, image->width, width); column < end_x;
         ++column) {
      sum += PixelAt(image, row, column, channel);
      ++count;
    }
  }
  return sum / (float)count / 255;
}
