// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitTesting

extension TransportConformance {
    static let stubBodies: [StubRequirement] = [
        StubRequirement(
            "limitsSize",
            description: "It accepts a response of the limit's size, and rejects a larger one"
        ) {
            make in
            let transport = make { _ in .response(status: 200, data: noise(1_000)) }
            let exact = TestCall(destination: .memory(limit: 1_000))
            try expect(
                "the number of bytes",
                value: try await transport.send(exact.request(to: nowhere)).bytes.count,
                is: 1_000
            )
            let call = TestCall(destination: .memory(limit: 999))
            let error = try await call.error(at: nowhere, with: transport)
            try expect(error, isOneOf: [.dataLengthExceedsMaximum])
        },
        StubRequirement("writesFile", description: "It writes the response to a file, and replaces an existing one") {
            make in
            for size in [0, 10, 300_000] {
                let transport = make { _ in .response(status: 200, data: noise(size)) }
                let file = try ConformanceFile(Data("old".utf8))
                let response = try await transport.send(TestCall(destination: .file(file.url)).request(to: nowhere))
                guard case .file(let url) = response.body else { throw ExpectationFailure("the body isn't in a file") }
                try expect("the file", value: url.standardizedFileURL.path, is: file.url.standardizedFileURL.path)
                try expect(file.content == noise(size), text: "the file has other bytes than the response")
                try expect("the files in the folder", value: file.neighbours, is: ["file"])
            }
        },
        StubRequirement("keepsFileOnFailure", description: "It doesn't change the file if the call fails") { make in
            let file = try ConformanceFile(Data("old".utf8))
            let transport = make { _ in .failure(URLError(.networkConnectionLost)) }
            _ = try await TestCall(destination: .file(file.url)).error(at: nowhere, with: transport)
            try expect("the file", value: file.content, is: Data("old".utf8))
            try expect("the files in the folder", value: file.neighbours, is: ["file"])
        },
        StubRequirement(
            "fileErrors",
            description: "A file that can't be written, or a missing body file, is a URLError"
        ) { make in
            let transport = make { _ in .response(status: 200, data: Data("x".utf8)) }
            let nothing = FileManager.default.temporaryDirectory.appendingPathComponent("none-\(UUID().uuidString)")
            let download = TestCall(destination: .file(nothing.appendingPathComponent("file")))
            let error = try await download.error(at: nowhere, with: transport)
            try expect(error is URLError, text: "the error was \(error), expected a URLError")
            let upload = TestCall(method: "PUT", body: .file(nothing))
            try expect(try await upload.error(at: nowhere, with: transport), isOneOf: [.fileDoesNotExist])
        },
        StubRequirement(
            "limitsPieces",
            description: "It streams the response in chunks that aren't larger than the buffer"
        ) {
            make in
            for (size, buffer, pieces) in [(0, 10, 0), (1, 10, 1), (1_000, 100, 10), (1_001, 100, 11), (5, 0, 5)] {
                let transport = make { _ in .response(status: 200, data: noise(size)) }
                let call = TestCall(destination: .stream(buffer: buffer))
                let body = try await transport.send(call.request(to: nowhere)).stream
                var read: [Data] = []
                var iterator = body.makeAsyncIterator()
                while let piece = try await iterator.next() { read.append(piece) }
                try expect("the number of chunks", value: read.count, is: pieces)
                try expect(Data(read.joined()) == noise(size), text: "the chunks have other bytes than the response")
                try expect("a chunk after the end", value: try await iterator.next(), is: nil)
            }
        },
        StubRequirement(
            "cancelsStreamReading",
            description: "Reading a stream ends as cancelled if its task is cancelled"
        ) { make in
            let transport = make { _ in .response(status: 200, data: noise(1_000)) }
            let body = try await transport.send(TestCall(destination: .stream(buffer: 1)).request(to: nowhere)).stream
            try await expectCancelledBefore { for try await _ in body {} }
        },
        StubRequirement(
            "readsSourceOnce",
            description: "It opens a body's source once, reads it to the end, and releases its reader"
        ) { make in
            let source = ConformanceSource(bytes: noise(200_000), length: nil)
            let transport = make { _ in .response(status: 200, data: Data()) }
            _ = try await transport.send(TestCall(method: "PUT", body: .stream(source)).request(to: nowhere))
            try expect("the number of times it was opened", value: source.opened.value, is: 1)
            try expect("the number of released readers", value: source.closed.value, is: 1)
            try expect("the number of bytes that were read", value: source.read.value, is: 200_000)
        },
        StubRequirement("throwsSourceError", description: "It throws the error of a body's source") { make in
            let transport = make { _ in .response(status: 200, data: Data()) }
            for failsAfter in [0, 50_000] {
                let source = ConformanceSource(bytes: noise(100_000), length: 100_000, failsAfter: failsAfter)
                let error = try await TestCall(method: "PUT", body: .stream(source)).error(at: nowhere, with: transport)
                try expect(error is ConformanceSource.Failure, text: "the error was \(error), expected the source's")
            }
        },
    ]
}
