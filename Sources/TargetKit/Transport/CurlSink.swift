// SPDX-License-Identifier: MIT
#if canImport(CCurl)
import Foundation

/// Where the decoded body of a response goes as it comes.
enum CurlSink {
    case memory(Data, limit: Int)
    case file(CurlFile)
    case stream(CurlBodyChannel)

    init(_ destination: TransportRequest.Destination) {
        self =
            switch destination {
            case .memory(let limit): .memory(Data(), limit: max(0, limit))
            case .file(let url): .file(CurlFile(replacing: url))
            case .stream(let buffer): .stream(CurlBodyChannel(limit: buffer))
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
        case .file(let file):
            try file.write(bytes)
        case .stream(let channel):
            return channel.receive(bytes)
        }
        return true
    }

    /// The body, now that it is whole.
    func finish() throws(CurlFailure) -> TransportResponse.Body {
        switch self {
        case .memory(let data, _): .data(data)
        case .file(let file): .file(try file.finish())
        // The reader has had it already.
        case .stream: .data(Data())
        }
    }
}
#endif
