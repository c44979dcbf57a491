// SPDX-License-Identifier: MIT

/// Writes the decoded body of a response to its destination.
struct URLSessionBodyWriter: Sendable {
    private enum Storage: Sendable {
        case memory(Data, limit: Int)
        /// The file is opened when the first byte arrives.
        case file(PartialFile?, URL)
        case stream(BodyChannel)
    }

    private var storage: Storage

    init(_ destination: TransportRequest.Destination, streaming: URLSessionStreaming) throws(TransportFailure) {
        switch destination {
        case .memory(let limit): storage = .memory(Data(), limit: max(0, limit))
        // Its response isn't written.
        case .upgrade: storage = .memory(Data(), limit: 0)
        case .file(let url): storage = .file(nil, url)
        case .stream(let buffer):
            guard streaming != .refused else {
                var failure = TransportFailure(
                    .unsupportedURL,
                    message: "URLSession on Linux can't stream a response; CurlTransport can"
                )
                failure.info[FailureMark.cannotStream] = true
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

    /// Writes the next bytes; returns `false`, once, if the task should be suspended.
    mutating func append(_ bytes: Data) throws(TransportFailure) -> Bool {
        switch storage {
        case .memory(var data, let limit):
            guard data.count + bytes.count <= limit else { throw TransportFailure.overLimit(limit) }
            // With a second owner, the bytes so far would be copied each time.
            storage = .memory(Data(), limit: limit)
            data.append(bytes)
            storage = .memory(data, limit: limit)
        case .file(let known, let url):
            do throws(URLError) {
                let file = if let known { known } else { try PartialFile(writing: url) }
                storage = .file(file, url)
                try file.append(bytes)
            } catch {
                throw TransportFailure(error)
            }
        case .stream(let channel):
            return channel.keep(bytes)
        }
        return true
    }

    /// Completes the body.
    func finish() throws(TransportFailure) -> TransportResponse.Body {
        switch storage {
        case .memory(let data, _): return .data(data)
        case .file(let file, let url):
            do throws(URLError) {
                if file == nil { _ = try PartialFile(writing: url) }
            } catch {
                throw TransportFailure(error)
            }
            return .file(url)
        // The reader already received it.
        case .stream: return .data(Data())
        }
    }
}
