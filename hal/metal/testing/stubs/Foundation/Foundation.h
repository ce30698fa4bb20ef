// Replaces Apple's <Foundation/Foundation.h> in syntax checks of metal.mm
// on other systems. It declares what metal.mm uses, as Apple's documentation
// does (developer.apple.com/documentation/foundation).
#ifndef EMBER_STUB_FOUNDATION_H
#define EMBER_STUB_FOUNDATION_H

#include <cstddef>

#define nil nullptr
using BOOL = signed char;
#define YES (__objc_yes)
#define NO (__objc_no)

using NSUInteger = unsigned long;
using NSInteger = long;

@interface NSObject
+ (instancetype)alloc;
- (instancetype)init;
@end

@protocol NSObject
@end

struct NSRange {
  NSUInteger location;
  NSUInteger length;
};
inline NSRange NSMakeRange(NSUInteger location, NSUInteger length) { return {location, length}; }

enum NSStringEncoding : NSUInteger { NSUTF8StringEncoding = 4 };

@interface NSString : NSObject
@property(readonly) const char* UTF8String;
+ (instancetype)stringWithUTF8String:(const char*)text;
- (instancetype)initWithBytes:(const void*)bytes
                       length:(NSUInteger)length
                     encoding:(NSStringEncoding)encoding;
@end

@interface NSError : NSObject
@property(readonly) NSInteger code;
@property(readonly, copy) NSString* localizedDescription;
@end

struct NSFastEnumerationState {
  unsigned long state;
  id __unsafe_unretained* itemsPtr;
  unsigned long* mutationsPtr;
  unsigned long extra[5];
};

@interface NSArray<ObjectType> : NSObject
@property(readonly) NSUInteger count;
- (NSUInteger)countByEnumeratingWithState:(NSFastEnumerationState*)state
                                  objects:(id __unsafe_unretained[])buffer
                                    count:(NSUInteger)count;
@end

#endif  // EMBER_STUB_FOUNDATION_H
