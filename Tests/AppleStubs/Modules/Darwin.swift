// SPDX-License-Identifier: MIT
// swift-format-ignore-file
// Approximates the C library of Apple's systems: Linux's, with missing declarations and declarations of different
// types.
@_exported import Glibc

public let F_FULLFSYNC: Int32 = 51
public let F_NOCACHE: Int32 = 48
public let OPEN_MAX: Int32 = 10240
public let RLIMIT_NOFILE: Int32 = 8
public let SOCK_STREAM: Int32 = 1
public let SO_NOSIGPIPE: Int32 = 0x1022

@discardableResult
public func sysctlbyname(
    _ name: UnsafePointer<CChar>!,
    _ value: UnsafeMutableRawPointer!,
    _ size: UnsafeMutablePointer<Int>!,
    _ newValue: UnsafeMutableRawPointer!,
    _ newSize: Int
) -> Int32 { -1 }

extension stat {
    public var st_mtimespec: timespec { st_mtim }
    public var st_ctimespec: timespec { st_ctim }
}
