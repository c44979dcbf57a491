// SPDX-License-Identifier: MIT
#if os(Linux)
/// Types and flags of sockets. They are values of an enumeration in Glibc, and numbers in Musl.
package enum SocketType {
    #if canImport(Glibc)
    package static let stream = Int32(SOCK_STREAM.rawValue)
    package static let raw = Int32(SOCK_RAW.rawValue)
    package static let closedOnExec = Int32(SOCK_CLOEXEC.rawValue)
    package static let nonBlocking = Int32(SOCK_NONBLOCK.rawValue)
    #else
    package static let stream = Int32(SOCK_STREAM)
    package static let raw = Int32(SOCK_RAW)
    package static let closedOnExec = Int32(SOCK_CLOEXEC)
    package static let nonBlocking = Int32(SOCK_NONBLOCK)
    #endif
}
#endif
