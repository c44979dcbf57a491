// SPDX-License-Identifier: MIT
import TargetKit

extension TestServer.Response {
    /// Closes the connection without a response.
    public static var close: Self { [.close] }

    /// Resets the connection without a response (TCP RST).
    public static var reset: Self { [.reset] }

    /// Sends nothing until the client closes the connection, or the server stops.
    public static var hang: Self { [.hang] }

    /// Sends a part of a head, and then closes the connection.
    public static var truncatedHead: Self { .raw("HTTP/1.1 200 OK\r\nContent-Type: appl") }

    /// Sends bytes of another protocol instead of a response, and then closes the connection.
    public static var notHTTP: Self { .raw("SSH-2.0-OpenSSH_9.6\r\n") }
}

extension TestServer.Response {
    /// Returns this response with a truncated body, although its head announces the complete body.
    ///
    /// - Parameters:
    ///   - byteCount: The number of body bytes to send; default: 0, which sends only the head.
    ///   - step: The next step, for example `.reset` or `.hang`; default: closes the connection.
    public func truncated(after byteCount: Int = 0, then step: TestServer.Step = .close) -> Self {
        map { element in
            var rest = max(0, byteCount)
            var kept: [TestServer.Step] = []
            for other in element.steps {
                guard let count = other.bodySize else {
                    kept.append(other)
                    continue
                }
                if rest > 0 { kept.append(other.bodyPrefix(rest)) }
                rest -= min(rest, count)
                if rest == 0 { break }
            }
            element.steps = kept + [step]
        }
    }

    /// Returns this response with a wrong or invalid value of `Content-Length`.
    package func contentLength(_ value: String) -> Self {
        mapSteps { step in
            guard case .head(let status, let reason, var headers) = step.action else { return step }
            headers[.contentLength] = value
            return .head(status: status, reason: reason, headers: headers)
        }
    }

    /// Returns this response with a body that is sent slowly.
    ///
    /// - Parameters:
    ///   - byteCount: The number of bytes to send at a time, at least 1; default: 1.
    ///   - interval: The time between two of these parts, in real time; default: 20 milliseconds.
    public func slow(bytesPerPart byteCount: Int = 1, every interval: Duration = .milliseconds(20)) -> Self {
        mapSteps { step in
            guard case .body(let data) = step.action else { return step }
            return .drip(data, chunkSize: max(1, byteCount), every: interval)
        }
    }

    private func mapSteps(_ change: (TestServer.Step) -> TestServer.Step) -> Self {
        map { $0.steps = $0.steps.map(change) }
    }
}
