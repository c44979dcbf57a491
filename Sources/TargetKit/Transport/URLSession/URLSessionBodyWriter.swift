// SPDX-License-Identifier: MIT
import Foundation

/// Where the decoded body of a response goes as it comes.
struct URLSessionSink: Sendable {
    private enum Storage: Sendable {
        case memory(Data, limit: Int)
        /// Nothing has come yet.
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
                throw URLSessionFailure(
                    .unsupportedURL,
                    "URLSession on Linux cannot hold a server back, so no body is streamed with it; CurlTransport does that"
                )
            }
            storage = .stream(BodyChannel(limit: buffer))
        }
    }

    /// The most bytes that it takes; `nil`: any number.
    var limit: Int? {
        if case .memory(_, let limit) = storage { limit } else { nil }
    }

    /// The channel to the reader of a body that is streamed.
    var channel: BodyChannel? {
        if case .stream(let channel) = storage { channel } else { nil }
    }

    /// Takes the next bytes; `false`, once, when no more should come for now.
    mutating func append(_ bytes: Data) throws(URLSessionFailure) -> Bool {
        if let channel { return channel.keep(bytes) }
        if case .memory(var data, let limit) = storage {
            guard data.count + bytes.count <= limit else { throw URLSessionFailure.overLimit(limit) }
            // The only other owner has to go, or the bytes so far are copied each time.
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

    /// The body, now that it is whole.
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
            // The reader has had it already.
            case .stream:
                return .data(Data())
            }
        } catch {
            throw URLSessionFailure(error)
        }
    }
}
