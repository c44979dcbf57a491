// SPDX-License-Identifier: MIT
#if canImport(CTargetKitCurl)
import Foundation

/// Where the decoded body of a response goes as it comes.
enum CurlSink {
    case memory(Data, limit: Int)
    /// Nothing has come yet.
    case newFile(URL)
    case file(PartialFile, URL)
    case stream(BodyChannel)

    init(_ destination: TransportRequest.Destination) {
        self =
            switch destination {
            case .memory(let limit): .memory(Data(), limit: max(0, limit))
            case .file(let url): .newFile(url)
            case .stream(let buffer): .stream(BodyChannel(limit: buffer))
            }
    }

    /// Whether the reader holds up the exchange.
    var isPaused: Bool {
        if case .stream(let channel) = self { channel.isPaused } else { false }
    }

    /// Takes the next bytes; `false` when they have to wait.
    mutating func receive(_ bytes: UnsafeRawBufferPointer) throws(CurlFailure) -> Bool {
        switch self {
        case .memory(var data, let limit):
            guard data.count + bytes.count <= limit else { throw CurlFailure.overLimit(limit) }
            // The only other owner has to go, or the bytes so far are copied each time.
            self = .memory(Data(), limit: limit)
            if data.isEmpty, let start = bytes.baseAddress {
                data = Data(bytes: start, count: bytes.count)
            } else {
                data.append(contentsOf: bytes)
            }
            self = .memory(data, limit: limit)
        case .newFile(let url):
            let file = try Self.opened(url)
            self = .file(file, url)
            try Self.write(bytes, to: file)
        case .file(let file, _):
            try Self.write(bytes, to: file)
        case .stream(let channel):
            return channel.receive(bytes)
        }
        return true
    }

    /// The body, now that it is whole.
    func finish() throws(CurlFailure) -> TransportResponse.Body {
        switch self {
        case .memory(let data, _): return .data(data)
        case .newFile(let url): return try Self.move(Self.opened(url), to: url)
        case .file(let file, let url): return try Self.move(file, to: url)
        // The reader has had it already.
        case .stream: return .data(Data())
        }
    }

    private static func opened(_ url: URL) throws(CurlFailure) -> PartialFile {
        do { return try PartialFile(replacing: url) } catch { throw CurlFailure(error.code, error.message) }
    }

    private static func write(_ bytes: UnsafeRawBufferPointer, to file: PartialFile) throws(CurlFailure) {
        do { try file.append(bytes) } catch { throw CurlFailure(error.code, error.message) }
    }

    private static func move(_ file: PartialFile, to url: URL) throws(CurlFailure) -> TransportResponse.Body {
        do { try file.move(to: url) } catch { throw CurlFailure(error.code, error.message) }
        return .file(url)
    }
}
#endif
