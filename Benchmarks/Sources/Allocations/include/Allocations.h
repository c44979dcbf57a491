// SPDX-License-Identifier: MIT
#pragma once

/// The number of blocks that any thread of this process has asked for since its start: malloc, calloc, realloc (of any
/// block), aligned_alloc, memalign and posix_memalign.
unsigned long allocations_count(void);
