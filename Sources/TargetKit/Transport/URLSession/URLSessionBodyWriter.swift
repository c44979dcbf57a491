// SPDX-License-Identifier: MIT
import Foundation

/// Writes the decoded body of a response to its destination.
struct URLSessionBodyWriter: Sendable {
    private enum Storage: Sendable {
        case memory(Data, limit: Int)
        /// No byte has arrived yet.
        case newFile(URL)
        case file(PartialFile, URL)
        case stream(BodyChannel)
    }

    private var storage: Storage

    init(_ destination: TransportRequest.Destination, streaming: URLSessionStreaming) throws(URLSessionFailure) {
        switch destination {
        case .memory(let limit): storage = .memory(Data(), limit: max(0, limit))
        case .file(let url): storage = .newFile(url)
        case .stream(let buffer):
            guard streaming != .refused else {
                var failure = URLSessionFailure(
                    .unsupportedURL,
                    "URLSession on Linux cannot stream a response; CurlTransport can"
                )
                failure.mark = FailureMark.cannotStream
                throw failure
            }
            storage = .stream(BodyChannel(limit: buffer))
        }
    }

    /// The maximum number of bytes; `nil` for no limit.
    var limit: Int? {
        if case .memory(_, let limit) = storage { limit } else { nil }
    }

    /// The channel to the reader of a streamed body.
    var channel: BodyChannel? {
        if case .stream(let channel) = storage { channel } else { nil }
    }

    /// Writes the next bytes; returns `false`, once, when the task should be suspended.
    mutating func append(_ bytes: Data) throws(URLSessionFailure) -> Bool {
        if let channel { return channel.keep(bytes) }
        if case .memory(var data, let limit) = storage {
            guard data.count + bytes.count <= limit else { throw URLSessionFailure.overLimit(limit) }
            // With a second owner, the bytes so far would be copied each time.
            storage = .memory(Data(), limit: limit)
            data.append(bytes)
            storage = .memory(data, limit: limit)
        }
        do throws(PartialFile.Failure) {
            try appendToFile(bytes)
        } catch {
            throw URLSessionFailure(error)
        }
        return true
    }

    private mutating func appendToFile(_ bytes: Data) throws(PartialFile.Failure) {
        switch storage {
        case .memory, .stream: break
        case .newFile(let url):
            let file = try PartialFile(replacing: url)
            storage = .file(file, url)
            try file.append(bytes)
        case .file(let file, _):
            try file.append(bytes)
        }
    }

    /// Whether bytes have been written to a file.
    var hasFile: Bool {
        if case .file = storage { true } else { false }
    }

    /// Removes the partial file.
    func discard() {
        if case .file(let file, _) = storage { file.remove() }
    }

    /// Completes the body.
    func finish() throws(URLSessionFailure) -> TransportResponse.Body {
        do throws(PartialFile.Failure) {
            switch storage {
            case .memory(let data, _):
                return .data(data)
            case .newFile(let url):
                try PartialFile(replacing: url).move(to: url)
                return .file(url)
            case .file(let file, let url):
                try file.move(to: url)
                return .file(url)
            // The reader has received it.
            case .stream:
                return .data(Data())
            }
        } catch {
            throw URLSessionFailure(error)
        }
    }
}
