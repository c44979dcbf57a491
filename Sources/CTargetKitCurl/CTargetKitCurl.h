// SPDX-License-Identifier: MIT
// The part of libcurl's ABI that TargetKit uses, declared here so that a build needs no development package. These
// numbers and types do not change as long as the library's name is libcurl.so.4.
#ifndef TARGETKIT_CURL_H
#define TARGETKIT_CURL_H

#include "Values.h"
#include "Functions.h"
#include "Decoders.h"

#endif
