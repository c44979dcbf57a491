// SPDX-License-Identifier: MIT
// The part of libcurl's ABI that TargetKit uses, declared here so that building needs no development package. libcurl keeps
// these numbers and types for as long as the library is called libcurl.so.4.
#ifndef TARGETKIT_CURL_H
#define TARGETKIT_CURL_H

#include "Values.h"
#include "Functions.h"

#endif
