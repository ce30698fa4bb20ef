/* The few things that the sample needs of a board: text and files of the host,
 * by semihosting, and a clock.
 *
 *   print("ready\n");
 *   read_file("input.bin", input, sizeof input);
 *   const uint32_t begin = ticks();
 *
 * Semihosting works under qemu and with a debugger. A program for a board alone
 * replaces board.c. Not thread-safe. */
#ifndef EMBER_SAMPLES_CORTEX_M_BOARD_H_
#define EMBER_SAMPLES_CORTEX_M_BOARD_H_

#include <stddef.h>
#include <stdint.h>

void print(const char* text);
void print_number(uint32_t number);

/* Read and write a whole file of the host. They return 0, or 1 if the file
 * cannot be opened or has another size. */
int read_file(const char* name, void* data, size_t bytes);
int write_file(const char* name, const void* data, size_t bytes);

/* Returns a counter that increases by 1 every 40 ns (25 MHz). */
uint32_t ticks(void);

/* Ends the program; qemu exits with the status. */
void leave(int status) __attribute__((noreturn));

#endif
