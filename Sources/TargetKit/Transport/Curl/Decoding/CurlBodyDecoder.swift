// SPDX-License-Identifier: MIT
#if os(Linux)

/// Decodes the body of a response, and checks that its codings are complete.
///
/// The output is passed on in parts of a fixed size, so the memory doesn't depend on the decoded size.
final class CurlBodyDecoder {
    /// The decoder of one coding, and its output.
    private final class Stage {
        let decoder: any ContentDecoder
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
        /// The unread part of the output.
        var output = UnsafeRawBufferPointer(start: nil, count: 0)

        init(_ decoder: any ContentDecoder) {
            self.decoder = decoder
        }

        deinit {
            buffer.deallocate()
        }

        /// Decodes input until there is output; returns `false` if more input is needed.
        func fill(from input: inout UnsafeRawBufferPointer) throws(TransportFailure) -> Bool {
            repeat {
                let count = try decoder.decode(&input, into: buffer)
                output = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count])
            } while output.isEmpty && !input.isEmpty
            return !output.isEmpty
        }
    }

    /// The maximum number of codings of one body.
    private static let limit = 5

    /// The coding that was applied last comes first.
    private let stages: [Stage]
    private var hasInput = false
    private let expansionLimit: ExpansionLimit?
    private var inputByteCount: Int64 = 0
    private var outputByteCount: Int64 = 0
    /// The number of bytes at the start of the next input that were already read. libcurl offers bytes again after a
    /// pause.
    private var readCount = 0

    /// Creates the decoder of a body with the given codings, in the order in which they were applied.
    ///
    /// - Parameter expansionLimit: The limit of the output; default: none.
    /// - Returns: `nil` if the body has no coding or an unsupported one. The body is then returned as received.
    init?(_ codings: [String], expansionLimit: ExpansionLimit? = nil) {
        guard !codings.isEmpty, codings.count <= Self.limit else { return nil }
        var stages: [Stage] = []
        for name in codings.reversed() {
            guard let decoder = ContentCoding(named: name)?.makeDecoder() else { return nil }
            stages.append(Stage(decoder))
        }
        self.stages = stages
        self.expansionLimit = expansionLimit
    }

    /// Decodes bytes, and passes the output to the closure; returns `false` if the closure does, and the bytes have to
    /// be offered again.
    func receive(
        _ bytes: UnsafeRawBufferPointer,
        write: (UnsafeRawBufferPointer) throws(TransportFailure) -> Bool
    ) throws(TransportFailure) -> Bool {
        if !bytes.isEmpty { hasInput = true }
        let skipped = min(readCount, bytes.count)
        var input = bytes
        input.skip(skipped)
        while try fill(stages.count - 1, from: &input) {
            let output = stages[stages.count - 1].output
            if let failure = expansionLimit?.failure(
                outputByteCount + Int64(output.count),
                of: inputByteCount + Int64(bytes.count)
            ) {
                throw .quotable(.dataLengthExceedsMaximum, failure)
            }
            guard try write(output) else {
                readCount = max(readCount, bytes.count - input.count)
                return false
            }
            outputByteCount += Int64(output.count)
            stages[stages.count - 1].output.skipAll()
        }
        inputByteCount += Int64(bytes.count)
        readCount -= skipped
        return true
    }

    /// Checks that the body and its codings are complete. An empty body has no codings.
    func finish() throws(TransportFailure) {
        guard !hasInput || stages.allSatisfy(\.decoder.isAtEnd) else { throw .codingCutOff }
    }

    /// Ensures that a stage has output; returns `false` if more input is needed.
    private func fill(_ index: Int, from input: inout UnsafeRawBufferPointer) throws(TransportFailure) -> Bool {
        let stage = stages[index]
        guard stage.output.isEmpty else { return true }
        guard index > 0 else { return try stage.fill(from: &input) }
        repeat {
            if try stage.fill(from: &stages[index - 1].output) { return true }
        } while try fill(index - 1, from: &input)
        return false
    }
}

extension UnsafeRawBufferPointer {
    fileprivate mutating func skipAll() {
        self = UnsafeRawBufferPointer(start: nil, count: 0)
    }
}
#endif
