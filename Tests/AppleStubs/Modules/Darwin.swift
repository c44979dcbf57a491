// SPDX-License-Identifier: MIT
// swift-format-ignore-file
// The C library of Apple's systems: Linux's, and what that has not.
@_exported import Glibc

public let F_FULLFSYNC: Int32 = 51
public let F_NOCACHE: Int32 = 48
public let SO_NOSIGPIPE: Int32 = 0x1022
