// Replaces Apple's <TargetConditionals.h> in syntax checks of metal.mm on
// other systems. EMBER_STUB_IS_IOS selects iOS instead of macOS.
#ifndef EMBER_STUB_TARGET_CONDITIONALS_H
#define EMBER_STUB_TARGET_CONDITIONALS_H

#ifdef EMBER_STUB_IS_IOS
#define TARGET_OS_OSX 0
#else
#define TARGET_OS_OSX 1
#endif

#endif  // EMBER_STUB_TARGET_CONDITIONALS_H
