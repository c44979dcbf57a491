// SPDX-License-Identifier: MIT
#if os(Linux)

/// Writes the decoded body of a response to its destination.
enum CurlBodyWriter {
    case memory(Data, limit: Int)
    case file(CurlFileWriter, URL)
    case stream(BodyChannel)

    /// Creates the destination of the call's body; a command to the loop resumes it.
    init(_ call: CurlCall, commandQueue: CurlCommandQueue) {
        self =
            switch call.destination {
            case .memory(let limit): .memory(Data(), limit: max(0, limit))
            case .file(let url): .file(CurlFileWriter(url) { commandQueue.post(.resume(call)) }, url)
            case .stream(let buffer): .stream(BodyChannel(limit: buffer))
            // Its caller reads the response.
            case .upgrade: .memory(Data(), limit: 0)
            }
    }

    /// Writes the next bytes; returns `false` if they have to be offered again later.
    mutating func receive(_ bytes: UnsafeRawBufferPointer) throws(TransportFailure) -> Bool {
        switch self {
        case .memory(var data, let limit):
            guard data.count + bytes.count <= limit else { throw TransportFailure.overLimit(limit) }
            // With a second owner, the bytes so far would be copied each time.
            self = .memory(Data(), limit: limit)
            if data.isEmpty, let start = bytes.baseAddress {
                data = Data(bytes: start, count: bytes.count)
            } else {
                data.append(contentsOf: bytes)
            }
            self = .memory(data, limit: limit)
            return true
        case .file(let writer, _):
            return try writer.receive(bytes)
        case .stream(let channel):
            return channel.receive(bytes)
        }
    }

    /// The received body. A file is complete only after its writer is closed.
    var body: TransportResponse.Body {
        switch self {
        case .memory(let data, _): .data(data)
        case .file(_, let url): .file(url)
        // The reader already received it.
        case .stream: .data(Data())
        }
    }
}

/// Writes a response's body to a file on a separate queue, so that a slow disk delays only its own call.
final class CurlFileWriter: Sendable {
    /// The number of bytes that may wait to be written. It is large enough that a busy disk doesn't pause libcurl. Over
    /// HTTP/2, a paused libcurl would buffer further bytes.
    static let limit = 1 << 20

    private let url: URL
    private let queue: DispatchQueue
    private let buffer: WriteBuffer
    /// Accessed only on the queue.
    private let file: Locked<PartialFile?>

    /// Creates a writer for a file.
    ///
    /// - Parameters:
    ///   - queue: The serial queue to write on.
    ///   - resume: Called when there is space again after bytes were rejected, and when writing fails.
    init(
        _ url: URL,
        on queue: DispatchQueue = DispatchQueue(label: "TargetKit.download"),
        resume: @escaping @Sendable () -> Void
    ) {
        let file = Locked<PartialFile?>(nil)
        self.url = url
        self.queue = queue
        self.file = file
        buffer = WriteBuffer(limit: Self.limit, on: queue) { bytes in
            try Self.opened(file, at: url).append(bytes)
        }
        buffer.begin(resume: resume)
    }

    /// Accepts the next bytes; returns `false` if they have to be offered again later.
    func receive(_ bytes: UnsafeRawBufferPointer) throws(TransportFailure) -> Bool {
        do { return try buffer.append(bytes) } catch { throw TransportFailure(ofFile: error) }
    }

    /// Calls the closure with the result after the last byte is written.
    func close(
        _ outcome: Result<TransportResponse, any Error>,
        then tell: @escaping @Sendable (Result<TransportResponse, any Error>) -> Void
    ) {
        queue.async {
            guard case .success = outcome else { return tell(outcome) }
            do {
                if let failure = self.buffer.failure { throw failure }
                // A file without bytes isn't open.
                _ = try Self.opened(self.file, at: self.url)
                tell(outcome)
            } catch {
                tell(.failure(TransportFailure(ofFile: error)))
            }
        }
    }

    private static func opened(_ file: Locked<PartialFile?>, at url: URL) throws -> PartialFile {
        if let file = file.withLock({ $0 }) { return file }
        let new = try PartialFile(writing: url)
        file.withLock { $0 = new }
        return new
    }
}

extension TransportFailure {
    fileprivate init(ofFile error: any Error) {
        self.init(error as? URLError ?? URLError(.cannotWriteToFile))
    }
}

/// The streamed bodies that received bytes in this round of the loop. Their readers are woken once at its end, instead
/// of for each 16 KiB from libcurl.
final class CurlArrivals {
    private var channels: [BodyChannel] = []

    func note(_ channel: BodyChannel) {
        if channels.last !== channel { channels.append(channel) }
    }

    func flush() {
        for channel in channels { channel.flush() }
        channels.removeAll(keepingCapacity: true)
    }
}
#endif
