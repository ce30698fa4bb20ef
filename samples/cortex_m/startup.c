/* The vector table and what runs before main, for a Cortex-M4F. */
#include <stdint.h>

#include "board.h"

extern uint32_t data_begin[], data_end[], data_in_flash[];
extern uint32_t bss_begin[], bss_end[];
extern uint32_t stack_begin[], stack_end[];

int main(void);
void reset(void);

/* Coprocessor access control register: bits 20 to 23 enable the FPU. */
#define CPACR (*(volatile uint32_t*)0xe000ed88)

/* The stack is filled with this pattern, so that its use can be measured. */
enum { kUnusedStack = 0x5a5a5a5a };

void reset(void) {
  CPACR |= 0xfu << 20;
  __asm__ volatile("dsb\nisb" ::: "memory");
  uint32_t* from = data_in_flash;
  for (uint32_t* to = data_begin; to < data_end; ++to) *to = *from++;
  for (uint32_t* to = bss_begin; to < bss_end; ++to) *to = 0;
  uint32_t* here;
  __asm__ volatile("mov %0, sp" : "=r"(here));
  for (uint32_t* to = stack_begin; to < here - 16; ++to) *to = kUnusedStack;
  leave(main());
}

static void fault(void) {
  print("fault\n");
  leave(2);
}

__attribute__((section(".vectors"),
               used)) static void (*const vectors[])(void) = {
    (void (*)(void))stack_end, reset, fault, fault, fault, fault, fault,
};

uint32_t stack_used(void);
uint32_t stack_used(void) {
  const uint32_t* at = stack_begin;
  while (at < stack_end && *at == kUnusedStack) ++at;
  return (uint32_t)((const char*)stack_end - (const char*)at);
}
