/* Semihosting and the timer of an MPS2 board with the image AN386, as qemu's
 * machine mps2-an386 has it. */
#include "board.h"

/* Numbers of semihosting operations, from Arm's "Semihosting for AArch32 and
 * AArch64". */
enum {
  kOpen = 0x01,
  kClose = 0x02,
  kWriteText = 0x04,
  kWrite = 0x05,
  kRead = 0x06,
  kExitExtended = 0x20,
};
enum { kReadBinary = 1, kWriteBinary = 5 };
enum { kApplicationExit = 0x20026 };

static int32_t semihost(uint32_t operation, const void* argument) {
  register uint32_t r0 __asm__("r0") = operation;
  register const void* r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return (int32_t)r0;
}

static size_t length_of(const char* text) {
  size_t length = 0;
  while (text[length] != 0) ++length;
  return length;
}

static int32_t open_file(const char* name, uint32_t mode) {
  const uint32_t arguments[] = {(uint32_t)name, mode, length_of(name)};
  return semihost(kOpen, arguments);
}

/* Both operations return the number of bytes that they have not moved. */
static int move(const char* name, uint32_t mode, uint32_t operation,
                const void* data, size_t bytes) {
  const int32_t file = open_file(name, mode);
  if (file < 0) return 1;
  const uint32_t arguments[] = {(uint32_t)file, (uint32_t)data, bytes};
  const int32_t left = semihost(operation, arguments);
  const uint32_t handle[] = {(uint32_t)file};
  semihost(kClose, handle);
  return left != 0;
}

int read_file(const char* name, void* data, size_t bytes) {
  return move(name, kReadBinary, kRead, data, bytes);
}

int write_file(const char* name, const void* data, size_t bytes) {
  return move(name, kWriteBinary, kWrite, data, bytes);
}

void print(const char* text) { semihost(kWriteText, text); }

void print_number(uint32_t number) {
  char digits[11];
  size_t at = sizeof digits - 1;
  digits[at] = 0;
  do {
    digits[--at] = (char)('0' + number % 10);
    number /= 10;
  } while (number != 0);
  print(digits + at);
}

void leave(int status) {
  const uint32_t arguments[] = {kApplicationExit, (uint32_t)status};
  semihost(kExitExtended, arguments);
  for (;;) {
  }
}

/* CMSDK APB timer 0, which counts down from its reload value. */
struct Timer {
  volatile uint32_t control, value, reload;
};
#define TIMER0 ((struct Timer*)0x40000000)

uint32_t ticks(void) {
  if ((TIMER0->control & 1) == 0) {
    TIMER0->reload = 0xffffffff;
    TIMER0->value = 0xffffffff;
    TIMER0->control = 1;
  }
  return 0xffffffff - TIMER0->value;
}
