// SPDX-License-Identifier: MIT
#if canImport(CTargetKitCurl)
import Foundation

/// Where the decoded body of a response goes as it comes.
enum CurlSink {
    case memory(Data, limit: Int)
    case file(CurlFileWriter, URL)
    case stream(BodyChannel)

    /// Creates the destination of the call's body; the loop resumes it on a command from the inbox.
    init(_ call: CurlCall, _ inbox: CurlInbox) {
        self =
            switch call.destination {
            case .memory(let limit): .memory(Data(), limit: max(0, limit))
            case .file(let url): .file(CurlFileWriter(replacing: url) { inbox.post(.resume(call)) }, url)
            case .stream(let buffer): .stream(BodyChannel(limit: buffer))
            }
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
            return true
        case .file(let writer, _):
            do { return try writer.receive(bytes) } catch { throw CurlFailure(error.code, error.message) }
        case .stream(let channel):
            return channel.receive(bytes)
        }
    }

    /// The received body. A file is not in place until its writer is closed.
    var body: TransportResponse.Body {
        switch self {
        case .memory(let data, _): .data(data)
        case .file(_, let url): .file(url)
        // The reader has had it already.
        case .stream: .data(Data())
        }
    }
}
#endif
