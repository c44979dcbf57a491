// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitTesting
import TargetKitWebSocket

/// The server side of a WebSocket, which runs a script. It is used only on the server's thread.
final class ServerWebSocket {
    private let options: TestServer.WebSocketOptions
    private var reader: WebSocketReader
    private var writer: WebSocketWriter
    /// The remaining steps; the next one is the last element.
    private var script: [TestServer.WebSocketStep]
    /// The received messages that no step has consumed.
    private var inbox: [WebSocketMessage] = []
    private var hasSentClose = false
    private var hasEnded = false
    private var output: [UInt8] = []
    private var steps: [TestServer.Step] = []

    init(script: [TestServer.WebSocketStep], options: TestServer.WebSocketOptions, deflate: PerMessageDeflate?) {
        self.options = options
        self.script = script.reversed()
        let limits = WebSocketLimits(messageSize: .max, frameSize: .max)
        reader = WebSocketReader(role: .server, limits: limits, deflate: deflate)
        writer = WebSocketWriter(role: .server, deflate: deflate, fragmentSize: options.fragmentSize)
    }

    /// The first steps of the script.
    func start() -> [TestServer.Step] {
        runScript()
        return takeSteps()
    }

    /// Processes bytes from the client.
    func receive(_ bytes: UnsafeRawBufferPointer) -> [TestServer.Step] {
        guard !hasEnded else { return [] }
        do {
            try reader.read(bytes) { take($0) }
        } catch {
            options.log.failed.append(error.message)
            close(error.closeCode, reason: "")
            end()
        }
        return takeSteps()
    }

    private func take(_ event: WebSocketEvent) {
        switch event {
        case .text(let text): take(WebSocketMessage.text(text))
        case .data(let data): take(WebSocketMessage.data(data))
        case .ping(let payload):
            if options.answersPings, !hasSentClose { try? writer.write(pong: payload, to: &output) }
        case .pong(let payload): options.log.pongs.append(payload)
        case .close(let code, let reason):
            // The server sends back the same code, and closes the connection first (RFC 6455 §5.5.1).
            close(code, reason: "")
            flush()
            options.log.closed.append(WebSocketClosing(code: (code ?? .noStatus).rawValue, reason: reason))
            end()
        }
    }

    private func take(_ message: WebSocketMessage) {
        options.log.received.append(message)
        guard !hasSentClose else { return }
        inbox.append(message)
        runScript()
    }
}

// MARK: - The script

extension ServerWebSocket {
    /// Runs steps until one waits for a message.
    private func runScript() {
        while let step = script.last, !hasEnded {
            switch step.action {
            case .receive, .expect, .respond, .echo:
                guard !inbox.isEmpty else { return }
                run(step, inbox.removeFirst())
            default:
                script.removeLast()
                run(step)
            }
        }
        inbox = []
    }

    private func run(_ step: TestServer.WebSocketStep, _ message: WebSocketMessage) {
        if case .echo = step.action { return send(message) }
        script.removeLast()
        switch step.action {
        case .respond(let respond): script += respond(message).reversed()
        case .expect(let expected) where message != expected:
            options.log.failed.append("Expected \(expected), but the client sent \(message).")
            script = []
            close(.policyViolation, reason: "The message isn't the expected one.")
        default: break
        }
    }

    private func run(_ step: TestServer.WebSocketStep) {
        switch step.action {
        case .message(let message): send(message)
        case .ping(let payload): try? writer.write(ping: payload, to: &output)
        case .pong(let payload): try? writer.write(pong: payload, to: &output)
        case .close(let code, let reason): close(code, reason: reason)
        case .bytes(let bytes): output += bytes
        case .step(let step):
            flush()
            steps.append(step)
        case .receive, .expect, .respond, .echo: break
        }
    }

    private func send(_ message: WebSocketMessage) {
        switch message {
        case .text(let text): writer.write(text: text, to: &output)
        case .data(let data): writer.write(data: data, to: &output)
        }
    }

    /// Sends a close frame, once.
    private func close(_ code: WebSocketCloseCode?, reason: String) {
        guard !hasSentClose else { return }
        hasSentClose = true
        guard let code else { return output += [0x88, 0] }
        // Bypasses the writer, which rejects codes that may not be sent.
        let payload = [UInt8(code.rawValue >> 8), UInt8(code.rawValue & 0xFF)] + Array(reason.utf8).prefix(123)
        output += [0x88, UInt8(payload.count)] + payload
    }

    private func end() {
        flush()
        steps.append(.close)
        hasEnded = true
    }
}

// MARK: - Output

extension ServerWebSocket {
    private func flush() {
        guard !output.isEmpty else { return }
        let data = Data(output)
        // Frees the memory of a large message.
        output.removeAll(keepingCapacity: output.capacity < 256 << 10)
        if let size = options.bytesPerPart {
            steps.append(.drip(data, chunkSize: size, every: .milliseconds(5)))
        } else {
            steps.append(.bytes(data))
        }
    }

    private func takeSteps() -> [TestServer.Step] {
        flush()
        defer { steps = [] }
        return steps
    }
}
