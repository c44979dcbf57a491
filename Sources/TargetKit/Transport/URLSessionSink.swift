// SPDX-License-Identifier: MIT
import Foundation

/// Where the decoded body of a response goes as it comes.
struct URLSessionSink: Sendable {
    private enum Storage: Sendable {
        case memory(Data, limit: Int)
        /// Nothing has come yet.
        case newFile(URL)
        case file(PartialFile, URL)
    }

    private var storage: Storage

    init(_ destination: TransportRequest.Destination) throws(URLSessionFailure) {
        switch destination {
        case .memory(let limit): storage = .memory(Data(), limit: max(0, limit))
        case .file(let url): storage = .newFile(url)
        // Without back-pressure, which Linux's URLSession lacks, a slow reader's body would pile up in memory.
        case .stream:
            throw URLSessionFailure(.unsupportedURL, "URLSessionTransport does not stream bodies; CurlTransport does")
        }
    }

    /// The most bytes that it takes; `nil`: any number.
    var limit: Int? {
        if case .memory(_, let limit) = storage { limit } else { nil }
    }

    /// Takes the next bytes.
    mutating func append(_ bytes: Data) throws(URLSessionFailure) {
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
    }

    private mutating func appendToFile(_ bytes: Data) throws(PartialFile.Failure) {
        switch storage {
        case .memory: break
        case .newFile(let url):
            let file = try PartialFile(replacing: url)
            storage = .file(file, url)
            try file.append(bytes)
        case .file(let file, _):
            try file.append(bytes)
        }
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
            }
        } catch {
            throw URLSessionFailure(error)
        }
    }
}
