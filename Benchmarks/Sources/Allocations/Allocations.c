// SPDX-License-Identifier: MIT
// The program's own `malloc` comes before libc's for every library that it loads, Swift's runtime and Foundation included.
#include "Allocations.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

#if defined(__GLIBC__)
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

static atomic_ulong count;

static void count_one(void) {
    atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
}

unsigned long allocations_count(void) {
    return atomic_load_explicit(&count, memory_order_relaxed);
}

void *malloc(size_t size) {
    count_one();
    return __libc_malloc(size);
}

void *calloc(size_t items, size_t size) {
    count_one();
    return __libc_calloc(items, size);
}

void *realloc(void *block, size_t size) {
    count_one();
    return __libc_realloc(block, size);
}

void *memalign(size_t alignment, size_t size) {
    count_one();
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    count_one();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
    count_one();
    *block = __libc_memalign(alignment, size);
    return *block ? 0 : ENOMEM;
}

void free(void *block) {
    __libc_free(block);
}
#else
unsigned long allocations_count(void) {
    return 0;
}
#endif
