// SPDX-License-Identifier: MIT

/// The limit of a body in memory that its content codings expand, in addition to the limit of its size: a few kilobytes
/// can expand to gigabytes.
struct ExpansionLimit: Sendable {
    /// The factor by which codings may expand a body. Text is rarely expanded by more than 20.
    static let standardFactor = 200
    /// The size up to which the factor doesn't matter, in bytes: 64 MiB.
    private static let freeByteCount: Int64 = 64 << 20

    private let factor: Int64

    /// - Parameter factor: The factor by which codings may expand a body. Values below 1 count as 1.
    init(factor: Int) {
        self.factor = Int64(max(1, factor))
    }

    /// The failure of a body, in one line; `nil` if it is within the limit.
    ///
    /// - Parameters:
    ///   - decoded: The size of the body so far, in bytes.
    ///   - received: The number of bytes from which it was decoded, or more.
    func failure(_ decoded: Int64, of received: Int64) -> String? {
        guard decoded > Self.freeByteCount, decoded / factor >= max(1, received) else { return nil }
        return
            "the decoded body exceeds 64 MiB and \(factor) times the \(received) bytes that were received; download it "
            + #"to a file, or set \.maxExpansion if you trust the server"#
    }
}

extension CallOptions {
    /// The number of times by which content codings, such as gzip, may expand a response's body in memory; default: 200.
    ///
    /// A body that exceeds both 64 MiB and this number of times the received bytes ends the call with the kind
    /// `.tooLarge`, so that a small response can't exhaust the memory. `Int.max` removes the limit;
    /// ``HTTPTask/limit(bytes:)`` applies in any case. Samples, downloads to files, and streams have no such limit.
    ///
    /// `URLSessionTransport` compares the body with the response's `Content-Length`, and without one with the number of
    /// bytes that URLSession counts as received.
    public var maxExpansion: Int {
        get { self[MaxExpansionKey.self] }
        set { self[MaxExpansionKey.self] = newValue }
    }
}

private enum MaxExpansionKey: CallOptionKey { static let defaultValue = ExpansionLimit.standardFactor }
