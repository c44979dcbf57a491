// SPDX-License-Identifier: MIT
#if os(Linux)
import TargetKit

/// Types and flags of sockets. They are values of an enumeration in Glibc, and numbers in Musl.
enum SocketType {
    #if canImport(Glibc)
    static let stream = Int32(SOCK_STREAM.rawValue)
    static let raw = Int32(SOCK_RAW.rawValue)
    static let closedOnExec = Int32(SOCK_CLOEXEC.rawValue)
    static let nonBlocking = Int32(SOCK_NONBLOCK.rawValue)
    #else
    static let stream = Int32(SOCK_STREAM)
    static let raw = Int32(SOCK_RAW)
    static let closedOnExec = Int32(SOCK_CLOEXEC)
    static let nonBlocking = Int32(SOCK_NONBLOCK)
    #endif
}
#endif
