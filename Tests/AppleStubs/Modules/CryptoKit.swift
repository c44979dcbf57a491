// SPDX-License-Identifier: MIT
// swift-format-ignore-file
import Foundation

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
public struct SHA256Digest: Sequence, Sendable {
    public func makeIterator() -> IndexingIterator<[UInt8]> { [].makeIterator() }
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R { try [UInt8]().withUnsafeBytes(body) }
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
public struct SHA256: Sendable {
    public init() {}
    public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}
    public func finalize() -> SHA256Digest { SHA256Digest() }
    public static func hash<D: DataProtocol>(data: D) -> SHA256Digest { SHA256Digest() }
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
public enum Insecure {
    public struct SHA1Digest: Sequence, Sendable {
        public func makeIterator() -> IndexingIterator<[UInt8]> { [].makeIterator() }
    }

    public struct SHA1: Sendable {
        public init() {}
        public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}
        public func finalize() -> SHA1Digest { SHA1Digest() }
    }
}
