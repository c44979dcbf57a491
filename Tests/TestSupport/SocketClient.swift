// SPDX-License-Identifier: MIT

import Foundation
import TargetKit
import TargetKitTesting

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// A connection for tests that send or receive bytes that an HTTP client would not. It waits on its own queue.
public final class SocketClient: Sendable {
    private let descriptor: Int32
    private let queue = DispatchQueue(label: "TestSupport.SocketClient")
    private let unread = Locked(Data())

    /// Connects to a server.
    ///
    /// - Throws: ``SocketError`` if the connection is refused.
    public convenience init(to server: TestServer) throws {
        try self.init(address: server.listeningAddress, port: server.port)
    }

    /// Connects to an address. The port is ignored for a Unix domain socket.
    ///
    /// - Throws: ``SocketError`` if the connection is refused.
    public init(address: TestServer.Address = .ipv4, port: Int) throws {
        guard let port = UInt16(exactly: port) else { throw SocketError(call: "connect", code: EINVAL) }
        descriptor = try Socket.connected(to: address, port: port)
    }

    deinit {
        close(descriptor)
    }

    /// Sends a text as UTF-8.
    ///
    /// - Throws: ``SocketError`` if the server has closed the connection.
    public func send(_ text: String) async throws {
        try await send(Data(text.utf8))
    }

    /// Sends bytes.
    ///
    /// - Throws: ``SocketError`` if the server has closed the connection.
    public func send(_ data: Data) async throws {
        try await perform { [descriptor] in
            var rest = data[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { Socket.send(descriptor, bytes: $0) }
                guard count > 0 else { throw SocketError(call: "send", code: errno) }
                rest = rest.dropFirst(count)
            }
        }
    }

    /// Receives a number of bytes, or fewer if the server closes the connection.
    ///
    /// - Throws: ``SocketError``, with `ECONNRESET` for a reset.
    public func receive(_ count: Int) async throws -> Data {
        try await receive { $0.count >= count ? count : nil }
    }

    /// Receives until and including a text, or until the server closes the connection.
    ///
    /// - Throws: ``SocketError``, with `ECONNRESET` for a reset.
    public func receive(through text: String) async throws -> String {
        let mark = Data(text.utf8)
        let data = try await receive { $0.range(of: mark).map { $0.upperBound } }
        return String(decoding: data, as: UTF8.self)
    }

    /// Receives until the server closes the connection.
    ///
    /// - Throws: ``SocketError``, with `ECONNRESET` for a reset.
    public func receiveAll() async throws -> String {
        String(decoding: try await receive { _ in nil }, as: UTF8.self)
    }

    /// Closes the client's half of the connection (TCP FIN).
    public func finishSending() {
        Socket.shutdownWriting(descriptor)
    }

    /// Closes both halves of the connection. The descriptor is released with this object.
    public func disconnect() {
        _ = shutdown(descriptor, Int32(SHUT_RDWR))
    }

    private func receive(_ end: @escaping @Sendable (Data) -> Int?) async throws -> Data {
        try await perform { [descriptor, unread] in
            var data = unread.withLock { $0 }
            var bytes = [UInt8](repeating: 0, count: 64 << 10)
            var place = end(data)
            while place == nil {
                let count = recv(descriptor, &bytes, bytes.count, 0)
                guard count >= 0 else { throw SocketError(call: "recv", code: errno) }
                guard count > 0 else { break }
                data.append(contentsOf: bytes[..<count])
                place = end(data)
            }
            let taken = data.prefix(place ?? data.count)
            let rest = Data(data.dropFirst(taken.count))
            unread.withLock { $0 = rest }
            return Data(taken)
        }
    }

    private func perform<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            // The work retains the client, so that the descriptor stays open.
            queue.async { continuation.resume(with: Result { try withExtendedLifetime(self) { try work() } }) }
        }
    }
}
